/* What a policy wants of requests and secrets: see network.h. */
#include "runtime/network/network.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

void
secrets_check(const struct sbx_blob *blob)
{
	for (uint32_t i = 0; i < blob->name_count; i++) {
		const struct sbx_name *rule = &blob->names[i];

		if ((rule->platforms & KERNEL_WHERE) != 0 &&
		    (rule->secret != 0 || rule->path != 0))
			refuse_at(blob, rule->source,
			    rule->secret != 0 ?
				"this sbxrun cannot use a secret yet" :
				"this sbxrun cannot look at requests yet",
			    0);
	}
}

/* The secrets of a policy: see network.h. */
#include "runtime/network/network.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

void
secrets_check(const struct sbx_blob *blob, enum sbx_level level)
{
	const struct sbx_name *rule = tls_rule(blob);

	if (rule != NULL && level < SBX_LEVEL_STANDARD)
		refuse_at(blob, rule->source,
		    "below level standard nothing holds rules about requests "
		    "and secrets",
		    0);
}

void
secrets_get(const struct sbx_blob *blob, struct tls_values *secrets)
{
	secrets->count = 0;
	for (uint32_t i = 0; i < blob->name_count; i++) {
		const struct sbx_name *rule = &blob->names[i];

		if ((rule->platforms & KERNEL_WHERE) != 0 && rule->secret != 0)
			refuse_at(blob, rule->source,
			    "this sbxrun cannot use a secret yet", 0);
	}
}

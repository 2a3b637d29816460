/*
 * The ways out of a network of the sandbox's own, as the plan shows them: hosts
 * by name and by address, and the user's own proxy.
 */
#include "runtime/inspect/inspect.h"

#include "format/model.h"
#include "runtime/base/json.h"
#include "runtime/network/event.h"

#include <string.h>

static void
put_line(struct out *json, const struct plan *plan, const char *effect,
    const char *kind, const struct out *object, uint32_t source)
{
	struct out words;

	out_init(&words, -1);
	out_print(&words, "%s network %s", effect, kind);
	json_object(json, NULL);
	json_string(json, "rule", words.text);
	json_string(json, "object", object->text);
	json_source(json, plan->blob, source);
	json_object_end(json);
}

static void
put_names(struct out *json, const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;

	for (uint32_t i = 0; i < blob->name_count; i++) {
		const struct sbx_name *name = &blob->names[i];
		const char *text = sbx_string(blob, name->name);
		struct out object;

		if ((name->platforms & KERNEL_WHERE) == 0)
			continue;
		out_init(&object, -1);
		if (name->flags & SBX_NAME_BELOW)
			out_text(&object, "*.");
		out_shown(&object, text, strlen(text));
		if (name->port != 0)
			out_print(&object, ":%u", (unsigned)name->port);
		if (name->flags & SBX_NAME_PRIVATE)
			out_text(&object, " private");
		put_line(json, plan, effect_name(name->effect), "domain",
		    &object, name->source);
	}
}

static void
put_endpoints(struct out *json, const struct plan *plan)
{
	enum { V4_BITS = 96 };
	const struct sbx_blob *blob = plan->blob;

	for (uint32_t i = 0; i < blob->endpoint_count; i++) {
		const struct sbx_endpoint *endpoint = &blob->endpoints[i];
		bool v4 = sbx_address_is_v4(endpoint->address);
		unsigned prefix = endpoint->prefix;
		struct out object;

		if ((endpoint->platforms & KERNEL_WHERE) == 0)
			continue;
		out_init(&object, -1);
		out_text(&object, v4 ? "" : "[");
		out_address(&object, endpoint->address);
		if (prefix < SBX_ADDRESS_BITS)
			out_print(&object, "/%u",
			    v4 ? prefix - V4_BITS : prefix);
		out_print(&object, "%s:%u", v4 ? "" : "]",
		    (unsigned)endpoint->low);
		if (endpoint->high != endpoint->low)
			out_print(&object, "-%u", (unsigned)endpoint->high);
		put_line(json, plan, effect_name(endpoint->effect), "connect",
		    &object, endpoint->source);
	}
}

static void
put_proxies(struct out *json, const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;

	for (uint32_t i = 0; i < blob->proxy_count; i++) {
		const struct sbx_proxy *proxy = &blob->proxies[i];
		struct out object;

		if ((proxy->platforms & KERNEL_WHERE) == 0)
			continue;
		out_init(&object, -1);
		if (proxy->anchor == SBX_NO_ANCHOR) {
			out_print(&object, "tcp %u", (unsigned)proxy->port);
		} else {
			out_text(&object, "unix ");
			out_place(&object,
			    plan->binding->anchors[proxy->anchor]);
			out_text(&object, sbx_string(blob, proxy->suffix));
		}
		put_line(json, plan, "allow", "proxy", &object, proxy->source);
	}
}

void
plan_put_hosts(struct out *json, const struct plan *plan)
{
	json_list(json, "hosts");
	put_names(json, plan);
	put_endpoints(json, plan);
	put_proxies(json, plan);
	json_list_end(json);
}

/*
 * The ways out of a network of the sandbox's own, as the plan shows them: hosts
 * by name and by address, and the user's own proxy.
 */
#include "runtime/inspect/inspect.h"

#include "format/model.h"
#include "runtime/base/out.h"

#include <string.h>

enum { V4_BEGIN = 12, V4_BITS = 96, GROUPS = 8 };

/* --- addresses ------------------------------------------------------------ */

static unsigned
group_of(const uint8_t *address, int index)
{
	return (unsigned)address[2 * index] << 8 | address[2 * index + 1];
}

static void
out_hex(struct out *out, unsigned number)
{
	static const char digits[] = "0123456789abcdef";
	bool begun = false;

	for (int shift = 12; shift >= 0; shift -= 4) {
		unsigned digit = number >> shift & 15;

		begun |= digit != 0 || shift == 0;
		if (begun)
			out_bytes(out, &digits[digit], 1);
	}
}

/* Where the first longest run of zeros begins, for which "::" stands. */
static int
find_zeros(const uint8_t *address, int *length)
{
	int found = GROUPS;

	*length = 1;
	for (int begin = 0; begin < GROUPS; begin++) {
		int end = begin;

		while (end < GROUPS && group_of(address, end) == 0)
			end++;
		if (end - begin <= *length)
			continue;
		found = begin;
		*length = end - begin;
	}
	return found;
}

static void
out_v6(struct out *out, const uint8_t *address)
{
	int length, zeros = find_zeros(address, &length);

	for (int i = 0; i < GROUPS; i++) {
		if (i == zeros) {
			out_text(out, "::");
			i += length - 1;
			continue;
		}
		if (i > 0 && i != zeros + length)
			out_text(out, ":");
		out_hex(out, group_of(address, i));
	}
}

static void
plan_address(struct out *out, const struct sbx_endpoint *endpoint)
{
	const uint8_t *address = endpoint->address;
	bool v4 = sbx_address_is_v4(address);
	unsigned prefix = endpoint->prefix;

	if (v4)
		out_print(out, "%u.%u.%u.%u", (unsigned)address[V4_BEGIN],
		    (unsigned)address[V4_BEGIN + 1],
		    (unsigned)address[V4_BEGIN + 2],
		    (unsigned)address[V4_BEGIN + 3]);
	else
		out_v6(out, address);
	if (prefix < SBX_ADDRESS_BITS)
		out_print(out, "/%u", v4 ? prefix - V4_BITS : prefix);
}

/* --- names ---------------------------------------------------------------- */

void
plan_name(struct out *out, const struct sbx_blob *blob,
    const struct sbx_name *name)
{
	const char *text = sbx_string(blob, name->name);

	if (name->flags & SBX_NAME_BELOW)
		out_text(out, "*.");
	out_shown(out, text, strlen(text));
	if (name->port != 0)
		out_print(out, ":%u", (unsigned)name->port);
	if (name->flags & SBX_NAME_PRIVATE)
		out_text(out, " private");
}

/* --- all of them ---------------------------------------------------------- */

/* One rule: its words, what it is about, where it was written. */
struct line {
	struct out words, object;
	uint32_t source;
};

typedef void show_line(struct out *out, const struct plan *plan,
    const struct line *line);

static void
begin_line(struct line *line, const char *effect, const char *words)
{
	out_init(&line->words, -1);
	out_init(&line->object, -1);
	out_print(&line->words, "%s network %s", effect, words);
}

static void
each_name(struct out *out, const struct plan *plan, show_line *show)
{
	const struct sbx_blob *blob = plan->blob;
	struct line line;

	for (uint32_t i = 0; i < blob->name_count; i++) {
		const struct sbx_name *name = &blob->names[i];

		if ((name->platforms & KERNEL_WHERE) == 0)
			continue;
		begin_line(&line, effect_name(name->effect), "domain");
		plan_name(&line.object, blob, name);
		line.source = name->source;
		show(out, plan, &line);
	}
}

static void
each_endpoint(struct out *out, const struct plan *plan, show_line *show)
{
	const struct sbx_blob *blob = plan->blob;
	struct line line;

	for (uint32_t i = 0; i < blob->endpoint_count; i++) {
		const struct sbx_endpoint *endpoint = &blob->endpoints[i];
		bool v4 = sbx_address_is_v4(endpoint->address);

		if ((endpoint->platforms & KERNEL_WHERE) == 0)
			continue;
		begin_line(&line, effect_name(endpoint->effect), "connect");
		out_text(&line.object, v4 ? "" : "[");
		plan_address(&line.object, endpoint);
		out_print(&line.object, "%s:%u", v4 ? "" : "]",
		    (unsigned)endpoint->low);
		if (endpoint->high != endpoint->low)
			out_print(&line.object, "-%u",
			    (unsigned)endpoint->high);
		line.source = endpoint->source;
		show(out, plan, &line);
	}
}

static void
each_proxy(struct out *out, const struct plan *plan, show_line *show)
{
	const struct sbx_blob *blob = plan->blob;
	struct line line;

	for (uint32_t i = 0; i < blob->proxy_count; i++) {
		const struct sbx_proxy *proxy = &blob->proxies[i];

		if ((proxy->platforms & KERNEL_WHERE) == 0)
			continue;
		begin_line(&line, "allow", "proxy");
		if (proxy->anchor == SBX_NO_ANCHOR) {
			out_print(&line.object, "tcp %u",
			    (unsigned)proxy->port);
		} else {
			out_text(&line.object, "unix ");
			out_place(&line.object,
			    plan->binding->anchors[proxy->anchor]);
			out_text(&line.object, sbx_string(blob, proxy->suffix));
		}
		line.source = proxy->source;
		show(out, plan, &line);
	}
}

static void
each_line(struct out *out, const struct plan *plan, show_line *show)
{
	each_name(out, plan, show);
	each_endpoint(out, plan, show);
	each_proxy(out, plan, show);
}

static void
print_line(struct out *out, const struct plan *plan, const struct line *line)
{
	out_print(out, "%s %s  [", line->words.text, line->object.text);
	out_source(out, plan->blob, line->source);
	out_text(out, "]\n");
}

void
plan_print_hosts(struct out *out, const struct plan *plan)
{
	each_line(out, plan, print_line);
}

static void
put_line(struct out *json, const struct plan *plan, const struct line *line)
{
	json_object(json, NULL);
	json_string(json, "rule", line->words.text);
	json_string(json, "object", line->object.text);
	json_source(json, plan->blob, line->source);
	json_object_end(json);
}

void
plan_put_hosts(struct out *json, const struct plan *plan)
{
	json_list(json, "hosts");
	each_line(json, plan, put_line);
	json_list_end(json);
}

/*
 * The globs of a policy, found by a name: one without wildcards that a path must
 * have to match.  So a question tries few of many globs.
 */
#include "compiler/query/why.h"

#include <string.h>

#define NO_ENTRY UINT32_MAX

/* The last part without wildcards: first ones are often shared.  Its length is
 * 0 if there is none. */
static struct sbx_place
plain_part(const struct sbx_glob *glob)
{
	for (uint32_t i = glob->count; i-- > 0;) {
		if (memchr(glob->parts[i], '*', glob->lens[i]) == NULL &&
		    memchr(glob->parts[i], '?', glob->lens[i]) == NULL)
			return (
			    struct sbx_place){ glob->parts[i], glob->lens[i] };
	}
	return (struct sbx_place){ "", 0 };
}

void
glob_list_add(struct arena *arena, struct glob_list *list, uint32_t rule,
    const char *text)
{
	struct glob_entry entry = { .rule = rule };
	struct sbx_place name;
	size_t number;
	bool added;

	if (!sbx_glob_parse(text, &entry.glob))
		return;
	name = plain_part(&entry.glob);
	number = map_number(arena, &list->names, name.path, name.len, &added);
	if (added)
		*arena_push(arena, &list->firsts) = NO_ENTRY;
	entry.next = list->firsts.items[number];
	list->firsts.items[number] = (uint32_t)list->entries.count;
	*arena_push(arena, &list->entries) = entry;
}

static void
visit_named(const struct glob_list *list, const char *name, size_t len,
    const struct glob_visitor *visitor)
{
	size_t number = map_number_find(&list->names, name, len);
	uint32_t at = number == SIZE_MAX ? NO_ENTRY :
					   list->firsts.items[number];

	for (; at != NO_ENTRY; at = list->entries.items[at].next)
		visitor->visit(visitor->context, &list->entries.items[at]);
}

void
glob_list_visit(const struct glob_list *list, struct sbx_place path,
    const struct glob_visitor *visitor)
{
	uint32_t at = 0;

	if (list->entries.count == 0)
		return;
	visit_named(list, "", 0, visitor);
	while (at < path.len) {
		uint32_t from = ++at;

		while (at < path.len && path.path[at] != '/')
			at++;
		if (at > from)
			visit_named(list, path.path + from, at - from, visitor);
	}
}

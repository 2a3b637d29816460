/*
 * The test file of a draft: what was seen is allowed, for each rule and for what
 * the policy gives anyway; what was kept from the command, and what nobody should
 * ever get, is denied.  Each is asked of the policy first, so that the file
 * passes.
 */
#include "compiler/learn/learn.h"
#include "compiler/tables/tables.h"

#include <stdlib.h>
#include <string.h>

enum { CASES_MAX = 24 };

struct cases {
	const struct draft *draft;
	struct subject subject;
	FILE *stream;
	struct map known;
	size_t count; /* of the case that is written */
};

/* Whether it means the same in a list of YAML and as words of an access. */
static bool
is_plain(const char *text)
{
	for (; *text != '\0'; text++) {
		if (!(*text >= '0' && *text <= '9') &&
		    !(*text >= 'a' && *text <= 'z') &&
		    !(*text >= 'A' && *text <= 'Z') &&
		    strchr(" /._-+@~${}:", *text) == NULL)
			return false;
	}
	return true;
}

static bool
is_answer(const struct cases *cases, char *words, bool allowed)
{
	const char *list[4];
	size_t count = 0;
	struct access access;
	char *rest = NULL;

	for (char *word = strtok_r(words, " ", &rest);
	     word != NULL && count < countof(list);
	     word = strtok_r(NULL, " ", &rest))
		list[count++] = word;
	return access_parse(&cases->subject.places, list, count, &access) ==
	    NULL &&
	    verdict_of(&cases->subject, &access).allowed == allowed;
}

/* "      - write ~/x", if the policy says so. */
static void
add(struct cases *cases, const char *verb, const char *text)
{
	struct arena *arena = cases->draft->arena;
	bool allowed = strcmp(verb, "allow") == 0, added;

	if (cases->count >= CASES_MAX || !is_plain(text) ||
	    !is_answer(cases, arena_strndup(arena, text, strlen(text)),
		allowed))
		return;
	map_number(arena, &cases->known, text, strlen(text), &added);
	if (!added)
		return;
	if (cases->count++ == 0)
		fprintf(cases->stream, "  - %s:\n", verb);
	fprintf(cases->stream, "      - %s\n", text);
}

static void
add_need(struct cases *cases, const char *verb, const struct need *need,
    const char *object)
{
	if (object != NULL && object != loopback && *object != '\0' &&
	    strchr(object, ' ') == NULL && object[strlen(object) - 1] != ':')
		add(cases, verb,
		    arena_printf(cases->draft->arena, "%s %s",
			wish_word(need->kind), object));
}

static void
add_allowed(struct cases *cases)
{
	const struct draft_lines *lines = &cases->draft->lines;
	const struct needs *needs = &cases->draft->needs;

	fputs("  # What was seen.\n", cases->stream);
	for (size_t i = 0; i < lines->list.count; i++) {
		const struct draft_line *line = &lines->list.items[i];

		if (line->reason == NULL && !line->need->probe)
			add_need(cases, "allow", line->need,
			    line->need->seen != NULL ? line->need->seen :
						       line->need->object);
	}
	for (size_t i = 0; i < needs->given.count; i++)
		add_need(cases, "allow", &needs->given.items[i],
		    needs->given.items[i].object);
}

static void
add_denied(struct cases *cases)
{
	static const char *const never[] = {
		"read ~/.ssh/id_ed25519",
		"read ~/.aws/credentials",
		"read ~/.netrc",
		"read ~/.bash_history",
		"write ~/.bashrc",
		"write ~/.ssh/authorized_keys",
		"write ~/bin/tool",
		"write /etc/passwd",
		"write /usr/bin/env",
		"syscall mount",
	};
	const struct draft_lines *lines = &cases->draft->lines;

	cases->count = 0;
	fputs("  # What must stay denied, whatever is added.\n", cases->stream);
	for (size_t i = 0; i < countof(never); i++)
		add(cases, "deny", never[i]);
	for (size_t i = 0; i < lines->list.count; i++) {
		if (lines->list.items[i].reason != NULL)
			add_need(cases, "deny", lines->list.items[i].need,
			    lines->list.items[i].need->object);
	}
}

static void
write_given(const struct cases *cases, const struct run *run)
{
	const struct sbx_blob *blob = &cases->draft->blob;

	fputs("given:\n", cases->stream);
	for (size_t i = 0; i < run->anchors.count; i++) {
		const struct run_anchor *anchor = &run->anchors.items[i];
		bool usual = strcmp(anchor->name, "workspace") == 0 ||
		    strcmp(anchor->name, "home") == 0 ||
		    strcmp(anchor->name, "runtime") == 0;

		if ((usual || places_param(blob, anchor->name) != 0) &&
		    is_plain(anchor->path) && strchr(anchor->path, ' ') == NULL)
			fprintf(cases->stream, "  %s: %s\n", anchor->name,
			    anchor->path);
	}
	fprintf(cases->stream, "  level: %s\n", level_word(run->level));
}

const char *
draft_tests(const struct draft *draft, const char *policy)
{
	const struct run *run = draft->records->runs.items[0];
	const struct base base = { .blob = draft->blob };
	struct cases cases = {
		.draft = draft,
		.subject = run_subject(&base, run, draft->arena),
	};
	struct memory memory;

	memory_open(&memory);
	cases.stream = memory.stream;
	fputs("# Drafted by sbxc learn; 'sbxc test' runs it.\nsbx-test: 1\n",
	    cases.stream);
	fprintf(cases.stream, "policy: \"%s\"\n", policy);
	write_given(&cases, run);
	fputs("cases:\n", cases.stream);
	add_allowed(&cases);
	add_denied(&cases);
	return memory_close(&memory, draft->arena);
}

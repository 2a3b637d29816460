/*
 * One access that a policy may be asked about, in the words of the language:
 *
 *	write ~/src/x      connect tcp 443      env LC_ALL
 *	syscall mount      syscall socket(2,1,0)
 *	domain github.com:22   connect 10.0.0.5:5432
 *
 * Each way to ask is a form of a kind of rule.
 */
#include "compiler/query/why.h"

#include "compiler/base/base.h"
#include "compiler/policy/kind.h"

#include <string.h>

enum { MAX_FORMS = 32 };

/* The first words of all forms; how many. */
static size_t
form_words(const char *words[MAX_FORMS])
{
	size_t count = 0;

	for (int id = 0; id < KIND_END; id++) {
		const struct access_form *form = rule_kinds[id]->forms;

		for (; form != NULL && form->word != NULL; form++) {
			size_t seen = 0;

			while (seen < count &&
			    strcmp(words[seen], form->word) != 0)
				seen++;
			if (seen == count && count < MAX_FORMS)
				words[count++] = form->word;
		}
	}
	return count;
}

static const char *
unknown_form(struct arena *arena, const char *word)
{
	const char *words[MAX_FORMS], *near, *text = "";
	size_t count = form_words(words);

	near = nearest_name(word, words, count);
	if (near != NULL)
		return arena_printf(arena,
		    "unknown question '%s'; did you mean '%s'?", word, near);
	for (size_t i = 0; i < count; i++)
		text = arena_printf(arena, "%s%s%s", text,
		    i == 0            ? "" :
			i + 1 < count ? ", " :
					" or ",
		    words[i]);
	return arena_printf(arena, "unknown question '%s'; it begins with %s",
	    word, text);
}

/* How many words the question has, with its object. */
static size_t
form_length(const struct access_form *form)
{
	if (form->second == NULL)
		return 2;
	return *form->second != '\0' ? 3 : 1;
}

static bool
form_fits(const struct access_form *form, const char *const *words,
    size_t count)
{
	return count == form_length(form) &&
	    (count != 3 || strcmp(form->second, "*") == 0 ||
		strcmp(words[1], form->second) == 0);
}

/* The form of these words, else the first one that begins as they do. */
static const struct access_form *
form_find(const char *const *words, size_t count, enum rule_kind_id *kind)
{
	const struct access_form *found = NULL;

	for (int id = 0; id < KIND_END; id++) {
		const struct access_form *form = rule_kinds[id]->forms;

		for (; form != NULL && form->word != NULL; form++) {
			if (strcmp(form->word, words[0]) != 0 ||
			    (found != NULL && !form_fits(form, words, count)))
				continue;
			*kind = (enum rule_kind_id)id;
			if (form_fits(form, words, count))
				return form;
			found = form;
		}
	}
	return found;
}

const char *
access_parse(const struct places *places, const char *const *words,
    size_t count, struct access *access)
{
	const struct access_form *form;
	enum rule_kind_id kind;

	if (count == 0)
		return "the question is missing";
	form = form_find(words, count, &kind);
	if (form == NULL)
		return unknown_form(places->arena, words[0]);
	if (!form_fits(form, words, count))
		return arena_printf(places->arena, "the question is: %s",
		    rule_kinds[kind]->usage);
	*access = (struct access){
		.kind = kind,
		.detail = form->detail,
		.word = words[count > 1],
	};
	return rule_kinds[kind]->ask(places, words[count - 1], access);
}

void
access_show(FILE *stream, const struct access *access)
{
	const struct rule_kind *kind = rule_kinds[access->kind];
	const struct access_form *form = kind->forms;

	while (form->detail != access->detail)
		form++;
	fprintf(stream, "%s", form->word);
	if (form_length(form) == 1)
		return;
	putc(' ', stream);
	if (form->second != NULL)
		fprintf(stream, "%s ",
		    strcmp(form->second, "*") == 0 ? access->word :
						     form->second);
	kind->show_access(stream, access);
}

static void
write_access(FILE *stream, const void *access)
{
	access_show(stream, access);
}

const char *
access_text(struct arena *arena, const struct access *access)
{
	return show_to_text(arena, write_access, access);
}

/* See access.h.  Each form of a question is a line of a table. */
#include "compiler/query/access.h"
#include "compiler/base/names.h"
#include "compiler/lower/filter.h"
#include "compiler/query/show.h"

#include <stdlib.h>
#include <string.h>

struct form;

/* Puts the object into the access; returns NULL or what is wrong with it. */
typedef const char *object_parser(const struct places *places,
    const char *object, struct access *access);

struct form {
	const char *word;
	const char *second; /* a word between it and the object, or NULL */
	enum access_kind kind;
	uint8_t detail;
	object_parser *parse;
	const char *usage;
};

static const char *
parse_path(const struct places *places, const char *object,
    struct access *access)
{
	const char *fault = places_find(places, object, &access->path);

	return fault == NULL ?
	    NULL :
	    arena_printf(places->arena, "'%s': %s", object, fault);
}

static const char *
parse_port(const struct places *places, const char *object,
    struct access *access)
{
	char *end;
	long port = strtol(object, &end, 10);

	access->port = (uint16_t)port;
	if (object[0] >= '0' && object[0] <= '9' && *end == '\0' &&
	    port <= UINT16_MAX)
		return NULL;
	return arena_printf(places->arena, "'%s' is no port", object);
}

/* "(2,1,0)", in decimal or with 0x; NULL or what is wrong. */
static const char *
parse_arguments(const struct places *places, const char *text,
    struct access *access)
{
	char *end = NULL;

	do {
		unsigned long long value = strtoull(++text, &end, 0);

		if (end == text || *text < '0' || *text > '9' ||
		    value > UINT32_MAX || access->arg_count == ACCESS_MAX_ARGS)
			break;
		access->args[access->arg_count++] = (uint32_t)value;
		text = end;
	} while (*text == ',');
	if (*text == ')' && text[1] == '\0')
		return NULL;
	return arena_printf(places->arena,
	    "the arguments of '%s' are up to "
	    "%d numbers of 32 bits, as in socket(2,1,0)",
	    access->name, ACCESS_MAX_ARGS);
}

static const char *
parse_syscall(const struct places *places, const char *object,
    struct access *access)
{
	const char *nearest, *open = strchr(object, '(');

	if (open != NULL)
		object = arena_strndup(places->arena, object,
		    (size_t)(open - object));
	access->name = object;
	if (object[0] == '@')
		return arena_printf(places->arena,
		    "'%s' is a group; ask "
		    "about one system call",
		    object);
	if (syscall_is_known(object))
		return open != NULL ? parse_arguments(places, open, access) :
				      NULL;
	nearest = syscall_nearest(object, false);
	return arena_printf(places->arena,
	    nearest == NULL ? "unknown system call '%s'" :
			      "unknown system call '%s'; did you mean '%s'?",
	    object, nearest);
}

static const char *
parse_env(const struct places *places, const char *object,
    struct access *access)
{
	access->name = object;
	if (object[0] != '\0' && strpbrk(object, "=*") == NULL)
		return NULL;
	return arena_printf(places->arena, "'%s' is no name of a variable",
	    object);
}

static const char paths[] = "read|write|exec PATH",
		  ports[] = "connect|listen tcp PORT",
		  names[] = "syscall NAME, or env NAME";

static const struct form forms[] = {
	{ "read", NULL, ACCESS_PATH, SBX_READ, parse_path, paths },
	{ "write", NULL, ACCESS_PATH, SBX_WRITE, parse_path, paths },
	{ "exec", NULL, ACCESS_PATH, SBX_EXEC, parse_path, paths },
	{ "connect", "tcp", ACCESS_PORT, SBX_CONNECT_TCP, parse_port, ports },
	{ "listen", "tcp", ACCESS_PORT, SBX_LISTEN_TCP, parse_port, ports },
	{ "syscall", NULL, ACCESS_SYSCALL, 0, parse_syscall, names },
	{ "env", NULL, ACCESS_ENV, 0, parse_env, names },
};

static const char *
unknown_form(struct arena *arena, const char *word)
{
	const char *words[countof(forms)], *near;

	for (size_t i = 0; i < countof(forms); i++)
		words[i] = forms[i].word;
	near = nearest_name(word, words, countof(words));
	return arena_printf(arena,
	    near != NULL ?
		"unknown question '%s'; did you mean '%s'?" :
		"unknown question '%s'; it begins with read, write, exec, "
		"connect, listen, syscall or env",
	    word, near);
}

const char *
access_parse(const struct places *places, const char *const *words,
    size_t count, struct access *access)
{
	const struct form *form = forms;

	if (count == 0)
		return "the question is missing";
	while (
	    form < forms + countof(forms) && strcmp(form->word, words[0]) != 0)
		form++;
	if (form == forms + countof(forms))
		return unknown_form(places->arena, words[0]);
	if (count != (form->second != NULL ? 3 : 2) ||
	    (form->second != NULL && strcmp(words[1], form->second) != 0))
		return arena_printf(places->arena, "the question is: %s",
		    form->usage);
	*access = (struct access){
		.kind = form->kind,
		.detail = form->detail,
	};
	return form->parse(places, words[count - 1], access);
}

/* The word for the kind and its detail. */
static const struct form *
form_of(const struct access *access)
{
	const struct form *form = forms;

	while (form->kind != access->kind || form->detail != access->detail)
		form++;
	return form;
}

void
access_show(FILE *stream, const struct access *access)
{
	const struct form *form = form_of(access);

	fprintf(stream, "%s ", form->word);
	if (access->kind == ACCESS_PORT)
		fprintf(stream, "%s %u", form->second, access->port);
	else if (access->kind == ACCESS_PATH)
		show_text(stream,
		    access->path.len > 0 ? access->path.path : "/");
	else
		show_text(stream, access->name);
	for (unsigned i = 0; i < access->arg_count; i++)
		fprintf(stream, access->args[i] > 0xffff ? "%s%#x" : "%s%u",
		    i == 0 ? "(" : ",", access->args[i]);
	if (access->arg_count > 0)
		putc(')', stream);
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

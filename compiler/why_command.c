/*
 * `sbxc why`: from its operands to a question that why.h answers.
 *
 *	sbxc why FILE|BLOB WORD [tcp] OBJECT
 */
#include "compiler/commands.h"
#include "compiler/input.h"
#include "compiler/names.h"
#include "compiler/why.h"
#include "compiler/words.h"

#include <stdlib.h>
#include <string.h>

struct question;

/* Returns what why_*() said, or that the object makes no sense. */
typedef enum exit_status question_asker(const struct why *why,
    const struct question *question, const char *object);

struct question {
	const char *word;
	bool tcp; /* the word "tcp" stands before the object */
	question_asker *ask;
	uint8_t detail; /* the path right, or enum sbx_port_op */
};

static enum exit_status
answered(bool allowed)
{
	return allowed ? EXIT_CLEAN : EXIT_POLICY;
}

static enum exit_status
ask_path(const struct why *why, const struct question *question,
    const char *object)
{
	struct sbx_place path;
	const char *fault = places_find(&why->places, object, &path);

	if (fault != NULL)
		return misused("'%s': %s", object, fault);
	return answered(why_path(why, question->detail, path));
}

static enum exit_status
ask_port(const struct why *why, const struct question *question,
    const char *object)
{
	char *end;
	long port = strtol(object, &end, 10);

	if (object[0] < '0' || object[0] > '9' || *end != '\0' ||
	    port > UINT16_MAX)
		return misused("'%s' is no port", object);
	return answered(why_port(why, (enum sbx_port_op)question->detail,
	    (uint16_t)port));
}

static enum exit_status
ask_syscall(const struct why *why, const struct question *question,
    const char *object)
{
	const char *nearest;

	(void)question;
	if (object[0] == '@')
		return misused("'%s' is a group; ask about one system call",
		    object);
	if (syscall_is_known(object))
		return answered(why_syscall(why, object));
	nearest = syscall_nearest(object, false);
	if (nearest == NULL)
		return misused("unknown system call '%s'", object);
	return misused("unknown system call '%s'; did you mean '%s'?", object,
	    nearest);
}

static enum exit_status
ask_env(const struct why *why, const struct question *question,
    const char *object)
{
	(void)question;
	if (object[0] == '\0' || strpbrk(object, "=*") != NULL)
		return misused("'%s' is no name of a variable", object);
	return answered(why_env(why, object));
}

static const struct question questions[] = {
	{ "read", false, ask_path, SBX_READ },
	{ "write", false, ask_path, SBX_WRITE },
	{ "exec", false, ask_path, SBX_EXEC },
	{ "connect", true, ask_port, SBX_CONNECT_TCP },
	{ "listen", true, ask_port, SBX_LISTEN_TCP },
	{ "syscall", false, ask_syscall, 0 },
	{ "env", false, ask_env, 0 },
};

/* The question in the operands after the file; NULL after complaining. */
static const struct question *
question_find(const struct options *options, const char **object)
{
	const char *const *operands = options->operands.list.items;
	size_t count = options->operands.list.count, i = 0;
	const char *names[countof(questions)];

	if (count < 2) {
		misused("why what? A file and a question are missing");
		return NULL;
	}
	for (; i < countof(questions); i++) {
		names[i] = questions[i].word;
		if (strcmp(names[i], operands[1]) == 0)
			break;
	}
	if (i == countof(questions)) {
		const char *near = nearest_name(operands[1], names, i);

		misused(near != NULL ? "unknown question '%s'; did you mean "
		    "'%s'?" : "unknown question '%s'", operands[1], near);
		return NULL;
	}
	if (count != 3u + questions[i].tcp ||
	    (questions[i].tcp && strcmp(operands[2], "tcp") != 0)) {
		misused("the question is: %s", questions[i].tcp ?
		    "connect|listen tcp PORT" : questions[i].ask == ask_path ?
		    "read|write|exec PATH" : "syscall NAME, or env NAME");
		return NULL;
	}
	*object = operands[count - 1];
	return &questions[i];
}

/* full, which an ordinary machine gives, unless the user asks for another. */
static bool
level_choose(const struct options *options, enum sbx_level *level)
{
	int found;

	*level = SBX_LEVEL_FULL;
	if (options->level == NULL)
		return true;
	found = level_find(options->level);
	if (found < 0) {
		misused("-l is full, standard, minimal or none, not '%s'",
		    options->level);
		return false;
	}
	*level = (enum sbx_level)found;
	return true;
}

static bool
define_all(const struct options *options, struct places *places)
{
	for (size_t i = 0; i < options->definitions.list.count; i++) {
		const char *text = options->definitions.list.items[i];
		const char *equals = definition_split(text);

		if (equals == NULL)
			return false;
		if (places_define(places, text, (size_t)(equals - text),
			equals + 1))
			continue;
		misused("-D %s: the policy has no parameter of that name",
		    text);
		return false;
	}
	return true;
}

/* Compiles a text in memory, so that it is asked as a blob is. */
static bool
compile_view(const struct options *options, const char *path,
    enum diag_format format, struct sbx_view *view)
{
	struct compilation compilation;
	struct blob blob;
	bool good;

	if (!options_open(options, path, &compilation))
		return false;
	good = compile(&compilation, options->profile, &blob);
	if (!good)
		diags_print(&compilation.diags, stderr, format,
		    options->colour);
	return good && sbx_verify(blob.bytes, blob.size, view) == SBX_BLOB_OK;
}

static bool
read_view(const struct options *options, enum diag_format format,
    struct sbx_view *view)
{
	const char *path = options->operands.list.items[0];

	if (!input_is_blob(path))
		return compile_view(options, path, format, view);
	if (!input_blob(options->arena, path, view))
		return false;
	if (options->profile == NULL ||
	    strcmp(options->profile, sbx_string(view, view->meta->profile)) ==
		0)
		return true;
	complain("%s: it holds the profile '%s'", path,
	    sbx_string(view, view->meta->profile));
	return false;
}

enum exit_status
command_why(struct options *options)
{
	struct why why = { .stream = stdout };
	const struct question *question;
	enum diag_format format;
	const char *object;
	struct sbx_view view;

	question = question_find(options, &object);
	why.arch = options_arch(options);
	if (why.arch == NULL && options->arch == NULL)
		why.arch = &filter_arches[0];
	if (question == NULL || why.arch == NULL ||
	    !options_format(options, &format))
		return EXIT_USAGE;
	if (!read_view(options, format, &view))
		return EXIT_TROUBLE;
	if (!level_choose(options, &why.level))
		return EXIT_USAGE;
	places_init(&why.places, options->arena, &view, options->workspace,
	    options->home);
	if (!define_all(options, &why.places))
		return EXIT_USAGE;
	return question->ask(&why, question, object);
}

/*
 * What to do so that a policy allows what it denies: steps that together work,
 * or the reason why none is offered; never both.  A rule of one's own file is
 * changed; one that comes from a shipped profile is dropped, and what that opens
 * is said.  Nothing is offered that would show credentials, give away more than
 * the place (check/risks.c), or let a command write where one's own file says
 * that it must not.
 */
#include "compiler/base/base.h"
#include "compiler/policy/kind.h"
#include "compiler/query/why.h"
#include "compiler/report/report.h"

#include <stdarg.h>
#include <string.h>

static struct remedy_step *
step_add(struct remedy *remedy, enum remedy_do what, const char *text)
{
	struct remedy_step *step = arena_push(remedy->arena, &remedy->steps);

	*step = (struct remedy_step){ what, text, SBX_NO_SOURCE };
	return step;
}

void
remedy_add(struct remedy *remedy, enum remedy_do what, const char *format, ...)
{
	char text[3 * SBX_MAX_PATH];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	step_add(remedy, what, arena_printf(remedy->arena, "%s", text));
}

void
remedy_opens(struct remedy *remedy, const char *what)
{
	if (what != NULL)
		step_add(remedy, REMEDY_OPENS, what);
}

/* The texts of shipped profiles have names like "sbx:coding.sbx", and in the
 * blobs that are installed with sbxrun like "coding.sbx". */
bool
remedy_is_shipped(const struct sbx_blob *blob, uint32_t source)
{
	const char *file, *name;

	if (source == SBX_NO_SOURCE)
		return false;
	file = sbx_string(blob, blob->sources[source].file);
	if (strncmp(file, "sbx:", 4) == 0)
		return true;
	for (size_t i = 0; (name = builtin_name(i)) != NULL; i++) {
		if (strcmp(name, file) == 0)
			return true;
	}
	return false;
}

void
remedy_lift(struct remedy *remedy, uint32_t source, const char *rule)
{
	if (remedy_is_shipped(remedy->blob, source))
		remedy_add(remedy, REMEDY_ADD, "drop %s", rule);
	else
		step_add(remedy, REMEDY_REMOVE, rule)->source = source;
}

enum sbx_advice_where
remedy_where(const struct remedy_step *step)
{
	static const uint8_t where[] = {
		[REMEDY_ADD] = SBX_ADVICE_POLICY,
		[REMEDY_REMOVE] = SBX_ADVICE_POLICY,
		[REMEDY_EXCEPT] = SBX_ADVICE_POLICY,
		[REMEDY_MAKE] = SBX_ADVICE_SHELL,
		[REMEDY_MAKE_EXCEPTED] = SBX_ADVICE_SHELL,
		[REMEDY_MAKE_ABOVE] = SBX_ADVICE_SHELL,
		[REMEDY_NONE] = SBX_ADVICE_NONE,
		[REMEDY_INSTEAD] = SBX_ADVICE_INSTEAD,
		[REMEDY_HINT] = SBX_ADVICE_HINT,
		[REMEDY_OPENS] = SBX_ADVICE_OPENS,
	};

	return (enum sbx_advice_where)where[step->what];
}

bool
remedy_works(const struct remedy *remedy)
{
	bool changes = false;

	for (size_t i = 0; i < remedy->steps.count; i++) {
		enum sbx_advice_where where = remedy_where(
		    &remedy->steps.items[i]);

		if (where == SBX_ADVICE_NONE)
			return false;
		changes |= where == SBX_ADVICE_POLICY ||
		    where == SBX_ADVICE_SHELL;
	}
	/* None at all: it takes another machine, or level. */
	return changes;
}

/* What is only part of the way would be worse than nothing: the steps that lift
 * go where one of them says that nothing is offered. */
static void
keep_what_works(struct remedy *remedy)
{
	size_t kept = 0;

	if (remedy_works(remedy))
		return;
	for (size_t i = 0; i < remedy->steps.count; i++) {
		enum sbx_advice_where where = remedy_where(
		    &remedy->steps.items[i]);

		if (where != SBX_ADVICE_POLICY && where != SBX_ADVICE_SHELL &&
		    where != SBX_ADVICE_OPENS)
			remedy->steps.items[kept++] = remedy->steps.items[i];
	}
	remedy->steps.count = kept;
}

struct remedy
remedy_find(const struct subject *subject, const struct access *access,
    const struct verdict *verdict)
{
	struct remedy remedy = {
		.arena = subject->places.arena,
		.subject = subject,
		.blob = subject->places.blob,
		.access = access,
		.verdict = verdict,
	};

	rule_kinds[access->kind]->remedy(&remedy);
	keep_what_works(&remedy);
	return remedy;
}

static bool
has_exclusions(const struct sbx_blob *blob, uint32_t source)
{
	for (uint32_t i = 0; i < blob->path_count; i++) {
		if (blob->paths[i].source == source &&
		    blob->paths[i].exclusion_count > 0)
			return true;
	}
	return false;
}

/* "x.json", and not ".config": what is to be made is rather a file. */
static bool
is_file_name(const char *path)
{
	const char *name = strrchr(path, '/');

	return name != NULL && name[1] != '\0' && strchr(name + 2, '.') != NULL;
}

/* Whether a step makes what is asked about, and not a directory above it. */
static bool
makes_path(const struct remedy *remedy, const struct remedy_step *step)
{
	struct sbx_place at = sbx_place_of(step->text);

	return step->what != REMEDY_MAKE_ABOVE &&
	    sbx_place_compare(at, remedy->access->path) == 0;
}

static bool
makes_program(const struct remedy *remedy, const struct remedy_step *step)
{
	return makes_path(remedy, step) && remedy->access->detail == SBX_EXEC;
}

/* Whether what is to be made is a file, as far as its name tells. */
static bool
makes_file(const struct remedy *remedy, const struct remedy_step *step)
{
	return makes_path(remedy, step) &&
	    (remedy->access->makes_file || step->what == REMEDY_MAKE_EXCEPTED ||
		is_file_name(step->text));
}

/* Whether it may as well be the other one of a file and a directory. */
static bool
makes_either(const struct remedy *remedy, const struct remedy_step *step)
{
	return makes_path(remedy, step) && !remedy->access->makes_file &&
	    !makes_program(remedy, step);
}

/* With a directory for an exception's place that is not there either. */
static void
put_command(FILE *stream, const struct remedy *remedy,
    const struct remedy_step *step, bool is_file)
{
	struct sbx_place at = sbx_place_of(step->text);
	struct sbx_place parent = remedy_parent(at);
	bool alone = step->what != REMEDY_MAKE_EXCEPTED ||
	    !remedy->subject->places.here || here_has(parent);

	if (!alone && is_file)
		fprintf(stream, "mkdir -p %.*s && ", (int)parent.len,
		    parent.path);
	fprintf(stream, "%s %s",
	    is_file                                       ? "touch" :
		!alone || step->what == REMEDY_MAKE_ABOVE ? "mkdir -p" :
							    "mkdir",
	    step->text);
}

/* How it is made.  Whoever chose the name may want it to be run: where a shell
 * could take it for more than a name it stands in no command. */
static void
put_making(FILE *stream, const struct remedy *remedy,
    const struct remedy_step *step)
{
	bool is_program = makes_program(remedy, step);
	bool is_file = makes_file(remedy, step);

	if (shell_is_safe(step->text) && !is_program) {
		put_command(stream, remedy, step, is_file);
		return;
	}
	fprintf(stream, "%s ",
	    is_program                     ? "install the program" :
		makes_either(remedy, step) ? "make the file or directory" :
		is_file                    ? "make the file" :
					     "make the directory");
	show_quoted(stream, step->text);
	fputs(" outside of the sandbox", stream);
}

/* Why it is done first, behind what a shell takes for a command; and what does it
 * where the name was taken for that of the other kind. */
static void
put_remark(FILE *stream, const struct remedy *remedy,
    const struct remedy_step *step)
{
	bool is_file = makes_file(remedy, step);

	fputs("  # ", stream);
	if (makes_either(remedy, step) && shell_is_safe(step->text)) {
		fprintf(stream,
		    "or for a %s: ", is_file ? "directory" : "file");
		put_command(stream, remedy, step, !is_file);
		fputs("; ", stream);
	}
	fputs("first: a rule for what is not there grants nothing", stream);
}

static void
put_step(FILE *stream, const struct remedy *remedy,
    const struct remedy_step *step)
{
	const struct sbx_blob *blob = remedy->blob;

	switch (step->what) {
	case REMEDY_REMOVE:
		fprintf(stream, "take away: %s at ", step->text);
		show_source(stream, blob, step->source);
		break;
	case REMEDY_EXCEPT:
		fputs(has_exclusions(blob, step->source) ?
			"add to the exceptions of the rule at " :
			"end the rule at ",
		    stream);
		show_source(stream, blob, step->source);
		fprintf(stream, "%s%s",
		    has_exclusions(blob, step->source) ? ": " :
							 " with: except ",
		    step->text);
		break;
	case REMEDY_MAKE:
	case REMEDY_MAKE_EXCEPTED:
	case REMEDY_MAKE_ABOVE:
		put_making(stream, remedy, step);
		break;
	case REMEDY_ADD:
	case REMEDY_NONE:
	case REMEDY_INSTEAD:
	case REMEDY_HINT:
	case REMEDY_OPENS:
		fputs(step->text, stream);
		break;
	}
}

struct wording {
	const struct remedy *remedy;
	const struct remedy_step *step;
};

static void
write_words(FILE *stream, const void *context)
{
	const struct wording *wording = context;

	put_step(stream, wording->remedy, wording->step);
}

const char *
remedy_words(struct arena *arena, const struct remedy *remedy, size_t step)
{
	struct wording wording = {
		remedy,
		&remedy->steps.items[step],
	};

	return show_to_text(arena, write_words, &wording);
}

/* --- as sbxc why prints it ------------------------------------------------ */

/* What stands before a step that changes something. */
static const char *
label_of(const struct remedy *remedy, size_t index)
{
	const struct remedy_step *steps = remedy->steps.items;
	bool first = index == 0, shell = false;

	for (size_t i = 0; i < index; i++)
		shell |= remedy_where(&steps[i]) == SBX_ADVICE_SHELL;
	if (remedy_where(&steps[index]) == SBX_ADVICE_SHELL)
		return first ? "to allow it, in a shell: " : "and in a shell: ";
	if (first)
		return "to allow it: ";
	return shell ? "and in the policy: " : "and: ";
}

void
remedy_print(FILE *stream, const struct remedy *remedy)
{
	static const char *const labels[SBX_ADVICE_END] = {
		[SBX_ADVICE_INSTEAD] = "instead: ",
		[SBX_ADVICE_NONE] = "no rule is offered: ",
		[SBX_ADVICE_HINT] = "instead: ",
		[SBX_ADVICE_OPENS] = "which opens: ",
	};

	for (size_t i = 0; i < remedy->steps.count; i++) {
		const struct remedy_step *step = &remedy->steps.items[i];
		enum sbx_advice_where where = remedy_where(step);

		fprintf(stream, "    %s",
		    labels[where] != NULL ? labels[where] :
					    label_of(remedy, i));
		put_step(stream, remedy, step);
		if (where == SBX_ADVICE_SHELL)
			put_remark(stream, remedy, step);
		fputc('\n', stream);
	}
}

/* --- where statements go -------------------------------------------------- */

/* The source of a rule that the profile itself has. */
static uint32_t
own_source(const struct sbx_blob *blob)
{
	const char *profile = sbx_string(blob, blob->meta->profile);

	for (uint32_t i = 0; i < blob->source_count; i++) {
		if (strcmp(sbx_string(blob, blob->sources[i].via), profile) ==
		    0)
			return i;
	}
	return SBX_NO_SOURCE;
}

/* A profile without rules of its own has the name of one that is shipped, and
 * nothing of another file: there is no file of the user's. */
static bool
is_shipped_profile(struct arena *arena, const struct sbx_blob *blob)
{
	const char *file = arena_printf(arena, "%s.sbx",
	    sbx_string(blob, blob->meta->profile));
	const char *name;
	bool shipped = false;

	for (size_t i = 0; (name = builtin_name(i)) != NULL; i++)
		shipped |= strcmp(name, file) == 0;
	for (uint32_t i = 0; i < blob->source_count && shipped; i++)
		shipped = remedy_is_shipped(blob, i);
	return shipped;
}

const char *
remedy_file(struct arena *arena, const struct sbx_blob *blob)
{
	const char *profile = sbx_string(blob, blob->meta->profile);
	uint32_t source = own_source(blob);
	const char *file;

	if (source == SBX_NO_SOURCE && !is_shipped_profile(arena, blob))
		return arena_printf(arena,
		    "the file that has profile %s, between its braces",
		    shown_text(arena, profile));
	if (source == SBX_NO_SOURCE || remedy_is_shipped(blob, source))
		return arena_printf(arena,
		    "a file of your own, since %s is shipped: 'sbx 1', then "
		    "'profile mine extends %s {', these lines, '}'; compile "
		    "it: sbxc mine.sbx",
		    profile, profile);
	file = shown_text(arena, sbx_string(blob, blob->sources[source].file));
	return arena_printf(arena,
	    "%s, between the braces of profile %s; compile it again: sbxc %s",
	    file, shown_text(arena, profile), file);
}

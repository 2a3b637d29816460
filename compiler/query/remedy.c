/* See remedy.h. */
#include "compiler/query/remedy.h"
#include "compiler/base/shell.h"
#include "compiler/policy/kind.h"
#include "compiler/query/show.h"
#include "compiler/report/source.h"

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
	return remedy;
}

bool
remedy_works(const struct remedy *remedy)
{
	for (size_t i = 0; i < remedy->steps.count; i++) {
		if (remedy->steps.items[i].what == REMEDY_NONE)
			return false;
	}
	return remedy->steps.count > 0;
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

/* Whether what is to be made is a file; a directory above it is none. */
static bool
makes_file(const struct remedy *remedy, const struct remedy_step *step)
{
	const struct access *access = remedy->access;
	struct sbx_place at = { step->text, (uint32_t)strlen(step->text) };

	return access->makes_file ? sbx_place_compare(at, access->path) == 0 :
				    is_file_name(step->text);
}

/* How it is made.  Whoever chose the name may want it to be run: where a shell
 * could take it for more than a name it stands in no command. */
static void
put_making(FILE *stream, const struct remedy *remedy,
    const struct remedy_step *step)
{
	bool is_file = step->what == REMEDY_MAKE_EXCEPTED ||
	    (step->what == REMEDY_MAKE && makes_file(remedy, step));

	if (!shell_is_safe(step->text)) {
		fprintf(stream, "make the %s ", is_file ? "file" : "directory");
		show_quoted(stream, step->text);
		fputs(" first, outside of the sandbox", stream);
		return;
	}
	fprintf(stream, "%s %s",
	    is_file                             ? "touch" :
		step->what == REMEDY_MAKE_ABOVE ? "mkdir -p" :
						  "mkdir",
	    step->text);
}

static const char *
reason_to_make(enum remedy_do what)
{
	if (what == REMEDY_MAKE)
		return "make it first, since a rule for what is not there "
		       "grants nothing: ";
	if (what == REMEDY_MAKE_EXCEPTED)
		return "make it first (a file or a directory), since an "
		       "exception for what is not there grants nothing: ";
	return "make it first, since an exception for what is not there grants "
	       "nothing: ";
}

static void
put_step(FILE *stream, const struct remedy *remedy,
    const struct remedy_step *step)
{
	const struct sbx_blob *blob = remedy->blob;

	switch (step->what) {
	case REMEDY_ADD:
		fputs(step->text, stream);
		break;
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
		fputs(reason_to_make(step->what), stream);
		put_making(stream, remedy, step);
		break;
	case REMEDY_NONE:
	case REMEDY_INSTEAD:
		fputs(step->text, stream);
		break;
	}
}

bool
remedy_lifts(const struct remedy *remedy, size_t step)
{
	enum remedy_do what = remedy->steps.items[step].what;

	return what != REMEDY_NONE && what != REMEDY_INSTEAD;
}

struct wording {
	const struct remedy *remedy;
	const struct remedy_step *step;
};

/* What stands before a step that no other one needs, and those that make
 * something without the sentence that says why. */
static void
write_words(FILE *stream, const void *context)
{
	const struct wording *wording = context;
	const struct remedy_step *step = wording->step;

	switch (step->what) {
	case REMEDY_NONE:
		fprintf(stream, "no rule is offered: %s", step->text);
		break;
	case REMEDY_INSTEAD:
		fprintf(stream, "instead: %s", step->text);
		break;
	case REMEDY_MAKE:
	case REMEDY_MAKE_EXCEPTED:
	case REMEDY_MAKE_ABOVE:
		put_making(stream, wording->remedy, step);
		break;
	case REMEDY_ADD:
	case REMEDY_REMOVE:
	case REMEDY_EXCEPT:
		put_step(stream, wording->remedy, step);
		break;
	}
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

void
remedy_print(FILE *stream, const struct remedy *remedy)
{
	bool works = remedy_works(remedy), said = false;

	for (size_t i = 0; i < remedy->steps.count; i++) {
		const struct remedy_step *step = &remedy->steps.items[i];

		if (step->what == REMEDY_NONE)
			fputs("    no rule is offered: ", stream);
		else if (step->what == REMEDY_INSTEAD)
			fputs("    instead: ", stream);
		else if (said)
			fputs("    and: ", stream);
		else
			fputs(works ? "    to allow it: " :
				      "    what denies it goes by: ",
			    stream);
		said |= step->what != REMEDY_NONE;
		put_step(stream, remedy, step);
		putc('\n', stream);
	}
}

/*
 * `sbxc build`: compiles one profile of a file into a blob, and writes a rule
 * for make if it is asked to; or tells whether an existing blob is what the
 * file compiles to.
 */
#include "compiler/base/base.h"
#include "compiler/command/commands.h"
#include "compiler/lower/lower.h"
#include "compiler/query/query.h"
#include "compiler/query/why.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* FILE.sbx gives FILE.bin in the current directory, and so does FILE.yaml. */
static const char *
default_output(struct arena *arena, const char *path)
{
	static const char *const suffixes[] = {
		".sbx",
		".yaml",
		".yml",
		".json",
	};
	const char *name = path_name(path), *dot;
	size_t len;

	name += *name == '@';
	dot = strrchr(name, '.');
	len = strlen(name);

	for (size_t i = 0; i < countof(suffixes) && dot > name; i++) {
		if (strcmp(dot, suffixes[i]) == 0)
			len = (size_t)(dot - name);
	}
	return arena_printf(arena, "%.*s.bin", (int)len, name);
}

/* A path as make reads it in a rule. */
static void
depfile_word(FILE *stream, const char *path)
{
	for (const char *at = path; *at != '\0'; at++) {
		size_t run = strspn(at, "\\");

		/* Backslashes are literal unless something quoted follows. */
		if (run > 0 && at[run] != '\0' &&
		    strchr(" \t#:", at[run]) != NULL)
			fprintf(stream, "%.*s", (int)run, at);
		if (*at == ' ' || *at == '\t' || *at == '#' || *at == ':')
			putc('\\', stream);
		else if (*at == '$')
			putc('$', stream);
		if (run > 0) {
			fprintf(stream, "%.*s", (int)run, at);
			at += run - 1;
		} else {
			putc(*at, stream);
		}
	}
}

static bool
is_file(const struct source *source)
{
	return !source->builtin && source->path != NULL &&
	    strcmp(source->path, "-") != 0;
}

struct depfile {
	const char *target;
	const struct compilation *compilation;
};

/* "OUT: SOURCE SOURCE". */
static void
write_depfile(FILE *stream, const void *what)
{
	const struct depfile *depfile = what;
	const struct sources *sources = &depfile->compilation->sources;

	depfile_word(stream, depfile->target);
	putc(':', stream);
	for (size_t i = 0; i < sources->files.count; i++) {
		const struct source *source = sources->files.items[i];

		if (!is_file(source))
			continue;
		fputs(" \\\n    ", stream);
		depfile_word(stream, source->path);
	}
	putc('\n', stream);
}

/* Whether writing `path` would destroy a source. */
static bool
is_its_source(const struct compilation *compilation, const char *path)
{
	struct stat out, in;

	if (stat(path, &out) != 0)
		return false;
	for (size_t i = 0; i < compilation->sources.files.count; i++) {
		const struct source *source =
		    compilation->sources.files.items[i];

		if (is_file(source) && stat(source->path, &in) == 0 &&
		    in.st_dev == out.st_dev && in.st_ino == out.st_ino)
			return true;
	}
	return false;
}

/* The directory of a file that is to be written, without links; or NULL. */
static const char *
directory_path(const char *path, char room[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	char name[PATH_MAX];
	int len = slash == NULL ? 0 : (int)(slash - path) + 1;

	if (snprintf(name, sizeof name, "%.*s.", len, path) >= PATH_MAX)
		return NULL;
	return realpath(name, room);
}

/* Whether two files that are to be written are one.  A link is replaced, so it
 * is a file of its own; a device may be both. */
static bool
is_same_file(const char *a, const char *b)
{
	char rooms[2][PATH_MAX];
	struct stat status;

	return strcmp(path_name(a), path_name(b)) == 0 &&
	    directory_path(a, rooms[0]) != NULL &&
	    directory_path(b, rooms[1]) != NULL &&
	    strcmp(rooms[0], rooms[1]) == 0 &&
	    (stat(a, &status) != 0 || S_ISREG(status.st_mode));
}

static enum exit_status
write_files(const struct options *options,
    const struct compilation *compilation, const char *path,
    const struct image *image)
{
	const struct depfile depfile = { path, compilation };
	struct output outputs[2];
	const char *failed;
	size_t count = 0;

	if (options->depfile != NULL) {
		const char *text = show_to_text(options->arena, write_depfile,
		    &depfile);

		outputs[count++] = (struct output){
			.path = options->depfile,
			.bytes = text,
			.size = strlen(text),
		};
	}
	outputs[count++] = (struct output){
		.path = path,
		.bytes = image->bytes,
		.size = image->size,
	};
	if (outputs_write(outputs, count, &failed))
		return EXIT_CLEAN;
	complain("cannot write '%s': %s", failed, strerror(errno));
	return EXIT_TROUBLE;
}

static enum exit_status
write_blob(const struct options *options, const struct compilation *compilation,
    const char *path, const struct image *image)
{
	if (strcmp(path, "-") == 0) {
		fwrite(image->bytes, 1, image->size, stdout);
		return EXIT_CLEAN;
	}
	if (is_its_source(compilation, path))
		return misused("'%s' is read, so it is not written", path);
	if (options->depfile != NULL && is_same_file(options->depfile, path))
		return misused("-o and -d are one file, '%s'", path);
	if (options->depfile != NULL &&
	    is_its_source(compilation, options->depfile))
		return misused("'%s' is read, so it is not written",
		    options->depfile);
	return write_files(options, compilation, path, image);
}

/* --- is it what is there? ------------------------------------------------- */

/* Options about what is written do not go with --verify. */
static enum exit_status
verify_fits(const struct options *options)
{
	if (options->output != NULL || options->depfile != NULL)
		return misused("--verify writes nothing: it does not go with "
			       "-o or -d");
	if (strcmp(options->verify, "-") == 0 &&
	    strcmp(options->operands.list.items[0], "-") == 0)
		return misused("standard input cannot be both");
	return EXIT_CLEAN;
}

static enum exit_status
verify_blob(const struct options *options, const char *path,
    const struct image *image)
{
	const char *difference, *writer;
	struct sbx_blob blob;

	if (!operand_blob(options->arena, options->verify, &blob))
		return errno == EBADMSG ? EXIT_POLICY : EXIT_TROUBLE;
	difference = sections_differ(image->bytes, image->size, blob.base,
	    blob.size + blob.text_size);
	if (difference == NULL)
		return EXIT_CLEAN;
	complain("'%s' is not what '%s' compiles to: they differ first in %s",
	    options->verify, path, difference);
	writer = sbx_string(&blob, blob.meta->writer);
	if (strcmp(writer, SBX_WRITER) != 0)
		complain("it was written by %s, and this is %s",
		    shown_text(options->arena, writer), SBX_WRITER);
	else if (vouch(options->arena, options->verify, &blob) == VOUCH_SAME)
		complain("'sbxc diff %s %s' says what that lets through",
		    options->verify, path);
	return EXIT_POLICY;
}

/* --- the command ---------------------------------------------------------- */

/* Checks -o and -d before any work is done; *out is the file to write. */
static enum exit_status
output_find(const struct options *options, const char *path, const char **out)
{
	*out = options->output;
	if (*out == NULL && strcmp(path, "-") == 0)
		return misused("a policy from standard input needs -o");
	if (*out == NULL)
		*out = default_output(options->arena, path);
	if (strcmp(*out, "-") != 0)
		return EXIT_CLEAN;
	if (options->depfile != NULL)
		return misused("-d needs a file that make can name, not -o -");
	if (isatty(STDOUT_FILENO))
		return misused("a compiled policy is not for a terminal");
	return EXIT_CLEAN;
}

/* A text is compiled.  Rules beside a policy may be added to a blob, too. */
static enum exit_status
make(const struct options *options, const char *path, struct operand *operand)
{
	bool extra = options->allowed.list.count > 0 ||
	    options->denied.list.count > 0;

	if (extra && path[0] != '@' && input_is_blob(path))
		operand_read(options, path, operand);
	else if (options_open(options, path, &operand->compilation)) {
		operand->compilation.definitions = options->definitions;
		operand_compile(options, operand);
	}
	if (operand->state == OPERAND_UNREAD)
		return EXIT_TROUBLE;
	if (!operand->compiled)
		options_print(options, &operand->compilation.diags);
	if (operand->state == OPERAND_FAULTY)
		return policy_status(&operand->compilation.diags);
	return extra_apply(options, operand);
}

enum exit_status
command_build(struct options *options)
{
	enum exit_status status = operands_require(options, 1, "FILE");
	struct operand operand = { .state = OPERAND_UNREAD };
	const char *path, *out = NULL;
	struct image image;

	if (status != EXIT_CLEAN)
		return status;
	path = options->operands.list.items[0];
	if (!options->record)
		status = options->verify != NULL ?
		    verify_fits(options) :
		    output_find(options, path, &out);
	if (status == EXIT_CLEAN)
		status = make(options, path, &operand);
	if (status != EXIT_CLEAN)
		return status;
	image = (struct image){ .bytes = operand.blob.base,
		.size = operand.blob.size + operand.blob.text_size };
	if (options->record) {
		compiled_write(stdout, &operand.compilation.sources, &image);
		return EXIT_CLEAN;
	}
	return out == NULL ?
	    verify_blob(options, path, &image) :
	    write_blob(options, &operand.compilation, out, &image);
}

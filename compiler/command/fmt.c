/*
 * `sbxc fmt`: texts in their canonical layout.  A file is read whole, laid out
 * in memory and compared.  Only then is anything printed or written, so that a
 * file with an error stays as it is.
 */
#include "compiler/base/base.h"
#include "compiler/command/commands.h"
#include "compiler/write/write.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool
is_yaml(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot != NULL &&
	    (strcasecmp(dot, ".yaml") == 0 || strcasecmp(dot, ".yml") == 0 ||
		strcasecmp(dot, ".json") == 0);
}

/* What is wrong with the command line, or EXIT_CLEAN. */
static enum exit_status
check_operands(const struct options *options)
{
	for (size_t i = 0; i < options->operands.list.count; i++) {
		const char *path = options->operands.list.items[i];

		if (is_yaml(path)) {
			complain("fmt is for policies as text, and '%s' is "
				 "none; 'sbxc convert -O sbx' makes one of it",
			    path);
			return EXIT_USAGE;
		}
		if (options->write &&
		    (strcmp(path, "-") == 0 || path[0] == '@'))
			return misused("--write needs files to write to");
	}
	if (options->write && options->operands.list.count == 0)
		return misused("--write needs files to write to");
	return EXIT_CLEAN;
}

/* The new file has the owner of the old one; otherwise nothing is written. */
static enum exit_status
write_back(const char *path, struct fmt_text text)
{
	struct stat like;
	struct output output = {
		.path = path,
		.bytes = text.bytes,
		.size = text.size,
		.like = &like,
	};
	const char *failed;

	if (stat(path, &like) == 0 && access(path, W_OK) == 0) {
		if (!S_ISREG(like.st_mode))
			errno = EINVAL;
		else if (outputs_write(&output, 1, &failed))
			return EXIT_CLEAN;
	}
	complain("cannot write '%s': %s", path, strerror(errno));
	return EXIT_TROUBLE;
}

/* A file in memory that diff(1) inherits; its name, or NULL. */
static const char *
text_file(struct arena *arena, struct fmt_text text)
{
	int fd = memfd_create("sbxc-fmt", 0);

	for (ssize_t done; fd >= 0 && text.size > 0;
	     text.size -= (size_t)done) {
		done = write(fd, text.bytes, text.size);
		if (done <= 0)
			return NULL;
		text.bytes += done;
	}
	return fd < 0 ? NULL : arena_printf(arena, "/dev/fd/%d", fd);
}

static __attribute__((noreturn)) void
execute_diff(const struct options *options, const char *shown,
    const struct fmt_text texts[2])
{
	const char *old = text_file(options->arena, texts[0]);
	const char *new = text_file(options->arena, texts[1]);

	if (old != NULL && new != NULL && options->colour_out)
		execlp("diff", "diff", "-u", "--color=always", "--label", shown,
		    "--label", shown, old, new, (char *)NULL);
	else if (old != NULL && new != NULL)
		execlp("diff", "diff", "-u", "--label", shown, "--label", shown,
		    old, new, (char *)NULL);
	complain("cannot run diff: %s", strerror(errno));
	_exit(EXIT_TROUBLE);
}

/* It ends with 1 where it has printed a difference. */
static bool
print_diff(const struct options *options, const char *shown,
    const struct fmt_text texts[2])
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		execute_diff(options, shown, texts);
	if (pid < 0)
		complain("cannot run diff: %s", strerror(errno));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

/* Prints or writes a text and its layout as the options ask. */
static enum exit_status
deliver(const struct options *options, const char *path, const char *shown,
    const struct fmt_text texts[2])
{
	bool same = texts[0].size == texts[1].size &&
	    memcmp(texts[0].bytes, texts[1].bytes, texts[0].size) == 0;
	bool only_looked = (options->list || options->diff) && !options->write;

	if (!options->list && !options->diff && !options->write)
		fwrite(texts[1].bytes, 1, texts[1].size, stdout);
	if (same)
		return EXIT_CLEAN;
	if (options->list)
		puts(shown);
	if (options->diff && !print_diff(options, shown, texts))
		return EXIT_TROUBLE;
	if (options->write)
		return write_back(path, texts[1]);
	return only_looked ? EXIT_POLICY : EXIT_CLEAN;
}

static enum exit_status
format_file(const struct options *options, const char *path)
{
	struct compilation compilation;
	enum exit_status status = options_parse_alone(options, path,
	    &compilation);
	const struct source *source = compilation.file;
	struct fmt_text texts[2];
	size_t line;

	if (status != EXIT_CLEAN)
		return status;
	texts[0] = (struct fmt_text){ source->text, source->size };
	texts[1] = fmt_text(options->arena, compilation.stmts, source);
	line = fmt_long_line(texts[1]);
	if (line == 0)
		return deliver(options, path, source->shown, texts);
	complain("%s: line %zu would become too long, and so it stays as it is",
	    source->shown, line);
	return EXIT_POLICY;
}

enum exit_status
command_fmt(struct options *options)
{
	const struct words *operands = &options->operands;
	enum exit_status worst = check_operands(options);

	if (worst != EXIT_CLEAN)
		return worst;
	if (operands->list.count == 0)
		return format_file(options, "-");
	for (size_t i = 0; i < operands->list.count; i++) {
		enum exit_status status = format_file(options,
		    operands->list.items[i]);

		if (status > worst)
			worst = status;
	}
	return worst;
}

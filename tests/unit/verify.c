/*
 * Malformed blobs, described as text.  Each file NAME.txt holds cases: a good
 * blob (good.sbx, compiled), what is done to it, and what the verifier says.
 *
 *	case a path rule that speaks of no anchor
 *	    set paths[0].anchor = 99
 *	    expect ANCHOR
 *
 *	set PLACE = VALUE	a field, as wide as it is
 *	drop SECTION		and its row in the table
 *	size SECTION N		cuts it off, or fills it up with zeros
 *	repeat SECTION N	the first record, N times
 *	add KIND FLAGS SIZE	a section of zeros, placed by its kind
 *	flip N BIT		from here on nothing is made consistent again
 *	truncate N, grow N	by N bytes; grow adds zeros
 *	seal [size]		makes size and checksum fit again, or size alone
 *	expect NAME		of SBX_BLOB_ERRORS
 *	refused			sbxrun refuses, even if the blob is well formed
 *	runs			sbxrun runs the command
 *	foreign			it says that another version of sbxc wrote it
 *
 * PLACE is header.FIELD, table[I].FIELD or SECTION[I].FIELD, or a byte: N,
 * end-N or SECTION+N.  VALUE is a number, SECTION[I].FIELD, or SECTION.count,
 * SECTION.size or SECTION.offset, and then +N or -N.  Before the first flip, truncate or grow,
 * and else at the end, the blob is sealed.
 *
 * The good blob's text is left out of all blobs but the one that is not changed.
 * A blob that is refused must be so by everyone: by sbxrun with status 125,
 * one line and nothing run, by `sbxc dump` with one line.
 */
#include "tests/unit/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a program with stdout away and stderr in a file; its exit status, or
 * 255 if a signal ended it. */
static int
run(const struct bench *bench, char *const *arguments)
{
	char error[PATH_SIZE + 16];
	int status;
	pid_t pid = fork();

	if (pid < 0)
		give_up(bench, "fork: %s", strerror(errno));
	if (pid == 0) {
		snprintf(error, sizeof error, "%s/stderr", bench->dir);
		if (freopen("/dev/null", "w", stdout) == NULL ||
		    freopen(error, "w", stderr) == NULL)
			_exit(99);
		execv(arguments[0], arguments);
		_exit(99);
	}
	while (waitpid(pid, &status, 0) < 0)
		continue;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* What went to stderr; the number of its lines. */
static unsigned
read_error(const struct bench *bench, char *text, size_t size)
{
	char path[PATH_SIZE + 16];
	unsigned lines = 0;
	FILE *file;

	snprintf(path, sizeof path, "%s/stderr", bench->dir);
	file = fopen(path, "re");
	size = file != NULL ? fread(text, 1, size - 1, file) : 0;
	text[size] = '\0';
	if (file != NULL)
		fclose(file);
	for (const char *c = text; *c != '\0'; c++)
		lines += *c == '\n';
	return lines;
}

static char *
program(const char *variable, const char *fallback)
{
	const char *path = getenv(variable);

	return strdup(path != NULL ? path : fallback);
}

/* A command that leaves a mark, so that it is seen whether it was run. */
static int
run_confined(struct bench *bench, bool *ran)
{
	char blob[PATH_SIZE + 16], marker[PATH_SIZE + 16];
	char *loader = program("SBXRUN", "./sbxrun");
	char touch[] = "/usr/bin/touch", end[] = "--";
	char w[] = "-w", d[] = "-Dcache=/tmp";
	int status;

	snprintf(blob, sizeof blob, "%s/blob", bench->dir);
	/* Not beside the denied .git, where nothing new can be made. */
	snprintf(marker, sizeof marker, "%s/in/ran", bench->dir);
	status = run(bench,
	    (char *[]){ loader, w, bench->dir, d, blob, end, touch, marker,
		NULL });
	*ran = unlink(marker) == 0;
	free(loader);
	return status;
}

static void
must_refuse(struct bench *bench, enum sbx_blob_error error)
{
	char text[4096];
	bool ran;
	int status = run_confined(bench, &ran);
	unsigned lines = read_error(bench, text, sizeof text);
	unsigned warned = 0;

	/* Of the policy, which the command may write here at standard, and of
	 * ports that a tampered table of filters does not open. */
	for (const char *at = strstr(text, "sbxrun: warning: "); at != NULL;
	     at = strstr(at + 1, "sbxrun: warning: "))
		warned++;
	tap_ok(&bench->tap,
	    status == 125 && !ran && lines == 1 + warned &&
		(error == SBX_BLOB_OK ||
		    strstr(text, sbx_blob_strerror(error)) != NULL),
	    "%s: sbxrun refuses (%d, %.*s)", bench->name, status,
	    (int)strcspn(text, "\n"), text);
}

static void
must_run(struct bench *bench)
{
	bool ran;
	int status = run_confined(bench, &ran);

	tap_ok(&bench->tap, status == 0 && ran, "%s: sbxrun runs it (%d)",
	    bench->name, status);
}

static bool
is_unchanged(const struct bench *bench)
{
	return bench->image.size == bench->good.size &&
	    memcmp(bench->image.bytes, bench->good.bytes, bench->good.size) ==
	    0;
}

/* A well-formed blob that no rules compile to is noticed by whoever answers
 * for it: `dump` shows it all the same, the others do not. */
static void
must_notice(struct bench *bench, char *compiler, char *blob)
{
	char dump[] = "dump", why[] = "why", diff[] = "diff", read[] = "read";
	char place[] = "/usr/bin/env", text[4096];
	int judged = bench->foreign ? 0 : 1;
	const struct {
		char *arguments[6];
		int status;
	} asked[] = {
		{ { compiler, dump, blob, NULL }, 1 },
		{ { compiler, why, blob, read, place, NULL }, judged },
		{ { compiler, diff, blob, blob, NULL }, judged },
	};

	for (size_t i = 0; i < countof(asked); i++) {
		int status = run(bench, (char *const *)asked[i].arguments);

		read_error(bench, text, sizeof text);
		tap_ok(&bench->tap,
		    status == asked[i].status &&
			strstr(text, "[SBX0902]\n") != NULL,
		    "%s: sbxc %s sees the change (%d, %.*s)", bench->name,
		    asked[i].arguments[1], status, (int)strcspn(text, "\n"),
		    text);
	}
}

/* Whoever verifies a blob of another sbxc is told so before all. */
static void
must_verify(struct bench *bench, char *compiler, char *blob)
{
	char build[] = "build", verify[] = "--verify", text[4096];
	int status = run(bench,
	    (char *[]){ compiler, build, bench->policy, verify, blob, NULL });

	read_error(bench, text, sizeof text);
	tap_ok(&bench->tap,
	    status == 1 &&
		(strstr(text, "it was written by ") != NULL) == bench->foreign,
	    "%s: sbxc build --verify tells whose it is (%d)", bench->name,
	    status);
}

static void
try_compiler(struct bench *bench, enum sbx_blob_error error)
{
	char blob[PATH_SIZE + 16], text[4096], dump[] = "dump";
	char *compiler = program("SBXC", "./sbxc");
	unsigned lines;
	int status;

	snprintf(blob, sizeof blob, "%s/blob", bench->dir);
	status = run(bench, (char *[]){ compiler, dump, blob, NULL });
	lines = read_error(bench, text, sizeof text);
	if (error != SBX_BLOB_OK)
		tap_ok(&bench->tap,
		    (status == 1 || status == 3) && lines == 1 &&
			strstr(text, sbx_blob_strerror(error)) != NULL,
		    "%s: sbxc refuses (%d, %.*s)", bench->name, status,
		    (int)strcspn(text, "\n"), text);
	else if (is_unchanged(bench))
		tap_ok(&bench->tap, status == 0 && lines == 0,
		    "%s: sbxc dumps it (%d)", bench->name, status);
	else {
		must_notice(bench, compiler, blob);
		must_verify(bench, compiler, blob);
	}
	free(compiler);
}

static void
write_image(const struct bench *bench)
{
	const struct image *image = is_unchanged(bench) ? &bench->whole :
							  &bench->image;
	char path[PATH_SIZE + 16];
	FILE *file;

	snprintf(path, sizeof path, "%s/blob", bench->dir);
	file = fopen(path, "we");
	if (file == NULL ||
	    fwrite(image->bytes, 1, image->size, file) != image->size ||
	    fclose(file) != 0)
		give_up(bench, "%s: %s", path, strerror(errno));
}

static void
case_end(struct bench *bench)
{
	struct sbx_blob blob;
	enum sbx_blob_error error;

	if (bench->name[0] == '\0')
		return;
	if (bench->expected < 0)
		give_up(bench, "%s: nothing is expected", bench->name);
	if (!bench->image.raw)
		image_seal(&bench->image);
	error = sbx_verify(bench->image.bytes, bench->image.size, &blob);
	tap_ok(&bench->tap, (int)error == bench->expected,
	    "%s: %s (expected %s)", bench->name, error_names[error],
	    error_names[bench->expected]);
	bench->seen[error] = true;
	write_image(bench);
	error = (enum sbx_blob_error)bench->expected;
	if (error != SBX_BLOB_OK || bench->refused)
		must_refuse(bench, error);
	if (bench->runs)
		must_run(bench);
	try_compiler(bench, error);
	bench->name[0] = '\0';
}

static void
case_begin(struct bench *bench, const char *name)
{
	snprintf(bench->name, sizeof bench->name, "%.*s",
	    (int)strcspn(name, "\n"), name);
	memcpy(&bench->image, &bench->good, sizeof bench->image);
	bench->expected = -1;
	bench->refused = bench->runs = false;
	bench->foreign = false;
}

static void
file_read(struct bench *bench, const char *path)
{
	char line[512];
	FILE *file = fopen(path, "re");

	bench->file = path;
	bench->line = 0;
	if (file == NULL)
		give_up(bench, "%s", strerror(errno));
	while (fgets(line, sizeof line, file) != NULL) {
		bench->line++;
		if (line[0] == '#')
			continue;
		if (strncmp(line, "case ", 5) == 0) {
			case_end(bench);
			case_begin(bench, line + 5);
		} else {
			line_read(bench, line);
		}
	}
	case_end(bench);
	fclose(file);
}

/* The policy that the cases of a file damage: NAME.sbx beside NAME.txt, or
 * good.sbx. */
static void
good_make(struct bench *bench, const char *cases)
{
	char blob[PATH_SIZE + 16], o[] = "-o", *policy = bench->policy;
	char *compiler = program("SBXC", "./sbxc");
	FILE *file;

	bench->file = cases;
	snprintf(policy, PATH_SIZE, "%.*s.sbx", (int)strlen(cases) - 4, cases);
	if (access(policy, R_OK) != 0)
		snprintf(policy, PATH_SIZE, "%.*s/good.sbx",
		    (int)(strrchr(cases, '/') - cases), cases);
	snprintf(blob, sizeof blob, "%s/blob", bench->dir);
	if (run(bench, (char *[]){ compiler, policy, o, blob, NULL }) != 0)
		give_up(bench, "%s does not compile", policy);
	file = fopen(blob, "re");
	if (file == NULL)
		give_up(bench, "%s", strerror(errno));
	bench->good.size = fread(bench->good.bytes, 1, ROOM, file);
	fclose(file);
	bench->whole = bench->good;
	bench->good.size = image_header(&bench->good)->size;
	image_header(&bench->good)->text_size = 0;
	image_seal(&bench->good);
	free(compiler);
}

static void
clean_up(const struct bench *bench)
{
	static const char *const names[] = { "blob", "stderr", "in" };
	char path[PATH_SIZE + 16];

	for (size_t i = 0; i < countof(names); i++) {
		snprintf(path, sizeof path, "%s/%s", bench->dir, names[i]);
		remove(path);
	}
	rmdir(bench->dir);
}

int
main(void)
{
	static struct bench bench = { .dir = "/tmp/sbx-blob.XXXXXX" };
	const char *source = getenv("srcdir");
	char pattern[PATH_SIZE + 32];
	glob_t files;

	if (source == NULL)
		source = ".";
	if (mkdtemp(bench.dir) == NULL)
		give_up(&bench, "%s: %s", bench.dir, strerror(errno));
	snprintf(pattern, sizeof pattern, "%s/in", bench.dir);
	if (mkdir(pattern, 0777) != 0)
		give_up(&bench, "%s: %s", pattern, strerror(errno));
	snprintf(pattern, sizeof pattern, "%s/tests/golden/blob/*.txt", source);
	if (glob(pattern, 0, NULL, &files) != 0)
		give_up(&bench, "no cases");
	for (size_t i = 0; i < files.gl_pathc; i++) {
		good_make(&bench, files.gl_pathv[i]);
		file_read(&bench, files.gl_pathv[i]);
	}
	globfree(&files);
	for (size_t i = 0; i < ERRORS; i++)
		tap_ok(&bench.tap, bench.seen[i], "some case meets %s",
		    error_names[i]);
	clean_up(&bench);
	return tap_done(&bench.tap);
}

/*
 * Texts of the loader: decimal numbers, texts in a buffer, what is said on stderr,
 * JSON.
 */
#include "format/text.h"
#include "runtime/base/json.h"
#include "runtime/base/out.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void
is(struct tap *tap, const char *got, const char *wanted, const char *name)
{
	if (!tap_ok(tap, strcmp(got, wanted) == 0, "%s", name))
		printf("# got    %s\n# wanted %s\n", got, wanted);
}

static void
writes(struct tap *tap, uint64_t number)
{
	char digits[SBX_DECIMAL_SIZE + 1], wanted[32];

	digits[sbx_decimal_write(digits, number)] = '\0';
	snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)number);
	is(tap, digits, wanted, "a number is written");
}

/* `used` is how many bytes are read, 0 if there is no number. */
static void
reads(struct tap *tap, const char *text, size_t used, uint64_t wanted)
{
	uint64_t number;
	const char *end = sbx_decimal_read(text, text + strlen(text), &number);

	tap_ok(tap,
	    used == 0 ? end == NULL : end == text + used && number == wanted,
	    "a number is read: '%s'", text);
}

static void
decimals(struct tap *tap)
{
	writes(tap, 0);
	writes(tap, 10);
	writes(tap, UINT64_MAX);
	reads(tap, "0", 1, 0);
	reads(tap, "007 8", 3, 7);
	reads(tap, "18446744073709551615", 20, UINT64_MAX);
	reads(tap, "18446744073709551616", 0, 0);
	reads(tap, "99999999999999999999999", 0, 0);
	reads(tap, "", 0, 0);
	reads(tap, " 1", 0, 0);
	reads(tap, "-1", 0, 0);
}

static void
texts(struct tap *tap)
{
	char buffer[8];
	struct out out;

	out_into(&out, buffer, sizeof buffer);
	is(tap, buffer, "", "a text begins empty");
	out_print(&out, "%s-%u", "ab", 12U);
	is(tap, buffer, "ab-12", "words and numbers");
	tap_ok(tap, !out.full, "it fits");
	out_print(&out, "%lu!", UINT64_C(3456789));
	is(tap, buffer, "ab-1234", "a text is cut at the end of its buffer");
	tap_ok(tap, out.full, "and says so");
	out_init(&out, -1);
	out_seconds(&out, (struct timespec){ 5, 7000000 });
	out_print(&out, " %s%s%s|", "", "x", "");
	is(tap, out.text, "5.007 x|", "seconds, and empty words");
	out_init(&out, -1);
	out_seconds(&out, (struct timespec){ 0, 10000000 });
	out_seconds(&out, (struct timespec){ 1, 99999999 });
	out_seconds(&out, (struct timespec){ 2, 100000000 });
	is(tap, out.text, "0.0101.0992.100", "parts of a second");
	out_init(&out, -1);
	out_shown(&out, "a\x1b\xe2\x80\xae\x7f\xff\xc3\xa9", 9);
	is(tap, out.text, "a\\x1b\\xe2\\x80\\xae\\x7f\\xff\xc3\xa9",
	    "what a terminal would act on");
	out_into(&out, buffer, sizeof buffer);
	out_text(&out, "1234567");
	tap_ok(tap, !out.full && strcmp(buffer, "1234567") == 0,
	    "a text that fills its buffer");
	out_init(&out, -1);
	out_quote(&out);
	out_shown(&out, "a\\b\"c", 5);
	out_quote_end(&out);
	out_shown(&out, "\\\"", 2);
	is(tap, out.text, "\"a\\\\b\\\"c\"\\\"", "a word in quotation marks");
	out_init(&out, -1);
	out_column(&out, "abc", 5);
	out_column(&out, "abc", 3);
	out_column(&out, "abc", 2);
	out_text(&out, "|");
	is(tap, out.text, "abc  abcabc|", "columns");
	out_init(&out, -1);
	out_place(&out, (struct sbx_place){ "/ab", 0 });
	out_place(&out, (struct sbx_place){ "/ab\n", 4 });
	is(tap, out.text, "//ab\\x0a", "places");
	out_init(&out, -1);
	out_seconds(&out, (struct timespec){ -1, 0 });
	out_seconds(&out, (struct timespec){ 1, 9999999 });
	out_seconds(&out, (struct timespec){ 1, 999999999 });
	is(tap, out.text, "0.0001.0091.999", "seconds at their bounds");
}

/* What is said on stderr, in a child, and how that ends. */
static void
said(struct tap *tap, void (*act)(const struct sbx_blob *),
    const struct sbx_blob *blob, int status, const char *wanted)
{
	char text[256];
	int ends[2], ended = 0;
	ssize_t len;
	pid_t child;

	tap_must(pipe(ends) == 0, "pipe");
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		act(blob);
		_exit(0);
	}
	close(ends[1]);
	len = read(ends[0], text, sizeof text - 1);
	text[len > 0 ? len : 0] = '\0';
	close(ends[0]);
	waitpid(child, &ended, 0);
	is(tap, text, wanted, "what is said");
	tap_ok(tap, WIFEXITED(ended) && WEXITSTATUS(ended) == status,
	    "and what comes after it");
}

static void
say_plain(const struct sbx_blob *blob)
{
	(void)blob;
	say("a\n", "b", 0);
}

static void
say_error(const struct sbx_blob *blob)
{
	(void)blob;
	say(NULL, "b", ENOENT);
}

/* No warning, though its subject looks like one. */
static void
say_alike(const struct sbx_blob *blob)
{
	(void)blob;
	say("warning: a", "b", 0);
}

static void
say_warning(const struct sbx_blob *blob)
{
	(void)blob;
	warn_about("warnings", "b", EACCES);
}

static void
warn_of_rule(const struct sbx_blob *blob)
{
	warn_at(blob, 1, "b", 0);
}

static void
refuse_rule(const struct sbx_blob *blob)
{
	refuse_at(blob, SBX_NO_SOURCE, "b", EIO);
}

static void
refuse_option(const struct sbx_blob *blob)
{
	refuse_at(blob, SOURCE_COMMAND_LINE, "b", 0);
}

static void
refuse_anything(const struct sbx_blob *blob)
{
	(void)blob;
	refuse(NULL, "b", 0);
}

static void
messages(struct tap *tap)
{
	static const struct sbx_source sources[] = { { .line = 9, .column = 9 },
		{ .file = 1, .line = 2, .column = 3 } };
	const struct sbx_blob blob = { .sources = sources,
		.source_count = 2,
		.strings = "\0a.sbx" };

	said(tap, say_plain, NULL, 0, "sbxrun: a\\x0a: b\n");
	said(tap, say_error, NULL, 0, "sbxrun: b: No such file or directory\n");
	said(tap, say_alike, NULL, 0, "sbxrun: 'warning: a': b\n");
	said(tap, say_warning, NULL, 0,
	    "sbxrun: warning: warnings: b: Permission denied\n");
	said(tap, warn_of_rule, &blob, 0, "sbxrun: warning: a.sbx:2:3: b\n");
	said(tap, refuse_rule, &blob, EXIT_REFUSED,
	    "sbxrun: the policy: b: Input/output error\n");
	said(tap, refuse_option, &blob, EXIT_REFUSED,
	    "sbxrun: command line: b\n");
	said(tap, refuse_anything, NULL, EXIT_REFUSED, "sbxrun: b\n");
}

/* In a child, whose files may have three bytes. */
static int
send_to_full(struct out *out)
{
	const struct rlimit limit = { 3, 3 };
	FILE *file = tmpfile();
	int status = 0;
	pid_t child;

	tap_must(file != NULL, "tmpfile");
	child = fork();
	if (child == 0) {
		signal(SIGXFSZ, SIG_IGN);
		if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
			_exit(EINVAL);
		errno = 0;
		_exit(out_send(out, fileno(file)) ? 0 : errno);
	}
	waitpid(child, &status, 0);
	fclose(file);
	return WEXITSTATUS(status);
}

/* All of it in one piece, however much; or the error. */
static void
written(struct tap *tap)
{
	char got[4096];
	struct out out;
	int ends[2];

	tap_must(pipe(ends) == 0, "pipe");
	out_init(&out, -1);
	out_text(&out, "whole");
	tap_ok(tap,
	    out_send(&out, ends[1]) && read(ends[0], got, sizeof got) == 5 &&
		memcmp(got, "whole", 5) == 0,
	    "a text is sent");
	tap_ok(tap, send_to_full(&out) == ENOSPC, "half of one is an error");
	errno = 0;
	tap_ok(tap, !out_send(&out, -1) && errno == EBADF,
	    "so is what is not open");
	out_init(&out, ends[1]);
	for (int i = 0; i < 3000; i++)
		out_text(&out, "x");
	out_flush(&out);
	tap_ok(tap, read(ends[0], got, sizeof got) == 3000 && !out.full,
	    "with a descriptor no text is too long");
	out_flush(&out);
	close(ends[1]);
	tap_ok(tap, read(ends[0], got, sizeof got) == 0,
	    "nothing is written twice");
	close(ends[0]);
}

static void
elements(struct tap *tap)
{
	struct json_mark mark;
	char buffer[32];
	struct out out;

	out_into(&out, buffer, sizeof buffer);
	json_list(&out, NULL);
	json_string(&out, NULL, "kept");
	mark = json_mark(&out);
	json_string(&out, NULL, "this is too long to fit in");
	tap_ok(tap, !json_keep(&out, mark, 4), "an element that does not fit");
	mark = json_mark(&out);
	json_number(&out, NULL, 7);
	tap_ok(tap, json_keep(&out, mark, 4), "one that does");
	json_list_end(&out);
	is(tap, buffer, "[\"kept\",7]", "what was kept");
	/* 1 + 7 + 1 + 18 bytes, the NUL, and what comes after. */
	for (uint32_t room = 3; room <= 5; room++) {
		out_into(&out, buffer, sizeof buffer);
		json_list(&out, NULL);
		mark = json_mark(&out);
		json_string(&out, NULL, "first");
		tap_ok(tap, json_keep(&out, mark, 22), "the first one is kept");
		mark = json_mark(&out);
		json_string(&out, NULL, "sixteen-letters-");
		tap_ok(tap, json_keep(&out, mark, room) == (room < 5),
		    "with room for %u bytes after it", (unsigned)room);
		json_list_end(&out);
		is(tap, buffer,
		    room < 5 ? "[\"first\",\"sixteen-letters-\"]" :
			       "[\"first\"]",
		    "what is there in the end");
	}
	/* The first of all that does not fit leaves no comma. */
	out_into(&out, buffer, sizeof buffer);
	json_list(&out, NULL);
	mark = json_mark(&out);
	json_string(&out, NULL, "this is too long to fit into it");
	tap_ok(tap, !json_keep(&out, mark, 0), "the first does not fit");
	json_number(&out, NULL, 1);
	json_list_end(&out);
	is(tap, buffer, "[1]", "what comes in its place");
}

static void
documents(struct tap *tap)
{
	struct out out;

	out_init(&out, -1);
	json_document(&out, "plan");
	json_string(&out, "text", "a\"\\\n\x7f\xc3\xa9\xff");
	json_string(&out, "none", NULL);
	json_list(&out, "list");
	json_object(&out, NULL);
	json_object_end(&out);
	json_bool(&out, NULL, true);
	json_place(&out, NULL, (struct sbx_place){ "", 0 });
	json_list_end(&out);
	json_object_end(&out);
	is(tap, out.text,
	    "{\"sbx\":1,\"event\":\"plan\",\"text\":"
	    "\"a\\\"\\\\\\u000a\\u007f\xc3\xa9\\ufffd\","
	    "\"none\":null,\"list\":[{},true,\"/\"]}",
	    "a document");
	out_init(&out, -1);
	json_list(&out, NULL);
	json_bytes(&out, NULL,
	    "\x1f \x80\xe2\x82"
	    "a\0",
	    7);
	json_place(&out, NULL, (struct sbx_place){ "/a/b", 2 });
	json_bool(&out, NULL, false);
	json_number(&out, NULL, UINT64_MAX);
	json_seconds(&out, NULL, (struct timespec){ 1, 20000000 });
	json_list_end(&out);
	is(tap, out.text,
	    "[\"\\u001f \\ufffd\\ufffd\\ufffda\\u0000\",\"/a\",false,"
	    "18446744073709551615,1.020]",
	    "each kind of value");
	out_init(&out, -1);
	json_object(&out, NULL);
	json_source(&out, NULL, SBX_NO_SOURCE);
	json_source(&out, NULL, SOURCE_COMMAND_LINE);
	json_object_end(&out);
	is(tap, out.text, "{\"source\":null,\"source\":\"command line\"}",
	    "where a rule is from");
}

int
main(void)
{
	struct tap tap = { 0 };

	decimals(&tap);
	texts(&tap);
	messages(&tap);
	written(&tap);
	elements(&tap);
	documents(&tap);
	return tap_done(&tap);
}

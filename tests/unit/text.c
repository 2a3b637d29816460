/*
 * Texts of the loader: decimal numbers, texts in a buffer, JSON.
 */
#include "format/decimal.h"
#include "runtime/base/json.h"
#include "tests/lib/tap.h"

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
}

static void
documents(struct tap *tap)
{
	struct out out;

	out_init(&out, -1);
	json_document(&out);
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
	    "{\"sbx\":1,\"text\":\"a\\\"\\\\\\u000a\\u007f\xc3\xa9\\ufffd\","
	    "\"none\":null,\"list\":[{},true,\"/\"]}",
	    "a document");
}

int
main(void)
{
	struct tap tap = { 0 };

	decimals(&tap);
	texts(&tap);
	elements(&tap);
	documents(&tap);
	return tap_done(&tap);
}

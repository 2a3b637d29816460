/*
 * Names of hosts with letters beyond ASCII: what they are called in the DNS.
 *
 * Punycode is RFC 3492; its constants have their names there.
 */
#include "compiler/policy/kind.h"

#include "format/model.h"

#include <stdbool.h>
#include <string.h>

enum {
	BASE = 36,
	TMIN = 1,
	TMAX = 26,
	SKEW = 38,
	DAMP = 700,
	INITIAL_BIAS = 72,
	INITIAL_N = 128,
};

/* A label that is being written. */
struct label {
	uint32_t codes[SBX_LABEL_MAX];
	size_t count;
	char text[SBX_LABEL_MAX + 1];
	size_t used;
	bool full;
};

static void
put(struct label *label, char c)
{
	if (label->used < SBX_LABEL_MAX)
		label->text[label->used++] = c;
	else
		label->full = true;
}

static void
put_text(struct label *label, const char *text)
{
	while (*text != '\0')
		put(label, *text++);
}

/* The characters of a label, ASCII in lower case; false for what is no UTF-8
 * or has too many. */
static bool
read_codes(const char *text, size_t len, struct label *label)
{
	for (size_t i = 0; i < len;) {
		unsigned char c = (unsigned char)text[i++];
		uint32_t code = c;
		int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

		if (c >= 0x80)
			code = c & (0x3fu >> more);
		if (c >= 0x80 && more == 0)
			return false;
		for (; more > 0; more--) {
			if (i >= len || ((unsigned char)text[i] & 0xc0) != 0x80)
				return false;
			code = code << 6 | ((unsigned char)text[i++] & 0x3f);
		}
		if (label->count == SBX_LABEL_MAX)
			return false;
		if (code >= 'A' && code <= 'Z')
			code += 'a' - 'A';
		label->codes[label->count++] = code;
	}
	return true;
}

static uint32_t
adapt(uint32_t delta, uint32_t points, bool first)
{
	uint32_t k = 0;

	delta /= first ? DAMP : 2;
	delta += delta / points;
	for (; delta > (BASE - TMIN) * TMAX / 2; k += BASE)
		delta /= BASE - TMIN;
	return k + (BASE - TMIN + 1) * delta / (delta + SKEW);
}

static void
put_number(struct label *label, uint32_t number, uint32_t bias)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";

	for (uint32_t k = BASE;; k += BASE) {
		uint32_t t = k <= bias + TMIN ? TMIN :
		    k >= bias + TMAX          ? TMAX :
						k - bias;

		if (number < t)
			break;
		put(label, digits[t + (number - t) % (BASE - t)]);
		number = (number - t) / (BASE - t);
	}
	put(label, digits[number]);
}

static size_t
put_ascii(struct label *label)
{
	size_t count = 0;

	for (size_t i = 0; i < label->count; i++) {
		if (label->codes[i] >= INITIAL_N)
			continue;
		put(label, (char)label->codes[i]);
		count++;
	}
	return count;
}

/* The characters beyond ASCII, the least first, each as a distance. */
static void
put_others(struct label *label, size_t done)
{
	uint32_t n = INITIAL_N, delta = 0, bias = INITIAL_BIAS;
	size_t ascii = done;

	while (done < label->count) {
		uint32_t next = UINT32_MAX;

		for (size_t i = 0; i < label->count; i++) {
			if (label->codes[i] >= n && label->codes[i] < next)
				next = label->codes[i];
		}
		/* 63 characters below 2^21 do not overflow. */
		delta += (next - n) * (uint32_t)(done + 1);
		n = next;
		for (size_t i = 0; i < label->count; i++) {
			delta += label->codes[i] < n;
			if (label->codes[i] != n)
				continue;
			put_number(label, delta, bias);
			bias = adapt(delta, (uint32_t)done + 1, done == ascii);
			delta = 0;
			done++;
		}
		delta++;
		n++;
	}
}

static const char *
label_to_ascii(struct arena *arena, const char *text, size_t len)
{
	struct label label = { .count = 0 };
	size_t ascii = 0;

	if (!read_codes(text, len, &label))
		return NULL;
	for (size_t i = 0; i < label.count; i++)
		ascii += label.codes[i] < INITIAL_N;
	if (ascii < label.count) {
		put_text(&label, "xn--");
		put_ascii(&label);
		if (ascii > 0)
			put(&label, '-');
		put_others(&label, ascii);
	} else {
		put_ascii(&label);
	}
	return label.full ? NULL : arena_strndup(arena, label.text, label.used);
}

const char *
idna_to_ascii(struct arena *arena, const char *name)
{
	const char *ascii = "";

	for (const char *dot = "";; dot = ".") {
		size_t len = strcspn(name, ".");
		const char *label = label_to_ascii(arena, name, len);

		if (label == NULL)
			return NULL;
		ascii = arena_printf(arena, "%s%s%s", ascii, dot, label);
		if (name[len] == '\0')
			return ascii;
		name += len + 1;
	}
}

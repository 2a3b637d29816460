/*
 * Errors as values: what sbx_error is filled with.
 */
#include "runtime/library/library.h"

#include <string.h>

/* No control character gets into a text that a program may show. */
static void
add(struct sbx_error *error, size_t *used, const char *text, size_t len)
{
	for (size_t i = 0; i < len && *used + 1 < sizeof error->text; i++) {
		unsigned char byte = (unsigned char)text[i];

		error->text[(*used)++] = byte < ' ' || byte == 0x7f ? '?' :
								      text[i];
	}
	error->text[*used] = '\0';
}

static const char *
describe(int code)
{
#ifdef HAVE_STRERRORDESC_NP
	const char *text = strerrordesc_np(code);

	return text != NULL ? text : "unknown error";
#else
	return strerror(code);
#endif
}

void
error_set(struct sbx_error *error, enum sbx_error_kind kind,
    const char *subject, const char *text, int code)
{
	size_t used = 0;

	if (error == NULL)
		return;
	error->kind = kind;
	error->code = code;
	if (subject != NULL) {
		add(error, &used, subject, strlen(subject));
		add(error, &used, ": ", 2);
	}
	add(error, &used, text, strlen(text));
	if (code != 0) {
		add(error, &used, ": ", 2);
		add(error, &used, describe(code), strlen(describe(code)));
	}
}

void
error_said(struct sbx_error *error, const char *said, const char *text)
{
	static const char own[] = "sbxrun: ", warning[] = "warning: ";
	const char *best = NULL;
	size_t best_len = 0, used = 0;

	while (*said != '\0') {
		size_t len = strcspn(said, "\n");
		const char *line = said;

		said += len + (said[len] == '\n');
		if (len >= sizeof own &&
		    memcmp(line, own, sizeof own - 1) == 0) {
			line += sizeof own - 1;
			len -= sizeof own - 1;
		}
		if (len == 0 || strncmp(line, warning, sizeof warning - 1) == 0)
			continue;
		best = line;
		best_len = len;
	}
	error_set(error, SBX_ERROR_REFUSED, NULL, text, 0);
	if (error == NULL || best == NULL)
		return;
	error->text[0] = '\0';
	add(error, &used, best, best_len);
}

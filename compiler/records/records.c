/* See records.h. */
#include "compiler/records/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
put_shown(struct out *out, const struct json_t *record, const char *key)
{
	const char *text = json_text(record, key);

	if (text != NULL)
		out_shown(out, text, strlen(text));
}

void
put_source(struct out *out, const struct json_t *rule)
{
	const char *source = json_text(rule, "source");

	out_text(out, "  [");
	if (source == NULL)
		out_text(out, "the policy");
	else
		out_shown(out, source, strlen(source));
	out_text(out, "]\n");
}

/* What is not known is of a later version, and is left out. */
static void
show(struct printing *printing, const struct json_t *record)
{
	const char *event = json_text(record, "event");
	struct out *out = &printing->out;

	if (event == NULL || run_show(out, event, record))
		return;
	if (strcmp(event, "plan") == 0)
		plan_show(printing, record);
	else if (strcmp(event, "status") == 0)
		status_show(out, record);
	else if (strcmp(event, "self-test") == 0)
		self_test_show(out, record);
	else if (strcmp(event, "sessions") == 0)
		sessions_show(out, record);
}

static bool
show_line(struct printing *printing, const char *path, const char *line,
    size_t len, unsigned number)
{
	size_t at;
	const char *fault;
	struct json_t *record = json_read_line(printing->arena, line, len, &at,
	    &fault);

	if (record == NULL) {
		complain("%s:%u: %s", path, number, fault);
		return false;
	}
	show(printing, record);
	json_release(record);
	return true;
}

enum exit_status
records_print(struct printing *printing, const char *path)
{
	int fd = input_open(path);
	FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;
	enum exit_status status = EXIT_CLEAN;
	unsigned number = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (stream == NULL) {
		complain("%s: %s", path, input_strerror(errno));
		return EXIT_TROUBLE;
	}
	out_init(&printing->out, STDOUT_FILENO);
	while (
	    status == EXIT_CLEAN && (len = getline(&line, &size, stream)) > 0) {
		len -= line[len - 1] == '\n';
		if (!show_line(printing, path, line, (size_t)len, ++number))
			status = EXIT_TROUBLE;
	}
	out_flush(&printing->out);
	free(line);
	fclose(stream);
	return status;
}

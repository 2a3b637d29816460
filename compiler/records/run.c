/* The receipt of a run in words, a line for each record. */
#include "compiler/records/records.h"

#include <string.h>

static void
put_named(struct out *out, const char *before, const struct json_t *record,
    const char *key)
{
	const char *text = json_text(record, key);

	if (text == NULL || *text == '\0')
		return;
	out_text(out, before);
	out_shown(out, text, strlen(text));
}

static void
put_start(struct out *out, const struct json_t *record)
{
	put_named(out, "run of ", record, "profile");
	put_named(out, ", level ", record, "level");
	put_named(out, ", workspace ", record, "workspace");
	put_named(out, ", network ", record, "network");
}

static void
put_changed(struct out *out, const struct json_t *record)
{
	put_named(out, "  ", record, "change");
	put_named(out, " ", record, "path");
	put_named(out, ": ", record, "setting");
}

/* Statements and commands that would allow it stand alone, below. */
static void
put_denied(struct out *out, const struct json_t *record)
{
	const struct json_t *fix = json_member(record, "fix");
	const struct json_t *where = json_member(record, "where");

	put_named(out, "  denied: ", record, "right");
	put_named(out, " ", record, "object");
	out_print(out, ", %ux", (unsigned)json_number(record, "count"));
	put_named(out, " ", record, "program");
	put_named(out, ", ", record, "source");
	put_named(out, " ", record, "rule");
	for (size_t i = 0; i < json_count(fix); i++) {
		const char *step = json_text_at(json_item(fix, i));
		const char *place = json_text_at(json_item(where, i));

		if (step == NULL || place == NULL)
			continue;
		out_text(out, "\n    ");
		out_shown(out, place, strlen(place));
		out_text(out, ": ");
		out_shown(out, step, strlen(step));
	}
}

static void
put_network(struct out *out, const struct json_t *record)
{
	unsigned port = (unsigned)json_number(record, "port");

	if (json_text(record, "name") == NULL) {
		out_print(out, "  network: %lu more",
		    json_number(record, "beyond"));
		return;
	}
	put_named(out, "  network: ", record, "name");
	if (port != 0)
		out_print(out, ":%u", port);
	put_named(out, ": ", record, "verdict");
	out_print(out, ", %ux", (unsigned)json_number(record, "count"));
	put_named(out, "\n    policy: ", record, "fix");
}

static void
put_end(struct out *out, const struct json_t *record)
{
	uint64_t signal = json_number(record, "signal");

	if (json_flag(record, "timeout"))
		out_text(out, "  ended: its time was over");
	else if (signal != 0)
		out_print(out, "  ended by signal %u", (unsigned)signal);
	else
		out_print(out, "  ended with status %u",
		    (unsigned)json_number(record, "exit"));
	put_named(out, ", not looked at: ", record, "untraced");
}

bool
run_show(struct out *out, const char *event, const struct json_t *record)
{
	static const struct {
		const char *event;
		void (*put)(struct out *out, const struct json_t *record);
	} kinds[] = {
		{ "start", put_start },
		{ "changed", put_changed },
		{ "denied", put_denied },
		{ "network", put_network },
		{ "end", put_end },
	};

	for (size_t i = 0; i < countof(kinds); i++) {
		if (strcmp(kinds[i].event, event) != 0)
			continue;
		kinds[i].put(out, record);
		out_text(out, "\n");
		return true;
	}
	return false;
}

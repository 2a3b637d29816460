/*
 * The environment of the command: what the policy keeps of the caller's, and
 * what it sets.
 */
#include "runtime/apply/apply.h"

#include "format/model.h"
#include "runtime/base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static bool
has_name(const char *variable, const char *name, size_t len)
{
	return strncmp(variable, name, len) == 0 && variable[len] == '=';
}

/*
 * A caller can give a variable twice.  Some programs take the first of them and
 * some the last, so all of them go.
 */
static void
unset_variable(struct environment *environment, const char *variable)
{
	size_t len = strcspn(variable, "=");
	uint32_t kept = 0;

	for (uint32_t i = 0; i < environment->count; i++) {
		char *other = environment->variables[i];

		if (!has_name(other, variable, len))
			environment->variables[kept++] = other;
	}
	environment->count = kept;
}

static void
set_variable(struct environment *environment, char *variable)
{
	unset_variable(environment, variable);
	environment->variables[environment->count++] = variable;
}

static size_t
variable_size(const char *name, struct sbx_place anchor, const char *text)
{
	return strlen(name) + 1 + anchor.len + strlen(text) + 1;
}

/* NAME=VALUE at *room, which then is behind it; values may be longer than
 * paths. */
static char *
join_variable(char **room, const char *name, struct sbx_place anchor,
    const char *text)
{
	size_t name_len = strlen(name), text_len = strlen(text);
	char *variable = *room;
	char *at = variable;

	memcpy(at, name, name_len);
	at += name_len;
	*at++ = '=';
	memcpy(at, anchor.path, anchor.len);
	memcpy(at + anchor.len, text, text_len + 1);
	*room = at + anchor.len + text_len + 1;
	return variable;
}

static void
keep_allowed(struct environment *environment, const struct sbx_blob *blob,
    char *const *callers)
{
	for (; *callers != NULL; callers++) {
		size_t len = strcspn(*callers, "=");

		if (!sbx_verdict_allows(
			sbx_env_verdict(blob, KERNEL_WHERE, *callers, len))) {
			environment->dropped++;
			continue;
		}
		environment->variables[environment->count++] = *callers;
	}
}

/* Whether somebody may look for a variable that is kept back: a rule denies it, or
 * its name is that of a key. */
static bool
is_missed(const struct sbx_blob *blob, const char *name, size_t len)
{
	static const char *const endings[] = { "_KEY", "_TOKEN", "_SECRET",
		"_PASSWORD" };
	struct sbx_verdict verdict = sbx_env_verdict(blob, KERNEL_WHERE, name,
	    len);

	if (sbx_verdict_allows(verdict))
		return false;
	for (size_t i = 0; i < countof(endings); i++) {
		size_t end = strlen(endings[i]);

		if (len > end && memcmp(name + len - end, endings[i], end) == 0)
			return true;
	}
	return verdict.reason == SBX_BECAUSE_DENIED;
}

void
environment_put_withheld(struct out *out, const char *before,
    const struct sbx_blob *blob, char *const *callers)
{
	enum { NAMED = 3 };
	unsigned count = 0;

	for (; *callers != NULL; callers++) {
		size_t len = strcspn(*callers, "=");

		if ((*callers)[len] == '\0' ||
		    !is_missed(blob, *callers, len) || ++count > NAMED)
			continue;
		out_text(out, count == 1 ? before : ", ");
		out_shown(out, *callers, len);
	}
	if (count > NAMED)
		out_print(out, " and %u more", count - NAMED);
}

static const struct sbx_place nowhere = { "", 0 };

/* The place at which the value of a `set` begins; false if it has none here. */
static bool
find_anchor(const struct environment_rules *rules, const struct sbx_set *set,
    struct sbx_place *at)
{
	*at = nowhere;
	if ((set->platforms & KERNEL_WHERE) == 0)
		return false;
	if (set->anchor == SBX_NO_ANCHOR)
		return true;
	*at = rules->anchors[set->anchor];
	return rules->bound[set->anchor];
}

/* Whether a place that the policy opens in the home is not there, nor in the view,
 * which holds it if it is. */
static bool
is_absent(const struct environment_rules *rules, const struct sbx_set *set)
{
	struct sbx_place home = rules->anchors[SBX_ANCHOR_HOME];
	const char *opened = sbx_set_opened(rules->blob, set, KERNEL_WHERE);
	char path[SBX_MAX_PATH + 1];
	struct stat status;
	size_t len;

	if (opened == NULL || !rules->bound[SBX_ANCHOR_TMP])
		return false;
	len = strlen(opened);
	if (home.len + len > SBX_MAX_PATH)
		return false;
	memcpy(path, home.path, home.len);
	memcpy(path + home.len, opened, len + 1);
	return fstatat(AT_FDCWD, path, &status, 0) != 0 && errno == ENOENT;
}

/* The value of a variable that is not in the policy: a place, or a text. */
struct value {
	struct sbx_place at;
	const char *text;
};

/* False if it is not to be set. */
static bool
find_given(const struct environment_rules *rules, const struct sbx_given *given,
    struct value *value)
{
	*value = (struct value){ nowhere, given->value };
	switch (given->by) {
	case SBX_GIVEN_SCRATCH:
		value->at = rules->anchors[SBX_ANCHOR_TMP];
		break;
	case SBX_GIVEN_PROXY:
		break;
	case SBX_GIVEN_TRUST:
		value->at = rules->trust;
		value->text = strcmp(given->name, "WGETRC") == 0 ? "/wgetrc" :
		    strcmp(given->name, "NODE_EXTRA_CA_CERTS") == 0 ||
			strcmp(given->name, "DENO_CERT") == 0 ?
								   "/own.pem" :
								   "/roots.pem";
		return rules->trust.len > 0;
	case SBX_GIVEN_GIT:
		value->at = rules->git;
		return rules->git.len > 0;
	case SBX_GIVEN_AGENT:
		value->at = rules->agent;
		return rules->agent.len > 0;
	case SBX_GIVEN_PROFILE:
		value->text = sbx_string(rules->blob,
		    rules->blob->meta->profile);
		break;
	case SBX_GIVEN_LEVEL:
		value->text = rules->level;
		break;
	case SBX_GIVEN_SESSION:
		value->text = rules->session;
		return rules->session != NULL;
	}
	return value->text != NULL &&
	    sbx_given_holds(given, rules->blob, KERNEL_WHERE);
}

/* How many there can be: the caller's, those that are set, and the NULL. */
static size_t
variable_room(const struct environment_rules *rules, char *const *callers)
{
	size_t count = 0;

	while (callers[count] != NULL)
		count++;
	return (count + rules->blob->set_count + rules->blob->name_count +
		   SBX_GIVEN_COUNT + 1) *
	    sizeof(char *);
}

size_t
environment_room(const struct environment_rules *rules, char *const *callers)
{
	const struct sbx_blob *blob = rules->blob;
	size_t size = variable_room(rules, callers);
	struct value value;
	struct sbx_place at;

	for (size_t i = 0; i < SBX_GIVEN_COUNT; i++) {
		if (find_given(rules, &sbx_given[i], &value))
			size += variable_size(sbx_given[i].name, value.at,
			    value.text);
	}
	for (uint32_t i = 0; i < blob->set_count; i++) {
		const struct sbx_set *set = &blob->set[i];

		if (!find_anchor(rules, set, &at))
			continue;
		/* Wherever it leads when it is filled in. */
		if (rules->bound[SBX_ANCHOR_TMP] &&
		    at.len < rules->anchors[SBX_ANCHOR_TMP].len)
			at = rules->anchors[SBX_ANCHOR_TMP];
		size += variable_size(sbx_string(blob, set->name), at,
		    sbx_string(blob, set->text));
	}
	return size;
}

/* Sets what goes before the policy's own, or what does not. */
static void
set_given(struct environment *environment, char **text,
    const struct environment_rules *rules, bool overrides)
{
	struct value value;

	for (size_t i = 0; i < SBX_GIVEN_COUNT; i++) {
		const struct sbx_given *given = &sbx_given[i];

		if (sbx_given_overrides(given) == overrides &&
		    find_given(rules, given, &value))
			set_variable(environment,
			    join_variable(text, given->name, value.at,
				value.text));
	}
}

void
environment_fill(struct environment *environment, void *room,
    const struct environment_rules *rules, char *const *callers)
{
	const struct sbx_blob *blob = rules->blob;
	char *text = (char *)room + variable_room(rules, callers);
	struct sbx_place at;

	environment->variables = room;
	keep_allowed(environment, blob, callers);
	set_given(environment, &text, rules, false);
	for (uint32_t i = 0; i < blob->set_count; i++) {
		const struct sbx_set *set = &blob->set[i];

		if (!find_anchor(rules, set, &at))
			continue;
		if (is_absent(rules, set))
			at = rules->anchors[SBX_ANCHOR_TMP];
		set_variable(environment,
		    join_variable(&text, sbx_string(blob, set->name), at,
			sbx_string(blob, set->text)));
	}
	set_given(environment, &text, rules, true);
	/* What stands for a secret comes in its place, whoever else sets it. */
	for (uint32_t used = 0; used < rules->secrets.len;
	     used += (uint32_t)strlen(rules->secrets.path + used) + 1) {
		char *variable = (char *)(uintptr_t)rules->secrets.path + used;

		if (strchr(variable, '=') != NULL)
			set_variable(environment, variable);
		else
			unset_variable(environment, variable);
	}
	environment->variables[environment->count] = NULL;
}

const char *
environment_get(const struct environment *environment, const char *name)
{
	size_t len = strlen(name);

	for (uint32_t i = 0; i < environment->count; i++) {
		if (has_name(environment->variables[i], name, len))
			return environment->variables[i] + len + 1;
	}
	return NULL;
}

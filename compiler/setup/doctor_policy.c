/* See setup.h: what of the policy is absent here, and what it hands on. */
#include "compiler/base/base.h"
#include "compiler/setup/setup.h"
#include "format/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

enum { EXAMPLES = 3 };

/* Examples of something, as "a, b, c and 4 more". */
struct examples {
	struct doctor *doctor;
	const char *text;
	size_t count;
};

static void
add_example(struct examples *examples, const char *text)
{
	if (examples->count++ < EXAMPLES)
		examples->text = arena_printf(examples->doctor->arena, "%s%s%s",
		    examples->text, *examples->text == '\0' ? "" : ", ", text);
}

static const char *
examples_text(const struct examples *examples)
{
	if (examples->count <= EXAMPLES)
		return examples->text;
	return arena_printf(examples->doctor->arena, "%s and %zu more",
	    examples->text, examples->count - EXAMPLES);
}

/* Rules of the shipped policies name what most machines lack. */
static bool
is_own(const struct json_t *rule)
{
	const char *source = json_text(rule, "source");

	return source != NULL && strncmp(source, "sbx:", 4) != 0;
}

static bool
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void
say_absent(struct doctor *doctor)
{
	const struct json_t *rules = json_member(doctor->plan, "rules");
	struct examples allowed = { doctor, "", 0 }, denied = allowed;

	for (size_t i = 0; i < json_count(rules); i++) {
		const struct json_t *rule = json_item(rules, i);
		const char *words = json_text(rule, "rule");
		const char *by = json_text(rule, "by");
		const char *state = json_text(rule, "state");

		if (words == NULL || by == NULL || state == NULL ||
		    !is_own(rule))
			continue;
		if (begins(words, "allow") && strcmp(state, "absent") == 0)
			add_example(&allowed, json_text(rule, "path"));
		if (begins(words, "deny") && begins(by, "NOT COVERED"))
			add_example(&denied, json_text(rule, "path"));
	}
	if (allowed.count > 0)
		doctor_find(doctor, FINDING_NOTE, "absent",
		    arena_printf(doctor->arena,
			"the policy allows what is not there: %s; what is made "
			"there later stays shut until the next start",
			examples_text(&allowed)),
		    NULL);
	if (denied.count > 0)
		doctor_find(doctor, FINDING_NOTE, "absent",
		    arena_printf(doctor->arena,
			"the policy denies what is not there, so a command can "
			"make it: %s",
			examples_text(&denied)),
		    arena_printf(doctor->arena, "mkdir -p %s",
			shell_word(doctor->arena,
			    denied.count == 1 ? denied.text : "PLACE")));
}

/* Whose rule it is matters: nobody here can change a shipped one, but for a rule
 * beside it. */
static void
say_skipped(struct doctor *doctor)
{
	const struct json_t *rules = json_member(doctor->plan, "rules");
	struct examples skipped = { doctor, "", 0 };

	for (size_t i = 0; i < json_count(rules); i++) {
		const struct json_t *rule = json_item(rules, i);
		const char *state = json_text(rule, "state");

		if (state != NULL && strcmp(state, "planted") == 0)
			add_example(&skipped,
			    arena_printf(doctor->arena, "%s %s (%s)",
				json_text(rule, "rule"),
				json_text(rule, "path"),
				json_text(rule, "source")));
	}
	if (skipped.count > 0)
		doctor_find(doctor, FINDING_FIX, "skipped",
		    arena_printf(doctor->arena,
			"grants nothing, because a command or another user "
			"could have made a link on the way: %s",
			examples_text(&skipped)),
		    "name the place itself in the rule, if it is the right "
		    "one");
}

static void
say_weaker(struct doctor *doctor)
{
	const struct json_t *rules = json_member(doctor->plan, "rules");
	struct examples split = { doctor, "", 0 };

	for (size_t i = 0; i < json_count(rules); i++) {
		const struct json_t *rule = json_item(rules, i);
		const char *words = json_text(rule, "rule");
		const char *by = json_text(rule, "by");

		if (words != NULL && by != NULL && begins(words, "deny") &&
		    strstr(by, "split") != NULL)
			add_example(&split, json_text(rule, "path"));
	}
	if (split.count > 0)
		doctor_find(doctor, FINDING_NOTE, "split",
		    arena_printf(doctor->arena,
			"at this level nothing can be made beside %s: 'sbxrun "
			"-n' lists the directories",
			examples_text(&split)),
		    NULL);
}

/* --- variables ------------------------------------------------------------ */

/* What names of variables with secrets look like. */
static bool
is_secret(const char *name, const char *value)
{
	static const char *const words[] = {
		"TOKEN",
		"SECRET",
		"PASSWORD",
		"PASSWD",
		"CREDENTIAL",
		"PRIVATE_KEY",
		"API_KEY",
		"APIKEY",
	};
	const char *scheme = strstr(value, "://");

	for (size_t i = 0; i < countof(words); i++) {
		if (strcasestr(name, words[i]) != NULL)
			return true;
	}
	/* A password in an address: scheme://user:password@host. */
	return scheme != NULL &&
	    strcspn(scheme + 3, "@") < strcspn(scheme + 3, "/") &&
	    strcspn(scheme + 3, ":") < strcspn(scheme + 3, "@");
}

static void
say_variables(struct doctor *doctor)
{
	struct examples handed = { doctor, "", 0 };

	for (char **at = environ; *at != NULL; at++) {
		size_t len = strcspn(*at, "=");
		const char *name = arena_strndup(doctor->arena, *at, len);

		if ((*at)[len] == '=' && is_secret(name, *at + len + 1) &&
		    doctor_allows(doctor, "env", name))
			add_example(&handed, name);
	}
	if (handed.count > 0)
		doctor_find(doctor, FINDING_FIX, "variables",
		    arena_printf(doctor->arena,
			"look like secrets and are handed on: %s",
			examples_text(&handed)),
		    arena_printf(doctor->arena,
			"add to the policy: deny env %s",
			handed.count == 1 ? handed.text : "{ NAME NAME }"));
}

/* --- registries ----------------------------------------------------------- */

static bool
has_setting(const char *path, const char *word, const char *usual)
{
	char text[8 << 10];
	struct stat status;
	FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ?
	    fopen(path, "re") :
	    NULL;
	size_t len = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;

	if (file != NULL)
		fclose(file);
	text[len] = '\0';
	return text_has_setting(text, word, usual);
}

/* Files that say where packages come from, and that programs do not find. */
static void
say_registries(struct doctor *doctor)
{
	static const struct {
		const char *path, *word, *usual, *program, *variable, *remedy;
	} registries[] = {
#define REGISTRY(path, word, usual, program, variable, remedy) \
	{ path, word, usual, program, variable, remedy },
#include "format/registries.def"
#undef REGISTRY
	};

	for (size_t i = 0; doctor->home != NULL && i < countof(registries);
	     i++) {
		const char *path = arena_printf(doctor->arena, "%s%s",
		    doctor->home, registries[i].path);

		if (has_setting(path, registries[i].word,
			registries[i].usual) &&
		    !doctor_allows(doctor, "read", path))
			doctor_find(doctor, FINDING_NOTE, "registry",
			    arena_printf(doctor->arena,
				"the policy denies %s, so %s asks the public "
				"registry and not the one in it",
				path, registries[i].program),
			    registries[i].remedy);
	}
}

void
doctor_policy(struct doctor *doctor)
{
	static const char *const lacking[] = { "why_no_listener",
		"why_no_sockets" };
	const char *network = json_text(doctor->plan, "network");

	if (doctor->plan == NULL)
		return;
	doctor_find(doctor, FINDING_GOOD, "policy",
	    arena_printf(doctor->arena, "%s, network: %s",
		json_text(doctor->plan, "profile"),
		network != NULL ? network : "none"),
	    NULL);
	for (size_t i = 0; i < countof(lacking); i++) {
		const char *why = json_text(doctor->plan, lacking[i]);

		if (why != NULL)
			doctor_find(doctor, FINDING_NOTE, "policy", why, NULL);
	}
	say_absent(doctor);
	say_skipped(doctor);
	say_weaker(doctor);
	say_variables(doctor);
	say_registries(doctor);
}

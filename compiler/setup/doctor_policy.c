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

/* What is to be said of rules in some states; the words are of the plan. */
static const struct said {
	const char *rule;  /* "allow", "deny", or NULL: any */
	const char *state; /* NULL: any */
	const char *by;    /* what enforces it has these words; NULL: any */
	bool own;          /* of the policy itself, and of no shipped one */
	bool whole;        /* the rule is told, and where it is */
	enum finding_state finding;
	const char *word, *before, *after, *fix;
} reports[] = {
	{ "allow", "absent", NULL, true, false, FINDING_NOTE, "absent",
	    "the policy allows what is not there: ",
	    "; what is made there later stays shut until the next start",
	    NULL },
	{ "deny", NULL, "NOT COVERED", true, false, FINDING_NOTE, "absent",
	    "the policy denies what is not there, so a command can make it: ",
	    "", "mkdir -p" },
	/* Whose rule it is matters: nobody here can change a shipped one, but
	 * for a rule beside it. */
	{ NULL, "planted", NULL, false, true, FINDING_FIX, "skipped",
	    "grants nothing, because a command or another user could have made "
	    "a link on the way: ",
	    "", "name the place itself in the rule, if it is the right one" },
	{ "deny", NULL, "split", false, false, FINDING_NOTE, "split",
	    "at this level nothing can be made beside ",
	    ": 'sbxrun -n' lists the directories", NULL },
};

static bool
is_said(const struct said *said, const struct json_t *rule)
{
	const char *words = json_text(rule, "rule");
	const char *state = json_text(rule, "state");
	const char *by = json_text(rule, "by");

	return (said->rule == NULL ||
		   (words != NULL &&
		       strncmp(words, said->rule, strlen(said->rule)) == 0)) &&
	    (said->state == NULL ||
		(state != NULL && strcmp(state, said->state) == 0)) &&
	    (said->by == NULL ||
		(by != NULL && strstr(by, said->by) != NULL)) &&
	    (!said->own || is_own(rule));
}

static void
say_rules(struct doctor *doctor, const struct said *said)
{
	const struct json_t *rules = json_member(doctor->plan, "rules");
	struct examples examples = { doctor, "", 0 };
	struct arena *arena = doctor->arena;
	const char *fix = said->fix;

	for (size_t i = 0; i < json_count(rules); i++) {
		const struct json_t *rule = json_item(rules, i);

		if (is_said(said, rule))
			add_example(&examples,
			    said->whole ? arena_printf(arena, "%s %s (%s)",
					      json_text(rule, "rule"),
					      json_text(rule, "path"),
					      json_text(rule, "source")) :
					  json_text(rule, "path"));
	}
	if (examples.count == 0)
		return;
	if (fix != NULL && !said->whole)
		fix = arena_printf(arena, "%s %s", fix,
		    shell_word(arena,
			examples.count == 1 ? examples.text : "PLACE"));
	doctor_find(doctor, said->finding, said->word,
	    arena_printf(arena, "%s%s%s", said->before,
		examples_text(&examples), said->after),
	    fix);
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
	for (size_t i = 0; i < countof(reports); i++)
		say_rules(doctor, &reports[i]);
	say_variables(doctor);
	say_registries(doctor);
}

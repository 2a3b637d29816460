/*
 * Risks that lie in what rules give together: what is written and then run,
 * secrets that can be read and sent, and a file that is granted without the
 * directory in which its successor is made.  All rules are looked at; what is
 * reported names rules of the user's own.
 */
#include "compiler/check/check.h"

#include "compiler/tables/tables.h"
#include "format/model.h"

#include <string.h>

static bool
is_own_allow(const struct path_rule *rule, uint8_t right)
{
	return rule->origin.own && rule->effect == SBX_ALLOW &&
	    rule->glob == NULL && (rule->rights & right) != 0;
}

static bool
is_denied(const struct checker *checker, const struct path_rule *rule,
    uint8_t rights, struct target at)
{
	for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		if ((rights & right) != 0 &&
		    grants_denied(&checker->grants, rule->origin.platforms,
			right, at))
			return true;
	}
	return false;
}

static void
note_other(struct checker *checker, struct diag *diag,
    const struct path_rule *other)
{
	diag_note(diag, other->origin.loc, "'%s' of '%s' is here",
	    path_rule_text(checker->policy, other, NULL), other->origin.via);
}

/* --- written and run ------------------------------------------------------ */

bool
risk_is_own_ground(struct target at)
{
	static const struct target places[] = {
		{ "", SBX_ANCHOR_WORKSPACE },
		{ "", SBX_ANCHOR_TMP },
		{ "/tmp", SBX_ANCHOR_ROOT },
		{ "/dev", SBX_ANCHOR_ROOT },
	};

	for (size_t i = 0; i < countof(places); i++) {
		if (target_covers(places[i], at))
			return true;
	}
	return false;
}

static void
report_both(struct checker *checker, const struct path_rule *rule,
    const struct path_rule *other, struct target at)
{
	struct diag *diag = check_report(checker, rule->origin.loc,
	    "what the command writes to %s it may also run",
	    policy_target_text(checker->policy, at));

	diag_help(diag, "write to ${tmp}, or add 'deny exec %s'",
	    policy_target_text(checker->policy, at));
	note_other(checker, diag, other);
}

/* Whether nothing was reported of this object yet: one report is enough. */
static bool
is_first(const struct checker *checker, struct map *reported,
    const struct path_rule *rule)
{
	const char *key = arena_printf(checker->arena, "%u",
	    rule->origin.loc.begin);

	key = arena_intern(checker->arena, key, strlen(key));
	if (map_find(reported, key) != NULL)
		return false;
	map_put(checker->arena, reported, key, reported);
	return true;
}

/*
 * Two rules of which one lies in the other's tree are found from the inner
 * one.  It tells if it is the user's own; else the outer one does.
 */
void
check_risk_write_exec(struct checker *checker)
{
	const struct policy *policy = checker->policy;
	struct map reported = { 0 };

	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];
		uint8_t wanted = (rule->rights & SBX_WRITE) != 0 ? SBX_EXEC :
		    (rule->rights & SBX_EXEC) != 0               ? SBX_WRITE :
								   0;
		const struct path_rule *other;

		if (rule->effect != SBX_ALLOW || rule->glob != NULL ||
		    wanted == 0 || risk_is_own_ground(rule->at))
			continue;
		other = grants_allow(&checker->grants, rule->origin.platforms,
		    wanted, rule->at);
		if (other == NULL || risk_is_broad(checker->arena, other) ||
		    (!rule->origin.own && !other->origin.own) ||
		    is_denied(checker, rule, SBX_WRITE | SBX_EXEC, rule->at))
			continue;
		/* Of two at one place the one that writes tells. */
		if (wanted == SBX_WRITE && rule->origin.own &&
		    other->origin.own &&
		    target_compare(rule->at, other->at) == 0)
			continue;
		if (!rule->origin.own && is_first(checker, &reported, other))
			report_both(checker, other, rule, rule->at);
		else if (rule->origin.own && is_first(checker, &reported, rule))
			report_both(checker, rule, other, rule->at);
	}
}

/* --- secrets -------------------------------------------------------------- */

/*
 * Whether a deny with a glob takes a place out.  What is there when a run starts
 * is denied; what is not there yet holds no secret.  This is asked only about a
 * place that nothing else takes out, so the rules are gone through one by one.
 */
static bool
globs_deny(const struct checker *checker, uint8_t platforms, struct target at)
{
	const struct policy *policy = checker->policy;
	struct sbx_place place = sbx_place_of(at.suffix);

	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];
		struct sbx_place from = sbx_place_of(rule->at.suffix);
		struct sbx_glob glob;

		if (rule->glob != NULL && rule->effect == SBX_DENY &&
		    (rule->rights & SBX_READ) != 0 &&
		    (platforms & ~rule->origin.platforms) == 0 &&
		    rule->exclusion_count == 0 && target_covers(rule->at, at) &&
		    sbx_glob_parse(rule->glob, &glob) &&
		    sbx_glob_find(&glob, from, place).len > 0)
			return true;
	}
	return false;
}

/* Whether a spelling of an allow reaches a place of ${credentials} that no deny
 * takes out; *at becomes the place as the rule writes it. */
static bool
spelling_shows(const struct checker *checker, const struct path_rule *rule,
    const struct spelling *spelling, const struct set_entry *entry,
    struct target *at)
{
	struct target place = { entry->path + 1, SBX_ANCHOR_HOME };
	uint8_t platforms = entry->platforms & rule->origin.platforms;
	enum reach reach = spelling_reaches(spelling, place);

	if (reach == REACH_NONE)
		return false;
	if (reach == REACH_INSIDE)
		place = spelling->at;
	if (spelling_place(checker->arena, rule, spelling, place, at) &&
	    !rule_applies(rule, *at))
		return false;
	return !grants_denied(&checker->grants, platforms, SBX_READ, place) &&
	    !grants_denied(&checker->grants, platforms, SBX_READ, *at) &&
	    !globs_deny(checker, platforms, place);
}

/* Public keys of hosts, which lie among the credentials. */
static bool
is_public(struct target at)
{
	return at.anchor == SBX_ANCHOR_HOME &&
	    strcmp(at.suffix, "/.ssh/known_hosts") == 0;
}

/* The first place of ${credentials} that a rule lets be read. */
static const char *
secret_find(const struct checker *checker, const struct path_rule *rule)
{
	struct spelling spellings[MAX_SPELLINGS];
	size_t count;

	if (rule->effect != SBX_ALLOW)
		return NULL;
	count = rule_spellings(checker->arena, rule, spellings);
	if (count == 1 && rule->at.anchor != SBX_ANCHOR_HOME)
		return NULL;
	for (size_t i = 0; i < set_entry_count; i++) {
		const struct set_entry *entry = &set_entries[i];
		struct target at;

		if ((entry->platforms & rule->origin.platforms) == 0 ||
		    strcmp(entry->set, "credentials") != 0)
			continue;
		for (size_t j = 0; j < count; j++) {
			if (spellings[j].at.anchor == SBX_ANCHOR_HOME &&
			    spelling_shows(checker, rule, &spellings[j], entry,
				&at) &&
			    !is_public(at))
				return policy_target_text(checker->policy, at);
		}
	}
	return NULL;
}

void
check_risk_secrets(struct checker *checker)
{
	const struct policy *policy = checker->policy;
	size_t end;

	for (size_t i = 0; i < policy->paths.count; i = end) {
		const struct path_rule *rule = &policy->paths.items[i];
		const char *secret = NULL;
		struct diag *diag;

		end = path_object_end(policy, i);
		for (size_t j = i;
		     rule->origin.own && j < end && secret == NULL; j++)
			secret = secret_find(checker, &policy->paths.items[j]);
		if (secret == NULL)
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "'%s' lets credentials be read: %s",
		    path_object_text(policy, i, end), secret);
		diag_help(diag, "'deny read ${credentials}', or allow less");
	}
}

/* The rule that lets some secret be read; one of the user's own before all. */
static const struct path_rule *
secret_rule(const struct checker *checker, uint8_t platforms,
    const char **secret)
{
	const struct policy *policy = checker->policy;
	const struct path_rule *found = NULL;

	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];
		const char *text;

		if ((rule->origin.platforms & platforms) == 0 ||
		    (found != NULL && !rule->origin.own))
			continue;
		text = secret_find(checker, rule);
		if (text == NULL)
			continue;
		found = rule;
		*secret = text;
		if (rule->origin.own)
			break;
	}
	return found;
}

/* Whether a rule of a kind that can open a way out is about one. */
static bool
leads_out(const struct rule *rule)
{
	if (rule->kind == KIND_BLANKET)
		return rule->detail == BLANKET_NETWORK;
	return rule->kind != KIND_PORT || rule->detail == SBX_CONNECT_TCP ||
	    rule->detail == SBX_HOST_TCP;
}

/* A rule that opens a way out; one of the user's own before all. */
static const struct origin *
way_out(const struct checker *checker, uint8_t platforms)
{
	static const enum rule_kind_id kinds[] = {
		KIND_BLANKET,
		KIND_PORT,
		KIND_DOMAIN,
		KIND_ENDPOINT,
		KIND_PROXY,
	};
	const struct origin *found = NULL;

	for (size_t k = 0; k < countof(kinds); k++) {
		const struct rule_list *rules =
		    &checker->policy->rules[kinds[k]];

		for (size_t i = 0; i < rules->count; i++) {
			const struct rule *rule = &rules->items[i];

			if (rule->effect == SBX_ALLOW && leads_out(rule) &&
			    (rule->origin.platforms & platforms) != 0 &&
			    (found == NULL ||
				(rule->origin.own && !found->own)))
				found = &rule->origin;
		}
	}
	return found;
}

void
check_risk_leak(struct checker *checker)
{
	static const uint8_t systems[] = { SBX_ON_LINUX, SBX_ON_MACOS };
	const struct policy *policy = checker->policy;

	for (size_t i = 0; i < countof(systems); i++) {
		uint8_t platforms = systems[i];
		enum sbx_net net = policy_net(policy, platforms, NULL);
		const struct origin *out = way_out(checker, platforms);
		const struct path_rule *rule;
		const char *secret = "";
		struct diag *diag;

		if (out == NULL || net == SBX_NET_NONE ||
		    net == SBX_NET_LOOPBACK)
			continue;
		rule = secret_rule(checker, platforms, &secret);
		if (rule == NULL || (!out->own && !rule->origin.own))
			continue;
		diag = check_report(checker,
		    out->own ? out->loc : rule->origin.loc,
		    "credentials that can be read can also be sent: %s",
		    secret);
		diag_help(diag,
		    "'deny read ${credentials}', or keep the network shut");
		if (out->own)
			note_other(checker, diag, rule);
		else
			diag_note(diag, out->loc, "the network is opened here");
	}
}

/* --- one file ------------------------------------------------------------- */

/* Whether the last name of a path is that of a file which programs save as a
 * whole: they write a new one and rename it over the old. */
static bool
is_saved_whole(const char *suffix)
{
	static const char *const endings[] = {
		".json",
		".jsonc",
		".toml",
		".yaml",
		".yml",
		".ini",
		".conf",
		".cfg",
		".xml",
		".md",
		".txt",
		".csv",
		".properties",
		".plist",
		".lock",
		".env",
		"/.gitconfig",
		"/.npmrc",
		"/.vimrc",
		"/known_hosts",
		"_history",
	};
	size_t len = strlen(suffix);

	for (size_t i = 0; i < countof(endings); i++) {
		size_t size = strlen(endings[i]);

		if (len >= size && strcmp(suffix + len - size, endings[i]) == 0)
			return true;
	}
	return false;
}

void
check_risk_single_file(struct checker *checker)
{
	const struct policy *policy = checker->policy;

	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];
		struct target directory = rule->at;
		struct diag *diag;

		if (!is_own_allow(rule, SBX_WRITE) ||
		    !is_saved_whole(rule->at.suffix))
			continue;
		directory.suffix = arena_strndup(checker->arena,
		    rule->at.suffix,
		    (size_t)(strrchr(rule->at.suffix, '/') - rule->at.suffix));
		if (grants_allow(&checker->grants, rule->origin.platforms,
			SBX_WRITE, directory) != NULL ||
		    is_denied(checker, rule, SBX_WRITE, rule->at))
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "'%s' is about one file, which can be written and not "
		    "replaced",
		    path_object_text(policy, i, i + 1));
		diag_help(diag,
		    *directory.suffix == '\0' ?
			"let the program keep it in a directory of its own" :
			"if it is replaced, allow its directory");
	}
}

/*
 * What a policy says of one access: the one place where policies are asked.
 * why, test and diff get their answers here; the answers come from the model
 * in format/model.h and, for system calls, from running the filter itself.
 */
#include "compiler/query/why.h"

#include "compiler/policy/kind.h"
#include "format/model.h"
#include "format/protocol.h"

#include <string.h>
#include <unistd.h>

uint32_t
verdict_abi(const struct subject *subject)
{
	if (subject->level < SBX_LEVEL_STANDARD)
		return 0;
	return subject->abi > 0 ? (uint32_t)subject->abi : UINT32_MAX;
}

struct verdict
verdict_begin(struct sbx_verdict model)
{
	return (struct verdict){
		.allowed = sbx_verdict_allows(model),
		.preferred = model.preferred,
		.source = SBX_NO_SOURCE,
	};
}

/* --- paths ---------------------------------------------------------------- */

bool
verdict_path_holds(const struct subject *subject, const struct sbx_path *path)
{
	bool cut = subject->cut && path->glob != 0 &&
	    path->effect == SBX_PREFER_DENY;

	return !cut && sbx_path_holds(path, subject->level);
}

/* Takes out the rules that do not hold there. */
static void
rules_hold(const struct subject *subject, struct place_rules *rules)
{
	size_t count = 0;

	for (size_t i = 0; i < rules->count; i++) {
		if (!verdict_path_holds(subject, rules->paths[i]))
			continue;
		rules->paths[count] = rules->paths[i];
		rules->rules[count++] = rules->rules[i];
	}
	rules->count = count;
}

/* What the model says of some rules; *unenforced: it denies, by a rule that
 * does not hold at the subject's level. */
static struct sbx_verdict
model_verdict(const struct subject *subject, const struct access *access,
    struct place_rules *rules, bool *unenforced)
{
	struct sbx_verdict all = sbx_path_verdict(rules->rules, rules->count,
	    access->detail, access->path);
	struct sbx_verdict model;
	struct place_rules some;

	*unenforced = false;
	if (all.reason != SBX_BECAUSE_DENIED || !all.preferred ||
	    (subject->level == SBX_LEVEL_FULL && !subject->cut))
		return all;
	/* A strict rule may deny it as well. */
	places_rules_over(&subject->places, subject->arch->platforms,
	    access->path, &some);
	places_rules_there(&subject->places, &some, false);
	rules_hold(subject, &some);
	model = sbx_path_verdict(some.rules, some.count, access->detail,
	    access->path);
	*unenforced = !subject->enforced && sbx_verdict_allows(model);
	if (!*unenforced)
		*rules = some;
	return *unenforced ? all : model;
}

static struct verdict
rules_verdict(const struct subject *subject, const struct access *access,
    struct place_rules *rules)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct sbx_verdict model;
	struct verdict verdict;
	bool unenforced;

	model = model_verdict(subject, access, rules, &unenforced);
	verdict = verdict_begin(model);
	verdict.unenforced = unenforced ||
	    (!verdict.allowed && subject->level < SBX_LEVEL_STANDARD);
	if (model.rule == SBX_NO_RULE)
		return verdict;
	verdict.by = BY_PATH;
	verdict.rule = (uint32_t)(rules->paths[model.rule] - blob->paths);
	verdict.source = rules->rules[model.rule].source;
	return verdict;
}

static bool
may_read(const struct subject *subject, struct sbx_place at)
{
	const struct places *places = &subject->places;
	struct place_rules rules;

	places_rules_over(places, subject->arch->platforms, at, &rules);
	places_rules_there(places, &rules, false);
	places_rules_at(&rules, subject->level);
	return sbx_verdict_allows(
	    sbx_path_verdict(rules.rules, rules.count, SBX_READ, at));
}

/* Links are there whatever becomes of what they lead to. */
static bool
leads_to_link(const struct places *places, struct sbx_place directory)
{
	for (size_t i = 0; i < places->shown.count; i++) {
		if (sbx_covers(directory, places->shown.items[i]))
			return true;
	}
	return false;
}

/* A socket that may be asked is shown, too. */
static bool
leads_to_socket(const struct subject *subject, struct sbx_place directory)
{
	const struct places *places = &subject->places;

	for (uint32_t i = 0; i < places->blob->socket_count; i++) {
		const struct sbx_socket *socket = &places->blob->sockets[i];
		struct sbx_rule rule = places_socket(places, socket, false);

		if (rule.effect == SBX_ALLOW &&
		    (socket->platforms & subject->arch->platforms) != 0 &&
		    sbx_covers(directory, rule.at) &&
		    (!places->here || here_has(rule.at)))
			return true;
	}
	return false;
}

static bool
leads_to_allowed(const struct subject *subject, struct sbx_place directory)
{
	const struct places *places = &subject->places;
	struct place_rules rules;

	places_rules(places, subject->arch->platforms, &rules);
	for (size_t i = 0; i < rules.count; i++) {
		struct sbx_place at = rules.rules[i].at;

		if (rules.rules[i].effect == SBX_ALLOW &&
		    sbx_covers(directory, at) && may_read(subject, at))
			return true;
	}
	for (size_t i = 0; i < places->matched.count; i++) {
		struct sbx_place at = places->matched.items[i];

		if (sbx_covers(directory, at) && may_read(subject, at))
			return true;
	}
	/* The command starts where it is asked. */
	return leads_to_link(places, directory) ||
	    leads_to_socket(subject, directory) ||
	    (places->here && sbx_covers(directory, places->cwd));
}

bool
verdict_is_above_allowed(const struct subject *subject,
    const struct access *access)
{
	return subject->level == SBX_LEVEL_FULL && access->kind == KIND_PATH &&
	    access->detail == SBX_READ &&
	    leads_to_allowed(subject, access->path);
}

/* The loader makes some links itself: into /usr, and where it makes a /dev, to
 * the descriptors. */
static bool
is_made_by_loader(const struct subject *subject, struct sbx_place link)
{
	static const struct sbx_place dev = { "/dev", 4 };
	static const char *const usr[] = { "/bin", "/sbin", "/lib", "/lib32",
		"/lib64", "/libx32" };
	static const char *const in_dev[] = { "/dev/fd", "/dev/stdin",
		"/dev/stdout", "/dev/stderr" };

	for (size_t i = 0; i < countof(usr); i++) {
		if (sbx_place_compare(link, sbx_place_of(usr[i])) == 0)
			return true;
	}
	for (size_t i = 0; i < countof(in_dev); i++) {
		if (sbx_place_compare(link, sbx_place_of(in_dev[i])) == 0)
			return leads_to_allowed(subject, dev);
	}
	return false;
}

/* The view holds a link if it may be read, or if what is allowed lies
 * behind. */
bool
verdict_link_hidden(const struct subject *subject, struct sbx_place link)
{
	const struct access look = {
		.kind = KIND_PATH,
		.detail = SBX_READ,
		.path = link,
	};

	return subject->level == SBX_LEVEL_FULL &&
	    !places_show_link(&subject->places, link) &&
	    !is_made_by_loader(subject, link) &&
	    !path_verdict(subject, &look).allowed;
}

static bool
link_find(const struct subject *subject, const struct access *access,
    struct sbx_place *link)
{
	const struct followed *followed = access->followed;

	for (size_t i = 0; followed != NULL && i < followed->links.count; i++) {
		*link = followed->links.items[i];
		if (verdict_link_hidden(subject, *link))
			return true;
	}
	return false;
}

/* Whether the view has something else at or below /var/tmp, which then is no link to
 * the scratch directory. */
static bool
shows_var_tmp(const struct places *places)
{
	static const struct sbx_place var_tmp = { "/var/tmp", 8 };
	const struct sbx_blob *blob = places->blob;

	for (uint32_t i = 0; i < blob->anchor_count; i++) {
		if (i != SBX_ANCHOR_TMP && places->anchors[i].len > 0 &&
		    sbx_covers(var_tmp, places->anchors[i]))
			return true;
	}
	for (uint32_t i = 0; i < blob->path_count; i++) {
		const char *suffix = sbx_string(blob, blob->paths[i].suffix);

		if (blob->paths[i].anchor == SBX_ANCHOR_ROOT &&
		    blob->paths[i].effect == SBX_ALLOW &&
		    sbx_covers(var_tmp,
			(struct sbx_place){ suffix, (uint32_t)strlen(suffix) }))
			return true;
	}
	return false;
}

/* At level full /tmp and /var/tmp are the scratch directory, but for what rules
 * name there;
 * *inside becomes the path below ${tmp}. */
static bool
is_scratch(const struct subject *subject, struct sbx_place path,
    struct sbx_place *inside)
{
	const struct places *places = &subject->places;
	const struct sbx_blob *blob = places->blob;
	const char *text, *rest = sbx_tmp_rest(path);
	struct place_rules rules;

	if (!places->here || subject->level != SBX_LEVEL_FULL ||
	    (blob->anchors[SBX_ANCHOR_TMP].flags & SBX_ANCHOR_USED) == 0 ||
	    rest == NULL || (rest != path.path + 4 && shows_var_tmp(places)))
		return false;
	places_rules_over(places, subject->arch->platforms, path, &rules);
	if (rules.count > 0)
		return false;
	text = arena_printf(places->arena, "%s%s",
	    places->anchors[SBX_ANCHOR_TMP].path, rest);
	*inside = sbx_place_of(text);
	return true;
}

/* A glob denies at level standard what it matches when the sandbox starts, and
 * at full masks cover what is there then. */
static struct verdict
covered_verdict(const struct subject *subject, const struct access *access,
    struct verdict verdict)
{
	const struct places *places = &subject->places;
	struct place_rules rules;
	struct verdict there;
	const struct sbx_path *mask;

	if (verdict.by != BY_PATH || verdict.allowed ||
	    subject->level < SBX_LEVEL_STANDARD || !places->here)
		return verdict;
	places_rules_over(places, subject->arch->platforms, access->path,
	    &rules);
	mask = places_rules_there(places, &rules, true);
	if (subject->level == SBX_LEVEL_STANDARD) {
		mask = &places->blob->paths[verdict.rule];
		if (mask->glob == 0)
			return verdict;
		places_rules_split(places, subject->arch->platforms,
		    access->path, &rules);
		places_rules_there(places, &rules, false);
	}
	there = rules_verdict(subject, access, &rules);
	there.absent = mask;
	return mask != NULL && there.allowed ? there : verdict;
}

/* Whether Landlock, which takes nothing back, gives the entries of a directory
 * one by one, for a rule denies something in it: *by. */
static bool
is_split_by(const struct place_rules *rules, uint8_t right,
    struct sbx_place directory, size_t *by)
{
	if (!sbx_path_is_split(rules->rules, rules->count, right, directory))
		return false;
	for (*by = 0; *by < rules->count; ++*by) {
		const struct sbx_rule *rule = &rules->rules[*by];

		if (rule->effect != SBX_ALLOW && (rule->rights & right) != 0 &&
		    sbx_covers(directory, rule->at) &&
		    rule->at.len > directory.len &&
		    !sbx_verdict_allows(sbx_path_verdict(rules->rules,
			rules->count, right, rule->at)))
			return true;
	}
	return true;
}

/* At level standard such a directory is not listed, and nothing is made in it. */
static void
split_find(const struct subject *subject, const struct access *access,
    struct verdict *verdict)
{
	const struct places *places = &subject->places;
	/* Processes come later, the command's too. */
	bool own = access->followed != NULL && access->followed->own;
	bool there = !own && here_has(access->path);
	struct sbx_place directory = own ? sbx_place_of("/proc") :
	    there                        ? access->path :
					   here_nearest(access->path);
	struct place_rules rules;
	size_t by;

	if (there && access->detail == SBX_EXEC)
		return;
	places_rules_split(places, subject->arch->platforms, access->path,
	    &rules);
	places_rules_there(places, &rules, false);
	places_rules_at(&rules, subject->level);
	if (there && access->detail == SBX_READ)
		places_rules_listed(places, &rules);
	if (!is_split_by(&rules, access->detail, directory, &by))
		return;
	verdict->split = directory;
	verdict->allowed = verdict->preferred = verdict->unenforced = false;
	verdict->by = BY_SPLIT;
	verdict->absent = NULL;
	verdict->rule = by == rules.count ?
	    SBX_NO_RULE :
	    (uint32_t)(rules.paths[by] - places->blob->paths);
	verdict->source = by == rules.count ? SBX_NO_SOURCE :
					      rules.rules[by].source;
}

/* A link on the way is in the view or not, whatever lies behind. */
static void
hide_behind_link(const struct subject *subject, const struct access *access,
    struct verdict *verdict)
{
	struct sbx_place link;

	if (!verdict->allowed || !link_find(subject, access, &link))
		return;
	verdict->allowed = false;
	verdict->by = BY_LINK;
	verdict->link = link;
}

/* So is a directory that '..' leaves again. */
static void
hide_behind_left(const struct subject *subject, const struct access *access,
    struct verdict *verdict)
{
	const struct followed *followed = access->followed;

	if (followed == NULL || subject->level != SBX_LEVEL_FULL)
		return;
	for (size_t i = 0; verdict->allowed && i < followed->left.count; i++) {
		const struct access look = {
			.kind = KIND_PATH,
			.detail = SBX_READ,
			.path = followed->left.items[i],
		};

		if (path_verdict(subject, &look).allowed)
			continue;
		verdict->allowed = false;
		verdict->by = BY_LEFT;
		verdict->link = look.path;
	}
}

/* A rule about more than /dev opens no devices; and at level standard nothing else
 * that lies there.  Of terminals the view of level full has those that it makes. */
static bool
is_shut_device(const struct subject *subject, const struct access *access)
{
	static const char *const made[] = { "/dev/pts", "/dev/ptmx" };
	const struct places *places = &subject->places;
	struct place_rules rules;

	bool full = subject->level == SBX_LEVEL_FULL;

	if (subject->level < SBX_LEVEL_STANDARD || !places->here ||
	    access->outside ||
	    (full ? !here_is_device(access->path) :
		    !sbx_covers(sbx_place_of("/dev"), access->path) ||
			(here_has(access->path) &&
			    !here_is_file(access->path))))
		return false;
	for (size_t i = 0; full && i < countof(made); i++) {
		if (sbx_covers(sbx_place_of(made[i]), access->path))
			return false;
	}
	places_rules_over(places, subject->arch->platforms, access->path,
	    &rules);
	for (size_t i = 0; i < rules.count; i++) {
		if (sbx_covers(sbx_place_of("/dev"), rules.rules[i].at))
			return false;
	}
	return true;
}

/* At level full a link in /proc/self is there with the rest of /proc. */
static struct verdict
own_link_verdict(const struct subject *subject, const struct access *access,
    struct verdict verdict)
{
	const struct access look = {
		.kind = KIND_PATH,
		.detail = SBX_READ,
		.path = access->path,
	};
	struct verdict seen = path_verdict(subject, &look);

	if (subject->level == SBX_LEVEL_FULL && !seen.allowed)
		return seen;
	hide_behind_link(subject, access, &verdict);
	return verdict;
}

/* Whether it is of the policies and the state that sbx keeps in a home. */
static bool
is_kept(const struct subject *subject, struct sbx_place path)
{
	static const char *const kept[] = { SBX_OWN_CONFIG, SBX_OWN_STATE };
	const struct places *places = &subject->places;
	const struct sbx_place homes[] = { places->anchors[SBX_ANCHOR_HOME],
		places->other_home };

	for (size_t i = 0; i < countof(homes); i++) {
		if (homes[i].len == 0 || !sbx_covers(homes[i], path))
			continue;
		for (size_t j = 0; j < countof(kept); j++) {
			const char *rest = path.path + homes[i].len;
			size_t len = strlen(kept[j]);

			if (path.len >= homes[i].len + len &&
			    strncmp(rest, kept[j], len) == 0 &&
			    (path.len == homes[i].len + len ||
				rest[len] == '/'))
				return true;
		}
	}
	return false;
}

/* Below level full only from being written. */
static bool
keeps(const struct subject *subject, const struct access *access)
{
	return subject->level == SBX_LEVEL_FULL ||
	    (subject->level == SBX_LEVEL_STANDARD &&
		access->detail == SBX_WRITE);
}

/* Whether it is a setting in the /proc of level full, which Landlock opens whole to
 * an ordinary user unless a rule takes writing away (runtime/apply/lower.c). */
static bool
is_open_proc(const struct subject *subject, const struct access *access)
{
	const struct sbx_place proc = sbx_place_of("/proc");
	const struct sbx_blob *blob = subject->places.blob;
	struct access look = *access;

	if (subject->level != SBX_LEVEL_FULL || access->detail != SBX_WRITE ||
	    !subject->places.here || access->outside || geteuid() == 0 ||
	    !sbx_covers(proc, access->path))
		return false;
	for (uint32_t i = 0; i < blob->path_count; i++) {
		struct sbx_place at =
		    places_rule(&subject->places, &blob->paths[i], false).at;

		if (blob->paths[i].effect != SBX_ALLOW &&
		    (blob->paths[i].rights & SBX_WRITE) != 0 &&
		    (sbx_covers(at, proc) || sbx_covers(proc, at)))
			return false;
	}
	look.detail = SBX_READ;
	return path_verdict(subject, &look).allowed;
}

static struct verdict
place_verdict(const struct subject *subject, const struct access *access)
{
	const struct places *places = &subject->places;
	struct place_rules rules;
	struct verdict verdict;
	const struct sbx_path *absent;

	if (own_verdict(access, &verdict))
		return own_link_verdict(subject, access, verdict);
	places_rules_over(places, subject->arch->platforms, access->path,
	    &rules);
	absent = places_rules_there(places, &rules, false);
	verdict = rules_verdict(subject, access, &rules);
	if (verdict.by != BY_PATH)
		verdict.absent = absent;
	verdict = covered_verdict(subject, access, verdict);
	if (keeps(subject, access) && is_kept(subject, access->path))
		return (
		    struct verdict){ .by = BY_KEPT, .source = SBX_NO_SOURCE };
	if (!verdict.allowed &&
	    (verdict.by == BY_NOTHING || verdict.by == BY_PATH) &&
	    places->here && !access->outside &&
	    verdict_is_above_allowed(subject, access)) {
		verdict.allowed = true;
		verdict.by = BY_ABOVE;
	}
	if (!verdict.allowed && verdict.by == BY_NOTHING &&
	    is_open_proc(subject, access)) {
		verdict.allowed = true;
		verdict.by = BY_PROC;
	}
	hide_behind_link(subject, access, &verdict);
	hide_behind_left(subject, access, &verdict);
	if (verdict.allowed && is_shut_device(subject, access)) {
		verdict.allowed = false;
		verdict.by = BY_DEVICE;
	}
	if ((verdict.allowed || (verdict.unenforced && subject->happens)) &&
	    verdict.by == BY_PATH && places->here && !access->outside &&
	    subject->level == SBX_LEVEL_STANDARD &&
	    !places->named[places_anchor(places, access->path)])
		split_find(subject, access, &verdict);
	return verdict;
}

/* Whether a rule is about a cache that is not there, in the place of which level
 * full shows a directory of the scratch directory. */
static bool
is_own_cache(const struct subject *subject, const struct verdict *verdict)
{
	const struct sbx_blob *blob = subject->places.blob;
	const struct sbx_path *absent = verdict->absent;

	return subject->level == SBX_LEVEL_FULL && absent != NULL &&
	    !verdict->allowed && verdict->by == BY_NOTHING &&
	    (blob->anchors[SBX_ANCHOR_TMP].flags & SBX_ANCHOR_USED) != 0 &&
	    absent->effect == SBX_ALLOW && absent->glob == 0 &&
	    absent->anchor == SBX_ANCHOR_HOME &&
	    !places_is_planted(&subject->places, absent) &&
	    sbx_is_cache(sbx_string(blob, absent->suffix));
}

struct verdict
path_verdict(const struct subject *subject, const struct access *access)
{
	struct access inside = *access;
	struct verdict verdict;

	if (access->outside ||
	    !is_scratch(subject, access->path, &inside.path)) {
		verdict = place_verdict(subject, access);
		if (access->outside || !is_own_cache(subject, &verdict))
			return verdict;
		verdict.allowed = verdict.scratch = true;
		verdict.by = BY_PATH;
		verdict.rule = (uint32_t)(verdict.absent -
		    subject->places.blob->paths);
		verdict.source = verdict.absent->source;
		verdict.absent = NULL;
		return verdict;
	}
	inside.followed = NULL;
	verdict = place_verdict(subject, &inside);
	verdict.scratch = true;
	/* A name that is taken outside may be made inside; what is there outside
	 * is not what is asked about then. */
	if (verdict.allowed && access->followed != NULL &&
	    access->followed->there && access->detail != SBX_WRITE &&
	    *sbx_tmp_rest(access->path) != '\0') {
		verdict.allowed = false;
		verdict.by = BY_HIDDEN;
	}
	return verdict;
}

/* --- all of them ---------------------------------------------------------- */

const struct sbx_syscall *
verdict_syscall(const struct sbx_blob *blob, const struct arch *arch,
    const char *name)
{
	for (uint32_t i = 0; i < blob->syscall_count; i++) {
		if ((blob->syscalls[i].platforms & arch->platforms) != 0 &&
		    strcmp(sbx_string(blob, blob->syscalls[i].name), name) == 0)
			return &blob->syscalls[i];
	}
	return NULL;
}

const struct sbx_program *
verdict_program(const struct subject *subject)
{
	const struct sbx_blob *blob = subject->places.blob;
	const struct sbx_circumstances where = {
		.arch = subject->arch->audit,
		.level = subject->level,
		.landlock_abi = verdict_abi(subject),
		/* At full it takes places that a compiler does not know. */
		.listener = subject->level < SBX_LEVEL_FULL,
		.loopback = subject->level == SBX_LEVEL_FULL &&
		    sbx_net_is_own(blob->meta->net),
	};

	return subject->program != NULL ? subject->program :
					  sbx_program_select(blob, &where);
}

struct verdict
verdict_of(const struct subject *subject, const struct access *access)
{
	const struct rule_kind *kind = rule_kinds[access->kind];

	if ((subject->places.blob->meta->flags & SBX_EVERYTHING) != 0 &&
	    !kind->holds_beside_everything)
		return (struct verdict){
			.allowed = true,
			.by = BY_EVERYTHING,
			.source = SBX_NO_SOURCE,
		};
	return kind->verdict(subject, access);
}

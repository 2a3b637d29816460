/*
 * Whether the policy denies what a call does at a path, and whether that is why
 * it fails.
 */
#include "runtime/explain/explain.h"

#include "format/model.h"
#include "runtime/base/kernel.h"
#include "runtime/network/event.h"

#include <string.h>
#include <sys/stat.h>

enum presence { ANY, PRESENT, ABSENT };

/* Renaming, making and removing also change the directory. */
static const struct rules_of_act {
	uint8_t kind; /* enum sbx_denied */
	uint8_t right;
	uint8_t presence;
	bool directory; /* the directory must be writable, too */
	bool keeps;     /* the last name is not followed */
} acts[ACT_END] = {
	[ACT_READ] = { SBX_DENIED_READ, SBX_READ, PRESENT, false, false },
	[ACT_WRITE] = { SBX_DENIED_WRITE, SBX_WRITE, PRESENT, false, false },
	[ACT_CREATE] = { SBX_DENIED_WRITE, SBX_WRITE, ANY, false, false },
	[ACT_MAKE] = { SBX_DENIED_WRITE, SBX_WRITE, ABSENT, true, true },
	[ACT_MAKE_DIRECTORY] = { SBX_DENIED_WRITE, SBX_WRITE, ABSENT, true,
	    true },
	[ACT_FILL] = { SBX_DENIED_WRITE, SBX_WRITE, PRESENT, false, true },
	[ACT_REPLACE] = { SBX_DENIED_WRITE, SBX_WRITE, ANY, true, true },
	[ACT_REMOVE] = { SBX_DENIED_WRITE, SBX_WRITE, PRESENT, true, true },
	[ACT_UNLINK] = { SBX_DENIED_WRITE, SBX_WRITE, PRESENT, true, true },
	[ACT_CHANGE] = { SBX_DENIED_WRITE, SBX_WRITE, PRESENT, false, false },
	[ACT_RUN] = { SBX_DENIED_EXEC, SBX_EXEC, PRESENT, false, false },
	[ACT_LOOK] = { SBX_DENIED_READ, SBX_READ, PRESENT, false, false },
	[ACT_CONNECT] = { SBX_DENIED_SOCKET, SBX_WRITE, PRESENT, false, false },
};

/* --- what the policy says ------------------------------------------------- */

static bool
is_allowed(const struct explaining *explaining, uint8_t right,
    struct sbx_place at)
{
	return rule_index_allows(explaining->binding->index, right, at);
}

/* Where Landlock can only hand a right to what is in a directory, nothing can
 * be made or removed in it, whatever the model says of the name. */
static bool
is_split(const struct explaining *explaining, struct sbx_place directory)
{
	const struct binding *binding = explaining->binding;

	return explaining->splits &&
	    sbx_path_is_split(binding->rules, binding->rule_count, SBX_WRITE,
		directory);
}

/* The denial that splits the directory. */
static uint32_t
splitter_of(const struct explaining *explaining, struct sbx_place directory)
{
	const struct binding *binding = explaining->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (rule->effect != SBX_ALLOW &&
		    (rule->rights & SBX_WRITE) != 0 &&
		    sbx_covers(directory, rule->at))
			return rule->source;
	}
	return SBX_NO_SOURCE;
}

static uint32_t
decider_of(const struct explaining *explaining, uint8_t right,
    struct sbx_place at)
{
	const struct binding *binding = explaining->binding;
	struct sbx_verdict verdict = sbx_path_verdict(binding->rules,
	    binding->rule_count, right, at);

	return verdict.reason == SBX_BECAUSE_DENIED &&
		verdict.rule != SBX_NO_RULE ?
	    binding->rules[verdict.rule].source :
	    SBX_NO_SOURCE;
}

/* The rule that would allow it, and is skipped because of a link on the way to
 * its place. */
static uint32_t
skipped_of(const struct explaining *explaining, uint8_t right,
    struct sbx_place at)
{
	const struct binding *binding = explaining->binding;

	/* A session hands on its rules, and not where they come from. */
	for (uint32_t i = 0; binding->sites != NULL && i < binding->rule_count;
	     i++) {
		if (binding->sites[i].state == RULE_PLANTED &&
		    (binding->sites[i].path->rights & right) != 0 &&
		    sbx_rule_covers(&binding->rules[i], at))
			return binding->rules[i].source;
	}
	for (uint32_t i = 0; i < binding->glob_count; i++) {
		const struct sbx_path *path = binding->globs[i].path;
		struct sbx_glob glob;

		if (binding->globs[i].planted && (path->rights & right) != 0 &&
		    sbx_glob_parse(sbx_string(binding->blob, path->glob),
			&glob) &&
		    sbx_glob_find(&glob, binding->globs[i].at, at).len > 0)
			return path->source;
	}
	return SBX_NO_SOURCE;
}

/* A cache of the home that the policy opens has a name in the view though it is not
 * there: see runtime/apply/mount.c. */
static bool
holds_cache(const struct binding *binding, struct sbx_place at)
{
	struct sbx_place home = binding->anchors[SBX_ANCHOR_HOME];
	const struct sbx_blob *blob = binding->blob;

	if (!binding->bound[SBX_ANCHOR_HOME] || !sbx_covers(home, at))
		return false;
	at.path += home.len;
	at.len -= home.len;
	for (uint32_t i = 0; i < blob->path_count; i++) {
		const struct sbx_path *path = &blob->paths[i];
		const char *suffix = sbx_string(blob, path->suffix);

		if (path->effect == SBX_ALLOW && path->ceiling == 0 &&
		    path->anchor == SBX_ANCHOR_HOME && sbx_is_cache(suffix) &&
		    sbx_covers(at, sbx_place_of(suffix)))
			return true;
	}
	return false;
}

/* The view has the directories above what is allowed, which can be listed, and
 * the links that lead to it. */
static bool
holds_allowed(const struct explaining *explaining, struct sbx_place at)
{
	const struct binding *binding = explaining->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		if ((binding->sites == NULL ||
			binding->sites[i].state == RULE_READY) &&
		    binding->rules[i].effect == SBX_ALLOW &&
		    sbx_covers(at, binding->rules[i].at))
			return true;
	}
	for (uint32_t i = 0; i < binding->link_count; i++) {
		if (sbx_covers(at, binding->links[i]))
			return true;
	}
	return holds_cache(binding, at);
}

/* Rules about sockets count before those about paths.  False: one of them allows
 * it; else the source of the one that denies it is kept, if there is one. */
static bool
judge_socket(const struct explaining *explaining, struct sbx_place at,
    struct sbx_denial *denial)
{
	const struct binding *binding = explaining->binding;
	struct sbx_verdict verdict = sbx_socket_verdict(binding->sockets,
	    binding->socket_count, at);

	if (verdict.reason == SBX_BECAUSE_ALLOWED)
		return false;
	if (verdict.rule != SBX_NO_RULE)
		denial->source = binding->sockets[verdict.rule].source;
	return true;
}

/* What is denied: fills in the place and the rule; false if nothing is. */
static bool
is_denied(const struct explaining *explaining, const struct rules_of_act *rules,
    const struct path *path, bool there, struct sbx_denial *denial)
{
	struct sbx_place at = { path->text, path->len };
	struct sbx_place parent = place_parent(at), place = at;

	if (denial->source == SBX_NO_SOURCE &&
	    is_allowed(explaining, rules->right, at)) {
		if ((!there || rules->directory) &&
		    is_split(explaining, parent))
			denial->source = splitter_of(explaining, parent);
		else if (!rules->directory ||
		    is_allowed(explaining, SBX_WRITE, parent))
			return false;
		else
			place = parent;
	}
	if (denial->source == SBX_NO_SOURCE)
		denial->source = decider_of(explaining, rules->right, place);
	if (denial->source == SBX_NO_SOURCE) {
		denial->source = skipped_of(explaining, rules->right, place);
		denial->skipped = denial->source != SBX_NO_SOURCE;
	}
	if (explaining->view && rules->right == SBX_READ &&
	    denial->source == SBX_NO_SOURCE && holds_allowed(explaining, at))
		return false;
	memcpy(denial->path, path_of(place), place.len + 1);
	denial->path[place.len == 0 ? 1 : place.len] = '\0';
	return true;
}

/* --- what would be outside ------------------------------------------------ */

/* Whether the modes of what is there let this user do it. */
static bool
user_may(enum act act, const char *path, const struct stat *status)
{
	switch (act) {
	case ACT_READ:
		return access(path, R_OK) == 0;
	case ACT_WRITE:
	case ACT_CREATE:
	case ACT_CONNECT:
		return !S_ISDIR(status->st_mode) && access(path, W_OK) == 0;
	case ACT_FILL:
		return access(path, W_OK | X_OK) == 0;
	case ACT_CHANGE:
		return geteuid() == 0 || status->st_uid == geteuid();
	case ACT_RUN:
		return S_ISREG(status->st_mode) && access(path, X_OK) == 0;
	case ACT_UNLINK:
		return !S_ISDIR(status->st_mode);
	case ACT_REPLACE:
	case ACT_REMOVE:
	case ACT_LOOK:
		return true;
	case ACT_MAKE:
	case ACT_MAKE_DIRECTORY:
	case ACT_END:
		break;
	}
	return false;
}

static bool
user_may_make(const struct path *path)
{
	char parent[SBX_MAX_PATH + 1];
	struct sbx_place at = place_parent(
	    (struct sbx_place){ path->text, path->len });

	memcpy(parent, path->text, at.len);
	parent[at.len] = '\0';
	return access(at.len == 0 ? "/" : parent, W_OK | X_OK) == 0;
}

/* Whether it would work without the policy, as far as that can be seen. */
static bool
works_outside(const struct asked *asked, bool there, const struct stat *status)
{
	enum act act = asked->act;
	const struct path *path = &asked->path;
	const char *name = path->len == 0 ? "/" : path->text;

	if (there && (acts[act].presence == ABSENT || asked->fresh))
		return false;
	if (asked->dots && acts[act].directory)
		return false;
	if (!there && acts[act].presence == PRESENT)
		return false;
	if (there && !user_may(act, name, status))
		return false;
	return (there && !acts[act].directory) || user_may_make(path);
}

/* --- places --------------------------------------------------------------- */

static bool
is_below(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	return strncmp(path, directory, len) == 0 &&
	    (path[len] == '/' || path[len] == '\0');
}

/* What a person named keeps its name in the view, in /tmp as well. */
static bool
is_named(const struct binding *binding, struct sbx_place at)
{
	for (uint32_t i = 1; i < binding->blob->anchor_count; i++) {
		if (i != SBX_ANCHOR_TMP && binding->bound[i] &&
		    sbx_covers(binding->anchors[i], at))
			return true;
	}
	return false;
}

/* Then it is no link to the scratch directory. */
static bool
shows_var_tmp(const struct binding *binding)
{
	static const struct sbx_place var_tmp = { "/var/tmp", 8 };

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		if (binding->rules[i].effect == SBX_ALLOW &&
		    sbx_covers(var_tmp, binding->rules[i].at))
			return true;
	}
	return binding->bound[SBX_ANCHOR_HOME] &&
	    sbx_covers(var_tmp, binding->anchors[SBX_ANCHOR_HOME]);
}

/* At level full /tmp mostly is the scratch directory. */
static bool
translate(const struct explaining *explaining, struct path *path)
{
	struct sbx_place at = { path->text, path->len };
	struct sbx_place scratch = explaining->scratch;
	const char *behind = sbx_tmp_rest(at);
	char rest[SBX_MAX_PATH + 1];
	size_t len;

	if (scratch.len == 0 || behind == NULL || sbx_covers(scratch, at) ||
	    is_named(explaining->binding, at) ||
	    (behind != path->text + 4 && shows_var_tmp(explaining->binding)))
		return true;
	len = strlen(behind);
	if (scratch.len + len > SBX_MAX_PATH)
		return false;
	memcpy(rest, behind, len);
	memcpy(path->text, scratch.path, scratch.len);
	memcpy(path->text + scratch.len, rest, len);
	path_cut(path, scratch.len + (uint32_t)len);
	return true;
}

/* The name of a setting that a process has, such as oom_score_adj, of itself or of
 * one of its threads; NULL: it is none.  What it has open lies elsewhere. */
static const char *
setting_of(const char *path)
{
	static const char self[] = "/proc/self", thread[] = "/proc/thread-self",
			  digits[] = "0123456789", proc[] = "/proc/",
			  task[] = "/task/";
	const char *name = path;

	if (is_below(path, self))
		name += sizeof self - 1;
	else if (is_below(path, thread))
		name += sizeof thread - 1;
	else if (strncmp(path, proc, sizeof proc - 1) == 0)
		name += sizeof proc - 1 +
		    strspn(path + sizeof proc - 1, digits);
	if (strncmp(name, task, sizeof task - 1) == 0)
		name += sizeof task - 1 +
		    strspn(name + sizeof task - 1, digits);
	return name[0] == '/' && name > path && name[1] != '\0' &&
		strchr(name + 1, '/') == NULL ?
	    name + 1 :
	    NULL;
}

/* At level full an ordinary user may write in the sandbox's own /proc, unless a rule
 * takes that away: see runtime/apply/lower.c. */
static bool
opens_proc(const struct explaining *explaining)
{
	static const struct sbx_place proc = { "/proc", 5 };
	const struct binding *binding = explaining->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (rule->effect != SBX_ALLOW &&
		    (rule->rights & SBX_WRITE) != 0 &&
		    (sbx_covers(rule->at, proc) || sbx_covers(proc, rule->at)))
			return false;
	}
	return explaining->view && geteuid() != 0;
}

/* What a process has in /proc is the kernel's to guard, but for settings of its
 * own, and at level full it is the sandbox's own, as are its terminals and its
 * shared memory. */
static bool
is_own(const struct explaining *explaining, struct asked *asked)
{
	static const char pid[] = "0123456789st"; /* self, thread-self */
	static const char sys[] = "/proc/sys", self[] = "/proc/self";
	struct path *path = &asked->path;
	const char *setting;

	if (explaining->view &&
	    (is_below(path->text, "/dev/pts") ||
		is_below(path->text, "/dev/shm")))
		return true;
	if (!trail_is_proc((struct sbx_place){ path->text, path->len }))
		return false;
	if (acts[asked->act].right == SBX_READ) {
		path_cut(path, 5);
		return false;
	}
	if (opens_proc(explaining))
		return true;
	setting = setting_of(path->text);
	/* The numbers of processes are others outside, or are gone soon. */
	if (setting != NULL) {
		size_t len = strlen(setting);

		memmove(path->text + sizeof self - 1, setting - 1, len + 2);
		memcpy(path->text, self, sizeof self - 1);
		path_cut(path, (uint32_t)(sizeof self + len));
		return false;
	}
	return explaining->view || path->len < 6 ||
	    (strchr(pid, path->text[6]) != NULL && !is_below(path->text, sys));
}

/* Who makes a directory that is there wants to write in it, and outside EEXIST
 * tells that it can.  In a view that hides the directory it cannot be made. */
static bool
is_hidden_directory(const struct explaining *explaining,
    const struct path *path, const struct stat *status)
{
	struct sbx_place at = { path->text, path->len };

	return explaining->view && S_ISDIR(status->st_mode) &&
	    !is_allowed(explaining, SBX_READ, at) &&
	    !is_allowed(explaining, SBX_READ, place_parent(at)) &&
	    !holds_allowed(explaining, at);
}

/* -------------------------------------------------------------------------- */

bool
judge(const struct explaining *explaining, struct asked *asked,
    struct sbx_denial *denial)
{
	const struct rules_of_act *rules = &acts[asked->act];
	struct path *path = &asked->path;
	struct stat status;
	bool there, denied, known = explaining->learning == NULL;

	denial->kind = rules->kind;
	asked->wanted = false;
	asked->makes = rules->directory;
	if (is_own(explaining, asked) || !translate(explaining, path))
		return false;
	/* A look through a link tells no more than the link: it is not worth to
	 * follow each. */
	if (asked->act == ACT_LOOK &&
	    is_allowed(explaining, rules->right,
		(struct sbx_place){ path->text, path->len }))
		return false;
	if (!trail_is_proc((struct sbx_place){ path->text, path->len }) &&
	    (!trail_follow(path, !rules->keeps && !asked->no_follow) ||
		!translate(explaining, path)))
		return false;
	denial->source = SBX_NO_SOURCE;
	if (asked->act == ACT_CONNECT &&
	    !judge_socket(explaining,
		(struct sbx_place){ path->text, path->len }, denial)) {
		asked->wanted = true;
		return false;
	}
	/* Of what is allowed nothing more has to be known, unless a name is
	 * made or removed. */
	if (known && denial->source == SBX_NO_SOURCE && !rules->directory &&
	    rules->presence == PRESENT &&
	    is_allowed(explaining, rules->right,
		(struct sbx_place){ path->text, path->len }))
		return false;
	there = fstatat(AT_FDCWD, path->len == 0 ? "/" : path->text, &status,
		    AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0;
	if (asked->act == ACT_MAKE_DIRECTORY && there &&
	    is_hidden_directory(explaining, path, &status)) {
		asked->act = ACT_FILL;
		rules = &acts[ACT_FILL];
		asked->makes = false;
	}
	denial->probe = asked->act == ACT_LOOK;
	denial->makes_file = !there && asked->act == ACT_CREATE;
	denial->replaced = there && rules->directory;
	denied = is_denied(explaining, rules, path, there, denial);
	if (!denied && known)
		return false;
	asked->wanted = works_outside(asked, there, &status);
	asked->makes |= denial->makes_file;
	return denied && asked->wanted;
}

bool
judge_server(const struct asked *asked, struct sbx_denial *denial)
{
	const struct path *path = &asked->path;
	struct stat status;

	if (path->len == 0 || lstat(path->text, &status) != 0 ||
	    !S_ISSOCK(status.st_mode) || access(path->text, W_OK) != 0)
		return false;
	denial->kind = SBX_DENIED_SOCKET;
	denial->source = SBX_NO_SOURCE;
	memcpy(denial->path, path->text, path->len + 1);
	return true;
}

/* Beside single ways out Landlock opens the ports that are published. */
static bool
judge_publication(const struct explaining *explaining, uint16_t port,
    struct sbx_denial *denial)
{
	const struct sbx_blob *blob = explaining->blob;
	struct sbx_verdict verdict = sbx_port_verdict(blob, KERNEL_WHERE,
	    SBX_PUBLISH_TCP, port);

	if (port == 0 || sbx_verdict_allows(verdict))
		return false;
	denial->kind = SBX_DENIED_PUBLISH;
	denial->port = port;
	denial->verdict = PROXY_NO_RULE;
	denial->source = verdict.rule == SBX_NO_RULE ?
	    SBX_NO_SOURCE :
	    blob->ports[verdict.rule].source;
	return true;
}

bool
judge_port(const struct explaining *explaining, uint8_t op, uint16_t port,
    struct sbx_denial *denial)
{
	const struct sbx_blob *blob = explaining->blob;
	struct sbx_verdict verdict;

	if (blob->meta->net == SBX_NET_SELECTED && !explaining->view &&
	    op == SBX_LISTEN_TCP)
		return judge_publication(explaining, port, denial);
	if (blob->meta->net != SBX_NET_PORTS || port == 0)
		return false;
	verdict = sbx_port_verdict(blob, KERNEL_WHERE, op, port);
	if (sbx_verdict_allows(verdict))
		return false;
	denial->kind = op == SBX_CONNECT_TCP ? SBX_DENIED_CONNECT :
					       SBX_DENIED_LISTEN;
	denial->port = port;
	denial->source = verdict.rule == SBX_NO_RULE ?
	    SBX_NO_SOURCE :
	    blob->ports[verdict.rule].source;
	return true;
}

/* 127.0.0.0/8, ::1, what has no address, and what the resolver hands out. */
static bool
is_inside(const uint8_t address[SBX_ADDRESS_SIZE])
{
	static const uint8_t none[SBX_ADDRESS_SIZE];
	const uint8_t *v4 = address + SBX_ADDRESS_SIZE - 4;

	if (sbx_address_is_fake(address, NULL))
		return true;
	if (!sbx_address_is_v4(address))
		return memcmp(address, none, sizeof none - 1) == 0;
	return v4[0] == 127 || v4[0] == 0;
}

bool
judge_endpoint(const struct explaining *explaining,
    const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port,
    struct sbx_denial *denial)
{
	const struct sbx_blob *blob = explaining->blob;
	struct sbx_verdict verdict;
	struct out name;

	if (port == 0 || is_inside(address))
		return false;
	verdict = sbx_endpoint_verdict(blob, KERNEL_WHERE, address, port);
	if (verdict.reason == SBX_BECAUSE_ALLOWED)
		return false;
	denial->kind = SBX_DENIED_ADDRESS;
	denial->port = port;
	denial->verdict = verdict.reason == SBX_BECAUSE_DENIED ? PROXY_DENIED :
								 PROXY_NO_RULE;
	denial->source = verdict.rule == SBX_NO_RULE ?
	    SBX_NO_SOURCE :
	    blob->endpoints[verdict.rule].source;
	out_into(&name, denial->path, sizeof denial->path);
	out_address(&name, address);
	return true;
}

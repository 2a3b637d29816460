/*
 * Whether services of the host may listen in what a policy shows.
 */
#include "runtime/bind/bind.h"

#include <sys/stat.h>

/* Programs and what belongs to them.  Nothing listens in there. */
static const struct {
	struct sbx_place at;
	enum { OF_ROOT, OF_HOME } base;
} quiet[] = {
#define PLACE(base, path) \
	{ \
		{ path, sizeof path - 1 }, base \
	}
	PLACE(OF_ROOT, "/bin"),
	PLACE(OF_ROOT, "/dev"),
	PLACE(OF_ROOT, "/etc"),
	PLACE(OF_ROOT, "/gnu/store"),
	PLACE(OF_ROOT, "/home/linuxbrew/.linuxbrew"),
	PLACE(OF_ROOT, "/lib"),
	PLACE(OF_ROOT, "/lib32"),
	PLACE(OF_ROOT, "/lib64"),
	PLACE(OF_ROOT, "/libx32"),
	PLACE(OF_ROOT, "/nix/store"),
	PLACE(OF_ROOT, "/opt"),
	PLACE(OF_ROOT, "/proc"),
	PLACE(OF_ROOT, "/sbin"),
	PLACE(OF_ROOT, "/sys"),
	PLACE(OF_ROOT, "/usr"),
	PLACE(OF_ROOT, "/var/cache"),
	PLACE(OF_ROOT, "/var/lib/apt"),
	PLACE(OF_ROOT, "/var/lib/aspell"),
	PLACE(OF_ROOT, "/var/lib/dictionaries-common"),
	PLACE(OF_ROOT, "/var/lib/dpkg"),
	PLACE(OF_ROOT, "/var/lib/emacsen-common"),
	PLACE(OF_ROOT, "/var/lib/gems"),
	PLACE(OF_ROOT, "/var/lib/ghc"),
	PLACE(OF_ROOT, "/var/lib/ieee-data"),
	PLACE(OF_ROOT, "/var/lib/ispell"),
	PLACE(OF_ROOT, "/var/lib/mecab"),
	PLACE(OF_ROOT, "/var/lib/pacman/local"),
	PLACE(OF_ROOT, "/var/lib/rpm"),
	PLACE(OF_ROOT, "/var/lib/sgml-base"),
	PLACE(OF_ROOT, "/var/lib/texmf"),
	PLACE(OF_ROOT, "/var/lib/units"),
	PLACE(OF_ROOT, "/var/lib/usbutils"),
	PLACE(OF_ROOT, "/var/lib/vim"),
	PLACE(OF_ROOT, "/var/lib/xml-core"),
	PLACE(OF_HOME, "/.cache/node"),
	PLACE(OF_HOME, "/.cargo"),
	PLACE(OF_HOME, "/.config/git"),
	PLACE(OF_HOME, "/.m2"),
	PLACE(OF_HOME, "/.pip"),
	PLACE(OF_HOME, "/.vim"),
	PLACE(OF_HOME, "/.yarn"),
#undef PLACE
};

/* A place below the home directory as if that were the root; else of no
 * length. */
static struct sbx_place
below_home(const struct binding *binding, struct sbx_place at)
{
	struct sbx_place home = binding->anchors[SBX_ANCHOR_HOME];

	if (!binding->bound[SBX_ANCHOR_HOME] || !sbx_covers(home, at))
		return (struct sbx_place){ "", 0 };
	return (struct sbx_place){ at.path + home.len, at.len - home.len };
}

static bool
is_quiet(const struct binding *binding, const struct sbx_rule *rule)
{
	struct sbx_place in_home = below_home(binding, rule->at);
	struct sbx_place workspace = binding->anchors[SBX_ANCHOR_WORKSPACE];

	/* A toolchain: programs are run from there.  But what people work on has
	 * servers as well. */
	if ((rule->rights & SBX_EXEC) != 0 && in_home.len > 0)
		return workspace.len == 0 ||
		    (!sbx_covers(workspace, rule->at) &&
			!sbx_covers(rule->at, workspace));
	for (size_t i = 0; i < countof(quiet); i++) {
		if (sbx_covers(quiet[i].at,
			quiet[i].base == OF_HOME ? in_home : rule->at))
			return true;
	}
	return false;
}

/* Nobody but sandboxes of this policy puts anything there. */
static bool
is_scratch(const struct binding *binding, struct sbx_place at)
{
	return binding->scratch.len > 0 && sbx_covers(binding->scratch, at);
}

static bool
may_hold_sockets(const struct site *site)
{
	struct stat status;

	return site->fd < 0 || fstat(site->fd, &status) != 0 ||
	    S_ISDIR(status.st_mode) || S_ISSOCK(status.st_mode);
}

bool
bind_shows_services(const struct binding *binding, bool written)
{
	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (rule->effect == SBX_ALLOW && rule->rights != 0 &&
		    binding->sites[i].state == RULE_READY &&
		    !is_quiet(binding, rule) &&
		    may_hold_sockets(&binding->sites[i]) &&
		    !is_scratch(binding, rule->at) &&
		    rule_index_allows(binding->index, SBX_WRITE, rule->at) ==
			written)
			return true;
	}
	return false;
}

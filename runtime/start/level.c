/*
 * The level of a run.
 */
#include "runtime/start/start.h"

#include "runtime/base/out.h"

static enum sbx_level
choose(const struct options *options, enum sbx_level best)
{
	enum sbx_level level = options->level >= 0 ?
	    (enum sbx_level)options->level :
	    best;

	if (level > best)
		refuse(level_name(level),
		    "this machine does not give that level; see sbxrun "
		    "--status",
		    0);
	return level;
}

/* Only a policy that states no floor may be run below the built-in one, and
 * only if a person typed --accept none. */
static void
check_floor(const struct options *options, const struct sbx_blob *blob,
    enum sbx_level level)
{
	const struct sbx_meta *meta = blob->meta;
	bool stated = meta->level_source != SBX_NO_SOURCE;

	if (level >= meta->level || (options->accept_none && !stated))
		return;
	if (stated)
		refuse_at(blob, meta->level_source,
		    "the policy requires a higher level than this run has; "
		    "see sbxrun --status",
		    0);
	refuse(NULL,
	    "the kernel offers no protection here (see sbxrun --status); "
	    "--accept none runs without",
	    0);
}

enum sbx_level
level_choose(const struct options *options, const struct sbx_blob *blob,
    const struct machine *machine)
{
	const struct sbx_meta *meta = blob->meta;
	bool everything = (meta->flags & SBX_EVERYTHING) != 0;
	enum sbx_level level, best = machine_level(machine);

	if (everything && !options->allow_full_access)
		refuse(options->policy,
		    "this policy allows everything: --allow-full-access runs "
		    "it",
		    0);
	/* If everything is allowed, level full would protect no more. */
	if (everything && best > SBX_LEVEL_STANDARD)
		best = SBX_LEVEL_STANDARD;
	level = choose(options, best);
	check_floor(options, blob, level);
	if (machine->landlock_abi < meta->landlock ||
	    (meta->landlock > 0 && level < SBX_LEVEL_STANDARD))
		refuse_at(blob, meta->landlock_source,
		    "the policy requires a newer Landlock than this run has; "
		    "see sbxrun --status",
		    0);
	return level;
}

/* See texts.h. */
#include "compiler/texts.h"

enum { MAX_HOLES = 4 }; /* that are spelled out */

const char *
effect_text(enum sbx_effect effect)
{
	static const char *const texts[] = {
		[SBX_ALLOW] = "allow",
		[SBX_DENY] = "deny",
		[SBX_PREFER_DENY] = "prefer deny",
	};

	return texts[effect];
}

/* The word that gave an allow its rights, or that a deny takes. */
static const char *
right_text(const struct path_rule *rule)
{
	if (rule->effect != SBX_ALLOW && rule->rights == SBX_RIGHTS)
		return "read";
	return (rule->rights & SBX_WRITE) != 0 ? "write" :
	    (rule->rights & SBX_EXEC) != 0 ? "exec" : "read";
}

/* " except /a", " except { /a /b }", or nothing. */
static const char *
holes_text(const struct policy *policy, const struct path_rule *rule,
    const struct target *more)
{
	size_t count = rule->hole_count + (more != NULL);
	const char *text = "";

	for (size_t i = 0; i < rule->hole_count && i < MAX_HOLES; i++)
		text = arena_printf(policy->arena, "%s %s", text,
		    policy_target_text(policy, rule->holes[i]));
	if (rule->hole_count > MAX_HOLES)
		text = arena_printf(policy->arena, "%s ...", text);
	if (more != NULL)
		text = arena_printf(policy->arena, "%s %s", text,
		    policy_target_text(policy, *more));
	if (count == 0)
		return "";
	return arena_printf(policy->arena,
	    count == 1 ? " except%s" : " except {%s }", text);
}

const char *
path_rule_text(const struct policy *policy, const struct path_rule *rule,
    const struct target *more)
{
	return arena_printf(policy->arena, "%s %s %s%s",
	    effect_text(rule->effect), right_text(rule),
	    policy_target_text(policy, rule->at),
	    holes_text(policy, rule, more));
}

const char *
port_rule_text(const struct policy *policy, const struct port_rule *rule)
{
	const char *ports = rule->low == rule->high ?
	    arena_printf(policy->arena, "%u", (unsigned)rule->low) :
	    arena_printf(policy->arena, "%u-%u", (unsigned)rule->low,
	    (unsigned)rule->high);

	return arena_printf(policy->arena, "%s network %s tcp %s",
	    effect_text(rule->effect),
	    rule->op == SBX_CONNECT_TCP ? "connect" : "listen", ports);
}

const char *
syscall_rule_text(const struct policy *policy,
    const struct syscall_rule *rule)
{
	return arena_printf(policy->arena, "%s syscalls %s%s",
	    effect_text(rule->effect), rule->group ? "@" : "", rule->name);
}

const char *
env_rule_text(const struct policy *policy, const struct env_rule *rule)
{
	return arena_printf(policy->arena, "%s env %s",
	    effect_text(rule->effect), rule->pattern);
}

const char *
freedom_rule_text(const struct policy *policy,
    const struct freedom_rule *rule)
{
	static const char *const words[FREEDOM_END] = {
#define FREEDOM(text, kind) [kind] = text,
#include "compiler/tables/words.def"
	};

	return arena_printf(policy->arena, "%s %s",
	    effect_text(rule->effect), words[rule->kind]);
}

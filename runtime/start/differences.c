/*
 * Whether a command line agrees with the session that it joins.
 */
#include "runtime/start/start.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* A difference: what was given, and what the session has. */
__attribute__((noreturn)) static void
refuse_other(const struct offer *offer, const char *given, const char *what,
    const char *own)
{
	const char *name = offer_text(offer, offer->head->name);
	struct out text;

	out_init(&text, -1);
	if (strcmp(given, own) == 0) {
		out_text(&text,
		    "the policy changed after the session was made");
	} else {
		out_print(&text, "the session has another %s: ", what);
		out_shown(&text, own, strlen(own));
	}
	/* One of libsbx has no name. */
	if (*name != '\0')
		out_print(&text, "; --session %s --end ends the session", name);
	refuse(given, text.text, 0);
}

/* An anchor whose path leads to another place than when the session was made. */
static const char *
find_replaced(const struct offer *offer)
{
	const struct offer_head *head = offer->head;
	struct stat now;

	for (uint32_t i = 0; i < SBX_MAX_ANCHORS; i++) {
		const char *path = offer_text(offer, head->anchors[i]);

		if ((i != SBX_ANCHOR_WORKSPACE && i < SBX_ANCHOR_PARAM) ||
		    !head->bound[i] || head->inode[i] == 0)
			continue;
		if (stat(path, &now) != 0 || now.st_dev != head->device[i] ||
		    now.st_ino != head->inode[i])
			return path;
	}
	return NULL;
}

static bool
is_policy(struct sandbox *sandbox, const struct offer *offer)
{
	const struct offer_head *head = offer->head;

	return policy_is(&sandbox->options, &sandbox->arena,
	    (const char *)head + head->blob_at, head->blob_size,
	    &sandbox->loaded);
}

/* What the session has, where something is to be staged elsewhere, or is not to be
 * staged; or NULL. */
static const char *
other_stage(const struct options *options, const struct offer *offer)
{
	const char *own = offer_text(offer, offer->head->stage);

	if (!options->staging)
		return options->own_session && *own != '\0' ? own : NULL;
	if (*own == '\0')
		return "none";
	return options->stage != NULL && strcmp(options->stage, own) != 0 ?
	    own :
	    NULL;
}

const char *
differences_outdated(struct sandbox *sandbox, const struct offer *offer)
{
	const char *policy = sandbox->options.policy;

	if (policy != NULL && !is_policy(sandbox, offer))
		return policy;
	if (other_stage(&sandbox->options, offer) != NULL)
		return "--stage";
	return find_replaced(offer);
}

static void
check_policy(struct sandbox *sandbox, const struct offer *offer)
{
	const struct options *options = &sandbox->options;
	const struct offer_head *head = offer->head;

	if (options->policy != NULL && !is_policy(sandbox, offer))
		refuse_other(offer, options->policy, "policy",
		    offer_text(offer, head->policy));
	if (options->expect != NULL &&
	    strcasecmp(options->expect, head->digest) != 0)
		refuse_other(offer, options->expect, "policy", head->digest);
}

/* By what is there, since a path can be written in many ways. */
static bool
is_place(const char *given, const struct offer *offer, uint32_t anchor)
{
	const char *own = offer_text(offer, offer->head->anchors[anchor]);
	struct stat here, there;

	return offer->head->bound[anchor] && stat(given, &here) == 0 &&
	    stat(*own != '\0' ? own : "/", &there) == 0 &&
	    here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

static void
check_workspace(const struct options *options, const struct offer *offer)
{
	struct offer_text own = offer->head->anchors[SBX_ANCHOR_WORKSPACE];

	if (options->workspace != NULL &&
	    strcmp(options->workspace, "none") == 0 &&
	    !offer->head->bound[SBX_ANCHOR_WORKSPACE])
		return;
	if (options->workspace != NULL &&
	    !is_place(options->workspace, offer, SBX_ANCHOR_WORKSPACE))
		refuse_other(offer, options->workspace, "workspace",
		    offer_text(offer, own));
}

static uint32_t
find_parameter(const struct sbx_blob *blob, const struct definition *given)
{
	for (uint32_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count; i++) {
		const char *name = sbx_string(blob, blob->anchors[i].name);

		if (strncmp(name, given->text, given->name_len) == 0 &&
		    name[given->name_len] == '\0')
			return i;
	}
	return SBX_NO_ANCHOR;
}

static void
check_limits(const struct options *options, const struct offer *offer)
{
	/* A command may have a time and an output of its own: its sbxrun holds
	 * them, and not the session. */
	for (uint16_t kind = 0; kind < SBX_LIMIT_END; kind++) {
		bool own_of_command = kind == SBX_LIMIT_TIMEOUT ||
		    kind == SBX_LIMIT_OUTPUT;
		const struct limit_choice *choice = &options->limits[kind];
		const struct sbx_limit *own = limit_here(&offer->blob, kind);
		struct out text;

		if (!choice->given || own_of_command ||
		    (choice->lifted ?
			    own == NULL :
			    own != NULL && own->value == choice->value))
			continue;
		out_init(&text, -1);
		if (own == NULL)
			out_print(&text, "%s none", limit_name(kind));
		else
			out_limit(&text, own);
		refuse_other(offer, "--limit", "limit", text.text);
	}
}

void
differences_refuse(struct sandbox *sandbox, const struct offer *offer)
{
	const struct options *options = &sandbox->options;
	const char *replaced = find_replaced(offer);

	check_policy(sandbox, offer);
	if (replaced != NULL)
		refuse_other(offer, replaced, "directory", replaced);
	check_workspace(options, offer);
	for (uint32_t i = 0; i < options->definition_count; i++) {
		const struct definition *given = &options->definitions[i];
		uint32_t anchor = find_parameter(&offer->blob, given);

		if (anchor == SBX_NO_ANCHOR)
			refuse(given->text,
			    "the session's policy has no such parameter", 0);
		if (!is_place(given->text + given->name_len + 1, offer, anchor))
			refuse_other(offer, given->text, "value",
			    offer_text(offer, offer->head->anchors[anchor]));
	}
	if (options->level >= 0 && options->level != (int)offer->head->level)
		refuse_other(offer, level_name((enum sbx_level)options->level),
		    "level", level_name((enum sbx_level)offer->head->level));
	check_limits(options, offer);
	if (options->staging && other_stage(options, offer) != NULL)
		refuse_other(offer, "--stage", "stage",
		    other_stage(options, offer));
}

/*
 * AF_UNIX sockets by path: `allow socket ${ssh-agent}`.  Such a rule is about
 * connecting alone, to the place and to what lies below it, and counts before
 * those about paths.  Where no such rule speaks of a socket, the command may
 * connect to what it may write.
 *
 * The agent of ssh has no place until the loader looks at SSH_AUTH_SOCK: its
 * target has no anchor.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/check/check.h"
#include "compiler/compare/compare.h"
#include "compiler/lower/lower.h"
#include "compiler/policy/kind.h"
#include "compiler/query/why.h"

#include <string.h>
#include <sys/stat.h>

static const char agent_text[] = "${ssh-agent}";

static bool
is_agent(struct target at)
{
	return at.anchor == SBX_NO_ANCHOR;
}

static const char *
place_text(const struct policy *policy, struct target at)
{
	return is_agent(at) ? agent_text : policy_target_text(policy, at);
}

/* --- statements ----------------------------------------------------------- */

static bool
read_places(struct scope *scope, const struct ast_atom *atom, uint8_t platforms,
    struct place_list *places)
{
	struct symbol *symbol = NULL;
	const char *rest = atom->kind == AST_PATH ?
	    scope_split(scope, atom, &symbol) :
	    "";

	if (rest == NULL)
		return false;
	if (symbol == NULL || symbol->kind != SYMBOL_AGENT || *rest != '\0')
		return scope_paths(scope, atom, platforms, places);
	*arena_push(scope->arena, &places->places) = (struct place){
		.at = { arena_intern(scope->arena, "", 0), SBX_NO_ANCHOR },
		.platforms = platforms,
	};
	return true;
}

static void
socket_object(struct expansion *expansion, const struct ast_atom *atom,
    const struct item *base, struct item_list *list)
{
	struct place_list places = { 0 };

	if (place_no_glob(expansion, atom, "socket",
		"name the socket, or the directory: it stands for the sockets "
		"in it") &&
	    read_places(&expansion->scope, atom, base->rule.origin.platforms,
		&places))
		place_items(expansion, atom, &places, base, list);
}

static void
socket_expand(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	for (; atom != NULL; atom = object_next(stmt, atom))
		socket_object(expansion, atom, base, list);
}

static const char *
socket_text(const struct policy *policy, const struct rule *rule)
{
	return arena_printf(policy->arena, "%s %s %s",
	    effect_word(rule->effect), what_words(KIND_SOCKET, rule->detail),
	    place_text(policy, rule->path.at));
}

static void
socket_state(struct builder *builder, const struct rule *rule)
{
	struct ast_stmt *stmt = stmt_add_rule(builder, &rule->origin,
	    rule->effect, what_words(KIND_SOCKET, rule->detail));

	ast_list_add(&stmt->objects,
	    place_atom(builder, place_text(builder->policy, rule->path.at)));
}

/* Rules of one place; those whose trees lie in each other are left alone. */
static void
socket_spans(struct arena *arena, const struct rule *rule,
    struct rule_spans *spans)
{
	const struct target at = rule->path.at;
	const char *name = arena_printf(arena, "%u%s", at.anchor, at.suffix);

	*arena_push(arena, &spans->list) = (struct rule_span){
		.name = arena_intern(arena, name, strlen(name)),
	};
}

/* --- records -------------------------------------------------------------- */

static void
socket_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	const struct sbx_socket *socket = record;

	fprintf(stream, "%s %s ", effect_word(socket->effect),
	    what_words(KIND_SOCKET, socket->flags));
	if (socket->form == SBX_SOCKET_SSH_AGENT)
		fputs(agent_text, stream);
	else
		show_place(stream, blob, socket->anchor, socket->suffix);
}

static void
socket_fill(struct emitter *emitter, const struct rule *rule, void *record)
{
	struct sbx_socket *socket = record;
	struct target at = rule->path.at;

	socket->form = is_agent(at) ? SBX_SOCKET_SSH_AGENT : SBX_SOCKET_PLACE;
	socket->suffix = emit_string(emitter, at.suffix);
	socket->anchor = at.anchor;
	socket->effect = (uint8_t)rule->effect;
	socket->flags = rule->detail;
	emit_anchor(emitter, at.anchor);
}

/* --- questions ------------------------------------------------------------ */

static const char *
socket_ask(const struct places *places, const char *object,
    struct access *access)
{
	if (strcmp(object, agent_text) != 0)
		return place_ask(places, object, access);
	access->path = places->agent;
	if (places->here && !places_is_no_agent(places, places->agent))
		access->followed = places_followed(places, places->agent.path);
	return NULL;
}

static void
socket_show_access(FILE *stream, const struct access *access)
{
	const char *path = access->path.path;

	if (access->path.len == 0)
		path = "/";
	/* An agent that no variable names yet. */
	show_text(stream, path + (strcmp(path + 1, agent_text) == 0));
}

/* The path is the one that links lead to. */
static bool
is_plain_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Of the agent's own socket: what is wrong with it on this machine. */
static void
answer_agent(const struct why *why)
{
	const struct places *places = &why->subject->places;

	if (sbx_place_compare(why->access->path, places->agent) != 0)
		return;
	why_say_no_agent(why);
	if (places->agent_fault == NULL &&
	    places_is_no_agent(places, why->access->path))
		fputs("    SSH_AUTH_SOCK names no socket\n", why->stream);
}

static void
socket_answer(const struct why *why)
{
	const struct followed *followed = why->access->followed;

	if (why->verdict.by == BY_NO_PATHS)
		fputs("    at level minimal no AF_UNIX socket opens, since a "
		      "filter sees no path\n",
		    why->stream);
	else if (why->verdict.by == BY_SHUT)
		fprintf(why->stream,
		    "    no AF_UNIX socket is made here at level %s: the "
		    "policy opens the network of the host, so that sbxrun does "
		    "not connect for the command, and Landlock has not ABI 9\n",
		    level_word(why->subject->level));
	else if (why->verdict.by == BY_OUTSIDE)
		fputs(
		    "    what may be written may be connected to if its server "
		    "runs in the same sandbox, and this one runs outside\n",
		    why->stream);
	else
		why_say_decider(why, &why->verdict);
	answer_agent(why);
	if (!why->verdict.allowed)
		return;
	if (why->verdict.by == BY_PATH && socket_is_unwatched(why->subject))
		fputs("    what may be written may be connected to, wherever "
		      "its server runs: the policy opens the network of the "
		      "host, so that sbxrun does not look\n",
		    why->stream);
	else if (why->verdict.by == BY_PATH)
		fputs("    what may be written may be connected to, at level "
		      "full if its server runs in the same sandbox\n",
		    why->stream);
	if (why->blob->meta->level < SBX_LEVEL_FULL)
		fputs("    but where sbxrun cannot answer connect(2) and "
		      "Landlock has not ABI 9, no AF_UNIX socket opens (level "
		      "standard)\n",
		    why->stream);
	if (followed != NULL && !followed->there)
		fputs("    but nothing is there\n", why->stream);
	else if (followed != NULL && is_plain_file(why->access->path.path))
		fputs("    but what is there is no socket\n", why->stream);
}

static const char *
socket_enforcer(const struct why *why, enum sbx_level level)
{
	(void)why;
	if (level == SBX_LEVEL_NONE)
		return NULL;
	if (level == SBX_LEVEL_MINIMAL)
		return "the filter, which opens no AF_UNIX socket";
	return level == SBX_LEVEL_FULL ?
	    "the view, or sbxrun, which answers connect(2)" :
	    "sbxrun, which answers connect(2), or Landlock from ABI 9 on, else "
	    "the filter, which opens no AF_UNIX socket";
}

/* Lifts the denies of a socket; whether a rule allows it. */
static bool
lift_sockets(struct remedy *remedy)
{
	const struct places *places = &remedy->subject->places;
	const struct sbx_blob *blob = remedy->blob;
	bool given = false;

	for (uint32_t i = 0; i < blob->socket_count; i++) {
		const struct sbx_socket *socket = &blob->sockets[i];
		struct sbx_rule rule = places_socket(places, socket, false);
		struct sbx_rule other = places_socket_has_other(places,
					    socket) ?
		    places_socket(places, socket, true) :
		    rule;

		if ((socket->platforms & remedy->subject->arch->platforms) ==
			0 ||
		    (!sbx_rule_covers(&rule, remedy->access->path) &&
			!sbx_rule_covers(&other, remedy->access->path)))
			continue;
		if (socket->effect == SBX_ALLOW)
			given = true;
		else
			remedy_lift(remedy, socket->source,
			    record_text(remedy->arena, blob, &kind_socket,
				socket));
	}
	return given;
}

static struct rule
rule_for(const struct places *places, struct sbx_place path)
{
	uint16_t anchor = places_anchor(places, path);
	struct rule rule = {
		.origin = { .platforms = SBX_ON_ALL },
		.effect = SBX_ALLOW,
		.kind = KIND_SOCKET,
	};

	rule.path.at = (struct target){
		path.path + places->anchors[anchor].len,
		anchor,
	};
	return rule;
}

static void
socket_remedy(struct remedy *remedy)
{
	const struct places *places = &remedy->subject->places;
	struct sbx_place path = remedy->access->path;
	const struct policy empty = { .arena = remedy->arena };
	const struct rule rule = rule_for(places, path);
	const char *spelled, *behind;

	/* Another level is what is missing there. */
	if (remedy->verdict->by == BY_NO_PATHS)
		return;
	if (remedy->verdict->by == BY_SHUT) {
		remedy_add(remedy, REMEDY_NONE,
		    "name what the network is for, as 'allow network domain "
		    "NAME' does: then sbxrun connects");
		return;
	}
	if (sbx_place_compare(path, places->agent) == 0 && remedy_agent(remedy))
		return;
	if (lift_sockets(remedy) ||
	    (remedy->verdict->by != BY_OUTSIDE &&
		path_verdict(remedy->subject, remedy->access).allowed &&
		!places_is_no_agent(places, path)))
		return;
	if (sbx_place_compare(path, places->agent) == 0) {
		remedy_add(remedy, REMEDY_ADD, "allow socket %s", agent_text);
		return;
	}
	spelled = spelled_path(remedy->arena, places_spell(places, path));
	behind = risk_of_socket(&empty, &rule);
	if (behind != NULL)
		remedy_add(remedy, REMEDY_NONE,
		    "%s does what it is asked, outside of the sandbox; only "
		    "'allow socket unconfined %s' opens it",
		    behind, spelled != NULL ? spelled : "PATH");
	else if (spelled == NULL)
		remedy_add(remedy, REMEDY_NONE, "no policy can hold its path");
	else
		remedy_add(remedy, REMEDY_ADD, "allow socket %s", spelled);
}

static const struct access_form socket_forms[] = {
	{ "socket", NULL, SBX_WRITE },
	{ NULL, NULL, 0 },
};

const struct rule_kind kind_socket = {
	.id = KIND_SOCKET,
	.noun = "a path",
	.expand = socket_expand,
	.equals = place_equals,
	.hash = place_hash,
	.spans = socket_spans,
	.text = socket_text,
	.state = socket_state,
	.show = socket_show,
	.section = SBX_SECTION_SOCKETS,
	.section_name = "the rules of sockets",
	.record = {
		RECORD_LAYOUT(struct sbx_socket),
		.order = {
			RECORD_FIELD(struct sbx_socket, anchor),
			RECORD_FIELD(struct sbx_socket, suffix),
			RECORD_FIELD(struct sbx_socket, effect),
			RECORD_FIELD(struct sbx_socket, flags),
			RECORD_FIELD(struct sbx_socket, source),
		},
	},
	.fill = socket_fill,
	.forms = socket_forms,
	.usage = "socket PATH",
	.ask = socket_ask,
	.show_access = socket_show_access,
	.verdict = socket_verdict,
	.answer = socket_answer,
	.enforcer = socket_enforcer,
	.remedy = socket_remedy,
	.difference = {
		.word = "socket",
		.title = "sockets",
	},
};

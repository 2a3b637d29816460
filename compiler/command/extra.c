/*
 * See commands.h.  A rule is parsed alone first, so that no text can end the profile
 * and go on with statements of another kind.  It joins the policy as a blob has
 * it, whatever that was made of: a deny of the policy stays one, and beats it.
 */
#include "compiler/command/commands.h"
#include "compiler/query/why.h"
#include "compiler/read/read.h"
#include "compiler/write/write.h"

#include <string.h>

/* The file that a source of such a rule has. */
static const char *
mark(struct arena *arena, const char *effect)
{
	return arena_printf(arena, "--%s", effect);
}

bool
extra_complain(const struct diags *diags, uint32_t begin, uint32_t end,
    const char *rule)
{
	for (size_t i = 0; i < diags->records.count; i++) {
		const struct diag *diag = &diags->records.items[i];

		if (diag->severity == SEVERITY_ERROR &&
		    (diag->loc.begin < begin || diag->loc.begin > end))
			return false;
	}
	for (size_t i = 0; i < diags->records.count; i++) {
		const struct diag *diag = &diags->records.items[i];

		if (diag->severity == SEVERITY_ERROR)
			complain("in the rule %s: %s%s%s [%s]",
			    shown_text(diags->arena, rule), diag->message,
			    diag->help != NULL ? ": " : "",
			    diag->help != NULL ? diag->help : "",
			    diag_code(diag->id));
	}
	return diags->errors > 0;
}

/* `sbxc why` and denials call them by one word: "domain example.org". */
static const char *
with_network(struct arena *arena, const char *text)
{
	static const char *const words[] = { "connect", "domain", "host",
		"listen", "publish" };
	const char *rule = text + strcspn(text, " ");

	rule += strspn(rule, " ");
	for (size_t i = 0; i < countof(words); i++) {
		size_t len = strlen(words[i]);

		if (strncmp(rule, words[i], len) == 0 && rule[len] == ' ')
			return arena_printf(arena, "%.*snetwork %s",
			    (int)(rule - text), text, rule);
	}
	return text;
}

const struct ast_stmt *
extra_parse(const struct options *options, const char *option, const char *text)
{
	const char *whole = arena_printf(options->arena,
	    "sbx 1\nprofile command-line {\n%s\n}\n",
	    with_network(options->arena, text));
	struct compilation *compilation = arena_alloc(options->arena,
	    sizeof *compilation);
	const struct ast_stmt *profile = NULL, *stmt;
	const struct source *source;

	compilation_init(compilation, options->arena);
	source = sources_add(&compilation->sources,
	    mark(options->arena, option), whole, strlen(whole),
	    (struct loc){ 0 });
	if (source != NULL)
		profile = ast_parse_alone(&compilation->sources,
		    &compilation->diags, source);
	if (compilation->diags.errors > 0) {
		extra_complain(&compilation->diags, 0, UINT32_MAX, text);
		return NULL;
	}
	if (profile != NULL && profile->kind == AST_VERSION)
		profile = profile->next;
	stmt = profile != NULL ? profile->body : NULL;
	if (stmt != NULL && stmt->next == NULL && profile->next == NULL &&
	    (stmt->kind == AST_RULE || stmt->kind == AST_USE) && !stmt->drop &&
	    stmt->from == NULL)
		return stmt;
	misused("%s takes one rule, such as 'read ~/data', and not '%s'",
	    mark(options->arena, option), shown_text(options->arena, text));
	return NULL;
}

static void
write_statement(FILE *stream, const void *context)
{
	write_sbx_statement(stream, context);
}

const char *
extra_text(struct arena *arena, const struct ast_stmt *stmt)
{
	const char *text = show_to_text(arena, write_statement, stmt);
	size_t len = strlen(text);

	while (len > 0 && text[len - 1] == '\n')
		len--;
	return arena_strndup(arena, text, len);
}

/* One of them as a line of the policy; NULL after complaining. */
static const char *
rule_line(const struct options *options, const char *effect, const char *rule,
    size_t number, const char *profile)
{
	const struct ast_stmt *stmt = extra_parse(options, effect,
	    arena_printf(options->arena, "%s %s", effect, rule));

	if (stmt == NULL)
		return NULL;
	return arena_printf(options->arena, "%s from \"%s:%zu:1 (%s)\"\n",
	    extra_text(options->arena, stmt), mark(options->arena, effect),
	    number, profile);
}

static const char *
add_lines(const struct options *options, const char *effect,
    const struct words *rules, const char *profile, const char *lines)
{
	for (size_t i = 0; i < rules->list.count && lines != NULL; i++) {
		const char *line = rule_line(options, effect,
		    rules->list.items[i], i + 1, profile);

		lines = line == NULL ?
		    NULL :
		    arena_printf(options->arena, "%s%s", lines, line);
	}
	return lines;
}

/* The text of a blob, with the lines before its last brace. */
static const char *
text_with(const struct options *options, const struct sbx_blob *blob,
    const char *lines)
{
	uint32_t end = blob->text_size;

	while (end > 0 && blob->text[end - 1] != '}')
		end--;
	return arena_printf(options->arena, "%.*s%s}\n",
	    end > 0 ? (int)end - 1 : 0, blob->text, lines);
}

/* A mistake in a rule is shown in it, and not in the whole that nobody wrote;
 * what a rule names of the policy (parameters) is no mistake of its own. */
static bool
is_wrong_alone(const struct options *options, const char *effect,
    const struct words *rules)
{
	for (size_t i = 0; i < rules->list.count; i++) {
		struct compilation *alone = arena_alloc(options->arena,
		    sizeof *alone);
		const char *text = arena_printf(options->arena,
		    "sbx 1\nprofile command-line {\n%s %s\n}\n", effect,
		    rules->list.items[i]);
		struct image image;

		compilation_init(alone, options->arena);
		compilation_parse(alone,
		    sources_add(&alone->sources, mark(options->arena, effect),
			text, strlen(text), (struct loc){ 0 }));
		if (!compile(alone, NULL, &image)) {
			extra_complain(&alone->diags, 0, UINT32_MAX,
			    arena_printf(options->arena, "%s %s", effect,
				rules->list.items[i]));
			return true;
		}
	}
	return false;
}

enum exit_status
extra_apply(const struct options *options, struct operand *operand)
{
	const char *profile = sbx_string(&operand->blob,
	    operand->blob.meta->profile);
	struct compilation *compilation = arena_alloc(options->arena,
	    sizeof *compilation);
	const char *lines = "", *text;
	struct image image;

	if (options->allowed.list.count + options->denied.list.count == 0)
		return EXIT_CLEAN;
	if ((operand->blob.meta->flags & SBX_EVERYTHING) != 0) {
		complain("the policy allows everything: no rule changes that");
		return EXIT_POLICY;
	}
	lines = add_lines(options, "allow", &options->allowed, profile, lines);
	if (lines != NULL)
		lines = add_lines(options, "deny", &options->denied, profile,
		    lines);
	if (lines == NULL)
		return EXIT_USAGE;
	text = text_with(options, &operand->blob, lines);
	compilation_init(compilation, options->arena);
	compilation_parse(compilation,
	    sources_add(&compilation->sources, "policy", text, strlen(text),
		(struct loc){ 0 }));
	if (compile(compilation, NULL, &image) &&
	    sbx_verify(image.bytes, image.size, &operand->blob) == SBX_BLOB_OK)
		return EXIT_CLEAN;
	if (strchr(lines, '$') != NULL ||
	    (!is_wrong_alone(options, "allow", &options->allowed) &&
		!is_wrong_alone(options, "deny", &options->denied)))
		options_print(options, &compilation->diags);
	return EXIT_POLICY;
}

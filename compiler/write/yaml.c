/*
 * Statements as YAML and as JSON, see read.h: each is a text in the
 * layout of the language.
 *
 *	sbx: 1                            {
 *	profiles:                           "sbx": 1,
 *	  team:                             "profiles": {
 *	    rules:                            "team": {
 *	      - deny read /srv/keys             "rules": [
 *	                                          "deny read /srv/keys"
 *
 * The statements of a file come first, then groups, then profiles; where a
 * name stands twice, all of them are texts.
 *
 * Where the text is at hand that the statements were read from, the comments
 * above a statement and behind it are put above it.
 */
#include "compiler/base/base.h"
#include "compiler/write/write.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct printer {
	FILE *stream;
	const struct source *source; /* or NULL */
	bool json;                   /* JSON, where each text has quotes */
};

/* --- comments ------------------------------------------------------------- */

/* Where the line begins that stands above the one that begins here. */
static const char *
line_above(const struct source *source, const char *line)
{
	if (line == source->text)
		return NULL;
	for (line--; line > source->text && line[-1] != '\n';)
		line--;
	return line;
}

static bool
is_comment(const char *line)
{
	return line[strspn(line, " \t")] == '#';
}

static void
put_comment(const struct printer *printer, const char *line, int indent)
{
	size_t len;

	line += strspn(line, " \t");
	len = strcspn(line, "\r\n");
	fprintf(printer->stream, "%*s%.*s\n", indent, "", (int)len, line);
}

/* Prints the comments that belong to the statement. */
static void
put_comments(const struct printer *printer, const struct ast_stmt *stmt,
    int indent)
{
	const struct source *source = printer->source;
	const char *line, *first, *above;

	if (source == NULL || stmt->loc.begin == 0)
		return;
	line = source->text + (stmt->loc.begin - source->base);
	while (line > source->text && line[-1] != '\n')
		line--;
	for (first = line;
	     (above = line_above(source, first)) != NULL && is_comment(above);)
		first = above;
	for (; first < line; first += strcspn(first, "\n") + 1)
		put_comment(printer, first, indent);
	line = source->text + (stmt->loc.end - source->base);
	line += strspn(line, " \t{:");
	if (*line == '#')
		put_comment(printer, line, indent);
}

/* --- texts ---------------------------------------------------------------- */

/* What other readers of YAML take for something that is no text. */
static bool
is_typed(const char *text)
{
	static const char *const words[] = { "true", "false", "yes", "no", "on",
		"off", "null", "y", "n", "~" };

	for (size_t i = 0; i < countof(words); i++) {
		if (strcasecmp(words[i], text) == 0)
			return true;
	}
	return false;
}

/* Whether a text of one line needs no quotes. */
static bool
is_plain(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || strchr("-?:,[]{}#&*!|>'\"%@`=<. ", text[0]) != NULL ||
	    is_typed(text))
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == 0x7f)
			return false;
	}
	return strstr(text, ": ") == NULL && strstr(text, " #") == NULL &&
	    text[len - 1] != ':' && text[len - 1] != ' ';
}

/* Both forms have the escapes that are needed in common. */
static void
put_quoted(FILE *stream, const char *text)
{
	putc('"', stream);
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(stream, "\\%c", c);
		else if (c == '\n' || c == '\t')
			fputs(c == '\n' ? "\\n" : "\\t", stream);
		else if (c < ' ' || c == 0x7f)
			fprintf(stream, "\\u%04x", c);
		else
			putc(c, stream);
	}
	putc('"', stream);
}

/* Whether a block says it: its first line sets how far all are indented, and its
 * end is cut. */
static bool
is_block(const char *text)
{
	size_t len = strlen(text);

	if (strchr(text, '\n') == NULL || text[0] == ' ' || text[0] == '\n' ||
	    text[len - 1] == '\n')
		return false;
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c < ' ' && c != '\n') || c == 0x7f)
			return false;
	}
	return true;
}

/* Over several lines it is a block in YAML, which keeps them. */
static void
put_text(const struct printer *printer, const char *text, int indent)
{
	bool block = is_block(text);

	if (printer->json || (!block && !is_plain(text))) {
		put_quoted(printer->stream, text);
		return;
	}
	if (!block) {
		fputs(text, printer->stream);
		return;
	}
	fputs("|-", printer->stream);
	while (text != NULL) {
		size_t len = strcspn(text, "\n");

		fprintf(printer->stream, "\n%*s%.*s", indent + 2, "", (int)len,
		    text);
		text = text[len] == '\n' ? text + len + 1 : NULL;
	}
}

static void
put_statement(const struct printer *printer, const struct ast_stmt *stmt,
    int indent)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (stream == NULL)
		arena_exhausted();
	write_sbx_statement(stream, stmt);
	if (fclose(stream) != 0)
		arena_exhausted();
	while (size > 0 && text[size - 1] == '\n')
		text[--size] = '\0';
	put_text(printer, text, indent);
	free(text);
}

/* --- maps and lists ------------------------------------------------------- */

/* Begins an entry of a map: "KEY:", on a line of its own. */
static void
put_key(const struct printer *printer, const char *key, int indent, bool *first)
{
	fprintf(printer->stream, "%s%s%*s", !*first && printer->json ? "," : "",
	    *first && !printer->json ? "" : "\n", indent, "");
	put_text(printer, key, indent);
	fputs(":", printer->stream);
	*first = false;
}

static void
put_pair(const struct printer *printer, const char *key,
    const struct ast_atom *value, int indent, bool *first)
{
	if (value == NULL)
		return;
	put_key(printer, key, indent, first);
	putc(' ', printer->stream);
	put_text(printer, value->text, indent);
}

/* Which statements of a list are put: of a file not those that have keys. */
static bool
is_listed(const struct ast_stmt *stmt, bool file, bool blocks)
{
	return !file ||
	    (stmt->kind != AST_VERSION &&
		(!blocks ||
		    (stmt->kind != AST_GROUP_DEF &&
			stmt->kind != AST_PROFILE)));
}

static void
put_list(const struct printer *printer, const struct ast_stmt *stmts,
    int indent, bool file, bool blocks)
{
	FILE *stream = printer->stream;
	bool first = true;

	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		if (!is_listed(stmt, file, blocks))
			continue;
		if (printer->json)
			fputs(first ? " [" : ",", stream);
		putc('\n', stream);
		put_comments(printer, stmt, indent);
		fprintf(stream, "%*s%s", indent, "", printer->json ? "" : "- ");
		put_statement(printer, stmt, indent);
		first = false;
	}
	if (first)
		fputs(" []", stream);
	else if (printer->json)
		fprintf(stream, "\n%*s]", indent - 2, "");
}

static void
put_profile(const struct printer *printer, const struct ast_stmt *stmt,
    int indent)
{
	const struct ast_stmt *body = stmt->body;
	bool about = body != NULL && body->kind == AST_ABOUT, first = true;

	fputs(printer->json ? " {" : "\n", printer->stream);
	put_pair(printer, "extends", stmt->parent, indent, &first);
	put_pair(printer, "from", stmt->from, indent, &first);
	put_pair(printer, "about", about ? body->name : NULL, indent, &first);
	put_key(printer, "rules", indent, &first);
	put_list(printer, about ? body->next : body, indent + 2, false, false);
	if (printer->json)
		fprintf(printer->stream, "\n%*s}", indent - 2, "");
}

/* The groups or the profiles of a file. */
static void
put_blocks(const struct printer *printer, const struct ast_stmt *stmts,
    enum ast_kind kind, const char *key, bool *first)
{
	FILE *stream = printer->stream;
	bool any = true;

	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		if (stmt->kind != kind)
			continue;
		if (any) {
			if (!printer->json)
				putc('\n', stream);
			put_key(printer, key, printer->json ? 2 : 0, first);
			if (printer->json)
				fputs(" {", stream);
		} else if (!printer->json) {
			putc('\n', stream);
		}
		if (!printer->json) {
			putc('\n', stream);
			put_comments(printer, stmt, 2);
			any = true;
		}
		put_key(printer, stmt->name->text, printer->json ? 4 : 2, &any);
		if (kind == AST_PROFILE)
			put_profile(printer, stmt, printer->json ? 6 : 4);
		else
			put_list(printer, stmt->body, printer->json ? 6 : 4,
			    false, false);
	}
	if (printer->json && !any)
		fputs("\n  }", stream);
}

/* --- files ---------------------------------------------------------------- */

/* A map has each name once. */
static bool
are_blocks(const struct ast_stmt *stmts)
{
	struct arena *arena = arena_new();
	struct map groups = { 0 }, profiles = { 0 };
	bool once = true;

	for (const struct ast_stmt *stmt = stmts; stmt != NULL && once;
	     stmt = stmt->next) {
		struct map *map = stmt->kind == AST_PROFILE ? &profiles :
							      &groups;

		if (stmt->kind != AST_PROFILE && stmt->kind != AST_GROUP_DEF)
			continue;
		once = map_find(map, stmt->name->text) == NULL;
		map_put(arena, map, stmt->name->text, map);
	}
	arena_release(arena);
	return once;
}

static void
put_file(const struct printer *printer, const struct ast_stmt *stmts)
{
	bool blocks = are_blocks(stmts), listed = false, first = true;
	int indent = printer->json ? 2 : 0;

	if (printer->json)
		putc('{', printer->stream);
	if (stmts != NULL && stmts->kind == AST_VERSION) {
		put_comments(printer, stmts, 0);
		put_key(printer, "sbx", indent, &first);
		fprintf(printer->stream, " %s", stmts->words.first->text);
	}
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next)
		listed |= is_listed(stmt, true, blocks);
	if (listed) {
		if (!printer->json && !first)
			putc('\n', printer->stream);
		put_key(printer, "rules", indent, &first);
		put_list(printer, stmts, indent + 2, true, blocks);
	}
	if (blocks) {
		put_blocks(printer, stmts, AST_GROUP_DEF, "groups", &first);
		put_blocks(printer, stmts, AST_PROFILE, "profiles", &first);
	}
	fputs(printer->json ? "\n}\n" : "\n", printer->stream);
}

void
write_yaml_source(FILE *stream, const struct ast_stmt *stmts,
    const struct source *source)
{
	const struct printer printer = { .stream = stream, .source = source };

	put_file(&printer, stmts);
}

void
write_yaml(FILE *stream, const struct ast_stmt *stmts)
{
	write_yaml_source(stream, stmts, NULL);
}

void
write_json(FILE *stream, const struct ast_stmt *stmts)
{
	const struct printer printer = { .stream = stream, .json = true };

	put_file(&printer, stmts);
}

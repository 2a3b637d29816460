/*
 * The text that `sbxc allow` changes, and what it was: see allow.c.  A new rule is
 * the last one of its profile; of YAML the first one, since there no brace says
 * where the last one ends.
 */
#include "compiler/base/base.h"
#include "compiler/command/commands.h"
#include "compiler/setup/setup.h"
#include "compiler/write/write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Whether the mistakes are all in the rule, which is in no file yet; they are said
 * then. */
static bool
is_rule_wrong(const struct allowing *allowing,
    const struct compilation *compilation)
{
	uint32_t begin = compilation->file->base + allowing->begin;

	return allowing->end > allowing->begin &&
	    extra_complain(&compilation->diags, begin,
		compilation->file->base + allowing->end, allowing->rule);
}

bool
allowing_compile(const struct allowing *allowing, const char *text,
    struct operand *operand)
{
	struct compilation *compilation = &operand->compilation;
	struct source *source;
	struct options options = *allowing->options;

	compilation_init(compilation, allowing->arena);
	source = sources_add(&compilation->sources, allowing->text_path, text,
	    strlen(text), (struct loc){ 0 });
	if (source == NULL) {
		complain("'%s' is too long", allowing->text_path);
		return false;
	}
	source->path = allowing->text_path;
	source->name = path_name(allowing->text_path);
	compilation_parse(compilation, source);
	options.profile = allowing->profile != NULL ? allowing->profile :
						      options.profile;
	operand_compile(&options, operand);
	if (operand->state == OPERAND_GOOD)
		return true;
	if (!is_rule_wrong(allowing, compilation))
		options_print(allowing->options, &compilation->diags);
	return false;
}

bool
allowing_read(struct allowing *allowing)
{
	if (allowing->shipped != NULL) {
		operand_read(allowing->options,
		    arena_printf(allowing->arena, "@%s", allowing->shipped),
		    &allowing->old);
		allowing->text = arena_printf(allowing->arena,
		    "sbx 1\n\nprofile %s extends %s {\n}\n", allowing->profile,
		    allowing->shipped);
		return allowing->old.state == OPERAND_GOOD;
	}
	allowing->text = change_read(allowing->arena, allowing->text_path,
	    &allowing->text_status);
	if (allowing->text == NULL) {
		if (errno == 0)
			complain("cannot read '%s': %s", allowing->text_path,
			    strerror(ENOENT));
		return false;
	}
	if (!allowing_compile(allowing, allowing->text, &allowing->old))
		return false;
	allowing->blob_path = arena_printf(allowing->arena, "%.*s.bin",
	    (int)(strrchr(allowing->text_path, '.') - allowing->text_path),
	    allowing->text_path);
	if (fstatat(allowing->directory, path_name(allowing->blob_path),
		&allowing->blob_status, AT_SYMLINK_NOFOLLOW) != 0) {
		allowing->blob_path = NULL;
		return true;
	}
	if (S_ISREG(allowing->blob_status.st_mode))
		return operand_blob(allowing->arena, allowing->blob_path,
		    &allowing->old.blob);
	complain("'%s' is a link, or no file: whoever may write there could "
		 "choose what is written; compile the text yourself",
	    allowing->blob_path);
	return false;
}

static const struct ast_stmt *
find_profile(const struct allowing *allowing, const struct operand *operand)
{
	const char *wanted = sbx_string(&operand->blob,
	    operand->blob.meta->profile);

	for (const struct ast_stmt *stmt = operand->compilation.stmts;
	     stmt != NULL; stmt = stmt->next) {
		if (stmt->kind == AST_PROFILE &&
		    strcmp(stmt->name->text, wanted) == 0)
			return stmt;
	}
	complain("'%s' does not define profile %s itself: --for FILE names the "
		 "text that does",
	    allowing->text_path, wanted);
	return NULL;
}

/* The statement of the profile that says the same; or NULL. */
static const struct ast_stmt *
find_same(const struct allowing *allowing, const struct ast_stmt *profile)
{
	for (const struct ast_stmt *stmt = profile->body; stmt != NULL;
	     stmt = stmt->next) {
		if (strcmp(extra_text(allowing->arena, stmt), allowing->rule) ==
		    0)
			return stmt;
	}
	return NULL;
}

/* --- lines ---------------------------------------------------------------- */

static bool
is_yaml(const struct allowing *allowing)
{
	return strcmp(strrchr(allowing->text_path, '.'), ".sbx") != 0;
}

static size_t
line_begin(const char *text, size_t at)
{
	while (at > 0 && text[at - 1] != '\n')
		at--;
	return at;
}

static size_t
offset_of(const struct compilation *compilation, struct loc loc)
{
	return loc.begin - compilation->file->base;
}

/* The first entry of the list of rules: where its line begins, and how far it is
 * indented; false: there is no such list. */
static bool
find_entry(const struct compilation *compilation,
    const struct ast_stmt *profile, size_t *begin, size_t *indent)
{
	const char *text = compilation->file->text;

	for (const struct ast_stmt *stmt = profile->body; stmt != NULL;
	     stmt = stmt->next) {
		size_t at = offset_of(compilation, stmt->loc);

		*begin = line_begin(text, at);
		*indent = strspn(text + *begin, " ");
		if (text[*begin + *indent] == '-' && *begin + *indent < at)
			return true;
	}
	return false;
}

/* Puts a statement into the profile; NULL after complaining. */
static const char *
add_line(struct allowing *allowing, const struct compilation *compilation,
    const struct ast_stmt *profile, const char *statement)
{
	const char *text = compilation->file->text, *end, *quote = "";
	size_t at, indent = 4;
	bool yaml = is_yaml(allowing);

	if (yaml && !find_entry(compilation, profile, &at, &indent)) {
		complain("profile %s of '%s' has no list of rules, a line "
			 "each: write it yourself: %s",
		    profile->name->text, allowing->text_path, statement);
		return NULL;
	}
	if (!yaml) {
		end = ast_block_end(compilation->file, profile);
		if (end == NULL) {
			complain("the end of profile %s is not found in '%s'",
			    profile->name->text, allowing->text_path);
			return NULL;
		}
		at = (size_t)(end - text);
		while (at > 0 && strchr(" \t", text[at - 1]) != NULL)
			at--;
	} else if (strpbrk(statement, ":#\"") != NULL) {
		quote = "'";
	}
	if (strchr(statement, '\'') != NULL)
		quote = "";
	allowing->begin = (uint32_t)at;
	text = arena_printf(allowing->arena, "%.*s%s%*s%s%s%s%s\n%s", (int)at,
	    text, at > 0 && text[at - 1] != '\n' ? "\n" : "", (int)indent, "",
	    yaml ? "- " : "", quote, statement, quote, text + at);
	allowing->end = allowing->begin + 3 + (uint32_t)indent +
	    (uint32_t)strlen(statement) + 4;
	return text;
}

static const char *
remove_line(const struct allowing *allowing,
    const struct compilation *compilation, const struct ast_stmt *stmt)
{
	const char *text = compilation->file->text;
	size_t begin = offset_of(compilation, stmt->loc);
	size_t end = stmt->loc.end - compilation->file->base;

	if (is_yaml(allowing)) {
		begin = line_begin(text, begin);
		end += strcspn(text + end, "\n");
	}
	while (begin > 0 && strchr(" \t", text[begin - 1]) != NULL)
		begin--;
	end += strspn(text + end, " \t");
	if (text[end] == '#')
		end += strcspn(text + end, "\n");
	end += text[end] == '\n';
	return arena_printf(allowing->arena, "%.*s%s", (int)begin, text,
	    text + end);
}

/* --- changes -------------------------------------------------------------- */

const char *
allowing_with(struct allowing *allowing)
{
	struct operand plain = { .state = OPERAND_UNREAD };
	const struct ast_stmt *profile;
	const struct ast_stmt *same;

	if (!allowing_compile(allowing, allowing->text, &plain))
		return NULL;
	profile = find_profile(allowing, &plain);
	if (profile == NULL)
		return NULL;
	same = find_same(allowing, profile);
	if (same == NULL)
		return add_line(allowing, &plain.compilation, profile,
		    allowing->rule);
	printf("%s:%u has this rule already: %s\n", allowing->text_path,
	    sources_position(&plain.compilation.sources, same->loc).line,
	    allowing->rule);
	return allowing->text;
}

const char *
allowing_without(struct allowing *allowing)
{
	struct operand plain = { .state = OPERAND_UNREAD };
	const struct ast_stmt *profile, *same;

	if (!allowing_compile(allowing, allowing->text, &plain))
		return NULL;
	profile = find_profile(allowing, &plain);
	same = profile == NULL ? NULL : find_same(allowing, profile);
	if (profile != NULL && same == NULL)
		complain("profile %s of '%s' has no such rule: '%s'; 'sbxc "
			 "allow --list' prints them",
		    profile->name->text, allowing->text_path, allowing->rule);
	return same == NULL ? NULL :
			      remove_line(allowing, &plain.compilation, same);
}

const struct ast_atom *
allowing_objects(const struct ast_stmt *rule)
{
	return rule->objects.first != NULL || rule->words.first == NULL ?
	    rule->objects.first :
	    rule->words.first->next;
}

/* The object of a deny of the profile that a rule of the blob was made from. */
static const struct ast_stmt *
find_deny(const struct compilation *compilation, const struct ast_stmt *profile,
    const struct sbx_blob *blob, uint32_t source,
    const struct ast_atom **object)
{
	for (const struct ast_stmt *stmt = profile->body; stmt != NULL;
	     stmt = stmt->next) {
		if (stmt->kind != AST_RULE || stmt->effect == SBX_ALLOW ||
		    stmt->drop)
			continue;
		for (*object = allowing_objects(stmt); *object != NULL;
		     *object = (*object)->next) {
			struct position at =
			    sources_position(&compilation->sources,
				(*object)->loc);

			if (at.line == blob->sources[source].line &&
			    at.column == blob->sources[source].column)
				return stmt;
		}
	}
	return NULL;
}

/* The text with one more name among the exceptions of a deny. */
static const char *
except_more(const struct allowing *allowing, const struct ast_stmt *deny,
    const char *name)
{
	const struct compilation *compilation = &allowing->new.compilation;
	const struct ast_atom *last = deny->exclusions.first;
	const char *text = compilation->file->text, *end;
	size_t begin = offset_of(compilation, last->loc);

	while (last->next != NULL)
		last = last->next;
	end = text + last->loc.end - compilation->file->base;
	if (last != deny->exclusions.first || end[strspn(end, " ")] == '}')
		return arena_printf(allowing->arena, "%.*s %s%s",
		    (int)(end - text), text, name, end);
	return arena_printf(allowing->arena, "%.*s{ %s %s }%s", (int)begin,
	    text, last->text, name, end);
}

/* A deny of the user's own: it goes if it is about no more than the rule, else it
 * gets an exception. */
static const char *
lift_own(struct allowing *allowing, const struct ast_stmt *profile,
    const struct kept *kept)
{
	const struct operand *new = &allowing->new;
	const struct ast_atom *object;
	const struct ast_stmt *deny = find_deny(&new->compilation, profile,
	    &new->blob, kept->source, &object);
	const char *text = new->compilation.file->text;
	size_t end;

	if (deny != NULL && kept->variable && deny->exclusions.first != NULL &&
	    !is_yaml(allowing))
		return except_more(allowing, deny, kept->object);
	if (deny != NULL && allowing_objects(deny)->next == NULL &&
	    deny->exclusions.first == NULL) {
		if (strcmp(object->text, kept->object) == 0)
			return remove_line(allowing, &new->compilation, deny);
		end = deny->loc.end - new->compilation.file->base;
		if (!is_yaml(allowing))
			return arena_printf(allowing->arena, "%.*s except %s%s",
			    (int)end, text,
			    kept->variable ?
				kept->object :
				spelled_path(allowing->arena, kept->object),
			    text + end);
	}
	complain("the deny at %s keeps more than that: change it yourself",
	    show_source_text(allowing->arena, &new->blob, kept->source));
	return NULL;
}

const char *
allowing_lifted(struct allowing *allowing, const struct kept *kept)
{
	const struct operand *new = &allowing->new;
	const struct ast_stmt *profile = find_profile(allowing, new);
	const char *statement = arena_printf(allowing->arena, "drop %s",
	    kept->words);

	if (profile == NULL)
		return NULL;
	printf("-  %s\n", kept->words);
	if (!remedy_is_shipped(&new->blob, kept->source))
		return lift_own(allowing, profile, kept);
	/* One name of a pattern is no reason to hand on the others. */
	if (kept->variable && strchr(kept->words, '*') != NULL &&
	    strstr(kept->words, " except ") == NULL && !is_yaml(allowing)) {
		printf("+  %s except %s\n", kept->words, kept->object);
		statement = arena_printf(allowing->arena,
		    "%s\n    %s except %s", statement, kept->words,
		    kept->object);
	}
	return add_line(allowing, &new->compilation, profile, statement);
}

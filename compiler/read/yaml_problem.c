/*
 * See read.h.  Most of what people trip over is text that YAML takes
 * for something else: `*_TOKEN`, `@mount`, `[ ${home}/x ]`, `note: a: b`.  The
 * way out is the same each time, and is shown with the word that is meant.
 */
#include "compiler/read/read.h"

#include <string.h>

enum { WORD_MAX = 60 };

/* A sentence for each thing that libyaml says, by how that begins. */
static const struct {
	const char *problem, *message, *help;
} wordings[] = {
	{ "mapping values are not allowed", "a ':' that makes no key here",
	    "text that holds ': ' is put in quotes" },
	{ "could not find expected ':'", "expected ':' after a key",
	    "an entry of a map is 'key: value', one of a list '- value'" },
	{ "block sequence entries are not allowed", "a list cannot begin here",
	    "its entries stand on lines of their own" },
	{ "did not find expected key", "expected a key, or the end of the line",
	    "keys of one map stand in one column; nothing follows a text in "
	    "quotes" },
	{ "did not find expected '-' indicator",
	    "expected '-', or the end of the list",
	    "the '-' of one list stand in one column" },
	{ "did not find expected ',' or ']'", "expected ',' or ']'",
	    "in '[ ]' entries are separated by ','; what holds one of "
	    ",[]{} is put in quotes" },
	{ "did not find expected ',' or '}'", "expected ',' or '}'",
	    "in '{ }' entries are separated by ','; what holds one of "
	    ",[]{} is put in quotes" },
	{ "did not find expected node content",
	    "expected text, a list or a map",
	    "an entry between two ',' is missing" },
	{ "found unexpected end of stream",
	    "quoted text without its closing quote",
	    "a quote inside of double quotes is written as '\\\"'" },
	{ "found unknown escape character", "unknown escape",
	    "in single quotes a backslash is a backslash" },
	{ "found invalid Unicode character", "escape that is no character",
	    "write the character itself" },
	{ "found a tab character", "a tab where blanks are expected",
	    "YAML is indented with blanks" },
	{ "found undefined tag handle", "a tag",
	    "text that begins with '!' is put in quotes" },
	{ "did not find expected <document start>",
	    "expected the end of the file",
	    "a file is one map; is a line indented too little?" },
	{ "control characters are not allowed",
	    "a character that YAML does not allow", "remove it" },
};

static const char *
text_at(const struct source *source, struct loc loc)
{
	return source->text + (loc.begin - source->base);
}

/* The word there, which begins with '$' if that is what stands before. */
static struct loc
word_at(const struct source *source, struct loc loc)
{
	const char *text;
	size_t len;

	if (loc.begin > source->base && *text_at(source, loc) == '{' &&
	    text_at(source, loc)[-1] == '$')
		loc.begin--;
	text = text_at(source, loc);
	len = strcspn(text,
	    strncmp(text, "${", 2) == 0 ? " ,]\r\n\t" : " ,]}\r\n\t");
	if (text[0] == '{' || text[0] == '[')
		len = 1;
	loc.end = loc.begin + (uint32_t)len;
	return loc;
}

static void
help_quote(const struct source *source, struct diag *diag, struct loc loc)
{
	size_t len = loc.end - loc.begin;

	if (len > 0 && len <= WORD_MAX &&
	    memchr(text_at(source, loc), '"', len) == NULL)
		diag_help(diag, "put it in quotes: \"%.*s\"", (int)len,
		    text_at(source, loc));
	else
		diag_help(diag, "put it in quotes");
}

void
yaml_report_mark(struct diags *diags, const struct source *source,
    struct loc loc, const char *what)
{
	struct loc word = word_at(source, loc);
	struct diag *diag = diag_add(diags, DIAG_YAML_MARK, word,
	    "'%.*s' is %s in YAML",
	    (int)(word.end - word.begin < WORD_MAX ? word.end - word.begin :
						     WORD_MAX),
	    text_at(source, word), what);

	if (strncmp(text_at(source, word), "!!", 2) == 0)
		diag_help(diag, "leave it out: a value is its text");
	else
		help_quote(source, diag, word);
}

/* Text that begins as no text can: '@', '`', '%', a tab. */
static void
report_start(struct diags *diags, const struct source *source, struct loc loc)
{
	struct loc word = word_at(source, loc);
	struct diag *diag;

	if (*text_at(source, loc) == '\t') {
		word.end = loc.begin + 1;
		diag = diag_add(diags, DIAG_YAML_SYNTAX, word,
		    "a tab where blanks are expected");
		diag_help(diag, "YAML is indented with blanks");
		return;
	}
	diag = diag_add(diags, DIAG_YAML_SYNTAX, word,
	    "text cannot begin with '%c' in YAML", *text_at(source, loc));
	help_quote(source, diag, word);
}

/* In brackets a '{' begins a map, also behind a '$'. */
static bool
is_name(const struct source *source, const struct yaml_problem *problem)
{
	const char *text = text_at(source, problem->loc);

	return problem->in_list && problem->loc.begin > source->base &&
	    text[0] == '{' && text[-1] == '$';
}

static void
report_name(struct diags *diags, const struct source *source, struct loc loc)
{
	struct loc word = word_at(source, loc);

	help_quote(source,
	    diag_add(diags, DIAG_YAML_SYNTAX, word,
		"between brackets '{' begins a map, also in '${name}'"),
	    word);
}

static void
report_other(struct diags *diags, const struct source *source,
    const struct yaml_problem *problem)
{
	struct loc loc = problem->loc;
	const char *message = problem->problem, *help = NULL;
	struct diag *diag;

	for (size_t i = 0; i < countof(wordings); i++) {
		if (strncmp(problem->problem, wordings[i].problem,
			strlen(wordings[i].problem)) != 0)
			continue;
		message = wordings[i].message;
		help = wordings[i].help;
		break;
	}
	/* Report what is not closed where it was opened. */
	if (strcmp(problem->problem, "found unexpected end of stream") == 0 ||
	    strcmp(problem->problem, "could not find expected ':'") == 0)
		loc = problem->context_loc;
	if (loc.begin - source->base < source->size &&
	    strchr("\r\n", *text_at(source, loc)) == NULL)
		loc = word_at(source, loc);
	if (loc.end == loc.begin && loc.end - source->base < source->size)
		loc.end++;
	diag = diag_add(diags, DIAG_YAML_SYNTAX, loc, "%s", message);
	if (strncmp(source_first_line(source), "sbx ", 4) == 0)
		help = "a policy that is no YAML is called NAME.sbx";
	if (help != NULL)
		diag_help(diag, "%s", help);
	if (problem->context_loc.begin < loc.begin && *problem->context != '\0')
		diag_note(diag, problem->context_loc,
		    "it is part of what begins here");
}

void
yaml_report_problem(struct diags *diags, const struct source *source,
    const struct yaml_problem *problem)
{
	if (strcmp(problem->context, "while scanning an alias") == 0)
		yaml_report_mark(diags, source, problem->context_loc,
		    "an alias");
	else if (strcmp(problem->context, "while scanning an anchor") == 0)
		yaml_report_mark(diags, source, problem->context_loc,
		    "an anchor");
	else if (strncmp(problem->context, "while scanning a tag", 20) == 0 ||
	    strncmp(problem->problem, "found undefined tag", 19) == 0)
		yaml_report_mark(diags, source, problem->context_loc, "a tag");
	else if (strncmp(problem->problem, "found character that cannot start",
		     33) == 0)
		report_start(diags, source, problem->loc);
	else if (is_name(source, problem))
		report_name(diags, source, problem->loc);
	else
		report_other(diags, source, problem);
}

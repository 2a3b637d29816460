/*
 * A reader of TOML while it reads, and what it does with characters: blanks,
 * comments, texts in quotes.  For toml.c alone.
 */
#ifndef SBX_TOML_TEXT_H
#define SBX_TOML_TEXT_H

#include "compiler/base/map.h"
#include "compiler/read/yaml.h"

/* How a table came to be says what may be added to it. */
enum made {
	BY_VALUE,  /* a text, an array, an inline table: complete */
	BY_WAY,    /* [a.b] makes a, which may still get its own header */
	BY_HEADER, /* [a] */
	BY_KEY,    /* a.b = 1 makes a, for more of such keys */
	BY_LIST,   /* [[a]]: a list of tables */
};

struct toml_node {
	struct yaml_node yaml;
	enum made made;
};

struct toml_reader {
	struct arena *arena;
	struct diags *diags;
	const struct source *source;
	const char *at, *end;
	size_t nodes, depth;
	struct map entries; /* the table and the key of each */
	VEC(struct toml_node *) values;
	bool failed;
};

/* A mistake at the next character; only the first one is told. */
void toml_fail(struct toml_reader *reader, const char *what);
void toml_fail_bounds(struct toml_reader *reader, const char *what, int most);

/* A node that begins there and ends at the next character. */
struct toml_node *toml_node_new(struct toml_reader *reader, enum yaml_kind kind,
    const char *begin);
struct toml_node *toml_text_new(struct toml_reader *reader, const char *begin,
    const char *text, size_t len);

/* Whether a word comes next; and takes it if it does. */
bool toml_is_at(const struct toml_reader *reader, const char *word);
bool toml_take(struct toml_reader *reader, const char *word);

void toml_skip_blanks(struct toml_reader *reader);
bool toml_take_line_end(struct toml_reader *reader);
void toml_skip_comment(struct toml_reader *reader);

/* Blanks, comments and line ends. */
void toml_skip_lines(struct toml_reader *reader);

/* A text in these quotes, of which the first come next. */
struct toml_node *toml_read_quoted(struct toml_reader *reader,
    const char *quotes);

#endif

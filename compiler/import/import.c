/*
 * Settings of other sandboxes as a policy: `sbxc import`.  Each client has a table
 * of its keys: what makes rules of a value, or why nothing can.  Each rule has a
 * comment with the place that made it; what is not taken over is reported there.
 * What the settings promise becomes cases of a test file.
 *
 * JSON is YAML, so the reader of YAML gives every value its place; that of TOML
 * makes the same tree.
 */
#include "compiler/import/import.h"
#include "compiler/base/base.h"
#include "compiler/read/read.h"

#include <string.h>
#include <strings.h>

static const struct import_client *const clients[] = {
	&import_claude,
	&import_codex,
	&import_llxprt,
	&import_localgpt,
	&import_srt,
};

const struct import_client *
import_client_find(const char *name)
{
	for (size_t i = 0; i < countof(clients); i++) {
		if (strcmp(clients[i]->name, name) == 0)
			return clients[i];
	}
	return NULL;
}

/* Text of a stranger's in a comment, which a line end would leave. */
static const char *
clean(const struct importer *importer, const struct yaml_node *node)
{
	return node->text == NULL ? "" :
				    source_name(importer->arena, node->text);
}

void
import_statement(struct importer *importer, const char *key,
    const struct yaml_node *node, const char *format, ...)
{
	struct position position;
	va_list args;

	if (node == NULL) {
		fprintf(importer->stream, "    # %s is not set.\n    ", key);
	} else {
		position = sources_position(importer->sources, node->loc);
		fprintf(importer->stream, "    # %s:%u:%u: %s: %s\n    ",
		    source_name(importer->arena, position.file), position.line,
		    position.column, key, clean(importer, node));
	}
	va_start(args, format);
	vfprintf(importer->stream, format, args);
	va_end(args);
	fputc('\n', importer->stream);
}

void
import_promise(struct importer *importer, bool allow, const char *right,
    const char *path)
{
	*arena_push(importer->arena, &importer->promises) = (struct promise){
		.allow = allow,
		.access = arena_printf(importer->arena, "%s %s", right, path),
	};
}

struct diag *
import_lose(struct importer *importer, enum diag_id id, const char *key,
    const struct yaml_node *node, const char *why)
{
	const char *text = clean(importer, node);
	size_t len = strlen(text), all = strlen(key);

	/* The place is that of the key. */
	if (len <= all && strcmp(key + all - len, text) == 0)
		text = "";
	return diag_add(importer->diags, id, node->loc, "%s%s%s%s: %s", key,
	    *text != '\0' ? " '" : "", text, *text != '\0' ? "'" : "", why);
}

const char *
import_text(const struct yaml_node *value)
{
	return value != NULL && value->kind == YAML_TEXT ? value->text : "";
}

bool
import_is(const struct yaml_node *value, const char *word)
{
	return value->kind == YAML_TEXT && value->plain &&
	    strcmp(value->text, word) == 0;
}

const char *
import_digits(const struct importer *importer, const char *text)
{
	char *out = arena_alloc(importer->arena, strlen(text) + 1), *to = out;

	for (size_t i = 0; text[i] != '\0'; i++) {
		if (text[i] >= '0' && text[i] <= '9')
			*to++ = text[i];
		else if (text[i] != '_')
			return NULL;
	}
	return to > out && to - out <= 18 && *out != '0' ? out : NULL;
}

void
import_variables(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	const struct yaml_node *each = value->kind == YAML_MAP ? value->first :
								 NULL;

	for (; each != NULL; each = each->next) {
		const char *name = each->key->text;

		import_lose(importer, DIAG_IMPORT_NARROWER, key->path,
		    each->key,
		    arena_printf(importer->arena,
			"a variable for the agent: 'set env %s = VALUE' if "
			"commands want it, and it is no secret",
			source_name(importer->arena, name)));
	}
}

/* --- keys ----------------------------------------------------------------- */

/* A key with a dot in it is not one in another: the client does not know it. */
static const struct import_key *
key_find(const struct import_client *client, const char *path, const char *key)
{
	if (strchr(key, '.') != NULL)
		return NULL;
	for (size_t i = 0; i < client->key_count; i++) {
		if (strcmp(client->keys[i].path, path) == 0)
			return &client->keys[i];
	}
	return NULL;
}

/* Whether a value asks for nothing: false, [], {}. */
static bool
is_idle(const struct yaml_node *value)
{
	if (value->kind != YAML_TEXT)
		return value->first == NULL;
	return import_is(value, "false") || import_is(value, "null");
}

static void
take(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	const struct yaml_node *each = value->kind == YAML_LIST ? value->first :
								  value;

	if (key->take == NULL) {
		if (key->loss != DIAG_END && !is_idle(value))
			import_lose(importer, key->loss, key->path,
			    value->key != NULL ? value->key : value, key->why);
		return;
	}
	for (; each != NULL; each = each == value ? NULL : each->next)
		key->take(importer, key, each);
}

/* Whether some key of the client lies in it. */
static bool
has_keys(const struct import_client *client, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < client->key_count; i++) {
		if (strncmp(client->keys[i].path, path, len) == 0 &&
		    client->keys[i].path[len] == '.')
			return true;
	}
	return false;
}

/* The first words of the client's keys. */
static const char *
nearest_key(const struct importer *importer, const char *name)
{
	const struct import_client *client = importer->client;
	const char **words = arena_alloc(importer->arena,
	    client->key_count * sizeof *words);

	for (size_t i = 0; i < client->key_count; i++)
		words[i] = arena_strndup(importer->arena, client->keys[i].path,
		    strcspn(client->keys[i].path, "."));
	return nearest_name(name, words, client->key_count);
}

/* Whether a key that nobody knows may well be about a sandbox. */
static bool
sounds_like_sandbox(const char *name)
{
	static const char *const words[] = { "sandbox", "network", "filesystem",
		"credential", "seccomp", "namespace", "domain", "socket",
		"sshagent" };

	for (size_t i = 0; i < countof(words); i++) {
		size_t len = strlen(words[i]);

		for (const char *at = name; *at != '\0'; at++) {
			if (strncasecmp(at, words[i], len) == 0)
				return true;
		}
	}
	return false;
}

/* A key that nobody knows may be one about other things, or a mistake. */
static void
pass_over(struct importer *importer, const char *path,
    const struct yaml_node *key, bool top)
{
	const char *near = top ? nearest_key(importer, path) : NULL;

	if (top && importer->client->others && near == NULL &&
	    !sounds_like_sandbox(path))
		*arena_push(importer->arena, &importer->others) = key;
	else
		diag_did_you_mean(
		    import_lose(importer, DIAG_IMPORT_WEAKER,
			source_name(importer->arena, path), key,
			"this sbxc does not know what that means"),
		    near);
}

static void
tell_others(struct importer *importer)
{
	enum { NAMED = 8 };
	size_t count = importer->others.count;
	const char *names = "";

	if (count == 0)
		return;
	for (size_t i = 0; i < count && i < NAMED; i++)
		names = arena_printf(importer->arena, "%s%s'%s'", names,
		    i > 0 ? ", " : "",
		    clean(importer, importer->others.items[i]));
	if (count > NAMED)
		names = arena_printf(importer->arena, "%s and %zu more", names,
		    count - NAMED);
	diag_add(importer->diags, DIAG_IMPORT_OTHER,
	    importer->others.items[0]->loc,
	    "taken for settings about other things than the sandbox: %s",
	    names);
}

static void
walk(struct importer *importer, const struct yaml_node *map, const char *above)
{
	for (const struct yaml_node *value = map->first; value != NULL;
	     value = value->next) {
		const char *path = arena_printf(importer->arena, "%s%s%s",
		    above, *above != '\0' ? "." : "", value->key->text);
		const struct import_key *key = key_find(importer->client, path,
		    value->key->text);

		if (key != NULL)
			take(importer, key, value);
		else if (has_keys(importer->client, path) &&
		    strchr(value->key->text, '.') == NULL &&
		    value->kind == YAML_MAP)
			walk(importer, value, path);
		else
			pass_over(importer, path, value->key, *above == '\0');
	}
}

/* --- what is read --------------------------------------------------------- */

bool
import_lies_in(const char *place, const char *around)
{
	size_t len = strlen(around) - 1;

	if (*place != '"' || *around != '"')
		return false;
	if (strcmp(around, "\"/\"") == 0)
		return place[1] == '/';
	return strncmp(place, around, len) == 0 &&
	    (place[len] == '/' || place[len] == '"');
}

/*
 * Whether one may lie in the other once the anchors have their places: the
 * workspace in most homes, and below most directories.  No project lies in a
 * directory whose name begins with a dot; that one stays shut where the home
 * directory, or all of a disk, is the workspace.
 */
static bool
may_lie_in(const char *place, const char *around)
{
	if (import_lies_in(place, around))
		return true;
	return *place == '"' && *around == '"' && place[1] != around[1] &&
	    around[1] != '$' && strstr(around, "/.") == NULL &&
	    (place[1] != '/' || strncmp(place, "\"/home/", 7) == 0 ||
		strncmp(place, "\"/root/", 7) == 0);
}

/* What is opened again in a denied place is an exception; what is denied below
 * that stays so, and a pattern, whose matches nobody knows, too. */
static void
write_shut(struct importer *importer, const struct import_path *shut)
{
	const char *except = "";

	for (size_t i = 0; i < importer->reopened.list.count; i++) {
		const char *object = importer->reopened.list.items[i].object;

		if (strcmp(object, shut->object) == 0)
			return; /* it is open again as a whole */
		if (may_lie_in(object, shut->object))
			except = arena_printf(importer->arena, "%s  %s", except,
			    object);
	}
	import_statement(importer, shut->key, shut->node, "deny read %s%s%s%s",
	    shut->object, *except != '\0' ? " except {" : "", except,
	    *except != '\0' ? "  }" : "");
	import_promise(importer, false, "read", shut->sample);
}

/* What may be written, and lies where nothing may be read. */
static void
tell_unwritten(struct importer *importer, const struct import_path *path)
{
	const struct import_paths *shut = &importer->shut;

	for (size_t i = 0; i < importer->reopened.list.count; i++) {
		if (import_lies_in(path->object,
			importer->reopened.list.items[i].object))
			return;
	}
	for (size_t i = 0; i < shut->list.count; i++) {
		const char *around = shut->list.items[i].object;

		if (!may_lie_in(path->object, around))
			continue;
		import_lose(importer, DIAG_IMPORT_NARROWER, path->key,
		    path->node,
		    arena_printf(importer->arena,
			"%s in '%s', which %s shuts: nothing is written there",
			import_lies_in(path->object, around) ?
			    "it lies" :
			    "the project may lie",
			clean(importer, shut->list.items[i].node),
			shut->list.items[i].key));
		return;
	}
}

static void
write_reopened(struct importer *importer, const struct import_path *path)
{
	if (*path->object == '"')
		import_promise(importer, true, "read", path->sample);
	else
		import_lose(importer, DIAG_IMPORT_NARROWER, path->key,
		    path->node,
		    "a pattern is no exception: what it opens again stays "
		    "shut");
}

void
import_read(struct importer *importer, const struct source *source)
{
	const struct yaml_node *root = importer->client->toml ?
	    toml_read(importer->sources, importer->diags, source) :
	    yaml_read(importer->sources, importer->diags, source);

	if (root == NULL)
		return;
	if (root->kind != YAML_MAP) {
		yaml_report_kind(importer->diags, root, "an object");
		return;
	}
	importer->client->begin(importer);
	walk(importer, root, "");
	tell_others(importer);
	if (importer->client->finish != NULL)
		importer->client->finish(importer);
	for (size_t i = 0; i < importer->shut.list.count; i++)
		write_shut(importer, &importer->shut.list.items[i]);
	for (size_t i = 0; i < importer->reopened.list.count; i++)
		write_reopened(importer, &importer->reopened.list.items[i]);
	for (size_t i = 0; i < importer->writes.list.count; i++)
		tell_unwritten(importer, &importer->writes.list.items[i]);
}

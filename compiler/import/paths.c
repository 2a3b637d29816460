/* Paths of other sandboxes as objects of a policy. */
#include "compiler/import/import.h"

#include "format/text.h"

#include <string.h>

/* What no path of a policy can hold, or would mean something else there. */
static const char *
fault_of(const char *text, bool wild)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			return "a path has no control characters";
	}
	if (wild && strpbrk(text, "[]{}") != NULL)
		return "a glob has no classes and no alternatives";
	if (wild && strpbrk(text, "*?") != NULL && strchr(text, '\\') != NULL)
		return "a glob has no escapes";
	if (strchr(text, '$') != NULL)
		return "a variable is not replaced";
	if (strstr(text, "/../") != NULL ||
	    (len >= 3 && strcmp(text + len - 3, "/..") == 0))
		return "a path that leads upwards depends on links";
	return NULL;
}

/* "//", "/./" and slashes at the end say nothing. */
static char *
normal(struct arena *arena, const char *text)
{
	char *out = arena_strndup(arena, text, strlen(text)), *to = out;

	for (const char *from = text; *from != '\0'; from++) {
		if (*from == '/' &&
		    (from[1] == '/' ||
			(from[1] == '.' &&
			    (from[2] == '/' || from[2] == '\0')))) {
			if (from[1] == '.')
				from++;
			continue;
		}
		*to++ = *from;
	}
	while (to > out + 1 && to[-1] == '/')
		to--;
	*to = '\0';
	return out;
}

/* A path that a pattern matches: stars stand for something. */
static const char *
sample_of(struct arena *arena, const char *text)
{
	char *out = arena_alloc(arena, strlen(text) + 2), *to = out;

	while (*text != '\0') {
		if (strncmp(text, "/**/", 4) == 0) {
			text += 3;
		} else if (*text == '*' || *text == '?') {
			*to++ = 'x';
			text++;
		} else {
			*to++ = *text++;
		}
	}
	return out;
}

static const char *
quote(struct arena *arena, const char *text)
{
	char *out = arena_alloc(arena, 2 * strlen(text) + 3), *to = out;

	*to++ = '"';
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			*to++ = '\\';
		*to++ = *text;
	}
	*to = '"';
	return out;
}

/* "${workspace}" is the only name that may stand in a path here, and the
 * importer has put it there. */
static const char workspace[] = "${workspace}";

static bool
object_of(struct importer *importer, struct import_path *path, const char *text,
    bool wild)
{
	struct arena *arena = importer->arena;
	size_t anchor = strncmp(text, workspace, sizeof workspace - 1) == 0 ?
	    sizeof workspace - 1 :
	    0;
	const char *fault = fault_of(text + anchor, wild);
	size_t len;
	char *place;

	if (fault != NULL) {
		import_lose(importer, DIAG_IMPORT_WEAKER, path->key, path->node,
		    fault);
		return false;
	}
	place = normal(arena, text);
	len = strlen(place);
	/* What matches is meant with all that lies in it. */
	while (wild && len >= 3 && strcmp(place + len - 3, "/**") == 0)
		place[len -= 3] = '\0';
	if (len == 0)
		place = arena_strndup(arena, "/", 1);
	path->object = quote(arena, place);
	path->sample = wild ? sample_of(arena, place) : place;
	if (wild && strpbrk(place, "*?") != NULL)
		path->object = arena_printf(arena, "glob %s", path->object);
	/* A path with blanks is quoted in a question. */
	if (strpbrk(path->sample, " \"#'\\") != NULL)
		path->sample = quote(arena, path->sample);
	return true;
}

bool
import_object(struct importer *importer, const char *key,
    const struct yaml_node *node, const char *text, struct import_path *path)
{
	*path = (struct import_path){ .node = node, .key = key };
	return object_of(importer, path, text, true);
}

/* From the root, the home directory or the base.  NULL after reporting. */
static const char *
rooted(struct importer *importer, const struct import_key *key,
    const struct yaml_node *node)
{
	const char *text = node->text;

	if (node->kind != YAML_TEXT || *text == '\0') {
		import_lose(importer, DIAG_IMPORT_WEAKER, key->path, node,
		    "it is no path");
		return NULL;
	}
	if (*text == '/' || strcmp(text, "~") == 0 ||
	    strncmp(text, "~/", 2) == 0)
		return text;
	return arena_printf(importer->arena, "%s/%s", importer->base,
	    strncmp(text, "./", 2) == 0 ? text + 2 :
		strcmp(text, ".") == 0  ? "" :
					  text);
}

bool
import_path(struct importer *importer, const struct import_key *key,
    const struct yaml_node *node, struct import_path *path)
{
	const char *text = rooted(importer, key, node);

	return text != NULL &&
	    import_object(importer, key->path, node, text, path);
}

bool
import_place(struct importer *importer, const struct import_key *key,
    const struct yaml_node *node, struct import_path *path)
{
	const char *text = rooted(importer, key, node);

	*path = (struct import_path){ .node = node, .key = key->path };
	return text != NULL && object_of(importer, path, text, false);
}

/*
 * SARIF 2.1.0, in the part of it that hosts of code read: one run, its rules,
 * and results with one place each.  Paths are relative to the directory that
 * sbxc was called in, which the host knows as %SRCROOT%.
 *
 * A result is told from others by a fingerprint that does not change when
 * lines are put in above it: rule, file and the text of its line, and a number
 * where these are the same.
 */
#include "compiler/report/write.h"

#include "compiler/base/json.h"
#include "compiler/base/map.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define SCHEMA \
	"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/" \
	"sarif-schema-2.1.0.json"

struct sarif {
	const struct report *report;
	struct arena *arena;
	const char *cwd; /* with a slash at its end; NULL: not known */
	struct map seen; /* fingerprint -> how often */
};

/* --- places --------------------------------------------------------------- */

static bool
is_builtin(const char *file)
{
	return strncmp(file, "sbx:", 4) == 0;
}

/* Escapes a path for a URI; slashes stay. */
static const char *
path_encode(struct arena *arena, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
	static const char hex[] = "0123456789ABCDEF";
	char *uri = arena_alloc(arena, 3 * strlen(path) + 1), *at = uri;

	for (; *path != '\0'; path++) {
		if (strchr(plain, *path) != NULL) {
			*at++ = *path;
			continue;
		}
		*at++ = '%';
		*at++ = hex[(unsigned char)*path >> 4];
		*at++ = hex[(unsigned char)*path & 15];
	}
	return uri;
}

/* Removes the current directory and "./" from the front of a path. */
static const char *
path_relative(const struct sarif *sarif, const char *path)
{
	size_t len = sarif->cwd != NULL ? strlen(sarif->cwd) : 0;

	if (len > 0 && strncmp(path, sarif->cwd, len) == 0)
		path += len;
	while (path[0] == '.' && path[1] == '/') {
		path += 2;
		path += strspn(path, "/");
	}
	return path;
}

static void
put_artifact(const struct sarif *sarif, struct json_t *object, const char *file)
{
	const char *path = path_relative(sarif, file);
	const char *uri = path_encode(sarif->arena, path);

	if (is_builtin(file)) {
		json_put_text(object, "uri", file);
	} else if (*path == '/') {
		json_put_text(object, "uri",
		    arena_printf(sarif->arena, "file://%s", uri));
	} else {
		json_put_text(object, "uri", uri);
		json_put_text(object, "uriBaseId", "%SRCROOT%");
	}
}

static void
put_location(const struct sarif *sarif, struct json_t *object,
    const struct position *position)
{
	struct json_t *physical, *region;

	if (position->file == NULL)
		return;
	physical = json_put_object(object, "physicalLocation");
	put_artifact(sarif, json_put_object(physical, "artifactLocation"),
	    position->file);
	if (position->line == 0)
		return;
	region = json_put_object(physical, "region");
	json_put_number(region, "startLine", position->line);
	json_put_number(region, "startColumn", position->column);
	json_put_number(region, "endLine", position->end_line);
	json_put_number(region, "endColumn", position->end_column);
}

/* --- results -------------------------------------------------------------- */

static uint64_t
hash_text(uint64_t hash, const char *text)
{
	do {
		hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	} while (*text++ != '\0');
	return hash;
}

static const char *
fingerprint(struct sarif *sarif, const struct report_finding *finding)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	const char *key;
	size_t count;

	hash = hash_text(hash, finding->rule);
	hash = hash_text(hash,
	    finding->position.file == NULL ?
		"" :
		path_relative(sarif, finding->position.file));
	hash = hash_text(hash,
	    finding->excerpt != NULL ? finding->excerpt : finding->message);
	key = arena_printf(sarif->arena, "%016" PRIx64, hash);
	key = arena_intern(sarif->arena, key, strlen(key));
	count = (size_t)(uintptr_t)map_find(&sarif->seen, key) + 1;
	map_put(sarif->arena, &sarif->seen, key, (void *)(uintptr_t)count);
	return arena_printf(sarif->arena, "%s:%zu", key, count);
}

static void
put_message(struct json_t *object, const char *key, const char *text)
{
	if (text != NULL)
		json_put_text(json_put_object(object, key), "text", text);
}

static void
put_related(const struct sarif *sarif, struct json_t *result,
    const struct report_finding *finding)
{
	struct json_t *list;

	if (finding->related.count == 0)
		return;
	list = json_put_array(result, "relatedLocations");
	for (size_t i = 0; i < finding->related.count; i++) {
		struct json_t *location = json_put_object(list, NULL);

		json_put_number(location, "id", i + 1);
		put_location(sarif, location,
		    &finding->related.items[i].position);
		put_message(location, "message",
		    finding->related.items[i].message);
	}
}

static void
put_properties(struct json_t *result, const struct report_finding *finding)
{
	struct json_t *bag;

	if (finding->properties.count == 0)
		return;
	bag = json_put_object(result, "properties");
	for (size_t i = 0; i < finding->properties.count; i++)
		json_put_text(bag, finding->properties.items[i].name,
		    finding->properties.items[i].text);
}

static void
put_result(struct sarif *sarif, struct json_t *result,
    const struct report_finding *finding)
{
	const struct report_rule *rule = report_rule_find(sarif->report,
	    finding->rule);
	struct json_t *list;

	json_put_text(result, "ruleId", finding->rule);
	if (rule != NULL)
		json_put_number(result, "ruleIndex",
		    (uint64_t)(rule - sarif->report->rules.items));
	json_put_text(result, "level", severity_word(finding->severity));
	put_message(result, "message",
	    finding->help == NULL ? finding->message :
				    arena_printf(sarif->arena, "%s\n%s",
					finding->message, finding->help));
	list = json_put_array(result, "locations");
	if (finding->position.file != NULL)
		put_location(sarif, json_put_object(list, NULL),
		    &finding->position);
	put_related(sarif, result, finding);
	json_put_text(json_put_object(result, "partialFingerprints"),
	    "primaryLocationLineHash", fingerprint(sarif, finding));
	put_properties(result, finding);
	if (finding->suppressed == NULL)
		return;
	list = json_put_array(result, "suppressions");
	result = json_put_object(list, NULL);
	json_put_text(result, "kind", "inSource");
	json_put_text(result, "justification", finding->suppressed);
}

/* --- the run -------------------------------------------------------------- */

static void
put_rule(struct json_t *object, const struct report_rule *rule)
{
	json_put_text(object, "id", rule->id);
	json_put_text(object, "name", rule->name);
	put_message(object, "shortDescription", rule->title);
	put_message(object, "fullDescription", rule->explain);
	put_message(object, "help", rule->explain);
	json_put_text(json_put_object(object, "defaultConfiguration"), "level",
	    severity_word(rule->severity));
}

static void
put_tool(const struct report *report, struct json_t *run)
{
	struct json_t *driver = json_put_object(json_put_object(run, "tool"),
			  "driver"),
		      *rules;

	json_put_text(driver, "name", "sbxc");
	json_put_text(driver, "version", PACKAGE_VERSION);
	rules = json_put_array(driver, "rules");
	for (size_t i = 0; i < report->rules.count; i++)
		put_rule(json_put_object(rules, NULL), &report->rules.items[i]);
}

static void
put_root(struct json_t *run)
{
	struct json_t *bases = json_put_object(run, "originalUriBaseIds");

	put_message(json_put_object(bases, "%SRCROOT%"), "description",
	    "The directory that sbxc was called in.");
}

void
report_write_sarif(const struct report *report, FILE *stream)
{
	struct sarif sarif = { .report = report, .arena = report->arena };
	struct json_t *root = json_root(), *run, *list;
	char cwd[PATH_MAX];

	if (getcwd(cwd, sizeof cwd) != NULL)
		sarif.cwd = arena_printf(sarif.arena, "%s/",
		    strcmp(cwd, "/") == 0 ? "" : cwd);
	json_put_text(root, "$schema", SCHEMA);
	json_put_text(root, "version", "2.1.0");
	run = json_put_object(json_put_array(root, "runs"), NULL);
	put_tool(report, run);
	json_put_text(run, "columnKind", "unicodeCodePoints");
	put_root(run);
	list = json_put_array(run, "results");
	for (size_t i = 0; i < report->findings.count; i++)
		put_result(&sarif, json_put_object(list, NULL),
		    &report->findings.items[i]);
	json_write(root, stream);
}

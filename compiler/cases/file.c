/*
 * See cases.h.  A map is read by a table of keys: each key has a function that
 * puts its value where it belongs.
 */
#include "compiler/cases/cases.h"
#include "compiler/tables/tables.h"

#include <stdlib.h>
#include <string.h>

/* What a key's value is put into; each table of keys uses some of it. */
struct reader {
	struct test_file *file;
	struct test_policy *policy;
	struct test_given *given;
	struct test_case *test;
	const struct yaml_node *accesses; /* the case's only verb, or NULL */
};

struct key {
	const char *name;
	void (*read)(struct reader *reader, const struct yaml_node *value);
};

/* A text that is not empty; NULL after reporting anything else. */
static const char *
text_of(const struct reader *reader, const struct yaml_node *value,
    const char *wanted)
{
	if (value->kind == YAML_TEXT && *value->text != '\0')
		return value->text;
	yaml_report_kind(&reader->file->diags, value, wanted);
	return NULL;
}

static const struct key *
key_find(const struct key *keys, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	}
	return NULL;
}

/* False if it has reported a key that is not known. */
static bool
keys_read(struct reader *reader, const struct yaml_node *map,
    const struct key *keys, size_t count)
{
	const char *names[16];
	bool good = true;

	for (size_t i = 0; i < count; i++)
		names[i] = keys[i].name;
	for (const struct yaml_node *entry = map->first; entry != NULL;
	     entry = entry->next) {
		const struct key *key = key_find(keys, count, entry->key->text);

		if (key != NULL) {
			key->read(reader, entry);
			continue;
		}
		yaml_report_key(&reader->file->diags, entry->key, names, count);
		good = false;
	}
	return good;
}

/* --- given ---------------------------------------------------------------- */

static struct diag *
report_unknown(const struct reader *reader, const struct yaml_node *value,
    const char *what)
{
	return diag_add(&reader->file->diags, DIAG_TEST_GIVEN, value->loc,
	    "unknown %s '%s'", what, value->text);
}

static void
given_level(struct reader *reader, const struct yaml_node *value)
{
	const char *text = text_of(reader, value, "a level");
	int level = text != NULL ? level_find(text) : -1;
	struct diag *diag;

	if (text == NULL)
		return;
	reader->given->level_loc = value->loc;
	if (level >= 0) {
		reader->given->level = (enum sbx_level)level;
		return;
	}
	diag = report_unknown(reader, value, "level");
	if (level_nearest(text) != NULL)
		diag_did_you_mean(diag, level_nearest(text));
	else
		diag_help(diag, "levels are full, standard, minimal and none");
}

static void
given_landlock(struct reader *reader, const struct yaml_node *value)
{
	const char *text = text_of(reader, value, "a number");
	char *end = NULL;
	long abi = text != NULL ? strtol(text, &end, 10) : 1;

	if (text == NULL)
		return;
	reader->given->abi = (int)abi;
	reader->given->abi_loc = value->loc;
	if (abi < 1 || abi > 1000 || *end != '\0' || *text == '+')
		diag_add(&reader->file->diags, DIAG_TEST_GIVEN, value->loc,
		    "'%s' is no ABI of Landlock: they count from 1", text);
}

static void
given_platform(struct reader *reader, const struct yaml_node *value)
{
	const char *text = text_of(reader, value, "a platform");

	if (text == NULL)
		return;
	reader->given->macos = strcmp(text, "macos") == 0;
	if (!reader->given->macos && strcmp(text, "linux") != 0)
		diag_help(report_unknown(reader, value, "platform"),
		    "platforms are linux and macos");
}

static void
given_arch(struct reader *reader, const struct yaml_node *value)
{
	const char *text = text_of(reader, value, "a machine");
	const struct arch *arch = text != NULL ? arch_find(text) : NULL;

	if (arch != NULL)
		reader->given->arch = arch;
	else if (text != NULL)
		diag_help(report_unknown(reader, value, "machine"),
		    "machines are x86_64 and aarch64");
}

static const struct key given_keys[] = {
	{ "level", given_level },
	{ "landlock", given_landlock },
	{ "platform", given_platform },
	{ "arch", given_arch },
};

/* A case overrules what the file says of the same directory. */
static void
given_put(struct arena *arena, struct test_given *given,
    const struct test_directory *directory)
{
	for (size_t i = 0; i < given->directories.count; i++) {
		struct test_directory *known = &given->directories.items[i];

		if (strcmp(known->name, directory->name) != 0)
			continue;
		*known = *directory;
		return;
	}
	*arena_push(arena, &given->directories) = *directory;
}

/* Any other name is that of a directory: the workspace, or a parameter, which
 * the policy may not have. */
static void
given_entry(struct reader *reader, const struct yaml_node *entry)
{
	const struct key *key = key_find(given_keys, countof(given_keys),
	    entry->key->text);
	struct test_directory directory = {
		.name = entry->key->text,
		.name_loc = entry->key->loc,
		.loc = entry->loc,
	};

	if (key != NULL) {
		key->read(reader, entry);
		return;
	}
	directory.path = text_of(reader, entry, "a directory");
	if (directory.path != NULL)
		given_put(reader->file->arena, reader->given, &directory);
}

static void
given_read(struct reader *reader, const struct yaml_node *value)
{
	if (value->kind != YAML_MAP) {
		yaml_report_kind(&reader->file->diags, value,
		    "a map such as { workspace: /src/app }");
		return;
	}
	for (const struct yaml_node *entry = value->first; entry != NULL;
	     entry = entry->next)
		given_entry(reader, entry);
}

/* --- cases ---------------------------------------------------------------- */

static const char *const verbs[] = {
	[TEST_ALLOW] = "allow",
	[TEST_DENY] = "deny",
	[TEST_ERROR] = "expect-error",
	[TEST_WARNING] = "expect-warning",
};

const char *
test_kind_word(enum test_kind kind)
{
	return verbs[kind];
}

static void
case_verb(struct reader *reader, const struct yaml_node *value)
{
	const struct yaml_node *before = reader->accesses;

	if (before != NULL) {
		struct diag *diag = diag_add(&reader->file->diags,
		    DIAG_TEST_CASE, value->key->loc,
		    "a case is one of allow, deny, "
		    "expect-error and expect-warning");

		diag_note(diag, before->key->loc, "it already is '%s'",
		    before->key->text);
		return;
	}
	reader->accesses = value;
	while (strcmp(verbs[reader->test->kind], value->key->text) != 0)
		reader->test->kind++;
}

static void
case_by(struct reader *reader, const struct yaml_node *value)
{
	reader->test->by = text_of(reader, value,
	    "a profile, a group or a place");
	reader->test->by_loc = value->loc;
}

static void
case_name(struct reader *reader, const struct yaml_node *value)
{
	reader->test->name = text_of(reader, value, "text");
}

static void
policy_path(struct reader *reader, const struct yaml_node *value)
{
	reader->policy->path = text_of(reader, value, "a policy");
	reader->policy->text = NULL;
	reader->policy->loc = value->loc;
}

static void
policy_text(struct reader *reader, const struct yaml_node *value)
{
	reader->policy->text = text_of(reader, value, "the text of a policy");
	reader->policy->path = NULL;
	reader->policy->loc = value->loc;
}

static void
policy_profile(struct reader *reader, const struct yaml_node *value)
{
	reader->policy->profile = text_of(reader, value,
	    "the name of a profile");
	reader->policy->profile_loc = value->loc;
}

static const struct key case_keys[] = {
	{ "allow", case_verb },
	{ "deny", case_verb },
	{ "expect-error", case_verb },
	{ "expect-warning", case_verb },
	{ "by", case_by },
	{ "given", given_read },
	{ "name", case_name },
	{ "policy", policy_path },
	{ "text", policy_text },
	{ "profile", policy_profile },
};

static void
case_push(struct reader *reader, const struct yaml_node *access)
{
	struct test_case *test;
	const char *text = text_of(reader, access,
	    reader->test->kind >= TEST_ERROR ?
		"a code" :
		"an access such as 'read /src/app/x'");

	if (text == NULL)
		return;
	test = arena_push(reader->file->arena, &reader->file->cases);
	*test = *reader->test;
	test->text = text;
	test->loc = access->loc;
}

static void
case_check(struct reader *reader, const struct yaml_node *node)
{
	struct diags *diags = &reader->file->diags;

	if (reader->accesses == NULL)
		diag_help(diag_add(diags, DIAG_TEST_CASE, node->loc,
			      "the case asks nothing"),
		    "a case has 'allow: ACCESS', 'deny: ACCESS' or "
		    "'expect-error: CODE'");
	else if (reader->accesses->kind == YAML_LIST &&
	    reader->accesses->count == 0)
		diag_add(diags, DIAG_TEST_CASE, reader->accesses->key->loc,
		    "the case asks nothing: its list is empty");
	else if (reader->test->by != NULL && reader->test->kind >= TEST_ERROR)
		diag_add(diags, DIAG_TEST_CASE, reader->test->by_loc,
		    "'by' goes with allow and deny");
}

/* A copy, so that the case changes an array of its own. */
static void
given_copy(struct arena *arena, const struct test_given *from,
    struct test_given *to)
{
	*to = *from;
	to->directories.items = NULL;
	to->directories.count = 0;
	for (size_t i = 0; i < from->directories.count; i++)
		given_put(arena, to, &from->directories.items[i]);
}

/* Cases share the policy and the bindings of the file if they have none of
 * their own: these are compiled and bound once. */
static void
case_place(struct reader *reader, const struct yaml_node *node)
{
	const struct test_file *file = reader->file;

	reader->test->given = yaml_find(node, "given") != NULL ? reader->given :
								 &file->given;
	reader->test->policy = yaml_find(node, "policy") != NULL ||
		yaml_find(node, "text") != NULL ||
		yaml_find(node, "profile") != NULL ?
	    reader->policy :
	    &file->policy;
	if (reader->test->policy->path == NULL &&
	    reader->test->policy->text == NULL && file->diags.errors == 0)
		diag_help(diag_add(&reader->file->diags, DIAG_TEST_FILE,
			      node->loc, "no policy is named"),
		    "add 'policy: FILE' at the top, or 'text:' here");
}

static void
case_read(struct test_file *file, const struct yaml_node *node)
{
	struct test_case test = { .kind = TEST_ALLOW };
	struct reader reader = {
		.file = file,
		.policy = arena_alloc(file->arena, sizeof *reader.policy),
		.given = arena_alloc(file->arena, sizeof *reader.given),
		.test = &test,
	};

	if (node->kind != YAML_MAP) {
		diag_help(yaml_report_kind(&file->diags, node, "a case"),
		    "as in: - deny: read ~/.ssh/id_rsa");
		return;
	}
	given_copy(file->arena, &file->given, reader.given);
	*reader.policy = file->policy;
	/* An unknown key may be a misspelt one: then none is missing. */
	if (keys_read(&reader, node, case_keys, countof(case_keys)))
		case_check(&reader, node);
	if (reader.accesses == NULL)
		return;
	case_place(&reader, node);
	if (reader.accesses->kind != YAML_LIST) {
		case_push(&reader, reader.accesses);
		return;
	}
	for (const struct yaml_node *access = reader.accesses->first;
	     access != NULL; access = access->next)
		case_push(&reader, access);
}

/* --- the file ------------------------------------------------------------- */

static void
file_version(struct reader *reader, const struct yaml_node *value)
{
	const char *text = text_of(reader, value, "1");

	if (text != NULL && strcmp(text, "1") != 0)
		diag_help(diag_add(&reader->file->diags, DIAG_TEST_FILE,
			      value->loc,
			      "version '%s' of test files is not known", text),
		    "this sbxc knows 'sbx-test: 1'");
}

/* The cases are read after all other keys. */
static void
file_cases(struct reader *reader, const struct yaml_node *value)
{
	if (value->kind != YAML_LIST)
		yaml_report_kind(&reader->file->diags, value,
		    "a list of cases");
}

static const struct key file_keys[] = {
	{ "sbx-test", file_version },
	{ "policy", policy_path },
	{ "text", policy_text },
	{ "profile", policy_profile },
	{ "given", given_read },
	{ "cases", file_cases },
};

static void
report_no_test(struct test_file *file, struct loc loc)
{
	diag_help(diag_add(&file->diags, DIAG_TEST_FILE, loc,
		      "'sbx-test: 1' is missing"),
	    "it tells test files from other YAML");
}

static void
file_check(struct test_file *file, const struct yaml_node *root)
{
	const struct yaml_node *text = yaml_find(root, "text");
	const struct yaml_node *cases = yaml_find(root, "cases");

	if (yaml_find(root, "sbx-test") == NULL)
		report_no_test(file, root->loc);
	if (text != NULL && yaml_find(root, "policy") != NULL)
		diag_add(&file->diags, DIAG_TEST_FILE, text->key->loc,
		    "there is a policy already: 'text' stands in its place");
	if (cases == NULL || (cases->kind == YAML_LIST && cases->count == 0))
		diag_help(diag_add(&file->diags, DIAG_TEST_FILE,
			      cases != NULL ? cases->key->loc : root->loc,
			      "there are no cases"),
		    "add 'cases:' and below it '- deny: read ~/.ssh/id_rsa'");
}

static void
file_read(struct test_file *file, const struct yaml_node *root)
{
	struct reader reader = {
		.file = file,
		.policy = &file->policy,
		.given = &file->given,
	};
	const struct yaml_node *cases = yaml_find(root, "cases");

	if (root->kind != YAML_MAP) {
		yaml_report_kind(&file->diags, root,
		    "a map that begins with 'sbx-test: 1'");
		return;
	}
	keys_read(&reader, root, file_keys, countof(file_keys));
	file_check(file, root);
	if (cases == NULL || cases->kind != YAML_LIST)
		return;
	for (const struct yaml_node *node = cases->first; node != NULL;
	     node = node->next)
		case_read(file, node);
}

bool
test_file_read(struct test_file *file, struct arena *arena, const char *path)
{
	static const struct test_directory usual[] = {
		{ .name = "home", .path = "/home/user" },
		{ .name = "runtime", .path = "/run/user/1000" },
		{ .name = "workspace", .path = "/home/user/work" },
	};
	struct source *source;
	struct yaml_node *root;

	*file = (struct test_file){
		.arena = arena,
		.given = { .level = SBX_LEVEL_FULL },
	};
	for (size_t i = 0; i < countof(usual); i++)
		given_put(arena, &file->given, &usual[i]);
	sources_init(&file->sources, arena);
	diags_init(&file->diags, arena, &file->sources);
	source = sources_read(&file->sources, path, path, (struct loc){ 0 });
	if (source == NULL)
		return false;
	file->source = source;
	if (source->withheld) {
		uint32_t at = source->base +
		    (uint32_t)(source_first_line(source) - source->text);

		report_no_test(file, (struct loc){ at, at });
		return true;
	}
	root = yaml_read(&file->sources, &file->diags, source);
	if (root != NULL)
		file_read(file, root);
	return true;
}

/* --- accesses ------------------------------------------------------------- */

/* The word in quotes that begins here; NULL without a closing quote. */
static const char *
quoted_word(struct arena *arena, const char **at)
{
	const char *from = *at + 1;
	char *word = arena_strndup(arena, from, strlen(from)), *end = word;

	while (*from != '"' && *from != '\0') {
		if (from[0] == '\\' && from[1] != '\0')
			from++;
		*end++ = *from++;
	}
	*end = '\0';
	if (*from == '\0')
		return NULL;
	*at = from + 1;
	return word;
}

const char *
test_words_split(struct arena *arena, const char *text,
    struct test_words *words)
{
	static const char blanks[] = " \t\n";
	const char *word;

	for (text += strspn(text, blanks); *text != '\0';
	     text += strspn(text, blanks)) {
		size_t len = strcspn(text, blanks);

		if (*text == '"') {
			word = quoted_word(arena, &text);
		} else {
			word = arena_strndup(arena, text, len);
			text += len;
		}
		if (word == NULL)
			return "a string without its closing quote";
		*arena_push(arena, &words->list) = word;
	}
	return NULL;
}

/*
 * See test_file.h.  Maps are read by tables of keys: a key has a function that
 * puts its value where it belongs.
 */
#include "compiler/cases/file.h"
#include "compiler/tables/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a key's value is put into; each table knows its own. */
struct target_of {
	struct test_file *file;
	struct test_policy *policy;
	struct test_given *given;
	struct test_case *test;
	const struct yaml_node *accesses; /* the case's only verb, or NULL */
};

struct key {
	const char *name;
	void (*read)(struct target_of *to, const struct yaml_node *value);
};

/* A text that says something; NULL after reporting anything else. */
static const char *
text_of(const struct target_of *to, const struct yaml_node *value,
    const char *wanted)
{
	if (value->kind == YAML_TEXT && *value->text != '\0')
		return value->text;
	yaml_report_kind(&to->file->diags, value, wanted);
	return NULL;
}

/* False if it has reported a key that is not known. */
static bool
keys_read(struct target_of *to, const struct yaml_node *map,
    const struct key *keys, size_t count)
{
	const char *names[16];
	bool good = true;

	for (size_t i = 0; i < count; i++)
		names[i] = keys[i].name;
	for (const struct yaml_node *entry = map->first; entry != NULL;
	     entry = entry->next) {
		size_t i = 0;

		while (i < count && strcmp(names[i], entry->key->text) != 0)
			i++;
		if (i < count) {
			keys[i].read(to, entry);
			continue;
		}
		yaml_report_key(&to->file->diags, entry->key, names, count);
		good = false;
	}
	return good;
}

/* --- given ---------------------------------------------------------------- */

static void
given_workspace(struct target_of *to, const struct yaml_node *value)
{
	to->given->workspace = text_of(to, value, "a directory");
	to->given->workspace_loc = value->loc;
}

static void
given_home(struct target_of *to, const struct yaml_node *value)
{
	to->given->home = text_of(to, value, "a directory");
	to->given->home_loc = value->loc;
}

static void
given_runtime(struct target_of *to, const struct yaml_node *value)
{
	to->given->runtime = text_of(to, value, "a directory");
	to->given->runtime_loc = value->loc;
}

static void
given_level(struct target_of *to, const struct yaml_node *value)
{
	const char *text = text_of(to, value, "a level");
	int level = text != NULL ? level_find(text) : -1;
	struct diag *diag;

	if (text == NULL)
		return;
	to->given->level_loc = value->loc;
	if (level >= 0) {
		to->given->level = (enum sbx_level)level;
		return;
	}
	diag = diag_add(&to->file->diags, DIAG_TEST_GIVEN, value->loc,
	    "unknown level '%s'", text);
	if (level_nearest(text) != NULL)
		diag_did_you_mean(&to->file->diags, diag, level_nearest(text));
	else
		diag_help(&to->file->diags, diag,
		    "levels are full, standard, minimal and none");
}

static void
given_landlock(struct target_of *to, const struct yaml_node *value)
{
	const char *text = text_of(to, value, "a number");
	char *end = NULL;
	long abi = text != NULL ? strtol(text, &end, 10) : 1;

	if (text == NULL)
		return;
	to->given->abi = (int)abi;
	to->given->abi_loc = value->loc;
	if (abi < 1 || abi > 1000 || *end != '\0' || *text == '+')
		diag_add(&to->file->diags, DIAG_TEST_GIVEN, value->loc,
		    "'%s' is no ABI of Landlock: they count from 1", text);
}

static void
given_platform(struct target_of *to, const struct yaml_node *value)
{
	const char *text = text_of(to, value, "a platform");

	if (text == NULL)
		return;
	to->given->macos = strcmp(text, "macos") == 0;
	if (!to->given->macos && strcmp(text, "linux") != 0)
		diag_help(&to->file->diags,
		    diag_add(&to->file->diags, DIAG_TEST_GIVEN, value->loc,
			"unknown platform '%s'", text),
		    "platforms are linux and macos");
}

static void
given_arch(struct target_of *to, const struct yaml_node *value)
{
	const char *text = text_of(to, value, "a machine");

	for (size_t i = 0; text != NULL && i < arch_count; i++) {
		if (strcmp(arches[i].name, text) != 0)
			continue;
		to->given->arch = &arches[i];
		return;
	}
	if (text != NULL)
		diag_help(&to->file->diags,
		    diag_add(&to->file->diags, DIAG_TEST_GIVEN, value->loc,
			"unknown machine '%s'", text),
		    "machines are x86_64 and aarch64");
}

static const struct key given_keys[] = {
	{ "workspace", given_workspace },
	{ "home", given_home },
	{ "runtime", given_runtime },
	{ "level", given_level },
	{ "landlock", given_landlock },
	{ "platform", given_platform },
	{ "arch", given_arch },
};

/* What is no key here may be a parameter of the policy. */
static void
given_entry(struct target_of *to, const struct yaml_node *entry)
{
	for (size_t i = 0; i < countof(given_keys); i++) {
		if (strcmp(given_keys[i].name, entry->key->text) == 0) {
			given_keys[i].read(to, entry);
			return;
		}
	}
	if (text_of(to, entry, "a directory") != NULL)
		*arena_push(to->file->arena,
		    &to->given->params) = (struct test_param){
			.name = entry->key->text,
			.path = entry->text,
			.name_loc = entry->key->loc,
			.loc = entry->loc,
		};
}

static void
given_read(struct target_of *to, const struct yaml_node *value)
{
	if (value->kind != YAML_MAP) {
		yaml_report_kind(&to->file->diags, value,
		    "a map such as { workspace: /src/app }");
		return;
	}
	for (const struct yaml_node *entry = value->first; entry != NULL;
	     entry = entry->next)
		given_entry(to, entry);
}

/* --- cases ---------------------------------------------------------------- */

static void
case_verb(struct target_of *to, const struct yaml_node *value,
    enum test_kind kind)
{
	if (to->accesses != NULL) {
		struct diag *diag = diag_add(&to->file->diags, DIAG_TEST_CASE,
		    value->key->loc,
		    "a case is one of allow, deny, "
		    "expect-error and expect-warning");

		diag_note(&to->file->diags, diag, to->accesses->key->loc,
		    "it already is '%s'", to->accesses->key->text);
		return;
	}
	to->accesses = value;
	to->test->kind = kind;
}

static void
case_allow(struct target_of *to, const struct yaml_node *value)
{
	case_verb(to, value, TEST_ALLOW);
}

static void
case_deny(struct target_of *to, const struct yaml_node *value)
{
	case_verb(to, value, TEST_DENY);
}

static void
case_error(struct target_of *to, const struct yaml_node *value)
{
	case_verb(to, value, TEST_ERROR);
}

static void
case_warning(struct target_of *to, const struct yaml_node *value)
{
	case_verb(to, value, TEST_WARNING);
}

static void
case_by(struct target_of *to, const struct yaml_node *value)
{
	to->test->by = text_of(to, value, "a profile, a group or a place");
	to->test->by_loc = value->loc;
}

static void
case_name(struct target_of *to, const struct yaml_node *value)
{
	to->test->name = text_of(to, value, "text");
}

static void
policy_path(struct target_of *to, const struct yaml_node *value)
{
	to->policy->path = text_of(to, value, "a policy");
	to->policy->text = NULL;
	to->policy->loc = value->loc;
}

static void
policy_text(struct target_of *to, const struct yaml_node *value)
{
	to->policy->text = text_of(to, value, "the text of a policy");
	to->policy->path = NULL;
	to->policy->loc = value->loc;
}

static void
policy_profile(struct target_of *to, const struct yaml_node *value)
{
	to->policy->profile = text_of(to, value, "the name of a profile");
}

static const struct key case_keys[] = {
	{ "allow", case_allow },
	{ "deny", case_deny },
	{ "expect-error", case_error },
	{ "expect-warning", case_warning },
	{ "by", case_by },
	{ "given", given_read },
	{ "name", case_name },
	{ "policy", policy_path },
	{ "text", policy_text },
	{ "profile", policy_profile },
};

static void
case_push(struct target_of *to, const struct yaml_node *access)
{
	struct test_case *test;
	const char *text = text_of(to, access,
	    to->test->kind >= TEST_ERROR ?
		"a code" :
		"an access such as 'read /src/app/x'");

	if (text == NULL)
		return;
	test = arena_push(to->file->arena, &to->file->cases);
	*test = *to->test;
	test->text = text;
	test->loc = access->loc;
}

static void
case_check(struct target_of *to, const struct yaml_node *node)
{
	struct diags *diags = &to->file->diags;

	if (to->accesses == NULL)
		diag_help(diags,
		    diag_add(diags, DIAG_TEST_CASE, node->loc,
			"the case asks nothing"),
		    "a case has 'allow: ACCESS', 'deny: ACCESS' or "
		    "'expect-error: CODE'");
	else if (to->accesses->kind == YAML_LIST && to->accesses->count == 0)
		diag_add(diags, DIAG_TEST_CASE, to->accesses->key->loc,
		    "the case asks nothing: its list is empty");
	else if (to->test->by != NULL && to->test->kind >= TEST_ERROR)
		diag_add(diags, DIAG_TEST_CASE, to->test->by_loc,
		    "'by' goes with allow and deny");
}

/* A copy: what the case adds goes into an array of its own. */
static void
given_copy(struct arena *arena, const struct test_given *from,
    struct test_given *to)
{
	*to = *from;
	to->params.items = NULL;
	to->params.count = 0;
	for (size_t i = 0; i < from->params.count; i++)
		*arena_push(arena, &to->params) = from->params.items[i];
}

/* Cases without anything of their own share what the file has, so that it is
 * compiled and bound once. */
static void
case_place(struct target_of *to, const struct yaml_node *node)
{
	const struct test_file *file = to->file;

	to->test->given = yaml_find(node, "given") != NULL ? to->given :
							     &file->given;
	to->test->policy = yaml_find(node, "policy") != NULL ||
		yaml_find(node, "text") != NULL ||
		yaml_find(node, "profile") != NULL ?
	    to->policy :
	    &file->policy;
	if (to->test->policy->path == NULL && to->test->policy->text == NULL &&
	    file->diags.errors == 0)
		diag_help(&to->file->diags,
		    diag_add(&to->file->diags, DIAG_TEST_FILE, node->loc,
			"no policy is named"),
		    "add 'policy: FILE' at the top, or 'text:' here");
}

static void
case_read(struct test_file *file, const struct yaml_node *node)
{
	struct test_case test = { .kind = TEST_ALLOW };
	struct target_of to = {
		.file = file,
		.policy = arena_alloc(file->arena, sizeof *to.policy),
		.given = arena_alloc(file->arena, sizeof *to.given),
		.test = &test,
	};

	if (node->kind != YAML_MAP) {
		diag_help(&file->diags,
		    yaml_report_kind(&file->diags, node, "a case"),
		    "as in: - deny: read ~/.ssh/id_rsa");
		return;
	}
	given_copy(file->arena, &file->given, to.given);
	*to.policy = file->policy;
	/* A key that is not known may have been the one that is missing. */
	if (keys_read(&to, node, case_keys, countof(case_keys)))
		case_check(&to, node);
	if (to.accesses == NULL)
		return;
	case_place(&to, node);
	if (to.accesses->kind != YAML_LIST) {
		case_push(&to, to.accesses);
		return;
	}
	for (const struct yaml_node *access = to.accesses->first;
	     access != NULL; access = access->next)
		case_push(&to, access);
}

/* --- the file ------------------------------------------------------------- */

static void
file_version(struct target_of *to, const struct yaml_node *value)
{
	const char *text = text_of(to, value, "1");

	if (text != NULL && strcmp(text, "1") != 0)
		diag_help(&to->file->diags,
		    diag_add(&to->file->diags, DIAG_TEST_FILE, value->loc,
			"version '%s' of test files is not known", text),
		    "this sbxc knows 'sbx-test: 1'");
}

/* The cases are read when all else is. */
static void
file_cases(struct target_of *to, const struct yaml_node *value)
{
	if (value->kind != YAML_LIST)
		yaml_report_kind(&to->file->diags, value, "a list of cases");
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
file_check(struct test_file *file, const struct yaml_node *root)
{
	const struct yaml_node *text = yaml_find(root, "text");
	const struct yaml_node *cases = yaml_find(root, "cases");

	if (yaml_find(root, "sbx-test") == NULL)
		diag_help(&file->diags,
		    diag_add(&file->diags, DIAG_TEST_FILE, root->loc,
			"'sbx-test: 1' is missing"),
		    "it tells test files from other YAML");
	if (text != NULL && yaml_find(root, "policy") != NULL)
		diag_add(&file->diags, DIAG_TEST_FILE, text->key->loc,
		    "there is a policy already: 'text' stands in its place");
	if (cases == NULL || (cases->kind == YAML_LIST && cases->count == 0))
		diag_help(&file->diags,
		    diag_add(&file->diags, DIAG_TEST_FILE,
			cases != NULL ? cases->key->loc : root->loc,
			"there are no cases"),
		    "add 'cases:' and below it '- deny: read ~/.ssh/id_rsa'");
}

static void
file_read(struct test_file *file, const struct yaml_node *root)
{
	struct target_of to = {
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
	keys_read(&to, root, file_keys, countof(file_keys));
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
	struct source *source;
	struct yaml_node *root;

	*file = (struct test_file){
		.arena = arena,
		.given = {
			.workspace = "/home/user/work",
			.home = "/home/user",
			.runtime = "/run/user/1000",
			.level = SBX_LEVEL_FULL,
			.arch = &arches[0],
		},
	};
	sources_init(&file->sources, arena);
	diags_init(&file->diags, arena, &file->sources);
	source = sources_read(&file->sources, path, path, (struct loc){ 0 });
	if (source == NULL)
		return false;
	file->source = source;
	root = yaml_read(&file->sources, &file->diags, source);
	if (root != NULL)
		file_read(file, root);
	return true;
}

/* --- accesses ------------------------------------------------------------- */

/* The word in quotes that begins here; NULL if it does not end. */
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

/*
 * `sbxc allow`: a rule goes into the policy of the user's that decides, and what
 * that opens is shown first.  It may be a deny, too.
 *
 *	--for POLICY    the text that changes
 *	nothing         default.sbx, which extends coding if it is not there
 *	@NAME           one's own, or the one that extends a shipped profile
 *	FILE.sbx        that file, or one of YAML
 *	FILE.bin        the text beside it
 *
 * The blob beside a text is compiled again.  All of it happens under a lock on the
 * directory of the text, so that of two changes at once none is lost.
 */
#include "compiler/base/base.h"
#include "compiler/cases/cases.h"
#include "compiler/command/commands.h"
#include "compiler/policy/kind.h"
#include "compiler/policy/policy.h"
#include "compiler/query/why.h"
#include "compiler/read/read.h"
#include "compiler/setup/setup.h"
#include "compiler/write/write.h"
#include "format/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOCK_TRIES = 50 /* a tenth of a second each */ };

/* --- the rule ------------------------------------------------------------- */

static bool
is_right(const char *word)
{
	return strcmp(word, "read") == 0 || strcmp(word, "write") == 0 ||
	    strcmp(word, "exec") == 0;
}

/* A path as a rule is to have it: from ~ where it lies in the home, so that it
 * holds on other machines; what the shell left relative, from here. */
static const char *
path_word(struct arena *arena, const char *word)
{
	const char *home = getenv("HOME");
	size_t len = home != NULL ? strlen(home) : 0;
	char *here;

	if (strchr("~$/\"{", word[0]) == NULL) {
		here = realpath(".", NULL);
		while (strncmp(word, "./", 2) == 0)
			word += 2;
		if (here != NULL)
			word = strcmp(word, ".") == 0 ?
			    arena_printf(arena, "%s", here) :
			    arena_printf(arena, "%s/%s", here, word);
		free(here);
	}
	if (len > 1 && strncmp(word, home, len) == 0 &&
	    (word[len] == '/' || word[len] == '\0'))
		word = arena_printf(arena, "~%s", word + len);
	len = strlen(word);
	while (len > 1 && word[len - 1] == '/')
		len--;
	return arena_strndup(arena, word, len);
}

/* A word of the command line as a word of the language. */
static const char *
quoted(struct arena *arena, const char *word)
{
	const char *text = "";

	if (word[strcspn(word, " \t\n\"\\#{}")] == '\0' ||
	    strncmp(word, "${", 2) == 0)
		return word;
	for (; *word != '\0'; word++)
		text = arena_printf(arena, "%s%s%c", text,
		    *word == '"' || *word == '\\' ? "\\" : "", *word);
	return arena_printf(arena, "\"%s\"", text);
}

/* The operands as a statement.  One with a blank is a whole rule. */
static const char *
rule_of_words(const struct allowing *allowing)
{
	const struct words *operands = &allowing->options->operands;
	size_t count = operands->list.count, i = 0;
	const char *const *words = operands->list.items;
	const char *text;
	bool paths;

	if (count == 1 && strchr(words[0], ' ') != NULL)
		return strncmp(words[0], "allow ", 6) == 0 ||
			strncmp(words[0], "deny ", 5) == 0 ||
			strncmp(words[0], "use ", 4) == 0 ?
		    words[0] :
		    arena_printf(allowing->arena, "allow %s", words[0]);
	text = strcmp(words[0], "use") == 0 || strcmp(words[0], "deny") == 0 ?
	    words[0] :
	    "allow";
	i += strcmp(words[0], text) == 0;
	if (i < count && strcmp(words[i], "domain") == 0)
		text = arena_printf(allowing->arena, "%s network", text);
	paths = i < count && is_right(words[i]);
	for (size_t first = i; i < count; i++)
		text = arena_printf(allowing->arena, "%s %s", text,
		    quoted(allowing->arena,
			paths && i > first ?
			    path_word(allowing->arena, words[i]) :
			    words[i]));
	return text;
}

static bool
read_rule(struct allowing *allowing)
{
	if (allowing->options->operands.list.count == 0) {
		misused("a rule is missing: sbxc allow read ~/data");
		return false;
	}
	allowing->stmt = extra_parse(allowing->options, "allow",
	    rule_of_words(allowing));
	if (allowing->stmt == NULL)
		return false;
	allowing->rule = extra_text(allowing->arena, allowing->stmt);
	return true;
}

/* --- what may not be ------------------------------------------------------ */

/* The words of a question about one of the paths of the rule. */
static bool
ask_path(const struct subject *subject, const char *right, const char *path,
    struct access *access)
{
	const char *words[] = { right, path };

	return access_parse(&subject->places, words, 2, access) == NULL;
}

/* Why nobody is offered the right to a place, or NULL. */
static const char *
find_risk(const struct allowing *allowing, const struct subject *subject,
    const struct access *access)
{
	struct verdict verdict = verdict_of(subject, access);
	const struct remedy remedy = {
		.arena = allowing->arena,
		.subject = subject,
		.blob = subject->places.blob,
		.access = access,
		.verdict = &verdict,
	};

	return remedy_risk(&remedy, access->path);
}

/* What sbx keeps, or a deny without --force: the rule would change nothing. */
static void
complain_kept(const struct subject *subject, const struct access *access,
    bool liftable)
{
	why(stdout, subject, access, true);
	fflush(stdout);
	complain("a deny beats every allow: the rule would change nothing, and "
		 "was not written%s",
	    liftable ? "; --force lifts the deny, too" : "");
}

static enum exit_status
judge_path(const struct allowing *allowing, const struct subject *subject,
    const struct ast_atom *path, struct kept *kept)
{
	const char *right = allowing->stmt->words.first->text, *risk;
	bool force = allowing->options->force;
	struct verdict verdict;
	struct access access;

	if (path->kind != AST_PATH ||
	    !ask_path(subject, right, path->text, &access))
		return EXIT_CLEAN;
	verdict = verdict_of(subject, &access);
	if (!verdict.allowed && verdict.by == BY_PATH && force) {
		const struct sbx_path *deny =
		    &allowing->new.blob.paths[verdict.rule];

		*kept = (struct kept){
			.words = shown_rule(allowing->arena,
			    &allowing->new.blob, deny),
			.source = deny->source,
			.object = path->text,
		};
		return EXIT_CLEAN;
	}
	if (!verdict.allowed) {
		complain_kept(subject, &access, verdict.by == BY_PATH);
		return EXIT_POLICY;
	}
	risk = force ? NULL : find_risk(allowing, subject, &access);
	if (risk == NULL)
		return EXIT_CLEAN;
	complain("%s %s: %s; --force writes it all the same", right, path->text,
	    risk);
	return EXIT_POLICY;
}

static enum exit_status
judge_variable(const struct allowing *allowing, const struct subject *subject,
    const struct ast_atom *name, struct kept *kept)
{
	const struct sbx_blob *blob = &allowing->new.blob;
	const struct access access = { .kind = KIND_ENV, .name = name->text };
	const struct verdict verdict = verdict_of(subject, &access);

	if (strchr(name->text, '*') != NULL || verdict.allowed ||
	    verdict.by != BY_ENV)
		return EXIT_CLEAN;
	if (!allowing->options->force) {
		complain_kept(subject, &access, true);
		return EXIT_POLICY;
	}
	*kept = (struct kept){
		.words = record_text(allowing->arena, blob,
		    rule_kinds[KIND_ENV], &blob->env[verdict.rule]),
		.source = verdict.source,
		.object = name->text,
		.variable = true,
	};
	return EXIT_CLEAN;
}

static enum exit_status
judge(const struct allowing *allowing, struct kept *kept)
{
	const struct ast_atom *word = allowing->stmt->words.first;
	const struct blocks *blocks = allowing->new.compilation.blocks;
	struct subject subject;
	enum exit_status status;
	bool variable;

	kept->words = NULL;
	if (allowing->stmt->kind != AST_RULE || word == NULL ||
	    allowing->stmt->effect != SBX_ALLOW)
		return EXIT_CLEAN;
	variable = strcmp(word->text, "env") == 0;
	if (!variable && !is_right(word->text))
		return EXIT_CLEAN;
	status = subjects_bind(allowing->options, &allowing->new.blob, &blocks,
	    1, &subject);
	for (const struct ast_atom *at = allowing_objects(allowing->stmt);
	     at != NULL && status == EXIT_CLEAN && kept->words == NULL;
	     at = at->next)
		status = variable ?
		    judge_variable(allowing, &subject, at, kept) :
		    judge_path(allowing, &subject, at, kept);
	return status;
}

/* Compiles and judges the new text; with --force, lifts one deny after the
 * other. */
static enum exit_status
judge_text(struct allowing *allowing, const char **text)
{
	enum { DENIES_MAX = 16 };
	struct kept kept;
	enum exit_status status;

	for (int i = 0; i < DENIES_MAX; i++) {
		allowing->new = (struct operand){ .state = OPERAND_UNREAD };
		if (!allowing_compile(allowing, *text, &allowing->new))
			return EXIT_POLICY;
		status = allowing->options->remove ? EXIT_CLEAN :
						     judge(allowing, &kept);
		if (allowing->options->remove || status != EXIT_CLEAN ||
		    kept.words == NULL)
			return status;
		*text = allowing_lifted(allowing, &kept);
		if (*text == NULL)
			return EXIT_POLICY;
	}
	complain("more denies keep it than are lifted at once");
	return EXIT_POLICY;
}

/* What the compiler says of the new line alone; whether that is that a file cannot
 * be replaced, which is said here once. */
static bool
print_warnings(const struct allowing *allowing)
{
	bool single = false;
	const struct compilation *compilation = &allowing->new.compilation;
	uint32_t begin = compilation->file->base + allowing->begin;
	struct diags own = compilation->diags;

	memset(&own.records, 0, sizeof own.records);
	own.errors = own.warnings = own.notes = 0;
	for (size_t i = 0; i < compilation->diags.records.count; i++) {
		const struct diag *diag = &compilation->diags.records.items[i];

		if (diag->loc.begin < begin ||
		    diag->loc.begin > compilation->file->base + allowing->end ||
		    diag->severity != SEVERITY_WARNING)
			continue;
		*arena_push(allowing->arena, &own.records) = *diag;
		own.warnings++;
		single |= diag->id == DIAG_SINGLE_FILE;
	}
	fflush(stdout);
	if (own.warnings > 0)
		options_print(allowing->options, &own);
	return single;
}

static const char *
with_reason(const struct allowing *allowing, const char *text)
{
	const char *end = strstr(text + allowing->begin, allowing->rule);

	if (end == NULL ||
	    strcmp(strrchr(allowing->text_path, '.'), ".sbx") != 0)
		return text;
	end += strlen(allowing->rule);
	return arena_printf(allowing->arena,
	    "%.*s  # sbx: ignore SBX0612 -- by sbxc allow%s", (int)(end - text),
	    text, end);
}

/* --- writing -------------------------------------------------------------- */

/* The differences; how many there are. */
static size_t
print_difference(const struct allowing *allowing)
{
	struct diff diff = {
		.options = allowing->options,
		.files = { allowing->text_path, allowing->text_path },
		.labels = { "old", "new" },
		.blobs = { allowing->old.blob, allowing->new.blob },
	};
	size_t count;

	diff.comparison = (struct comparison){
		.arena = allowing->arena,
		.blobs = { &diff.blobs[SIDE_OLD], &diff.blobs[SIDE_NEW] },
	};
	compare(&diff.comparison);
	comparison_join(&diff.comparison);
	/* That a new policy has no `about` opens nothing. */
	count = diff.comparison.counts[CHANGE_WIDER] +
	    diff.comparison.counts[CHANGE_NARROWER] +
	    diff.comparison.counts[CHANGE_MAYBE_WIDER] +
	    diff.comparison.counts[CHANGE_MAYBE_NARROWER];
	diff_print(&diff, CHANGE_ALL & ~CHANGE_BIT(CHANGE_NEUTRAL), stdout);
	return count;
}

/* In the directory that was locked, whatever its path leads to by now: a command
 * may have put a link to the user's own policies there meanwhile. */
static enum exit_status
write_all(const struct allowing *allowing, const char *text)
{
	struct output outputs[2] = { {
	    .path = path_name(allowing->text_path),
	    .bytes = text,
	    .size = strlen(text),
	    .like = allowing->shipped == NULL ? &allowing->text_status : NULL,
	    .stays = true,
	} };
	size_t count = 1;
	const char *failed = outputs[0].path;

	if (allowing->blob_path != NULL) {
		outputs[count++] = (struct output){
			.path = path_name(allowing->blob_path),
			.bytes = allowing->new.blob.base,
			.size = allowing->new.blob.size +
			    allowing->new.blob.text_size,
			.like = &allowing->blob_status,
			.stays = true,
		};
	}
	if (fchdir(allowing->directory) == 0 &&
	    outputs_write(outputs, count, &failed))
		return EXIT_CLEAN;
	complain("cannot write '%s': %s",
	    failed == outputs[0].path ? allowing->text_path :
					allowing->blob_path,
	    strerror(errno));
	return EXIT_TROUBLE;
}

/* Which commands it decides about from now on. */
static void
say_use(const struct allowing *allowing)
{
	const char *directory = named_directory(allowing->arena);
	const char *name = path_name(allowing->text_path);
	size_t len = directory != NULL ? strlen(directory) : 0;
	bool own = directory != NULL &&
	    strncmp(allowing->text_path, directory, len) == 0 &&
	    allowing->text_path[len] == '/';

	printf("written: %s%s%s\n", allowing->text_path,
	    allowing->blob_path != NULL ? " and " : "",
	    allowing->blob_path != NULL ? allowing->blob_path : "");
	if (own && strcmp(name, "default.sbx") == 0)
		puts("used by: sbxrun CMD, without a policy, and sbxrun "
		     "@default -- CMD");
	else if (own)
		printf("used by: sbxrun @%.*s -- CMD, and what names %s\n",
		    (int)strlen(name) - 4, name,
		    allowing->blob_path != NULL ? allowing->blob_path :
						  allowing->text_path);
	else
		printf("used by: sbxrun %s -- CMD\n",
		    allowing->blob_path != NULL ? allowing->blob_path :
						  allowing->text_path);
	puts("commands that run, and named sessions, keep the old policy until "
	     "they end");
}

/* --- sessions ------------------------------------------------------------- */

/* Whether the session has the policy that was changed. */
static bool
has_policy(const struct allowing *allowing, const struct json_t *session)
{
	const char *name = json_text(session, "name");
	const char *policy = json_text(session, "policy");
	char *real;
	bool is;

	if (name == NULL || policy == NULL || strncmp(name, "auto-", 5) != 0)
		return false;
	if (policy[0] == '@')
		policy = arena_printf(allowing->arena, "%s/%s.sbx",
		    named_directory(allowing->arena), policy + 1);
	real = realpath(policy, NULL);
	is = real != NULL &&
	    (strcmp(real, allowing->text_path) == 0 ||
		(allowing->blob_path != NULL &&
		    strcmp(real, allowing->blob_path) == 0));
	free(real);
	return is;
}

/* Sessions of agents have no name that anybody knows: those of the old policy end,
 * as soon as nothing runs in them, and the next command makes a new one. */
static void
end_sessions(const struct allowing *allowing)
{
	const char *sbxrun = machine_sbxrun(allowing->arena);
	const char *words[] = { sbxrun, "--sessions", "--json", NULL };
	struct json_t *all;
	const struct json_t *list;

	if (sbxrun == NULL)
		return;
	all = json_read(program_run(allowing->arena, words, NULL, -1).out);
	list = json_member(all, "sessions");
	for (size_t i = 0; i < json_count(list); i++) {
		const struct json_t *session = json_item(list, i);
		const char *name = json_text(session, "name");
		const char *end[] = { sbxrun, "--session", name, "--end=idle",
			NULL };

		if (!has_policy(allowing, session) ||
		    program_run(allowing->arena, end, NULL, -1).status != 0)
			continue;
		printf(json_number(session, "commands") == 0 ?
			"ended: session %s, which had the old policy\n" :
			"session %s ends when its commands do; new ones have "
			"the new policy\n",
		    name);
	}
	json_release(all);
}

/* --- the command ---------------------------------------------------------- */

/* Nobody inside decides about the policy; an agent is told whom to ask. */
static bool
is_inside(const struct allowing *allowing)
{
	const struct words *operands = &allowing->options->operands;
	const char *command = "sbxc allow";

	if (syscall(SYS_ioprio_set, SBX_INSIDE_WHICH, 0, 0) == 0 ||
	    errno != SBX_INSIDE_ERRNO)
		return false;
	for (size_t i = 0; i < operands->list.count; i++)
		command = arena_printf(allowing->arena, "%s %s", command,
		    shell_word(allowing->arena, operands->list.items[i]));
	complain("a sandbox does not change its policy: ask your user to run, "
		 "outside of it: %s",
	    command);
	return true;
}

/* An open directory that is locked until the end; -1 after complaining. */
static int
lock(struct allowing *allowing)
{
	const char *slash = strrchr(allowing->text_path, '/');
	const char *directory = slash == NULL ?
	    "." :
	    arena_strndup(allowing->arena, allowing->text_path,
		(size_t)(slash - allowing->text_path) + 1);
	int fd;

	if (allowing->shipped != NULL) {
		char *at = arena_printf(allowing->arena, "%s", directory);

		for (char *next = at + 1; (next = strchr(next, '/')) != NULL;
		     next++) {
			*next = '\0';
			if (mkdir(at, 0700) == 0 && allowing->made == NULL)
				allowing->made = arena_printf(allowing->arena,
				    "%s", at);
			*next = '/';
		}
	}
	/* The path of a text that is there has no links: choose_file() has followed
	 * them, and one that has come since is not the user's. */
	fd = (int)syscall(SYS_openat2, AT_FDCWD, directory,
	    &(struct open_how){
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = allowing->shipped == NULL ? RESOLVE_NO_SYMLINKS : 0,
	    },
	    sizeof(struct open_how));
	if (fd < 0) {
		complain_unread(directory);
		return -1;
	}
	for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
		if (tries == LOCK_TRIES) {
			complain("something has locked '%s' for %d seconds: "
				 "another sbxc, or a command that may read it",
			    directory, LOCK_TRIES / 10);
			close(fd);
			return -1;
		}
		usleep(100000);
	}
	return fd;
}

/* What was made for a policy that is not there; others may use it by now. */
static void
remove_made(const struct allowing *allowing)
{
	char *at = arena_printf(allowing->arena, "%s", allowing->text_path);
	size_t len = allowing->made != NULL ? strlen(allowing->made) :
					      strlen(at);

	while (len < strlen(at)) {
		*strrchr(at, '/') = '\0';
		if (rmdir(at) != 0)
			return;
	}
}

static enum exit_status
change(struct allowing *allowing)
{
	const char *text;
	enum exit_status status;

	if (!allowing_read(allowing))
		return EXIT_POLICY;
	text = allowing->options->remove ? allowing_without(allowing) :
					   allowing_with(allowing);
	if (text == NULL)
		return EXIT_POLICY;
	if (text == allowing->text)
		return EXIT_CLEAN;
	status = judge_text(allowing, &text);
	if (status != EXIT_CLEAN)
		return status;
	printf("%s  %s\n%s: %s\n", allowing->options->remove ? "-" : "+",
	    allowing->rule, allowing->shipped != NULL ? "new policy" : "policy",
	    allowing->text_path);
	if (print_difference(allowing) == 0 && !allowing->options->remove &&
	    allowing->stmt->effect == SBX_ALLOW) {
		complain("not written: this opens nothing, because it is "
			 "allowed already or a deny keeps it ('sbxc why' says "
			 "which)");
		return EXIT_POLICY;
	}
	if (!allowing->options->remove && print_warnings(allowing))
		text = with_reason(allowing, text);
	if (!options_agree(allowing->options,
		arena_printf(allowing->arena, "Write this to %s?",
		    allowing->text_path)))
		return EXIT_USAGE;
	status = write_all(allowing, text);
	if (status != EXIT_CLEAN)
		return status;
	say_use(allowing);
	end_sessions(allowing);
	return status;
}

static enum exit_status
list(struct allowing *allowing, const char *path)
{
	struct compilation compilation;

	compilation_init(&compilation, allowing->arena);
	if (!compilation_open(&compilation, path)) {
		complain_unread(path);
		return EXIT_TROUBLE;
	}
	for (const struct ast_stmt *profile = compilation.stmts;
	     profile != NULL; profile = profile->next) {
		for (const struct ast_stmt *stmt =
			 profile->kind == AST_PROFILE ? profile->body : NULL;
		     stmt != NULL; stmt = stmt->next) {
			if ((stmt->kind != AST_RULE && stmt->kind != AST_USE) ||
			    stmt->drop)
				continue;
			printf("%s:%u: ", path,
			    sources_position(&compilation.sources, stmt->loc)
				.line);
			write_sbx_statement(stdout, stmt);
		}
	}
	return EXIT_CLEAN;
}

static enum exit_status
list_all(struct allowing *allowing)
{
	struct words names = { .list.count = 0 };
	enum exit_status worst = EXIT_CLEAN;

	if (allowing->options->operands.list.count > 0)
		return misused("--list takes no rule; --for chooses a policy");
	if (allowing->options->target != NULL) {
		if (!allowing_choose(allowing))
			return EXIT_USAGE;
		return allowing->shipped != NULL ?
		    EXIT_CLEAN :
		    list(allowing, allowing->text_path);
	}
	named_list(allowing->arena, &names);
	for (size_t i = 0; i < names.list.count; i++) {
		const char *path = named_file(allowing->arena,
		    names.list.items[i]);
		enum exit_status status = path != NULL &&
			strcmp(path + strlen(path) - 4, ".sbx") == 0 ?
		    list(allowing, path) :
		    EXIT_CLEAN;

		worst = status > worst ? status : worst;
	}
	return worst;
}

enum exit_status
command_allow(struct options *options)
{
	struct allowing allowing = {
		.options = options,
		.arena = options->arena,
		.old = { .state = OPERAND_UNREAD },
		.new = { .state = OPERAND_UNREAD },
	};
	enum exit_status status;

	if (options->list)
		return list_all(&allowing);
	if (is_inside(&allowing))
		return EXIT_POLICY;
	if (!read_rule(&allowing) || !allowing_choose(&allowing))
		return EXIT_USAGE;
	if (options->remove && allowing.shipped != NULL) {
		complain("no policy of yours has such a rule");
		return EXIT_POLICY;
	}
	allowing.directory = lock(&allowing);
	if (allowing.directory < 0)
		return EXIT_TROUBLE;
	status = change(&allowing);
	if (status != EXIT_CLEAN)
		remove_made(&allowing);
	close(allowing.directory);
	return status;
}

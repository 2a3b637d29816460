/*
 * `sbxc allow`: a rule goes into the policy of the user's that decides, and what
 * that opens is shown first.
 *
 *	--for POLICY    the text that changes
 *	nothing         default.sbx, which extends coding if it is not there
 *	@NAME           one's own, or the one that extends a shipped profile
 *	FILE.sbx        that file
 *	FILE.bin        FILE.sbx beside it
 *
 * The blob beside a text is compiled again.  All of it happens under a lock on the
 * directory of the text, so that of two changes at once none is lost.
 */
#include "compiler/base/base.h"
#include "compiler/command/commands.h"
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

struct allowing {
	const struct options *options;
	struct arena *arena;
	const char *text_path, *blob_path; /* blob_path: NULL: there is none */
	const char *shipped; /* what a new text extends; NULL: it is there */
	const char *profile; /* that is changed, or NULL: the only one */
	const char *text;    /* as it was */
	struct operand old, new;
	const struct ast_stmt *stmt; /* the rule, and how it is written */
	const char *rule;
	uint32_t begin; /* of the new line in the new text */
	int directory;  /* of both, locked */
	struct stat text_status, blob_status;
};

static bool
ends_with(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);

	return len > end_len && strcmp(path + len - end_len, end) == 0;
}

static const char *
with_end(struct arena *arena, const char *path, const char *end)
{
	return arena_printf(arena, "%.*s%s", (int)strlen(path) - 4, path, end);
}

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
			strncmp(words[0], "use ", 4) == 0 ?
		    words[0] :
		    arena_printf(allowing->arena, "allow %s", words[0]);
	if (strcmp(words[0], "use") == 0)
		text = "use";
	else
		text = "allow";
	i += strcmp(words[0], "allow") == 0 || strcmp(words[0], "use") == 0;
	if (i < count && strcmp(words[i], "domain") == 0)
		text = "allow network";
	paths = i < count && is_right(words[i]);
	for (size_t first = i; i < count; i++)
		text = arena_printf(allowing->arena, "%s %s", text,
		    quoted(allowing->arena,
			paths && i > first ?
			    path_word(allowing->arena, words[i]) :
			    words[i]));
	return text;
}

static void
write_statement(FILE *stream, const void *context)
{
	write_sbx_statement(stream, context);
}

static bool
read_rule(struct allowing *allowing)
{
	const char *text;
	size_t len;

	if (allowing->options->operands.list.count == 0) {
		misused("a rule is missing: sbxc allow read ~/data");
		return false;
	}
	allowing->stmt = extra_parse(allowing->options, "allow",
	    rule_of_words(allowing));
	if (allowing->stmt == NULL)
		return false;
	text = show_to_text(allowing->arena, write_statement, allowing->stmt);
	len = strcspn(text, "\n");
	allowing->rule = arena_strndup(allowing->arena, text, len);
	return true;
}

/* --- which policy --------------------------------------------------------- */

static const struct ast_stmt *
extending(const struct compilation *compilation, const char *shipped)
{
	for (const struct ast_stmt *stmt = compilation->stmts; stmt != NULL;
	     stmt = stmt->next) {
		if (stmt->kind == AST_PROFILE && stmt->parent != NULL &&
		    strcmp(stmt->parent->text, shipped) == 0)
			return stmt;
	}
	return NULL;
}

/* One's own policy that extends a shipped one; false after complaining that there
 * are several. */
static bool
find_extending(struct allowing *allowing, const char *shipped)
{
	struct words names = { .list.count = 0 };
	const char *several = NULL;

	named_list(allowing->arena, &names);
	for (size_t i = 0; i < names.list.count; i++) {
		const char *path = named_file(allowing->arena,
		    names.list.items[i]);
		struct compilation compilation;
		const struct ast_stmt *profile;

		compilation_init(&compilation, allowing->arena);
		if (path == NULL || !ends_with(path, ".sbx") ||
		    !compilation_open(&compilation, path) ||
		    (profile = extending(&compilation, shipped)) == NULL)
			continue;
		several = allowing->text_path;
		allowing->text_path = path;
		allowing->profile = profile->name->text;
		if (several != NULL)
			break;
	}
	if (several == NULL)
		return true;
	misused("'%s' and '%s' extend %s: say with --for FILE which one is "
		"meant",
	    several, allowing->text_path, shipped);
	return false;
}

static bool
is_there(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

static bool choose_file(struct allowing *allowing, const char *path);

/* The user's policy that extends a shipped one, which is made if need be.  The
 * one for commands without a policy extends coding. */
static bool
choose_shipped(struct allowing *allowing, const char *shipped)
{
	const char *directory = named_directory(allowing->arena);
	bool coding = strcmp(shipped, "coding") == 0;

	if (directory == NULL) {
		misused("there is no home directory for a policy");
		return false;
	}
	if (strcmp(shipped, "full-access") == 0 ||
	    strcmp(shipped, "groups") == 0) {
		misused("@%s cannot be extended: --for FILE names a text of "
			"yours",
		    shipped);
		return false;
	}
	if (!find_extending(allowing, shipped))
		return false;
	if (allowing->text_path != NULL)
		return choose_file(allowing, allowing->text_path);
	allowing->shipped = shipped;
	allowing->profile = coding &&
		named_file(allowing->arena, "default") == NULL ?
	    "default" :
	    arena_printf(allowing->arena, "my-%s", shipped);
	allowing->text_path = arena_printf(allowing->arena, "%s/%s.sbx",
	    directory, allowing->profile);
	if (!is_there(allowing->text_path))
		return true;
	misused("'%s' is there and does not extend %s: name the policy with "
		"--for FILE",
	    allowing->text_path, shipped);
	return false;
}

/* The name of a shipped profile that was compiled as it is; else NULL. */
static const char *
shipped_in(const struct allowing *allowing, const char *path)
{
	struct sbx_blob blob;
	const char *profile;

	if (!is_there(path) || !operand_blob(allowing->arena, path, &blob))
		return NULL;
	profile = sbx_string(&blob, blob.meta->profile);
	return named_is_shipped(allowing->arena, profile) ? profile : NULL;
}

static bool
choose_file(struct allowing *allowing, const char *path)
{
	char *real;

	if (ends_with(path, ".bin") &&
	    !is_there(with_end(allowing->arena, path, ".sbx"))) {
		const char *shipped = shipped_in(allowing, path);

		if (shipped != NULL)
			return choose_shipped(allowing, shipped);
		misused("'%s' is a blob, and its text is not beside it: "
			"--for FILE.sbx names it",
		    path);
		return false;
	}
	allowing->text_path = ends_with(path, ".bin") ?
	    with_end(allowing->arena, path, ".sbx") :
	    path;
	/* A link that leads to it stays one. */
	real = realpath(allowing->text_path, NULL);
	if (real == NULL) {
		complain_unread(allowing->text_path);
		return false;
	}
	allowing->text_path = arena_strndup(allowing->arena, real,
	    strlen(real));
	free(real);
	if (ends_with(allowing->text_path, ".sbx"))
		return true;
	misused("'%s' is no text that ends in .sbx: write the rule into it "
		"yourself",
	    path);
	return false;
}

static bool
choose_policy(struct allowing *allowing)
{
	const char *wanted = allowing->options->target;
	const char *named;

	if (wanted == NULL) {
		named = named_file(allowing->arena, "default");
		return named != NULL ? choose_file(allowing, named) :
				       choose_shipped(allowing, "coding");
	}
	if (wanted[0] != '@' || strpbrk(wanted, "./") != NULL)
		return choose_file(allowing, wanted);
	if (named_is_shipped(allowing->arena, wanted + 1))
		return choose_shipped(allowing, wanted + 1);
	named = named_file(allowing->arena, wanted + 1);
	if (named != NULL)
		return choose_file(allowing, named);
	named_missing(allowing->arena, wanted + 1);
	return false;
}

/* --- before and after ----------------------------------------------------- */

/* Compiles a text as the file that it will be. */
static bool
compile_as(const struct allowing *allowing, const char *text,
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
	options_print(allowing->options, &compilation->diags);
	return false;
}

/* The policy that decides now: the blob beside the text, if there is one. */
static bool
read_old(struct allowing *allowing)
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
	if (!compile_as(allowing, allowing->text, &allowing->old))
		return false;
	allowing->blob_path = with_end(allowing->arena, allowing->text_path,
	    ".bin");
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
		const char *text = show_to_text(allowing->arena,
		    write_statement, stmt);

		if (strncmp(text, allowing->rule, strlen(allowing->rule)) ==
			0 &&
		    strcspn(text, "\n") == strlen(allowing->rule))
			return stmt;
	}
	return NULL;
}

/* The text with the rule as the last one of the profile; NULL after
 * complaining. */
static const char *
text_with(struct allowing *allowing)
{
	const char *text = allowing->text, *end;
	struct operand plain = { .state = OPERAND_UNREAD };
	const struct ast_stmt *profile;
	const struct ast_stmt *same;
	size_t before;

	if (!compile_as(allowing, text, &plain))
		return NULL;
	profile = find_profile(allowing, &plain);
	if (profile == NULL)
		return NULL;
	same = find_same(allowing, profile);
	if (same != NULL) {
		printf("%s:%u has this rule already: %s\n", allowing->text_path,
		    sources_position(&plain.compilation.sources, same->loc)
			.line,
		    allowing->rule);
		return text;
	}
	end = ast_block_end(plain.compilation.file, profile);
	if (end == NULL) {
		complain("the end of profile %s is not found in '%s'",
		    profile->name->text, allowing->text_path);
		return NULL;
	}
	before = (size_t)(end - plain.compilation.file->text);
	while (before > 0 && strchr(" \t", text[before - 1]) != NULL)
		before--;
	allowing->begin = (uint32_t)before;
	return arena_printf(allowing->arena, "%.*s%s    %s\n%s", (int)before,
	    text, before > 0 && text[before - 1] != '\n' ? "\n" : "",
	    allowing->rule, text + before);
}

/* The text without the lines of the rule; NULL after complaining. */
static const char *
text_without(struct allowing *allowing)
{
	const char *text = allowing->text;
	struct operand plain = { .state = OPERAND_UNREAD };
	const struct ast_stmt *profile, *same;
	size_t begin, end;

	if (!compile_as(allowing, text, &plain))
		return NULL;
	profile = find_profile(allowing, &plain);
	same = profile == NULL ? NULL : find_same(allowing, profile);
	if (profile != NULL && same == NULL)
		complain("profile %s of '%s' has no such rule: '%s'; 'sbxc "
			 "allow --list' prints them",
		    profile->name->text, allowing->text_path, allowing->rule);
	if (same == NULL)
		return NULL;
	begin = same->loc.begin - plain.compilation.file->base;
	end = same->loc.end - plain.compilation.file->base;
	while (begin > 0 && strchr(" \t", text[begin - 1]) != NULL)
		begin--;
	end += strspn(text + end, " \t");
	if (text[end] == '#')
		end += strcspn(text + end, "\n");
	end += text[end] == '\n';
	return arena_printf(allowing->arena, "%.*s%s", (int)begin, text,
	    text + end);
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

/* A deny of the policy, or what sbx keeps: no rule lifts that. */
static bool
is_kept(const struct subject *subject, const struct access *access)
{
	if (verdict_of(subject, access).allowed)
		return false;
	why(stdout, subject, access, true);
	fflush(stdout);
	complain("a deny beats every allow: the rule would change nothing, and "
		 "was not written");
	return true;
}

static enum exit_status
judge(const struct allowing *allowing)
{
	const struct ast_atom *word = allowing->stmt->words.first;
	const struct blocks *blocks = allowing->new.compilation.blocks;
	struct subject subject;
	enum exit_status status;

	if (allowing->stmt->kind != AST_RULE || word == NULL ||
	    !is_right(word->text))
		return EXIT_CLEAN;
	status = subjects_bind(allowing->options, &allowing->new.blob, &blocks,
	    1, &subject);
	if (status != EXIT_CLEAN)
		return status;
	for (const struct ast_atom *at = allowing->stmt->objects.first;
	     at != NULL; at = at->next) {
		struct access access;
		const char *risk;

		if (at->kind != AST_PATH ||
		    !ask_path(&subject, word->text, at->text, &access))
			continue;
		if (is_kept(&subject, &access))
			return EXIT_POLICY;
		risk = allowing->options->force ?
		    NULL :
		    find_risk(allowing, &subject, &access);
		if (risk == NULL)
			continue;
		complain("%s %s: %s; --force writes it all the same",
		    word->text, at->text, risk);
		return EXIT_POLICY;
	}
	return EXIT_CLEAN;
}

/* What the compiler says of the new line alone. */
static void
print_warnings(const struct allowing *allowing)
{
	const struct compilation *compilation = &allowing->new.compilation;
	uint32_t begin = compilation->file->base + allowing->begin;
	struct diags own = compilation->diags;

	memset(&own.records, 0, sizeof own.records);
	own.errors = own.warnings = own.notes = 0;
	for (size_t i = 0; i < compilation->diags.records.count; i++) {
		const struct diag *diag = &compilation->diags.records.items[i];

		if (diag->loc.begin < begin ||
		    diag->loc.begin >
			begin + 6 + (uint32_t)strlen(allowing->rule) ||
		    diag->severity != SEVERITY_WARNING)
			continue;
		*arena_push(allowing->arena, &own.records) = *diag;
		own.warnings++;
	}
	fflush(stdout);
	if (own.warnings > 0)
		options_print(allowing->options, &own);
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

static bool
is_wanted(const struct allowing *allowing)
{
	char answer[16] = "";

	if (allowing->options->yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		complain("nothing was written: --yes writes this");
		return false;
	}
	printf("Write this to %s? [y/N] ", allowing->text_path);
	fflush(stdout);
	return fgets(answer, sizeof answer, stdin) != NULL &&
	    (answer[0] == 'y' || answer[0] == 'Y');
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
	     "they end; --session=auto starts anew");
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
lock(const struct allowing *allowing)
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
			mkdir(at, 0700);
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

static enum exit_status
change(struct allowing *allowing)
{
	const char *text;
	enum exit_status status;

	if (!read_old(allowing))
		return EXIT_POLICY;
	text = allowing->options->remove ? text_without(allowing) :
					   text_with(allowing);
	if (text == NULL)
		return EXIT_POLICY;
	if (text == allowing->text)
		return EXIT_CLEAN;
	if (!compile_as(allowing, text, &allowing->new))
		return EXIT_POLICY;
	status = allowing->options->remove ? EXIT_CLEAN : judge(allowing);
	if (status != EXIT_CLEAN)
		return status;
	printf("%s  %s\n%s: %s\n", allowing->options->remove ? "-" : "+",
	    allowing->rule, allowing->shipped != NULL ? "new policy" : "policy",
	    allowing->text_path);
	if (print_difference(allowing) == 0 && !allowing->options->remove) {
		complain("not written: this opens nothing, because it is "
			 "allowed already or a deny keeps it ('sbxc why' says "
			 "which)");
		return EXIT_POLICY;
	}
	if (!allowing->options->remove)
		print_warnings(allowing);
	if (!is_wanted(allowing))
		return EXIT_USAGE;
	status = write_all(allowing, text);
	if (status == EXIT_CLEAN)
		say_use(allowing);
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
			    stmt->drop || stmt->effect != SBX_ALLOW)
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
		if (!choose_policy(allowing))
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
			ends_with(path, ".sbx") ?
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
	if (!read_rule(&allowing) || !choose_policy(&allowing))
		return EXIT_USAGE;
	if (options->remove && allowing.shipped != NULL) {
		complain("no policy of yours has such a rule");
		return EXIT_POLICY;
	}
	allowing.directory = lock(&allowing);
	if (allowing.directory < 0)
		return EXIT_TROUBLE;
	status = change(&allowing);
	close(allowing.directory);
	return status;
}

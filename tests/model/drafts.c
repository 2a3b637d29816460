#include "tests/model/drafts.h"
#include "compiler/read/read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names that patterns can tell apart, and that are prefixes of each other. */
static const char *const names[] = { "a", "ab", "b", ".e", "a.p" };

__attribute__((format(printf, 2, 3))) static void
append(char line[LINE_SIZE], const char *format, ...)
{
	size_t len = strlen(line);
	va_list args;
	int added;

	va_start(args, format);
	added = vsnprintf(line + len, LINE_SIZE - len, format, args);
	va_end(args);
	if (added < 0 || (size_t)added >= LINE_SIZE - len) {
		printf("Bail out! a line is too long\n");
		exit(99);
	}
}

static void
add_names(struct chance *chance, char line[LINE_SIZE], size_t most)
{
	for (size_t i = chance_below(chance, most + 1); i > 0; i--)
		append(line, "/%s", PICK(chance, names));
}

/* Where a place begins; what begins at the root may be anywhere. */
static void
add_anchor(struct chance *chance, const struct style *style,
    char line[LINE_SIZE])
{
	static const char *const anchors[] = {
		"${workspace}",
		"${workspace}",
		"${workspace}",
		"~",
		"~",
		"${tmp}",
		"${p}",
		"/home/user",
		"/home",
		"/srv",
		"/a",
		"/home/entry",
	};
	const char *anchor = PICK(chance, anchors);

	if (style->plain && anchor[0] == '$' && anchor[2] != 'w')
		anchor = "~";
	append(line, "%s%s", anchor[0] == '/' ? style->base : "", anchor);
}

static void
add_pattern(struct chance *chance, char line[LINE_SIZE])
{
	static const char *const parts[] = {
		"*",
		"a*",
		"*b",
		"?",
		"*.p",
		"a?",
		".*",
		"?*",
		"*.*",
		"**/a",
		"**/*.p",
		"**/.e",
		"**/a*",
		"*/a",
		"**/?",
	};
	static const char *const more[] = { "a", "*", "b*", "**/a", ".e" };

	append(line, "/%s", PICK(chance, parts));
	if (chance_percent(chance, 25))
		append(line, "/%s", PICK(chance, more));
}

static void
add_exclusions(struct chance *chance, char line[LINE_SIZE], const char *place)
{
	size_t count = chance_percent(chance, 30) ?
	    1 + chance_below(chance, 2) :
	    0;

	for (size_t i = 0; i < count; i++) {
		append(line, "%s%s/%s", i == 0 ? " except { " : " ", place,
		    PICK(chance, names));
		add_names(chance, line, 1);
	}
	if (count > 0)
		append(line, " }");
}

static void
make_path(struct chance *chance, const struct style *style,
    char line[LINE_SIZE])
{
	static const char *const effects[] = {
		"allow",
		"allow",
		"allow",
		"deny",
		"deny",
		"prefer deny",
	};
	static const char *const rights[] = {
		"read",
		"read",
		"write",
		"exec",
	};
	char place[LINE_SIZE] = "";

	if (chance_percent(chance, 5) && !style->plain) {
		append(line, "allow %s /", PICK(chance, rights));
		return;
	}
	append(line, "%s %s ", PICK(chance, effects), PICK(chance, rights));
	add_anchor(chance, style, place);
	add_names(chance, place, 2);
	if (chance_percent(chance, 30)) {
		append(line, "glob \"%s", place);
		add_pattern(chance, line);
		append(line, "\"");
	} else {
		append(line, "%s", place);
	}
	add_exclusions(chance, line, place);
}

static void
make_port(struct chance *chance, const struct style *style,
    char line[LINE_SIZE])
{
	static const char *const effects[] = {
		"allow",
		"allow",
		"deny",
		"prefer deny",
	};
	static const unsigned ports[] = { 1, 22, 80, 81, 443, 8000, 65535 };
	unsigned low = PICK(chance, ports), high = PICK(chance, ports);

	(void)style;
	append(line, "%s network %s tcp %u", PICK(chance, effects),
	    chance_percent(chance, 70) ? "connect" : "listen", low);
	if (high > low && chance_percent(chance, 50))
		append(line, "-%u", high);
}

static void
make_syscall(struct chance *chance, const struct style *style,
    char line[LINE_SIZE])
{
	static const char *const calls[] = {
		"@mount",
		"@keyring",
		"@swap",
		"@clock",
		"ptrace",
		"personality",
		"socket",
		"clone",
		"listen",
		"ioctl",
		"add_key",
		"mount",
		"sendto",
		"prlimit64",
		"io_uring_setup",
		"@namespaces",
		"unshare",
		"socketpair",
		"ptrace",
		"ptrace",
	};

	(void)style;
	append(line, "%s syscalls %s",
	    chance_percent(chance, 50) ? "allow" : "deny", PICK(chance, calls));
}

static void
make_env(struct chance *chance, const struct style *style, char line[LINE_SIZE])
{
	static const char *const patterns[] = {
		"*",
		"A",
		"A*",
		"*A",
		"*_A",
		"A*B",
		"*A*",
		"AB",
		"B*",
		"X",
		"*B",
		"A_*",
	};
	static const char *const effects[] = {
		"allow",
		"allow",
		"deny",
		"prefer deny",
	};

	(void)style;
	if (chance_percent(chance, 25))
		append(line, "set env %s = %s",
		    chance_percent(chance, 50) ? "A" : "AB",
		    chance_percent(chance, 50) ? "1" : "2");
	else
		append(line, "%s env %s", PICK(chance, effects),
		    PICK(chance, patterns));
}

static void
make_setting(struct chance *chance, const struct style *style,
    char line[LINE_SIZE])
{
	static const char *const settings[] = {
		"limit timeout 1s",
		"limit timeout 2s",
		"limit timeout none",
		"limit processes 50",
		"limit memory 1GiB",
		"limit core 0",
		"require level standard",
		"require level full",
		"require landlock 4",
		"require landlock 6",
		"allow signal anywhere",
		"allow abstract anywhere",
		"allow network full",
		"deny network full",
		"allow network loopback",
		"about \"x\"",
		"allow network full",
		"allow network loopback",
		"watch ~/.bashrc",
		"allow socket ${workspace}/a/s",
		"deny socket ${workspace}/a",
		"deny spawn",
		"watch git ${workspace}",
		"require landlock 4",
		"require landlock 6",
		"watch ${workspace}/.git",
		"watch ${workspace}",
	};

	(void)style;
	append(line, "%s", PICK(chance, settings));
}

typedef void line_maker(struct chance *chance, const struct style *style,
    char line[LINE_SIZE]);

static void
make_line(struct chance *chance, const struct style *style,
    char line[LINE_SIZE])
{
	static line_maker *const makers[] = {
		make_path,
		make_path,
		make_path,
		make_path,
		make_path,
		make_port,
		make_port,
		make_syscall,
		make_env,
		make_env,
		make_setting,
	};

	line[0] = '\0';
	if (style->plain)
		(chance_percent(chance, 80) ? make_path : make_port)(chance,
		    style, line);
	else if (chance_percent(chance, 6)) {
		append(line, "on %s { ",
		    chance_percent(chance, 50) ? "x86_64" : "aarch64");
		make_path(chance, style, line);
		append(line, " }");
	} else
		PICK(chance, makers)(chance, style, line);
}

/* Nothing stands beside that but what is about variables. */
static void
draft_free(struct chance *chance, const struct style *style,
    struct draft *draft)
{
	draft->count = 1 + chance_below(chance, 4);
	memcpy(draft->lines[0], "allow everything", 17);
	for (size_t i = 1; i < draft->count; i++) {
		draft->lines[i][0] = '\0';
		make_env(chance, style, draft->lines[i]);
	}
}

static void
draft_make(struct chance *chance, const struct style *style,
    struct draft *draft)
{
	if (!style->plain && chance_percent(chance, 10)) {
		draft_free(chance, style, draft);
		return;
	}
	draft->count = 1 + chance_below(chance, MOST_LINES - 3);
	for (size_t i = 0; i < draft->count; i++)
		make_line(chance, style, draft->lines[i]);
	/* What shows only where no lower level is in the way. */
	if (!style->plain && chance_percent(chance, 15))
		snprintf(draft->lines[0], LINE_SIZE, "require level full");
}

/* A deny that is only preferred. */
static void
line_soften(char line[LINE_SIZE])
{
	char softer[LINE_SIZE] = "";

	append(softer, "prefer %.*s", LINE_SIZE - 10, line);
	memcpy(line, softer, LINE_SIZE);
}

/* A few lines come, go or become others. */
static void
draft_change(struct chance *chance, const struct style *style,
    struct draft *draft)
{
	for (size_t i = 1 + chance_below(chance, 3); i > 0; i--) {
		size_t at = chance_below(chance, draft->count + 1);

		if (chance_percent(chance, 30) && draft->count > 1) {
			at %= draft->count;
			memcpy(draft->lines[at], draft->lines[--draft->count],
			    LINE_SIZE);
			continue;
		}
		if (at < draft->count && chance_percent(chance, 50) &&
		    strncmp(draft->lines[at], "deny r", 6) == 0) {
			line_soften(draft->lines[at]);
			continue;
		}
		if (at == draft->count && draft->count == MOST_LINES)
			at--;
		draft->count += at == draft->count;
		make_line(chance, style, draft->lines[at]);
	}
}

size_t
draft_print(const struct draft *draft, const struct style *style,
    char text[TEXT_SIZE])
{
	FILE *stream = fmemopen(text, TEXT_SIZE, "w");
	long size;

	fprintf(stream, "sbx 1\nparam p\n%sprofile random {\n",
	    style->two ? "param q\n" : "");
	if (style->probe != NULL)
		fprintf(stream, "    allow exec %s\n", style->probe);
	for (size_t i = 0; i < draft->count; i++)
		fprintf(stream, "    %s\n", draft->lines[i]);
	fputs("}\n", stream);
	size = ftell(stream);
	fclose(stream);
	return (size_t)size;
}

bool
draft_build(struct arena *arena, const struct style *style, struct built *built)
{
	struct compilation *compilation = arena_alloc(arena,
	    sizeof *compilation);
	char *text = arena_alloc(arena, TEXT_SIZE);
	size_t size = draft_print(&built->draft, style, text);
	struct source *source;

	compilation_init(compilation, arena);
	source = sources_add(&compilation->sources, "random.sbx", text, size,
	    (struct loc){ 0 });
	compilation->file = source;
	compilation->stmts = ast_parse(&compilation->sources,
	    &compilation->diags, source);
	return compile(compilation, NULL, &built->image) &&
	    sbx_verify(built->image.bytes, built->image.size, &built->blob) ==
	    SBX_BLOB_OK;
}

void
family_next(struct chance *chance, struct arena *arena,
    const struct style *style, struct built *built, const struct built *before)
{
	do {
		if (before == NULL || chance_percent(chance, 15)) {
			draft_make(chance, style, &built->draft);
		} else {
			built->draft = before->draft;
			draft_change(chance, style, &built->draft);
		}
	} while (!draft_build(arena, style, built));
}

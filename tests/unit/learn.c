/*
 * How many needs become few rules (compiler/learn/fold.c): what is wanted, one a
 * line, beside the lines of the draft that come of it.
 */
#include "compiler/learn/draft.h"
#include "tests/lib/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* RIGHT[+]PATH: with a plus the name is made; with a question mark it was only
 * looked for; with a star there were further names in the directory. */
static const struct {
	const char *name, *wanted, *rules;
} cases[] = {
	{ "what the profile gives is no rule",
	    "read /usr/lib/x\nwrite+ /w/src/a\nexec /w/bin/x\nwrite+ /s/x",
	    "" },
	{ "one file is one rule", "read /srv/a", "allow read  /srv/a" },
	{ "two are two", "read /srv/d/a\nread /srv/d/b",
	    "allow read  /srv/d/a\nallow read  /srv/d/b" },
	{ "three are their directory",
	    "read /srv/d/a\nread /srv/d/b\nread /srv/d/c",
	    "allow read  /srv/d" },
	{ "of each right alone", "read /srv/d/a\nexec /srv/d/b\nread /srv/d/c",
	    "allow read  /srv/d/a\nallow exec  /srv/d/b\nallow read  "
	    "/srv/d/c" },
	{ "three directories are the one above them",
	    "write+ /srv/d/1/a\nwrite+ /srv/d/2/a\nwrite+ /srv/d/3/a",
	    "allow write /srv/d" },
	{ "names beside them that sort between",
	    "read /srv/d/a\nread /srv/d/a-b/c\nread /srv/d/b\nread /srv/d/a.c",
	    "allow read  /srv/d" },
	{ "the root directory is not folded", "read /a\nread /b\nread /c",
	    "allow read  /a\nallow read  /b\nallow read  /c" },
	{ "nor what lies in it", "read /srv/a\nread /srv/b\nread /srv/c",
	    "allow read  /srv/a\nallow read  /srv/b\nallow read  /srv/c" },
	{ "nor the home directory", "read /h/a\nread /h/b\nread /h/c",
	    "allow read  ~/a\nallow read  ~/b\nallow read  ~/c" },
	{ "nor one above credentials", "read /h/.docker/a\nread /srv/d/a",
	    "allow read  /srv/d/a" },
	{ "a name that is made is its directory", "write+ /srv/d/new",
	    "allow write /srv/d" },
	{ "a directory with further names is one", "read* /srv/d",
	    "allow read  /srv/d" },
	{ "write gives read", "read /srv/d/a\nwrite+ /srv/d/b",
	    "allow write /srv/d" },
	{ "of the same place, too", "read /srv/d/\nwrite+ /srv/d/b",
	    "allow write /srv/d" },
	{ "what is written is not run as well",
	    "read /h/t/x\nexec /h/t/x\nwrite+ /h/t/y", "allow write ~/t" },
	{ "a cache is one tree",
	    "write+ /h/.cache/pip/a/b\nread /h/.cache/pip/c",
	    "allow write ~/.cache/pip" },
	{ "two caches are two",
	    "write+ /h/.cache/pip/a\nwrite+ /h/.cache/go/a\n"
	    "write+ /h/.cache/x/a\nwrite+ /h/.cache/y/a",
	    "allow write ~/.cache/go\nallow write ~/.cache/pip\n"
	    "allow write ~/.cache/x\nallow write ~/.cache/y" },
	{ "a program's own directory is one", "write+ /h/.tool/a/b/c",
	    "allow write ~/.tool" },
	{ "not if programs are there that others run", "write+ /h/.cargo/bin/x",
	    "" },
	{ "shared directories are not folded",
	    "write+ /h/.local/share/a/x\nwrite+ /h/.local/share/b/x",
	    "allow write ~/.local/share/a\nallow write ~/.local/share/b" },
	{ "a name in the home directory is itself", "write+ /h/.newtool",
	    "allow write ~/.newtool" },
	{ "but not a lock", "write+ /h/.gitconfig.lock", "" },
	{ "credentials never",
	    "read /h/.ssh/id_rsa\nread /h/.npmrc\n"
	    "read /h/.aws/credentials\nread /h/.netrc\nread /h/.config/gh/x",
	    "" },
	{ "nor what was typed", "read /h/.bash_history", "" },
	{ "nor what shells run", "write /h/.bashrc\nwrite+ /h/.zshrc", "" },
	{ "nor the machine",
	    "write+ /usr/lib/x\nwrite /etc/hosts\nwrite /dev/sda", "" },
	{ "nor the home directory as a whole", "write* /h\nread* /h", "" },
	{ "temporary files belong elsewhere", "write+ /tmp/x", "" },
	{ "what was looked for is no rule", "read? /srv/d/a", "" },
	{ "what was looked for and then read is",
	    "read? /srv/d/a\nread /srv/d/a", "allow read  /srv/d/a" },
	{ "/proc is the kernel's", "read /proc/1/environ\nread /proc", "" },
	{ "nothing that is no name", "read /srv/d/\\u001b[2J", "" },
};

static void
write_wanted(FILE *stream, const char *wanted)
{
	for (const char *at = wanted; *at != '\0'; at += strspn(at, "\n")) {
		size_t len = strcspn(at, "\n"), right = strcspn(at, " +*?");
		char sign = at[right];
		const char *path = at + right + (sign == ' ' ? 1 : 2);
		size_t size = len - (size_t)(path - at);

		size -= size > 1 && path[size - 1] == '/';
		fprintf(stream,
		    "{\"sbx\":1,\"event\":\"wanted\",\"run\":\"r\","
		    "\"right\":\"%.*s\",\"path\":\"%.*s\",%s\"allowed\":false,"
		    "\"count\":1,\"program\":\"tool\"}\n",
		    (int)right, at, (int)size, path,
		    sign == '+'     ? "\"makes\":true," :
			sign == '?' ? "\"probe\":true," :
			sign == '*' ? "\"below\":true," :
				      "");
		at += len;
	}
}

static char *
records_of(const char *wanted)
{
	static const char head[] =
	    "{\"sbx\":1,\"event\":\"learn\",\"run\":\"r\",\"learn\":1,"
	    "\"level\":\"full\"}\n"
	    "{\"sbx\":1,\"event\":\"anchor\",\"run\":\"r\",\"name\":"
	    "\"workspace\","
	    "\"path\":\"/w\"}\n"
	    "{\"sbx\":1,\"event\":\"anchor\",\"run\":\"r\",\"name\":\"home\","
	    "\"path\":\"/h\"}\n"
	    "{\"sbx\":1,\"event\":\"anchor\",\"run\":\"r\",\"name\":\"tmp\","
	    "\"path\":\"/s\"}\n";
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	fputs(head, stream);
	write_wanted(stream, wanted);
	fclose(stream);
	return text;
}

/* The statements of a draft that are rules, without their comments. */
static char *
rules_of(const struct draft *draft)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	bool first = true;

	for (size_t i = 0; i < draft->lines.list.count; i++) {
		const struct draft_line *line = &draft->lines.list.items[i];

		if (line->reason != NULL || line->need->probe)
			continue;
		fprintf(stream, "%s%s", first ? "" : "\n", line->statement);
		first = false;
	}
	fclose(stream);
	return text;
}

static void
try(struct tap *tap, size_t number)
{
	struct arena *arena = arena_new();
	char *text = records_of(cases[number].wanted), *rules;
	struct records records;
	struct draft draft = {
		.arena = arena,
		.records = &records,
		.name = "tried",
		.extends = "workspace-write",
	};

	records_init(&records, arena);
	records_parse(&records,
	    sources_add(&records.sources, "r.jsonl", text, strlen(text),
		(struct loc){ 0 }));
	tap_ok(tap, records.diags.errors == 0, "%s: it is read",
	    cases[number].name);
	draft_make(&draft);
	rules = rules_of(&draft);
	tap_ok(tap, strcmp(rules, cases[number].rules) == 0, "%s",
	    cases[number].name);
	if (strcmp(rules, cases[number].rules) != 0)
		printf("# wanted:\n%s\n# got:\n%s\n", cases[number].rules,
		    rules);
	free(rules);
	free(text);
	arena_release(arena);
}

int
main(void)
{
	struct tap tap = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		try(&tap, i);
	return tap_done(&tap);
}

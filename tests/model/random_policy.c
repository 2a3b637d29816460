#include "tests/model/random_policy.h"

#include "compiler/base/base.h"
#include "tests/model/random_words.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STATEMENTS = 14 };

static unsigned
pick(struct maker *maker, unsigned count)
{
	return (unsigned)chance_below(&maker->chance, count);
}

static unsigned
pick_early(struct maker *maker, unsigned count)
{
	return pick(maker, 1 + pick(maker, count));
}

#define ANY(maker, table) (table)[pick_early((maker), countof(table))]

static const char *
effect(struct maker *maker)
{
	static const char *const effects[] = {
		"allow",
		"allow",
		"allow",
		"deny",
		"deny",
		"prefer deny",
	};

	return ANY(maker, effects);
}

/* The marks of other people's lines, now and then, and often the same. */
static void
end_line(struct maker *maker)
{
	static const char *const files[] = { "a.sbx", "b (c):1:2", "d/e.sbx" };
	static const char *const vias[] = { "", " (one)", " (two)" };

	if (maker->marked || pick(maker, 4) == 0)
		fprintf(maker->stream, " from \"%s:%u:%u%s\"",
		    ANY(maker, files), 1 + pick(maker, 3), 1 + pick(maker, 2),
		    ANY(maker, vias));
	putc('\n', maker->stream);
}

static void
make_objects(struct maker *maker, const char *const *objects, unsigned count)
{
	unsigned number = 1 + pick(maker, 3);

	fputs(" {", maker->stream);
	for (unsigned i = 0; i < number; i++)
		fprintf(maker->stream, " %s",
		    objects[pick_early(maker, count)]);
	fputs(" }", maker->stream);
}

static void
make_path(struct maker *maker)
{
	static const char *const rights[] = { "read", "write", "exec" };
	static const char *const exclusions[] = {
		"/srv/a/b",
		"/srv/b",
		"/etc/x",
		"/tmp/x",
		"~/x",
		"~/.ssh/known",
		"${workspace}/a/b",
		"${data}/in/y",
		"${tmp}/x",
		"/srv/a",
		"${runtime}/bus",
		"\"/srv/with blank/x\"",
		"${caches}",
		/* Below what globs match. */
		"/srv/x/y",
		"/srv/a/x/x",
		"/srv/\xc3\xa9/in",
		"${workspace}/x/.env/d",
		"~/d/id_x",
		"/tmp/qx/in",
	};

	fprintf(maker->stream, "%s %s", effect(maker), ANY(maker, rights));
	if (pick(maker, 8) == 0)
		fprintf(maker->stream, " { %s glob \"%s\" glob \"%s\" }",
		    ANY(maker, places), ANY(maker, globs), ANY(maker, globs));
	else if (pick(maker, 3) == 0)
		fprintf(maker->stream, " glob \"%s\"", ANY(maker, globs));
	else
		make_objects(maker, places, countof(places));
	if (pick(maker, 4) == 0) {
		fputs(" except", maker->stream);
		make_objects(maker, exclusions, countof(exclusions));
	}
	end_line(maker);
}

/* In a policy with hosts there are no other ports. */
static void
make_host(struct maker *maker)
{
	static const char *const names[] = {
		"example.org",
		"*.example.org",
		"a.example.org:8080",
		"\"*.a.example.org:22\"",
		"b.example.net private",
		"Example.ORG.",
		"xn--mnchen-3ya.example",
		"db.corp.example:5432 private",
	};
	static const char *const addresses[] = {
		"10.0.0.5:5432",
		"10.2.0.0/16:443",
		"10.2.0.0/16:{ 80 443 }",
		"\"[fd00::1]:8000-8080\"",
		"\"[fd00::/8]:443\"",
		"192.168.0.0/16:1-1024",
		"10.2.3.4:443",
	};
	static const char *const others[] = {
		"allow network host tcp 6379",
		"allow network host tcp { 5432  8000-8003 }",
		"deny network host tcp 8001",
		"allow network publish tcp 3000",
		"prefer deny network publish tcp 3000",
		"allow network proxy tcp 3129",
		"allow network proxy unix /run/proxy/p",
		"deny network connect 10.2.3.4",
		"deny network domain { example.org  *.b.example.net }",
	};
	unsigned kind = pick(maker, 5);

	if (kind < 2)
		fprintf(maker->stream, "%s network domain { %s }",
		    effect(maker), ANY(maker, names));
	else if (kind < 4)
		fprintf(maker->stream, "%s network connect { %s }",
		    effect(maker), ANY(maker, addresses));
	else
		fputs(ANY(maker, others), maker->stream);
	end_line(maker);
}

static void
make_network(struct maker *maker)
{
	static const char *const ports[] = {
		"443",
		"80",
		"1",
		"65535",
		"8000-8080",
		"8040-9000",
		"1-65535",
		"1-1023",
		"20-30",
		"25",
	};

	if (maker->hosts) {
		make_host(maker);
		return;
	}
	if (maker->loopback || pick(maker, 4) == 0) {
		fprintf(maker->stream, "%s network %s", effect(maker),
		    maker->loopback ? "loopback" : "full");
	} else {
		fprintf(maker->stream, "%s network %s tcp", effect(maker),
		    pick(maker, 2) == 0 ? "connect" : "listen");
		make_objects(maker, ports, countof(ports));
	}
	end_line(maker);
}

static void
make_blanket(struct maker *maker)
{
	static const char *const blankets[] = {
		"allow signal anywhere",
		"prefer deny signal anywhere",
		"allow abstract anywhere",
		"prefer deny abstract anywhere",
		"allow everything",
		"prefer deny network full",
		"allow network full",
		"allow network loopback",
		"deny signal anywhere",
		"deny abstract anywhere",
	};

	fputs(ANY(maker, blankets), maker->stream);
	end_line(maker);
}

static void
make_limit(struct maker *maker)
{
	static const char *const limits[] = {
		"file-size 50MiB",
		"file-size 1025B",
		"processes 64",
		"open-files 4096",
		"cpu-time 90s",
		"memory 3GiB",
		"core 0B",
		"stack 8MiB",
		"timeout 2m",
		"timeout 1h",
		"output 4MiB",
		"memory 1048577B",
		"timeout none",
		"processes none",
		"output 2MiB",
		"cpu-time 1h",
		"stack none",
		"file-size 1TiB",
	};

	fprintf(maker->stream, "limit %s", ANY(maker, limits));
	end_line(maker);
}

static void
make_watch(struct maker *maker)
{
	static const char *const watched[] = {
		"git ${workspace}",
		"git { ~/src  /srv/git }",
		"${workspace}/.envrc",
		"{ ~/.bashrc  ~/.profile }",
		"\"/srv/a b\"",
		"${workspace}",
		"/",
		"glob \"~/x*\"",
		"{ glob \"${workspace}/**/?/y\"  /srv/q }",
		"glob \"/srv/*/x\"",
	};

	fprintf(maker->stream, "watch %s", ANY(maker, watched));
	end_line(maker);
}

static void
make_socket(struct maker *maker)
{
	static const char *const heads[] = {
		"allow socket",
		"allow socket unconfined",
		"deny socket",
		"prefer deny socket",
	};
	static const char *const sockets[] = {
		"${ssh-agent}",
		"{ ${docker}  ${wayland} }",
		"${workspace}/.ctl",
		"{ /srv/db  ~/agent }",
		"\"/srv/a b\"",
		"/run",
		"${podman}",
		"{ ${gpg-agent}  ${dbus-session}  ${x11} }",
		"/srv/\xc3\xa9",
		"${data}/s",
	};

	if (pick(maker, 4) == 0)
		fputs("deny spawn", maker->stream);
	else
		fprintf(maker->stream, "%s %s", ANY(maker, heads),
		    ANY(maker, sockets));
	end_line(maker);
}

static void
make_require(struct maker *maker)
{
	static const char *const floors[] = {
		"level standard",
		"level full",
		"level minimal",
		"level none",
		"landlock 4",
		"landlock 1",
		"landlock 10",
	};

	fprintf(maker->stream, "require %s", ANY(maker, floors));
	end_line(maker);
}

static void
make_set(struct maker *maker)
{
	static const char *const names[] = {
		"CI",
		"A",
		"B",
		"from",
		"set",
		"C.D",
		"\"E F\"",
		"\"1\"",
	};

	fprintf(maker->stream, "set env %s = %s", ANY(maker, names),
	    ANY(maker, values));
	end_line(maker);
}

/* What a parent or a group says may be dropped. */
static void
make_drop(struct maker *maker)
{
	static const char *const others[] = {
		"use g0",
		"use g1",
		"use credentials",
		"set env A",
		"set env CI",
		"allow write ${tmp}",
		"allow network loopback",
		"deny spawn",
	};

	if (maker->kept_count > 0 && pick(maker, 4) > 0)
		fprintf(maker->stream, "drop %s\n",
		    maker->kept[pick(maker, maker->kept_count)]);
	else
		fprintf(maker->stream, "drop %s\n", ANY(maker, others));
}

/* A rule is kept without the mark at its end, and a variable without its
 * value. */
static void
keep(struct maker *maker, const char *text)
{
	static const char *const kinds[] = { "allow ", "deny ", "prefer deny ",
		"set env " };
	static const char *const ends[] = { " from \"", " = ", "\n" };
	size_t len = strlen(text), kind = 0;

	while (kind < countof(kinds) &&
	    strncmp(text, kinds[kind], strlen(kinds[kind])) != 0)
		kind++;
	for (size_t i = 0; i < countof(ends); i++) {
		const char *end = strstr(text, ends[i]);

		if (end != NULL && (size_t)(end - text) < len)
			len = (size_t)(end - text);
	}
	if (kind == countof(kinds) || maker->kept_count == KEPT ||
	    len >= sizeof maker->kept[0])
		return;
	memcpy(maker->kept[maker->kept_count], text, len);
	maker->kept[maker->kept_count++][len] = '\0';
}

static void make_body(struct maker *maker, int depth);

static void
make_on(struct maker *maker, int depth)
{
	fprintf(maker->stream, "on %s {\n", ANY(maker, platforms));
	make_body(maker, depth + 1);
	fputs("}\n", maker->stream);
}

static void
make_use(struct maker *maker)
{
	static const char *const shipped[] = {
		"system",
		"dotfiles",
		"credentials",
		"secret-variables",
		"offline",
		"scratch-caches",
		"limits",
	};
	unsigned group = pick(maker, countof(maker->groups));

	if (maker->groups[group])
		fprintf(maker->stream, "use g%u\n", group);
	else
		fprintf(maker->stream, "use %s\n", ANY(maker, shipped));
}

static void
make_one(struct maker *maker, int depth)
{
	switch (pick(maker, 14)) {
	case 0:
	case 1:
		make_network(maker);
		break;
	case 2:
		fprintf(maker->stream, "%s syscalls", effect(maker));
		make_objects(maker, calls, countof(calls));
		end_line(maker);
		break;
	case 3:
		fprintf(maker->stream, "%s env", effect(maker));
		make_objects(maker, variables, countof(variables));
		end_line(maker);
		break;
	case 4:
		make_set(maker);
		break;
	case 5:
		make_limit(maker);
		break;
	case 6:
		if (pick(maker, 3) == 0)
			make_require(maker);
		else if (!maker->keeping && pick(maker, 3) == 0)
			make_drop(maker);
		break;
	case 7:
		if (pick(maker, 3) == 0)
			make_blanket(maker);
		break;
	case 8:
	case 9:
		if (depth < 2)
			make_on(maker, depth);
		break;
	case 10:
		make_use(maker);
		break;
	case 11:
		if (pick(maker, 2) == 0)
			make_watch(maker);
		else
			make_socket(maker);
		break;
	default:
		make_path(maker);
	}
}

/* As text, so that it can be kept. */
static void
make_statement(struct maker *maker, int depth)
{
	FILE *stream = maker->stream;
	char *text = NULL;
	size_t size;

	maker->stream = open_memstream(&text, &size);
	if (maker->stream == NULL)
		abort();
	make_one(maker, depth);
	fclose(maker->stream);
	maker->stream = stream;
	fputs(text, stream);
	if (maker->keeping)
		keep(maker, text);
	free(text);
}

static void
make_body(struct maker *maker, int depth)
{
	unsigned count = 1 + pick(maker, depth == 0 ? MAX_STATEMENTS : 4);

	for (unsigned i = 0; i < count; i++)
		make_statement(maker, depth);
}

static void
make_profile(struct maker *maker)
{
	static const char *const parents[] = {
		"",
		"",
		"",
		" extends parent",
		" extends read-only",
		" extends workspace-write",
		" extends coding",
		" extends data-analysis",
		" extends full-access",
	};
	static const char *const grandparents[] = {
		"",
		"",
		" extends read-only",
		" extends coding",
	};
	static const char *const abouts[] = {
		"plain",
		"with \\\"quotes\\\" and a \\\\",
		"two\\nlines",
		"\xc3\xa4\xc3\xb6",
		"# no comment: [a, b] {c}",
		"",
	};
	const char *parent = ANY(maker, parents);

	if (strcmp(parent, " extends parent") == 0) {
		fprintf(maker->stream, "profile parent%s {\n",
		    ANY(maker, grandparents));
		maker->keeping = true;
		make_body(maker, 1);
		maker->keeping = false;
		fputs("}\n", maker->stream);
	}
	fprintf(maker->stream, "profile p%s {\n", parent);
	if (pick(maker, 2) == 0)
		fprintf(maker->stream, "about \"%s\"\n", ANY(maker, abouts));
	if (pick(maker, 3) == 0)
		fputs("param extra from \"x.sbx:9:9 (p)\"\n", maker->stream);
	make_body(maker, 0);
	fputs("}\n", maker->stream);
}

void
make_policy(struct maker *maker)
{
	maker->loopback = pick(maker, 4) == 0;
	maker->hosts = !maker->loopback && pick(maker, 3) == 0;
	maker->keeping = false;
	maker->kept_count = 0;
	maker->marked = pick(maker, 3) == 0;
	fputs("sbx 1\n"
	      "let odd = \"/srv/a*b\"\n"
	      "let all = { ${some}  ${odd}  ${caches} }\n"
	      "let some = { /srv/one  ${workspace}/two  \"/srv/[t]\" }\n"
	      "param data",
	    maker->stream);
	end_line(maker);
	fputs("param fixed\n", maker->stream);
	for (unsigned i = 0; i < countof(maker->groups); i++)
		maker->groups[i] = false;
	for (unsigned i = 0; i < countof(maker->groups); i++) {
		if (pick(maker, 2) == 0)
			continue;
		fprintf(maker->stream, "group g%u {\n", i);
		make_body(maker, 1);
		fputs("}\n", maker->stream);
		maker->groups[i] = true;
	}
	make_profile(maker);
}

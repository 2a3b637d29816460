/*
 * Which lines of a git configuration may make git run a program: all that are not
 * known to be harmless, and all that have not the plain form
 * (runtime/bind/git_settings.c).
 */
#include "runtime/bind/bind.h"
#include "tests/lib/tap.h"

static struct tap tap;

/* Those that count, as `SECTION.KEY: LINE;` each. */
static const struct {
	const char *what, *text, *counts;
	bool submodule;
} cases[] = {
	{ "nothing", "", "", false },
	{ "what is harmless", "[user]\n\tname = a\n[push]\ndefault=simple\n",
	    "", false },
	{ "a value is none", "[user]\nname\n", "", false },
	{ "blanks of each kind", " \t[user] \r\n \tname\t= a \r\n", "", false },
	{ "comments", "# [core]\n; pager = x\n[user]\n#\\\nname = a\n", "",
	    false },
	{ "large letters", "[USER]\nName = a\n", "", false },
	{ "with more in the brackets",
	    "[remote \"origin\"]\nfetch = a\n[branch  \"x y\"]\nmerge = z\n",
	    "", false },
	{ "what runs a program", "[core]\npager = x\n",
	    "core.pager: pager = x;", false },
	{ "one among harmless keys", "[gc]\nauto = 0\nrecentObjectsHook = x\n",
	    "gc.recentObjectsHook: recentObjectsHook = x;", false },
	{ "keys that a later git may have",
	    "[am]\nnew = x\n[extensions]\nnew = x\n[fetch]\nbundleURI = x\n"
	    "[index]\nnew = x\n[maintenance]\nnew = x\n[push]\nnew = x\n",
	    "am.new: new = x;extensions.new: new = x;"
	    "fetch.bundleURI: bundleURI = x;index.new: new = x;"
	    "maintenance.new: new = x;push.new: new = x;",
	    false },
	{ "what starts gpg", "[commit]\ngpgSign\n[log]\nshowSignature = 1\n",
	    "commit.gpgSign: gpgSign;log.showSignature: showSignature = 1;",
	    false },
	{ "what goes on into submodules",
	    "[push]\nrecurseSubmodules = check\n[submodule]\nrecurse = 1\n",
	    "push.recurseSubmodules: recurseSubmodules = check;"
	    "submodule.recurse: recurse = 1;",
	    false },
	{ "the last line without an end", "[core]\npager = x",
	    "core.pager: pager = x;", false },
	{ "a line that goes on", "[core]\npager = x\\\ny\n",
	    "core.pager: pager = x\\\ny;", false },
	{ "a harmless one that goes on", "[user]\nname = x\\\ny\n",
	    "user.name: name = x\\\ny;", false },
	{ "one that would go on", "[user]\nname = x\\",
	    "user.name: name = x\\;", false },
	{ "an address that runs a program",
	    "[remote \"o\"]\nurl = ext::sh -c x\n",
	    "remote.url: url = ext::sh -c x;", false },
	{ "one that runs a program, in marks",
	    "[remote \"o\"]\nurl = ext:\":\"sh -c x\nurl = \"ext:\"\":sh\"\n",
	    "remote.url: url = ext:\":\"sh -c x;"
	    "remote.url: url = \"ext:\"\":sh\";",
	    false },
	{ "marks that do not end", "[user]\nname = \"a\n",
	    "user.name: name = \"a;", false },
	{ "escapes",
	    "[user]\nname = \\\"a\\\\b\\n\\t\\b\nname = \"a;b#c\" # d\n", "",
	    false },
	{ "escapes that git has not", "[user]\nname = a\\x\nname = \\001\n",
	    "user.name: name = a\\x;user.name: name = \\001;", false },
	{ "a comment that seems to go on", "[user]\nname = a # \\\npager = x\n",
	    "user.name: name = a # \\\npager = x;", false },
	{ "addresses of other machines",
	    "[remote \"o\"]\nurl = https://e/x.git\nurl = git@e:x\nurl = e:/x\n"
	    "pushurl=\"ssh://g@e:22/x\" ; x\nurl = git://e\nurl = http://e/~x\n"
	    "[submodule \"x\"]\nurl = https://e/x\n",
	    "", false },
	{ "addresses on disk",
	    "[remote \"o\"]\nurl = /x\nurl = ./x\nurl = x\npushurl = ../e:x\n"
	    "url = x/y:z\npushurl = file:///x\nurl =\nurl\nurl = \"/x\"\n"
	    "url = ~/x\nurl = # https://e\n[submodule \"x\"]\nurl = ../x\n",
	    "remote.url: url = /x;remote.url: url = ./x;remote.url: url = x;"
	    "remote.pushurl: pushurl = ../e:x;remote.url: url = x/y:z;"
	    "remote.pushurl: pushurl = file:///x;remote.url: url =;"
	    "remote.url: url;remote.url: url = \"/x\";remote.url: url = ~/x;"
	    "remote.url: url = # https://e;submodule.url: url = ../x;",
	    false },
	{ "addresses that are strange",
	    "[remote \"o\"]\nurl = x://e\nurl = HTTPS://e\nurl = -o:x\n"
	    "url = ssh://-o\nurl = :x\n",
	    "remote.url: url = x://e;remote.url: url = HTTPS://e;"
	    "remote.url: url = -o:x;remote.url: url = ssh://-o;"
	    "remote.url: url = :x;",
	    false },
	{ "addresses instead of others",
	    "[url \"/x\"]\ninsteadOf = https://e\npushInsteadOf = git@e\n",
	    "url.insteadOf: insteadOf = https://e;"
	    "url.pushInsteadOf: pushInsteadOf = git@e;",
	    false },
	{ "where a branch goes",
	    "[branch \"a\"]\nremote = o\npushRemote = \"o\"\n"
	    "[remote \"o\"]\nurl = e:x\n[branch \"b\"]\nremote = .\n"
	    "[branch \"c\"]\nremote = https://e/x\n",
	    "", false },
	{ "where nothing is but perhaps on disk",
	    "[branch \"a\"]\nremote = o\npushRemote = ./o\n"
	    "[remote \"o\"]\nfetch = x\n[remote \"oo\"]\nurl = e:x\n",
	    "branch.remote: remote = o;branch.pushRemote: pushRemote = ./o;",
	    false },
	{ "a line before each section", "name = a\n", ".name: name = a;",
	    false },
	{ "no key", "[user]\n= a\n", "user.: = a;", false },
	{ "no equals sign", "[user]\nname a\n", "user.name: name a;", false },
	{ "a key with another byte", "[user]\nna_me = a\n",
	    "user.na: na_me = a;", false },
	{ "digits and dashes", "[remote \"o\"]\ngh-resolved = a\nurl9 = a\n",
	    "remote.url9: url9 = a;", false },
	{ "a bracket alone", "[\nname = a\n", ".: [;.name: name = a;", false },
	{ "a section that does not end", "[user]\n[user\nname = a\n",
	    "user.: [user;.name: name = a;", false },
	{ "a section and a setting in a line", "[user] name = a\n",
	    ".: [user] name = a;", false },
	{ "an empty section", "[]\nname = a\n", ".: [];.name: name = a;",
	    false },
	{ "a strange section", "[us_er]\nname = a\n",
	    ".: [us_er];.name: name = a;", false },
	{ "without quotes", "[remote o]\n", ".: [remote o];", false },
	{ "blanks alone after the name", "[remote ]\n", ".: [remote ];",
	    false },
	{ "one quote", "[remote \"]\n", ".: [remote \"];", false },
	{ "a quote that does not end", "[remote \"o]\n", ".: [remote \"o];",
	    false },
	{ "a quote in quotes", "[remote \"o\"p\"]\n", ".: [remote \"o\"p\"];",
	    false },
	{ "a backslash in quotes", "[remote \"o\\p\"]\n",
	    ".: [remote \"o\\p\"];", false },
	{ "where the tree of a submodule is", "[core]\nworktree = ../x\n", "",
	    true },
	{ "only there", "[core]\nworktree = ../x\n",
	    "core.worktree: worktree = ../x;", false },
	{ "and only that", "[core]\npager = x\n[cord]\nworktree = x\n",
	    "core.pager: pager = x;cord.worktree: worktree = x;", true },
};

static void
put(char *said, size_t size, struct git_words words, const char *end)
{
	size_t used = strlen(said);

	snprintf(said + used, size - used, "%.*s%s", (int)words.len, words.text,
	    end);
}

static void
check(size_t index)
{
	const char *text = cases[index].text;
	struct git_settings settings = { .begin = text,
		.at = text,
		.end = text + strlen(text),
		.submodule = cases[index].submodule };
	const struct git_settings whole = settings;
	struct git_setting setting;
	char said[512] = "";
	bool all = true;

	while (git_setting_next(&settings, &setting)) {
		put(said, sizeof said, git_section_name(&setting), ".");
		put(said, sizeof said, git_key(&setting), ": ");
		put(said, sizeof said, setting.line, ";");
		all &= git_settings_have(whole, &setting);
	}
	if (!tap_ok(&tap, strcmp(said, cases[index].counts) == 0 && all, "%s",
		cases[index].what))
		printf("# %s\n", said);
}

/* The same line in another section is another setting. */
static void
check_have(void)
{
	static const char text[] = "[core]\npager = x\n[alias \"a\"]\nb = c\n";
	static const struct {
		const char *section, *line;
		bool has;
	} asked[] = {
		{ "core", "pager = x", true },
		{ "core", "pager = y", false },
		{ "core", "pager = xx", false },
		{ "cord", "pager = x", false },
		{ "", "pager = x", false },
		{ "alias \"a\"", "b = c", true },
		{ "alias \"b\"", "b = c", false },
	};
	const struct git_settings settings = { .begin = text,
		.at = text,
		.end = text + sizeof text - 1 };

	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
		const struct git_setting setting = {
			{ asked[i].section, strlen(asked[i].section) },
			{ asked[i].line, strlen(asked[i].line) },
		};

		tap_ok(&tap,
		    git_settings_have(settings, &setting) == asked[i].has,
		    "[%s] %s", asked[i].section, asked[i].line);
	}
}

int
main(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(i);
	check_have();
	return tap_done(&tap);
}

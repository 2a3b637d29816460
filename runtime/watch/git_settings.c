#include "runtime/watch/git_settings.h"

#include <string.h>

/*
 * Settings that git itself, or the usual command line, writes without a program
 * in mind: section and key.  A key that a later git adds may run one, as
 * gc.recentObjectsHook does since 2.42, so "*" for all keys stands only where
 * each is a colour or a yes.  Not here are what starts gpg (commit.gpgSign,
 * log.showSignature), what fetches from an address of its own (fetch.bundleURI)
 * and what goes on into the repositories of submodules.
 */
static const struct {
	const char *section, *key;
} harmless[] = {
	{ "advice", "*" },
	{ "am", "keepcr" },
	{ "am", "messageid" },
	{ "am", "threeway" },
	{ "apply", "ignorewhitespace" },
	{ "apply", "whitespace" },
	{ "blame", "blankboundary" },
	{ "blame", "coloring" },
	{ "blame", "date" },
	{ "blame", "ignorerevsfile" },
	{ "blame", "markignoredlines" },
	{ "blame", "markunblamablelines" },
	{ "blame", "showemail" },
	{ "blame", "showroot" },
	{ "branch", "description" },
	{ "branch", "merge" },
	{ "branch", "pushremote" },
	{ "branch", "rebase" },
	{ "branch", "remote" },
	{ "color", "*" },
	{ "column", "branch" },
	{ "column", "clean" },
	{ "column", "status" },
	{ "column", "tag" },
	{ "column", "ui" },
	{ "commit", "cleanup" },
	{ "commit", "status" },
	{ "commit", "template" },
	{ "commit", "verbose" },
	{ "core", "abbrev" },
	{ "core", "autocrlf" },
	{ "core", "bare" },
	{ "core", "bigfilethreshold" },
	{ "core", "commitgraph" },
	{ "core", "compression" },
	{ "core", "eol" },
	{ "core", "filemode" },
	{ "core", "ignorecase" },
	{ "core", "logallrefupdates" },
	{ "core", "longpaths" },
	{ "core", "multipackindex" },
	{ "core", "precomposeunicode" },
	{ "core", "preloadindex" },
	{ "core", "quotepath" },
	{ "core", "repositoryformatversion" },
	{ "core", "safecrlf" },
	{ "core", "sharedrepository" },
	{ "core", "sparsecheckout" },
	{ "core", "sparsecheckoutcone" },
	{ "core", "symlinks" },
	{ "core", "untrackedcache" },
	{ "core", "whitespace" },
	{ "extensions", "compatobjectformat" },
	{ "extensions", "noop" },
	{ "extensions", "noop-v1" },
	{ "extensions", "objectformat" },
	{ "extensions", "preciousobjects" },
	{ "extensions", "relativeworktrees" },
	{ "extensions", "worktreeconfig" },
	{ "feature", "experimental" },
	{ "feature", "manyfiles" },
	{ "fetch", "all" },
	{ "fetch", "fsckobjects" },
	{ "fetch", "negotiationalgorithm" },
	{ "fetch", "output" },
	{ "fetch", "parallel" },
	{ "fetch", "prune" },
	{ "fetch", "prunetags" },
	{ "fetch", "showforcedupdates" },
	{ "fetch", "unpacklimit" },
	{ "fetch", "writecommitgraph" },
	{ "gc", "aggressivedepth" },
	{ "gc", "aggressivewindow" },
	{ "gc", "auto" },
	{ "gc", "autodetach" },
	{ "gc", "autopacklimit" },
	{ "gc", "bigpackthreshold" },
	{ "gc", "cruftpacks" },
	{ "gc", "logexpiry" },
	{ "gc", "maxcruftsize" },
	{ "gc", "packrefs" },
	{ "gc", "pruneexpire" },
	{ "gc", "reflogexpire" },
	{ "gc", "reflogexpireunreachable" },
	{ "gc", "rerereresolved" },
	{ "gc", "rerereunresolved" },
	{ "gc", "worktreepruneexpire" },
	{ "gc", "writecommitgraph" },
	{ "i18n", "commitencoding" },
	{ "i18n", "logoutputencoding" },
	{ "index", "recordendofindexentries" },
	{ "index", "recordoffsettable" },
	{ "index", "skiphash" },
	{ "index", "sparse" },
	{ "index", "threads" },
	{ "index", "version" },
	{ "init", "defaultbranch" },
	{ "lfs", "access" },
	{ "lfs", "repositoryformatversion" },
	{ "log", "abbrevcommit" },
	{ "log", "date" },
	{ "log", "decorate" },
	{ "log", "diffmerges" },
	{ "log", "excludedecoration" },
	{ "log", "follow" },
	{ "log", "graphcolors" },
	{ "log", "initialdecorationset" },
	{ "log", "mailmap" },
	{ "log", "showroot" },
	{ "maintenance", "auto" },
	{ "maintenance", "autodetach" },
	{ "maintenance", "enabled" },
	{ "maintenance", "schedule" },
	{ "maintenance", "strategy" },
	{ "merge", "conflictstyle" },
	{ "merge", "ff" },
	{ "merge", "renamelimit" },
	{ "notes", "displayref" },
	{ "notes", "mergestrategy" },
	{ "notes", "rewritemode" },
	{ "notes", "rewriteref" },
	{ "pack", "allowpackreuse" },
	{ "pack", "compression" },
	{ "pack", "deltacachelimit" },
	{ "pack", "deltacachesize" },
	{ "pack", "depth" },
	{ "pack", "indexversion" },
	{ "pack", "packsizelimit" },
	{ "pack", "threads" },
	{ "pack", "usebitmaps" },
	{ "pack", "usesparse" },
	{ "pack", "window" },
	{ "pack", "windowmemory" },
	{ "pack", "writebitmaphashcache" },
	{ "pack", "writebitmaplookuptable" },
	{ "pack", "writereverseindex" },
	{ "pull", "ff" },
	{ "pull", "rebase" },
	{ "push", "autosetupremote" },
	{ "push", "default" },
	{ "push", "followtags" },
	{ "push", "negotiate" },
	{ "push", "usebitmaps" },
	{ "push", "useforceifincludes" },
	{ "rebase", "autosquash" },
	{ "rebase", "autostash" },
	{ "rebase", "updaterefs" },
	{ "receive", "denycurrentbranch" },
	{ "remote", "fetch" },
	{ "remote", "gh-resolved" },
	{ "remote", "mirror" },
	{ "remote", "partialclonefilter" },
	{ "remote", "promisor" },
	{ "remote", "prune" },
	{ "remote", "push" },
	{ "remote", "pushurl" },
	{ "remote", "skipdefaultupdate" },
	{ "remote", "tagopt" },
	{ "remote", "url" },
	{ "rerere", "autoupdate" },
	{ "rerere", "enabled" },
	{ "stash", "showincludeuntracked" },
	{ "stash", "showpatch" },
	{ "stash", "showstat" },
	{ "status", "aheadbehind" },
	{ "status", "branch" },
	{ "status", "displaycommentprefix" },
	{ "status", "relativepaths" },
	{ "status", "renamelimit" },
	{ "status", "renames" },
	{ "status", "short" },
	{ "status", "showstash" },
	{ "status", "showuntrackedfiles" },
	{ "submodule", "active" },
	{ "submodule", "branch" },
	{ "submodule", "ignore" },
	{ "submodule", "url" },
	{ "tag", "sort" },
	{ "user", "email" },
	{ "user", "name" },
	{ "user", "signingkey" },
	{ "user", "useconfigonly" },
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool
is_name_byte(char c)
{
	c = lower(c);
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

static struct git_words
trimmed(const char *text, const char *end)
{
	while (text < end && is_blank(*text))
		text++;
	while (end > text && is_blank(end[-1]))
		end--;
	return (struct git_words){ text, (size_t)(end - text) };
}

/* The letters, digits and dashes at the front. */
static struct git_words
name_of(struct git_words words)
{
	size_t len = 0;

	while (len < words.len && is_name_byte(words.text[len]))
		len++;
	return (struct git_words){ words.text, len };
}

static bool
words_are(struct git_words words, const char *text)
{
	size_t i = 0;

	while (
	    i < words.len && text[i] != '\0' && lower(words.text[i]) == text[i])
		i++;
	return i == words.len && text[i] == '\0';
}

static bool
words_equal(struct git_words a, struct git_words b)
{
	return a.len == b.len &&
	    (a.len == 0 || memcmp(a.text, b.text, a.len) == 0);
}

static bool
is_comment(struct git_words line)
{
	return line.len > 0 && (line.text[0] == '#' || line.text[0] == ';');
}

/* The next line; one that ends with a backslash goes on in the next, but for a
 * comment. */
static struct git_words
next_line(struct git_settings *settings)
{
	const char *begin = settings->at, *end = begin;

	for (;;) {
		size_t left = (size_t)(settings->end - end);
		const char *newline = memchr(end, '\n', left);
		struct git_words line;

		end = newline != NULL ? newline : settings->end;
		line = trimmed(begin, end);
		settings->at = newline != NULL ? newline + 1 : settings->end;
		if (newline == NULL || line.len == 0 || is_comment(line) ||
		    line.text[line.len - 1] != '\\')
			return line;
		end = settings->at;
	}
}

/* `name`, or `name "more"`: what stands in the brackets of a section. */
static bool
is_section(struct git_words words)
{
	size_t len = name_of(words).len;

	if (len == 0 || len == words.len)
		return len > 0;
	while (len < words.len && words.text[len] == ' ')
		len++;
	if (words.len - len < 2 || words.text[len] != '"' ||
	    words.text[words.len - 1] != '"')
		return false;
	while (++len < words.len - 1) {
		if (words.text[len] == '"' || words.text[len] == '\\')
			return false;
	}
	return true;
}

/* Whether the line is `[...]` alone. */
static bool
read_section(struct git_settings *settings, struct git_words line)
{
	struct git_words inner;

	if (line.len < 2 || line.text[0] != '[' ||
	    line.text[line.len - 1] != ']')
		return false;
	inner = (struct git_words){ line.text + 1, line.len - 2 };
	if (!is_section(inner))
		return false;
	settings->section = inner;
	return true;
}

static bool
has(struct git_words words, const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i + len <= words.len; i++) {
		if (memcmp(words.text + i, text, len) == 0)
			return true;
	}
	return false;
}

/* "ext::sh -c ..." is an address that runs a program, and what goes on in the
 * next line is not understood here. */
static bool
is_plain_value(struct git_words line)
{
	return !has(line, "::") && !has(line, "\n") &&
	    line.text[line.len - 1] != '\\';
}

static bool
is_harmless(const struct git_settings *settings, struct git_words line)
{
	struct git_words section = name_of(settings->section);
	struct git_words key = name_of(line);
	struct git_words rest = trimmed(line.text + key.len,
	    line.text + line.len);

	if (key.len == 0 || section.len == 0 ||
	    (rest.len > 0 && rest.text[0] != '=') || !is_plain_value(line))
		return false;
	if (settings->submodule && words_are(section, "core") &&
	    words_are(key, "worktree"))
		return true;
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
		if (words_are(section, harmless[i].section) &&
		    (harmless[i].key[0] == '*' ||
			words_are(key, harmless[i].key)))
			return true;
	}
	return false;
}

bool
git_setting_next(struct git_settings *settings, struct git_setting *setting)
{
	while (settings->at < settings->end) {
		struct git_words line = next_line(settings);

		if (line.len == 0 || is_comment(line) ||
		    read_section(settings, line) || is_harmless(settings, line))
			continue;
		*setting = (struct git_setting){ settings->section, line };
		/* What follows a strange section belongs to no known one. */
		if (line.text[0] == '[')
			settings->section.len = 0;
		return true;
	}
	return false;
}

bool
git_settings_have(struct git_settings settings,
    const struct git_setting *setting)
{
	struct git_setting other;

	while (git_setting_next(&settings, &other)) {
		if (words_equal(other.line, setting->line) &&
		    words_equal(other.section, setting->section))
			return true;
	}
	return false;
}

struct git_words
git_section_name(const struct git_setting *setting)
{
	return name_of(setting->section);
}

struct git_words
git_key(const struct git_setting *setting)
{
	return name_of(setting->line);
}

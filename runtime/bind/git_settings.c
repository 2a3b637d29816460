/*
 * The settings of a git configuration that may make git run a program.  Known
 * are those that do not, by section and key; every other one counts, and so
 * does every line that has not the plain form of a section or a setting.
 * Hostile bytes are compared here, line by line, and never followed.
 */
#include "runtime/bind/bind.h"

#include <string.h>

/*
 * Settings that git itself, or the usual command line, writes without a program
 * in mind: section and key.  A key that a later git adds may run one, as
 * gc.recentObjectsHook does since 2.42, so "*" for all keys stands only where
 * each is a colour or a yes.  Not here are what starts gpg (commit.gpgSign,
 * log.showSignature), what fetches from an address of its own (fetch.bundleURI)
 * and what goes on into the repositories of submodules.
 *
 * An address is harmless if it leads to another machine by a program of git's
 * own.  git takes for a place on disk what has no colon before the first slash
 * (url_is_local_not_ssh() in its connect.c), and file://; `git push` then runs
 * the hooks of the repository there, which the command may have made.  The name
 * of a remote that has no url is an address, too.
 *
 * What a review shows of the working tree may depend on others: these are harmless
 * with the values that hide nothing.
 */
enum meaning { OTHER, ADDRESS, REMOTE, SHOWN };

static const struct {
	const char *section, *key;
	enum meaning meaning;
} harmless[] = {
	{ "advice", "*", OTHER },
	{ "am", "keepcr", OTHER },
	{ "am", "messageid", OTHER },
	{ "am", "threeway", OTHER },
	{ "apply", "ignorewhitespace", OTHER },
	{ "apply", "whitespace", OTHER },
	{ "blame", "blankboundary", OTHER },
	{ "blame", "coloring", OTHER },
	{ "blame", "date", OTHER },
	{ "blame", "ignorerevsfile", OTHER },
	{ "blame", "markignoredlines", OTHER },
	{ "blame", "markunblamablelines", OTHER },
	{ "blame", "showemail", OTHER },
	{ "blame", "showroot", OTHER },
	{ "branch", "description", OTHER },
	{ "branch", "merge", OTHER },
	{ "branch", "pushremote", REMOTE },
	{ "branch", "rebase", OTHER },
	{ "branch", "remote", REMOTE },
	{ "color", "*", SHOWN },
	{ "column", "branch", OTHER },
	{ "column", "clean", OTHER },
	{ "column", "status", OTHER },
	{ "column", "tag", OTHER },
	{ "column", "ui", OTHER },
	{ "commit", "cleanup", OTHER },
	{ "commit", "status", OTHER },
	{ "commit", "template", OTHER },
	{ "commit", "verbose", OTHER },
	{ "core", "abbrev", OTHER },
	{ "core", "autocrlf", OTHER },
	{ "core", "bare", OTHER },
	{ "core", "bigfilethreshold", OTHER },
	{ "core", "commitgraph", OTHER },
	{ "core", "compression", OTHER },
	{ "core", "eol", OTHER },
	{ "core", "filemode", SHOWN },
	{ "core", "ignorecase", OTHER },
	{ "core", "logallrefupdates", OTHER },
	{ "core", "longpaths", OTHER },
	{ "core", "multipackindex", OTHER },
	{ "core", "precomposeunicode", OTHER },
	{ "core", "preloadindex", OTHER },
	{ "core", "quotepath", OTHER },
	{ "core", "repositoryformatversion", OTHER },
	{ "core", "safecrlf", OTHER },
	{ "core", "sharedrepository", OTHER },
	{ "core", "sparsecheckout", OTHER },
	{ "core", "sparsecheckoutcone", OTHER },
	{ "core", "symlinks", SHOWN },
	{ "core", "untrackedcache", OTHER },
	{ "core", "whitespace", OTHER },
	{ "extensions", "compatobjectformat", OTHER },
	{ "extensions", "noop", OTHER },
	{ "extensions", "noop-v1", OTHER },
	{ "extensions", "objectformat", OTHER },
	{ "extensions", "preciousobjects", OTHER },
	{ "extensions", "relativeworktrees", OTHER },
	{ "extensions", "worktreeconfig", OTHER },
	{ "feature", "experimental", OTHER },
	{ "feature", "manyfiles", OTHER },
	{ "fetch", "all", OTHER },
	{ "fetch", "fsckobjects", OTHER },
	{ "fetch", "negotiationalgorithm", OTHER },
	{ "fetch", "output", OTHER },
	{ "fetch", "parallel", OTHER },
	{ "fetch", "prune", OTHER },
	{ "fetch", "prunetags", OTHER },
	{ "fetch", "showforcedupdates", OTHER },
	{ "fetch", "unpacklimit", OTHER },
	{ "fetch", "writecommitgraph", OTHER },
	{ "gc", "aggressivedepth", OTHER },
	{ "gc", "aggressivewindow", OTHER },
	{ "gc", "auto", OTHER },
	{ "gc", "autodetach", OTHER },
	{ "gc", "autopacklimit", OTHER },
	{ "gc", "bigpackthreshold", OTHER },
	{ "gc", "cruftpacks", OTHER },
	{ "gc", "logexpiry", OTHER },
	{ "gc", "maxcruftsize", OTHER },
	{ "gc", "packrefs", OTHER },
	{ "gc", "pruneexpire", OTHER },
	{ "gc", "reflogexpire", OTHER },
	{ "gc", "reflogexpireunreachable", OTHER },
	{ "gc", "rerereresolved", OTHER },
	{ "gc", "rerereunresolved", OTHER },
	{ "gc", "worktreepruneexpire", OTHER },
	{ "gc", "writecommitgraph", OTHER },
	{ "i18n", "commitencoding", OTHER },
	{ "i18n", "logoutputencoding", OTHER },
	{ "index", "recordendofindexentries", OTHER },
	{ "index", "recordoffsettable", OTHER },
	{ "index", "skiphash", OTHER },
	{ "index", "sparse", OTHER },
	{ "index", "threads", OTHER },
	{ "index", "version", OTHER },
	{ "init", "defaultbranch", OTHER },
	{ "lfs", "access", OTHER },
	{ "lfs", "repositoryformatversion", OTHER },
	{ "log", "abbrevcommit", OTHER },
	{ "log", "date", OTHER },
	{ "log", "decorate", OTHER },
	{ "log", "diffmerges", OTHER },
	{ "log", "excludedecoration", OTHER },
	{ "log", "follow", OTHER },
	{ "log", "graphcolors", OTHER },
	{ "log", "initialdecorationset", OTHER },
	{ "log", "mailmap", OTHER },
	{ "log", "showroot", OTHER },
	{ "maintenance", "auto", OTHER },
	{ "maintenance", "autodetach", OTHER },
	{ "maintenance", "enabled", OTHER },
	{ "maintenance", "schedule", OTHER },
	{ "maintenance", "strategy", OTHER },
	{ "merge", "conflictstyle", OTHER },
	{ "merge", "ff", OTHER },
	{ "merge", "renamelimit", OTHER },
	{ "notes", "displayref", OTHER },
	{ "notes", "mergestrategy", OTHER },
	{ "notes", "rewritemode", OTHER },
	{ "notes", "rewriteref", OTHER },
	{ "pack", "allowpackreuse", OTHER },
	{ "pack", "compression", OTHER },
	{ "pack", "deltacachelimit", OTHER },
	{ "pack", "deltacachesize", OTHER },
	{ "pack", "depth", OTHER },
	{ "pack", "indexversion", OTHER },
	{ "pack", "packsizelimit", OTHER },
	{ "pack", "threads", OTHER },
	{ "pack", "usebitmaps", OTHER },
	{ "pack", "usesparse", OTHER },
	{ "pack", "window", OTHER },
	{ "pack", "windowmemory", OTHER },
	{ "pack", "writebitmaphashcache", OTHER },
	{ "pack", "writebitmaplookuptable", OTHER },
	{ "pack", "writereverseindex", OTHER },
	{ "pull", "ff", OTHER },
	{ "pull", "rebase", OTHER },
	{ "push", "autosetupremote", OTHER },
	{ "push", "default", OTHER },
	{ "push", "followtags", OTHER },
	{ "push", "negotiate", OTHER },
	{ "push", "usebitmaps", OTHER },
	{ "push", "useforceifincludes", OTHER },
	{ "rebase", "autosquash", OTHER },
	{ "rebase", "autostash", OTHER },
	{ "rebase", "updaterefs", OTHER },
	{ "receive", "denycurrentbranch", OTHER },
	{ "remote", "fetch", OTHER },
	{ "remote", "gh-resolved", OTHER },
	{ "remote", "mirror", OTHER },
	{ "remote", "partialclonefilter", OTHER },
	{ "remote", "promisor", OTHER },
	{ "remote", "prune", OTHER },
	{ "remote", "push", OTHER },
	{ "remote", "pushurl", ADDRESS },
	{ "remote", "skipdefaultupdate", OTHER },
	{ "remote", "tagopt", OTHER },
	{ "remote", "url", ADDRESS },
	{ "rerere", "autoupdate", OTHER },
	{ "rerere", "enabled", OTHER },
	{ "stash", "showincludeuntracked", OTHER },
	{ "stash", "showpatch", OTHER },
	{ "stash", "showstat", OTHER },
	{ "status", "aheadbehind", OTHER },
	{ "status", "branch", OTHER },
	{ "status", "displaycommentprefix", OTHER },
	{ "status", "relativepaths", OTHER },
	{ "status", "renamelimit", OTHER },
	{ "status", "renames", OTHER },
	{ "status", "short", OTHER },
	{ "status", "showstash", OTHER },
	{ "status", "showuntrackedfiles", SHOWN },
	{ "submodule", "active", OTHER },
	{ "submodule", "branch", OTHER },
	{ "submodule", "ignore", SHOWN },
	{ "submodule", "url", ADDRESS },
	{ "tag", "sort", OTHER },
	{ "user", "email", OTHER },
	{ "user", "name", OTHER },
	{ "user", "signingkey", OTHER },
	{ "user", "useconfigonly", OTHER },
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

bool
git_setting_any(struct git_settings *settings, struct git_setting *setting)
{
	while (settings->at < settings->end) {
		struct git_words line = next_line(settings);

		if (line.len == 0 || is_comment(line) ||
		    read_section(settings, line))
			continue;
		*setting = (struct git_setting){ settings->section, line };
		/* What follows a strange section belongs to no known one. */
		if (line.text[0] == '[')
			settings->section.len = 0;
		return true;
	}
	return false;
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

/* What git reads of a value. */
struct value {
	char text[1024];
	size_t len;
};

/* The byte that a backslash and this letter stand for; 0: none. */
static char
escaped(char letter)
{
	static const char pairs[][2] = {
		{ '"', '"' },
		{ '\\', '\\' },
		{ 'b', '\b' },
		{ 'n', '\n' },
		{ 't', '\t' },
	};

	for (size_t i = 0; i < countof(pairs); i++) {
		if (pairs[i][0] == letter)
			return pairs[i][1];
	}
	return '\0';
}

/* As parse_value() of git's config.c reads it: quotation marks go, wherever they
 * stand, and a comment ends it.  What goes on in the next line is not read. */
static bool
read_value(struct git_words raw, struct value *value)
{
	size_t kept = 0;
	bool quoted = false;

	value->len = 0;
	/* A comment does not go on, and has hidden a setting then. */
	if (has(raw, "\n"))
		return false;
	for (size_t i = 0; i < raw.len; i++) {
		char c = raw.text[i];
		bool blank = !quoted && is_blank(c);

		if (c == '"') {
			quoted = !quoted;
			kept = value->len;
			continue;
		}
		if (!quoted && (c == '#' || c == ';'))
			break;
		if (c == '\\')
			c = ++i < raw.len ? escaped(raw.text[i]) : '\0';
		if (c == '\0' || value->len == sizeof value->text)
			return false;
		value->text[value->len++] = c;
		if (!blank)
			kept = value->len;
	}
	value->len = kept;
	return !quoted;
}

static bool
begins(struct git_words words, const char *text)
{
	size_t len = strlen(text);

	return words.len > len && memcmp(words.text, text, len) == 0;
}

/* "https://...", or "host:path" as of ssh.  Of another scheme git runs the
 * helper, and what begins with a dash may be an option. */
static bool
is_elsewhere(struct git_words address)
{
	static const char *const schemes[] = { "https://", "ssh://", "http://",
		"git://", "git+ssh://", "ssh+git://", "ftp://", "ftps://" };
	const char *colon = address.len > 0 ?
	    memchr(address.text, ':', address.len) :
	    NULL;
	size_t before;

	for (size_t i = 0; i < countof(schemes); i++) {
		if (begins(address, schemes[i]))
			return address.text[strlen(schemes[i])] != '-';
	}
	if (colon == NULL)
		return false;
	before = (size_t)(colon - address.text);
	return before > 0 && strchr("/.~-", address.text[0]) == NULL &&
	    memchr(address.text, '/', before) == NULL &&
	    !(address.len - before > 2 && memcmp(colon, "://", 3) == 0);
}

/* Whether the words are `remote "NAME"`. */
static bool
is_remote(struct git_words section, struct git_words name)
{
	static const char before[] = "remote \"";
	size_t len = sizeof before - 1;

	return section.len == len + name.len + 1 && begins(section, before) &&
	    memcmp(section.text + len, name.text, name.len) == 0;
}

/* Whether the text gives the remote of that name an address. */
static bool
has_remote(struct git_settings settings, struct git_words name)
{
	struct git_setting setting;

	settings.at = settings.begin;
	settings.section.len = 0;
	while (git_setting_any(&settings, &setting)) {
		if (words_are(name_of(setting.line), "url") &&
		    is_remote(setting.section, name))
			return true;
	}
	return false;
}

/* Files that are new, modes, links, submodules; and colours, of which one may be that
 * of the ground. */
static bool
is_shown(struct git_words value)
{
	static const char *const values[] = { "true", "yes", "on", "1", "all",
		"normal", "none", "auto", "always", "never" };

	for (size_t i = 0; i < countof(values); i++) {
		if (words_are(value, values[i]))
			return true;
	}
	return false;
}

static bool
is_harmless_value(const struct git_settings *settings, struct git_words raw,
    enum meaning meaning)
{
	struct value value;
	struct git_words words;

	if (!read_value(raw, &value))
		return false;
	words = (struct git_words){ value.text, value.len };
	/* "ext::sh -c ..." is an address that runs a program. */
	if (has(words, "::"))
		return false;
	switch (meaning) {
	case OTHER:
		return true;
	case SHOWN:
		return is_shown(words);
	case ADDRESS:
		return is_elsewhere(words);
	case REMOTE:
		return words_are(words, ".") || is_elsewhere(words) ||
		    has_remote(*settings, words);
	}
	return false;
}

static bool
is_harmless(const struct git_settings *settings,
    const struct git_setting *setting)
{
	struct git_words line = setting->line, key = name_of(line);
	struct git_words section = name_of(setting->section);
	const char *end = line.text + line.len;
	struct git_words rest = trimmed(line.text + key.len, end);

	if (key.len == 0 || section.len == 0 ||
	    (rest.len > 0 && rest.text[0] != '='))
		return false;
	if (rest.len > 0)
		rest = trimmed(rest.text + 1, end);
	if (settings->submodule && words_are(section, "core") &&
	    words_are(key, "worktree"))
		return is_harmless_value(settings, rest, OTHER);
	for (size_t i = 0; i < countof(harmless); i++) {
		if (words_are(section, harmless[i].section) &&
		    (harmless[i].key[0] == '*' ||
			words_are(key, harmless[i].key)))
			return is_harmless_value(settings, rest,
			    harmless[i].meaning);
	}
	return false;
}

bool
git_setting_next(struct git_settings *settings, struct git_setting *setting)
{
	while (git_setting_any(settings, setting)) {
		if (!is_harmless(settings, setting))
			return true;
	}
	return false;
}

bool
git_settings_have(struct git_settings settings,
    const struct git_setting *setting)
{
	struct git_setting other;

	while (git_setting_any(&settings, &other)) {
		if (words_equal(other.line, setting->line) &&
		    words_equal(other.section, setting->section) &&
		    !is_harmless(&settings, &other))
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

enum git_lead
git_setting_leads(const struct git_setting *setting, char path[1024])
{
	static const struct {
		const char *section, *key;
		enum git_lead lead;
	} leads[] = {
		{ "blame", "ignorerevsfile", GIT_LEAD_CONTENT },
		{ "commit", "template", GIT_LEAD_CONTENT },
		{ "core", "attributesfile", GIT_LEAD_REVIEW },
		{ "core", "excludesfile", GIT_LEAD_REVIEW },
		{ "core", "hookspath", GIT_LEAD_HOOKS },
		{ "core", "worktree", GIT_LEAD_TREE },
		{ "gpg", "allowedsignersfile", GIT_LEAD_CONTENT },
		{ "include", "path", GIT_LEAD_SETTINGS },
		{ "includeif", "path", GIT_LEAD_SETTINGS },
		{ "mailmap", "file", GIT_LEAD_CONTENT },
	};
	struct git_words section = name_of(setting->section);
	struct git_words key = name_of(setting->line);
	const char *end = setting->line.text + setting->line.len;
	struct git_words rest = trimmed(key.text + key.len, end);
	struct value value;
	size_t i = 0;

	while (i < countof(leads) &&
	    !(words_are(section, leads[i].section) &&
		words_are(key, leads[i].key)))
		i++;
	if (i == countof(leads) || rest.len == 0 || rest.text[0] != '=' ||
	    !read_value(trimmed(rest.text + 1, end), &value) ||
	    value.len == 0 || value.len == sizeof value.text)
		return GIT_LEAD_NONE;
	memcpy(path, value.text, value.len);
	path[value.len] = '\0';
	return leads[i].lead;
}

/*
 * The words and settings of sbxsh: which shell, which of the caller's words, which
 * pipes, and what a file of settings says, is refused for, or may lead to.
 */
#include "runtime/shell/shell.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIPES = 4 };

static struct tap tap;
static const char *passwd; /* what /etc/passwd says; NULL: what it says */
static char home[64] = "/var/tmp/sbx-shell-XXXXXX";

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int
__wrap_open(const char *path, int flags, ...)
{
	int ends[2];

	if (passwd == NULL || strcmp(path, "/etc/passwd") != 0)
		return __real_open(path, flags, 0644);
	if (pipe(ends) != 0 ||
	    write(ends[1], passwd, strlen(passwd)) != (ssize_t)strlen(passwd))
		abort();
	close(ends[1]);
	return ends[0];
}

static void
is(const char *what, const char *wanted, const char *got)
{
	if (!tap_ok(&tap, strcmp(wanted, got) == 0, "%s", what))
		printf("# '%s' instead of '%s'\n", got, wanted);
}

/* --- words ---------------------------------------------------------------- */

static void
check_shells(void)
{
	bool here = words_find("bash") != NULL;

	is("zsh", "zsh", words_shell("/opt/zsh-5"));
	is("a login shell", "dash", words_shell("-dash"));
	is("sh", "sh", words_shell("/bin/sh"));
	is("a login shell that is sh", "sh", words_shell("-sh"));
	is("another name", here ? "bash" : "sh", words_shell("/x/sbxsh"));
	is("a word that ends so", here ? "bash" : "sh", words_shell("fish"));
	tap_ok(&tap, words_find("no-shell") == NULL, "a shell that is nowhere");
	tap_ok(&tap, words_find("..") == NULL, "a directory is no shell");
	is("a shell is found where shells are", "/bin/sh", words_find("sh"));
}

/* The words that are made of these, with spaces between them. */
static const char *
translated(const char **argv)
{
	static char text[256];
	struct words words = { 0 };

	*text = '\0';
	words_translate(&words, "S", (char **)(uintptr_t)argv);
	for (size_t i = 0; i < words.count; i++) {
		strcat(text, words.of[i]);
		strcat(text, i + 1 < words.count ? "|" : "");
	}
	tap_ok(&tap, words.of[words.count] == NULL, "a NULL is behind them");
	free(words.of);
	return text;
}

#define TRANSLATED(...) translated((const char *[]){ __VA_ARGS__, NULL })

static void
check_words(void)
{
	is("no word at all", "S", translated((const char *[]){ NULL }));
	is("a name alone", "S", TRANSLATED("sh"));
	is("a login shell", "S|-l", TRANSLATED("-sh"));
	is("two words", "S|-c|x", TRANSLATED("sh", "-c", "x"));
	is("one option", "S|-i", TRANSLATED("sh", "-i"));
	is("an empty word", "S|", TRANSLATED("sh", ""));
	is("a line", "S|-c|echo a", TRANSLATED("sh", "echo a"));
	is("a word", "S|-c|gone", TRANSLATED("sh", "gone"));
	is("a script", "S|script", TRANSLATED("sh", "script"));
	is("a script by its path", "S|./script", TRANSLATED("sh", "./script"));
	is("a script that is called like a line", "S|-c|a b",
	    TRANSLATED("sh", "a b"));
	is("but not by its path", "S|./a b", TRANSLATED("sh", "./a b"));
	is("a program above that is not there", "S|-c|../gone",
	    TRANSLATED("sh", "../gone"));
	is("a directory", "S|-c|/", TRANSLATED("sh", "/"));
}

static void
check_many(void)
{
	struct words words = { 0 };
	bool same = true;

	for (int i = 0; i < 1000; i++)
		words_add(&words, i % 2 == 0 ? "even" : "odd");
	for (int i = 0; i < 1000; i++)
		same &= strcmp(words.of[i], i % 2 == 0 ? "even" : "odd") == 0;
	tap_ok(&tap, same && words.count == 1000 && words.of[1000] == NULL,
	    "a thousand words");
	free(words.of);
}

/* --- pipes ---------------------------------------------------------------- */

static int ends[PIPES][2];

/* Which of our pipes are handed over, by a letter each. */
static const char *
handed(const char *word, const char *flags)
{
	static char text[32];
	const char *argv[] = { "sh", word, NULL };
	int pipes[PIPES];
	size_t count, used = 0;

	if (flags != NULL)
		setenv("MAKEFLAGS", flags, 1);
	else
		unsetenv("MAKEFLAGS");
	count = words_pipes((char **)(uintptr_t)argv, pipes, PIPES);
	for (size_t i = 0; i < count; i++) {
		text[used] = '?';
		for (int j = 0; j < 2 * PIPES; j++)
			if (ends[j / 2][j % 2] == pipes[i])
				text[used] = (char)('a' + j);
		used++;
	}
	text[used] = '\0';
	return text;
}

static void
check_pipes(void)
{
	char text[256];
	int *p = ends[0];

	for (int i = 0; i < PIPES; i++)
		if (pipe(ends[i]) != 0)
			abort();
	snprintf(text, sizeof text, "/dev/fd/%d", p[0]);
	is("a script that is a pipe", "a", handed(text, NULL));
	is("none is handed over", "", handed("-c", NULL));
	is("a word that is no number", "", handed("/dev/fd/x", NULL));
	is("a stream is none", "", handed("/dev/fd/2", NULL));
	is("too large a number", "", handed("/dev/fd/1048576", NULL));
	is("a number beyond all", "",
	    handed("/dev/fd/99999999999999999999", ""));
	is("one that is not open", "", handed("/dev/fd/1048575", NULL));
	snprintf(text, sizeof text, "-j --jobserver-auth=%d,%d -- x", p[0],
	    p[1]);
	is("the jobs of make", "ab", handed("x", text));
	snprintf(text, sizeof text, "--jobserver-fds=%d,%d --jobserver-auth=%d",
	    p[0], p[1], p[2]);
	is("those of an old one, and a number alone", "cab", handed("x", text));
	snprintf(text, sizeof text, "--jobserver-auth=%d,%d", p[0], p[0]);
	is("one that is named twice", "a", handed("x", text));
	snprintf(text, sizeof text, "--jobserver-auth=%d-%d", p[0], p[1]);
	is("no comma", "a", handed("x", text));
	is("a pipe with a name", "",
	    handed("x", "--jobserver-auth=fifo:/tmp/x"));
	snprintf(text, sizeof text, "--jobserver-auth=%d,%d",
	    open("/dev/null", O_RDONLY), p[1]);
	is("what is no pipe", "b", handed("x", text));
}

/* Which of two descriptors are handed over that are all pipes. */
static size_t
count_pipes(int first, int second)
{
	char word[32], flags[64];
	const char *argv[] = { "sh", word, NULL };
	int pipes[PIPES];

	snprintf(word, sizeof word, "/dev/fd/%d", first);
	snprintf(flags, sizeof flags, "--jobserver-auth=%d,%d", first, second);
	setenv("MAKEFLAGS", flags, 1);
	return words_pipes((char **)(uintptr_t)argv, pipes, PIPES);
}

/* A stream is the command's anyway, even if it is a pipe. */
static void
check_streams(void)
{
	size_t counts[4], after;
	int kept[4];

	for (int fd = 0; fd < 4; fd++) {
		kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
		fflush(stdout);
		dup2(ends[0][0], fd);
	}
	for (int fd = 0; fd < 4; fd++)
		counts[fd] = count_pipes(fd, 0);
	after = count_pipes(0, 3);
	for (int fd = 0; fd < 4; fd++) {
		if (kept[fd] >= 0)
			dup2(kept[fd], fd);
		else
			close(fd);
	}
	tap_ok(&tap,
	    counts[0] == 0 && counts[1] == 0 && counts[2] == 0 &&
		counts[3] == 1 && after == 1,
	    "streams that are pipes are not handed over: %zu %zu %zu",
	    counts[0], counts[1], counts[2]);
}

static void
check_most_pipes(void)
{
	char words[PIPES + 2][32];
	const char *argv[PIPES + 3] = { "sh" };
	int pipes[PIPES], pair[2];
	size_t count = 1;

	for (int i = 0; i < PIPES + 1; i++) {
		if (pipe(pair) != 0)
			abort();
		snprintf(words[i], sizeof words[i], "/dev/fd/%d", pair[0]);
		argv[count++] = words[i];
	}
	unsetenv("MAKEFLAGS");
	tap_ok(&tap,
	    words_pipes((char **)(uintptr_t)argv, pipes, PIPES) == PIPES,
	    "no more than there is room for");
}

/* --- settings ------------------------------------------------------------- */

static char file[128];

static void
write_file(const char *path, const char *text)
{
	FILE *stream = fopen(path, "w");

	if (stream == NULL || fputs(text, stream) == EOF ||
	    fclose(stream) != 0 || chmod(path, 0644) != 0)
		abort();
}

static char said[2 * PATH_MAX]; /* of the settings that were read last */

/* What the settings are, in one line, or why they are refused, without the
 * place of the file. */
static const char *
settings(void)
{
	struct settings read_settings = { 0 };
	const struct words *options = &read_settings.options;
	char *at;
	int pipe_of[2], status;
	size_t used = 0;
	ssize_t len;

	fflush(stdout);
	if (pipe(pipe_of) != 0)
		abort();
	if (fork() == 0) {
		dup2(pipe_of[1], STDOUT_FILENO);
		dup2(pipe_of[1], STDERR_FILENO);
		settings_read(&read_settings);
		printf("%s %s %s", read_settings.policy, read_settings.session,
		    read_settings.shell != NULL ? read_settings.shell : "-");
		for (size_t i = 0; i < options->count; i++)
			printf(" %s", options->of[i]);
		fflush(stdout);
		_exit(0);
	}
	close(pipe_of[1]);
	while (
	    (len = read(pipe_of[0], said + used, sizeof said - 1 - used)) > 0)
		used += (size_t)len;
	close(pipe_of[0]);
	said[used] = '\0';
	wait(&status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return said;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 125)
		return "another status";
	said[strcspn(said, "\n")] = '\0';
	at = strstr(said, ": ");
	while (at != NULL && strchr(at + 2, '/') != NULL &&
	    strstr(at + 2, ": ") != NULL)
		at = strstr(at + 2, ": ");
	return at != NULL ? at + 2 : said;
}

static void
says(const char *what, const char *text, const char *wanted)
{
	write_file(file, text);
	is(what, wanted, settings());
}

static void
check_values(void)
{
	char text[PATH_MAX + 2000], wanted[256];

	says("nothing", "", "@agent auto -");
	says("lines without a word", "\n  \n# policy @x\n\t\r\n",
	    "@agent auto -");
	says("a profile", "policy @x", "@x auto -");
	says("the last one holds", "policy @x\npolicy @y\nsession a\n",
	    "@y a -");
	says("options, and spaces", "level \t full \t \nlimit a=1 b\nidle\t3\n",
	    "@agent auto - --level full --limit a=1 b --idle 3");
	says("explain yes", "explain yes\n", "@agent auto - --explain");
	says("explain agent", "explain agent\r\n",
	    "@agent auto - --explain=agent");
	says("explain no", "explain no\n", "@agent auto -");
	snprintf(wanted, sizeof wanted, "@agent auto %s/sh --log %s/l", home,
	    home);
	says("paths in the home directory", "shell ~/sh\nlog ~/l\n", wanted);
	says("each word that there is",
	    "policy /\nsession s\nshell /bin/x\nexplain yes\nlevel l\n"
	    "limit m\ndefine d\nexpect e\nlog /l\nidle i\n",
	    "/ s /bin/x --explain --level l --limit m --define d --expect e "
	    "--log /l --idle i");
	says("a policy by a relative path", "policy x.bin\n",
	    "it has to begin with /, ~/ or @");
	says("a shell by one", "shell bin/sh\n",
	    "it has to begin with / or ~/");
	says("a log by one", "log ./l\n", "it has to begin with / or ~/");
	says("a home directory that is another's", "log ~x/l\n",
	    "it has to begin with / or ~/");
	says("a log that is called like a profile", "log @l\n",
	    "it has to begin with / or ~/");
	says("explain maybe", "explain maybe\n",
	    "explain: it has to be yes, agent or no");
	says("a value with spaces in it", "log \t/a b \n",
	    "@agent auto - --log /a b");
	says("a word without a value", "level \t \n",
	    "level: a word without a value");
	says("a part of a word", "lev full\n",
	    "lev: no such setting; see sbxsh(1)");
	says("one in the third line", "\n# no word\nlev full\n",
	    "lev: no such setting; see sbxsh(1)");
	tap_ok(&tap, strstr(said, "/shell:3: lev: ") != NULL,
	    "which line it is");
	says("a policy that is gone", "policy /gone/x.bin\n",
	    "cannot tell where it lies: No such file or directory");
	memset(text, 'a', sizeof text);
	memcpy(text, "policy /", 8);
	text[PATH_MAX + 100] = '\0';
	says("a path that is too long", text, "cannot tell where it lies");
}

/* A link of so many bytes, which leads to the directory that it is in. */
static void
link_long(const char *path, size_t size)
{
	char target[PATH_MAX] = "";

	for (size_t i = 0; i + 2 <= size; i += 2)
		memcpy(target + i, "./", 3);
	if (symlink(target, path) != 0)
		abort();
}

static void
check_links(void)
{
	char path[128], last[128] = "policy.bin", text[PATH_MAX];
	size_t used;

	snprintf(path, sizeof path, "%s/policy.bin", home);
	write_file(path, "");
	for (int i = 0; i <= 41; i++) {
		snprintf(path, sizeof path, "%s/link%d", home, i);
		if (symlink(last, path) != 0)
			abort();
		snprintf(last, sizeof last, "link%d", i);
	}
	snprintf(text, sizeof text, "%s/link39 auto -", home);
	says("forty links", "policy ~/link39\n", text);
	says("and one more", "policy ~/link40\n",
	    "cannot tell where it lies: Too many levels of symbolic links");
	snprintf(path, sizeof path, "%s/absolute", home);
	snprintf(text, sizeof text, "%s/policy.bin", home);
	if (symlink(text, path) != 0)
		abort();
	snprintf(text, sizeof text, "%s/absolute auto -", home);
	says("an absolute link", "policy ~/absolute\n", text);
	snprintf(path, sizeof path, "%s/long", home);
	link_long(path, PATH_MAX - 96);
	used = (size_t)sprintf(text, "policy ~/long/");
	for (int i = 0; i < 50; i++)
		used += (size_t)sprintf(text + used, "./");
	sprintf(text + used, "policy.bin\n");
	says("a way that becomes too long", text,
	    "cannot tell where it leads: File name too long");
}

/* Where a command could write them. */
static void
check_workspace(void)
{
	static const char refused[] =
	    "it lies in the workspace, where a command may change it";
	char path[128], text[256];

	snprintf(path, sizeof path, "%s/.config/p.bin", home);
	write_file(path, "");
	snprintf(text, sizeof text, "%s auto -", path);
	if (chdir(home) != 0)
		abort();
	says("at home, a policy in ~/.config", "policy ~/.config/p.bin\n",
	    text);
	says("at home, another one", "policy ~/policy.bin\n", refused);
	snprintf(path, sizeof path, "%s/.config", home);
	if (chdir(path) != 0)
		abort();
	says("in ~/.config, that one", "policy ~/.config/p.bin\n", refused);
	if (chdir("/") != 0)
		abort();
	says("in the root directory", "policy ~/.config/p.bin\n", text);
	if (chdir(home) != 0 || mkdir("gone", 0700) != 0 ||
	    chdir("gone") != 0 || rmdir("../gone") != 0)
		abort();
	says("in a directory that is gone", "policy ~/policy.bin\n",
	    (snprintf(text, sizeof text, "%s/policy.bin auto -", home), text));
	if (chdir("/usr") != 0)
		abort();
}

/* What is at the place of the file. */
static void
check_file(void)
{
	static const char others[] =
	    "others may write it: make it yours, chmod go-w";

	write_file(file, "policy @x\n");
	chmod(file, 0664);
	is("settings that a group may write", others, settings());
	chmod(file, 0646);
	is("settings that all may write", others, settings());
	chmod(file, 0644);
	if (geteuid() == 0 && chown(file, 65534, 0) == 0)
		is("settings of somebody else", others, settings());
	unlink(file);
	mkdir(file, 0755);
	is("a directory", others, settings());
	rmdir(file);
	if (mkfifo(file, 0600) != 0)
		abort();
	is("a pipe, which is not waited for", others, settings());
	unlink(file);
	if (symlink("shell", file) != 0)
		abort();
	is("a link to itself",
	    "cannot read the settings: Too many levels of symbolic links",
	    settings());
	unlink(file);
}

/* Whose home directory it is, where there are these users. */
static void
finds(const char *what, const char *users, bool found)
{
	write_file(file, "policy @x\n");
	unsetenv("SBX_TEST_HOME");
	passwd = users;
	is(what, found ? "@x auto -" : "@agent auto -", settings());
	passwd = NULL;
	setenv("SBX_TEST_HOME", home, 1);
	unlink(file);
}

/* A text in which U is this user and H the home directory. */
static const char *
filled(const char *form)
{
	static char text[512];
	size_t used = 0;

	for (; *form != '\0'; form++) {
		char *at = text + used;
		size_t left = sizeof text - used;

		used += (size_t)(*form == 'U' ?
			snprintf(at, left, "%u", getuid()) :
			*form == 'H' ? snprintf(at, left, "%s", home) :
				       snprintf(at, left, "%c", *form));
	}
	return text;
}

static void
check_home(void)
{
	if (access("/etc/sbx/shell", F_OK) == 0)
		return;
	finds("the user", filled("me:x:U:1::H:/bin/sh\n"), true);
	finds("behind others",
	    filled("no:x:1U:1::/gone:/bin/sh\nme:x:U:1::H:\n"), true);
	finds("the first one", filled("me:x:U:1::/gone:\nme:x:U:1::H:\n"),
	    false);
	finds("another one", filled("me:x:1U:1::H:\n"), false);
	finds("no number", filled("me:x::1::H:\n"), false);
	finds("more than a number", filled("me:x:Ux:1::H:\n"), false);
	if (chdir("/") != 0)
		abort();
	finds("no absolute path", filled("me:x:U:1::.H:\n"), false);
	if (chdir("/usr") != 0)
		abort();
	finds("a short line", filled("me:x:U:1\n"), false);
}

/* Without settings of one's own those of the machine hold. */
static void
check_none(void)
{
	char path[128];

	if (access("/etc/sbx/shell", F_OK) == 0)
		return;
	is("no settings", "@agent auto -", settings());
	snprintf(path, sizeof path, "%s/no", home);
	write_file(path, "");
	setenv("SBX_TEST_HOME", path, 1);
	is("a home directory that is none", "@agent auto -", settings());
	setenv("SBX_TEST_HOME", home, 1);
}

int
main(void)
{
	char command[128];

	if (mkdtemp(home) == NULL || chdir(home) != 0)
		abort();
	snprintf(file, sizeof file, "%s/.config", home);
	mkdir(file, 0755);
	snprintf(file, sizeof file, "%s/.config/sbx", home);
	mkdir(file, 0755);
	snprintf(file, sizeof file, "%s/.config/sbx/shell", home);
	setenv("SBX_TEST_HOME", home, 1);
	write_file("script", "");
	write_file("a b", "");
	check_shells();
	check_words();
	check_many();
	check_pipes();
	check_streams();
	check_most_pipes();
	if (chdir("/usr") != 0)
		abort();
	check_values();
	check_links();
	check_workspace();
	check_file();
	check_none();
	check_home();
	snprintf(command, sizeof command, "rm -rf '%s'", home);
	if (system(command) != 0)
		abort();
	printf("1..%u\n", tap.count);
	return tap.failed > 0;
}

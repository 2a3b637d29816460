/* The secrets of a policy: see network.h. */
#include "runtime/network/network.h"

#include "format/protocol.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void
secrets_check(const struct sbx_blob *blob, enum sbx_level level)
{
	const struct sbx_name *rule = tls_rule(blob);

	if (rule != NULL && level < SBX_LEVEL_STANDARD)
		refuse_at(blob, rule->source,
		    "below level standard nothing holds rules about requests "
		    "and secrets",
		    0);
}

/* --- what is known of secrets --------------------------------------------- */

enum { HIDDEN_SIZE = 4096 };

struct known {
	const struct sbx_blob *blob;
	const struct sbx_name *rule; /* that wants it */
	const char *name;
	const char *bytes; /* of the records */
	size_t size;
	struct sbx_secret secret;
	const char *strings; /* behind its record */
	bool programs;       /* may be asked */
};

__attribute__((noreturn)) static void
fail(const struct known *known, const char *fault, int error)
{
	struct out text;

	out_init(&text, -1);
	out_print(&text, "secret '%s': %s", known->name, fault);
	refuse_at(known->blob, known->rule->source, text.text, error);
}

/* Nobody else may have written it.  -1: there is none. */
static int
open_file(const struct known *known, const char *path, uid_t owner)
{
	int fd = open(path,
	    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	struct stat status;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return -1;
	if (fd < 0)
		refuse_at(known->blob, known->rule->source,
		    "cannot open the file of secrets", errno);
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_uid != owner || (status.st_mode & (S_IWGRP | S_IWOTH)))
		refuse(path,
		    "others may write it, so it names no secrets: chmod 600",
		    0);
	return above_standard(fd);
}

static void
read_records(struct known *known, int file, const char *name)
{
	static char word[] = "sbxc", command[] = "secrets";
	char *words[] = { word, command, NULL };
	char leaks[] = "ASAN_OPTIONS=detect_leaks=0";
	char *variables[] = { leaks, NULL };
	struct path path;
	struct stat status;
	struct helper_call call = {
		.program = helper_path(&path) != NULL ? helper_open(path.text) :
							-1,
		.words = words,
		.variables = variables,
		.in = file,
		.out = helper_file("", 0),
		.err = STDERR_FILENO,
		.policy = -1,
		.patience = 60000,
	};

	if (call.program < 0 || call.out < 0)
		fail(known, "it takes sbxc, beside sbxrun", 0);
	if (helper_run(&call) != 0 || fstat(call.out, &status) != 0)
		refuse(name, "sbxc cannot read it, see above", 0);
	known->size = (size_t)status.st_size;
	known->bytes = known->size == 0 ?
	    NULL :
	    mmap(NULL, known->size, PROT_READ, MAP_PRIVATE, call.out, 0);
	close(call.program);
	close(call.out);
	if (known->bytes == MAP_FAILED)
		fail(known, "there is not enough memory", errno);
}

static void
open_known(struct known *known)
{
	char buffer[PASSWD_LINE];
	const char *home = passwd_home(buffer, sizeof buffer);
	char path[SBX_MAX_PATH + 1];
	struct out out;
	const char *name = path;
	int fd = -1;

	out_into(&out, path, sizeof path);
	out_print(&out, "%s" SBX_OWN_SECRETS, home != NULL ? home : "");
	if (home != NULL && home[0] == '/' && !out.full)
		fd = open_file(known, path, geteuid());
	if (fd < 0) {
		name = "/etc/sbx/secrets";
		fd = open_file(known, name, 0);
	}
	if (fd < 0)
		return;
	read_records(known, fd, name);
	close(fd);
}

/* The record of the secret; refuses if there is none. */
static void
find_known(struct known *known)
{
	for (size_t at = 0; at + sizeof known->secret <= known->size;
	     at += sizeof known->secret + known->secret.size) {
		memcpy(&known->secret, known->bytes + at, sizeof known->secret);
		known->strings = known->bytes + at + sizeof known->secret;
		if (known->secret.size == 0 ||
		    known->secret.size >
			known->size - at - sizeof known->secret ||
		    known->strings[known->secret.size - 1] != '\0')
			fail(known, "sbxc is of another version", 0);
		if (strncmp(known->secret.name, known->name,
			sizeof known->secret.name) == 0)
			return;
	}
	fail(known,
	    "it is not known here; a line of ~" SBX_OWN_SECRETS
	    " says it: secret NAME for HOST from env VARIABLE (or from file "
	    "PATH, from command PROGRAM WORD)",
	    0);
}

/* --- for which hosts ------------------------------------------------------ */

static bool
is_below(const char *name, const char *above)
{
	size_t len = strlen(name), tail = strlen(above);

	return len > tail && name[len - tail - 1] == '.' &&
	    strcmp(name + len - tail, above) == 0;
}

/* Whether the owner lets the secret go wherever the rule does. */
static bool
is_for(const struct known *known, const struct sbx_name *rule)
{
	const char *name = sbx_string(known->blob, rule->name);
	const char *host = known->strings;

	for (unsigned i = 0; i < known->secret.hosts; i++) {
		bool below = strncmp(host, "*.", 2) == 0;
		const char *above = host + (below ? 2 : 0);

		if (below == ((rule->flags & SBX_NAME_BELOW) != 0) &&
		    strcmp(name, above) == 0)
			return true;
		if (below && is_below(name, above))
			return true;
		host += strlen(host) + 1;
	}
	return false;
}

static void
check_hosts(struct known *known)
{
	const struct sbx_blob *blob = known->blob;

	for (uint32_t i = 0; i < blob->name_count; i++) {
		const struct sbx_name *rule = &blob->names[i];

		if ((rule->platforms & KERNEL_WHERE) == 0 ||
		    rule->secret != known->rule->secret)
			continue;
		known->rule = rule;
		if (!is_for(known, rule))
			fail(known,
			    "its owner does not let it be used for this host; "
			    "the line of ~" SBX_OWN_SECRETS " may name it",
			    0);
	}
}

/* --- its value ------------------------------------------------------------ */

/* Bytes up to the end of a line; wipes the rest. */
static uint32_t
line_size(char *bytes, size_t used)
{
	size_t len = 0;

	while (len < used && bytes[len] != '\n' && bytes[len] != '\r')
		len++;
	explicit_bzero(bytes + len, used - len);
	return (uint32_t)len;
}

static size_t
read_all(int fd, char *bytes, size_t size)
{
	size_t used = 0;
	ssize_t len = 1;

	while (used < size && len != 0) {
		len = read(fd, bytes + used, size - used);
		if (len < 0 && errno != EINTR)
			break;
		used += len > 0 ? (size_t)len : 0;
	}
	return used;
}

static uint32_t
value_of_file(const struct known *known, const char *path, char *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	uint32_t size;

	if (fd < 0 || fstat(fd, &status) != 0)
		fail(known, path, errno);
	if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
	    (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		fail(known, "others may read its file: chmod 600", 0);
	size = line_size(bytes, read_all(fd, bytes, TLS_SECRET_MAX + 2));
	close(fd);
	return size;
}

__attribute__((noreturn)) static void
be_command(char *const *words, int out)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	for (int number = 1; number < 32; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A workspace is no place to begin in: what a command has written there may be
	 * settings to such a program, or have its name. */
	if (null >= 0 && chdir("/") == 0 && dup2(null, STDIN_FILENO) >= 0 &&
	    dup2(out, STDOUT_FILENO) >= 0)
		execvp(words[0], words);
	_exit(EXIT_REFUSED);
}

static uint32_t
value_of_command(const struct known *known, const char *strings, char *bytes)
{
	enum { WORDS = 256 };
	char *words[WORDS + 1] = { NULL };
	int ends[2], status = -1;
	uint32_t size;
	pid_t pid;

	for (unsigned i = 0; i < known->secret.words && i < WORDS; i++) {
		words[i] = (char *)(uintptr_t)strings;
		strings += strlen(strings) + 1;
	}
	if (pipe2(ends, O_CLOEXEC) != 0)
		fail(known, "cannot make a pipe", errno);
	pid = fork();
	if (pid == 0)
		be_command(words, ends[1]);
	close(ends[1]);
	size = pid < 0 ?
	    0 :
	    line_size(bytes, read_all(ends[0], bytes, TLS_SECRET_MAX + 2));
	close(ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	/* It may die of what it prints beyond what is read. */
	if (pid < 0 || (status != 0 && size == 0))
		fail(known, "its program has failed", 0);
	return size;
}

static uint32_t
value_of(const struct known *known, char *bytes)
{
	const char *strings = known->strings, *value;
	size_t len;

	for (unsigned i = 0; i < known->secret.hosts; i++)
		strings += strlen(strings) + 1;
	if (known->secret.kind == SBX_SECRET_FILE)
		return value_of_file(known, strings, bytes);
	if (known->secret.kind == SBX_SECRET_COMMAND && !known->programs)
		fail(known,
		    "the ceiling of this machine forbids programs for secrets",
		    0);
	if (known->secret.kind == SBX_SECRET_COMMAND)
		return value_of_command(known, strings, bytes);
	len = strlen(strings);
	for (char **at = environ; *at != NULL; at++) {
		if (strncmp(*at, strings, len) != 0 || (*at)[len] != '=')
			continue;
		value = *at + len + 1;
		len = strnlen(value, TLS_SECRET_MAX + 1);
		memcpy(bytes, value, len);
		return (uint32_t)len;
	}
	fail(known, "the variable that it is from is not set", 0);
}

/* No variable of the caller's that holds the secret is handed on, whatever it is
 * called; what is put down here says so to those who join a session. */
static void
hide(struct tls_values *secrets, const struct tls_value *value, char *names)
{
	char **kept = environ;

	for (char **at = environ; *at != NULL; at++) {
		size_t len = strcspn(*at, "="), size = strlen(*at);

		if (memmem(*at, size, value->bytes, value->size) == NULL) {
			*kept++ = *at;
			continue;
		}
		if (secrets->hidden.len + len < HIDDEN_SIZE) {
			memcpy(names + secrets->hidden.len, *at, len);
			names[secrets->hidden.len + len] = '\0';
			secrets->hidden.len += (uint32_t)len + 1;
		}
		explicit_bzero(*at, size);
	}
	*kept = NULL;
}

void
secrets_get(const struct sbx_blob *blob, struct arena *arena, bool programs,
    struct tls_values *secrets)
{
	struct known known = { .blob = blob, .programs = programs };
	char *names = arena_take(arena, 1, HIDDEN_SIZE);

	secrets->count = 0;
	secrets->hidden = (struct sbx_place){ names, 0 };
	for (uint32_t i = 0; i < blob->name_count; i++) {
		const struct sbx_name *rule = &blob->names[i];
		struct tls_value *value = &secrets->all[secrets->count];
		uint32_t seen = 0;
		char *bytes;

		if ((rule->platforms & KERNEL_WHERE) == 0 || rule->secret == 0)
			continue;
		while (seen < secrets->count &&
		    secrets->all[seen].name != rule->secret)
			seen++;
		if (seen < secrets->count)
			continue;
		known.rule = rule;
		known.name = sbx_string(blob, rule->secret);
		if (secrets->count == TLS_SECRETS_MAX)
			fail(&known, "there are too many others", 0);
		if (secrets->count == 0)
			open_known(&known);
		find_known(&known);
		check_hosts(&known);
		known.rule = rule;
		bytes = arena_take(arena, 1, TLS_SECRET_MAX + 2);
		value->name = rule->secret;
		value->size = value_of(&known, bytes);
		value->bytes = bytes;
		if (value->size < TLS_SECRET_MIN ||
		    value->size > TLS_SECRET_MAX)
			fail(&known,
			    "it has less than 16 characters, or more "
			    "than 4096",
			    0);
		secrets->count++;
	}
	/* Behind them all: two may be from one variable. */
	for (uint32_t i = 0; i < secrets->count; i++)
		hide(secrets, &secrets->all[i], names);
	if (known.bytes != NULL)
		munmap((void *)(uintptr_t)known.bytes, known.size);
}

/* --- what the command gets ------------------------------------------------ */

struct sbx_place
secrets_variables(const struct sbx_blob *blob, struct arena *arena,
    const struct tls_values *placeholders)
{
	size_t size = placeholders->hidden.len;
	char *block;
	struct out out;

	for (uint32_t i = 0; i < blob->name_count; i++)
		size += strlen(sbx_string(blob, blob->names[i].variable)) +
		    TLS_SECRET_MAX + 2;
	if (placeholders->count == 0)
		return (struct sbx_place){ "", 0 };
	block = arena_take(arena, 1, size + 1);
	out_into(&out, block, size + 1);
	out_bytes(&out, placeholders->hidden.path, placeholders->hidden.len);
	for (uint32_t i = 0; i < blob->name_count; i++) {
		const struct sbx_name *rule = &blob->names[i];
		uint32_t of = 0;

		if (rule->variable == 0 ||
		    (rule->platforms & KERNEL_WHERE) == 0)
			continue;
		while (of < placeholders->count &&
		    placeholders->all[of].name != rule->secret)
			of++;
		if (of == placeholders->count)
			continue;
		out_print(&out, "%s=", sbx_string(blob, rule->variable));
		out_bytes(&out, placeholders->all[of].bytes,
		    placeholders->all[of].size + 1);
	}
	return (struct sbx_place){ block, (uint32_t)out.used };
}

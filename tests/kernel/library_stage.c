/* See library.h. */
#include "tests/kernel/library.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char begin[] =
    "sbx 1\ninclude \"groups.sbx\"\nprofile library {\n"
    "use system\nuse offline\nuse secret-variables\n"
    "allow write ${workspace}\nallow exec ${workspace}\n"
    "deny read ${workspace}/hidden\nallow write ${tmp}\n"
    "allow network loopback\nallow env *\n"
    "set env LIBRARY = ${workspace}/x\nset env ROOTED = /x/y\n";

__attribute__((noreturn)) static void
fail(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(99);
}

static void
compile(const struct stage *stage, const char *name, const char *end)
{
	const char *sbxc = getenv("SBXC");
	char path[128], command[1024];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s.sbx", stage->base, name);
	file = fopen(path, "w");
	if (file == NULL || fprintf(file, "%s%s}\n", begin, end) < 0 ||
	    fclose(file) != 0)
		fail(path);
	snprintf(command, sizeof command, "'%s' '%s' -o '%s/%s.bin'",
	    sbxc != NULL ? sbxc : "sbxc", path, stage->base, name);
	if (system(command) != 0)
		fail("cannot compile a policy");
}

/* Not below /tmp: that is the scratch directory at level full. */
void
stage_begin(struct stage *stage)
{
	*stage = (struct stage){ .base = "/var/tmp/sbx-library-XXXXXX" };
	stage->sbxrun = getenv("SBXRUN");
	if (stage->sbxrun == NULL || mkdtemp(stage->base) == NULL)
		fail("no place to test in");
	chmod(stage->base, 0755);
	snprintf(stage->workspace, sizeof stage->workspace, "%s/workspace",
	    stage->base);
	snprintf(stage->free_policy, sizeof stage->free_policy, "%s/free.bin",
	    stage->base);
	snprintf(stage->bound_policy, sizeof stage->bound_policy,
	    "%s/bound.bin", stage->base);
	snprintf(stage->long_policy, sizeof stage->long_policy, "%s/long.bin",
	    stage->base);
	snprintf(stage->output_policy, sizeof stage->output_policy,
	    "%s/output.bin", stage->base);
	snprintf(stage->watch_policy, sizeof stage->watch_policy,
	    "%s/watch.bin", stage->base);
	if (mkdir(stage->workspace, 0755) != 0 || chdir(stage->workspace) != 0)
		fail("no workspace");
	compile(stage, "free", "");
	compile(stage, "bound", "limit timeout 1s\n");
	compile(stage, "long", "limit timeout 1h\n");
	compile(stage, "output", "limit output 1MiB\n");
	compile(stage, "watch", "watch ${workspace}/watched\n");
}

int
stage_end(struct stage *stage)
{
	char command[512];

	snprintf(command, sizeof command,
	    "'%s' --clean -w '%s' 2>/dev/null; chmod -R u+w '%s'; rm -rf '%s'",
	    stage->sbxrun, stage->workspace, stage->base, stage->base);
	if (chdir("/") != 0 || system(command) != 0)
		return 1;
	return tap_done(&stage->tap);
}

struct sbx_sandbox *
stage_open(const struct stage *stage, const char *policy, const char *level)
{
	struct sbx_options options = {
		.size = sizeof options,
		.policy = policy,
		.workspace = stage->workspace,
		.level = level,
		.sbxrun = stage->sbxrun,
	};
	struct sbx_error error;
	struct sbx_sandbox *sandbox = sbx_open(&options, &error);

	if (sandbox == NULL) {
		printf("Bail out! no sandbox: %s\n", error.text);
		exit(99);
	}
	return sandbox;
}

int
shell_start(struct sbx_sandbox *sandbox, const char *script,
    struct sbx_error *error)
{
	char shell_name[] = "sh", flag[] = "-c";
	char *argv[] = { shell_name, flag, (char *)(uintptr_t)script, NULL };
	struct sbx_command command = { .size = sizeof command, .argv = argv };

	return sbx_spawn(sandbox, &command, error);
}

int
status_of(int pidfd)
{
	siginfo_t info = { .si_status = -1 };

	if (waitid((idtype_t)BY_PIDFD, (id_t)pidfd, &info, WEXITED) != 0)
		return -1;
	close(pidfd);
	return info.si_code == CLD_EXITED ? info.si_status :
					    128 + info.si_status;
}

int
shell(struct sbx_sandbox *sandbox, const char *script)
{
	struct sbx_error error;
	int pidfd = shell_start(sandbox, script, &error);

	if (pidfd >= 0)
		return status_of(pidfd);
	printf("# %s: %s\n", script, error.text);
	return -1;
}

int
shell_says(struct sbx_sandbox *sandbox, const char *script, char *text,
    size_t size)
{
	char shell_name[] = "sh", flag[] = "-c";
	char *argv[] = { shell_name, flag, (char *)(uintptr_t)script, NULL };
	struct sbx_descriptor out[] = { { -1, 1 }, { -1, 2 } };
	struct sbx_command command = { .size = sizeof command,
		.argv = argv,
		.descriptors = out,
		.descriptor_count = 2 };
	struct sbx_error error;
	int ends[2], pidfd;
	size_t used = 0;
	ssize_t len;

	if (pipe2(ends, O_CLOEXEC) != 0)
		fail("pipe");
	out[0].from = out[1].from = ends[1];
	pidfd = sbx_spawn(sandbox, &command, &error);
	close(ends[1]);
	if (pidfd < 0)
		used = (size_t)snprintf(text, size, "%s", error.text);
	while (pidfd >= 0 && used + 1 < size &&
	    (len = read(ends[0], text + used, size - 1 - used)) > 0)
		used += (size_t)len;
	if (used < size)
		text[used] = '\0';
	close(ends[0]);
	return pidfd >= 0 ? status_of(pidfd) : -1;
}

int
open_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	while (directory != NULL && readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

static bool
has_word(const char *number, const char *word)
{
	char path[300], text[4096];
	ssize_t len;
	int fd;

	snprintf(path, sizeof path, "/proc/%s/cmdline", number);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof text);
	if (fd >= 0)
		close(fd);
	return len > 0 && memmem(text, (size_t)len, word, strlen(word)) != NULL;
}

static int
parent_of(int process)
{
	char path[32];
	FILE *stream;
	int parent = 0;

	snprintf(path, sizeof path, "/proc/%d/stat", process);
	stream = fopen(path, "r");
	if (stream == NULL)
		return 0;
	if (fscanf(stream, "%*d (%*[^)]) %*c %d", &parent) != 1)
		parent = 0;
	fclose(stream);
	return parent;
}

/* Other tests run beside this one and have keepers, too.  Whoever runs a test
 * takes its orphans in. */
static bool
is_ours(int process)
{
	while (process > 1 && process != getppid())
		process = parent_of(process);
	return process > 1;
}

int
count_processes(const char *word)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	while (directory != NULL && (entry = readdir(directory)) != NULL)
		count += isdigit((unsigned char)entry->d_name[0]) &&
		    has_word(entry->d_name, word) &&
		    is_ours(atoi(entry->d_name));
	closedir(directory);
	return count;
}

bool
await_processes(const char *word, int count)
{
	for (int i = 0; i < 6000; i++) {
		if (count_processes(word) == count)
			return true;
		usleep(10000);
	}
	return false;
}

void
make_file(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	if (file != NULL) {
		fputs(text, file);
		fclose(file);
	}
	chmod(path, mode);
}

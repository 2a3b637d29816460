#include "runtime/inspect/inspect.h"

#include "runtime/base/files.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

__attribute__((noreturn)) static void
become_sbxc(const char *path, bool brief, int from)
{
	const char *const words[] = { "sbxc", "records", "-",
		brief ? "--summary" : NULL, NULL };

	if (dup2(from, STDIN_FILENO) < 0)
		refuse(path, "cannot read what it is to print", errno);
	/* It reads names that commands chose.  Where the kernel has no Landlock,
	 * people want to read all the more what is missing. */
	(void)helper_confine();
	execv(path, (char *const *)words);
	refuse(path, "cannot print this in words: use --json", errno);
}

void
render_begin(struct options *options)
{
	struct path path;
	int ends[2];
	pid_t child;

	if (options->json ||
	    !(options->plan || options->status || options->self_test ||
		options->sessions))
		return;
	options->json = true;
	if (pipe2(ends, O_CLOEXEC) != 0)
		refuse(NULL, "cannot make a pipe", errno);
	child = helper_path(&path) != NULL && access(path.text, X_OK) == 0 ?
	    fork() :
	    -1;
	if (child < 0) {
		warn_about(path.text,
		    "cannot be started to say this in words; here is the "
		    "record",
		    errno);
		close(ends[0]);
		close(ends[1]);
		return;
	}
	if (child > 0)
		become_sbxc(path.text, options->brief, ends[0]);
	close(ends[0]);
	if (dup2(ends[1], STDOUT_FILENO) < 0)
		refuse(NULL, "cannot write to sbxc", errno);
	close(ends[1]);
}

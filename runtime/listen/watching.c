/*
 * inotify_add_watch(2): Landlock does not keep a command from watching files
 * that it may not read, and the names of what others make in directories.  What
 * the policy lets it read it may also watch.
 *
 * The watch is put into the caller's own instance of inotify, on what was
 * opened and judged.
 */
#include "runtime/base/files.h"
#include "runtime/listen/answers.h"

#include <errno.h>
#include <sys/inotify.h>

static int
add_watch(const struct caller *caller, int file)
{
	char link[DESCRIPTOR_PATH_SIZE];
	int instance = caller_copy(caller, (int)caller->call.args[0]), number;

	if (instance < 0)
		return instance;
	descriptor_path(link, file);
	number = inotify_add_watch(instance, link,
	    (uint32_t)caller->call.args[2] & ~(uint32_t)IN_DONT_FOLLOW);
	if (number < 0)
		number = -errno;
	caller_close(instance);
	return number;
}

int
answer_watching(const struct caller *caller)
{
	bool follow = (caller->call.args[2] & IN_DONT_FOLLOW) == 0;
	char path[SBX_MAX_PATH + 1];
	int file, result;

	result = caller_text(caller, caller->call.args[1], path, sizeof path);
	if (result != 0)
		return result;
	file = place_open(caller, AT_FDCWD, path,
	    follow ? 0 : AT_SYMLINK_NOFOLLOW);
	if (file < 0)
		return file;
	result = caller_is_equal(caller) && place_is_readable(caller, file) &&
		caller_waits(caller) ?
	    add_watch(caller, file) :
	    -EACCES;
	close(file);
	return result;
}

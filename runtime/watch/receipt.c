/*
 * The receipt: what was applied, and how it ended, as lines of JSON for
 * programs, on a descriptor (--status-fd); the last one goes to the log, too
 * (log.c).  sbxrun(1) describes the fields.
 *
 * The first record is made before the command's process restricts itself, and
 * written when that has succeeded.  So everything in it is true, and a refusal
 * leaves no record.
 */
#include "runtime/watch/receipt.h"

#include "runtime/base/files.h"
#include "runtime/base/json.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is behind the last slash. */
static const char *
name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

struct followed
receipt_way(struct arena *arena, const char *path, const char **name)
{
	struct sbx_place directory;

	*name = name_of(path);
	directory = (struct sbx_place){ path, (uint32_t)(*name - path) };
	if (*name == path)
		return follow_given(arena, ".");
	if (directory.len > SBX_MAX_PATH)
		refuse(path, "cannot open the log", ENAMETOOLONG);
	return follow_given(arena, arena_copy(arena, directory).path);
}

/*
 * A log may lie where an earlier run could write.  A link that it left there is
 * not followed, and a named pipe does not block.
 */
void
receipt_open_log(struct receipt *receipt, const char *path)
{
	const struct followed *way = &receipt->way;
	const char *unopened = receipt->unopened != NULL ?
	    receipt->unopened :
	    "cannot open the log";
	static const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC |
	    O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
	struct stat status;
	int fd;

	if (path == NULL)
		return;
	if (way->fd < 0)
		refuse(path, unopened, way->error);
	fd = openat(way->fd, name_of(path), flags, 0600);
	if (fd < 0)
		refuse(path, unopened, errno);
	close(way->fd);
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		refuse(path, "the log is not a regular file", 0);
	receipt->sinks[1] = above_standard(fd);
}

void
receipt_open(struct receipt *receipt, struct arena *arena, int fd,
    const char *log)
{
	const char *name;

	receipt->sinks[0] = fd;
	receipt->sinks[1] = -1;
	if (log != NULL)
		receipt->way = receipt_way(arena, log, &name);
	receipt->on = fd >= 0 || log != NULL;
	if (receipt->on && receipt->pid == 0)
		receipt_name(receipt);
}

void
receipt_name(struct receipt *receipt)
{
	receipt->pid = getpid();
	clock_gettime(CLOCK_REALTIME, &receipt->time);
}

void
receipt_begin(struct receipt *receipt, const char *event)
{
	struct out *json = &receipt->json, run;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	out_init(&run, -1);
	out_seconds(&run, receipt->time);
	out_print(&run, "-%u", (unsigned)receipt->pid);
	out_into(json, receipt->text, sizeof receipt->text);
	json_document(json, event);
	json_string(json, "run", run.text);
	json_seconds(json, "time", now);
}

bool
receipt_end(struct receipt *receipt)
{
	json_object_end(&receipt->json);
	out_text(&receipt->json, "\n");
	return !receipt->json.full;
}

bool
receipt_send(struct receipt *receipt)
{
	for (int i = 0; i < RECEIPT_SINKS; i++) {
		if (receipt->sinks[i] >= 0 &&
		    !out_send(&receipt->json, receipt->sinks[i]))
			return false;
	}
	return true;
}

static void
put_usage(struct out *json)
{
	struct rusage usage;
	long micro;

	if (getrusage(RUSAGE_CHILDREN, &usage) != 0)
		return;
	micro = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
	json_seconds(json, "cpu",
	    (struct timespec){
		.tv_sec = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
		    micro / 1000000,
		.tv_nsec = micro % 1000000 * 1000,
	    });
	json_number(json, "memory", (uint64_t)usage.ru_maxrss * 1024);
}

/* UINT64_MAX is null: nobody knows. */
static void
put_known(struct out *json, const char *key, uint64_t number)
{
	if (number == UINT64_MAX)
		json_string(json, key, NULL);
	else
		json_number(json, key, number);
}

static void
put_ending(struct out *json, const struct ending *ending)
{
	bool killed = !ending->late && WIFSIGNALED(ending->status);
	struct timespec wall = {
		.tv_sec = ending->end.tv_sec - ending->begin.tv_sec,
		.tv_nsec = ending->end.tv_nsec - ending->begin.tv_nsec,
	};

	if (wall.tv_nsec < 0) {
		wall.tv_sec--;
		wall.tv_nsec += 1000000000;
	}
	put_known(json, "exit",
	    killed           ? UINT64_MAX :
		ending->late ? EXIT_TIMEOUT :
			       (uint64_t)WEXITSTATUS(ending->status));
	put_known(json, "signal",
	    killed ? (uint64_t)WTERMSIG(ending->status) : UINT64_MAX);
	json_bool(json, "timeout", ending->late);
	json_number(json, "stdout_cut", ending->relay->streams[0].cut);
	json_number(json, "stderr_cut", ending->relay->streams[1].cut);
	json_seconds(json, "wall", wall);
}

/* Nothing where nobody has asked. */
static void
put_explaining(struct out *json, const struct ending *ending)
{
	const struct explaining *explaining = ending->explaining;

	if (explaining == NULL && ending->why_untraced == NULL)
		return;
	json_bool(json, "traced", explaining != NULL);
	json_string(json, "untraced", ending->why_untraced);
	json_number(json, "denied", explaining != NULL ? explaining->count : 0);
	json_number(json, "denied_more",
	    explaining != NULL ? explaining->more : 0);
	json_number(json, "unread",
	    explaining != NULL ? explaining->unread : 0);
}

static bool
send_decision(struct receipt *receipt, const struct sbx_blob *blob,
    const struct decisions *decisions, uint32_t index)
{
	receipt_begin(receipt, "network");
	if (index < decisions->count)
		decision_record(&receipt->json, blob, &decisions->all[index]);
	else
		json_number(&receipt->json, "beyond", decisions->beyond);
	json_bool(&receipt->json, "shared", decisions->shared);
	return receipt_end(receipt) && receipt_send(receipt);
}

void
receipt_network(struct receipt *receipt, const struct sbx_blob *blob,
    const struct decisions *decisions)
{
	uint32_t count = decisions->count + (decisions->beyond > 0);

	for (uint32_t i = 0; i < count; i++) {
		if (send_decision(receipt, blob, decisions, i))
			continue;
		warn_about("receipt", "a record about the network is lost",
		    errno);
		return;
	}
}

void
receipt_finish(struct receipt *receipt, const struct ending *ending)
{
	struct out *json = &receipt->json;
	const char *refusal = log_refusal(receipt);

	receipt_begin(receipt, refusal != NULL ? "refused" : "end");
	log_put_head(receipt);
	if (refusal != NULL)
		json_string(json, "error", refusal);
	put_ending(json, ending);
	put_usage(json);
	put_known(json, "memory_together", ending->usage->memory);
	put_known(json, "memory_killed", ending->usage->killed);
	put_known(json, "processes_refused", ending->usage->refused);
	put_explaining(json, ending);
	if (receipt->log.arena != NULL)
		log_put_lists(receipt, ending);
	receipt_end(receipt);
	log_add(receipt);
	if (ending->begun && !receipt_send(receipt))
		warn_about("receipt", "its last record is lost", errno);
}

void
receipt_close(const struct receipt *receipt)
{
	for (int i = 0; i < RECEIPT_SINKS; i++) {
		if (receipt->sinks[i] >= 0)
			close(receipt->sinks[i]);
	}
}

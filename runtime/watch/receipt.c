#include "runtime/watch/receipt.h"

#include "runtime/inspect/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAIL = 2048 }; /* what stays free for the fields after a list */

/* The rights that kernels of an older ABI lack. */
static const struct newer {
	enum { IN_FS, IN_NET, IN_SCOPE } mask;
	uint8_t bit, abi;
	const char *name;
} newer[] = {
	{ IN_FS, 13, 2, "refer" },
	{ IN_FS, 14, 3, "truncate" },
	{ IN_FS, 15, 5, "ioctl_dev" },
	{ IN_FS, 16, 9, "resolve_unix" },
	{ IN_NET, 0, 4, "bind_tcp" },
	{ IN_NET, 1, 4, "connect_tcp" },
	{ IN_SCOPE, 0, 6, "abstract_unix_socket" },
	{ IN_SCOPE, 1, 6, "signal" },
};

/*
 * A log may lie where an earlier run could write: a link that it left must not
 * lead us elsewhere, nor a named pipe keep us waiting.
 */
static int
open_log(const char *path)
{
	struct stat status;
	int fd = open(path,
	    O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY |
		O_NONBLOCK,
	    0600);

	if (fd < 0)
		refuse(path, "cannot open the log", errno);
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		refuse(path, "the log is not a regular file", 0);
	return above_standard(fd);
}

void
receipt_open(struct receipt *receipt, const struct options *options)
{
	receipt->sinks[0] = options->status_fd;
	receipt->sinks[1] = -1;
	if (options->log != NULL)
		receipt->sinks[1] = open_log(options->log);
	receipt->on = options->status_fd >= 0 || options->log != NULL;
	if (!receipt->on)
		return;
	receipt->pid = getpid();
	clock_gettime(CLOCK_REALTIME, &receipt->time);
}

static void
begin_record(struct receipt *receipt, const char *event, struct timespec now)
{
	struct json *json = &receipt->json;

	json->used = 0;
	json->full = false;
	json_raw(json, "{\"sbx\":1");
	json_key(json, "event");
	json_string(json, event);
	json_key(json, "run");
	json_raw(json, "\"");
	json_seconds(json, receipt->time.tv_sec, receipt->time.tv_nsec);
	json_raw(json, "-");
	json_number(json, (uint64_t)receipt->pid);
	json_raw(json, "\"");
	json_key(json, "time");
	json_seconds(json, now.tv_sec, now.tv_nsec);
}

static void
put_source(struct json *json, const struct plan *plan, uint32_t source)
{
	char text[512];

	json_key(json, "source");
	if (source == SBX_NO_SOURCE) {
		json_string(json, NULL);
		return;
	}
	format_source(plan->blob, source, text, sizeof text);
	json_string(json, text);
}

static void
put_dropped(struct json *json, const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;
	const struct sbx_landlock *all = blob->landlock_count == 0 ?
	    NULL :
	    &blob->landlock[blob->landlock_count - 1];

	json_key(json, "dropped");
	json_raw(json, "[");
	for (size_t i = 0; all != NULL && plan->row != NULL &&
	     i < sizeof newer / sizeof *newer;
	     i++) {
		const struct newer *right = &newer[i];
		uint64_t lacking = right->mask == IN_FS ?
		    all->handled_fs & ~plan->row->handled_fs :
		    right->mask == IN_NET ?
		    all->handled_net & ~plan->row->handled_net :
		    all->scoped & ~plan->row->scoped;

		if ((lacking >> right->bit & 1) == 0)
			continue;
		json_begin(json);
		json_raw(json, "{");
		json_key(json, "right");
		json_string(json, right->name);
		json_key(json, "abi");
		json_number(json, right->abi);
		json_raw(json, "}");
	}
	json_raw(json, "]");
}

static void
put_rule(struct json *json, const struct plan *plan, uint32_t index)
{
	const struct site *site = &plan->binding->sites[index];
	struct out words;

	out_init(&words, -1);
	plan_words(&words, site->path);
	json_raw(json, "{");
	json_key(json, "rule");
	json_out(json, &words);
	json_key(json, "path");
	if (site->state == RULE_UNBOUND)
		json_string(json, sbx_string(plan->blob, site->path->suffix));
	else
		json_place(json, plan->binding->rules[index].at);
	json_key(json, "by");
	out_init(&words, -1);
	plan_enforcer(&words, plan, index);
	json_out(json, &words);
	put_source(json, plan, site->path->source);
	json_raw(json, "}");
}

/* The rules of one class, as many as there is room for. */
static void
put_rules(struct json *json, const struct plan *plan, const char *key,
    enum plan_class class, uint32_t room)
{
	uint32_t missing = 0;

	json_key(json, key);
	json_raw(json, "[");
	for (uint32_t i = 0; i < plan->binding->rule_count; i++) {
		uint32_t begin;

		if (plan_class(plan, i) != class)
			continue;
		begin = json_begin(json);
		put_rule(json, plan, i);
		if (!json_end(json, begin, room))
			missing++;
	}
	json_raw(json, "]");
	if (missing > 0) {
		json_raw(json, ",\"");
		json_raw(json, key);
		json_raw(json, "_missing\":");
		json_number(json, missing);
	}
}

static void
put_globs(struct json *json, const struct plan *plan, uint32_t room)
{
	struct out words;

	json_key(json, "globs");
	json_raw(json, "[");
	for (uint32_t i = 0; i < plan->binding->glob_count; i++) {
		const struct glob *glob = &plan->binding->globs[i];
		uint32_t begin = json_begin(json);

		out_init(&words, -1);
		plan_words(&words, glob->path);
		json_raw(json, "{");
		json_key(json, "rule");
		json_out(json, &words);
		json_key(json, "below");
		json_place(json, glob->at);
		json_key(json, "glob");
		json_string(json, sbx_string(plan->blob, glob->path->glob));
		json_key(json, "matches");
		json_number(json, glob->matches);
		out_init(&words, -1);
		plan_glob_enforcer(&words, plan, glob);
		json_key(json, "by");
		json_out(json, &words);
		put_source(json, plan, glob->path->source);
		json_raw(json, "}");
		json_end(json, begin, room);
	}
	json_raw(json, "]");
}

static void
put_limits(struct json *json, const struct plan *plan, uint32_t room)
{
	json_key(json, "limits");
	json_raw(json, "[");
	for (uint32_t i = 0; i < plan->blob->limit_count; i++) {
		const struct sbx_limit *limit = &plan->blob->limits[i];
		uint32_t begin;

		if ((limit->platforms & KERNEL_WHERE) == 0)
			continue;
		begin = json_begin(json);
		json_raw(json, "{");
		json_key(json, "limit");
		json_string(json, plan_limit(limit->kind));
		json_key(json, "value");
		json_number(json, limit->value);
		json_key(json, "by");
		json_string(json, plan_limit_enforcer(plan, limit->kind));
		put_source(json, plan, limit->source);
		json_raw(json, "}");
		json_end(json, begin, room);
	}
	json_raw(json, "]");
}

static void
put_run(struct json *json, const struct plan *plan, const char *policy)
{
	json_key(json, "policy");
	json_bytes(json, policy, strnlen(policy, SBX_MAX_PATH));
	json_key(json, "digest");
	json_raw(json, "\"sha256:");
	json_raw(json, plan->digest);
	json_raw(json, "\"");
	json_key(json, "profile");
	json_string(json, sbx_string(plan->blob, plan->blob->meta->profile));
	json_key(json, "everything");
	json_bool(json, (plan->blob->meta->flags & SBX_EVERYTHING) != 0);
	json_key(json, "level");
	json_string(json, level_name(plan->level));
	json_key(json, "why_not_full");
	json_string(json, plan->why_not_full);
	json_key(json, "landlock_abi");
	json_number(json,
	    plan->row == NULL ? 0 : (uint64_t)plan->machine->landlock_abi);
	json_key(json, "workspace");
	json_place(json, plan->binding->anchors[SBX_ANCHOR_WORKSPACE]);
	json_key(json, "network");
	json_string(json, plan_network(plan));
}

void
receipt_prepare(struct receipt *receipt, const struct plan *plan,
    const char *policy)
{
	struct json *json = &receipt->json;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	begin_record(receipt, "start", now);
	put_run(json, plan, policy);
	put_dropped(json, plan);
	put_limits(json, plan, JSON_SIZE / 2);
	put_globs(json, plan, JSON_SIZE / 3);
	put_rules(json, plan, "rules", PLAN_OTHER, JSON_SIZE / 4);
	put_rules(json, plan, "uncovered", PLAN_UNCOVERED, JSON_SIZE / 6);
	put_rules(json, plan, "skipped", PLAN_SKIPPED, TAIL);
	json_key(json, "hard_linked");
	json_number(json, plan->shown->hard_linked);
	json_raw(json, "}");
	if (json->full)
		refuse(NULL, "the receipt has no room for this policy", 0);
}

bool
receipt_send(struct receipt *receipt)
{
	for (int i = 0; i < RECEIPT_SINKS; i++) {
		if (receipt->sinks[i] >= 0 &&
		    !json_write(&receipt->json, receipt->sinks[i]))
			return false;
	}
	return true;
}

static void
put_usage(struct json *json)
{
	struct rusage usage;
	long micro;

	if (getrusage(RUSAGE_CHILDREN, &usage) != 0)
		return;
	micro = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
	json_key(json, "cpu");
	json_seconds(json,
	    usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + micro / 1000000,
	    micro % 1000000 * 1000);
	json_key(json, "memory");
	json_number(json, (uint64_t)usage.ru_maxrss * 1024);
}

static void
put_end(struct json *json, const struct receipt_end *end)
{
	bool killed = !end->late && WIFSIGNALED(end->status);
	struct timespec wall = {
		.tv_sec = end->end.tv_sec - end->begin.tv_sec,
		.tv_nsec = end->end.tv_nsec - end->begin.tv_nsec,
	};

	if (wall.tv_nsec < 0) {
		wall.tv_sec--;
		wall.tv_nsec += 1000000000;
	}
	json_key(json, "exit");
	if (killed)
		json_string(json, NULL);
	else
		json_number(json,
		    end->late ? EXIT_TIMEOUT :
				(uint64_t)WEXITSTATUS(end->status));
	json_key(json, "signal");
	if (killed)
		json_number(json, (uint64_t)WTERMSIG(end->status));
	else
		json_string(json, NULL);
	json_key(json, "timeout");
	json_bool(json, end->late);
	json_key(json, "stdout_cut");
	json_number(json, end->relay->streams[0].cut);
	json_key(json, "stderr_cut");
	json_number(json, end->relay->streams[1].cut);
	json_key(json, "wall");
	json_seconds(json, wall.tv_sec, wall.tv_nsec);
}

static void
put_known(struct json *json, const char *key, uint64_t number)
{
	json_key(json, key);
	if (number == UINT64_MAX)
		json_string(json, NULL);
	else
		json_number(json, number);
}

void
receipt_finish(struct receipt *receipt, const struct receipt_end *end)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	begin_record(receipt, "end", now);
	put_end(&receipt->json, end);
	put_usage(&receipt->json);
	put_known(&receipt->json, "memory_together", end->usage->memory);
	put_known(&receipt->json, "memory_killed", end->usage->killed);
	put_known(&receipt->json, "processes_refused", end->usage->refused);
	json_raw(&receipt->json, "}");
	if (!receipt_send(receipt))
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

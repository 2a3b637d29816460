/*
 * What --learn writes when all has ended (runtime/watch/learned.c), to the letter:
 * sbxc reads it.
 */
#include "runtime/watch/learned.h"
#include "runtime/base/kernel.h"
#include "runtime/bind/rule_index.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WISHES = 16, EXITED = 0x100 };

static struct tap tap;
static struct receipt receipt;
static struct wanted wishes[WISHES];
static struct learning learning = { .wishes = wishes };
static struct sbx_place anchors[SBX_MAX_ANCHORS];
static struct binding binding;
static struct decisions decisions;
static const char strings[] = "\0team\0home\0data\0void";
static const struct sbx_meta meta = { .profile = 1 };
static const struct sbx_anchor blob_anchors[] = { { .name = 0 }, { .name = 6 },
	{ .name = 11 }, { .name = 16 } };
static const struct sbx_blob blob = { .meta = &meta,
	.strings = strings,
	.anchors = blob_anchors,
	.anchor_count = 4 };
static struct explaining explaining = { .blob = &blob,
	.binding = &binding,
	.learning = &learning };
static struct learned learned;

bool
rule_index_allows(struct sbx_index *index, uint8_t right, struct sbx_place at)
{
	(void)index;
	(void)right;
	(void)at;
	return false;
}

static void
begin(void)
{
	static char first[] = "cat", second[] = "a b";
	static char *command[] = { first, second, NULL };

	memset(wishes, 0, sizeof wishes);
	learning.count = 0;
	learning.lost = 0;
	explaining.unread = 0;
	explaining.view = false;
	learned = (struct learned){ .explaining = &explaining,
		.decisions = &decisions,
		.command = command };
	receipt.sinks[0] = -1;
	receipt.sinks[1] = memfd_create("learned", MFD_CLOEXEC);
	receipt.pid = 7;
	receipt.time = (struct timespec){ 5, 0 };
}

static struct wanted *
want(enum sbx_denied kind, const char *text)
{
	struct wanted *wish = &wishes[learning.count++];

	wish->kind = (uint8_t)kind;
	wish->text = text;
	wish->len = (uint32_t)strlen(text);
	wish->count = 1;
	strcpy(wish->program, "cat");
	return wish;
}

/* The records without what all have, divided by spaces; the first that are said
 * not to matter are left out. */
static const char *
written(int skipped)
{
	static const char head[] = "{\"sbx\":1,\"event\":\"",
			  run[] = "\"run\":\"";
	static char text[8192], found[8192];
	ssize_t len;
	size_t used = 0;

	learned_write(&receipt, &learned);
	len = pread(receipt.sinks[1], text, sizeof text - 1, 0);
	text[len > 0 ? len : 0] = '\0';
	close(receipt.sinks[1]);
	*found = '\0';
	for (char *line = strtok(text, "\n"); line != NULL;
	     line = strtok(NULL, "\n")) {
		char *at = strstr(line, run), *rest;

		if (skipped-- > 0)
			continue;
		rest = at != NULL ? strstr(at, "\",") : NULL;
		if (strncmp(line, head, sizeof head - 1) != 0 || rest == NULL)
			return "another form";
		used += (size_t)snprintf(found + used, sizeof found - used,
		    "%s%s", used > 0 ? " " : "", rest + 2);
	}
	return found;
}

static void
is(const char *what, int skipped, const char *wanted)
{
	const char *found = written(skipped);

	if (!tap_ok(&tap, strcmp(found, wanted) == 0, "%s", what))
		printf("# %s\n", found);
}

#define END "\"status\":0,\"lost\":0,\"unread\":0}"

static void
check_frame(void)
{
	begin();
	is("nothing", 0,
	    "\"learn\":1,\"profile\":\"team\",\"level\":\"standard\","
	    "\"command\":\"cat a b\"} " END);
	begin();
	explaining.view = true;
	is("at level full", 0,
	    "\"learn\":1,\"profile\":\"team\",\"level\":\"full\","
	    "\"command\":\"cat a b\"} " END);
	begin();
	anchors[1] = (struct sbx_place){ "/h", 2 };
	anchors[3] = (struct sbx_place){ "", 0 };
	memset(binding.anchors, 0, sizeof binding.anchors);
	memcpy(binding.anchors, anchors, sizeof anchors);
	binding.bound[0] = binding.bound[1] = binding.bound[3] = true;
	is("places that are bound", 1,
	    "\"name\":\"home\",\"path\":\"/h\"} "
	    "\"name\":\"void\",\"path\":\"/\"} " END);
	binding.bound[1] = binding.bound[3] = false;
}

static void
check_ends(void)
{
	begin();
	learned.status = 7 * EXITED;
	learning.lost = 3;
	explaining.unread = 4;
	is("a status", 1, "\"status\":7,\"lost\":3,\"unread\":4}");
	begin();
	learned.status = SIGTERM;
	is("a signal", 1, "\"status\":143,\"lost\":0,\"unread\":0}");
	begin();
	learned.status = SIGKILL;
	learned.late = true;
	is("the time was over", 1, "\"status\":124,\"lost\":0,\"unread\":0}");
}

static void
check_wishes(void)
{
	static const char *const words[] = { "read", "write", "exec", "socket",
		"connect", "listen" };
	char wanted[1024];
	size_t used = 0;
	struct wanted *wish;

	begin();
	for (int kind = 0; kind <= SBX_DENIED_LISTEN; kind++) {
		wish = want((enum sbx_denied)kind, kind < 4 ? "/x" : "::1");
		wish->port = 80;
		used += (size_t)snprintf(wanted + used, sizeof wanted - used,
		    "\"right\":\"%s\",%s\"allowed\":true,\"count\":1,"
		    "\"program\":\"cat\"} ",
		    words[kind],
		    kind < 4 ? "\"path\":\"/x\"," :
			       "\"address\":\"::1\",\"port\":80,");
	}
	snprintf(wanted + used, sizeof wanted - used, END);
	is("each right", 1, wanted);
	begin();
	wish = want(SBX_DENIED_READ, "");
	wish->denied = wish->below = wish->makes = wish->probe = true;
	wish->error = EACCES;
	wish->count = 9;
	want(SBX_DENIED_READ, "/none")->count = 0;
	is("all that there is to say, and a directory of names", 1,
	    "\"right\":\"read\",\"path\":\"/\",\"below\":true,\"makes\":true,"
	    "\"probe\":true,\"allowed\":false,\"errno\":\"EACCES\","
	    "\"count\":9,\"program\":\"cat\"} " END);
	begin();
	want(SBX_DENIED_READ, "/\xff\x1f");
	is("a name that is no text", 1,
	    "\"right\":\"read\",\"path\":\"/\\ufffd\\u001f\",\"bytes\":"
	    "\"2fff1f\",\"allowed\":true,\"count\":1,\"program\":\"cat\"}"
	    " " END);
	begin();
	wish = want(SBX_DENIED_CALL, "");
	wish->number = 41;
	wish->args[0] = 2;
	wish->args[1] = 3;
	wish->error = 999;
	wish->denied = true;
	snprintf(wanted, sizeof wanted,
	    "\"right\":\"call\",\"arch\":%u,\"number\":41,\"arg0\":2,"
	    "\"arg1\":3,\"allowed\":false,\"errno\":999,\"count\":1,"
	    "\"program\":\"cat\"} " END,
	    (unsigned)KERNEL_ARCH);
	is("a call", 1, wanted);
}

static void
check_errors(void)
{
	static const struct {
		int error;
		const char *name;
	} names[] = { { EACCES, "EACCES" }, { EPERM, "EPERM" },
		{ ENOENT, "ENOENT" }, { EROFS, "EROFS" },
		{ EAFNOSUPPORT, "EAFNOSUPPORT" }, { ENOSYS, "ENOSYS" } };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char wanted[256];

		begin();
		want(SBX_DENIED_READ, "/x")->error = names[i].error;
		snprintf(wanted, sizeof wanted,
		    "\"right\":\"read\",\"path\":\"/x\",\"allowed\":true,"
		    "\"errno\":\"%s\",\"count\":1,\"program\":\"cat\"} " END,
		    names[i].name);
		is(names[i].name, 1, wanted);
	}
}

/* Nobody else is hindered when it has ended. */
static void
check_lock(void)
{
	char path[64];
	int again;

	begin();
	snprintf(path, sizeof path, "/proc/self/fd/%d", receipt.sinks[1]);
	again = open(path, O_RDONLY | O_CLOEXEC);
	learned_write(&receipt, &learned);
	tap_ok(&tap, again >= 0 && flock(again, LOCK_EX | LOCK_NB) == 0,
	    "the file is free again");
	close(again);
	close(receipt.sinks[1]);
}

int
main(void)
{
	check_frame();
	check_ends();
	check_wishes();
	check_errors();
	check_lock();
	return tap_done(&tap);
}

/*
 * The records of a run (runtime/watch/receipt.c): each field of the last one, those
 * about the network, and to whom they go.
 */
#include "runtime/base/kernel.h"
#include "runtime/explain/explain.h"
#include "runtime/watch/cgroup.h"
#include "runtime/watch/receipt.h"
#include "runtime/watch/relay.h"
#include "tests/lib/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { EXITED = 0x100 }; /* a status of wait(2), times the number */

static struct tap tap;
static struct receipt receipt;
static struct arena arena;
static struct relay relay;
static struct cgroup_usage usage;
static struct ending ending;

/* A sink, and what has come to it. */
static int sinks[RECEIPT_SINKS];

static const char *
came(int sink)
{
	static char text[4096];
	ssize_t len = pread(sinks[sink], text, sizeof text - 1, 0);

	text[len > 0 ? len : 0] = '\0';
	return text;
}

static void
begin(bool both)
{
	for (int i = 0; i < RECEIPT_SINKS; i++)
		sinks[i] = memfd_create("sink", MFD_CLOEXEC);
	receipt_open(&receipt, &arena, sinks[0], NULL);
	if (both)
		receipt.sinks[1] = sinks[1];
	memset(&relay, 0, sizeof relay);
	usage = (struct cgroup_usage){ UINT64_MAX, UINT64_MAX, UINT64_MAX };
	ending = (struct ending){ .relay = &relay,
		.usage = &usage,
		.begin = { 10, 900000000 },
		.end = { 13, 100000000 } };
}

static void
end(void)
{
	for (int i = 0; i < RECEIPT_SINKS; i++)
		close(sinks[i]);
}

static void
has(const char *what, const char *wanted)
{
	receipt_finish(&receipt, &ending);
	if (!tap_ok(&tap, strstr(came(0), wanted) != NULL, "%s: %s", what,
		wanted))
		printf("# %s\n", came(0));
	end();
}

/* --- the last record ------------------------------------------------------ */

static void
check_ends(void)
{
	begin(false);
	ending.status = 7 * EXITED;
	has("a status", "\"exit\":7,\"signal\":null,\"timeout\":false,");
	begin(false);
	ending.status = SIGTERM;
	has("a signal", "\"exit\":null,\"signal\":15,\"timeout\":false,");
	begin(false);
	ending.status = SIGKILL;
	ending.late = true;
	has("the time was over",
	    "\"exit\":124,\"signal\":null,\"timeout\":true,");
	begin(false);
	relay.streams[0].cut = 5;
	relay.streams[1].cut = 6;
	has("what was cut", "\"stdout_cut\":5,\"stderr_cut\":6,\"wall\":2.2");
	begin(false);
	ending.end = (struct timespec){ 10, 900000000 };
	has("no time", "\"wall\":0");
	begin(false);
	ending.end = (struct timespec){ 12, 950000000 };
	has("whole seconds", "\"wall\":2.05");
	begin(false);
	has("nobody has counted",
	    "\"memory_together\":null,\"memory_killed\":null,"
	    "\"processes_refused\":null}");
	begin(false);
	usage = (struct cgroup_usage){ 1, 2, 3 };
	has("a group has",
	    "\"memory_together\":1,\"memory_killed\":2,"
	    "\"processes_refused\":3}");
}

static void
check_explained(void)
{
	const struct explaining explaining = { .count = 1,
		.more = 2,
		.unread = 3 };

	begin(false);
	receipt_finish(&receipt, &ending);
	tap_ok(&tap, strstr(came(0), "traced") == NULL,
	    "nothing of what nobody has asked for");
	end();
	begin(false);
	ending.explaining = &explaining;
	has("what was denied",
	    "\"traced\":true,\"untraced\":null,\"denied\":1,"
	    "\"denied_more\":2,\"unread\":3}");
	begin(false);
	ending.why_untraced = "no listener";
	has("why nobody looked",
	    "\"traced\":false,\"untraced\":\"no listener\",\"denied\":0,"
	    "\"denied_more\":0,\"unread\":0}");
}

/* Which run it was, and when. */
static void
check_head(void)
{
	char run[64];
	const char *text;

	begin(true);
	receipt.pid = 77;
	receipt.time = (struct timespec){ 1000, 500000000 };
	receipt_finish(&receipt, &ending);
	snprintf(run, sizeof run, "\"event\":\"end\",\"run\":\"1000.5");
	text = came(0);
	tap_ok(&tap,
	    strstr(text, run) != NULL && strstr(text, "-77\",\"time\":") &&
		text[strlen(text) - 1] == '\n' &&
		strstr(text, "\"cpu\":") != NULL &&
		strstr(text, "\"memory\":") != NULL,
	    "which run it is");
	snprintf(run, sizeof run, "%.40s", text);
	tap_ok(&tap, strncmp(came(1), run, 40) == 0, "told to both");
	end();
}

/* --- the network ---------------------------------------------------------- */

static uint32_t
count_lines(const char *text)
{
	uint32_t count = 0;

	for (; *text != '\0'; text++)
		count += *text == '\n';
	return count;
}

static struct decisions decisions;

static void
decide(uint32_t count)
{
	struct proxy_event event = { .version = PROXY_EVENT_VERSION,
		.verdict = PROXY_NO_RULE,
		.via = PROXY_BY_HTTP,
		.rule = UINT32_MAX };

	memset(&decisions, 0, sizeof decisions);
	strcpy(event.name, "a.example");
	for (uint32_t i = 0; i < count; i++) {
		event.port = (uint16_t)(i + 1);
		decisions_take(&decisions, &event, sizeof event);
	}
}

static void
check_network(void)
{
	const struct sbx_blob blob = { .name_count = 0 };

	begin(false);
	decide(0);
	receipt_network(&receipt, &blob, &decisions);
	tap_ok(&tap, *came(0) == '\0', "nothing was decided");
	end();
	begin(true);
	decide(2);
	receipt_network(&receipt, &blob, &decisions);
	tap_ok(&tap,
	    count_lines(came(0)) == 2 &&
		strstr(came(0), "\"event\":\"network\"") != NULL &&
		strstr(came(0), "\"port\":2,") != NULL &&
		strstr(came(0), "\"shared\":false}") != NULL &&
		strstr(came(0), "beyond") == NULL && count_lines(came(1)) == 2,
	    "two decisions are two records");
	end();
	begin(false);
	decide(1);
	decisions.beyond = 9;
	decisions.shared = true;
	receipt_network(&receipt, &blob, &decisions);
	tap_ok(&tap,
	    count_lines(came(0)) == 2 &&
		strstr(came(0), "\"beyond\":9,\"shared\":true}\n") != NULL,
	    "and one for what is beyond");
	end();
}

/* --- nowhere to write ----------------------------------------------------- */

static const char *
warned(void (*act)(void))
{
	static char text[1024];
	int saved = dup(STDERR_FILENO), ends[2];
	ssize_t len;

	tap_must(saved >= 0 && pipe(ends) == 0 &&
		dup2(ends[1], STDERR_FILENO) == STDERR_FILENO,
	    "a pipe");
	close(ends[1]);
	act();
	dup2(saved, STDERR_FILENO);
	close(saved);
	len = read(ends[0], text, sizeof text - 1);
	close(ends[0]);
	text[len > 0 ? len : 0] = '\0';
	return text;
}

static void
tell_network(void)
{
	const struct sbx_blob blob = { .name_count = 0 };

	receipt_network(&receipt, &blob, &decisions);
}

static void
finish(void)
{
	receipt_finish(&receipt, &ending);
}

static void
check_lost(void)
{
	begin(true);
	decide(2);
	receipt.sinks[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	tap_ok(&tap,
	    strcmp(warned(tell_network),
		"sbxrun: warning: receipt: a record about the network is "
		"lost: Bad file descriptor\n") == 0,
	    "of several that are lost one is told");
	tap_ok(&tap,
	    strcmp(warned(finish),
		"sbxrun: warning: receipt: its last record is lost: Bad file "
		"descriptor\n") == 0,
	    "and so is the last one");
	receipt_close(&receipt);
	tap_ok(&tap,
	    fcntl(receipt.sinks[0], F_GETFD) < 0 &&
		fcntl(sinks[1], F_GETFD) < 0,
	    "both are closed");
	close(sinks[0]);
	receipt_open(&receipt, &arena, -1, NULL);
	tap_ok(&tap, !receipt.on && strcmp(warned(finish), "") == 0,
	    "nobody wants any");
	begin(false);
	tap_ok(&tap, receipt.on, "somebody does");
	end();
}

int
main(void)
{
	check_ends();
	check_explained();
	check_head();
	check_network();
	check_lost();
	return tap_done(&tap);
}

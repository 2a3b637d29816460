/* See observe.h. */
#include "runtime/listen/destination.h"
#include "runtime/listen/loopback.h"
#include "tests/unit/observe.h"

#include <arpa/inet.h>
#include <unistd.h>

struct tap tap;
struct learning learning;
struct explaining explaining;
struct listening listening;
struct caller caller;
struct word word;
char seen[1024];
struct sbx_denial added;
struct wanted learned;
int additions, lessons, sayings, guesses, answers;

static struct sbx_insn insns[8];
static struct binding binding;

__attribute__((format(printf, 1, 2))) static void
see(const char *format, ...)
{
	size_t used = strlen(seen);
	va_list args;

	va_start(args, format);
	if (used > 0)
		used += (size_t)snprintf(seen + used, sizeof seen - used, ", ");
	vsnprintf(seen + used, sizeof seen - used, format, args);
	va_end(args);
}

/* --- in place of the other parts ------------------------------------------ */

int
caller_text(const struct caller *asked, uint64_t address, char *text,
    size_t size)
{
	(void)asked;
	if (address == UNREADABLE)
		return -EFAULT;
	if (!word.reads)
		return -EPERM;
	snprintf(text, size, "%s", (const char *)(uintptr_t)address);
	return 0;
}

int
caller_read(const struct caller *asked, uint64_t address, void *bytes,
    size_t len)
{
	(void)asked;
	if (address == UNREADABLE || !word.reads)
		return -EFAULT;
	memcpy(bytes, (const void *)(uintptr_t)address, len);
	return 0;
}

int
caller_copy(const struct caller *asked, int fd)
{
	(void)asked;
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

void
caller_close(int copy)
{
	close(copy);
}

bool
caller_waits(const struct caller *asked)
{
	(void)asked;
	return word.waits;
}

static bool
verdict(struct sbx_denial *denial)
{
	denial->kind = word.kind;
	snprintf(denial->path, sizeof denial->path, "%s", word.path);
	return word.denies;
}

bool
judge(const struct explaining *by, struct asked *asked,
    struct sbx_denial *denial)
{
	static const char *const acts[] = { "read", "write", "create", "make",
		"mkdir", "fill", "replace", "remove", "unlink", "change", "run",
		"look", "connect" };

	(void)by;
	see("%s %s%s%s%s", acts[asked->act], asked->path.text,
	    asked->no_follow ? " itself" : "", asked->fresh ? " anew" : "",
	    asked->dots ? " dots" : "");
	asked->wanted = true;
	asked->makes = asked->act == ACT_MAKE;
	return verdict(denial);
}

bool
judge_server(const struct asked *asked, struct sbx_denial *denial)
{
	see("server %s", asked->path.text);
	denial->kind = SBX_DENIED_SOCKET;
	return word.serves;
}

bool
judge_port(const struct explaining *by, uint8_t op, uint16_t port,
    struct sbx_denial *denial)
{
	(void)by;
	see("%s %u",
	    op == SBX_CONNECT_TCP    ? "to" :
		op == SBX_LISTEN_TCP ? "on" :
				       "?",
	    port);
	return verdict(denial);
}

static void
see_address(const char *what, const uint8_t *address, uint16_t port)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, address, text, sizeof text);
	see("%s %s %u", what, text, port);
}

bool
judge_endpoint(const struct explaining *by,
    const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port,
    struct sbx_denial *denial)
{
	(void)by;
	see_address("way", address, port);
	return word.kind == SBX_DENIED_ADDRESS && verdict(denial);
}

bool
loopback_judge(const struct caller *asked,
    const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port,
    struct sbx_denial *denial)
{
	(void)asked;
	see_address("host", address, port);
	return word.kind == SBX_DENIED_HOST && verdict(denial);
}

const struct sbx_denial *
explain_add(struct explaining *by, const struct sbx_denial *denial)
{
	(void)by;
	added = *denial;
	return additions++ == 0 ? &added : NULL;
}

void
explain_say(const struct explaining *by, const struct sbx_denial *denial)
{
	(void)by;
	sayings += denial == &added;
}

struct wanted *
learn_add(struct learning *to, const struct wanted *wanted)
{
	static char text[256];

	(void)to;
	learned = *wanted;
	snprintf(text, sizeof text, "%.*s", (int)wanted->len, wanted->text);
	learned.text = text;
	lessons++;
	return &learned;
}

bool
rule_index_allows(struct sbx_index *index, uint8_t right, struct sbx_place at)
{
	(void)index;
	return right == SBX_READ && strncmp(at.path, "/readable", 9) == 0;
}

void
destination_guess(const struct caller *asked, struct sbx_denial *denial)
{
	(void)asked;
	guesses++;
	denial->port = 443;
}

int64_t
answer(const struct caller *asked)
{
	(void)asked;
	answers++;
	return word.answer;
}

/* The policy's part of the filter stands behind the guard. */
uint32_t
bpf_run_loaded(const struct sbx_insn *program, const struct syscall_data *data)
{
	if (data->number != caller.call.number ||
	    data->audit != caller.call.arch ||
	    memcmp(data->args, caller.call.args, sizeof data->args) != 0 ||
	    data->instruction_pointer != caller.call.instruction_pointer)
		return 0;
	return program == insns + GUARD ? word.guard_action : word.action;
}

/* --- the stage ------------------------------------------------------------ */

void
begin(int number)
{
	*seen = '\0';
	memset(&added, 0, sizeof added);
	memset(&learned, 0, sizeof learned);
	additions = lessons = sayings = guesses = answers = 0;
	memset(&word, 0, sizeof word);
	word.waits = word.reads = true;
	word.action = SECCOMP_RET_ALLOW;
	word.path = "";
	word.answer = -EACCES;
	explaining = (struct explaining){ .binding = &binding,
		.filter = insns,
		.guard = GUARD };
	listening = (struct listening){ .explaining = &explaining };
	caller = (struct caller){ .listening = &listening,
		.call = { .thread = (uint32_t)getpid(),
		    .number = number,
		    .arch = KERNEL_ARCH,
		    .instruction_pointer = 77,
		    .args = { [5] = 7 } } };
}

int64_t
call3(uint64_t first, uint64_t second, uint64_t third)
{
	caller.call.args[0] = first;
	caller.call.args[1] = second;
	caller.call.args[2] = third;
	return observe(&caller);
}

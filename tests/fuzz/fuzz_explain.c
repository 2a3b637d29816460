/*
 * The observer of --explain, without a kernel: the input is calls of a command,
 * and is the memory that their arguments point into, too.  What is asked of the
 * command and of the file system is answered from it: where directories and
 * descriptors lie, which places exist, and where links lead.
 *
 * However a command lies, the answer is what the policy's filter says; nothing
 * is opened but with O_PATH; what is noted has an end, a kind and a place that
 * the model denies; and all of it ends.
 */
#include "runtime/base/files.h"
#include "runtime/explain/explain.h"
#include "runtime/listen/answers.h"
#include "runtime/listen/listen.h"
#define FUZZ_NO_TEXTS
#include "tests/fuzz/fuzz.h"

#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	CALLS_MAX = 64,
	ASKED_MAX = 4000, /* by one call */
	DESCRIPTOR = 1000,
	ACTION = 0xffff0000,
	RETURN = 6, /* BPF_RET | BPF_K */
};
#define ADDRESS 0x7f0000000000ULL

/* The input: what is read of it in order, and all that it has.  Whoever calls
 * while there is none is a library of the compiler's, which counts branches. */
static struct {
	const uint8_t *data;
	size_t size, next;
	unsigned asked;
	bool there;
} input;

static uint8_t
byte(void)
{
	return input.next < input.size ? input.data[input.next++] : 0;
}

static uint32_t
word(void)
{
	uint32_t low = byte();

	return low | (uint32_t)byte() << 8;
}

static uint32_t
hash(const char *text)
{
	uint32_t sum = 2166136261U + (input.size > 0 ? *input.data : 0);

	must(++input.asked < ASKED_MAX, "a call that asks without end");
	while (*text != '\0')
		sum = (sum ^ (uint8_t)*text++) * 16777619U;
	return sum ^ sum >> 15;
}

/* --- the command ---------------------------------------------------------- */

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *here,
    unsigned long mine, const struct iovec *there, unsigned long theirs,
    unsigned long flags);
ssize_t
__wrap_process_vm_readv(pid_t pid, const struct iovec *here, unsigned long mine,
    const struct iovec *there, unsigned long theirs, unsigned long flags)
{
	char *to = here->iov_base;
	size_t room = here->iov_len, got = 0;

	(void)pid, (void)flags;
	must(mine == 1 && ++input.asked < ASKED_MAX, "a read that is strange");
	for (unsigned long i = 0; i < theirs; i++) {
		uint64_t from = (uintptr_t)there[i].iov_base - ADDRESS;
		size_t len = there[i].iov_len;

		if (from >= input.size)
			break;
		len = len < room - got ? len : room - got;
		len = len < input.size - from ? len : input.size - from;
		memcpy(to + got, input.data + from, len);
		got += len;
		if (len < there[i].iov_len)
			break;
	}
	if (got > 0 || room == 0)
		return (ssize_t)got;
	errno = (input.size & 1) != 0 ? EPERM : EFAULT;
	return -1;
}

bool __wrap_file_read(int directory, const char *name, char *text, size_t size);
bool
__wrap_file_read(int directory, const char *name, char *text, size_t size)
{
	size_t len = input.size < size - 1 ? input.size : size - 1;

	(void)directory;
	must(strncmp(name, "/proc/", 6) == 0, "a file that is no process's");
	memcpy(text, input.data, len);
	text[len] = '\0';
	return len > 0;
}

int64_t
answer(const struct caller *caller)
{
	(void)caller;
	return byte() % 2 == 0 ? -EACCES : -ENOENT;
}

/* --- the file system ------------------------------------------------------ */

ssize_t __wrap_readlink(const char *path, char *text, size_t size);
ssize_t
__wrap_readlink(const char *path, char *text, size_t size)
{
	static const char *const targets[] = { "/home/u/ws", "..", "x", "/",
		"/proc/self/cwd", "/home/u/ws/secret", "a/../b//c", "/tmp/t",
		"(unreachable)/x", "/home/u/ws (deleted)" };
	uint32_t sum = hash(path);
	size_t len;

	if (strncmp(path, "/proc/", 6) != 0 && sum % 5 != 0) {
		errno = sum % 2 == 0 ? EINVAL : ENOENT;
		return -1;
	}
	if (sum % 7 == 0 && input.size > 0) {
		len = input.size < size ? input.size : size;
		memcpy(text, input.data, len);
		for (size_t i = 0; i < len; i++)
			text[i] = text[i] == '\0' ? '/' : text[i];
		*text = '/';
		return (ssize_t)len;
	}
	len = strlen(targets[sum / 7 % 10]);
	len = len < size ? len : size;
	memcpy(text, targets[sum / 7 % 10], len);
	return (ssize_t)len;
}

int __wrap_fstatat(int at, const char *path, struct stat *status, int flags);
int
__wrap_fstatat(int at, const char *path, struct stat *status, int flags)
{
	static const mode_t modes[] = { S_IFREG, S_IFDIR, S_IFSOCK, S_IFIFO };
	uint32_t sum = hash(path);

	must(at == AT_FDCWD && *path == '/', "a place that is relative");
	must((flags & AT_NO_AUTOMOUNT) != 0, "a look that mounts");
	if (sum % 3 == 0) {
		errno = ENOENT;
		return -1;
	}
	memset(status, 0, sizeof *status);
	status->st_mode = modes[sum / 3 % 4] | 0755;
	status->st_uid = geteuid();
	return 0;
}

int __wrap_lstat(const char *path, struct stat *status);
int
__wrap_lstat(const char *path, struct stat *status)
{
	return __wrap_fstatat(AT_FDCWD, path, status, AT_NO_AUTOMOUNT);
}

int __wrap_access(const char *path, int mode);
int
__wrap_access(const char *path, int mode)
{
	must(*path == '/', "a mode of a relative place");
	return (hash(path) + (unsigned)mode) % 4 == 0 ? -1 : 0;
}

long __wrap_syscall(long number, ...);
long
__wrap_syscall(long number, ...)
{
	const struct open_how *how;
	const char *path;
	va_list list;

	if (number != SYS_openat2)
		return number == SYS_pidfd_open || byte() % 2 == 0 ?
		    DESCRIPTOR :
		    (errno = EBADF, -1);
	va_start(list, number);
	(void)va_arg(list, int);
	path = va_arg(list, const char *);
	how = va_arg(list, const struct open_how *);
	va_end(list);
	must((how->flags & O_PATH) != 0, "a place that was opened");
	must((how->resolve & RESOLVE_NO_SYMLINKS) != 0,
	    "a link that was followed");
	errno = hash(path) % 2 == 0 ? ENOENT : ELOOP;
	return -1;
}

int __real_close(int fd);
int __wrap_close(int fd);
int
__wrap_close(int fd)
{
	if (!input.there)
		return __real_close(fd);
	must(fd == DESCRIPTOR, "a descriptor that is not there");
	return 0;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int
__wrap_open(const char *path, int flags, ...)
{
	va_list list;
	mode_t mode;

	if (!input.there) {
		va_start(list, flags);
		mode = va_arg(list, mode_t);
		va_end(list);
		return __real_open(path, flags, mode);
	}
	must(strncmp(path, "/proc/", 6) == 0 && strstr(path, "..") == NULL,
	    "a file that is no process's");
	if ((flags & O_PATH) != 0 || ++input.asked % 4 == 0) {
		errno = ENOENT;
		return -1;
	}
	return DESCRIPTOR;
}

/* What is read of a file of /proc, or told by the kernel, is the input. */
static ssize_t
give(char *bytes, size_t size)
{
	size_t len = input.size < size ? input.size : size;

	must(++input.asked < ASKED_MAX, "a file that is read without end");
	memcpy(bytes, input.data, len);
	return byte() % 4 == 0 ? 0 : (ssize_t)len;
}

ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t
__wrap_read(int fd, void *bytes, size_t size)
{
	must(fd == DESCRIPTOR, "a descriptor that is not there");
	return give(bytes, size);
}

ssize_t __wrap_recv(int fd, void *bytes, size_t size, int flags);
ssize_t
__wrap_recv(int fd, void *bytes, size_t size, int flags)
{
	must(fd == DESCRIPTOR && (flags & MSG_DONTWAIT) != 0,
	    "an answer that is waited for");
	return give(bytes, size);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags);
ssize_t
__wrap_send(int fd, const void *bytes, size_t size, int flags)
{
	(void)bytes;
	must(fd == DESCRIPTOR && (flags & MSG_NOSIGNAL) != 0,
	    "a question that may kill");
	return (ssize_t)size;
}

bool
diagnosis_find(int diagnosis, const struct server *server, bound_is *is,
    const void *wanted)
{
	static const struct bound bound = { .name = "" };

	(void)diagnosis;
	(void)server;
	return is(&bound, wanted);
}

int
diagnosis_open(void)
{
	return DESCRIPTOR;
}

/* In which file system a place lies, its name decides. */
bool
unsteady_place(struct sbx_place at)
{
	return at.len % 2 != 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...);
int
__wrap_ioctl(int fd, unsigned long request, ...)
{
	(void)fd;
	must(request == SECCOMP_IOCTL_NOTIF_ID_VALID, "another request");
	return byte() % 8 == 7 ? -1 : 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int
__wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	const int type = byte() % 2 == 0 ? SOCK_STREAM : SOCK_DGRAM;

	(void)fd, (void)level, (void)name;
	must(*len == sizeof type, "a type of another size");
	memcpy(value, &type, sizeof type);
	return 0;
}

/* --- the policy ----------------------------------------------------------- */

#define PLACE(text) \
	{ \
		text, sizeof text - 1 \
	}
static const struct sbx_rule rules[] = {
	{ PLACE("/usr"), NULL, 1, 0, SBX_ALLOW, SBX_READ | SBX_EXEC },
	{ PLACE("/dev"), NULL, 2, 0, SBX_ALLOW, SBX_READ | SBX_WRITE },
	{ PLACE("/home/u/ws"), NULL, 3, 0, SBX_ALLOW, SBX_READ | SBX_WRITE },
	{ PLACE("/home/u/ws/secret"), NULL, 4, 0, SBX_DENY, SBX_READ },
	{ PLACE("/home/u/ws/kept"), NULL, 5, 0, SBX_DENY, SBX_WRITE },
	{ PLACE("/tmp/sbx-1/s"), NULL, 6, 0, SBX_ALLOW, SBX_READ | SBX_WRITE },
};
enum { RULES = sizeof rules / sizeof *rules };

static const struct sbx_place links[] = { PLACE("/bin") };
static struct sbx_meta meta = { .net = SBX_NET_PORTS };
static const struct sbx_blob blob = { .meta = &meta };
static struct binding binding = {
	.blob = &blob,
	.rules = rules,
	.rule_count = RULES,
	.links = links,
	.link_count = 1,
	.sockets = rules + 2,
	.socket_count = 1,
	.scratch = PLACE("/tmp/sbx-1/s"),
};

/* --- calls ---------------------------------------------------------------- */

static const int numbers[] = {
#define OBSERVED(call, where, path, act, flags) SYS_##call,
#include "format/observed.def"
#undef OBSERVED
	SYS_socket,
	SYS_prctl,
	SYS_ptrace,
};

static uint64_t
argument(void)
{
	uint8_t kind = byte();

	switch (kind % 6) {
	case 0:
		return 0;
	case 1:
		return (uint64_t)(int64_t)AT_FDCWD;
	case 2:
		return word();
	case 3:
		return word() | (uint64_t)word() << 16;
	case 4:
		return kind;
	default:
		return ADDRESS + word();
	}
}

static void
check_denial(const struct sbx_denial *denial, bool view)
{
	struct sbx_place at = { denial->path, (uint32_t)strlen(denial->path) };

	must(denial->kind < SBX_DENIED_END, "a denial of no kind");
	must(denial->count > 0, "a denial that never was");
	must(memchr(denial->program, '\0', SBX_PROGRAM_SIZE) != NULL,
	    "a program without an end");
	must(memchr(denial->path, '\0', sizeof denial->path) != NULL,
	    "a path without an end");
	if (denial->kind > SBX_DENIED_EXEC || denial->names > 0)
		return;
	must(*denial->path == '/', "a denial of no place");
	must(at.len == 1 || at.path[at.len - 1] != '/', "a path with a slash");
	at.len = at.len == 1 ? 0 : at.len;
	/* Below full a directory may be split by a denial in it. */
	must(!view || denial->source != SBX_NO_SOURCE ||
		!rule_index_allows(binding.index,
		    denial->kind == SBX_DENIED_READ      ? SBX_READ :
			denial->kind == SBX_DENIED_WRITE ? SBX_WRITE :
							   SBX_EXEC,
		    at),
	    "a denial of what is allowed");
}

static void
call(struct listening *listening)
{
	static const uint32_t said[] = { SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW,
		SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_USER_NOTIF,
		0x80000000 /* KILL_PROCESS */ };
	struct sbx_insn filter = { RETURN, 0, 0, said[byte() % 5] };
	uint8_t which = byte();
	struct caller caller = { .listening = listening,
		.call = { .id = 1, .thread = 1 + which, .arch = KERNEL_ARCH } };
	int64_t result;

	listening->explaining->filter = &filter;
	caller.call.number = which == UINT8_MAX ?
	    (int32_t)word() :
	    numbers[which % (sizeof numbers / sizeof *numbers)];
	for (int i = 0; i < 6; i++)
		caller.call.args[i] = argument();
	input.asked = 0;
	result = observe(&caller);
	switch (filter.k & ACTION) {
	case SECCOMP_RET_ALLOW &ACTION:
		must(result == ANSWER_GO_ON, "an allowed call that is kept");
		break;
	case SECCOMP_RET_USER_NOTIF:
		must(result == -EACCES || result == -ENOENT,
		    "another answer than that of who answers");
		break;
	default:
		must(result == -EPERM, "a refused call that goes on");
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena arena;
	static struct explaining explaining;
	static struct learning learning;
	struct listening listening = { .on = true, .explaining = &explaining };
	uint8_t flags;

	if (binding.index == NULL) {
		binding.index = rule_index_make(&arena, rules, RULES);
		explain_begin(&explaining, &blob);
		learn_begin(&learning);
	}
	input.data = data;
	input.size = size;
	input.next = 0;
	input.there = true;
	flags = byte();
	explaining = (struct explaining){
		.blob = &blob,
		.helper = -1,
		.denials = explaining.denials,
		.learning = (flags & 2) != 0 ? &learning : NULL,
	};
	explain_bind(&explaining, &binding, (flags & 1) != 0);
	listening.view = explaining.view;
	listening.own_network = (flags & 4) != 0;
	meta.net = (flags & 8) != 0 ? SBX_NET_PORTS : SBX_NET_SELECTED;
	for (int i = 0; i < CALLS_MAX && input.next < size; i++)
		call(&listening);
	must(explaining.count <= SBX_DENIALS_MAX, "too many denials");
	for (uint32_t i = 0; i < explaining.count; i++)
		check_denial(&explaining.denials[i], explaining.view);
	input.there = false;
	return 0;
}

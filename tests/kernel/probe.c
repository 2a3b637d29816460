/*
 * Tries operations and says how each ended: one line for each operation, `ok`
 * or the name of the errno, or what was asked for.  Operations are separated
 * by `--`; `probe -` takes them from standard input instead, one a line, the
 * words separated by tabs.
 *
 *	probe open-read /etc/passwd -- connect-tcp 443 -- env HOME
 *
 * What may kill the caller or change it (int80, unshare, exec ...) is tried in
 * a child.  The exit status is 0 unless the probe itself was called wrongly.
 *
 * It is linked without anything that tests may take away, and with no kernel
 * header newer than musl's: what those lack is written down here.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof((array)[0]))

enum {
	NR_IO_URING_SETUP = 425,
	NR_OPEN_TREE = 428,
	NR_CLONE3 = 435,
	OPEN_TREE_CLONED = 1,
	RECURSIVE = 0x8000,
	RENAME_SWAP = 2,
	UFFD_USER_ONLY = 1,
	X32_BIT = 0x40000000,
	MAX_WORDS = 64,
};

/* How an operation ended: 0, an errno, or one of these. */
enum {
	SAID = -1, /* the operation printed its own line */
	MISUSED = -2,
	SIGNALLED = -256, /* minus the signal's number */
};

struct name {
	const char *name;
	unsigned long value;
};

/* clang-format off */
#define N(value) {#value, (unsigned long)(value)}

static const struct name errnos[] = {
	N(EPERM), N(ENOENT), N(ESRCH), N(EINTR), N(EIO), N(ENXIO), N(E2BIG),
	N(ENOEXEC), N(EBADF), N(ECHILD), N(EAGAIN), N(ENOMEM), N(EACCES),
	N(EFAULT), N(ENOTBLK), N(EBUSY), N(EEXIST), N(EXDEV), N(ENODEV),
	N(ENOTDIR), N(EISDIR), N(EINVAL), N(ENFILE), N(EMFILE), N(ENOTTY),
	N(ETXTBSY), N(EFBIG), N(ENOSPC), N(ESPIPE), N(EROFS), N(EMLINK),
	N(EPIPE), N(EDOM), N(ERANGE), N(EDEADLK), N(ENAMETOOLONG), N(ENOLCK),
	N(ENOSYS), N(ENOTEMPTY), N(ELOOP), N(EOVERFLOW), N(EUSERS),
	N(ENOTSOCK), N(EDESTADDRREQ), N(EMSGSIZE), N(EPROTOTYPE),
	N(ENOPROTOOPT), N(EPROTONOSUPPORT), N(ESOCKTNOSUPPORT), N(EOPNOTSUPP),
	N(EPFNOSUPPORT), N(EAFNOSUPPORT), N(EADDRINUSE), N(EADDRNOTAVAIL),
	N(ENETDOWN), N(ENETUNREACH), N(ECONNABORTED), N(ECONNRESET), N(ENOBUFS),
	N(EISCONN), N(ENOTCONN), N(ETIMEDOUT), N(ECONNREFUSED), N(EHOSTUNREACH),
	N(EALREADY), N(EINPROGRESS), N(ENOKEY), N(EKEYREVOKED), N(EDQUOT),
};

static const struct name families[] = {
	{"unix", 1}, {"inet", 2}, {"ax25", 3}, {"ipx", 4}, {"inet6", 10},
	{"netlink", 16}, {"packet", 17}, {"rds", 21}, {"can", 29},
	{"tipc", 30}, {"bluetooth", 31}, {"alg", 38}, {"vsock", 40},
	{"kcm", 41}, {"qipcrtr", 42}, {"smc", 43}, {"xdp", 44},
};

static const struct name socket_types[] = {
	{"stream", SOCK_STREAM}, {"dgram", SOCK_DGRAM}, {"raw", SOCK_RAW},
	{"rdm", SOCK_RDM}, {"seqpacket", SOCK_SEQPACKET}, {"packet", 10},
};

static const struct name protocols[] = {
	{"ip", 0}, {"icmp", 1}, {"tcp", 6}, {"udp", 17}, {"sctp", 132},
	{"udplite", 136}, {"mptcp", 262}, {"route", 0}, {"audit", 9},
	{"netfilter", 12},
};

static const struct name clone_flags[] = {
	{"newtime", 0x80}, {"newns", 0x20000}, {"newcgroup", 0x2000000},
	{"newuts", 0x4000000}, {"newipc", 0x8000000},
	{"newuser", 0x10000000}, {"newpid", 0x20000000},
	{"newnet", 0x40000000}, {"none", 0},
};

static const struct name limits[] = {
	{"file-size", RLIMIT_FSIZE}, {"processes", RLIMIT_NPROC},
	{"open-files", RLIMIT_NOFILE}, {"cpu-time", RLIMIT_CPU},
	{"memory", RLIMIT_AS}, {"core", RLIMIT_CORE},
	{"stack", RLIMIT_STACK},
};

#define S(name) {#name, SYS_##name}

/* Those that policies speak of; the others are tried by number. */
static const struct name syscalls[] = {
	S(acct), S(add_key), S(adjtimex), S(bpf), S(capset), S(chroot),
	S(clock_adjtime), S(clock_settime), S(clone), S(delete_module),
	S(execve), S(execveat), S(fanotify_init), S(fchown), S(fchmodat),
	S(finit_module), S(getpid), S(getppid), S(getrandom), S(getuid),
	S(init_module), S(inotify_init1), S(ioctl), S(kcmp), S(kexec_load),
	S(keyctl), S(kill), S(landlock_create_ruleset), S(lookup_dcookie),
	S(mbind), S(memfd_create), S(migrate_pages), S(mknodat),
	S(mlock), S(mount), S(move_pages), S(name_to_handle_at), S(nfsservctl),
	S(open_by_handle_at), S(perf_event_open), S(personality),
	S(pidfd_getfd), S(pidfd_open), S(pidfd_send_signal), S(pivot_root),
	S(prctl), S(process_madvise), S(process_vm_readv),
	S(process_vm_writev), S(ptrace), S(quotactl), S(reboot),
	S(request_key), S(sched_setattr), S(sched_setscheduler), S(seccomp),
	S(set_mempolicy), S(setdomainname), S(setgid), S(setgroups),
	S(sethostname), S(setns), S(setpriority), S(settimeofday), S(setuid),
	S(shutdown), S(socket), S(socketpair), S(swapoff), S(swapon),
	S(syslog), S(umount2), S(unshare), S(userfaultfd), S(vhangup),
	S(vmsplice),
#ifdef __x86_64__
	S(_sysctl), S(arch_prctl), S(chmod), S(create_module), S(fork),
	S(get_kernel_syms), S(ioperm), S(iopl), S(mknod), S(modify_ldt),
	S(query_module), S(sysfs), S(uselib), S(ustat), S(vfork),
#endif
	{"io_uring_setup", NR_IO_URING_SETUP}, {"io_uring_enter", 426},
	{"io_uring_register", 427}, {"open_tree", NR_OPEN_TREE},
	{"move_mount", 429}, {"fsopen", 430}, {"fsconfig", 431},
	{"fsmount", 432}, {"fspick", 433}, {"clone3", NR_CLONE3},
	{"mount_setattr", 442}, {"open_tree_attr", 467},
};

/* clang-format on */

/* --- words ---------------------------------------------------------------- */

static void
misuse(const char *what, const char *word)
{
	fprintf(stderr, "probe: %s '%s'\n", what, word);
	exit(2);
}

static unsigned long
number(const char *word)
{
	char *end;
	unsigned long value = strtoul(word, &end, 0);

	if (end == word || *end)
		misuse("not a number or a known name:", word);
	return value;
}

static unsigned long
look_up(const struct name *names, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i].name, word) == 0)
			return names[i].value;
	}
	return number(word);
}

#define LOOK_UP(names, word) look_up((names), countof(names), (word))

static const char *
errno_name(int error)
{
	for (size_t i = 0; i < countof(errnos); i++) {
		if (errnos[i].value == (unsigned long)error)
			return errnos[i].name;
	}
	return NULL;
}

/* One write for a line, at once: the next operation may be our last. */
static void
say(const char *line)
{
	char text[4200];
	int len = snprintf(text, sizeof text, "%s\n", line);

	if (len > (int)sizeof text - 1)
		len = sizeof text - 1;
	if (write(1, text, (size_t)len) < 0)
		_exit(3);
}

static int
result(long value)
{
	return value < 0 ? errno : 0;
}

/* Closes what a successful call opened. */
static int
opened(long fd)
{
	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

/* The words parent, init and self, or a number. */
static pid_t
process(const char *word)
{
	if (strcmp(word, "parent") == 0)
		return getppid();
	if (strcmp(word, "self") == 0)
		return getpid();
	return strcmp(word, "init") == 0 ? 1 : (pid_t)number(word);
}

/* --- in a child ------------------------------------------------------------ */

static int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return errno;
	}
	if (WIFSIGNALED(status))
		return SIGNALLED - WTERMSIG(status);
	return WEXITSTATUS(status);
}

typedef int operation(char **words, int count);

/* Runs an operation in a child; errno values fit into an exit status. */
static int
in_child(operation *tried, char **words, int count)
{
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(tried(words, count));
	return wait_for(pid);
}

/* A child that sleeps until it is killed, for others to act upon. */
static pid_t
sleeper(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	return pid;
}

static void
put_to_rest(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* --- files ----------------------------------------------------------------- */

static int
try_open_read(char **words, int count)
{
	char byte;
	int fd = open(words[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	(void)count;
	if (fd < 0)
		return errno;
	if (read(fd, &byte, 1) < 0 && errno != EISDIR && errno != EAGAIN) {
		int error = errno;

		close(fd);
		return error;
	}
	return opened(fd);
}

static int
try_list(char **words, int count)
{
	DIR *dir = opendir(words[0]);
	int error;

	(void)count;
	if (!dir)
		return errno;
	errno = 0;
	error = readdir(dir) ? 0 : errno;
	closedir(dir);
	return error;
}

static int
try_open_write(char **words, int count)
{
	(void)count;
	return opened(open(words[0], O_WRONLY | O_CLOEXEC | O_NONBLOCK));
}

static int
try_create(char **words, int count)
{
	(void)count;
	return opened(
	    open(words[0], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

static int
try_mkdir(char **words, int count)
{
	(void)count;
	return result(mkdir(words[0], 0777));
}

static int
try_mknod(char **words, int count)
{
	(void)count;
	return result(mknod(words[0], S_IFIFO | 0666, 0));
}

static int
try_unlink(char **words, int count)
{
	(void)count;
	return result(unlink(words[0]));
}

static int
try_rmdir(char **words, int count)
{
	(void)count;
	return result(rmdir(words[0]));
}

static int
try_rename(char **words, int count)
{
	(void)count;
	return result(rename(words[0], words[1]));
}

static int
try_exchange(char **words, int count)
{
	(void)count;
	return result(syscall(SYS_renameat2, AT_FDCWD, words[0], AT_FDCWD,
	    words[1], RENAME_SWAP));
}

static int
try_link(char **words, int count)
{
	(void)count;
	return result(link(words[0], words[1]));
}

static int
try_symlink(char **words, int count)
{
	(void)count;
	return result(symlink(words[0], words[1]));
}

static int
try_truncate(char **words, int count)
{
	(void)count;
	return result(truncate(words[0], 0));
}

static int
try_chmod(char **words, int count)
{
	return result(chmod(words[0],
	    count > 1 ? (mode_t)strtoul(words[1], NULL, 8) : 0644));
}

static int
try_stat(char **words, int count)
{
	struct stat status;

	(void)count;
	return result(lstat(words[0], &status));
}

static int
try_access(char **words, int count)
{
	(void)count;
	return result(access(words[0], R_OK));
}

static int
try_chdir(char **words, int count)
{
	(void)count;
	return result(chdir(words[0]));
}

/* The child shares our memory until it has become the other program. */
static int
try_exec(char **words, int count)
{
	static char *const environment[] = { NULL };
	volatile int error = 0;
	char *arguments[MAX_WORDS + 1];
	pid_t pid;

	memcpy(arguments, words, (size_t)count * sizeof *words);
	arguments[count] = NULL;
	pid = vfork();
	if (pid < 0)
		return errno;
	if (pid == 0) {
		close(1);
		close(2);
		execve(words[0], arguments, environment);
		error = errno;
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return error;
}

/* A program of one exit(0), in a file that lies in no directory. */
static int
run_memfd(char **words, int count)
{
	/* clang-format off */
	static const uint8_t code[] = {
#if defined __x86_64__
	    0x31, 0xff, 0xb8, 0x3c, 0x00, 0x00, 0x00, 0x0f, 0x05,
#elif defined __aarch64__
	    0x00, 0x00, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00,
	    0xd4,
#else
#error "no code for this machine"
#endif
	};
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		uint8_t code[sizeof code];
	} file = {
	    .header =
		{
		    .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
			EV_CURRENT},
		    .e_type = ET_EXEC,
#ifdef __x86_64__
		    .e_machine = EM_X86_64,
#else
		    .e_machine = EM_AARCH64,
#endif
		    .e_version = EV_CURRENT,
		    .e_entry = 0x10000 + sizeof(Elf64_Ehdr) +
			sizeof(Elf64_Phdr),
		    .e_phoff = sizeof(Elf64_Ehdr),
		    .e_ehsize = sizeof(Elf64_Ehdr),
		    .e_phentsize = sizeof(Elf64_Phdr),
		    .e_phnum = 1,
		},
	    .segment =
		{
		    .p_type = PT_LOAD,
		    .p_flags = PF_R | PF_X,
		    .p_vaddr = 0x10000,
		    .p_filesz = sizeof file,
		    .p_memsz = sizeof file,
		    .p_align = 0x1000,
		},
	};
	/* clang-format on */
	static char name[] = "memfd";
	static char *const arguments[] = { name, NULL },
			   *const none[] = { NULL };
	int fd = (int)syscall(SYS_memfd_create, "probe", 1 /* CLOEXEC */);

	(void)words;
	(void)count;
	if (fd < 0)
		return errno;
	memcpy(file.code, code, sizeof code);
	if (write(fd, &file, sizeof file) != sizeof file)
		return errno;
	syscall(SYS_execveat, fd, "", arguments, none, AT_EMPTY_PATH);
	return errno;
}

static int
try_memfd_exec(char **words, int count)
{
	return in_child(run_memfd, words, count);
}

/* --- sockets --------------------------------------------------------------- */

static int
try_socket(char **words, int count)
{
	return opened(socket((int)LOOK_UP(families, words[0]),
	    (int)LOOK_UP(socket_types, words[1]),
	    count > 2 ? (int)LOOK_UP(protocols, words[2]) : 0));
}

/* The kernel's argument is an int: what stands above it must not matter. */
static int
try_socket_high(char **words, int count)
{
	unsigned long high = 1UL << 32;

	return opened(syscall(SYS_socket, high | LOOK_UP(families, words[0]),
	    high | LOOK_UP(socket_types, words[1]),
	    high | (count > 2 ? LOOK_UP(protocols, words[2]) : 0)));
}

static int
try_socketpair(char **words, int count)
{
	int fds[2];

	if (socketpair((int)LOOK_UP(families, words[0]),
		(int)LOOK_UP(socket_types, words[1]),
		count > 2 ? (int)LOOK_UP(protocols, words[2]) : 0, fds) < 0)
		return errno;
	close(fds[0]);
	return opened(fds[1]);
}

static struct sockaddr_in
loopback(const char *port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)number(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

/* Ends an attempt that opened a socket: keeps its errno, closes the socket. */
static int
socket_result(int fd, long value)
{
	int error = value < 0 ? errno : 0;

	close(fd);
	return error;
}

static int
try_connect_tcp(char **words, int count)
{
	struct sockaddr_in address = loopback(words[0]);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)count;
	if (fd < 0)
		return errno;
	return socket_result(fd,
	    connect(fd, (struct sockaddr *)&address, sizeof address));
}

static int
try_bind_tcp(char **words, int count)
{
	struct sockaddr_in address = loopback(words[0]);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	(void)count;
	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	return socket_result(fd,
	    bind(fd, (struct sockaddr *)&address, sizeof address));
}

/* Without a bind, so that the kernel chooses the port. */
static int
try_listen_tcp(char **words, int count)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)words;
	(void)count;
	return fd < 0 ? errno : socket_result(fd, listen(fd, 1));
}

static int
try_send_udp(char **words, int count)
{
	struct sockaddr_in address = loopback(words[0]);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)count;
	if (fd < 0)
		return errno;
	return socket_result(fd,
	    sendto(fd, "", 1, 0, (struct sockaddr *)&address, sizeof address));
}

/* The loopback address of a family, with a port of the kernel's choice. */
static socklen_t
loopback_any(struct sockaddr_storage *address, int family)
{
	struct sockaddr_in inet = loopback("0");
	struct sockaddr_in6 inet6 = {
		.sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};

	if (family == AF_INET6) {
		memcpy(address, &inet6, sizeof inet6);
		return sizeof inet6;
	}
	memcpy(address, &inet, sizeof inet);
	return sizeof inet;
}

/* A byte through two sockets of one kind by way of a loopback address. */
static int
try_loopback(char **words, int count)
{
	int family = (int)LOOK_UP(families, words[0]);
	int type = (int)LOOK_UP(socket_types, words[1]);
	int server = socket(family, type | SOCK_CLOEXEC, 0);
	int client = socket(family, type | SOCK_CLOEXEC, 0);
	struct sockaddr_storage address = { 0 };
	socklen_t len = loopback_any(&address, family);
	char byte = 0;

	(void)count;
	if (server < 0 || client < 0 ||
	    bind(server, (struct sockaddr *)&address, len) != 0 ||
	    (type == SOCK_STREAM && listen(server, 1) != 0) ||
	    getsockname(server, (struct sockaddr *)&address, &len) != 0 ||
	    connect(client, (struct sockaddr *)&address, len) != 0 ||
	    send(client, "x", 1, 0) != 1 ||
	    (type == SOCK_STREAM &&
		(server = accept(server, NULL, NULL)) < 0) ||
	    recv(server, &byte, 1, 0) != 1)
		return errno;
	close(client);
	return byte == 'x' ? socket_result(server, 0) : EPROTO;
}

/* Whether any way leads out, without sending: 192.0.2.1 is nobody's. */
static int
try_route(char **words, int count)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(0xc0000201),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)words;
	(void)count;
	if (fd < 0)
		return errno;
	return socket_result(fd,
	    connect(fd, (struct sockaddr *)&address, sizeof address));
}

/* For others to be connected to: puts its port into a file and stays. */
static int
try_serve_tcp(char **words, int count)
{
	struct sockaddr_in address = loopback("0");
	socklen_t len = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FILE *file;

	(void)count;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0 ||
	    listen(fd, 16) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) != 0 ||
	    (file = fopen(words[0], "w")) == NULL)
		return errno;
	fprintf(file, "%u\n", ntohs(address.sin_port));
	fclose(file);
	for (;;)
		pause();
}

static socklen_t
unix_address(struct sockaddr_un *address, const char *path, bool abstract)
{
	size_t len = strlen(path);

	if (len + 1 >= sizeof address->sun_path)
		misuse("too long for a socket:", path);
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(address->sun_path + abstract, path, len);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
}

static int
connect_unix(const char *path, bool abstract)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, path, abstract);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno;
	return socket_result(fd, connect(fd, (struct sockaddr *)&address, len));
}

static int
try_unix_connect(char **words, int count)
{
	(void)count;
	return connect_unix(words[0], false);
}

static int
try_abstract_connect(char **words, int count)
{
	(void)count;
	return connect_unix(words[0], true);
}

static int
try_unix_bind(char **words, int count)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, words[0], false);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)count;
	if (fd < 0)
		return errno;
	return socket_result(fd, bind(fd, (struct sockaddr *)&address, len));
}

static int
try_unix_dgram_send(char **words, int count)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, words[0], false);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)count;
	if (fd < 0)
		return errno;
	return socket_result(fd,
	    sendto(fd, "", 1, 0, (struct sockaddr *)&address, len));
}

/* One of a pair may still be pointed elsewhere: no socket(2) is needed. */
static int
try_unix_pair_send(char **words, int count)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, words[0], false);
	int fds[2];

	(void)count;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) < 0)
		return errno;
	close(fds[1]);
	return socket_result(fds[0],
	    sendto(fds[0], "", 1, 0, (struct sockaddr *)&address, len));
}

/* --- other processes ------------------------------------------------------- */

static int
seize(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return errno;
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 0;
}

static int
try_ptrace(char **words, int count)
{
	pid_t pid;
	int error;

	(void)count;
	if (strcmp(words[0], "child") != 0)
		return seize(process(words[0]));
	pid = sleeper();
	error = seize(pid);
	put_to_rest(pid);
	return error;
}

static int
peek(pid_t pid)
{
	static char there = 1;
	char here;
	struct iovec local = { &here, 1 }, remote = { &there, 1 };

	return result(process_vm_readv(pid, &local, 1, &remote, 1, 0));
}

static int
try_process_vm_read(char **words, int count)
{
	pid_t pid;
	int error;

	(void)count;
	if (strcmp(words[0], "child") != 0)
		return peek(process(words[0]));
	pid = sleeper();
	error = peek(pid);
	put_to_rest(pid);
	return error;
}

static int
try_kill(char **words, int count)
{
	return result(
	    kill(process(words[0]), count > 1 ? (int)number(words[1]) : 0));
}

/* --- kernel interfaces ----------------------------------------------------- */

static int
try_io_uring(char **words, int count)
{
	uint32_t params[30] = { 0 };

	(void)words;
	(void)count;
	return opened(syscall(NR_IO_URING_SETUP, 1, params));
}

/* The number is one of i386. */
static int
run_int80(char **words, int count)
{
	long value = -ENOSYS;

	(void)count;
#ifdef __x86_64__
	__asm__ volatile("int $0x80"
			 : "=a"(value)
			 : "a"((long)number(words[0])), "b"(0L), "c"(0L),
			 "d"(0L), "S"(0L), "D"(0L)
			 : "memory", "r8", "r9", "r10", "r11");
#else
	(void)words;
#endif
	return (int)value < 0 && (int)value > -4096 ? -(int)value : 0;
}

static int
try_int80(char **words, int count)
{
	return in_child(run_int80, words, count);
}

static int
run_x32(char **words, int count)
{
	(void)count;
	return result(
	    syscall((long)number(words[0]) | X32_BIT, 0L, 0L, 0L, 0L, 0L, 0L));
}

static int
try_x32(char **words, int count)
{
	return in_child(run_x32, words, count);
}

static int
try_tiocsti(char **words, int count)
{
	(void)words;
	(void)count;
	return result(syscall(SYS_ioctl, 0, (unsigned long)TIOCSTI, ""));
}

static int
try_tiocsti_high(char **words, int count)
{
	(void)words;
	(void)count;
	return result(
	    syscall(SYS_ioctl, 0, (unsigned long)TIOCSTI | 1UL << 32, ""));
}

static unsigned long
flags_of(char **words, int count)
{
	unsigned long flags = 0;

	for (int i = 0; i < count; i++)
		flags |= LOOK_UP(clone_flags, words[i]);
	return flags;
}

static int
run_unshare(char **words, int count)
{
	return result(syscall(SYS_unshare, flags_of(words, count)));
}

static int
try_unshare(char **words, int count)
{
	return in_child(run_unshare, words, count);
}

static int
try_clone(char **words, int count)
{
	long pid = syscall(SYS_clone, flags_of(words, count) | SIGCHLD, 0L, 0L,
	    0L, 0L);

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(0);
	return wait_for((pid_t)pid);
}

static int
try_clone3(char **words, int count)
{
	uint64_t args[11] = {
		[0] = flags_of(words, count),
		[4] = SIGCHLD,
	};
	long pid = syscall(NR_CLONE3, args, sizeof args);

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(0);
	return wait_for((pid_t)pid);
}

/* EBADF: the call itself went through. */
static int
try_setns(char **words, int count)
{
	(void)words;
	(void)count;
	return result(syscall(SYS_setns, -1, 0));
}

/* By default onto nothing: ENOENT says that the call went through. */
static int
try_mount(char **words, int count)
{
	return result(mount("none", count ? words[0] : "/nonexistent/place",
	    "tmpfs", 0, NULL));
}

static int
try_open_tree(char **words, int count)
{
	return opened(syscall(NR_OPEN_TREE, AT_FDCWD, count ? words[0] : "/",
	    OPEN_TREE_CLONED | RECURSIVE));
}

static int
try_bpf(char **words, int count)
{
	uint32_t attributes[32] = { 2 /* array */, 4, 4, 1 };

	(void)words;
	(void)count;
	return opened(syscall(SYS_bpf, 0, attributes, sizeof attributes));
}

static int
try_perf(char **words, int count)
{
	uint32_t attributes[32] = { 1 /* software */, sizeof attributes };

	(void)words;
	(void)count;
	return opened(syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0L));
}

static int
try_userfaultfd(char **words, int count)
{
	(void)words;
	(void)count;
	return opened(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_ONLY));
}

/* The id of the session's keyring, made if it is not there. */
static int
try_keyctl(char **words, int count)
{
	(void)words;
	(void)count;
	return result(syscall(SYS_keyctl, 0, -3, 1));
}

static int
try_syscall(char **words, int count)
{
	unsigned long a[6] = { 0 };

	for (int i = 1; i < count; i++)
		a[i - 1] = number(words[i]);
	return result(syscall((long)LOOK_UP(syscalls, words[0]), a[0], a[1],
	    a[2], a[3], a[4], a[5]));
}

/* --- the process itself ---------------------------------------------------- */

static int
try_fd(char **words, int count)
{
	struct stat status;

	(void)count;
	return result(fstat((int)number(words[0]), &status));
}

static int
say_fds(char **words, int count)
{
	char line[4096] = "";
	size_t used = 0;

	(void)words;
	(void)count;
	for (int fd = 0; fd < 4096 && used < sizeof line - 16; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			used += (size_t)snprintf(line + used,
			    sizeof line - used, used ? " %d" : "%d", fd);
	}
	say(line);
	return SAID;
}

static int
say_env(char **words, int count)
{
	const char *value = getenv(words[0]);

	(void)count;
	say(value ? value : "unset");
	return SAID;
}

static int
say_cwd(char **words, int count)
{
	char path[4096];

	(void)words;
	(void)count;
	if (!getcwd(path, sizeof path))
		return errno;
	say(path);
	return SAID;
}

static int
say_rlimit(char **words, int count)
{
	struct rlimit limit;
	char line[80], soft[24], hard[24];

	(void)count;
	if (getrlimit((int)LOOK_UP(limits, words[0]), &limit) < 0)
		return errno;
	snprintf(soft, sizeof soft, "%llu", (unsigned long long)limit.rlim_cur);
	snprintf(hard, sizeof hard, "%llu", (unsigned long long)limit.rlim_max);
	snprintf(line, sizeof line, "%s %s",
	    limit.rlim_cur == RLIM_INFINITY ? "unlimited" : soft,
	    limit.rlim_max == RLIM_INFINITY ? "unlimited" : hard);
	say(line);
	return SAID;
}

static int
say_nnp(char **words, int count)
{
	(void)words;
	(void)count;
	say(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? "1" : "0");
	return SAID;
}

/* A field of /proc/self/status into value; false without a readable /proc. */
static bool
status_field(const char *field, char *value, size_t size)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	size_t len = strlen(field);
	bool found = false;

	while (file && !found && fgets(line, sizeof line, file)) {
		found = strncmp(line, field, len) == 0 && line[len] == ':';
		if (found)
			snprintf(value, size, "%.*s",
			    (int)strcspn(line + len + 2, "\n"), line + len + 2);
	}
	if (file)
		fclose(file);
	return found;
}

static int
say_seccomp(char **words, int count)
{
	char mode[64];

	(void)words;
	(void)count;
	if (!status_field("Seccomp", mode, sizeof mode))
		snprintf(mode, sizeof mode, "%d",
		    prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
	say(mode);
	return SAID;
}

static int
say_caps(char **words, int count)
{
	struct {
		uint32_t version;
		int pid;
	} header = { 0x20080522, 0 };
	uint32_t data[6] = { 0 };
	uint64_t bounding = 0;
	char line[80];

	(void)words;
	(void)count;
	if (syscall(SYS_capget, &header, data) < 0)
		return errno;
	for (int cap = 0; cap < 64; cap++) {
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			bounding |= UINT64_C(1) << cap;
	}
	snprintf(line, sizeof line, "effective %08x%08x bounding %016llx",
	    data[3], data[0], (unsigned long long)bounding);
	say(line);
	return SAID;
}

static int
say_ids(char **words, int count)
{
	char line[80];

	(void)words;
	(void)count;
	snprintf(line, sizeof line, "uid %u gid %u pid %d", (unsigned)getuid(),
	    (unsigned)getgid(), (int)getpid());
	say(line);
	return SAID;
}

/* --- the table ------------------------------------------------------------- */

/* clang-format off */
static const struct {
	const char *name;
	int least, most; /* words after the name */
	operation *run;
} operations[] = {
	{"open-read", 1, 1, try_open_read},
	{"list", 1, 1, try_list},
	{"open-write", 1, 1, try_open_write},
	{"create", 1, 1, try_create},
	{"mkdir", 1, 1, try_mkdir},
	{"mknod", 1, 1, try_mknod},
	{"unlink", 1, 1, try_unlink},
	{"rmdir", 1, 1, try_rmdir},
	{"rename", 2, 2, try_rename},
	{"exchange", 2, 2, try_exchange},
	{"link", 2, 2, try_link},
	{"symlink", 2, 2, try_symlink},
	{"truncate", 1, 1, try_truncate},
	{"chmod", 1, 2, try_chmod},
	{"stat", 1, 1, try_stat},
	{"access", 1, 1, try_access},
	{"chdir", 1, 1, try_chdir},
	{"exec", 1, MAX_WORDS - 1, try_exec},
	{"memfd-exec", 0, 0, try_memfd_exec},
	{"socket", 2, 3, try_socket},
	{"socket-high", 2, 3, try_socket_high},
	{"socketpair", 2, 3, try_socketpair},
	{"connect-tcp", 1, 1, try_connect_tcp},
	{"bind-tcp", 1, 1, try_bind_tcp},
	{"listen-tcp", 0, 0, try_listen_tcp},
	{"send-udp", 1, 1, try_send_udp},
	{"loopback", 2, 2, try_loopback},
	{"route", 0, 0, try_route},
	{"serve-tcp", 1, 1, try_serve_tcp},
	{"unix-connect", 1, 1, try_unix_connect},
	{"unix-bind", 1, 1, try_unix_bind},
	{"unix-dgram-send", 1, 1, try_unix_dgram_send},
	{"unix-pair-send", 1, 1, try_unix_pair_send},
	{"abstract-connect", 1, 1, try_abstract_connect},
	{"ptrace", 1, 1, try_ptrace},
	{"process-vm-read", 1, 1, try_process_vm_read},
	{"kill", 1, 2, try_kill},
	{"io-uring", 0, 0, try_io_uring},
	{"int80", 1, 1, try_int80},
	{"x32", 1, 1, try_x32},
	{"tiocsti", 0, 0, try_tiocsti},
	{"tiocsti-high", 0, 0, try_tiocsti_high},
	{"unshare", 1, MAX_WORDS, try_unshare},
	{"clone", 1, MAX_WORDS, try_clone},
	{"clone3", 1, MAX_WORDS, try_clone3},
	{"setns", 0, 0, try_setns},
	{"mount", 0, 1, try_mount},
	{"open-tree", 0, 1, try_open_tree},
	{"bpf", 0, 0, try_bpf},
	{"perf", 0, 0, try_perf},
	{"userfaultfd", 0, 0, try_userfaultfd},
	{"keyctl", 0, 0, try_keyctl},
	{"syscall", 1, 7, try_syscall},
	{"fd", 1, 1, try_fd},
	{"fds", 0, 0, say_fds},
	{"env", 1, 1, say_env},
	{"cwd", 0, 0, say_cwd},
	{"rlimit", 1, 1, say_rlimit},
	{"nnp", 0, 0, say_nnp},
	{"seccomp", 0, 0, say_seccomp},
	{"caps", 0, 0, say_caps},
	{"ids", 0, 0, say_ids},
};
/* clang-format on */

/* What an operation's end is called. */
static void
say_end(int end)
{
	const char *name = end == 0 ? "ok" : errno_name(end);
	char line[32];

	if (end == SIGNALLED - SIGSYS)
		name = "SIGSYS";
	else if (end <= SIGNALLED)
		snprintf(line, sizeof line, "signal %d", SIGNALLED - end);
	else
		snprintf(line, sizeof line, "errno %d", end);
	say(name ? name : line);
}

static void
run(char **words, int count)
{
	int end = MISUSED;

	for (size_t i = 0; i < countof(operations); i++) {
		if (strcmp(operations[i].name, words[0]) != 0)
			continue;
		if (count - 1 < operations[i].least ||
		    count - 1 > operations[i].most)
			misuse("wrong number of words for", words[0]);
		end = operations[i].run(words + 1, count - 1);
		break;
	}
	if (end == MISUSED)
		misuse("no such operation", words[0]);
	if (end != SAID)
		say_end(end);
}

static void
run_line(char *line)
{
	char *words[MAX_WORDS];
	int count = 0;

	for (char *word = strtok(line, "\t\n"); word && count < MAX_WORDS;
	     word = strtok(NULL, "\t\n"))
		words[count++] = word;
	if (count)
		run(words, count);
}

static int
run_input(void)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0)
		run_line(line);
	free(line);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "-") == 0)
		return run_input();
	if (argc < 2) {
		fputs("usage: probe OPERATION [WORD...] [-- OPERATION...]\n",
		    stderr);
		return 2;
	}
	for (int begin = 1, end = 1; begin < argc; begin = end + 1) {
		for (end = begin; end < argc && strcmp(argv[end], "--"); end++)
			continue;
		if (end > begin)
			run(argv + begin, end - begin);
	}
	return 0;
}

/*
 * Starting sbx-tls, and what makes programs inside believe it.
 *
 * It gets the secrets, and answers with what stands for them and with the
 * certificate of its authority.  That is put behind the machine's own roots, into
 * a directory of this run in the scratch directory.  At level full the file covers
 * the machine's own in the view, and at both levels variables name it, since
 * some programs have roots of their own.
 */
#include "runtime/network/network.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	ANSWER_MAX = 1 << 18,
	ANSWER_TIME =
	    30000, /* milliseconds, on a machine that has much to do */
};

static void
close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void
tls_none(struct network_tls *tls)
{
	tls->pid = 0;
	tls->process = tls->theirs = tls->events = -1;
	tls->scratch = tls->directory = -1;
	tls->name[0] = '\0';
	tls->placeholders.count = 0;
}

const struct sbx_name *
tls_rule(const struct sbx_blob *blob)
{
	for (uint32_t i = 0; i < blob->name_count; i++) {
		const struct sbx_name *rule = &blob->names[i];

		if ((rule->platforms & KERNEL_WHERE) != 0 &&
		    (rule->secret != 0 || rule->path != 0))
			return rule;
	}
	return NULL;
}

/* --- the machine's roots ---------------------------------------------------- */

/* Debian and Arch, Fedora, SUSE, Alpine. */
static const char *const bundles[] = { "/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem" };

/* -1: there are none, and no server is believed. */
static int
open_roots(struct network_tls *tls)
{
	char link[DESCRIPTOR_PATH_SIZE];
	struct stat status;

	for (size_t i = 0; i < countof(bundles); i++) {
		int fd = open(bundles[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		ssize_t len;

		if (fd < 0)
			continue;
		descriptor_path(link, fd);
		len = readlink(link, tls->roots, sizeof tls->roots - 1);
		if (len > 0 && fstat(fd, &status) == 0 &&
		    S_ISREG(status.st_mode)) {
			tls->roots[len] = '\0';
			return above_standard(fd);
		}
		close(fd);
	}
	return -1;
}

/* --- what is said ------------------------------------------------------------ */

static bool
send_all(int to, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t count = send(to, at, len, MSG_NOSIGNAL);

		if (count < 0 && errno != EINTR)
			return false;
		at += count > 0 ? count : 0;
		len -= count > 0 ? (size_t)count : 0;
	}
	return true;
}

static bool
send_secrets(int to, const struct tls_values *secrets)
{
	const struct tls_start start = { TLS_VERSION, secrets->count };
	bool sent = send_all(to, &start, sizeof start);

	for (uint32_t i = 0; sent && i < secrets->count; i++) {
		const struct tls_value *value = &secrets->all[i];
		const struct tls_secret header = { value->name, value->size };

		sent = send_all(to, &header, sizeof header) &&
		    send_all(to, value->bytes, value->size);
	}
	return sent && shutdown(to, SHUT_WR) == 0;
}

/* All that comes until the end. */
static size_t
receive(int from, char *bytes, size_t size)
{
	struct pollfd wait = { .fd = from, .events = POLLIN };
	size_t used = 0;
	ssize_t len = 1;

	while (len > 0 && used < size && poll(&wait, 1, ANSWER_TIME) == 1) {
		len = recv(from, bytes + used, size - used, 0);
		used += len > 0 ? (size_t)len : 0;
	}
	return len == 0 ? used : 0;
}

/* Takes a header and its bytes; false: they are not there. */
static bool
take_one(char **at, size_t *left, struct tls_value *value)
{
	struct tls_secret header;

	if (*left < sizeof header)
		return false;
	memcpy(&header, *at, sizeof header);
	*at += sizeof header;
	*left -= sizeof header;
	if (header.size > *left)
		return false;
	*value = (struct tls_value){ header.name, header.size, *at };
	*at += header.size;
	*left -= header.size;
	return true;
}

/* Placeholders, each with a NUL behind it, where the next header began; and the
 * certificate. */
static struct tls_value
take_answer(struct network_tls *tls, const struct sbx_blob *blob,
    const struct tls_values *secrets, char *bytes, size_t len)
{
	const struct sbx_name *rule = tls_rule(blob);
	struct tls_start start = { 0, 0 };
	struct tls_value value = { 0, 0, NULL };
	char *at = bytes + sizeof start;

	if (len < sizeof start)
		refuse_at(blob, rule->source, "sbx-tls did not start", 0);
	memcpy(&start, bytes, sizeof start);
	len -= sizeof start;
	for (uint32_t i = 0; i < secrets->count && start.count != TLS_REFUSED;
	     i++) {
		struct tls_value *placeholder = &tls->placeholders.all[i];

		if (!take_one(&at, &len, placeholder) ||
		    placeholder->size != secrets->all[i].size)
			start.version = 0;
	}
	if (!take_one(&at, &len, &value) || len != 0 ||
	    start.version != TLS_VERSION)
		refuse_at(blob, rule->source, "sbx-tls did not start", 0);
	*at = '\0';
	if (start.count == TLS_REFUSED)
		refuse_at(blob, rule->source, value.bytes, 0);
	tls->placeholders.count = start.count;
	for (uint32_t i = 0; i < start.count; i++) {
		struct tls_value *placeholder = &tls->placeholders.all[i];

		((char *)placeholder->bytes)[placeholder->size] = '\0';
	}
	return value;
}

/* --- the directory ------------------------------------------------------------- */

static bool
put_file(const struct network_tls *tls, const char *name, int roots,
    const char *text, size_t len)
{
	int fd = openat(tls->directory, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	off_t from = 0;
	ssize_t copied = roots >= 0 ? 1 : 0;
	bool put;

	while (fd >= 0 && copied > 0)
		copied = sendfile(fd, roots, &from, INT_MAX);
	put = fd >= 0 && copied == 0 && write(fd, text, len) == (ssize_t)len;
	if (fd >= 0)
		close(fd);
	return put;
}

static void
make_directory(struct network *network, const struct binding *binding,
    int roots, struct tls_value certificate)
{
	static const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct network_tls *tls = &network->tls;
	struct sbx_place scratch = binding->anchors[SBX_ANCHOR_TMP];
	struct out name, wgetrc;
	uint64_t number = (uint64_t)getpid();

	out_into(&name, tls->name, sizeof tls->name);
	/* Commands write there: none may know the next name and take it. */
	getrandom(&number, sizeof number, 0);
	out_print(&name, "/.sbx-tls-%lu", number);
	tls->owner = getpid();
	tls->scratch = open(scratch.path, flags);
	out_init(&wgetrc, -1);
	out_print(&wgetrc, "ca_certificate = %s%s\n",
	    network->host ? scratch.path : tls->roots,
	    network->host ? tls->name : "");
	if (network->host)
		wgetrc.used--;
	out_text(&wgetrc, network->host ? "/roots.pem\n" : "");
	if (tls->scratch < 0 || mkdirat(tls->scratch, tls->name + 1, 0700) != 0)
		refuse(scratch.path,
		    "cannot keep there whom programs are to believe", errno);
	tls->directory = openat(tls->scratch, tls->name + 1, flags);
	if (tls->directory < 0 ||
	    !put_file(tls, "roots.pem", roots, certificate.bytes,
		certificate.size) ||
	    !put_file(tls, "own.pem", -1, certificate.bytes,
		certificate.size) ||
	    !put_file(tls, "wgetrc", -1, wgetrc.text, wgetrc.used))
		refuse(scratch.path,
		    "cannot keep there whom programs are to believe", errno);
}

static void
remove_directory(struct network_tls *tls)
{
	static const char *const names[] = { "roots.pem", "own.pem", "wgetrc" };

	if (tls->directory >= 0 && tls->owner == getpid()) {
		for (size_t i = 0; i < countof(names); i++)
			unlinkat(tls->directory, names[i], 0);
		unlinkat(tls->scratch, tls->name + 1, AT_REMOVEDIR);
	}
	close_one(&tls->directory);
	close_one(&tls->scratch);
}

/* --- the process ---------------------------------------------------------------- */

static void
run(struct network *network, int roots, int start)
{
	struct network_tls *tls = &network->tls;
	int work[2] = { -1, -1 }, events[2] = { -1, -1 };
	struct proxy_start what = {
		.name = "sbx-tls",
		.level = network->host ? "standard" : "full",
		.program = proxy_open("sbx-tls", tls_missing),
		.descriptors = {
			[TLS_POLICY] = proxy_policy(network->blob->base,
			    network->size),
			[TLS_START] = start,
			[TLS_ROOTS] = roots,
		},
	};

	if (what.descriptors[TLS_POLICY] < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, work) != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, events) != 0)
		refuse("network", "cannot make what sbx-tls needs", errno);
	tls->theirs = above_standard(work[0]);
	tls->events = above_standard(events[0]);
	what.descriptors[TLS_WORK] = work[1];
	what.descriptors[TLS_EVENTS] = events[1];
	tls->pid = proxy_run(&what);
	if (tls->pid > 0)
		tls->process = (int)syscall(SYS_pidfd_open, tls->pid, 0);
	if (tls->process < 0)
		refuse("network", "cannot start sbx-tls", errno);
	tls->process = above_standard(tls->process);
	close_one(&what.program);
	close_one(&what.descriptors[TLS_POLICY]);
	close_one(&work[1]);
	close_one(&events[1]);
}

void
tls_start(struct network *network, const struct binding *binding,
    struct tls_values *secrets)
{
	const struct sbx_name *rule = tls_rule(binding->blob);
	struct network_tls *tls = &network->tls;
	int roots, ends[2];
	char *answer;
	size_t len;

	if (rule == NULL || network->count == 0)
		return;
	if (!binding->bound[SBX_ANCHOR_TMP] || binding->scratch_missing)
		refuse_at(binding->blob, rule->source,
		    "its TLS is ended, and programs find whom to believe in "
		    "the "
		    "scratch directory: add 'allow write ${tmp}'",
		    0);
	answer = mmap(NULL, ANSWER_MAX, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (answer == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		refuse("network", "cannot make what sbx-tls needs", errno);
	ends[0] = above_standard(ends[0]);
	ends[1] = above_standard(ends[1]);
	roots = open_roots(tls);
	run(network, roots, ends[1]);
	close(ends[1]);
	/* Where it ends at once, its answer is missing. */
	send_secrets(ends[0], secrets);
	for (uint32_t i = 0; i < secrets->count; i++)
		explicit_bzero((char *)(uintptr_t)secrets->all[i].bytes,
		    secrets->all[i].size);
	len = receive(ends[0], answer, ANSWER_MAX - 1);
	close(ends[0]);
	make_directory(network, binding, roots,
	    take_answer(tls, binding->blob, secrets, answer, len));
	close_one(&roots);
}

void
tls_forget(struct network_tls *tls)
{
	remove_directory(tls);
	close_one(&tls->process);
	close_one(&tls->theirs);
	close_one(&tls->events);
}

void
tls_lost(struct network_tls *tls)
{
	warn_about("network",
	    "sbx-tls has ended; names whose requests it judged are shut from "
	    "here on",
	    0);
	waitpid(tls->pid, NULL, 0);
	tls->pid = 0;
	close_one(&tls->process);
	close_one(&tls->theirs);
	close_one(&tls->events);
}

void
tls_end(struct network_tls *tls)
{
	if (tls->pid > 0 && tls->process >= 0) {
		kill(tls->pid, SIGKILL);
		while (waitpid(tls->pid, NULL, 0) < 0 && errno == EINTR)
			;
		tls->pid = 0;
	}
	tls_forget(tls);
}

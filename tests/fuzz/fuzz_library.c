/*
 * What libsbx is given by its caller and by a keeper: the bytes of a policy,
 * options, the name of a session, and messages.  The first byte says which; its
 * bit STAMPED puts a right beginning in front of the rest, or nothing would get
 * past it.  $SBXRUN is the loader, which is started, but never a command.
 *
 * Whatever comes, a call that fails says so in one line, sbxrun does not crash,
 * and no descriptor is left open.
 */
#include "runtime/library/sbx.h"
#include "runtime/session/offer.h"
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { STAMPED = 0x80, MOST_TEXT = 4096, MOST_DESCRIPTORS = 200 };

static const char *
loader(void)
{
	const char *path = getenv("SBXRUN");

	return path != NULL ? path : "./sbxrun";
}

static unsigned
descriptors(void)
{
	DIR *open = opendir("/proc/self/fd");
	unsigned count = 0;

	must(open != NULL, "no /proc/self/fd");
	while (readdir(open) != NULL)
		count++;
	closedir(open);
	return count;
}

/* --- sandboxes ------------------------------------------------------------ */

static void
check_error(const struct sbx_error *error)
{
	must(error->kind != SBX_ERROR_NONE, "a failure of no kind");
	must(error->text[0] != '\0', "a failure without a word");
	must(memchr(error->text, '\0', sizeof error->text) != NULL,
	    "a text without an end");
	must(strchr(error->text, '\n') == NULL, "a text of two lines");
	must(strcmp(error->text, "sbxrun has ended") != 0, "sbxrun crashed");
}

static void
try_open(const struct sbx_options *options)
{
	struct sbx_error error = { 0 };
	struct sbx_sandbox *sandbox = sbx_open(options, &error);

	if (sandbox == NULL) {
		check_error(&error);
		return;
	}
	must(sbx_level(sandbox)[0] != '\0', "a sandbox without a level");
	sbx_close(sandbox);
}

static void
try_bytes(const uint8_t *data, size_t size, bool stamped)
{
	struct sbx_options options = {
		.size = sizeof options,
		.blob_size = size,
		.sbxrun = loader(),
	};
	struct sbx_header *header = calloc(size + 1, 1);

	must(header != NULL, "no memory");
	memcpy(header, data, size);
	if (stamped && size >= sizeof *header && size <= SBX_MAX_SIZE) {
		memcpy(header->magic, SBX_MAGIC, sizeof header->magic);
		header->min_reader = SBX_FORMAT_MIN_READER;
		header->size = (uint32_t)size;
		header->text_size = 0;
		header->reserved = 0;
		header->sum = sbx_checksum(header, size);
	}
	options.blob = header;
	try_open(&options);
	free(header);
}

/* A line for each option; what is left over are parameters and limits, by
 * turns. */
static void
try_options(char *text)
{
	/* A line that begins so is none that says why, whoever wrote it; a value
	 * comes with a colon. */
	bool misleading = strstr(text, "warning") != NULL;
	const char *parameters[] = { NULL, NULL, NULL };
	const char *limits[] = { NULL, NULL, NULL };
	struct sbx_options options = {
		.size = sizeof options,
		.policy = strsep(&text, "\n"),
		.workspace = strsep(&text, "\n"),
		.level = strsep(&text, "\n"),
		.expect = strsep(&text, "\n"),
		.parameters = parameters,
		.limits = limits,
		.sbxrun = loader(),
	};

	for (int i = 0; i < 2; i++) {
		parameters[i] = strsep(&text, "\n");
		limits[i] = strsep(&text, "\n");
	}
	if (parameters[0] == NULL)
		options.parameters = NULL;
	if (!misleading)
		try_open(&options);
}

static void
try_join(const char *name)
{
	struct sbx_error error = { 0 };
	struct sbx_sandbox *sandbox = sbx_join(name, loader(), &error);

	if (sandbox == NULL)
		check_error(&error);
	sbx_close(sandbox);
}

/* --- messages ------------------------------------------------------------- */

/* Sends the bytes with so many descriptors. */
static void
send_bytes(int socket, const void *bytes, size_t size, unsigned count)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
	} control = { .header = {
			  .cmsg_level = SOL_SOCKET,
			  .cmsg_type = SCM_RIGHTS,
			  .cmsg_len = CMSG_LEN(count * sizeof(int)),
		      } };
	struct iovec part = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = count > 0 ? &control : NULL,
		.msg_controllen = count > 0 ? CMSG_SPACE(count * sizeof(int)) :
					      0,
	};

	for (unsigned i = 0; i < count; i++)
		memcpy(CMSG_DATA(&control.header) + i * sizeof(int), &socket,
		    sizeof(int));
	must(sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0,
	    "a message that cannot be sent");
}

static void
hear(int socket)
{
	struct session_reply reply;
	int came[OFFER_END];
	const char *fault = session_hear(socket, &reply, came);

	must(fault == NULL || fault[0] != '\0', "a fault without a word");
	for (int i = 0; i < OFFER_END; i++) {
		bool wanted = (reply.descriptors & 1U << i) != 0;

		must(fault == NULL || came[i] < 0,
		    "descriptors of a message that was refused");
		must(fault != NULL || (wanted ? came[i] >= 0 : came[i] < 0),
		    "descriptors in another order");
		if (fault == NULL && wanted)
			close(came[i]);
	}
}

static void
be_asked(int socket)
{
	struct session_request request;
	pid_t sender;
	int came = -1;

	if (session_requested(socket, &request, &came, &sender))
		session_stamp_fault(&request.stamp);
	if (came >= 0)
		close(came);
}

static void
try_message(uint8_t *data, size_t size, bool stamped, bool asked)
{
	unsigned count = size > 0 ? data[0] % MOST_DESCRIPTORS : 0;
	struct session_stamp stamp;
	int ends[2];

	if (size < 2)
		return;
	data++;
	size--;
	if (stamped && size >= sizeof stamp) {
		memcpy(&stamp, data, sizeof stamp);
		session_stamp(&stamp, (enum session_kind)(stamp.kind % 16));
		memcpy(data, &stamp, sizeof stamp);
	}
	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0,
	    "no socket pair");
	send_bytes(ends[0], data, size, count);
	if (asked)
		be_asked(ends[1]);
	else
		hear(ends[1]);
	close(ends[0]);
	close(ends[1]);
}

/* What a keeper of the same build says is believed; that it is one shows. */
static void
try_file(uint8_t *data, size_t size, bool stamped)
{
	struct offer_head *head = (struct offer_head *)(uintptr_t)data;
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct offer offer;

	must(fd >= 0, "no memory file");
	if (stamped && size >= sizeof *head) {
		session_stamp(&head->stamp, SESSION_JOIN);
		head->size = (uint32_t)size;
		head->blob_at &= ~7U;
		head->blob.size = head->blob_size;
	}
	must(write(fd, data, size) == (ssize_t)size &&
		fcntl(fd, F_ADD_SEALS,
		    F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) ==
		    0,
	    "a memory file that cannot be written");
	offer_none(&offer);
	offer.descriptors[OFFER_FILE] = fd;
	if (offer_map(&offer) == NULL) {
		must(offer.head->size == size, "an offer of another size");
		must(offer.head->blob_at + offer.head->blob_size <= size,
		    "a policy beyond the end");
	}
	offer_close(&offer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned before = descriptors();
	bool stamped = size > 0 && (data[0] & STAMPED) != 0;
	uint8_t *copy;

	if (size == 0)
		return 0;
	/* Of exactly the size, and then a NUL; aligned as an offer is. */
	copy = aligned_alloc(16, (size + 16) & ~(size_t)15);
	must(copy != NULL, "no memory");
	memcpy(copy, data + 1, size - 1);
	copy[size - 1] = '\0';
	switch (data[0] & 7) {
	case 0:
		try_bytes(copy, size - 1, stamped);
		break;
	case 1:
		try_options((char *)copy);
		break;
	case 2:
		try_join((char *)copy);
		break;
	case 3:
	case 4:
		try_message(copy, size - 1, stamped, (data[0] & 7) == 3);
		break;
	default:
		try_file(copy, size - 1, stamped);
	}
	free(copy);
	must(descriptors() == before, "a descriptor is left open");
	return 0;
}

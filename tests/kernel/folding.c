/*
 * A file system that takes upper and lower case for the same, without the
 * kernel's knowing of it, as shares of a virtual machine's host do:
 *
 *	folding DIRECTORY
 *	folding DIRECTORY failing
 *
 * mounts it there and serves it until it is unmounted.  It speaks to /dev/fuse
 * directly and has a few files, which can only be read.  The second one tells
 * upper and lower case apart, but once somebody has looked for `trip`, it fails
 * to look up `.env` once, as a server does that is out of descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char text[] = "secret\n";

static const struct node {
	uint64_t parent;
	const char *name;
	mode_t mode;
} nodes[] = {
	[FUSE_ROOT_ID] = { FUSE_ROOT_ID, "", S_IFDIR | 0755 },
	{ FUSE_ROOT_ID, ".env", S_IFREG | 0644 },
	{ FUSE_ROOT_ID, "other", S_IFREG | 0644 },
	{ FUSE_ROOT_ID, "sub", S_IFDIR | 0755 },
	{ 4, "Key", S_IFREG | 0644 },
};

enum { NODES = sizeof nodes / sizeof *nodes };

struct request {
	struct fuse_in_header header;
	char body[1 << 17];
};

struct server {
	int fd;
	bool failing, tripped;
};

static void
answer(int fd, const struct request *request, int error, const void *body,
    size_t len)
{
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof header + len),
		.error = -error,
		.unique = request->header.unique,
	};
	struct iovec parts[] = {
		{ &header, sizeof header },
		{ (void *)(uintptr_t)body, len },
	};

	/* ENOENT: the caller was interrupted. */
	if (writev(fd, parts, 2) < 0 && errno != ENOENT)
		exit(1);
}

static struct fuse_attr
attributes(uint64_t id)
{
	return (struct fuse_attr){
		.ino = id,
		.size = S_ISREG(nodes[id].mode) ? sizeof text - 1 : 0,
		.mode = nodes[id].mode,
		.nlink = 1,
		.blksize = 4096,
	};
}

static bool
is_same(const struct server *server, const char *a, const char *b)
{
	return (server->failing ? strcmp(a, b) : strcasecmp(a, b)) == 0;
}

static bool
fails(struct server *server, const char *name)
{
	bool failed = server->tripped && strcmp(name, ".env") == 0;

	server->tripped = !failed &&
	    (server->tripped || (server->failing && strcmp(name, "trip") == 0));
	return failed;
}

static void
look_up(struct server *server, const struct request *request)
{
	uint64_t valid = server->failing ? 0 : 60;
	struct fuse_entry_out out = { .attr_valid = valid,
		.entry_valid = valid };
	int fd = server->fd;

	if (fails(server, request->body)) {
		answer(fd, request, EMFILE, NULL, 0);
		return;
	}

	for (uint64_t id = FUSE_ROOT_ID + 1; id < NODES; id++) {
		if (nodes[id].parent != request->header.nodeid ||
		    !is_same(server, nodes[id].name, request->body))
			continue;
		out.nodeid = id;
		out.attr = attributes(id);
		answer(fd, request, 0, &out, sizeof out);
		return;
	}
	answer(fd, request, ENOENT, NULL, 0);
}

static void
list(int fd, const struct request *request)
{
	const struct fuse_read_in *in = (const void *)request->body;
	char body[1024] = { 0 };
	size_t len = 0;

	for (uint64_t id = in->offset + 1; id < NODES; id++) {
		struct fuse_dirent *entry = (void *)(body + len);

		if (id == FUSE_ROOT_ID ||
		    nodes[id].parent != request->header.nodeid)
			continue;
		entry->ino = id;
		entry->off = id;
		entry->namelen = (uint32_t)strlen(nodes[id].name);
		entry->type = nodes[id].mode >> 12;
		memcpy(entry->name, nodes[id].name, entry->namelen);
		len += FUSE_DIRENT_SIZE(entry);
	}
	answer(fd, request, 0, body, len);
}

static void
read_text(int fd, const struct request *request)
{
	const struct fuse_read_in *in = (const void *)request->body;
	size_t len = sizeof text - 1;

	if (in->offset >= len)
		answer(fd, request, 0, NULL, 0);
	else
		answer(fd, request, 0, text + in->offset, len - in->offset);
}

static void
serve(struct server *server, const struct request *request)
{
	int fd = server->fd;
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = 31,
		.max_write = 4096,
	};
	struct fuse_attr_out attr = { .attr_valid = 60 };
	struct fuse_open_out opened = { 0 };

	switch (request->header.opcode) {
	case FUSE_INIT:
		answer(fd, request, 0, &init, sizeof init);
		break;
	case FUSE_LOOKUP:
		look_up(server, request);
		break;
	case FUSE_GETATTR:
		attr.attr = attributes(request->header.nodeid);
		answer(fd, request, 0, &attr, sizeof attr);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(fd, request, 0, &opened, sizeof opened);
		break;
	case FUSE_READ:
		read_text(fd, request);
		break;
	case FUSE_READDIR:
		list(fd, request);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		answer(fd, request, 0, NULL, 0);
		break;
	default:
		answer(fd, request, ENOSYS, NULL, 0);
	}
}

int
main(int argc, char **argv)
{
	static struct request request;
	char options[128];
	struct server server = { .failing = argc == 3 };
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (argc < 2 || argc > 3)
		return 2;
	server.fd = fd;
	snprintf(options, sizeof options,
	    "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,"
	    "default_permissions",
	    fd);
	if (fd < 0 ||
	    mount("folding", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) !=
		0) {
		perror("folding");
		return 1;
	}
	/* The caller goes on when it is mounted. */
	if (fork() != 0)
		return 0;
	close(STDOUT_FILENO);
	for (;;) {
		ssize_t len = read(fd, &request, sizeof request);

		if (len < 0 && errno != EINTR && errno != ENOENT)
			return errno == ENODEV ? 0 : 1;
		if (len > 0)
			serve(&server, &request);
	}
}

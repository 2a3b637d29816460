/*
 * Here alone a call goes on whose words were looked at.  That is safe because
 * nothing depends on them but a report: the policy's filter has allowed the
 * call by its registers, which do not change any more, and Landlock and the
 * view decide afterwards as they always do.
 */
#include "runtime/listen/answers.h"

#include "format/model.h"
#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/explain/explain.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

enum { LEVELS, VIEW };
enum { NONE = -1, DIRECTORY = 16 };

/* Acts of the table beside those of judge.c: flags or an address decide. */
enum {
	OPEN = ACT_END,
	OPEN_HOW,
	UNLINK,
	LOOK_AT_LINK,
	CONNECT,
	BIND,
	BEYOND,
	READ = ACT_READ,
	WRITE = ACT_WRITE,
	CREATE = ACT_CREATE,
	MAKE = ACT_MAKE,
	MAKE_DIRECTORY = ACT_MAKE_DIRECTORY,
	REPLACE = ACT_REPLACE,
	REMOVE = ACT_REMOVE,
	CHANGE = ACT_CHANGE,
	RUN = ACT_RUN,
	LOOK = ACT_LOOK,
};

static const struct observed {
	int number;
	uint8_t path;
	uint8_t act;
	int8_t flags;
} observed[] = {
#define OBSERVED(call, where, path, act, flags) \
	{ SYS_##call, path, act, flags },
#include "format/observed.def"
#undef OBSERVED
};

/* One path of one call, while it is looked at. */
struct sighting {
	const struct caller *caller;
	const struct observed *observed;
	struct explaining *explaining;
	struct asked asked;
	struct sbx_denial denial;
	struct wanted wish; /* an address, for --learn */
	char address[64];
};

/* --- words ---------------------------------------------------------------- */

/* The caller's directory, or one that it has open. */
static bool
push_directory(const struct caller *caller, int fd, struct path *path)
{
	char link[64], text[SBX_MAX_PATH + 1];
	struct out out;
	ssize_t len;

	out_into(&out, link, sizeof link);
	if (fd == AT_FDCWD)
		out_print(&out, "/proc/%u/cwd", caller->call.thread);
	else
		out_print(&out, "/proc/%u/fd/%u", caller->call.thread,
		    (unsigned)fd);
	len = readlink(link, text, sizeof text - 1);
	if (len <= 0 || *text != '/')
		return false;
	text[len] = '\0';
	return trail_push(path, text);
}

/* What a call names, absolute and normal; false: nothing, or it cannot be read,
 * which is counted. */
static bool
read_path(struct sighting *sighting)
{
	const struct caller *caller = sighting->caller;
	uint8_t at = sighting->observed->path & (DIRECTORY - 1);
	int directory = sighting->observed->path & DIRECTORY ?
	    (int)caller->call.args[at - 1] :
	    AT_FDCWD;
	char text[SBX_MAX_PATH + 1];
	int error;

	if (caller->call.args[at] == 0)
		return false;
	error = caller_text(caller, caller->call.args[at], text, sizeof text);
	if (error == -EPERM)
		sighting->explaining->unread++;
	if (error != 0 || *text == '\0')
		return false;
	path_cut(&sighting->asked.path, 0);
	sighting->asked.dots = trail_ends_in_dots(text);
	return (*text == '/' ||
		   push_directory(caller, directory, &sighting->asked.path)) &&
	    trail_push(&sighting->asked.path, text);
}

static void
read_program(const struct caller *caller, char program[SBX_PROGRAM_SIZE])
{
	char path[64], text[SBX_PROGRAM_SIZE + 1];
	struct out out;
	size_t len;

	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%u/comm", caller->call.thread);
	file_read(AT_FDCWD, path, text, sizeof text);
	len = strcspn(text, "\n");
	len = len < SBX_PROGRAM_SIZE ? len : SBX_PROGRAM_SIZE - 1;
	memcpy(program, text, len);
	program[len] = '\0';
}

/* --- acts ----------------------------------------------------------------- */

/* False: at this level nothing denies it. */
static bool
set_open(struct sighting *sighting, uint64_t flags)
{
	struct asked *asked = &sighting->asked;
	bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;

	asked->no_follow = (flags & O_NOFOLLOW) != 0;
	if ((flags & O_PATH) != 0) {
		asked->act = ACT_LOOK;
		return sighting->explaining->view;
	}
	if ((flags & O_TMPFILE) == O_TMPFILE)
		return false;
	if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		asked->act = ACT_MAKE;
	else if ((flags & O_CREAT) != 0)
		asked->act = ACT_CREATE;
	else
		asked->act = writes ? ACT_WRITE : ACT_READ;
	return true;
}

static bool
set_act(struct sighting *sighting)
{
	const struct caller *caller = sighting->caller;
	const struct observed *row = sighting->observed;
	struct asked *asked = &sighting->asked;
	struct open_how how = { 0 };
	uint64_t flags = row->flags == NONE ? 0 : caller->call.args[row->flags];

	asked->act = (enum act)row->act;
	switch (row->act) {
	case OPEN:
		return set_open(sighting, flags & UINT32_MAX);
	case OPEN_HOW:
		return caller_read(caller, flags, &how, sizeof how) == 0 &&
		    set_open(sighting, how.flags);
	case UNLINK:
		asked->act = (flags & AT_REMOVEDIR) != 0 ? ACT_REMOVE :
							   ACT_UNLINK;
		return true;
	case LOOK_AT_LINK:
		asked->act = ACT_LOOK;
		asked->no_follow = true;
		return true;
	case REPLACE:
		asked->fresh = (flags & 1 /* RENAME_NOREPLACE */) != 0;
		return true;
	default:
		asked->no_follow = (flags & AT_SYMLINK_NOFOLLOW) != 0;
		return true;
	}
}

/* --- addresses ------------------------------------------------------------ */

/* libc connects others to learn which of its addresses would be used; but not
 * those by which it asks for names. */
static bool
is_meant(const struct caller *caller, uint16_t port)
{
	int copy = caller_copy(caller, (int)caller->call.args[0]), type = 0;
	socklen_t len = sizeof type;
	bool is;

	if (copy < 0)
		return false;
	is = port == NAME_SERVERS ||
	    (getsockopt(copy, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
		type == SOCK_STREAM);
	caller_close(copy);
	return is;
}

static bool
is_bound_to(const struct bound *bound, const void *wanted)
{
	return bound->inode == 0 && bound->device == 0 &&
	    memcmp(bound->name, wanted, sizeof bound->name) == 0;
}

/* An abstract name that a server of outside has.  If the command has had one
 * itself, it may be its own. */
static bool
judge_abstract(struct sighting *sighting, const char name[])
{
	struct explaining *explaining = sighting->explaining;
	struct sbx_denial *denial = &sighting->denial;
	struct out out;
	int diagnosis;
	bool found;

	if (sighting->observed->act == BIND)
		explaining->bound = true;
	if (explaining->bound || sighting->caller->listening->abstract ||
	    (!explaining->scoped && !explaining->view))
		return false;
	diagnosis = diagnosis_open();
	if (diagnosis < 0)
		return false;
	found = diagnosis_find(diagnosis, NULL, is_bound_to, name);
	close(diagnosis);
	denial->kind = SBX_DENIED_CALL;
	denial->source = SBX_NO_SOURCE;
	denial->obstacle = SBX_OBSTACLE_ABSTRACT;
	out_into(&out, denial->path, sizeof denial->path);
	out_print(&out, "@%s", name + 1);
	return found;
}

static bool
judge_local(struct sighting *sighting, const struct sockaddr_un *address,
    size_t len)
{
	char text[sizeof address->sun_path + 1] = "";
	struct path *path = &sighting->asked.path;

	len -= offsetof(struct sockaddr_un, sun_path);
	memcpy(text, address->sun_path, len);
	if (*text == '\0')
		return judge_abstract(sighting, text);
	sighting->asked.act = sighting->observed->act == CONNECT ? ACT_CONNECT :
								   ACT_MAKE;
	path_cut(path, 0);
	return (*text == '/' ||
		   push_directory(sighting->caller, AT_FDCWD, path)) &&
	    trail_push(path, text) &&
	    judge(sighting->explaining, &sighting->asked, &sighting->denial);
}

/* What is connected to, or listened on, for --learn.  The addresses that the
 * resolver hands out stand for names, of which sbx-proxy tells. */
static void
wish_address(struct sighting *sighting, const struct sockaddr_in6 *address)
{
	const struct sockaddr_in *in = (const void *)address;
	bool v4 = address->sin6_family == AF_INET;
	uint8_t mapped[SBX_ADDRESS_SIZE] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *bytes = v4 ? (const void *)&in->sin_addr :
				    address->sin6_addr.s6_addr;
	struct out out;

	out_into(&out, sighting->address, sizeof sighting->address);
	for (int i = 0; i < (v4 ? 4 : 16); i++)
		out_print(&out, i == 0 ? "%u" : ".%u", bytes[i]);
	sighting->wish = (struct wanted){
		.kind = sighting->observed->act == CONNECT ?
		    SBX_DENIED_CONNECT :
		    SBX_DENIED_LISTEN,
		.port = ntohs(in->sin_port),
		.text = sighting->address,
		.len = out.used,
	};
	memcpy(mapped + (v4 ? 12 : 0), bytes, v4 ? 4 : 16);
	/* To bind port 0 is to let the kernel choose one, as tests do. */
	sighting->asked.wanted = (in->sin_port != 0 ||
				     sighting->observed->act == BIND) &&
	    !sbx_address_is_fake(mapped, NULL);
}

/* No way leads to the name server, so the program never comes to say which name
 * it looks up.  Its command line often does, and a rule is about that name. */
static void
guess_name(struct sighting *sighting)
{
	const struct sbx_blob *blob = sighting->explaining->blob;
	struct sbx_denial *denial = &sighting->denial, guess = { .port = 0 };
	struct sbx_name_verdict verdict;
	char name[SBX_NAME_SIZE];

	read_program(sighting->caller, guess.program);
	destination_guess(sighting->caller, &guess);
	/* An address is no such name. */
	if (!sbx_name_normal(guess.path, strlen(guess.path), name))
		return;
	verdict = sbx_name_verdict(blob, KERNEL_WHERE, name,
	    guess.port != 0 ? guess.port : 443);
	denial->kind = SBX_DENIED_NAME;
	denial->port = guess.port;
	denial->verdict = verdict.rule == UINT32_MAX ? PROXY_NO_RULE :
						       PROXY_DENIED;
	denial->source = verdict.rule == UINT32_MAX ?
	    SBX_NO_SOURCE :
	    blob->names[verdict.rule].source;
	memcpy(denial->path, name, strlen(name) + 1);
}

/* From a network of its own no way leads to an address that no rule names. */
static bool
judge_way(struct sighting *sighting, const struct sockaddr *address, size_t len)
{
	uint8_t bytes[SBX_ADDRESS_SIZE] = { [10] = 0xff, [11] = 0xff };
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	uint16_t port = ntohs(in->sin_port);

	if (address->sa_family == AF_INET)
		memcpy(bytes + 12, &in->sin_addr, sizeof in->sin_addr);
	else if (len < offsetof(struct sockaddr_in6, sin6_scope_id))
		return false;
	else
		memcpy(bytes, &in6->sin6_addr, sizeof bytes);
	if (!(judge_endpoint(sighting->explaining, bytes, port,
		  &sighting->denial) ||
		loopback_judge(sighting->caller, bytes, port,
		    &sighting->denial)) ||
	    !is_meant(sighting->caller, port))
		return false;
	if (port == NAME_SERVERS && sighting->denial.verdict == PROXY_NO_RULE)
		guess_name(sighting);
	return true;
}

/* What is refused beside single ways out, sbx-proxy and the supervisor tell. */
static bool
has_own_loopback(const struct listening *listening)
{
	return listening->own_network ||
	    (listening->inside && !listening->selected);
}

static bool
judge_address(struct sighting *sighting)
{
	const uint64_t *args = sighting->caller->call.args;
	union {
		struct sockaddr any;
		struct sockaddr_un local;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} address = { .any = { .sa_family = AF_UNSPEC } };
	size_t len = args[2] < sizeof address.local ? (size_t)args[2] :
						      sizeof address.local;
	uint8_t op = sighting->observed->act == CONNECT ? SBX_CONNECT_TCP :
							  SBX_LISTEN_TCP;

	if (len <= offsetof(struct sockaddr_un, sun_path) ||
	    caller_read(sighting->caller, args[1], &address, len) != 0)
		return false;
	if (address.any.sa_family == AF_UNIX)
		return judge_local(sighting, &address.local, len);
	/* Both have the port at the same place. */
	if ((address.any.sa_family != AF_INET &&
		address.any.sa_family != AF_INET6) ||
	    len < sizeof address.in)
		return false;
	if (sighting->explaining->learning != NULL)
		wish_address(sighting, &address.in6);
	if (has_own_loopback(sighting->caller->listening) &&
	    sighting->observed->act == CONNECT)
		return judge_way(sighting, &address.any, len);
	return judge_port(sighting->explaining, op, ntohs(address.in.sin_port),
		   &sighting->denial) ||
	    (op == SBX_LISTEN_TCP &&
		beyond_port(ntohs(address.in.sin_port), &sighting->denial));
}

/* -------------------------------------------------------------------------- */

/* What no rule decides; of what is opened, that there are too many files. */
static bool
is_beyond(struct sighting *sighting)
{
	struct sbx_denial *denial = &sighting->denial;
	bool opens = sighting->observed->act == OPEN ||
	    sighting->observed->act == OPEN_HOW;
	uint32_t kind = denial->kind;

	denial->kind = SBX_DENIED_CALL;
	denial->source = SBX_NO_SOURCE;
	if (opens ? beyond_files(sighting->caller, denial) :
		    beyond_judge(sighting->caller, sighting->asked.path.text,
			denial)) {
		sighting->asked.wanted = false;
		return true;
	}
	denial->kind = kind;
	denial->obstacle = SBX_NO_OBSTACLE;
	return false;
}

static bool
look_at(struct sighting *sighting)
{
	const struct asked *asked = &sighting->asked;

	sighting->denial.number = sighting->caller->call.number;
	if (sighting->observed->act == BEYOND)
		return is_beyond(sighting);
	if (sighting->observed->act == CONNECT ||
	    sighting->observed->act == BIND)
		return judge_address(sighting);
	if (!set_act(sighting) || !read_path(sighting))
		return false;
	if (judge(sighting->explaining, &sighting->asked, &sighting->denial))
		return true;
	if (asked->act == ACT_WRITE || asked->act == ACT_CREATE ||
	    asked->act == ACT_MAKE)
		explain_wrote(sighting->explaining, &asked->path);
	return false;
}

/* A stderr that nobody reads must not keep the command waiting. */
static void
add(struct explaining *explaining, const struct sbx_denial *denial)
{
	struct pollfd wait = { .fd = STDERR_FILENO, .events = POLLOUT };
	const struct sbx_denial *added = explain_add(explaining, denial);

	if (added != NULL && explaining->live && !added->probe &&
	    poll(&wait, 1, 0) > 0)
		explain_say(explaining, added);
}

/* A name in /proc is the caller's only while it waits. */
static void
note(struct sighting *sighting)
{
	read_program(sighting->caller, sighting->denial.program);
	if (caller_waits(sighting->caller))
		add(sighting->explaining, &sighting->denial);
}

/* What the command gets, as far as that follows from the policy: at level full
 * a place without rights is not there, or on a read-only mount. */
static int32_t
errno_of(const struct sighting *sighting)
{
	const struct explaining *explaining = sighting->explaining;
	struct sbx_place at = sbx_place_of(sighting->denial.path);

	if (!explaining->view || sighting->denial.kind > SBX_DENIED_SOCKET)
		return EACCES;
	if (!rule_index_allows(explaining->binding->index, SBX_READ, at))
		return ENOENT;
	return sighting->denial.kind == SBX_DENIED_WRITE ? EROFS : EACCES;
}

/* For --learn: what works, or would without the policy. */
static void
learn(const struct sighting *sighting, bool denied)
{
	struct learning *learning = sighting->explaining->learning;
	const struct asked *asked = &sighting->asked;
	struct wanted wish = {
		.kind = (uint8_t)sighting->denial.kind,
		.makes = asked->makes,
		.probe = asked->act == ACT_LOOK &&
		    sighting->caller->call.number != SYS_chdir,
		.text = asked->path.text,
		.len = asked->path.len,
	};
	struct wanted *added;

	if (learning == NULL || !asked->wanted)
		return;
	if (sighting->wish.text != NULL)
		wish = sighting->wish;
	wish.denied = denied;
	wish.error = denied ? errno_of(sighting) : 0;
	added = learn_add(learning, &wish);
	if (added != NULL)
		read_program(sighting->caller, added->program);
}

/* The paths, which are long and mostly unused, are left as they are. */
static void
sighting_begin(struct sighting *sighting, const struct caller *caller,
    const struct observed *row)
{
	sighting->caller = caller;
	sighting->observed = row;
	sighting->explaining = caller->listening->explaining;
	sighting->asked.act = ACT_END;
	sighting->asked.no_follow = false;
	sighting->asked.fresh = false;
	sighting->asked.dots = false;
	sighting->asked.wanted = false;
	sighting->asked.makes = false;
	sighting->wish.text = NULL;
	path_cut(&sighting->asked.path, 0);
	memset(&sighting->denial, 0, offsetof(struct sbx_denial, path) + 1);
}

static const struct observed *
find(int number, const struct observed *row)
{
	const struct observed *end = observed + countof(observed);

	for (row = row == NULL ? observed : row + 1; row < end; row++) {
		if (row->number == number)
			return row;
	}
	return NULL;
}

static void
look(const struct caller *caller)
{
	const struct observed *row = NULL;

	while ((row = find(caller->call.number, row)) != NULL) {
		struct sighting sighting;
		bool denied;

		sighting_begin(&sighting, caller, row);
		denied = look_at(&sighting);
		if (denied || is_beyond(&sighting))
			note(&sighting);
		learn(&sighting, denied);
	}
}

/* At level full a socket that the view lacks is not there. */
static bool
may_be_why(const struct sighting *sighting, int64_t result)
{
	return result == ANSWER_GO_ON || result == -EACCES ||
	    result == -EPERM ||
	    (sighting->denial.obstacle != SBX_NO_OBSTACLE &&
		(result == -ECONNREFUSED || result == -EINVAL)) ||
	    (result == -ENOENT && sighting->explaining->view) ||
	    (result == -ENETUNREACH &&
		(sighting->denial.kind == SBX_DENIED_ADDRESS ||
		    sighting->denial.kind == SBX_DENIED_NAME)) ||
	    (sighting->denial.kind == SBX_DENIED_HOST &&
		(result == -ECONNREFUSED ||
		    (result == -EINPROGRESS &&
			sighting->caller->listening->own_network)));
}

/* Where the command may write, it may connect to its own servers alone. */
static bool
is_strange_server(struct sighting *sighting, int64_t result)
{
	return result == -EACCES && sighting->asked.act == ACT_CONNECT &&
	    judge_server(&sighting->asked, &sighting->denial);
}

/* What the supervisor answers itself was denied only if it refused. */
static int64_t
look_and_answer(const struct caller *caller)
{
	const struct observed *row = find(caller->call.number, NULL);
	struct sighting sighting;
	int64_t result;
	bool denied;

	if (row == NULL)
		return answer(caller);
	sighting_begin(&sighting, caller, row);
	denied = look_at(&sighting);
	result = answer(caller);
	denied = denied ? may_be_why(&sighting, result) :
			  is_strange_server(&sighting, result) ||
		((result == -EPERM || result == -EINVAL) &&
		    is_beyond(&sighting));
	if (denied)
		note(&sighting);
	learn(&sighting, denied);
	return result;
}

/* For --learn: a call that the filter refuses. */
static void
learn_call(struct explaining *explaining, const struct sbx_denial *denial)
{
	struct wanted wish = {
		.kind = SBX_DENIED_CALL,
		.denied = true,
		.probe = denial->probe,
		.number = denial->number,
		.error = (int32_t)denial->error,
		.text = "",
	};
	struct wanted *added;

	if (explaining->learning == NULL)
		return;
	memcpy(wish.args, denial->args, sizeof wish.args);
	added = learn_add(explaining->learning, &wish);
	if (added != NULL)
		memcpy(added->program, denial->program, sizeof added->program);
}

/* With ENOSYS a library learns that there is no such call, and takes
 * another. */
static void
note_call(const struct caller *caller, uint32_t error)
{
	struct sbx_denial denial = {
		.kind = SBX_DENIED_CALL,
		.source = SBX_NO_SOURCE,
		.number = caller->call.number,
		.error = error,
	};

	if (error == ENOSYS)
		return;
	for (int i = 0; i < SBX_DENIAL_ARGS; i++)
		denial.args[i] = caller->call.number == SYS_socket ?
		    (uint32_t)caller->call.args[i] :
		    0;
	/* Programs with secrets try to hide, and go on if they cannot. */
	denial.probe = caller->call.number == SYS_prctl &&
	    (int)caller->call.args[0] == PR_SET_DUMPABLE;
	if (caller->call.number == SYS_socket) {
		/* Both internets are one to a policy, and the flags are nothing
		 * to it. */
		if (denial.args[0] == AF_INET6)
			denial.args[0] = AF_INET;
		denial.args[1] &= ~(uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK);
		denial.args[2] = 0;
		/* Libraries ask for the machine's addresses and for the
		 * system's log in passing, and are content with neither. */
		denial.probe = denial.args[0] == AF_NETLINK ||
		    (denial.args[0] == AF_UNIX && denial.args[1] == SOCK_DGRAM);
	}
	read_program(caller, denial.program);
	if (caller->call.number == SYS_socket && !denial.probe)
		destination_guess(caller, &denial);
	add(caller->listening->explaining, &denial);
	learn_call(caller->listening->explaining, &denial);
}

int64_t
observe(const struct caller *caller)
{
	enum { ACTION = 0xffff0000, ERRNO = 0xffff };
	const struct explaining *explaining = caller->listening->explaining;
	struct syscall_data data = {
		.number = caller->call.number,
		.audit = caller->call.arch,
		.instruction_pointer = caller->call.instruction_pointer,
	};
	uint32_t said;

	memcpy(data.args, caller->call.args, sizeof data.args);
	said = bpf_run_loaded(explaining->filter, &data);
	switch (said & ACTION) {
	case SECCOMP_RET_ALLOW &ACTION:
		look(caller);
		return ANSWER_GO_ON;
	case SECCOMP_RET_ERRNO:
		if (bpf_run_loaded(explaining->filter + explaining->guard,
			&data) == said)
			note_call(caller, said & ERRNO);
		return -(int64_t)(said & ERRNO);
	case SECCOMP_RET_USER_NOTIF:
		return look_and_answer(caller);
	default:
		return -EPERM;
	}
}

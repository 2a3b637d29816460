/*
 * System V's objects below level full, where all processes of the machine share
 * them.  The command gets objects of its own and no others: the supervisor
 * makes each one itself, and keeps a list.
 *
 * A key that the command names means something in the list alone.  In the
 * kernel an object has a random key, so that no process outside finds it by the
 * key that both know, and the command finds nothing of theirs.  A number that
 * is not in the list is that of no object.
 *
 * These calls are the only ones that go on in the kernel after they have been
 * judged (ANSWER_GO_ON), because they can neither be made for another process
 * (shmat) nor be waited for here (semop).  What was judged is what happens:
 *
 * - The verdict depends on the call and on the number of the object alone.
 * Both
 *   are in registers, which nobody changes while the thread waits: a tracer
 *   needs it stopped, and a stop makes the call begin anew.  What else the call
 *   points to says what to do with the object, not with which one.
 * - A number cannot mean another object meanwhile.  The command makes and
 *   removes objects through the supervisor alone.  When one is gone, the kernel
 *   gives its number again after 65536 rounds through the free ones
 *   (ipc_idr_alloc() of ipc/util.c, Linux 5.2), which are 21 or more: a process
 *   outside would have to make more than a million objects before a thread that
 *   was let go on enters the kernel's function.  Four millions were counted where
 *   there were few others.  A machine that was booted with ipcmni_extend has 128
 *   rounds, through 1365 or more.
 * - An object that was removed by somebody else, at any time before, is
 * noticed:
 *   the kernel is asked for the random key, and must answer with the number.
 */
#include "runtime/listen/listen.h"

#include "runtime/base/out.h"
#include "runtime/listen/answers.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

enum {
	/* The whole machine has 4096 segments.  */
	OBJECTS_MAX = 64,
	/* Of a set: their memory is the supervisor's, which no group limits. */
	SEMAPHORES_MAX = 1024,
	TRIES = 8, /* of a random key */
};

/* LEFT: a segment that was removed while somebody had it attached.  The kernel
 * keeps it, and its number, until the last one detaches it, so it counts. */
enum object_kind { NO_OBJECT, SEGMENT, SEMAPHORES, QUEUE, LEFT };

struct object {
	uint8_t kind;
	uid_t owner;
	int32_t asked; /* the key that the command named, or IPC_PRIVATE */
	int32_t key;   /* the one in the kernel */
	int32_t id;
};

struct objects {
	struct object list[OBJECTS_MAX];
};

/* Commands of the call that controls are in a set, as bits: those that are
 * about one object, by its number, and no others'. */
static const struct interface {
	long get, control;
	uint8_t flags, command; /* which argument they are */
	uint32_t commands;
} interfaces[] = {
	[SEGMENT] = { SYS_shmget, SYS_shmctl, 2, 1,
	    1U << IPC_STAT | 1U << IPC_SET | 1U << SHM_LOCK |
		1U << SHM_UNLOCK },
	[SEMAPHORES] = { SYS_semget, SYS_semctl, 2, 2,
	    1U << IPC_STAT | 1U << IPC_SET | 1U << GETPID | 1U << GETVAL |
		1U << GETALL | 1U << GETNCNT | 1U << GETZCNT | 1U << SETVAL |
		1U << SETALL },
	[QUEUE] = { SYS_msgget, SYS_msgctl, 1, 1,
	    1U << IPC_STAT | 1U << IPC_SET },
	[LEFT] = { SYS_shmget, SYS_shmctl, 2, 1, 0 },
};

enum action { GET, USE, CONTROL };

static const struct layout {
	int number;
	uint8_t kind, action;
} layouts[] = {
	{ SYS_shmget, SEGMENT, GET },
	{ SYS_shmat, SEGMENT, USE },
	{ SYS_shmctl, SEGMENT, CONTROL },
	{ SYS_semget, SEMAPHORES, GET },
	{ SYS_semop, SEMAPHORES, USE },
	{ SYS_semtimedop, SEMAPHORES, USE },
	{ SYS_semctl, SEMAPHORES, CONTROL },
	{ SYS_msgget, QUEUE, GET },
	{ SYS_msgsnd, QUEUE, USE },
	{ SYS_msgrcv, QUEUE, USE },
	{ SYS_msgctl, QUEUE, CONTROL },
};

/* --- the list ------------------------------------------------------------- */

struct objects *
objects_open(void)
{
	void *list = mmap(NULL, sizeof(struct objects), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (list == MAP_FAILED)
		refuse(NULL, "cannot keep a list of shared objects", errno);
	return list;
}

static long
control(const struct object *object, int command, void *value)
{
	const struct interface *interface = &interfaces[object->kind];

	return interface->command == 1 ?
	    syscall(interface->control, object->id, command, value) :
	    syscall(interface->control, object->id, 0, command, value);
}

/* Its key is gone. */
static bool
is_left(const struct object *object)
{
	struct shmid_ds status;

	if (control(object, IPC_STAT, &status) != 0)
		return errno != EINVAL && errno != EIDRM;
	return (status.shm_perm.mode & SHM_DEST) != 0;
}

/* Whether it still is what was made; if not, its place is free. */
static bool
is_there(struct object *object)
{
	if (object->kind == LEFT && is_left(object))
		return true;
	if (object->kind != NO_OBJECT && object->kind != LEFT &&
	    syscall(interfaces[object->kind].get, object->key, 0, 0) ==
		object->id)
		return true;
	object->kind = NO_OBJECT;
	return false;
}

static struct object *
find(struct objects *objects, uint8_t kind, const int32_t *asked,
    const int32_t *id)
{
	for (int i = 0; i < OBJECTS_MAX; i++) {
		struct object *object = &objects->list[i];

		if (object->kind == kind &&
		    (asked == NULL || object->asked == *asked) &&
		    (id == NULL || object->id == *id) && is_there(object))
			return object;
	}
	return NULL;
}

static struct object *
find_free(struct objects *objects)
{
	for (int i = 0; i < OBJECTS_MAX; i++) {
		if (!is_there(&objects->list[i]))
			return &objects->list[i];
	}
	return NULL;
}

void
objects_remove(struct objects *objects)
{
	for (int i = 0; objects != NULL && i < OBJECTS_MAX; i++) {
		if (objects->list[i].kind != LEFT &&
		    is_there(&objects->list[i]))
			control(&objects->list[i], IPC_RMID, NULL);
	}
}

/* --- making one ----------------------------------------------------------- */

/* Root's command may have become somebody else, who then is to use it. */
static bool
give_to(const struct object *object, const struct user *user)
{
	union {
		struct ipc_perm owner; /* each begins with it */
		struct shmid_ds segment;
		struct semid_ds semaphores;
		struct msqid_ds queue;
	} status;

	if (user->uid == geteuid() && user->gid == getegid())
		return true;
	if (control(object, IPC_STAT, &status) != 0)
		return false;
	status.owner.uid = user->uid;
	status.owner.gid = user->gid;
	return control(object, IPC_SET, &status) == 0;
}

/* The object's number, or -1. */
static int32_t
make_with(const struct caller *caller, struct object *object)
{
	const struct interface *interface = &interfaces[object->kind];
	uint64_t args[3] = { 0, caller->call.args[1], caller->call.args[2] };

	args[interface->flags] |= IPC_CREAT | IPC_EXCL;
	errno = EEXIST;
	for (int i = 0; i < TRIES && errno == EEXIST; i++) {
		if (syscall(SYS_getrandom, &object->key, sizeof object->key,
			0) != sizeof object->key)
			return -1;
		if (object->key == IPC_PRIVATE)
			continue;
		object->id = (int32_t)syscall(interface->get, object->key,
		    args[1], args[2]);
		if (object->id >= 0)
			return object->id;
	}
	return -1;
}

static int64_t
make(const struct caller *caller, uint8_t kind)
{
	struct object *object = find_free(caller->listening->objects);
	struct user user;

	if (object == NULL)
		return -ENOSPC;
	if (kind == SEMAPHORES &&
	    (uint32_t)caller->call.args[1] > SEMAPHORES_MAX)
		return -EINVAL;
	if (!caller_user(caller, &user) || !caller_waits(caller))
		return -EPERM;
	*object = (struct object){
		.kind = kind,
		.owner = user.uid,
		.asked = (int32_t)caller->call.args[0],
		.id = -1,
	};
	if (make_with(caller, object) < 0) {
		object->kind = NO_OBJECT;
		return -errno;
	}
	if (give_to(object, &user))
		return object->id;
	control(object, IPC_RMID, NULL);
	object->kind = NO_OBJECT;
	return -EPERM;
}

/* --- the calls ------------------------------------------------------------ */

/* The kernel compares size and mode. */
static int64_t
get_again(const struct caller *caller, const struct object *object)
{
	const struct interface *interface = &interfaces[object->kind];
	uint64_t args[3] = { 0, caller->call.args[1], caller->call.args[2] };
	long id;

	args[interface->flags] &= ~(uint64_t)(IPC_CREAT | IPC_EXCL);
	id = syscall(interface->get, object->key, args[1], args[2]);
	return id < 0 ? -errno : id == object->id ? id : -EIDRM;
}

static int64_t
get(const struct caller *caller, uint8_t kind)
{
	uint64_t flags = caller->call.args[interfaces[kind].flags];
	int32_t asked = (int32_t)caller->call.args[0];
	struct object *object = asked == IPC_PRIVATE ?
	    NULL :
	    find(caller->listening->objects, kind, &asked, NULL);

	if (object == NULL && asked != IPC_PRIVATE && (flags & IPC_CREAT) == 0)
		return -ENOENT;
	if (object == NULL)
		return make(caller, kind);
	if ((flags & IPC_CREAT) != 0 && (flags & IPC_EXCL) != 0)
		return -EEXIST;
	return get_again(caller, object);
}

/* Here, so that its number is known to be gone. */
static int64_t
remove_one(const struct caller *caller, struct object *object)
{
	struct user user;

	if (!caller_user(caller, &user) || !caller_waits(caller) ||
	    (user.uid != 0 && user.uid != object->owner) ||
	    control(object, IPC_RMID, NULL) != 0)
		return -EPERM;
	object->kind = object->kind == SEGMENT ? LEFT : NO_OBJECT;
	return 0;
}

static int64_t
use(const struct caller *caller, const struct layout *layout)
{
	const struct interface *interface = &interfaces[layout->kind];
	int32_t id = (int32_t)caller->call.args[0];
	uint32_t command = (uint32_t)caller->call.args[interface->command];
	struct object *object = find(caller->listening->objects, layout->kind,
	    NULL, &id);

	if (object == NULL)
		return -EINVAL;
	if (layout->action == USE)
		return ANSWER_GO_ON;
	if (command == IPC_RMID)
		return remove_one(caller, object);
	return command < 32 && (interface->commands >> command & 1) != 0 ?
	    ANSWER_GO_ON :
	    -EINVAL;
}

int64_t
answer_objects(const struct caller *caller)
{
	/* At level full the sandbox has a namespace of its own. */
	if (caller->listening->objects == NULL)
		return -EPERM;
	for (size_t i = 0; i < countof(layouts); i++) {
		if (layouts[i].number != caller->call.number)
			continue;
		return layouts[i].action == GET ? get(caller, layouts[i].kind) :
						  use(caller, &layouts[i]);
	}
	return -EPERM;
}

/*
 * What the probe does with System V's objects.
 */
#include "tests/kernel/probe.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	SIZE = 8192,
	THREADS = 8,
	ROUNDS = 50,
	LEFT_MAX = 100,
	OBJECTS_MAX = 64
};

struct letter {
	long type;
	char text[16];
};

/* --- objects of one's own ------------------------------------------------- */

/* Another process sees what this one has written; then the segment goes. */
static int
use_segment(int id)
{
	struct shmid_ds status;
	char *memory = shmat(id, NULL, 0);
	int end;
	pid_t child;

	if (memory == (void *)-1)
		return errno;
	strcpy(memory, "here");
	child = fork();
	if (child == 0) {
		char *again = shmat(id, NULL, SHM_RDONLY);

		_exit(again == (void *)-1     ? errno :
			strcmp(again, "here") ? EPROTO :
						shmdt(again));
	}
	end = wait_for(child);
	if (end != 0)
		return end;
	if (shmctl(id, IPC_STAT, &status) != 0)
		return errno;
	if (status.shm_nattch != 1 || status.shm_segsz != SIZE)
		return EPROTO;
	return result(shmdt(memory) != 0 ? -1 : shmctl(id, IPC_RMID, NULL));
}

static int
segments(void)
{
	enum { KEY = 0x5b7 };
	int id = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0600), again;
	int end = id < 0 ? errno : use_segment(id);

	if (end != 0)
		return end;
	if (shmat(id, NULL, 0) != (void *)-1 || errno != EINVAL)
		return EPROTO;
	id = shmget(KEY, SIZE, IPC_CREAT | IPC_EXCL | 0600);
	again = shmget(KEY, 0, 0);
	if (id < 0 || again != id)
		return id < 0 || again < 0 ? errno : EPROTO;
	if (shmget(KEY, SIZE, IPC_CREAT | IPC_EXCL | 0600) >= 0 ||
	    errno != EEXIST || shmget(KEY, SIZE + 1, 0) >= 0 || errno != EINVAL)
		return EPROTO;
	end = use_segment(id);
	if (end != 0)
		return end;
	return shmget(KEY, 0, 0) < 0 && errno == ENOENT ? 0 : EPROTO;
}

/* A child waits until this process lets it go on. */
static int
semaphores(void)
{
	struct sembuf down = { 0, -1, 0 }, up = { 0, 1, SEM_UNDO };
	struct timespec moment = { 0, 1000000 };
	int id = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600), end;
	pid_t child;

	if (id < 0)
		return errno;
	child = fork();
	if (child == 0)
		_exit(semop(id, &down, 1) != 0 ? errno : 0);
	usleep(20000);
	if (semop(id, &up, 1) != 0)
		return errno;
	end = wait_for(child);
	if (end != 0)
		return end;
	if (semtimedop(id, &down, 1, &moment) == 0 || errno != EAGAIN)
		return EPROTO;
	if (semctl(id, 1, SETVAL, 7) != 0 || semctl(id, 1, GETVAL) != 7)
		return EPROTO;
	return result(semctl(id, 0, IPC_RMID));
}

static int
queues(void)
{
	struct letter letter = { 1, "hello" }, got;
	int id = msgget(0x5b8, IPC_CREAT | 0600), end;
	struct msqid_ds status;
	pid_t child;

	if (id < 0)
		return errno;
	child = fork();
	if (child == 0)
		_exit(msgrcv(id, &got, sizeof got.text, 0, 0) < 0 ? errno :
			strcmp(got.text, "hello")                 ? EPROTO :
								    0);
	usleep(20000);
	if (msgsnd(id, &letter, sizeof letter.text, 0) != 0)
		return errno;
	end = wait_for(child);
	if (end != 0)
		return end;
	if (msgctl(id, IPC_STAT, &status) != 0)
		return errno;
	status.msg_perm.mode = 0640;
	if (msgctl(id, IPC_SET, &status) != 0)
		return errno;
	return result(msgctl(id, IPC_RMID, NULL));
}

static int
try_objects(char **words, int count)
{
	static int (*const kinds[])(void) = { segments, semaphores, queues };
	int end = 0;

	(void)words;
	(void)count;
	for (size_t i = 0; i < countof(kinds) && end == 0; i++)
		end = kinds[i]();
	return end;
}

static void *
make_and_remove(void *failed)
{
	int *end = failed;

	for (int i = 0; i < ROUNDS; i++) {
		int id = semget(IPC_PRIVATE, 1, 0600);

		if (id < 0 || semctl(id, 0, SETVAL, 1) != 0 ||
		    semctl(id, 0, IPC_RMID) != 0)
			*end = EPROTO;
	}
	return NULL;
}

static int
try_objects_threads(char **words, int count)
{
	pthread_t threads[THREADS];
	int ends[THREADS] = { 0 }, worst = 0;

	(void)words;
	(void)count;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, make_and_remove, &ends[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		worst = ends[i] != 0 ? ends[i] : worst;
	}
	return worst;
}

/* As root's daemons do. */
static int
try_objects_as(char **words, int count)
{
	uid_t uid = (uid_t)number(words[0]);

	if (setregid(uid, uid) != 0 || setreuid(uid, uid) != 0)
		return errno;
	return try_objects(words + 1, count - 1);
}

/* Removes it as another user: the real one, or the effective one alone. */
static int
remove_as(int id, uid_t real, uid_t effective)
{
	pid_t child = fork();

	if (child == 0)
		_exit(setresuid(real, effective, real) != 0 ? EPROTO :
			semctl(id, 0, IPC_RMID) != 0        ? errno :
							      0);
	return wait_for(child);
}

/* objects-others UID: nobody removes what a superuser has made; and what is made
 * by a superuser's process that is somebody else belongs to that one. */
static int
try_objects_others(char **words, int count)
{
	uid_t uid = (uid_t)number(words[0]);
	int id = semget(IPC_PRIVATE, 1, 0600), as_real, as_effective;
	union {
		struct semid_ds *status;
	} argument;
	struct semid_ds status;

	(void)count;
	if (id < 0)
		return errno;
	as_real = remove_as(id, uid, uid);
	as_effective = remove_as(id, 0, uid);
	if (as_real != EPERM || as_effective != EPERM)
		return EPROTO;
	if (semctl(id, 0, IPC_RMID) != 0 || setresgid(0, uid, 0) != 0 ||
	    setresuid(0, uid, 0) != 0)
		return errno;
	argument.status = &status;
	id = semget(IPC_PRIVATE, 1, 0600);
	if (id < 0 || semctl(id, 0, IPC_STAT, argument) != 0)
		return errno;
	return status.sem_perm.uid != uid || status.sem_perm.gid != uid ?
	    EXDEV :
	    remove_as(id, uid, uid);
}

/* --- objects that stay ---------------------------------------------------- */

static const struct name kinds[] = {
	{ "shm", SYS_shmget },
	{ "sem", SYS_semget },
	{ "msg", SYS_msgget },
};

static long
get_object(unsigned long kind, long key, long flags)
{
	return kind == SYS_msgget ? syscall(SYS_msgget, key, flags) :
				    syscall((long)kind, key, 1L, flags);
}

/* Makes one and says its number. */
static int
try_object_make(char **words, int count)
{
	char line[32];
	long id = get_object(LOOK_UP(kinds, words[0]), (long)number(words[1]),
	    IPC_CREAT | 0600);

	(void)count;
	if (id < 0)
		return errno;
	snprintf(line, sizeof line, "%ld", id);
	say(line);
	return SAID;
}

static int
try_object_find(char **words, int count)
{
	(void)count;
	return result(
	    get_object(LOOK_UP(kinds, words[0]), (long)number(words[1]), 0));
}

/* A set of so many. */
static int
try_semaphores(char **words, int count)
{
	int id = semget(IPC_PRIVATE, (int)number(words[0]), 0600);

	(void)count;
	return result(id < 0 ? -1 : semctl(id, 0, IPC_RMID));
}

/* Until no more can be made. */
/* As many as the supervisor knows, and why there are no more. */
static int
try_object_fill(char **words, int count)
{
	unsigned long kind = LOOK_UP(kinds, words[0]);
	int made = 0;

	(void)count;
	while (made < 1000 && get_object(kind, IPC_PRIVATE, 0600) >= 0)
		made++;
	return made == OBJECTS_MAX ? errno : EPROTO;
}

/* The kernel keeps a segment that was removed until nobody has it attached. */
static int
try_segments_left(char **words, int count)
{
	void *where, *last = NULL;
	int made = 0, end = 0;

	(void)words;
	(void)count;
	while (made < LEFT_MAX && end == 0) {
		int id = shmget(IPC_PRIVATE, 1, 0600);

		where = id < 0 ? (void *)-1 : shmat(id, NULL, 0);
		if (where == (void *)-1)
			end = errno;
		else if (shmctl(id, IPC_RMID, NULL) != 0)
			return errno;
		else
			last = where;
		made++;
	}
	/* One that is detached makes room for another one. */
	if (last != NULL && shmdt(last) != 0)
		return errno;
	if (end == ENOSPC && shmget(IPC_PRIVATE, 1, 0600) < 0)
		return EPROTO;
	return end;
}

static int
try_object_command(char **words, int count)
{
	static char room[4096];
	long id = (long)number(words[1]), command = (long)number(words[2]);

	(void)count;
	switch (LOOK_UP(kinds, words[0])) {
	case SYS_shmget:
		return result(syscall(SYS_shmctl, id, command, room));
	case SYS_semget:
		return result(syscall(SYS_semctl, id, 0L, command, room));
	default:
		return result(syscall(SYS_msgctl, id, command, room));
	}
}

/* An operation that does nothing but need the object. */
static int
try_object_use(char **words, int count)
{
	struct sembuf none = { 0, 0, IPC_NOWAIT };
	struct letter letter = { 1, "" };
	long id = (long)number(words[1]);

	(void)count;
	switch (LOOK_UP(kinds, words[0])) {
	case SYS_shmget:
		return result(syscall(SYS_shmat, id, NULL, 0L) == -1 ? -1 : 0);
	case SYS_semget:
		return result(syscall(SYS_semop, id, &none, 1L));
	default:
		return result(
		    syscall(SYS_msgsnd, id, &letter, 1L, (long)IPC_NOWAIT));
	}
}

/* clang-format off */
const struct operation object_operations[] = {
	{"objects", 0, 0, try_objects},
	{"objects-threads", 0, 0, try_objects_threads},
	{"objects-as", 1, 1, try_objects_as},
	{"objects-others", 1, 1, try_objects_others},
	{"object-make", 2, 2, try_object_make},
	{"object-find", 2, 2, try_object_find},
	{"semaphores", 1, 1, try_semaphores},
	{"object-fill", 1, 1, try_object_fill},
	{"segments-left", 0, 0, try_segments_left},
	{"object-command", 3, 3, try_object_command},
	{"object-use", 2, 2, try_object_use},
	{NULL, 0, 0, NULL},
};
/* clang-format on */

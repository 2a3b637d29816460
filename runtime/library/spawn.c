/*
 * A command in a sandbox: the calling thread prepares everything that needs
 * memory, and the processes of launch.c carry it out.
 */
#include "runtime/apply/apply.h"
#include "runtime/library/library.h"
#include "runtime/session/offer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A command that is being started; the processes write what failed. */
struct spawning {
	const struct sbx_sandbox *sandbox;
	const struct sbx_command *command;
	struct launch launch;
	struct placing placing;
	struct environment environment;
	char **argv;      /* a copy, whose argv[-1] is free */
	const char *path; /* the PATH inside, or NULL */
	int tree;
	enum sbx_error_kind kind;
	int which; /* the descriptor that it is about, or -1 */
	char directory[2 * STREAM_PATH];
	struct streams streams;
};

/* --- the processes -------------------------------------------------------- */

static const char *
enter(void *plan)
{
	struct spawning *spawning = plan;
	const char *fault;

	spawning->kind = SBX_ERROR_ENDED;
	fault = enter_process(&spawning->sandbox->offer,
	    spawning->command->tree != NULL);
	if (fault != NULL)
		return fault;
	spawning->kind = SBX_ERROR_SYSTEM;
	if (spawning->command->tree == NULL)
		return NULL;
	/* The caller's descriptors are ours. */
	spawning->tree = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
	return spawning->tree < 0 ?
	    "cannot open the mark by which the command's processes are known" :
	    NULL;
}

static const char *
take_place(struct spawning *spawning)
{
	const struct offer *offer = &spawning->sandbox->offer;
	const char *given = spawning->command->directory, *fault;
	struct stat outside;

	spawning->kind = SBX_ERROR_DESCRIPTOR;
	fault = placing_apply(&spawning->placing, &spawning->which);
	if (fault == NULL)
		fault = placing_check(&spawning->placing, &spawning->which);
	if (fault == NULL)
		fault = streams_find(&spawning->streams, &spawning->which);
	if (fault != NULL)
		return fault;
	spawning->kind = SBX_ERROR_SYSTEM;
	fault = start_group(spawning->command->flags);
	if (fault != NULL)
		return fault;
	spawning->kind = SBX_ERROR_ENDED;
	if (stat(given != NULL ? given : ".", &outside) != 0)
		outside.st_ino = 0;
	fault = enter_place(offer, NULL);
	if (fault != NULL)
		return fault;
	spawning->kind = SBX_ERROR_DIRECTORY;
	if (chdir(spawning->directory) != 0)
		return "the sandbox does not have this directory";
	fault = enter_fault(offer, spawning->directory, &outside);
	if (fault != NULL)
		return fault;
	spawning->kind = SBX_ERROR_DESCRIPTOR;
	return streams_enter(&spawning->streams, &spawning->which);
}

/* A command that stays in the caller's process group, see session/enter.c. */
static bool
is_guarded(unsigned flags)
{
	return (flags & SBX_SAME_GROUP) != 0 &&
	    (flags & (SBX_NEW_SESSION | SBX_TERMINAL)) == 0;
}

static const char *
become(void *plan)
{
	struct spawning *spawning = plan;
	unsigned flags = spawning->command->flags;
	const char *fault = take_place(spawning);
	int error;

	if (fault != NULL)
		return fault;
	spawning->kind = SBX_ERROR_CONFINE;
	fault = enter_restricted(&spawning->sandbox->offer,
	    spawning->sandbox->socket, is_guarded(flags));
	if (fault != NULL)
		return fault;
	launch_signals(&spawning->launch, (flags & SBX_KEEP_SIGNALS) != 0);
	launch_ready(&spawning->launch);
	error = execute_try(spawning->argv, spawning->environment.variables,
	    spawning->path);
	fault = execute_fault(spawning->argv[0], error);
	spawning->kind = error == ENOENT ? SBX_ERROR_NOT_FOUND :
					   SBX_ERROR_NOT_EXECUTED;
	errno = error;
	return fault;
}

/* --- what the call is about ----------------------------------------------- */

static bool
check_command(const struct sbx_command *command, struct sbx_error *error)
{
	const unsigned flags = SBX_UNSUPERVISED | SBX_KEEP_SIGNALS |
	    SBX_SAME_GROUP | SBX_NEW_SESSION | SBX_TERMINAL | SBX_EXPLAIN;
	const char *wrong = NULL;

	if (command == NULL || command->size < sizeof command->size ||
	    !arguments_known(command, command->size, sizeof *command))
		wrong = "the command is of another version of the library";
	else if (command->argv == NULL || command->argv[0] == NULL)
		wrong = "there is no command";
	else if ((command->flags & ~flags) != 0)
		wrong = "an unknown flag";
	else if (command->record != 0 &&
	    (command->record < STREAM_COUNT ||
		(command->flags & SBX_UNSUPERVISED) != 0))
		wrong = "a record needs a descriptor above 2, and a supervisor";
	else if (command->record == 0 && (command->flags & SBX_EXPLAIN) != 0)
		wrong = "denials go to a record: there is none";
	if (wrong != NULL)
		error_set(error, SBX_ERROR_ARGUMENT, NULL, wrong, 0);
	return wrong == NULL;
}

/* What the descriptor, the directory or the command was. */
static void
explain(const struct spawning *spawning, struct sbx_error *error)
{
	static const char *const names[] = { "standard input",
		"standard output", "standard error" };
	const struct launch *launch = &spawning->launch;
	char number[] = "descriptor NNN";
	const char *subject = NULL;
	enum sbx_error_kind kind = spawning->kind;

	if (launch->killed) {
		error_set(error, SBX_ERROR_KILLED, spawning->argv[0],
		    "another process ended it before it was started", 0);
		return;
	}
	if (sandbox_ended(spawning->sandbox)) {
		error_set(error, SBX_ERROR_ENDED, NULL, "the sandbox has ended",
		    0);
		return;
	}
	if (kind == SBX_ERROR_DESCRIPTOR && spawning->which >= 0) {
		int which = spawning->which;
		char *digit = number + sizeof number - 2;

		for (int i = 0; i < 3; i++, which /= 10)
			*digit-- = (char)('0' + which % 10);
		subject = spawning->which < STREAM_COUNT ?
		    names[spawning->which] :
		    number;
	} else if (kind == SBX_ERROR_DIRECTORY) {
		subject = spawning->directory;
	} else if (kind == SBX_ERROR_NOT_FOUND ||
	    kind == SBX_ERROR_NOT_EXECUTED) {
		subject = spawning->argv[0];
	}
	error_set(error, kind, subject, launch->fault,
	    kind == SBX_ERROR_NOT_FOUND ? 0 : launch->error);
	if (error != NULL)
		error->code = launch->error;
}

/* The directory as it is named inside. */
static bool
find_directory(struct spawning *spawning, struct sbx_error *error)
{
	const char *given = spawning->command->directory;
	char path[2 * STREAM_PATH];

	if (absolute_path(given != NULL ? given : "", path, sizeof path) &&
	    path[0] == '/' &&
	    enter_directory(&spawning->sandbox->offer, path,
		spawning->directory, sizeof spawning->directory))
		return true;
	error_set(error, SBX_ERROR_DIRECTORY, given,
	    "the path of the directory cannot be told", errno);
	return false;
}

/* A copy with a free slot before the first one. */
static char **
copy_words(char *const *argv)
{
	size_t count = 0;
	char **copy;

	while (argv[count] != NULL)
		count++;
	copy = calloc(count + 2, sizeof *copy);
	if (copy != NULL)
		memcpy(copy + 1, argv, count * sizeof *copy);
	return copy;
}

static char *const *
callers_environment(const struct sbx_command *command)
{
	return command->environment != NULL ? command->environment : environ;
}

/* --- a command that joins ------------------------------------------------- */

static int
run(struct spawning *spawning, struct sbx_error *error)
{
	const struct sbx_command *command = spawning->command;
	struct launch *launch = &spawning->launch;

	launch->enter = enter;
	launch->become = become;
	launch->plan = spawning;
	launch->group = spawning->sandbox->offer.descriptors[OFFER_GROUP];
	spawning->tree = spawning->which = -1;
	/* Until a process says otherwise. */
	spawning->kind = SBX_ERROR_SYSTEM;
	if (!launch_run(launch)) {
		explain(spawning, error);
		if (spawning->tree >= 0)
			close(spawning->tree);
		return -1;
	}
	if (command->pid != NULL)
		*command->pid = launch->pid;
	if (command->tree != NULL)
		*command->tree = spawning->tree;
	return launch->pidfd;
}

static int
spawn_joined(const struct sbx_sandbox *sandbox,
    const struct sbx_command *command, struct sbx_error *error)
{
	const struct environment_rules *rules = &sandbox->rules;
	char *const *callers = callers_environment(command);
	struct spawning *spawning = malloc(sizeof *spawning);
	char **words = copy_words(command->argv);
	void *room = malloc(environment_room(rules, callers));
	int pidfd = -1;

	if (spawning == NULL || words == NULL || room == NULL) {
		error_set(error, SBX_ERROR_SYSTEM, NULL, "no memory", ENOMEM);
	} else {
		spawning->sandbox = sandbox;
		spawning->command = command;
		spawning->argv = words + 1;
		spawning->environment = (struct environment){ .count = 0 };
		spawning->launch = (struct launch){ .group = -1 };
		environment_fill(&spawning->environment, room, rules, callers);
		spawning->path = environment_get(&spawning->environment,
		    "PATH");
		if (placing_prepare(&spawning->placing, command->descriptors,
			command->descriptor_count, error) &&
		    find_directory(spawning, error))
			pidfd = run(spawning, error);
	}
	free(room);
	free(words);
	free(spawning);
	return pidfd;
}

/* --- a command under sbxrun ----------------------------------------------- */

enum { CONNECTION = 3, RECORD = 5, SBXRUN_DESCRIPTORS = 5 };

/* sbxrun gives a command standard input, output and error alone. */
static bool
check_supervised(const struct sbx_command *command, struct sbx_error *error)
{
	const char *wrong = NULL;

	if (command->tree != NULL)
		wrong = "this command has a supervisor, which knows what it "
			"has started: end that by a signal to it, or use "
			"SBX_UNSUPERVISED at level full";
	if (command->descriptor_count > STREAM_COUNT)
		wrong = "this command has a supervisor, and gets descriptors 0 "
			"to 2 alone; SBX_UNSUPERVISED at level full gives "
			"others";
	for (size_t i = 0; wrong == NULL && i < command->descriptor_count;
	     i++) {
		if (command->descriptors[i].to >= STREAM_COUNT)
			wrong = "this command has a supervisor, and gets "
				"descriptors 0 to 2 alone; SBX_UNSUPERVISED at "
				"level full gives others";
	}
	if (wrong != NULL)
		error_set(error, SBX_ERROR_ARGUMENT, NULL, wrong, 0);
	return wrong == NULL;
}

/*
 * Waits while many threads wait for an answer: the kernel queues some 10 messages
 * (net.unix.max_dgram_qlen), and the keeper waits for no reader.  After a second
 * those who are in the way are not of this process: it was forked meanwhile.
 */
static void
await_turn(int *asking)
{
	enum { AT_ONCE = 8, TRIES = 1000 };

	for (int i = 0; i < TRIES; i++) {
		if (__atomic_add_fetch(asking, 1, __ATOMIC_ACQUIRE) <= AT_ONCE)
			return;
		__atomic_sub_fetch(asking, 1, __ATOMIC_RELEASE);
		poll(NULL, 0, 1);
	}
	__atomic_store_n(asking, 1, __ATOMIC_RELEASE);
}

/* A connection of its own to the keeper, or -1 and *error.  The answers to
 * several threads are of one kind, so it does not matter who gets which. */
static int
connect_keeper(struct sbx_sandbox *sandbox, struct sbx_error *error)
{
	struct session_reply reply;
	int descriptors[OFFER_END];
	const char *fault;

	await_turn(&sandbox->asking);
	fault = session_ask(sandbox->socket, SESSION_CONNECT, -1);
	if (fault == NULL)
		fault = session_hear(sandbox->socket, &reply, descriptors);
	__atomic_sub_fetch(&sandbox->asking, 1, __ATOMIC_RELEASE);
	if (fault == NULL && descriptors[0] >= 0)
		return descriptors[0];
	error_set(error, SBX_ERROR_ENDED, NULL,
	    fault != NULL ? fault : "the sandbox has ended", errno);
	return -1;
}

static int
start_supervised(struct sbx_sandbox *sandbox, const struct sbx_command *command,
    struct start *start, struct sbx_error *error)
{
	struct sbx_descriptor descriptors[SBXRUN_DESCRIPTORS];
	size_t count = command->descriptor_count;
	int connection = -1;
	bool started;

	for (size_t i = 0; i < count; i++)
		descriptors[i] = command->descriptors[i];
	if (sandbox->joined) {
		connection = connect_keeper(sandbox, error);
		if (connection < 0)
			return -1;
		descriptors[count++] = (struct sbx_descriptor){ connection,
			CONNECTION };
	} else if (sandbox->policy >= 0) {
		descriptors[count++] = (struct sbx_descriptor){ sandbox->policy,
			ARGUMENT_POLICY };
	}
	if (command->record > 0)
		descriptors[count++] = (struct sbx_descriptor){ command->record,
			RECORD };
	start->descriptors = descriptors;
	start->descriptor_count = count;
	started = start_sbxrun(start, error);
	if (connection >= 0)
		close(connection);
	if (started && command->pid != NULL)
		*command->pid = start->pid;
	return started ? start->pidfd : -1;
}

static int
spawn_supervised(struct sbx_sandbox *sandbox, const struct sbx_command *command,
    struct sbx_error *error)
{
	struct words words = { .list = NULL };
	struct start start = {
		.sbxrun = sandbox->sbxrun,
		.environment = callers_environment(command),
		.directory = command->directory,
		.flags = command->flags,
	};
	int pidfd = -1;

	if (!check_supervised(command, error))
		return -1;
	words_add(&words, "sbxrun", "");
	if (command->record > 0)
		words_add(&words, "--status-fd=5", "");
	if ((command->flags & SBX_EXPLAIN) != 0)
		words_add(&words, "--explain=quiet", "");
	if (sandbox->joined)
		words_add(&words, "--join=3", "");
	for (size_t i = 0; !sandbox->joined && i < sandbox->words.count; i++)
		words_add(&words, sandbox->words.list[i], "");
	words_add(&words, "--", "");
	for (size_t i = 0; command->argv[i] != NULL; i++)
		words_add(&words, command->argv[i], "");
	start.words = words.list;
	if (words.failed)
		error_set(error, SBX_ERROR_SYSTEM, NULL, "no memory", ENOMEM);
	else
		pidfd = start_supervised(sandbox, command, &start, error);
	words_free(&words);
	return pidfd;
}

int
sbx_spawn(struct sbx_sandbox *sandbox, const struct sbx_command *command,
    struct sbx_error *error)
{
	int state, pidfd = -1, code = errno;
	bool alone;

	if (sandbox == NULL) {
		error_set(error, SBX_ERROR_ARGUMENT, NULL,
		    "there is no sandbox", 0);
		return -1;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (check_command(command, error)) {
		alone = sandbox->joined && command->record == 0 &&
		    (!sandbox->supervised ||
			(command->flags & SBX_UNSUPERVISED) != 0);
		pidfd = alone ? spawn_joined(sandbox, command, error) :
				spawn_supervised(sandbox, command, error);
	}
	pthread_setcancelstate(state, NULL);
	errno = code;
	return pidfd;
}

/*
 * A sandbox from its options: a keeper is started, and offers what it has made.
 */
#include "runtime/base/kernel.h"
#include "runtime/library/library.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SBX_SBXRUN
#define SBX_SBXRUN "/usr/local/bin/sbxrun"
#endif

enum {
	SAID_MAX = 16384, /* what is kept of what sbxrun says */
	/* The numbers that the keeper gets. */
	KEEPER_SOCKET = 3,
	CLOSE_MILLISECONDS = 10 * 1000,
};

/* What is open while a keeper is started. */
struct opening {
	int nothing; /* the null device */
	int ends[2]; /* of the socket: ours, the keeper's */
	int said[2]; /* its standard error: ours, the keeper's */
	int keeper;  /* a pidfd */
	char text[SAID_MAX + 1];
};

/* --- the keeper ----------------------------------------------------------- */

static void
close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void
close_opening(struct opening *opening)
{
	close_one(&opening->nothing);
	close_one(&opening->keeper);
	for (int i = 0; i < 2; i++) {
		close_one(&opening->ends[i]);
		close_one(&opening->said[i]);
	}
}

/* Many threads may ask at once; a keeper that was stopped takes nothing. */
static bool
set_patience(int socket)
{
	static const struct timeval patience = { .tv_sec = 10 };

	return setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience,
		   sizeof patience) == 0;
}

static bool
make_ends(struct opening *opening)
{
	opening->nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (opening->nothing < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
		opening->ends) != 0)
		return false;
	opening->ends[0] = own_descriptor(opening->ends[0]);
	return opening->ends[0] >= 0 && set_patience(opening->ends[0]) &&
	    pipe2(opening->said, O_CLOEXEC) == 0 &&
	    fcntl(opening->said[0], F_SETFL, O_NONBLOCK) == 0;
}

static bool
start_keeper(struct opening *opening, const struct sbx_sandbox *sandbox,
    char *const *environment, struct sbx_error *error)
{
	const struct sbx_descriptor descriptors[] = {
		{ opening->nothing, STDIN_FILENO },
		{ opening->nothing, STDOUT_FILENO },
		{ opening->said[1], STDERR_FILENO },
		{ opening->ends[1], KEEPER_SOCKET },
		{ sandbox->policy, ARGUMENT_POLICY },
	};
	struct words words = { .list = NULL };
	struct start start = {
		.sbxrun = sandbox->sbxrun,
		.environment = environment,
		.descriptors = descriptors,
		.descriptor_count = sandbox->policy < 0 ? 4 : 5,
		.detached = true,
	};
	bool started;

	words_add(&words, "sbxrun", "");
	words_add(&words, "--keep=3", "");
	for (size_t i = 0; i < sandbox->words.count; i++)
		words_add(&words, sandbox->words.list[i], "");
	start.words = words.list;
	if (words.failed)
		error_set(error, SBX_ERROR_SYSTEM, NULL, "no memory", ENOMEM);
	started = !words.failed && start_sbxrun(&start, error);
	words_free(&words);
	if (started)
		opening->keeper = own_descriptor(start.pidfd);
	if (started && opening->keeper < 0) {
		error_set(error, SBX_ERROR_SYSTEM, NULL,
		    "cannot keep the descriptors of the sandbox", errno);
		started = false;
	}
	close_one(&opening->said[1]);
	close_one(&opening->ends[1]);
	return started;
}

/* All that sbxrun has said so far. */
static void
read_said(struct opening *opening)
{
	size_t used = 0;
	ssize_t len;

	do {
		len = read(opening->said[0], opening->text + used,
		    SAID_MAX - used);
		if (len > 0)
			used += (size_t)len;
	} while ((len > 0 && used < SAID_MAX) || (len < 0 && errno == EINTR));
	opening->text[used] = '\0';
}

/* Waits for the keeper's answer, or its end.  The end of its socket is no sign:
 * another thread may have forked while both ends were open here. */
static void
await(const struct opening *opening)
{
	struct pollfd polled[] = {
		{ .fd = opening->ends[0], .events = POLLIN },
		{ .fd = opening->keeper, .events = POLLIN },
	};

	while (poll(polled, 2, -1) < 0 && errno == EINTR)
		;
}

/* For a while: a keeper may be hindered by a file system that does not
 * answer. */
static void
await_end(int keeper)
{
	struct pollfd polled = { .fd = keeper, .events = POLLIN };

	while (poll(&polled, 1, CLOSE_MILLISECONDS) < 0 && errno == EINTR)
		;
}

static bool
has_answer(const struct opening *opening)
{
	struct pollfd polled = { .fd = opening->ends[0], .events = POLLIN };

	return poll(&polled, 1, 0) == 1 && (polled.revents & POLLIN) != 0;
}

/* --- the offer ------------------------------------------------------------ */

static void
learn_rules(struct sbx_sandbox *sandbox)
{
	const struct offer *offer = &sandbox->offer;
	const struct sbx_blob *blob = &offer->blob;

	for (int i = 0; i < SBX_MAX_ANCHORS; i++) {
		struct offer_text text = offer->head->anchors[i];

		sandbox->anchors[i] =
		    (struct sbx_place){ offer_text(offer, text), text.len };
		sandbox->bound[i] = offer->head->bound[i] != 0;
	}
	sandbox->rules = (struct environment_rules){ blob, sandbox->anchors,
		sandbox->bound,
		{ offer_text(offer, offer->head->agent),
		    offer->head->agent.len },
		"full", NULL, { "", 0 },
		{ offer_text(offer, offer->head->trust),
		    offer->head->trust.len },
		{ offer_text(offer, offer->head->secrets),
		    offer->head->secrets.len } };
	sandbox->supervised = limit_here(blob, SBX_LIMIT_TIMEOUT) != NULL ||
	    limit_here(blob, SBX_LIMIT_OUTPUT) != NULL || blob->watch_count > 0;
}

static bool
own_offer(struct offer *offer)
{
	for (int i = 0; i < OFFER_END; i++) {
		if (offer->descriptors[i] < 0)
			continue;
		offer->descriptors[i] = own_descriptor(offer->descriptors[i]);
		if (offer->descriptors[i] < 0)
			return false;
	}
	return true;
}

/* "LEVEL HEX": below level full there is nothing to join, and sbxrun has looked
 * whether it would run.  Each command is to have the same policy. */
static bool
learn_level(struct sbx_sandbox *sandbox)
{
	const char *text = sandbox->offer.reply.text;
	const size_t head = sizeof ARGUMENT_LEVEL - 1;
	size_t len = strcspn(text, " ");
	struct words options = { .list = NULL };

	if (len == 0 || len >= sizeof sandbox->level || text[len] != ' ')
		return false;
	memcpy(sandbox->level, text, len);
	words_add(&options, ARGUMENT_LEVEL, sandbox->level);
	words_add(&options, "--expect=sha256:", text + len + 1);
	for (size_t i = 0; i < sandbox->words.count; i++) {
		const char *word = sandbox->words.list[i];

		if (strncmp(word, ARGUMENT_LEVEL, head) != 0)
			words_add(&options, word, "");
	}
	words_free(&sandbox->words);
	sandbox->words = options;
	return !options.failed;
}

static bool
hear_keeper(struct sbx_sandbox *sandbox, struct opening *opening,
    struct sbx_error *error)
{
	struct offer *offer = &sandbox->offer;
	const char *fault = session_ask(opening->ends[0], SESSION_JOIN, -1);
	bool answered;
	int code;

	if (fault == NULL)
		await(opening);
	if (fault == NULL && has_answer(opening))
		fault = offer_take(opening->ends[0], offer);
	else
		fault = "sbxrun has ended";
	code = errno;
	answered = offer->reply.stamp.magic[0] != '\0';
	if (!answered) {
		/* What the keeper said in place of an answer.  One that has not
		 * ended by itself does so when nobody is there. */
		shutdown(opening->ends[0], SHUT_RDWR);
		await_end(opening->keeper);
		read_said(opening);
		error_said(error, opening->text, fault);
		return false;
	}
	read_said(opening);
	if (offer->reply.stamp.kind == SESSION_NONE && learn_level(sandbox))
		return true;
	if (fault != NULL) {
		error_set(error, SBX_ERROR_SBXRUN, NULL, fault, code);
		return false;
	}
	sandbox->joined = true;
	strcpy(sandbox->level, "full");
	learn_rules(sandbox);
	if (own_offer(&sandbox->offer))
		return true;
	error_set(error, SBX_ERROR_SYSTEM, NULL,
	    "cannot keep the descriptors of the sandbox", errno);
	return false;
}

static bool
open_sandbox(struct sbx_sandbox *sandbox, struct opening *opening,
    const struct sbx_options *options, struct sbx_error *error)
{
	char *const *environment = options->environment;

	if (options->blob != NULL)
		sandbox->policy = arguments_keep(options);
	if ((options->blob != NULL && sandbox->policy < 0) ||
	    !make_ends(opening)) {
		error_set(error, SBX_ERROR_SYSTEM, NULL,
		    "cannot open what the sandbox needs", errno);
		return false;
	}
	if (!start_keeper(opening, sandbox,
		environment != NULL ? environment : environ, error) ||
	    !hear_keeper(sandbox, opening, error))
		return false;
	sandbox->warnings = strdup(opening->text);
	if (sandbox->warnings == NULL) {
		error_set(error, SBX_ERROR_SYSTEM, NULL, "no memory", ENOMEM);
		return false;
	}
	if (sandbox->joined) {
		sandbox->socket = opening->ends[0];
		sandbox->keeper = opening->keeper;
		opening->ends[0] = opening->keeper = -1;
	}
	return true;
}

static struct sbx_sandbox *
new_sandbox(const char *sbxrun)
{
	struct sbx_sandbox *sandbox = calloc(1, sizeof *sandbox);

	if (sandbox == NULL)
		return NULL;
	sandbox->owner = getpid();
	sandbox->socket = sandbox->keeper = sandbox->policy = -1;
	offer_none(&sandbox->offer);
	sandbox->sbxrun = strdup(sbxrun != NULL ? sbxrun : SBX_SBXRUN);
	if (sandbox->sbxrun != NULL)
		return sandbox;
	free(sandbox);
	return NULL;
}

static void
free_sandbox(struct sbx_sandbox *sandbox)
{
	offer_close(&sandbox->offer);
	close_one(&sandbox->socket);
	close_one(&sandbox->keeper);
	close_one(&sandbox->policy);
	words_free(&sandbox->words);
	free(sandbox->warnings);
	free(sandbox->sbxrun);
	free(sandbox);
}

static struct sbx_sandbox *
try_open(const struct sbx_options *options, struct sbx_error *error)
{
	struct opening opening = { -1, { -1, -1 }, { -1, -1 }, -1, "" };
	struct sbx_sandbox *sandbox = new_sandbox(options->sbxrun);
	bool opened;

	if (sandbox == NULL) {
		error_set(error, SBX_ERROR_SYSTEM, NULL, "no memory", ENOMEM);
		return NULL;
	}
	sandbox->nameless = true;
	opened = arguments_fill(&sandbox->words, options, error) &&
	    open_sandbox(sandbox, &opening, options, error);
	close_opening(&opening);
	if (opened)
		return sandbox;
	free_sandbox(sandbox);
	return NULL;
}

struct sbx_sandbox *
sbx_open(const struct sbx_options *options, struct sbx_error *error)
{
	struct sbx_sandbox *sandbox = NULL;
	int state, code = errno;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (arguments_check(options, error))
		sandbox = try_open(options, error);
	pthread_setcancelstate(state, NULL);
	errno = code;
	return sandbox;
}

/* --- a session ------------------------------------------------------------ */

/* Whether sbxrun finds the session; what it says of that. */
static bool
check_session(struct sbx_sandbox *sandbox, struct opening *opening,
    struct sbx_error *error)
{
	char own[] = "sbxrun", check[] = "--check";
	char *words[] = { own, sandbox->words.list[0], check, NULL };
	const struct sbx_descriptor descriptors[] = {
		{ opening->nothing, STDIN_FILENO },
		{ opening->nothing, STDOUT_FILENO },
		{ opening->said[1], STDERR_FILENO },
	};
	struct start start = {
		.sbxrun = sandbox->sbxrun,
		.words = words,
		.environment = environ,
		.descriptors = descriptors,
		.descriptor_count = 3,
	};
	siginfo_t end = { .si_status = 1 };
	int status;

	if (!start_sbxrun(&start, error))
		return false;
	await_end(start.pidfd);
	/* A caller that ignores SIGCHLD learns no status. */
	status = waitid(P_PID, (id_t)start.pid, &end, WEXITED) == 0 &&
		end.si_code == CLD_EXITED ?
	    end.si_status :
	    -1;
	close(start.pidfd);
	if (status == 0)
		return true;
	read_said(opening);
	error_said(error, opening->text, "there is no such session");
	if (error != NULL && status == 1)
		error->kind = SBX_ERROR_ENDED;
	return false;
}

static struct sbx_sandbox *
try_join(const char *name, const char *sbxrun, struct sbx_error *error)
{
	struct opening opening = { -1, { -1, -1 }, { -1, -1 }, -1, "" };
	struct sbx_sandbox *sandbox = new_sandbox(sbxrun);
	bool joined = false;

	if (sandbox != NULL) {
		strcpy(sandbox->level, "full");
		sandbox->warnings = strdup("");
		words_add(&sandbox->words, "--session=", name);
	}
	if (sandbox == NULL || sandbox->warnings == NULL ||
	    sandbox->words.failed || !make_ends(&opening))
		error_set(error, SBX_ERROR_SYSTEM, NULL,
		    "cannot open what the session needs", errno);
	else
		joined = check_session(sandbox, &opening, error);
	close_opening(&opening);
	if (joined)
		return sandbox;
	if (sandbox != NULL)
		free_sandbox(sandbox);
	return NULL;
}

struct sbx_sandbox *
sbx_join(const char *name, const char *sbxrun, struct sbx_error *error)
{
	struct sbx_sandbox *sandbox = NULL;
	int state, code = errno;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (name == NULL)
		error_set(error, SBX_ERROR_ARGUMENT, NULL,
		    "the session has no name", 0);
	else
		sandbox = try_join(name, sbxrun, error);
	pthread_setcancelstate(state, NULL);
	errno = code;
	return sandbox;
}

/* --- what it is, and its end ---------------------------------------------- */

bool
sandbox_ended(const struct sbx_sandbox *sandbox)
{
	struct pollfd polled = { .fd = sandbox->keeper, .events = POLLIN };

	return sandbox->joined && poll(&polled, 1, 0) == 1;
}

const char *
sbx_level(const struct sbx_sandbox *sandbox)
{
	return sandbox->level;
}

const char *
sbx_warnings(const struct sbx_sandbox *sandbox)
{
	return sandbox->warnings;
}

int
sbx_pollable(const struct sbx_sandbox *sandbox)
{
	return sandbox->keeper;
}

void
sbx_close(struct sbx_sandbox *sandbox)
{
	int state, code = errno;

	if (sandbox == NULL)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (sandbox->joined && sandbox->nameless &&
	    sandbox->owner == getpid()) {
		shutdown(sandbox->socket, SHUT_RDWR);
		close_one(&sandbox->socket);
		await_end(sandbox->keeper);
	}
	free_sandbox(sandbox);
	pthread_setcancelstate(state, NULL);
	errno = code;
}

const char *
sbx_version(void)
{
	return PACKAGE_VERSION;
}

/* `sbxc ask`, what `sbxrun --ask` starts: see ask.c. */
#ifndef SBX_COMPILER_COMMAND_ASK_H
#define SBX_COMPILER_COMMAND_ASK_H

#include "compiler/base/base.h"
#include "compiler/query/query.h"
#include "format/protocol.h"

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct question {
	const char *rule; /* as `sbxc allow` takes it */
	const char *right, *object, *program;
};

struct asking {
	struct arena *arena;
	const char
	    *target; /* the policy that `allow` changes; NULL: the default */
	const char *const *command; /* sbxrun and its words */
	size_t command_count;
	int terminal;
	struct termios modes; /* before the first run */
	bool has_modes;
	struct words
	    allowed; /* rules that the next run has beside the policy */
	struct words refused; /* that are not asked about again */
	VEC(struct question) questions;
	/* Names, under way: */
	const char *program; /* who answers; NULL: the person there */
	bool always;         /* it may change the policy */
	int names;           /* sbx-proxy is at the other end; or -1 */
	unsigned asked;
	bool silent; /* nothing more is asked in this run */
};

/* --- ask.c ---------------------------------------------------------------- */

/* `sbxc allow RULE` of the policy, or `deny RULE`: what that opens, for who is asked;
 * with `yes` it is written.  False: it is not to be; the text says why. */
bool ask_policy(const struct asking *asking, const char *effect,
    const char *rule, bool yes, const char **text);

/* The terminal as it was, in lines that are shown. */
void ask_settle(const struct asking *asking);

/* Different letters, but y and n, which everybody types. */
void ask_letters(char *letters, size_t count);

/* The letter that was typed alone on a line, else 0: so is no answer in time, which
 * *late says, or NULL. */
char ask_answer(const struct asking *asking, int seconds, bool *late);

/* --- ask_names.c ---------------------------------------------------------- */

/* Takes a question off asking->names and answers it; false at the end. */
bool ask_name(struct asking *asking);

/* --- ask_terminal.c ------------------------------------------------------- */

/* A terminal for the command, of its own; -1: there is none to be had. */
int ask_terminal_open(const struct asking *asking);

/* In the child that becomes sbxrun: has that for what was the person's. */
bool ask_terminal_enter(int master);

/* Passes bytes on in both directions, and has names asked about, until the process
 * has ended. */
void ask_terminal_relay(struct asking *asking, int master, pid_t process);

#endif

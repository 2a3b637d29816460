/*
 * What a command opens in /proc/self, by /dev/stdin and the like.  Which file
 * that is shows when it runs; how the kernel and the loader judge it is known.
 */
#include "compiler/query/why.h"

#include <string.h>

enum {
	OF_READING = 1 << 0,
	OF_WRITING = 1 << 1,
	OF_EXECUTING = 1 << 2,
	OF_ALL = OF_READING | OF_WRITING | OF_EXECUTING,
	BELOW_FULL = 1 << 3,
	AT_FULL = 1 << 4,
	ANYWHERE = BELOW_FULL | AT_FULL,
};

/* What is said of such a link; the first line that fits. */
static const struct {
	enum here_opens opens;
	unsigned when;
	bool allowed, depends;
	const char *text;
} answers[] = {
	{ HERE_STREAM, OF_EXECUTING | ANYWHERE, false, true,
	    "what the command is given there is executed only if it is a file, "
	    "and as the policy has it by its own path" },
	{ HERE_STREAM, OF_READING | OF_WRITING | BELOW_FULL, true, true,
	    "but it depends on what the command is given there: a pipe or a "
	    "removed file opens, any other file, a device or a terminal as the "
	    "policy has it by its own path, a socket never" },
	{ HERE_STREAM, OF_READING | AT_FULL, true, true,
	    "but it depends on what the command is given there: a pipe, a "
	    "removed file or one of this user's that is open for reading "
	    "opens, any other file or device as the policy has it by its own "
	    "path, a terminal or a socket never" },
	{ HERE_STREAM, OF_WRITING | AT_FULL, true, true,
	    "but it depends on what the command is given there: a pipe or a "
	    "removed file opens, any other file or device as the policy has it "
	    "by its own path, and none that is open for reading, a terminal or "
	    "a socket never" },
	{ HERE_DESCRIPTOR, OF_ALL | ANYWHERE, true, true,
	    "but it depends on what the command has opened there itself, for "
	    "it is given no other descriptors than 0 to 2: a pipe, memory or a "
	    "removed file opens, any other file or device as the policy has it "
	    "by its own path, a socket never" },
	{ HERE_PROGRAM, OF_READING | OF_EXECUTING | ANYWHERE, true, false,
	    "it is the program that the command runs, and what may be executed "
	    "may be read" },
	{ HERE_PROGRAM, OF_WRITING | ANYWHERE, false, false,
	    "it is the program that the command runs, which the kernel lets "
	    "nobody write meanwhile" },
	{ HERE_NAMESPACE, OF_READING | ANYWHERE, true, false,
	    "it names a namespace that the command is in, and is no file that "
	    "rules are about" },
	{ HERE_NAMESPACE, OF_WRITING | OF_EXECUTING | ANYWHERE, false, false,
	    "it names a namespace that the command is in, which nobody writes "
	    "or executes" },
};

static unsigned
when_of(uint8_t right)
{
	switch (right) {
	case SBX_READ:
		return OF_READING;
	case SBX_WRITE:
		return OF_WRITING;
	default:
		return OF_EXECUTING;
	}
}

static bool
is_own_link(const struct access *access)
{
	return access->kind == KIND_PATH && access->followed != NULL &&
	    !access->outside && access->followed->opens != HERE_PLACE;
}

/* Which of the answers; there is one for each right and level. */
static size_t
answer_find(const struct access *access, enum sbx_level level)
{
	unsigned right = when_of(access->detail);
	unsigned where = level == SBX_LEVEL_FULL ? AT_FULL : BELOW_FULL;
	size_t i = 0;

	while (i + 1 < countof(answers) &&
	    (answers[i].opens != access->followed->opens ||
		(answers[i].when & right) == 0 ||
		(answers[i].when & where) == 0))
		i++;
	return i;
}

bool
own_verdict(const struct access *access, struct verdict *verdict)
{
	size_t i;

	if (!is_own_link(access))
		return false;
	i = answer_find(access, SBX_LEVEL_FULL);
	*verdict = (struct verdict){
		.allowed = answers[i].allowed,
		.depends = answers[i].depends,
		.by = BY_OWN,
		.rule = SBX_NO_RULE,
		.source = SBX_NO_SOURCE,
	};
	return true;
}

void
own_say(const struct why *why)
{
	fprintf(why->stream, "    %s\n",
	    answers[answer_find(why->access, why->subject->level)].text);
}

/* --- the way out ---------------------------------------------------------- */

static bool
lies_in(struct sbx_place place, const char *directory)
{
	struct sbx_place around = sbx_place_of(directory);

	return sbx_covers(around, place);
}

/* The view has the links of /dev where it has anything of /dev, and those of
 * /proc/self where it has /proc. */
bool
own_remedy_link(struct remedy *remedy, struct sbx_place link)
{
	static const struct {
		const char *directory, *set;
	} sets[] = {
		{ "/proc/self", "proc" },
		{ "/proc/thread-self", "proc" },
		{ "/dev/fd", "devices" },
		{ "/dev/stdin", "devices" },
		{ "/dev/stdout", "devices" },
		{ "/dev/stderr", "devices" },
	};

	for (size_t i = 0; i < countof(sets); i++) {
		if (!lies_in(link, sets[i].directory))
			continue;
		remedy_add(remedy, REMEDY_ADD, "allow read ${%s}", sets[i].set);
		return true;
	}
	return false;
}

static void
add_links(struct remedy *remedy)
{
	const struct followed *followed = remedy->access->followed;

	for (size_t i = 0; i < followed->links.count; i++) {
		struct sbx_place link = followed->links.items[i];

		if (verdict_link_hidden(remedy->subject, link))
			own_remedy_link(remedy, link);
	}
}

/* A place in /proc/self is written by a rule about it; a link there is followed
 * where /proc is seen. */
static const char *
risk_of_proc(const struct remedy *remedy)
{
	static const struct sbx_place proc = { "/proc", 5 };

	return remedy->access->detail == SBX_READ ||
		remedy->access->followed->opens != HERE_PLACE ?
	    NULL :
	    remedy_risk(remedy, proc);
}

bool
own_remedy(struct remedy *remedy)
{
	enum verdict_by by = remedy->verdict->by;
	struct verdict verdict;
	const char *fault;

	if (remedy->access->followed == NULL ||
	    !remedy->access->followed->own ||
	    (by != BY_NOTHING && by != BY_LINK && by != BY_OWN))
		return false;
	if (own_verdict(remedy->access, &verdict) && !verdict.allowed) {
		remedy_add(remedy, REMEDY_NONE, "no rule decides it");
		return true;
	}
	fault = risk_of_proc(remedy);
	if (fault != NULL) {
		remedy_add(remedy, REMEDY_NONE, "it takes ${proc}, and %s",
		    fault);
		return true;
	}
	if (by == BY_NOTHING)
		remedy_add(remedy, REMEDY_ADD, "allow read ${proc}");
	add_links(remedy);
	return true;
}

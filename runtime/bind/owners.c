/*
 * Whether other users could have made a link.
 *
 * In a user namespace of its own a process cannot tell: the kernel shows every
 * owner but its own as the same overflow id, root as well.  So at level full
 * the supervisor, which stays outside, answers while the first process of the
 * sandbox binds the policy.
 */
#include "runtime/bind/bind.h"

#include "runtime/base/out.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void
owners_none(struct owners *owners)
{
	*owners = (struct owners){ -1, -1 };
}

void
owners_open(struct owners *owners)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		refuse(NULL, "cannot make a pair of sockets", errno);
	owners->ask = ends[0];
	owners->answer = ends[1];
}

static void
close_end(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

void
owners_close(struct owners *owners)
{
	close_end(&owners->ask);
	close_end(&owners->answer);
}

void
owners_use(struct owners *owners)
{
	close_end(&owners->answer);
}

/* --- what is seen --------------------------------------------------------- */

/* Root is trusted, and is not to be told from others where ids are not
 * mapped. */
static bool
is_ours(uid_t owner, bool mapped)
{
	return owner == geteuid() || (owner == 0 && mapped);
}

/*
 * Whether nobody else may change the entries of a directory.  A group is
 * somebody else, unless it is the user's own, which some systems make for each
 * user.  In a directory with a sticky bit others may add entries, but not
 * replace ours.
 */
static bool
is_private(const struct stat *status, bool holder, bool mapped)
{
	mode_t open = status->st_mode & (S_IWGRP | S_IWOTH);

	if (!is_ours(status->st_uid, mapped))
		return false;
	if (!holder && (status->st_mode & S_ISVTX))
		return true;
	if ((open & S_IWGRP) != 0 &&
	    (status->st_gid == 0 ||
		(status->st_gid == getegid() && status->st_gid == geteuid())))
		open &= (mode_t)~S_IWGRP;
	return open == 0;
}

static bool
look(const char *link, uint32_t trusted_len, bool mapped)
{
	char path[SBX_MAX_PATH + 1];
	struct sbx_place at = { path, (uint32_t)strlen(link) };
	struct stat status;

	memcpy(path, link, at.len + 1);
	if (lstat(path, &status) != 0 || !is_ours(status.st_uid, mapped))
		return false;
	/* Nothing can be trusted where the root directory is not root's. */
	for (bool holder = true; (at = place_parent(at)).len > 0;
	     holder = false) {
		path[at.len] = '\0';
		if (lstat(path, &status) != 0 ||
		    !is_private(&status, holder, mapped))
			return false;
		if (at.len == trusted_len)
			return true;
	}
	return true;
}

/* --- the line ------------------------------------------------------------- */

void
owners_serve(struct owners *owners)
{
	char link[SBX_MAX_PATH + 1];

	close_end(&owners->ask);
	for (;;) {
		ssize_t len = recv(owners->answer, link, sizeof link, 0);
		char answer;

		if (len < 0 && errno == EINTR)
			continue;
		if (len <= 0 || link[len - 1] != '\0')
			break;
		answer = look(link, 0, true);
		if (send(owners->answer, &answer, 1, MSG_NOSIGNAL) != 1)
			break;
	}
	close_end(&owners->answer);
}

static bool
ask(const struct owners *owners, struct sbx_place link)
{
	char answer;
	ssize_t len;

	if (send(owners->ask, link.path, link.len + 1, MSG_NOSIGNAL) !=
	    (ssize_t)link.len + 1)
		refuse(link.path, "cannot ask who owns it", errno);
	do {
		len = recv(owners->ask, &answer, 1, 0);
	} while (len < 0 && errno == EINTR);
	if (len != 1)
		refuse(link.path, "cannot ask who owns it",
		    len < 0 ? errno : 0);
	return answer != 0;
}

bool
owners_trust(const struct owners *owners, struct sbx_place link,
    struct sbx_place trusted)
{
	enum { OVERFLOW = 65534 }; /* the id of everybody who is not mapped */
	bool mapped = owners->ask < 0;
	uint32_t trusted_len = sbx_covers(trusted, link) ? trusted.len : 0;

	if ((mapped || geteuid() != OVERFLOW) &&
	    look(link.path, trusted_len, mapped))
		return true;
	return !mapped && ask(owners, link);
}

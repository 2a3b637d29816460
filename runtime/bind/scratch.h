/*
 * The scratch directory, ${tmp}, kept between runs: TOP/WORKSPACE/PROFILE.
 *
 * TOP is /tmp/sbx-UID.  Anybody may write in /tmp, so another user may have
 * taken that name; then it is /tmp/sbx-UID-RANDOM, the first such directory
 * that is ours.  Nobody can take a name that is not known, nor give a directory
 * away.
 *
 * WORKSPACE is a digest of its path.  PROFILE is one of the profile's name and
 * of where the policy comes from: what a narrow policy lets a command leave
 * behind, a command under a wider one would believe.  It does not change when
 * the policy is edited, so that caches stay warm.
 *
 * In a sandbox at level standard TOP cannot be written.  Then it is a directory
 * of the outer sandbox's scratch directory.
 */
#ifndef SBX_SCRATCH_H
#define SBX_SCRATCH_H

#include "format/model.h"

enum { SCRATCH_PATH_SIZE = 96, SCRATCH_KEY_SIZE = 13 };

/* The name PROFILE.  The origin is the path of the policy's file; for a policy
 * that has none, its digest. */
void scratch_key(char key[SCRATCH_KEY_SIZE], const char *profile,
    const char *origin);

/*
 * Puts the path of the scratch directory into `path`.  If it is missing, it is
 * made if `make` is set, and else false is returned.  What is ours and has
 * another mode than 0700 gets that; a command may have changed it.  Refuses
 * what is not ours.  `outer` is TMPDIR, or NULL: the scratch directory of the
 * sandbox that this runs in, if it runs in one.
 */
bool scratch_path(char path[SCRATCH_PATH_SIZE], struct sbx_place workspace,
    const char *key, bool make, const char *outer);

/* Whether a directory is one of the user's scratch directories, or lies in
 * one. */
bool scratch_holds(struct sbx_place directory);

/* Whether a command that may write a directory could write more of TOP than a
 * scratch directory: it is /tmp or above, TOP, or TOP/WORKSPACE. */
bool scratch_within(struct sbx_place directory);

/* Whether a directory or one above it has been a workspace, as far as scratch
 * directories tell. */
bool scratch_remembers(struct sbx_place directory);

/* TOP/WORKSPACE, as an O_PATH descriptor; -1 where there is none. */
int scratch_open(char path[SCRATCH_PATH_SIZE], struct sbx_place workspace);

/* The directory of what is known of runs that go on, as above: sbx-runs there,
 * or TOP/runs. */
int scratch_runs(bool make);

/* The directory of the sockets of sessions, as an O_PATH descriptor, or -1 and
 * errno: /run/user/UID/sbx or, where there is no such place, TOP/sessions. */
int scratch_sessions(bool make);

#endif

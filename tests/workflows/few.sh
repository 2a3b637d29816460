#!/bin/sh
# A part of the workflows of corpus.txt, in fresh accounts, at both levels: as an
# ordinary user, and as root at full, as TAP.  All of them take minutes and much
# that is installed: `tests/workflows/run`, see HACKING.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

lines='git-init git-clone-local git-rebase git-shared c-make python-shm
    python-tempfile sh-proc-read sh-devs sh-tmp-exec sh-chgrp-own rsync-local
    kill-tree sqlite-wal script-tty inotify-tail ssh-keygen tar-gz'
if [ "$(id -u)" -ne 0 ] || ! unshare -mp true 2>/dev/null; then
	tap_lacks "workflows in fresh accounts" "needs root, to make an account"
	tap_done
	exit
fi
each()
{
	# shellcheck disable=SC2086
	said=$("$srcdir/tests/workflows/run" -b "${builddir:-$srcdir/build}" "$@" \
	    $lines 2>&1 | sed '/^left out:/d; s/^1[0-9] of .*(100\.0%)$/all work/')
	tap_is "workflows: $*" "all work" "$said"
}
each -l full
each -l standard
each -r -l full
tap_done

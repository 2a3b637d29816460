#!/bin/sh
# Ways out that a command could try, as TAP: a home directory that is the
# workspace, with places in it that are denied, at levels standard and full, as
# this user and, started by root, as an ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$SBXC"
# The anchors are the policies'.
# shellcheck disable=SC2016
policy escape workspace-write \
    'deny write ${workspace}/.git/hooks' \
    'deny read  { ${workspace}/.env  ${workspace}/linked }' \
    'deny exec  ${workspace}/data  except ${workspace}/data/tool' \
    'deny exec  ${workspace}/up/per/loads'

prepare()
{
	home=$base/home-$1
	outside=$base/outside-$1
	mkdir -p "$home/.git/hooks" "$home/.ssh" "$home/data" "$home/real" \
	    "$home/up/per/loads" "$outside"
	for file in .env .git/hooks/old .ssh/id other real/secret; do
		echo text >"$home/$file"
	done
	echo text >"$outside/file"
	# execve() says ENOEXEC of these if it may.
	for file in tool run; do
		: >"$home/data/$file"
		chmod 755 "$home/data/$file"
	done
	ln -s real/secret "$home/linked"
	cp "$PROBE" "$home/probe"
	[ "$1" -eq "$(id -u)" ] || chown -Rh "$1:$1" "$home" "$outside"
}

# held UID ANSWER OPERATION...: ANSWER is a regular expression.
held()
{
	uid=$1 answer=$2
	shift 2
	got=$(cd "$home" && as "$uid" "$base/sbxrun" -w . -l "$level" \
	    "$policy" -- ./probe "$@" 2>&1 </dev/null | tail -n 1)
	if printf '%s' "$got" | grep -Eqx "$answer"; then
		tap_ok "$level: uid $uid: $*"
	else
		tap_not_ok "$level: uid $uid: $*" "wanted $answer, got $got"
	fi
}

# Denied places stay what and where they are, by whatever name.
denied_places()
{
	refused='EACCES|EBUSY|EXDEV|EROFS|EPERM|ENOENT'
	for name in "$home/.env" /proc/self/cwd/.env \
	    "/proc/self/root$home/.env" linked real/secret .ssh/id; do
		held "$1" 'EACCES|ENOENT' open-read "$name"
	done
	for name in .env .git .git/hooks .git/hooks/old linked real \
	    real/secret; do
		held "$1" "$refused" rename "$name" "$home/away"
		held "$1" "$refused" exchange "$name" other
	done
	for name in .env .git/hooks/old linked real/secret; do
		held "$1" "$refused" unlink "$name"
		held "$1" "$refused" link "$name" "$home/away"
		held "$1" "$refused" rename other "$name"
	done
	held "$1" "$refused" create .git/hooks/pre-commit
	held "$1" "$refused" open-write .git/hooks/old
	held "$1" EACCES exec data/run
	held "$1" ENOEXEC exec data/tool
}

other_processes()
{
	for name in root cwd; do
		held "$1" 'EACCES|ENOENT' list "/proc/1/$name/"
		held "$1" 'EACCES|ENOENT' list "/proc/$$/$name/"
	done
	for name in mem environ maps; do
		held "$1" 'EACCES|EPERM|ENOENT' open-read "/proc/1/$name"
		held "$1" 'EACCES|EPERM|ENOENT' open-read "/proc/$$/$name"
	done
	for pid in 1 $$; do
		held "$1" 'EPERM|ESRCH' ptrace "$pid"
		held "$1" 'EPERM|ESRCH' process-vm-read "$pid"
		held "$1" 'EPERM|ESRCH' kill "$pid" 9
		held "$1" 'EPERM|ESRCH' kill "$pid" 19
	done
	held "$1" '0 1 2' fds
}

# What a holder of capabilities would lift masks and read-only mounts with.
mounts()
{
	for call in mount setns open-tree io-uring bpf perf keyctl; do
		held "$1" 'EPERM|ENOSYS' "$call"
	done
	for flag in newuser newns newpid newtime; do
		held "$1" EPERM unshare "$flag"
	done
	for call in move_mount fsopen fsconfig fsmount fspick mount_setattr \
	    open_tree_attr; do
		held "$1" 'EPERM|ENOSYS' syscall "$call"
	done
	for name in /proc/sys/kernel/core_pattern /proc/sysrq-trigger \
	    /sys/kernel/uevent_helper /sys/fs/cgroup/cgroup.procs; do
		held "$1" 'EACCES|EROFS|ENOENT' open-write "$name"
	done
}

# Landlock does not restrict these: the view does.
metadata()
{
	held "$1" ENOENT chmod "$outside/file" 777
	held "$1" EROFS chmod .git/hooks/old 777
	held "$1" EROFS chmod .env 777
	tap_empty "full: uid $1: nothing outside has changed" \
	    "$(find "$outside/file" "$home/.env" -perm 777)"
}

# A directory above a place that is denied could be carried away, and another
# one put there; only mounts go with it.
carried()
{
	refused='EBUSY|EXDEV'
	for name in up up/per; do
		held "$1" "$refused" rename "$name" "$home/away"
		held "$1" "$refused" exchange "$name" other
	done
	held "$1" ok create up/per/loads/new
	held "$1" ok rename up/per/loads/new up/per/loads/old
}

# scratch_of UID POLICY: its scratch directory, which is made.
scratch_of()
{
	(cd "$home" && as "$1" "$base/sbxrun" -w . "$base/$2.bin" -- /bin/true &&
	    as "$1" "$base/sbxrun" -n --json "$base/$2.bin") |
	    sed -n 's/.*"scratch":"\([^"]*\)".*/\1/p'
}

# The same in the scratch directory, which is elsewhere outside and is found
# again by the next run.
carried_scratch()
{
	refused='EBUSY|EXDEV'
	# shellcheck disable=SC2016  # the anchors are the policy's
	policy scratch workspace-write 'deny read  ${tmp}/s/secret' \
	    'deny write ${tmp}/a/b/keep' 'deny exec  ${tmp}/c/loads'
	in_tmp=$(scratch_of "$1" scratch)
	mkdir -p "$in_tmp/s" "$in_tmp/a/b/keep" "$in_tmp/c/loads"
	echo text | tee "$in_tmp/s/secret" "$in_tmp/s/other" >/dev/null
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$in_tmp"
	policy=$base/scratch.bin
	for name in s a a/b c; do
		held "$1" "$refused" rename "/tmp/$name" /tmp/away
		held "$1" "$refused" exchange "/tmp/$name" /tmp/s/other
	done
	held "$1" 'EACCES' open-read /tmp/s/secret
	held "$1" 'EROFS' create /tmp/a/b/keep/new
	held "$1" ok rename /tmp/s/other /tmp/s/another
	policy=$base/escape.bin
	tap_empty "full: uid $1: the scratch directory is as it was" \
	    "$(cd "$in_tmp" && ls -d away 2>/dev/null)"
	rm -rf "$in_tmp"
}

# An allow below the scratch directory gives what it gives at /tmp, too.
tools_in_scratch()
{
	cat >"$base/tools.sbx" <<-'POLICY'
	sbx 1
	profile tools {
	    require level standard
	    allow exec { /usr  /bin  /lib  /lib64 }
	    allow write ${workspace}
	    allow exec ${workspace}
	    allow write ${tmp}
	    allow exec ${tmp}/tools
	    deny exec  ${tmp}/tools/not
	}
	POLICY
	"$SBXC" "$base/tools.sbx" -o "$base/tools.bin" || exit 99
	in_tmp=$(scratch_of "$1" tools)
	mkdir -p "$in_tmp/tools/not"
	for file in tools/run tools/not/run; do
		: >"$in_tmp/$file"
		chmod 755 "$in_tmp/$file"
	done
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$in_tmp"
	policy=$base/tools.bin
	held "$1" ENOEXEC exec /tmp/tools/run
	held "$1" EACCES exec /tmp/tools/not/run
	policy=$base/escape.bin
	rm -rf "$in_tmp"
}

# Nothing of the outer /proc and /dev/shm comes into the sandbox's own ones to
# deny a part of them.
own_systems()
{
	shm=/dev/shm/sbx-escape.$$.$1
	cat >"$base/own.sbx" <<-POLICY
	sbx 1
	profile own extends workspace-write {
	    allow write /proc
	    deny read   /proc/1/environ
	    deny read   /proc/sys/kernel/random  except /proc/sys/kernel/random/uuid
	    deny write  /proc/sys/net
	    deny write  /proc/self/oom_score_adj
	    deny write  $shm
	}
	POLICY
	"$SBXC" "$base/own.sbx" -o "$base/own.bin" 2>/dev/null || exit 99
	# shellcheck disable=SC2016  # for the inner shell
	first='tr "\0" "\n" </proc/1/cmdline | head -n 1'
	if [ "$(cd "$home" && as "$1" "$base/sbxrun" -w . -l full "$policy" -- \
	    sh -c "$first")" != "$base/sbxrun" ]; then
		tap_skip "uid $1: no /proc of its own" 'none can be mounted'
		return
	fi
	(umask 022 && echo text >"$shm") 2>/dev/null
	[ "$1" -eq "$(id -u)" ] || chown "$1:$1" "$shm" 2>/dev/null
	policy=$base/own.bin
	held "$1" EACCES open-read /proc/1/environ
	held "$1" EACCES list /proc/sys/kernel/random
	held "$1" ok open-read /proc/sys/kernel/random/uuid
	held "$1" EROFS chmod /proc/sys/net/core/somaxconn 777
	held "$1" ENOENT open-read "$shm"
	# shellcheck disable=SC2016  # for the inner shell
	got=$(cd "$home" && as "$1" "$base/sbxrun" -w . -l full "$policy" -- \
	    sh -c "$first"'; echo $$; exec readlink /proc/self' 2>/dev/null)
	tap_empty "full: uid $1: process 1 and /proc/self are of its own" \
	    "$(echo "$got" | tr '\n' ' ' |
	    grep -Evx "$base/sbxrun ([0-9]+) \\1 ")"
	got=$(cd "$home" && as "$1" "$base/sbxrun" -w . -l full "$policy" -- \
	    true 2>&1)
	tap_empty "full: uid $1: what cannot be denied there is said" \
	    "$(for line in 7 8; do
		echo "$got" | grep -q "own.sbx:$line:17: nothing is there" ||
		    echo "$line: $got"
	    done)"
	policy=$base/escape.bin
	rm -f "$shm"
}

# What an earlier run left in the scratch directory, and who is first there.
scratch()
{
	work=$(mktemp -d /tmp/sbx-escape.XXXXXX) || exit 99
	top=${work##*/}
	mkdir "$work/src" && chmod 755 "$work"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$work"
	# Expanded by the shell inside.
	# shellcheck disable=SC2016
	in_tmp=$(cd "$work/src" && as "$1" "$base/sbxrun" -l standard \
	    "$base/escape.bin" -- sh -c 'echo "$TMPDIR"' 2>&1)
	as "$1" ln -s "$outside" "$in_tmp/$top"
	(cd "$work/src" && as "$1" "$base/sbxrun" -l full \
	    "$base/escape.bin" -- true) 2>/dev/null
	tap_empty "full: uid $1: a link planted in the scratch directory" \
	    "$([ $? -eq 125 ] || echo 'not refused'
	    find "$outside" -name src)"
	rm -rf "$in_tmp"
	as "$1" ln -s "$outside" "$in_tmp"
	tap_levels standard full
	for level in $levels; do
		(cd "$work/src" && as "$1" "$base/sbxrun" -l "$level" \
		    "$base/escape.bin" -- true) 2>/dev/null
		tap_empty "$level: uid $1: a scratch directory that is a link" \
		    "$([ $? -eq 125 ] || echo 'not refused')"
	done
	rm -rf "$in_tmp" "$work"
}

# What is read below /tmp stays unwritten though ${tmp}, seen there, is.
below_tmp()
{
	policy below data-analysis
	work=$(mktemp -d /tmp/sbx-escape.XXXXXX) || exit 99
	chmod 755 "$work"
	echo text >"$work/file"
	cp "$PROBE" "$work/probe"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$work"
	for call in 'open-write file' 'create new' 'unlink file' \
	    'rename file new'; do
		# The operation is meant to be split.
		# shellcheck disable=SC2086
		got=$(cd "$work" && as "$1" "$base/sbxrun" -l "$level" \
		    -D "data=$work" "$base/below.bin" -- ./probe $call 2>&1)
		tap_empty "$level: uid $1: below /tmp, read only: $call" \
		    "$(printf '%s' "$got" | grep -Evx 'EACCES|EROFS|EBUSY')"
	done
	rm -rf "$work"
}

check_all()
{
	policy=$base/escape.bin
	tap_levels standard full
	for level in $levels; do
		prepare "$1"
		denied_places "$1"
		other_processes "$1"
		mounts "$1"
		below_tmp "$1"
		if [ "$level" = full ]; then
			metadata "$1"
			carried "$1"
			carried_scratch "$1"
			tools_in_scratch "$1"
			own_systems "$1"
		fi
		rm -rf "$home" "$outside"
	done
	prepare "$1"
	scratch "$1"
}

# What root alone may read in /etc, where a policy says so.
secrets()
{
	printf '%s\n' 'sbx 1' 'include "groups.sbx"' \
	    'profile secrets extends workspace-write {' 'use root-secrets' '}' \
	    >"$base/secrets.sbx"
	"$SBXC" "$base/secrets.sbx" -o "$base/secrets.bin" || exit 99
	prepare 0
	tap_levels standard full
	for level in $levels; do
		policy=$base/escape.bin
		held 0 ok open-read /etc/shadow
		policy=$base/secrets.bin
		held 0 EACCES open-read /etc/shadow
		held 0 ok open-read /etc/passwd
	done
	policy=$base/escape.bin
}

check_all "$(id -u)"
if [ "$(id -u)" -eq 0 ]; then
	secrets
	check_all $ORDINARY
fi
tap_done

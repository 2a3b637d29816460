#!/bin/sh
# Ways out that a command could try, as TAP: a home directory that is the
# workspace, with places in it that are denied, at levels standard and full, as
# this user and, started by root, as an ordinary one too.

set -u
LC_ALL=C.UTF-8
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd) || exit 99
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
ORDINARY=65534

# Not below /tmp: that is the scratch directory at level full.
base=$(mktemp -d /var/tmp/sbx-escape.XXXXXX) || exit 99
trap 'rm -rf "$base"' EXIT
trap 'exit 99' HUP INT TERM
chmod 755 "$base"
cp "$SBXRUN" "$base/sbxrun"
cat >"$base/escape.sbx" <<'POLICY'
sbx 1
profile escape extends workspace-write {
    deny write ${workspace}/.git/hooks
    deny read  { ${workspace}/.env  ${workspace}/linked }
    deny exec  ${workspace}/data  except ${workspace}/data/tool
}
POLICY
"$SBXC" "$base/escape.sbx" -o "$base/escape.bin" || exit 99

as()
{
	as_uid=$1
	shift
	if [ "$as_uid" -eq "$(id -u)" ]; then
		env -i PATH="$PATH" HOME="$home" "$@"
	else
		setpriv --reuid="$as_uid" --regid="$as_uid" --clear-groups \
		    env -i PATH="$PATH" HOME="$home" "$@"
	fi
}

prepare()
{
	home=$base/home-$1
	outside=$base/outside-$1
	mkdir -p "$home/.git/hooks" "$home/.ssh" "$home/data" "$home/real" \
	    "$outside"
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
	got=$(cd "$home" && as "$uid" "$base/sbxrun" -l "$level" \
	    "$base/escape.bin" -- ./probe "$@" 2>&1 </dev/null)
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

# What an earlier run left in the scratch directory, and who is first there.
scratch()
{
	work=$(mktemp -d /tmp/sbx-escape.XXXXXX) || exit 99
	top=${work##*/}
	mkdir "$work/src" && chmod 755 "$work"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$work"
	# Expanded by the shell inside.
	# shellcheck disable=SC2016
	tmp=$(cd "$work/src" && as "$1" "$base/sbxrun" -l standard \
	    "$base/escape.bin" -- sh -c 'echo "$TMPDIR"' 2>&1)
	as "$1" ln -s "$outside" "$tmp/$top"
	(cd "$work/src" && as "$1" "$base/sbxrun" -l full \
	    "$base/escape.bin" -- true) 2>/dev/null
	tap_empty "full: uid $1: a link planted in the scratch directory" \
	    "$([ $? -eq 125 ] || echo 'not refused'
	    find "$outside" -name src)"
	rm -rf "$tmp"
	as "$1" ln -s "$outside" "$tmp"
	for level in standard full; do
		(cd "$work/src" && as "$1" "$base/sbxrun" -l "$level" \
		    "$base/escape.bin" -- true) 2>/dev/null
		tap_empty "$level: uid $1: a scratch directory that is a link" \
		    "$([ $? -eq 125 ] || echo 'not refused')"
	done
	rm -rf "$tmp" "$work"
}

# What is read below /tmp stays unwritten though ${tmp}, seen there, is.
below_tmp()
{
	cat >"$base/below.sbx" <<-'POLICY'
	sbx 1
	profile below extends data-analysis { }
	POLICY
	"$SBXC" "$base/below.sbx" -o "$base/below.bin" || exit 99
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
	for level in standard full; do
		prepare "$1"
		denied_places "$1"
		other_processes "$1"
		mounts "$1"
		below_tmp "$1"
		[ "$level" = standard ] || metadata "$1"
		rm -rf "$home" "$outside"
	done
	prepare "$1"
	scratch "$1"
}

check_all "$(id -u)"
if [ "$(id -u)" -eq 0 ]; then
	check_all $ORDINARY
fi
tap_done

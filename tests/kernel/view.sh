#!/bin/sh
# The view alone, as TAP: the flags of each of its mounts as the kernel lists
# them, and what they deny where neither Landlock nor the filter does.  Landlock
# hides a view that is broken, so the test build leaves both out.  As this user
# and, started by root, as an ordinary one too; and as on a kernel before Linux
# 6.15, which has no open_tree_attr(2), and in a container that does not know it.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

# Below /tmp: what is above the workspace is then a directory of the view's own,
# in the scratch directory.
tap_begin /tmp
base=$tmp
tap_programs "$SBXRUN_TEST" "$PROBE" "$builddir/sbx-proxy"

# old ERRNO COMMAND...: where open_tree_attr(2) is not known.
cat >"$base/old" <<'PERL'
#!/usr/bin/perl
# BPF: load the number, compare, the errno, allow.
my $code = join '', map { pack 'SCCL', @$_ } [0x20, 0, 0, 0],
    [0x15, 0, 1, 467], [6, 0, 0, 0x00050000 | shift @ARGV],
    [6, 0, 0, 0x7fff0000];
chomp(my $machine = `uname -m`);
my $prctl = $machine eq 'aarch64' ? 167 : 157;
syscall($prctl, 38, 1, 0, 0, 0) == 0 or exit 99;
syscall($prctl, 22, 2, pack('SxxxxxxP', 4, $code), 0, 0) == 0 or exit 99;
exec @ARGV;
PERL
chmod 755 "$base/old"

# place UID: what is to be seen.
place()
{
	home=$base/home-$1 ws=$base/home-$1/ws shown=$base/shown-$1
	out=$base/out-$1
	mkdir -p "$ws/data" "$ws/deep/er/kept" "$ws/far/off" "$ws/hidden" \
	    "$ws/around/open" "$shown/below" "$shown/shut" "$out"
	# Where nothing can be made.
	ln -s "$shown/below" "$shown/shut/way"
	ln -s shut "$shown/alias"
	# As a command may make it, in vain.
	ln -s "$shown" "$ws/planted"
	echo secret >"$ws/secret"
	echo secret >"$ws/far/off/secret"
	cp "$PROBE" "$ws/probe"
	cp "$PROBE" "$ws/data/probe"
	cp "$PROBE" "$out/probe"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home" "$shown" "$out"
	# The anchors are the policy's.
	# shellcheck disable=SC2016
	policy view workspace-write "allow read $shown except $shown/alias" \
	    "allow read $shown/shut/way" \
	    "deny read { $shown/shut  $ws/$(printf %0256d 0) }" \
	    'deny write { ${workspace}/deep/er/kept  ${tmp}/up/kept }' \
	    'deny exec ${workspace}/data' \
	    'deny read { ${workspace}/secret  ${workspace}/hidden }' \
	    'deny read ${workspace}/far/off/secret' \
	    'deny read ${workspace}/around except ${workspace}/around/open' \
	    'deny read ${tmp}/around except ${tmp}/around/open' \
	    'allow write ${workspace}/planted' \
	    "allow socket $out/socket" 'allow network domain example.org'
	(as "$1" "$base/probe" serve-unix "$out/socket" 2>/dev/null &
	    echo $! >"$base/server")
	tap_until [ -S "$out/socket" ]
}

# run UID COMMAND...: in the workspace, under the view alone.
run()
{
	run_uid=$1
	shift
	# $old is a command or nothing.
	# shellcheck disable=SC2086
	(cd "$ws" && as "$run_uid" env SBX_TEST_WITHOUT=landlock,filter $old \
	    "$base/sbxrun-test" -l full "$base/view.bin" -- "$@" \
	    2>&1 </dev/null)
}

# Where each is mounted, and which of these four flags it has.
flags()
{
	awk '$1 ~ /^[0-9]+$/ {
		flags = ""
		count = split($6, all, ",")
		for (i = 1; i <= count; i++)
			if (all[i] ~ /^(ro|nosuid|nodev|noexec)$/)
				flags = flags " " all[i]
		print $5 flags
	}'
}

# What every mount has; devices are devices in /dev alone.
loose()
{
	grep -Ev ' nosuid( nodev)?( noexec)?$' "$1"
	grep -Ev ' nodev|^/dev/(full|null|ptmx|pts|random|tty|urandom|zero) ' "$1"
}

mounts()
{
	run "$uid" cat /proc/self/mountinfo | flags >"$base/flags"
	tap_empty "$name: flags of all" "$(loose "$base/flags")"
	while read -r at wanted; do
		tap_is "$name: ${at#"$base"}" "$at $wanted" \
		    "$(grep "^$at " "$base/flags" | tail -n 1)"
	done <<-TABLE
	/ ro nosuid nodev
	/dev/null ro nosuid
	/dev/pts nosuid noexec
	/dev/shm nosuid nodev
	/etc ro nosuid nodev
	/etc/hosts ro nosuid nodev noexec
	/etc/resolv.conf ro nosuid nodev noexec
	/proc nosuid nodev noexec
	/tmp nosuid nodev
	$base ro nosuid nodev
	$out/socket ro nosuid nodev noexec
	$shown ro nosuid nodev noexec
	$shown/shut ro nosuid nodev
	$ws nosuid nodev
	$ws/around ro nosuid nodev
	$ws/around/open nosuid nodev
	$ws/data nosuid nodev noexec
	$ws/deep nosuid nodev
	$ws/deep/er nosuid nodev
	$ws/deep/er/kept ro nosuid nodev
	$ws/far nosuid nodev
	$ws/far/off nosuid nodev
	$ws/far/off/secret ro nosuid nodev noexec
	$ws/hidden ro nosuid nodev
	$ws/secret ro nosuid nodev noexec
	TABLE
}

# What the view denies, and what it lets pass.
denials()
{
	run "$uid" mkdir -p /tmp/up/kept /tmp/around/open >/dev/null
	while read -r wanted operation; do
		# The operation is words.
		# shellcheck disable=SC2086
		tap_is "$name: $(echo "$operation" | sed "s|$base/||g")" \
		    "$wanted" "$(run "$uid" ./probe $operation)"
	done <<-TABLE
	ok create $ws/new-$number
	EROFS create /new
	EROFS create $base/new
	EROFS create $home/new
	EROFS create $shown/new
	EROFS create $ws/hidden/new
	EROFS create $ws/around/new
	ok create $ws/around/open/new
	EROFS create $ws/deep/er/kept/new
	EROFS create /tmp/up/kept/new
	EROFS create /tmp/around/new
	ok create /tmp/around/open/new
	EROFS chmod $ws/hidden 755
	EROFS chmod $ws/around 755
	EROFS chmod $shown 755
	EROFS chmod $out/socket 777
	EROFS chmod /dev/null 666
	EACCES open-read $ws/secret
	EACCES exec $ws/data/probe
	ok exec $ws/probe
	EBUSY rename $ws/deep $ws/d
	EBUSY rename $ws/deep/er $ws/deep/e
	EBUSY rename $ws/far $ws/f
	EBUSY rename $ws/far/off $ws/far/o
	EBUSY rename $ws/data $ws/d
	EBUSY rename $ws/hidden $ws/h
	EBUSY rename /tmp/up /tmp/down
	ok open-write /dev/null
	ok open-write /dev/ptmx
	ok open-read /etc/passwd
	TABLE
	tap_is "$name: a program on standard input" EACCES "$(cd "$ws" &&
	    as "$uid" env SBX_TEST_WITHOUT=landlock,filter \
	    "$base/sbxrun-test" -l full "$base/view.bin" -- \
	    ./probe exec /proc/self/fd/0 2>&1 <"$out/probe")"
	tap_is "$name: links" "/proc/self/fd /proc/self/fd/0 $(:
	    )/proc/self/fd/1 /proc/self/fd/2 shut" "$(run "$uid" readlink \
	    /dev/fd /dev/stdin /dev/stdout /dev/stderr "$shown/alias" |
	    paste -sd ' ')"
	tap_is "$name: modes" '111 1777' \
	    "$(run "$uid" stat -c %a "$ws/hidden" /dev/shm | paste -sd ' ')"
}

# What is mounted below something that is shown, with all that the flags forbid.
below()
{
	if ! unshare -m mount -t tmpfs none "$shown/below" 2>/dev/null; then
		tap_skip "$name: a mount below" 'nothing can be mounted'
		return
	fi
	# shellcheck disable=SC2016,SC2086  # for the inner shell; $old is words
	tap_is "$name: a mount below" "$shown/below ro nosuid nodev noexec" "$(
	    cd "$ws" && as "$uid" env SBX_TEST_WITHOUT=landlock,filter \
	    unshare -m sh -c 'mount -t tmpfs none "$1" && shift && exec "$@"' \
	    sh "$shown/below" $old "$base/sbxrun-test" -l full \
	    "$base/view.bin" -- cat /proc/self/mountinfo 2>&1 </dev/null |
	    flags | grep "^$shown/below ")"
}

# Where the policy shows /dev itself, two things in it are others, and in containers
# a link leads to the second; where it shows a part of /proc in another way than the
# rest, that is of the new one.
parts()
{
	as "$uid" env SBX_TEST_WITHOUT=landlock,filter "$base/sbxrun-test" \
	    -w "$ws" -l full "$base/dev.bin" -- stat -Lc '%a %n' /dev/shm \
	    /dev/ptmx >"$base/devices" 2>&1
	tap_is "$name: modes in /dev" '1777 /dev/shm 666 /dev/ptmx' \
	    "$(paste -sd ' ' "$base/devices")"
	tap_is "$name: process 1 is its own" sbxrun-test "$(as "$uid" env \
	    SBX_TEST_WITHOUT=landlock,filter "$base/sbxrun-test" -w "$ws" \
	    -l full "$base/dev.bin" -- cat /proc/1/comm 2>&1)"
	# Root's /proc is also what the machine is set by, so nothing there opens.
	settings=ok
	[ "$uid" -ne 0 ] || settings=no
	for each in "dev $settings" "shut no"; do
		tap_is "$name: settings of a process under ${each% *}" \
		    "${each#* }" "$(
		    # shellcheck disable=SC2016  # for the inner shell
		    as "$uid" "$base/sbxrun-test" -w "$ws" -l full \
		    "$base/${each% *}.bin" -- sh -c 'for f in comm oom_score_adj \
			task/$$/comm; do
			    echo 9 >/proc/$$/$f && echo ok || echo no
			done' 2>"$base/said" | sort -u | paste -sd ' ')"
	done
	# Else the view has the directory for what is built there.
	case $builddir in
	/var/tmp/*) ;;
	*)
		tap_is "$name: /var/tmp is the scratch directory" found "$(as "$uid" \
		    "$base/sbxrun-test" -w "$ws" -l full "$base/shut.bin" -- sh -c \
		    'echo found >/var/tmp/a && cat /tmp/a' 2>&1)"
		;;
	esac
	tap_is "$name: /dev/shm, which may be read alone" EROFS "$(as "$uid" \
	    env SBX_TEST_WITHOUT=landlock,filter "$base/sbxrun-test" -w "$ws" \
	    -l full "$base/shm.bin" -- "$base/probe" create /dev/shm/new 2>&1)"
	tap_is "$name: a device where all is shown" ok "$(as "$uid" \
	    env SBX_TEST_WITHOUT=landlock,filter "$base/sbxrun-test" -w "$ws" \
	    -l full "$base/root.bin" -- "$base/probe" open-read /dev/zero 2>&1)"
}

# Namespaces of its own, and none of those outside.
namespaces()
{
	tap_is "$name: namespaces of its own" 'ipc mnt net pid' "$(
	    for kind in ipc mnt net pid; do
		[ "$(run "$uid" readlink /proc/self/ns/$kind)" = \
		    "$(readlink /proc/self/ns/$kind)" ] || echo $kind
	    done | paste -sd ' ')"
}

tap_levels full
[ -n "$levels" ] || { tap_done; exit; }
policy dev workspace-write 'allow read /dev' 'allow write /proc/1'
policy shut workspace-write 'deny write /proc/sys'
policy shm workspace-write "allow exec $base/probe" 'deny write /dev/shm'
{
	echo 'sbx 1'
	echo 'profile root {'
	echo '    allow exec /'
	echo '    allow read /dev/zero'
	echo '}'
} >"$base/root.sbx"
"$SBXC" "$base/root.sbx" -o "$base/root.bin" || exit 99
number=0
for uid in $(id -u) $([ "$(id -u)" -ne 0 ] || echo "$ORDINARY"); do
	place "$uid"
	# ENOSYS and EPERM.
	for old in '' "$base/old 38" "$base/old 1"; do
		number=$((number + 1))
		name="uid $uid${old:+, where a call answers ${old##* }}"
		mounts
		[ "$uid" -ne 0 ] || below
		[ -n "$old" ] || { denials; parts; namespaces; }
	done
	kill "$(cat "$base/server")"
	as "$uid" "$base/sbxrun-test" --clean -w "$ws"
done
tap_done

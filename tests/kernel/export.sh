#!/bin/bash
# crun applies the filter that `sbxc export` writes, and answers each probe as
# sbxrun does at level minimal, which has the filter alone.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# Where the command has its scratch directory, it has a /tmp of its own.
tap_begin /var/tmp
tap_programs "$SBXC" "$SBXRUN" "$PROBE"

# container SECCOMP: a bundle in $tmp/bundle whose process reads operations.
container()
{
	rm -rf "$tmp/bundle"
	mkdir -p "$tmp/bundle/root/proc" "$tmp/bundle/root/dev"
	cp "$tmp/probe" "$tmp/bundle/root/probe"
	cat >"$tmp/bundle/config.json" <<-END
	{ "ociVersion": "1.0.2",
	  "process": { "user": { "uid": 0, "gid": 0 }, "cwd": "/",
	    "args": [ "/probe", "-" ], "env": [], "noNewPrivileges": true,
	    "capabilities": {} },
	  "root": { "path": "root", "readonly": true },
	  "mounts": [ { "destination": "/proc", "type": "proc",
	    "source": "proc" } ],
	  "linux": { "namespaces": [ { "type": "mount" }, { "type": "pid" },
	    { "type": "ipc" }, { "type": "network" } ]
	    ${1:+, \"seccomp\":} $(test -z "${1-}" || cat "$1") } }
	END
}

# run_container: with a hierarchy of control groups that crun knows, for some
# machines have both kinds of them, in mounts of its own.
run_container()
{
	(cd "$tmp/bundle" && unshare -m sh -c '
	    mount -t cgroup2 none /sys/fs/cgroup
	    exec crun --root "$1/crun" --cgroup-manager=disabled run "$2"' \
	    sh "$tmp" "sbx-$$")
}

# Calls of each kind of answer, and arguments of which only some bits count.
operations()
{
	local family type high

	printf '%s\n' seccomp nnp io-uring tiocsti tiocsti-high bpf userfaultfd \
	    perf keyctl memfd-exec setns 'int80	20' 'x32	39' mount \
	    'open-tree	/' 'unshare	268435456' 'clone3	268435456' \
	    'nice	process	1' 'nice	process	0' 'nice	group	0' \
	    'mq-open	/sbx-export' 'mq-unlink	/sbx-export' 'ptrace	1'
	for family in 0 1 2 3 10 16 17 44; do
		for type in 1 2 3 5; do
			printf 'socket	%s	%s\nsocketpair	%s	%s\n' \
			    $family $type $family $type
		done
		printf 'socket-high	%s	1\n' $family
	done
	# Numbers that no kernel has, personality(2), fcntl(2) on no descriptor.
	printf '%s\n' 'syscall	1000' 'syscall	135	8' \
	    'syscall	135	4294967295' 'syscall	135	262144' \
	    'syscall	135	1'
	for high in 0 4294967296; do
		printf 'syscall	72	-1	%s\n' $((high + 1024)) \
		    $((high + 1026)) $((high + 1040)) $((high + 1025))
		printf 'syscall	16	-1	%s\n' $((high + 0x5412)) \
		    $((high + 0x40049409)) $((high + 0x6605)) \
		    $((high + 0x80086601)) $((high + 0x9401)) $((high + 0x5401))
	done
}

# filtered POLICY-LINE...: the same answers under both.
filtered()
{
	printf 'sbx 1\nprofile p {\n    allow exec /\n    allow write /\n' \
	    >"$tmp/p.sbx"
	printf '    %s\n' "$@" >>"$tmp/p.sbx"
	echo '}' >>"$tmp/p.sbx"
	"$SBXC" build -o "$tmp/p.bin" "$tmp/p.sbx" 2>"$tmp/said" &&
	    "$SBXC" export --lossy -O oci-seccomp "$tmp/p.sbx" \
	    >"$tmp/seccomp.json" 2>>"$tmp/said" || {
		tap_not_ok "crun: $*" "$(cat "$tmp/said")"
		return
	}
	container "$tmp/seccomp.json"
	# libseccomp kills a process that calls as 32-bit programs do.
	run_container <"$tmp/operations" >"$tmp/all" 2>&1
	paste "$tmp/operations" "$tmp/all" |
	    sed '/^int80\|^x32/s/SIGSYS$/ENOSYS/' >"$tmp/theirs"
	(cd "$tmp/bundle/root" && "$tmp/sbxrun" -l minimal "$tmp/p.bin" -- \
	    ./probe - <"$tmp/operations") 2>&1 >"$tmp/all" |
	    grep -v '^sbxrun: warning: level minimal'
	paste "$tmp/operations" "$tmp/all" >"$tmp/ours"
	tap_empty "crun answers as sbxrun: $*" "$(
	    [ "$(wc -l <"$tmp/all")" -gt 80 ] || cat "$tmp/theirs"
	    diff "$tmp/ours" "$tmp/theirs")"
}

crun_works()
{
	container
	echo nnp | run_container 2>&1 | grep -qx 1
}

[ "$(uname -m)" != x86_64 ] || operations >"$tmp/operations"
if [ ! -s "$tmp/operations" ]; then
	tap_lacks 'crun' 'the numbers of calls are those of x86_64'
elif [ "$(id -u)" != 0 ]; then
	tap_lacks 'crun' 'root starts it'
elif ! type crun >/dev/null 2>&1; then
	tap_skip 'crun' 'it is not installed'
elif ! crun_works; then
	tap_lacks 'crun' 'it starts no container here'
else
	filtered
	filtered 'allow network full'
	filtered 'allow syscalls { perf_event_open bpf }' 'deny syscalls @aio'
	filtered 'allow syscalls { personality mq_open @keyring }'
fi

tap_done

#!/bin/bash
# What `sbxc export` writes holds under the programs that it is for: crun applies
# the filter, and answers each probe as sbxrun does at level minimal, which has
# the filter alone; bubblewrap shows of a tree what `sbxc why` says, file by file,
# and refuses what cannot be held.  As this user and, started by root, as an
# ordinary one too.  What docker would be told, crun does.

# shellcheck disable=SC2016 # policies are written in single quotes
set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# Where the command has its scratch directory, it has a /tmp of its own.
tap_begin /var/tmp
tap_programs "$SBXC" "$SBXRUN" "$PROBE"

# --- crun ------------------------------------------------------------------

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

# --- bubblewrap ------------------------------------------------------------

engine=bwrap image=

# world UID: a home, a workspace and other places with files in them.
world()
{
	rm -rf "$tmp/w"
	mkdir -p "$tmp/w/home/.ssh" "$tmp/w/home/.config/git" \
	    "$tmp/w/home/.config/gh" "$tmp/w/home/.cache" \
	    "$tmp/w/home/ws/.git/hooks" "$tmp/w/home/ws/src/deep/er" \
	    "$tmp/w/home/ws/a'\$(id)\"*" "$tmp/w/srv/keys/pub" \
	    "$tmp/w/near/a/b" "$tmp/w/near/a-b" "$tmp/w/near/a.b" \
	    "$tmp/w/near/a!b" \
	    "$tmp/w/srv/data" "$tmp/w/run"
	for file in home/.ssh/id home/.config/git/config home/.config/gh/token \
	    home/.cache/c home/.bashrc home/ws/.env home/ws/.env.example \
	    home/ws/src/.env.local home/ws/src/deep/er/main.c \
	    home/ws/src/deep/x.key home/ws/.git/config home/ws/.git/hooks/h \
	    "home/ws/a'\$(id)\"*/f" srv/keys/secret srv/keys/pub/p \
	    srv/data/d srv/data/é.key run/s near/a/f near/a/b/f near/a-b/f \
	    near/a.b/f "near/a!b/f"; do
		echo content >"$tmp/w/$file"
	done
	chmod -R a+rX "$tmp/w"
	chown -R "$1" "$tmp/w"
}

# places: all files, and new ones in all directories, of this world.
places()
{
	(cd "$tmp/w" && find . -type f | cut -c2- &&
	    find . -type d | sed 's,^\.,,;s,$,/new,')
}

# answered UID: what happens, as cases of a test file.
answered()
{
	places | while IFS= read -r place; do
		case $place in
		*/new) printf 'create	%s\n' "$tmp/w$place" ;;
		*) printf 'open-read	%s\nopen-write	%s\n' \
		    "$tmp/w$place" "$tmp/w$place" ;;
		esac
	done >"$tmp/questions"
	(cd "$tmp/w/home/ws" && tap_as "$1" env -i PATH="$PATH" \
	    HOME="$tmp/w/home" XDG_RUNTIME_DIR="$tmp/w/run" "$tmp/b.sh" \
	    ${image-} "$tmp/probe" - <"$tmp/questions" 2>"$tmp/said") |
	    paste "$tmp/questions" - |
	    sed "s/'/''/g; s/^open-//; s/^create/write/
	    s/^\([a-z]*\)	\(.*\)	ok\$/  - allow: '\1 \2'/
	    s/^\([a-z]*\)	\(.*\)	E[A-Z]*\$/  - deny: '\1 \2'/"
}

# shown UID POLICY-LINE...: the view is what the policy says.
shown()
{
	uid=$1
	shift
	world "$uid"
	{
		printf 'sbx 1\nprofile b {\n    allow exec { /usr /bin /lib'
		printf ' /lib64 %s/probe }\n' "$tmp"
		printf '    %s\n' "$@"
		echo '}'
	} | sed "s,WORLD,$tmp/w,g" >"$tmp/b.sbx"
	rm -f "$tmp/b.sh"
	if ! "$SBXC" export --lossy -O "$engine" -o "$tmp/b.sh" "$tmp/b.sbx" \
	    2>"$tmp/said"; then
		tap_not_ok "bubblewrap: $*" "$(cat "$tmp/said")"
		return
	fi
	chmod 755 "$tmp/b.sh"
	[ $engine = bwrap ] ||
	    sed -i "s,type -P docker,echo '$tmp/docker',
	    s,mktemp /tmp/,mktemp $tmp/," "$tmp/b.sh"
	{
		printf 'sbx-test: 1\npolicy: b.sbx\ngiven:\n'
		printf '  %s\n' "workspace: $tmp/w/home/ws" \
		    "home: $tmp/w/home" "runtime: $tmp/w/run"
		echo 'cases:'
		answered "$uid"
	} >"$tmp/b.test.yaml"
	world "$uid"
	"$SBXC" test "$tmp/b.test.yaml" >"$tmp/why" 2>&1
	status=$?
	tap_empty "uid $uid: $engine shows what the policy says: $*" "$(
	    grep -q 'allow:' "$tmp/b.test.yaml" || echo 'nothing is allowed'
	    grep -q 'deny:' "$tmp/b.test.yaml" || echo 'nothing is denied'
	    [ $status -eq 0 ] || head -n 20 "$tmp/why" "$tmp/said")"
}

# runs UID COMMAND...: in the last script.
runs()
{
	as_uid=$1
	shift
	(cd "$tmp/w/home/ws" && tap_as "$as_uid" env -i PATH="$PATH" \
	    HOME="$tmp/w/home" SECRET_TOKEN=s LANG=C home=h args=a sbx_entry=e \
	    "$tmp/b.sh" ${image-} "$@" 2>&1)
}

views()
{
	shown "$1" 'allow read ${workspace}'
	shown "$1" 'allow write ${workspace}' 'deny write ${workspace}/.git/hooks' \
	    'deny read ${workspace}/.env'
	tap_is "uid $1: what lies above a mask keeps its name" 'kept' "$(
	    runs "$1" /bin/sh -c 'mv .git x || echo kept' | tail -n 1)"
	tap_is "uid $1: its root is shut" 'shut' "$(
	    runs "$1" /bin/sh -c 'mkdir /new || echo shut' | tail -n 1)"
	shown "$1" 'allow write ~' 'deny read ~/.config except ~/.config/git' \
	    'deny read ~/.ssh' 'deny write ~/.bashrc'
	shown "$1" 'allow read /' 'allow write ${workspace}' \
	    'deny read { ~/.ssh  WORLD/srv/keys }'
	shown "$1" 'allow write WORLD/srv except WORLD/srv/keys' \
	    'allow read WORLD/srv/keys/pub'
	shown "$1" 'allow read ${workspace}' 'allow write ${workspace}/src' \
	    'deny write ${workspace}/src/deep' \
	    'deny read glob "${workspace}/**/.env*" except ${workspace}/.env.example' \
	    'deny read glob "${workspace}/**/?*.key"'
	shown "$1" 'allow write WORLD/srv' 'deny read glob "WORLD/srv/*/?.key"'
	shown "$1" "allow read \"\${workspace}/a'\$(id)\\\"*\""
	shown "$1" 'allow write { ${tmp}  ${workspace} }' 'allow read ${proc}' \
	    'allow write ${devices}' 'deny env *_TOKEN' 'allow env *' \
	    'set env A = "x '"'"'$(id)"' 'set env B = ${tmp}/b' \
	    'limit open-files 77' 'limit cpu-time 77s' 'limit memory 5GiB' \
	    'limit file-size 3MiB' 'limit core 65KiB' 'limit stack 2MiB'
	names='cpu time|file size|stack size|core file size|open files|address space'
	tap_is "uid $1: each limit, in bytes and seconds" \
	    '77 3145728 2097152 66560 77 5368709120 ' "$(
	    runs "$1" sed -nE "s/^Max ($names) +([0-9]+) .*/\2/p" \
	    /proc/self/limits | tr '\n' ' ')"
	tap_is "uid $1: variables, limits, the scratch directory" \
	    "x '\$(id) /tmp/b  h a e 77 /tmp" "$(
	    runs "$1" /bin/sh -c 'touch $TMPDIR/x && echo x >/dev/null &&
	    echo "$A $B $SECRET_TOKEN $home $args $sbx_entry $(ulimit -n) $TMPDIR"')"
	tap_is "uid $1: no sockets, no namespaces" "EACCES EACCES EPERM " "$(
	    runs "$1" "$tmp/probe" socket 2 1 -- socket 1 1 -- \
	    unshare 268435456 | tr '\n' ' ')"
	planted "$1"
	neighbours "$1"
	surroundings "$1"
	withheld "$1"
}

# withheld UID: what the caller's variables hold is nowhere to be read inside, of
# no process, whatever they are called: as variables of the script are, or as none
# of a shell can be.  What is handed on is no argument, which all users can see.
withheld()
{
	shown "$1" 'allow read ${workspace}' 'allow read ${proc}' \
	    'allow env { PATH  GIVEN }' 'limit timeout 1m'
	(cd "$tmp/w/home/ws" && tap_as "$1" env -i PATH="$PATH" \
	    HOME="$tmp/w/home" GIVEN=handed-on MY_TOKEN=s3cret args=s3cret \
	    kept=s3cret environment=s3cret names=s3cret name=s3cret env=s3cret \
	    withheld=s3cret sbx_entry=s3cret a.b=s3cret '-u=s3cret' \
	    'x]$(id)=s3cret' 'BASH_FUNC_ls%%=() { s3cret; }' LANG=s3cret \
	    "$tmp/b.sh" ${image-} /bin/sh -c '
	    for file in /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do
		    printf "%s " "$file:" $(tr "\0" " " <"$file")
		    echo
	    done') >"$tmp/inside" 2>&1
	tap_found "uid $1: $engine: the variables of process 1 are read" \
	    "$(grep -a '^/proc/1/environ:.*GIVEN=handed-on' "$tmp/inside")"
	tap_empty "uid $1: $engine: no process has what is withheld" \
	    "$(grep -a s3cret "$tmp/inside")"
	tap_empty "uid $1: $engine: no argument is what is handed on" \
	    "$(grep -a 'cmdline:.*handed-on' "$tmp/inside")"
}

# planted UID: a link that a command may have made leads nowhere; where it
# would have to be kept, nothing is run; and a directory that the caller holds
# open is closed.
planted()
{
	shown "$1" 'allow write ${workspace}' 'allow read ${workspace}/link/id'
	ln -s ../.ssh "$tmp/w/home/ws/link"
	chown -h "$1" "$tmp/w/home/ws/link"
	tap_is "uid $1: a planted link gives nothing" ENOENT "$(
	    runs "$1" "$tmp/probe" open-read "$tmp/w/home/ws/link/id")"
	tap_is "uid $1: nor does a descriptor" 'EBADF' "$(
	    exec 7<"$tmp/w/home/.ssh"
	    runs "$1" "$tmp/probe" fd 7)"
	shown "$1" 'allow write ${workspace}' 'deny write ${workspace}/link'
	ln -s src "$tmp/w/home/ws/link"
	chown -h "$1" "$tmp/w/home/ws/link"
	got=$(runs "$1" /bin/true)
	tap_is "uid $1: what cannot be held is refused" 125 $?
	tap_found "uid $1: with its name" "ws/link' is a link" "$got"
	mv "$tmp/w/home/ws" "$tmp/w/home/ws"$'\n'
	tap_is "uid $1: in a directory with a newline at its end too" 125 "$(
	    cd "$tmp/w/home/ws"$'\n' && tap_as "$1" env -i PATH="$PATH" \
	    HOME="$tmp/w/home" "$tmp/b.sh" /bin/true >/dev/null 2>&1
	    echo $?)"
}

# neighbours UID: names that begin with the name of another one, and whose next
# byte sorts before a slash, do not lie in it and do not hide what does.
neighbours()
{
	shown "$1" 'allow write WORLD/near/a' 'deny read WORLD/near/a/b' \
	    'allow read { WORLD/near/a-b  WORLD/near/a.b }' \
	    'allow write "WORLD/near/a!b"'
	shown "$1" 'allow read WORLD' 'deny write WORLD/near/a/b' \
	    'allow write { WORLD/near/a  WORLD/near/a.b }' \
	    'deny read { "WORLD/near/a!b"  WORLD/near/a-b }'
	shown "$1" 'allow write WORLD/near' 'deny read WORLD/near/a' \
	    'deny write { WORLD/near/a-b  WORLD/near/a.b }' \
	    'deny read "WORLD/near/a!b"'
}

# surroundings UID: what the caller hands on, descriptors and variables, neither
# leads past the mounts nor changes what the script does.
surroundings()
{
	shown "$1" 'allow write ${workspace}' 'deny read ${workspace}/.env' \
	    'allow env *' 'deny env *_TOKEN'
	for fd in 0 1 2; do
		tap_is "uid $1: descriptor $fd is no directory" 125 "$(
		    started "$1" "exec $fd<'$tmp/w/home/.ssh'")"
	done
	tap_is "uid $1: descriptor 0 is not opened with O_PATH" 125 "$(
	    started "$1" : python3 -c 'import os, sys
os.dup2(os.open("/etc/passwd", os.O_PATH), 0)
os.execv(sys.argv[1], sys.argv[1:])')"
	tap_is "uid $1: descriptors 254 and 255 are closed" 'EBADF EBADF ' "$(
	    exec 254<"$tmp/w/home/.ssh" 255<"$tmp/w/home/.ssh"
	    runs "$1" "$tmp/probe" fd 254 -- fd 255 | tr '\n' ' ')"
	for variable in BASH_COMPAT=42 POSIXLY_CORRECT=1 \
	    FUNCNEST=1 SHELLOPTS=noglob \
	    BASHOPTS=failglob 'EXECIGNORE=*'; do
		tap_is "uid $1: $variable changes nothing" \
		    "EACCES ok $variable" "$(varied "$1" "$variable")"
	done
}

# started UID SHELL-CODE [PROGRAM ARGUMENT...]: the status of the last script.
started()
{
	(
		as_uid=$1
		cd "$tmp/w/home/ws" || exit
		code=$2
		shift 2
		(eval "$code"
		    tap_as "$as_uid" env -i PATH="$PATH" HOME="$tmp/w/home" \
		    "$@" "$tmp/b.sh" /bin/true) >/dev/null 2>&1
		echo $?
	)
}

# varied UID NAME=VALUE: with this variable, and by the name of the shell.
varied()
{
	(
		cd "$tmp/w/home/ws" || exit
		tap_as "$1" env -i PATH="$PATH" HOME="$tmp/w/home" "$2" \
		    A_TOKEN=s bash "$tmp/b.sh" /bin/sh -c '
		    "$1" open-read .env -- open-read .env.example
		    case ${2%%=*} in
		    SHELLOPTS | BASHOPTS) echo "$2" ;;
		    *) env | grep "^${2%%=*}=" ;;
		    esac
		    echo $A_TOKEN' sh "$tmp/probe" "$2" 2>&1 | xargs
	)
}

if ! type bwrap >/dev/null 2>&1; then
	tap_skip 'bubblewrap' 'it is not installed'
elif ! bwrap --unshare-user --ro-bind / / true 2>/dev/null; then
	tap_lacks 'bubblewrap' 'it does not work here'
else
	views "$(id -u)"
	! tap_twice || views "$(tap_user)"
fi

# --- docker ----------------------------------------------------------------

# contained: the same of the arguments for docker, which docker.py reads.
contained()
{
	shown 0 'allow write ${workspace}' 'deny write ${workspace}/.git/hooks' \
	    'deny read ${workspace}/.env' 'allow read ${proc}'
	tap_is 'docker: what lies above a mask keeps its name' 'kept' "$(
	    runs 0 /bin/sh -c 'mv .git x || echo kept' | tail -n 1)"
	tap_is 'docker: its root is shut' 'shut' "$(
	    runs 0 /bin/sh -c 'mkdir /new || echo shut' | tail -n 1)"
	tap_is 'docker: no capabilities, nothing gained' '0000000000000000 1' "$(
	    runs 0 sed -nE 's/^(CapBnd|NoNewPrivs):[[:space:]]*//p' \
	    /proc/self/status | xargs)"
	shown 0 'allow write ~' 'deny read ~/.config except ~/.config/git' \
	    'deny read ~/.ssh' 'deny write ~/.bashrc'
	shown 0 'allow read /' 'allow write ${workspace}' \
	    'deny read { ~/.ssh  WORLD/srv/keys }'
	if mount -t tmpfs below "$tmp/w/near/a/b"; then
		tap_is 'docker: what is mounted below is read-only, too' EROFS "$(
		    runs 0 "$tmp/probe" create "$tmp/w/near/a/b/new")"
		umount "$tmp/w/near/a/b"
	else
		tap_lacks 'docker: mounts below' 'nothing can be mounted'
	fi
	shown 0 'allow read ${workspace}' 'allow write ${workspace}/src' \
	    'deny read glob "${workspace}/**/.env*" except ${workspace}/.env.example'
	shown 0 'allow write { ${tmp}  ${workspace} }' 'allow read ${proc}' \
	    'allow write ${devices}' 'deny env *_TOKEN' 'allow env *' \
	    'set env A = "x '"'"'$(id)"' 'set env B = ${tmp}/b' \
	    'limit open-files 77' 'limit cpu-time 77s' 'limit memory 5GiB' \
	    'limit file-size 3MiB' 'limit core 65KiB' 'limit stack 2MiB' \
	    'limit processes 99'
	tap_is 'docker: limits of processes, in bytes and seconds' \
	    '77 3145728 2097152 66560 77 ' "$(
	    runs 0 sed -nE "s/^Max ($names) +([0-9]+) .*/\2/p" \
	    /proc/self/limits | tr '\n' ' ' | sed 's/unlimited //')"
	tap_is 'docker: those of a group' \
	    '--memory 5368709120 --memory-swap 5368709120 --pids-limit 99 ' "$(
	    image='' runs 0 -n | grep -oE -- '--(memory|memory-swap|pids-limit) [0-9]+' |
	    tr '\n' ' ')"
	tap_is 'docker: variables, the scratch directory' \
	    "x '\$(id) /tmp/b  h a e /tmp" "$(
	    runs 0 /bin/sh -c 'touch $TMPDIR/x && echo x >/dev/null &&
	    echo "$A $B $SECRET_TOKEN $home $args $sbx_entry $TMPDIR"')"
	tap_is 'docker: no sockets, no namespaces' 'EACCES EACCES EPERM ' "$(
	    runs 0 "$tmp/probe" socket 2 1 -- socket 1 1 -- \
	    unshare 268435456 | tr '\n' ' ')"
	withheld 0
	mkdir "$tmp/w/a,b"
	tap_found 'docker: a comma is refused' "$(
	    cd "$tmp/w/a,b" && env -i PATH="$PATH" HOME="$tmp/w/home" \
	    "$tmp/b.sh" empty /bin/true 2>&1 | grep "cannot be told of .*/a,b'")"
	tap_found 'docker: an older one is refused' "$(
	    sed 's,exec python3,DOCKER_VERSION=24.0.9 &,' "$tmp/docker" >"$tmp/old"
	    chmod 755 "$tmp/old"
	    sed -i "s,$tmp/docker,$tmp/old," "$tmp/b.sh"
	    runs 0 /bin/true | grep "old' is Docker 24: it leaves writable")"
	sed -i "s,'Docker version ','Dogger version '," "$tmp/b.sh"
	tap_found 'docker: another program of that name is refused' \
	    "$(runs 0 /bin/true | grep 'is not Docker')"
}

if [ "$(id -u)" != 0 ]; then
	tap_lacks 'docker' 'root starts its containers'
elif ! type crun >/dev/null 2>&1; then
	tap_skip 'docker' 'crun is not installed'
elif ! crun_works; then
	tap_lacks 'docker' 'crun starts no container here'
else
	engine=docker image=empty
	names='cpu time|file size|stack size|core file size|open files'
	printf '#!/bin/sh\nexec python3 %s %s "$@"\n' \
	    "'$srcdir/tests/kernel/docker.py'" "'$tmp/bundle'" >"$tmp/docker"
	chmod 755 "$tmp/docker"
	contained
fi
tap_done

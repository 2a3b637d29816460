#!/bin/sh
# What the kernel says under the shipped profiles, as TAP: a probe tries one
# operation after the other inside the sandbox, at levels standard and full, as
# this user and, started by root, as an ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
profiles=$srcdir/profiles
ORDINARY=65534

tap_begin
base=$tmp
tap_programs "$SBXRUN" "$SBXC" "$SBXRUN_TEST"
for profile in workspace-write read-only full-access coding; do
	"$SBXC" "$profiles/$profile.sbx" -o "$base/$profile.bin" || exit 99
done

printf 'sbx 1\nprofile usr { allow exec /usr }\n' |
    "$SBXC" - -o "$base/usr.bin" || exit 99
cat >"$base/ports.sbx" <<'POLICY'
sbx 1
profile ports extends workspace-write {
    allow network connect tcp 443-446
    deny network connect tcp 444
    allow network listen tcp 448
}
POLICY
"$SBXC" "$base/ports.sbx" -o "$base/ports.bin" 2>/dev/null || exit 99

# as UID COMMAND...: runs a command as that user, with the home made for it.
as()
{
	as_uid=$1
	shift
	tap_as "$as_uid" env -i PATH="$PATH" HOME="$base/home-$as_uid" "$@"
}

# prepare UID: a home with a key in it, a workspace, a place outside.
prepare()
{
	home=$base/home-$1
	ws=$home/src
	outside=$base/outside-$1
	mkdir -p "$home/.ssh" "$home/.config/gh" "$home/.config/git" \
	    "$ws/sub" "$outside"
	echo key >"$home/.ssh/id_rsa"
	echo token >"$home/.config/gh/hosts.yml"
	echo '[user]' >"$home/.config/git/config"
	echo '[user]' >"$home/.gitconfig"
	echo text >"$outside/file"
	echo text >"$ws/file"
	cp "$PROBE" "$ws/probe"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home" "$outside"
}

# answer NAME: at standard Landlock refuses what is denied; the view of full does
# not show it (ABSENT), shows it read-only (FIXED), or has a mask in its place
# (MASKED).  Other processes have no number there.
answer()
{
	case $1-$level in
	ABSENT-standard | FIXED-standard | MASKED-*) echo EACCES ;;
	ABSENT-full) echo ENOENT ;;
	FIXED-full) echo EROFS ;;
	BESIDE-standard) echo EACCES ;;
	BESIDE-full) echo ok ;;
	LINKED-standard) echo EXDEV ;;
	LINKED-full) echo ENOENT ;;
	KEPT-standard) echo EACCES ;;
	KEPT-full) echo EBUSY ;;
	SPLIT-standard) echo EACCES ;;
	SPLIT-full) echo EXDEV ;;
	APART-standard) echo EPERM ;;
	APART-full) echo ESRCH ;;
	*) echo "$1" ;;
	esac
}

# expect UID NAME POLICY ANSWER OPERATION...: ANSWER is a regular expression, or
# a name that answer() knows.
expect()
{
	uid=$1 name=$2 policy=$3 wanted=$(answer "$4")
	shift 4
	got=$(cd "$ws" && as "$uid" "$base/sbxrun" -w . -l "$level" \
	    "$base/$policy.bin" -- "$ws/probe" "$@" 2>&1)
	if printf '%s' "$got" | grep -Eqx "$wanted"; then
		tap_ok "$level: uid $uid: $policy: $name"
	else
		tap_not_ok "$level: uid $uid: $policy: $name" \
		    "wanted $wanted, got $got"
	fi
}

# refused UID NAME TEXT SBXRUN-ARGUMENT...: one line, status 125, no command.
refused()
{
	uid=$1 name=$2 text=$3
	shift 3
	got=$(cd "$ws" && as "$uid" "$base/sbxrun" "$@" -- \
	    touch "$ws/was-run" 2>&1)
	status=$?
	if [ $status -eq 125 ] && [ ! -e "$ws/was-run" ] &&
	    [ "$(printf '%s\n' "$got" | wc -l)" -eq 1 ] &&
	    printf '%s' "$got" | grep -q "$text" &&
	    ! printf '%s' "$got" | grep -q 'Operation not permitted'; then
		tap_ok "uid $uid: refused: $name"
	else
		tap_not_ok "uid $uid: refused: $name" "status $status: $got"
	fi
	rm -f "$ws/was-run"
}

# Datagram sockets that have a path are shut where nothing but the filter holds them.
# Route netlink tells what is in /proc, which the policy lets be read.  Of the others the supervisor connects those that
# the policy lets it; the view of level full shows none of the host's.
sockets_standard()
{
	w=workspace-write
	expect "$1" 'list the home directory' $w EACCES list "$home"
	expect "$1" 'socket unix stream' $w ok socket unix stream 0
	expect "$1" 'socket netlink stream' $w EACCES socket netlink stream 0
	expect "$1" 'socket netlink dgram' $w ok socket netlink dgram 0
	expect "$1" 'socket unix datagram' $w EACCES socket unix dgram 0
	expect "$1" 'datagram socket pair' $w EACCES socketpair unix dgram 0
}

sockets_full()
{
	w=workspace-write
	expect "$1" 'list what there is of the home directory' $w ok \
	    list "$home"
	expect "$1" 'a socket of the host' $w ENOENT \
	    unix-connect "$outside/socket"
	expect "$1" 'audit netlink' $w EACCES socket netlink raw 9
}

workspace_write()
{
	w=workspace-write
	expect "$1" 'write in the workspace' $w ok create "$ws/new"
	expect "$1" 'rename across directories' $w ok \
	    rename "$ws/new" "$ws/sub/new"
	expect "$1" 'run from the workspace' $w ok exec "$ws/probe"
	[ "$level" != full ] ||
		expect "$1" 'write in its own /dev/shm' $w ok create /dev/shm/new
	expect "$1" 'read git configuration' $w ok open-read "$home/.gitconfig"
	expect "$1" 'read ~/.config/git' $w ok open-read \
	    "$home/.config/git/config"
	expect "$1" 'read a key' $w ABSENT open-read "$home/.ssh/id_rsa"
	expect "$1" 'list keys' $w ABSENT list "$home/.ssh"
	expect "$1" 'read a token' $w ABSENT open-read \
	    "$home/.config/gh/hosts.yml"
	expect "$1" 'read outside' $w ABSENT open-read "$outside/file"
	expect "$1" 'write outside' $w ABSENT open-write "$outside/file"
	expect "$1" 'create outside' $w ABSENT create "$outside/new"
	expect "$1" 'create above the home directory' $w FIXED \
	    create "$base/new"
	expect "$1" 'truncate outside' $w ABSENT truncate "$outside/file"
	expect "$1" 'unlink outside' $w ABSENT unlink "$outside/file"
	expect "$1" 'link into the workspace' $w LINKED \
	    link "$outside/file" "$ws/link"
	for family in inet inet6 packet vsock 38 bluetooth; do
		expect "$1" "socket $family stream" $w EACCES \
		    socket "$family" 1 0
		expect "$1" "socket $family datagram" $w EACCES \
		    socket "$family" 2 0
	done
	"sockets_$level" "$1"
	expect "$1" 'socket with high bits' $w EACCES \
	    socket-high inet stream 0
	expect "$1" 'stream socket pair' $w ok socketpair unix stream 0
	expect "$1" 'io_uring' $w ENOSYS io-uring
	expect "$1" 'socket through int 0x80' $w "$(tap_int80 ENOSYS)" \
	    int80 359
	expect "$1" 'getpid through x32' $w ENOSYS x32 39
	expect "$1" 'TIOCSTI' $w EPERM tiocsti
	expect "$1" 'TIOCSTI with high bits' $w EPERM tiocsti-high
	expect "$1" 'unshare a user namespace' $w EPERM unshare newuser
	expect "$1" 'clone a user namespace' $w EPERM clone newuser
	expect "$1" 'clone3 a user namespace' $w ENOSYS clone3 newuser
	expect "$1" 'mount' $w EPERM mount
	expect "$1" 'ptrace outside' $w APART ptrace $$
	expect "$1" 'signal outside' $w APART kill $$ 0
	expect "$1" 'no new privileges' $w 1 nnp
	expect "$1" 'open descriptors' $w '0 1 2' fds
}

inheritance()
{
	# The script is meant for the inner shell.
	# shellcheck disable=SC2016,SC2094
	got=$(cd "$ws" && as "$1" "$base/sbxrun" -l "$level" \
	    "$base/workspace-write.bin" \
	    -- sh -c 'sh -c "./probe open-read \"$1\" -- socket 2 1 0" sh "$1"' \
	    sh "$outside/file" 3<"$outside/file" | tr '\n' ' ')
	tap_is "uid $1: a grandchild is as confined" \
	    "$(answer ABSENT) EACCES " "$got"
	got=$(cd "$ws" && as "$1" "$base/sbxrun" -l "$level" \
	    "$base/workspace-write.bin" -- "$base/sbxrun" "$base/workspace-write.bin" -- echo in 2>&1)
	case $got in
	*Permission* | *"no such file"*) got=$(cd "$ws" && cp "$base/sbxrun" \
	    "$base/workspace-write.bin" . && as "$1" ./sbxrun -l "$level" \
	    workspace-write.bin -- ./sbxrun workspace-write.bin -- echo in \
	    2>&1) ;;
	esac
	# The last line: that the policy could be written is worth a warning.
	got=$(printf '%s\n' "$got" | tail -n 1)
	tap_empty "uid $1: sbxrun runs inside itself" \
	    "$([ "$got" = in ] || echo "got $got")"
}

read_only()
{
	expect "$1" 'read outside' read-only ok open-read "$outside/file"
	expect "$1" 'write in the workspace' read-only FIXED \
	    open-write "$ws/file"
	expect "$1" 'read a key' read-only ABSENT open-read "$home/.ssh/id_rsa"
	expect "$1" 'read a token' read-only ABSENT open-read \
	    "$home/.config/gh/hosts.yml"
	expect "$1" 'read git configuration' read-only ok open-read \
	    "$home/.config/git/config"
	cp "$PROBE" "$home/probe"
	ws=$home
	expect "$1" 'a key where home is the workspace' workspace-write \
	    ABSENT open-read "$home/.ssh/id_rsa"
	ws=$home/src
}

split()
{
	cat >"$base/split.sbx" <<-'POLICY'
	sbx 1
	profile split extends workspace-write {
	    deny write ${workspace}/keep
	    deny read  ${workspace}/secret
	}
	POLICY
	"$SBXC" "$base/split.sbx" -o "$base/split.bin" || exit 99
	rm -f "$ws/fresh" "$ws/sub/fresh" "$ws/sub/s"
	mkdir -p "$ws/keep" && echo x >"$ws/keep/x" && echo s >"$ws/secret"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$ws"
	expect "$1" 'read what is kept' split ok open-read "$ws/keep/x"
	expect "$1" 'write what is kept' split FIXED open-write "$ws/keep/x"
	expect "$1" 'rename what is kept' split KEPT rename "$ws/keep" "$ws/k"
	expect "$1" 'read the secret' split MASKED open-read "$ws/secret"
	expect "$1" 'link the secret' split EXDEV link "$ws/secret" "$ws/sub/s"
	expect "$1" 'write beside it' split ok open-write "$ws/file"
	expect "$1" 'create below it' split ok create "$ws/sub/fresh"
	expect "$1" 'create beside it' split BESIDE create "$ws/fresh"
}

# A glob is what matches at the start: each match is a rule of its own, a link
# that matches is what it leads to, and no link is gone through.
globs()
{
	cat >"$base/globs.sbx" <<-POLICY
	sbx 1
	profile globs extends workspace-write {
	    deny read  glob "\${workspace}/**/.env*"  except { \${workspace}/g/.env.example \${workspace}/g/vendor }
	    deny write glob "\${workspace}/g/*/keep-?"
	    allow read glob "$outside/*.pub"
	    allow read glob "\${workspace}/g/out/*.key"
	}
	POLICY
	"$SBXC" "$base/globs.sbx" -o "$base/globs.bin" 2>/dev/null || exit 99
	rm -rf "$ws/g" "$ws/keep" "$ws/secret"
	mkdir -p "$ws/g/a/b" "$ws/g/.hidden" "$ws/g/vendor" "$ws/g/a/.envs" \
	    "$ws/g/l"
	for file in .env .env.example a/.env.local a/b/.env .hidden/.env \
	    vendor/.env a/.envs/in a/keep-1 a/keep-22 a/b/keep-3 l/real; do
		echo "$file" >"$ws/g/$file"
	done
	ln -s real "$ws/g/l/.env"
	ln -s ../../vendor "$ws/g/a/b/.envlike"
	ln -s "$outside" "$ws/g/out"
	echo pub >"$outside/a.pub"
	echo key >"$outside/a.key"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$ws/g"
	for file in .env a/.env.local a/b/.env .hidden/.env l/.env l/real; do
		expect "$1" "a match: $file" globs MASKED \
		    open-read "$ws/g/$file"
	done
	expect "$1" "in a match" globs ABSENT open-read "$ws/g/a/.envs/in"
	for file in .env.example a/keep-1 a/keep-22 a/b/keep-3; do
		expect "$1" "no match: $file" globs ok open-read "$ws/g/$file"
	done
	expect "$1" 'a hole, where a matching link leads' globs ok \
	    open-read "$ws/g/vendor/.env"
	expect "$1" 'write a match' globs FIXED open-write "$ws/g/a/keep-1"
	expect "$1" 'write what is none' globs ok \
	    open-write "$ws/g/a/keep-22"
	expect "$1" 'write one deeper' globs ok open-write "$ws/g/a/b/keep-3"
	expect "$1" 'rename above a match' globs SPLIT \
	    rename "$ws/g/a/b" "$ws/g/b"
	got=$(cd "$ws" && as "$1" "$base/sbxrun" -l "$level" -n \
	    "$base/globs.bin" | grep -c '^deny read glob .* 7 matches now')
	tap_empty "$level: uid $1: globs: the plan counts matches" \
	    "$([ "$got" -eq 1 ] || echo "got $got")"
	expect "$1" 'a match that is made later' globs BESIDE \
	    create "$ws/g/a/.env.new"
	expect "$1" 'an allowed match' globs ok open-read "$outside/a.pub"
	expect "$1" 'beside an allowed match' globs ABSENT \
	    open-read "$outside/file"
	expect "$1" 'through a link that may be planted' globs ABSENT \
	    open-read "$outside/a.key"
	rm -rf "$ws/g"
}

# What cannot be searched to its end: deny refuses, prefer deny reports.
glob_bounds()
{
	for word in deny 'prefer deny'; do
		cat >"$base/bounds.sbx" <<-POLICY
		sbx 1
		profile bounds extends workspace-write {
		    $word read glob "\${workspace}/**/.env*"
		}
		POLICY
		"$SBXC" "$base/bounds.sbx" -o "$base/${word% *}.bin" || exit 99
	done
	mkdir -p "$ws/many"
	(cd "$ws/many" && seq -f .env%g 4097 | xargs touch)
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$ws/many"
	refused "$1" 'a glob with too many matches' \
	    'bounds.sbx:3:15: .*the bound of 4096' "$base/deny.bin"
	got=$(cd "$ws" && as "$1" "$base/sbxrun" "$base/prefer.bin" -- \
	    echo ran 2>&1)
	tap_empty "uid $1: a preferred glob with too many matches" "$(
	    [ "$(echo "$got" | tail -n 1)" = ran ] &&
	    echo "$got" | grep -q 'warning: bounds.sbx:3:22: .*4096' ||
	    echo "$got")"
	rm -rf "$ws/many"
	mkdir -p "$ws/$(printf 'd/%.0s' $(seq 130))"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$ws/d"
	refused "$1" 'a glob that leads too deep' 'the bound of 128' \
	    "$base/deny.bin"
	rm -rf "$ws/d"
	mkdir -p "$ws/shut/mine"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$ws/shut"
	if [ "$1" -ne 0 ]; then
		chmod 0 "$ws/shut/mine"
		refused "$1" 'a directory of one'"'"'s own that is shut' \
		    'cannot look into' -l standard "$base/deny.bin"
		chmod 755 "$ws/shut/mine"
	fi
	rm -rf "$ws/shut"
}

# A rule on a link that the sandbox could have made must not be followed.
planted()
{
	cat >"$base/planted.sbx" <<-'POLICY'
	sbx 1
	profile planted extends workspace-write {
	    allow write ${workspace}/out
	}
	POLICY
	"$SBXC" "$base/planted.sbx" -o "$base/planted.bin" 2>/dev/null ||
	    exit 99
	ln -s "$outside" "$ws/out"
	expect "$1" 'a planted link' planted ABSENT open-write "$outside/file"
	rm "$ws/out"
}

# What requires more than a run has, whoever accepts that; on kernels of old.
levels_refused()
{
	printf '%s\n' 'sbx 1' 'profile p extends workspace-write {' \
	    'require level standard' '}' | "$SBXC" - -o "$base/level.bin" ||
	    exit 99
	printf '%s\n' 'sbx 1' 'profile p extends workspace-write {' \
	    'require landlock 1' '}' | "$SBXC" - -o "$base/landlock.bin" ||
	    exit 99
	refused "$1" 'less than the policy requires' 'requires a higher level' \
	    -l minimal --accept none "$base/level.bin"
	refused "$1" 'no Landlock where one is required' 'a newer Landlock' \
	    -l minimal "$base/landlock.bin"
	for case in 3:full 0:standard; do
		got=$(cd "$ws" && as "$1" env SBX_TEST_ABI="${case%:*}" \
		    "$base/sbxrun-test" -l "${case#*:}" "$blob" -- true 2>&1)
		tap_is "uid $1: Landlock ABI ${case%:*} gives no ${case#*:}" \
		    '125 1' "$? $(echo "$got" |
		    grep -c 'this machine does not give that level')"
	done
}

refusals()
{
	blob=$base/workspace-write.bin
	head -c 1000 "$blob" >"$base/short.bin"
	for offset in 9 13 40 300 3000; do
		cp "$blob" "$base/flip.bin"
		byte=$(dd if="$blob" bs=1 skip=$offset count=1 2>/dev/null |
		    od -An -tu1 | tr -d ' ')
		# The byte is meant to be part of the format.
		# shellcheck disable=SC2059
		printf "\\$(printf %03o $((byte ^ 16)))" |
		    dd of="$base/flip.bin" bs=1 seek=$offset conv=notrunc \
		    2>/dev/null
		refused "$1" "a bit flipped at $offset" flip.bin \
		    "$base/flip.bin"
	done
	"$SBXC" "$profiles/data-analysis.sbx" -o "$base/data.bin" || exit 99
	cp "$blob" "$base/open.bin" && chmod 666 "$base/open.bin"
	refused "$1" 'a policy that others may write' 'others may write' \
	    "$base/open.bin"
	mkdir -p "$base/open" && cp "$blob" "$base/open/p.bin"
	chmod 777 "$base/open"
	refused "$1" 'a policy that others may replace' 'others may replace' \
	    "$base/open/p.bin"
	refused "$1" 'cut off' 'cut off' "$base/short.bin"
	printf '%s\n' 'sbx 1' 'profile p { alow read /etc }' >"$base/bad.sbx"
	got=$(as "$1" "$base/sbxrun" "$base/bad.sbx" -- echo was-run 2>&1)
	tap_is "uid $1: refused: text that does not compile" \
	    "125 sbxrun: $base/bad.sbx: it does not compile" \
	    "$? $(echo "$got" | grep -e '^sbxrun: ' -e '^was-run$')"
	refused "$1" 'no such file' 'cannot open' "$base/none.bin"
	refused "$1" 'a missing parameter' 'needs this' "$base/data.bin"
	refused "$1" 'a missing workspace' 'no such workspace' \
	    -w "$base/none" "$blob"
	refused "$1" 'the root as workspace' 'root directory is no workspace' -w / "$blob"
	refused "$1" 'another digest' 'SHA-256' --expect \
	    sha256:0000000000000000000000000000000000000000000000000000000000000000 \
	    "$blob"
	digest=$(sha256sum <"$blob" | cut -c 1-64)
	refused "$1" 'a digest of which half is right' 'SHA-256' --expect \
	    "sha256:$(echo "$digest" | cut -c 1-33)$(echo "$digest" |
	    cut -c 34- | tr 0-9a-f 1-9a-f0)" "$blob"
	for name in ../coding ./coding coding/x; do
		refused "$1" "@$name" 'no name of a profile' "@$name"
	done
	levels_refused "$1"
	refused "$1" 'full access without consent' 'allow-full-access' \
	    "$base/full-access.bin"
	refused "$1" 'an unknown parameter' 'no such parameter' -D x=/ "$blob"
}

# level_at ABI: the level that sbxrun chooses with an older Landlock.
level_at()
{
	level=standard
	[ "$1" -lt 4 ] || level=${levels##* }
}

# The test build plays kernels of old: rights that they lack are not asked for.
old_kernels()
{
	for abi in 1 2 3 4 5 6; do
		got=$(cd "$ws" && as "$1" env SBX_TEST_ABI=$abi \
		    "$base/sbxrun-test" "$base/workspace-write.bin" -- \
		    ./probe open-read "$home/.ssh/id_rsa" -- \
		    open-write "$ws/file" -- socket inet stream 0 2>&1 |
		    tr '\n' ' ')
		tap_is "uid $1: Landlock ABI $abi" \
		    "$(level_at $abi; answer ABSENT) ok EACCES " "$got"
	done
	# The oldest that gives level full, and the one before.
	case $levels in
	*full*) for pair in 3:standard 4:full; do
		tap_is "uid $1: the level with Landlock ABI ${pair%:*}" \
		    "\"level\":\"${pair#*:}\"" "$(as "$1" \
		    env SBX_TEST_ABI="${pair%:*}" "$base/sbxrun-test" --status \
		    --json | grep -o '"level":"[a-z]*"')"
	done ;;
	esac
	got=$(cd "$ws" && as "$1" env SBX_TEST_ABI=0 "$base/sbxrun-test" \
	    "$base/workspace-write.bin" -- ./probe socket inet stream 0 2>&1)
	case $got in
	*'NOT protected'*EACCES) tap_ok "uid $1: level minimal warns" ;;
	*) tap_not_ok "uid $1: level minimal warns" "$got" ;;
	esac
	got=$(cd "$ws" && as "$1" env SBX_TEST_NO_SECCOMP=1 \
	    "$base/sbxrun-test" "$base/workspace-write.bin" -- echo in 2>&1)
	tap_empty "uid $1: level none is refused" \
	    "$([ $? -eq 125 ] || echo "$got")"
}

# Ports are Landlock's work: at a level without it TCP must stay shut.
ports()
{
	for tcp in 443 446; do
		expect "$1" 'an allowed port' ports ECONNREFUSED connect-tcp $tcp
	done
	# A denied one, one behind the range, one that is to listen on.
	for tcp in 444 447 448 9; do
		expect "$1" 'another port' ports EACCES connect-tcp $tcp
	done
	expect "$1" 'a port to connect to' ports EACCES bind-tcp 443
	got=$(cd "$ws" && as "$1" "$base/sbxrun" -l minimal "$base/ports.bin" \
	    -- ./probe connect-tcp 9 2>/dev/null)
	tap_empty "uid $1: TCP stays shut at level minimal" \
	    "$([ "$got" = EACCES ] || echo "got $got")"
}

# What is there and not in the view is told: a command, and what runs a script.
elsewhere()
{
	mkdir -p "$base/tools"
	printf '#!/bin/sh\n' >"$base/tools/apart"
	chmod -R 755 "$base/tools"
	printf '#!%s -x\n' "$base/tools/apart" >"$ws/script"
	chmod 755 "$ws/script"
	for word in apart "$base/tools/apart"; do
		got=$(cd "$ws" && as "$1" env PATH="$PATH:$base/tools" \
		    "$base/sbxrun" -l full "$base/coding.bin" -- $word 2>&1
		    echo " $?")
		tap_found "uid $1: $word is outside" "$(printf '%s' "$got" |
		    tr -d '\n' |
		    grep "; outside it is $base/tools/apart, .* 127\$")"
	done
	got=$(cd "$ws" && as "$1" env PATH="$PATH:../../tools" \
	    "$base/sbxrun" -l full "$base/coding.bin" -- apart 2>&1)
	tap_is "uid $1: what PATH has by a relative directory is not named" \
	    'sbxrun: apart: command not found' "$got"
	got=$(cd "$ws" && as "$1" "$base/sbxrun" -l full "$base/coding.bin" \
	    -- ./script 2>&1)
	tap_found "uid $1: what runs a script is told" "$(printf '%s' "$got" |
	    grep "missing: $base/tools/apart\$")"
	rm -rf "$base/tools" "$ws/script"
}

# A network of one's own, at level full: everything works in it and nothing
# leads out; a service of the host's is no more there than one that is not.
own_network()
{
	n=coding
	case $level in
	full) datagrams=ok away=ENETUNREACH ;;
	*) datagrams=EACCES away=EACCES ;;
	esac
	[ "$level" != full ] || elsewhere "$1"
	for family in inet inet6; do
		expect "$1" "loopback, $family stream" $n ok \
		    loopback $family stream
		expect "$1" "loopback, $family dgram" $n $datagrams \
		    loopback $family dgram
	done
	expect "$1" "a service of the host's" $n ECONNREFUSED \
	    connect-tcp "$port"
	expect "$1" 'a way out' $n $away route
	expect "$1" 'no loopback in another policy' workspace-write EACCES \
	    loopback inet stream
	expect "$1" 'a raw socket' $n EACCES socket inet raw 1
	expect "$1" 'a packet socket' $n EACCES socket packet raw 0
	expect "$1" 'another network namespace' $n EPERM unshare newnet
}

# What the host's network consists of is for a policy that allows some of it.
network_seen()
{
	[ "$level" = full ] || return 0
	listener=": [0-9A-F]*:$(printf %04X "$port") "
	tap_empty "full: uid $1: the service is seen outside" \
	    "$(grep -q "$listener" /proc/net/tcp || cat /proc/net/tcp)"
	for policy in workspace-write read-only coding; do
		got=$(cd "$ws" && as "$1" "$base/sbxrun" -l full \
		    "$base/$policy.bin" -- cat /proc/net/tcp /proc/net/dev \
		    2>&1)
		tap_empty "full: uid $1: $policy: no network of the host's" \
		    "$(echo "$got" | grep -E "$listener|^ *[^ :]+:.*:|^[^|]*: " |
		    grep -Ev '^ *lo:')$(echo "$got" | grep -q '^ *lo:' ||
		    echo "got $got")"
	done
	got=$(cd "$ws" && as "$1" "$base/sbxrun" -l full "$base/ports.bin" -- \
	    cat /proc/net/tcp)
	tap_empty "full: uid $1: a policy with ports is in the host's" \
	    "$(echo "$got" | grep -q "$listener" || echo "got $got")"
}

# Where the machine gives namespaces, but none for the network, the sockets stay
# shut, what can be seen is said, and a level that somebody insists on is refused.  In a user namespace the
# number of them can be limited.  For root: to somebody else's such namespace the
# owner of /tmp is a stranger, and a policy below it not to be trusted.
no_network_namespace()
{
	# shellcheck disable=SC2016  # for the inner shell
	none='echo 0 >/proc/sys/user/max_net_namespaces && exec "$@"'
	if ! unshare -Ur sh -c "$none" sh true 2>/dev/null; then
		tap_skip 'no network namespace' 'their number cannot be limited'
		return
	fi
	got=$(cd "$ws" && as "$(id -u)" unshare -Ur sh -c "$none" sh \
	    "$base/sbxrun" -v "$base/coding.bin" -- ./probe \
	    loopback inet stream 2>&1)
	case $got in
	*'all sockets stay shut'*'level full'*'needs a network namespace'*EACCES*)
		tap_ok 'no network namespace: sockets stay shut' ;;
	*) tap_not_ok 'no network namespace: sockets stay shut' "$got" ;;
	esac
	got=$(cd "$ws" && as "$(id -u)" unshare -Ur sh -c "$none" sh \
	    "$base/sbxrun" -v "$base/workspace-write.bin" -- echo run 2>&1)
	case $got in
	*'sockets can be seen'*'level full'*'
run
'*)
		tap_ok 'no network namespace: what can be seen is said' ;;
	*) tap_not_ok 'no network namespace: what can be seen is said' \
	    "$got" ;;
	esac
	# Landlock holds abstract sockets from ABI 6 on.
	abi=$("$base/sbxrun" --status --json | grep -o '"abi":[0-9]*')
	for case in 5:standard $([ "${abi#*:}" -lt 6 ] || echo 6:full); do
		got=$(cd "$ws" && as "$(id -u)" env SBX_TEST_ABI="${case%:*}" \
		    unshare -Ur sh -c "$none" sh "$base/sbxrun-test" -v \
		    "$base/workspace-write.bin" -- true 2>&1)
		tap_is "no network namespace, Landlock ABI ${case%:*}" \
		    "${case#*:}" "$(echo "$got" | grep -o 'level [a-z]* (' |
		    sed 's/level //; s/ (//')"
		got=$(as "$(id -u)" env SBX_TEST_ABI="${case%:*}" unshare -Ur \
		    sh -c "$none" sh "$base/sbxrun-test" --status --json)
		tap_is "no network namespace, Landlock ABI ${case%:*}: --status" \
		    "\"level\":\"${case#*:}\"" \
		    "$(echo "$got" | grep -o '"level":"[a-z]*"')"
	done
	for policy in coding workspace-write; do
		got=$(cd "$ws" && as "$(id -u)" unshare -Ur sh -c "$none" sh \
		    "$base/sbxrun" -l full "$base/$policy.bin" -- echo run \
		    2>&1)
		case $?-$got in
		125-*'level full:'*)
			tap_ok "no network namespace: $policy: refused at full" ;;
		*) tap_not_ok \
		    "no network namespace: $policy: refused at full" "$got" ;;
		esac
	done
}

# On a system whose /lib64 is a link into /usr no rule has to name it.
usr_alone()
{
	got=$(cd "$ws" && as "$1" "$base/sbxrun" -l "$level" \
	    "$base/usr.bin" -- /usr/bin/true 2>&1) || got="$? $got"
	tap_empty "uid $1, $level: /usr holds its interpreter" "$got"
	links='/bin /sbin /lib /lib32 /lib64 /libx32'
	# shellcheck disable=SC2086  # words
	tap_is "uid $1, $level: links into /usr" "$(readlink $links)" \
	    "$(cd "$ws" && as "$1" "$base/sbxrun" -l "$level" \
	    "$base/usr.bin" -- /usr/bin/readlink $links 2>/dev/null)"
}

# homes_agree UID VERDICT RESULT RULE...: why and the kernel, about the home of
# the password entry while $HOME is another one.
homes_agree()
{
	uid=$1 verdict=$2 result=$3
	shift 3
	printf '%s\n' 'sbx 1' 'profile homes {' \
	    'allow exec { ${system} ${workspace} }' \
	    'allow read { /etc ${proc} }' "$@" '}' >"$base/homes.sbx"
	"$SBXC" "$base/homes.sbx" -o "$base/homes.bin" 2>/dev/null || exit 99
	tap_is "uid $uid, $level: why: $*" "$verdict" "$(as "$uid" "$SBXC" why \
	    -w "$ws" "$base/homes.sbx" read "$entry" | sed -n '1s/:.*//p')"
	expect "$uid" "$*" homes "$result" open-read "$entry"
}

# What is excepted below ~ is excepted in the home of the password entry, too.
two_homes()
{
	entry=$(getent passwd "$1" | cut -d: -f6)
	# Some users have none: then there is nothing to except.
	[ -d "$entry" ] || return 0
	homes_agree "$1" allowed ok "allow read $entry"
	homes_agree "$1" denied ABSENT "allow read $entry except ~"
	homes_agree "$1" allowed ok "allow read $entry" \
	    "deny read $entry except ~"
}

statuses()
{
	for pair in 'true:0' 'false:1' 'nosuchcommand:127' '/etc/passwd:126'; do
		(cd "$ws" && as "$1" "$base/sbxrun" \
		    "$base/workspace-write.bin" -- "${pair%:*}") 2>/dev/null
		status=$?
		tap_empty "uid $1: status of ${pair%:*}" \
		    "$([ $status -eq "${pair#*:}" ] || echo "got $status")"
	done
	# In the last directory that is searched, and where nobody may run it.
	mkdir -p "$ws/last"
	printf '#!/bin/sh\nexit 7\n' | tee "$ws/last/shut" >"$ws/last/tool"
	chmod -R u=rwX,go=rX "$ws/last"
	chmod 755 "$ws/last/tool"
	for pair in tool:7 shut:126; do
		(cd "$ws" && as "$1" env PATH="/none:$ws/last" \
		    "$base/sbxrun" "$base/workspace-write.bin" -- \
		    "${pair%:*}") 2>/dev/null
		status=$?
		tap_empty "uid $1: status of ${pair%:*}, the last in PATH" \
		    "$([ $status -eq "${pair#*:}" ] || echo "got $status")"
	done
	rm -r "$ws/last"
}

check_all()
{
	prepare "$1"
	tap_levels standard full
	for level in $levels; do
		workspace_write "$1"
		inheritance "$1"
		read_only "$1"
		split "$1"
		globs "$1"
		planted "$1"
		own_network "$1"
		network_seen "$1"
		usr_alone "$1"
	done
	glob_bounds "$1"
	refusals "$1"
	old_kernels "$1"
	statuses "$1"
	ports "$1"
}

"$PROBE" serve-tcp "$base/port" &
server=$!
tap_at_end="kill $server"
tap_until [ -s "$base/port" ]
port=$(cat "$base/port")
tap_empty "there is a service of the host's" \
    "$("$PROBE" connect-tcp "$port" | grep -v '^ok$')"

check_all "$(id -u)"
for level in $levels; do
	two_homes "$(id -u)"
done
if [ "$(id -u)" -eq 0 ]; then
	no_network_namespace
	check_all $ORDINARY
fi
tap_done

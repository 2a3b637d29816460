#!/bin/sh
# Sockets by path (`allow socket`, `deny socket`, `${ssh-agent}`), as TAP: servers
# that run outside, and what the command reaches of them; as this user and, started
# by root, as an ordinary one too.
# shellcheck disable=SC2016  # the anchors are the policies'

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

# The name of a socket has 107 bytes at most.
tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$SBXC" "$SBXRUN_TEST" "$PROBE"
self=$(id -u)
servers=''
# shellcheck disable=SC2317  # tap_clean calls it
stop_servers()
{
	# shellcheck disable=SC2086  # a list
	[ -z "$servers" ] || kill $servers 2>/dev/null
	wait
}
tap_at_end=stop_servers

# wait_for FILE: until it is there.
wait_for()
{
	tap_until test -e "$1" && return
	echo "# $1 did not come"
	exit 99
}

# become UID COMMAND...: as `as`, in place of this shell, whose number it has then.
become()
{
	become_uid=$1
	shift
	set -- env -i PATH="$PATH" HOME="$home" "$@"
	[ "$become_uid" -eq "$self" ] || set -- setpriv \
	    --reuid="$become_uid" --regid="$become_uid" --clear-groups "$@"
	exec "$@"
}

# serve UID KIND PATH [FILE]: a server outside.
serve()
{
	serve_uid=$1 serve_ready=$home/ready-$(basename "$3")
	shift
	rm -f "$serve_ready" "$2"
	become "$serve_uid" "$base/probe" unix-serve "$1" "$2" "$serve_ready" \
	    ${3+"$3"} >/dev/null 2>&1 </dev/null &
	server=$!
	servers="$servers $server"
	wait_for "$serve_ready"
}

# give UID PATH...: to that user.
give()
{
	give_uid=$1
	shift
	[ "$give_uid" -eq "$(id -u)" ] || chown -R "$give_uid:$give_uid" "$@"
}

places()
{
	home=$base/u$1 ws=$base/u$1/ws run=$base/run$1
}

prepare()
{
	places "$1"
	mkdir -p "$ws/shut" "$home/keys" "$home/look" "$run/dir"
	cp "$PROBE" "$ws/probe"
	echo secret >"$home/keys/secret"
	chmod 755 "$run" "$run/dir"
	give "$1" "$home" "$run"
	for socket in "$home/keys/s" "$home/keys/other" "$home/look/s" \
	    "$run/s" "$run/other" "$run/dir/s" "$ws/s" "$ws/shut/s"; do
		serve "$1" stream "$socket"
	done
	serve "$1" dgram "$home/look/dgram"
	serve "$1" seqpacket "$run/dir/seq"
	serve "$1" stream "$run/dir/pass" "$home/keys/secret"
	serve "$1" abstract "sbx-test-${base##*-}-$1"
	policy "paths$1" workspace-write "allow socket ~/keys/s" \
	    "allow socket { ${run}/s ${run}/dir ~/look/s ~/look/dgram }" \
	    'deny read ~/keys' 'allow read ~/look' \
	    'allow write ${workspace}' \
	    'allow exec ${workspace}' 'deny socket ${workspace}/shut'
	policy "none$1" workspace-write 'allow read ~/look' \
	    'allow exec ${workspace}' "allow read $run"
	policy "link$1" workspace-write 'allow exec ${workspace}' \
	    'allow socket ${workspace}/link'
	policy "shut$1" workspace-write "allow socket $run/dir" \
	    "deny socket $run/dir/s" 'deny socket ~/keys' \
	    'allow socket ~/keys/s'
	policy "prefer$1" workspace-write "allow socket $run/dir" \
	    'allow exec ${workspace}' "prefer deny socket $run/dir/s" \
	    'prefer deny socket ${workspace}/shut'
	# Nothing but this rule shows a place where services may listen.
	printf 'sbx 1\nprofile run {\n%s\n%s\n}\n' \
	    "allow exec { /usr /lib /lib64 /bin \${workspace} $run }" \
	    'allow network connect tcp 443' >"$base/run$1.sbx"
	"$SBXC" "$base/run$1.sbx" -o "$base/run$1.bin" 2>/dev/null || exit 99
	printf 'sbx 1\nprofile one {\n%s\n%s\n}\n' \
	    'allow exec { /usr /lib /lib64 /bin ${workspace}/probe }' \
	    "allow read $run/s" >"$base/one$1.sbx"
	"$SBXC" "$base/one$1.sbx" -o "$base/one$1.bin" 2>/dev/null || exit 99
	policy "anywhere$1" workspace-write 'allow exec ${workspace}' \
	    'allow abstract anywhere'
	policy "agent$1" workspace-write 'allow exec ${workspace}' \
	    'allow socket ${ssh-agent}' 'deny env SSH_AUTH_SOCK'
	policy "unnamed$1" workspace-write 'allow exec ${workspace}' \
	    'allow socket ${ssh-agent}' 'deny socket ~/agent' \
	    'deny env SSH_AUTH_SOCK'
}

# inside UID POLICY COMMAND...: the last line that it says.
inside()
{
	in_uid=$1 in_policy=$2
	shift 2
	(cd "$ws" && as "$in_uid" ${agent+"SSH_AUTH_SOCK=$agent"} \
	    "$base/sbxrun" -l "$level" "$base/$in_policy$in_uid.bin" -- "$@" \
	    2>&1 </dev/null | tail -n 1)
}

# held UID POLICY ANSWER COMMAND...: ANSWER is a regular expression.
held()
{
	uid=$1 which=$2 answer=$3
	shift 3
	got=$(inside "$uid" "$which" "$@")
	if printf '%s' "$got" | grep -Eqx "$answer"; then
		tap_ok "$level: uid $uid: $which: $*"
	else
		tap_not_ok "$level: uid $uid: $which: $*" \
		    "wanted $answer, got $got"
	fi
}

# given UID COMMAND...: with a socket for datagrams as its input.
given()
{
	given_uid=$1
	shift
	(cd "$ws" && as "$given_uid" "$base/probe" with-datagrams /bin/sh \
	    -c "exec $*" 2>&1 |
	    tail -n 1)
}

no='EACCES|EPERM|ENOENT|ECONNREFUSED'

control()
{
	for socket in "$home/keys/other" "$run/other" "$ws/s" "$ws/shut/s"; do
		tap_is "outside: uid $1: $socket" ok \
		    "$(as "$1" "$base/probe" unix-connect "$socket")"
	done
	tap_is "outside: uid $1: a datagram" ok \
	    "$(as "$1" "$base/probe" unix-dgram-send "$home/look/dgram")"
	tap_is "outside: uid $1: one that was given" ok \
	    "$(given "$1" "$base/probe" unix-input "$home/look/dgram")"
	tap_is "outside: uid $1: an abstract name" ok \
	    "$(as "$1" "$base/probe" abstract-connect "sbx-test-${base##*-}-$1")"
}

paths()
{
	# By itself, below a denied directory; in one that is only read; by their
	# directory.
	for socket in "$home/keys/s" "$home/look/s" "$run/s" "$run/dir/s"; do
		held "$1" paths ok ./probe unix-connect "$socket"
	done
	held "$1" paths ok ./probe unix-seqpacket "$run/dir/seq"
	held "$1" paths "$no" ./probe open-read "$home/keys/secret"
	# Such a server may hand over what the command cannot open.
	held "$1" paths ok ./probe unix-take "$run/dir/pass"
	# Nothing speaks for these; the last two are in what may be written.
	for socket in "$home/keys/other" "$run/other" "$ws/shut/s"; do
		held "$1" paths "$no" ./probe unix-connect "$socket"
	done
	[ "$level" != full ] ||
		held "$1" paths "$no" ./probe unix-connect "$ws/s"
	for socket in "$home/look/s" "$run/s" "$run/dir/s"; do
		held "$1" none "$no" ./probe unix-connect "$socket"
	done
	held "$1" paths "$no|EPROTONOSUPPORT" \
	    ./probe unix-dgram-send "$home/look/dgram"
	held "$1" none "$no" ./probe unix-dgram-send "$home/look/dgram"
	# A socket that sbxrun was given is not connected elsewhere.
	tap_is "$level: uid $1: its input is not connected to a datagrams' server" \
	    EACCES "$(given "$1" "$base/sbxrun" -l "$level" \
		"$base/paths$1.bin" -- ./probe unix-input "$home/look/dgram")"
	# What is preferred denied is denied.
	held "$1" prefer ok ./probe unix-seqpacket "$run/dir/seq"
	for socket in "$run/dir/s" "$ws/shut/s"; do
		held "$1" prefer EACCES ./probe unix-connect "$socket"
	done
	# Where programs are run from somebody may listen, too.
	held "$1" run EACCES ./probe unix-connect "$run/s"
	# A socket that may be read is there, and is not to be connected to.
	held "$1" one EACCES ./probe unix-connect "$run/s"
	held "$1" paths "$no" ./probe abstract-connect "sbx-test-${base##*-}-$1"
	held "$1" anywhere ok ./probe abstract-connect \
	    "sbx-test-${base##*-}-$1"
}

# A link that an earlier run has made at the place of the rule.
links()
{
	held "$1" link ok sh -c 'ln -sfn "$0" link && echo ok' "$run/other"
	held "$1" link "$no" ./probe unix-connect "$ws/link"
	rm "$ws/link"
}

# The server starts again while the command runs: a rule for the socket itself leads
# to the one that was there, at full; a rule for its directory leads to the new one.
again()
{
	rm -f "$ws/go" "$ws/came"
	inside "$1" paths sh -c 'touch came
		for i in $(seq 2400); do [ ! -e go ] || break; sleep 0.05; done
		echo $(./probe unix-connect "$0") $(./probe unix-connect "$1")' \
	    "$run/s" "$run/dir/s" >"$base/said" &
	command=$!
	wait_for "$ws/came"
	serve "$1" stream "$run/s"
	serve "$1" stream "$run/dir/s"
	touch "$ws/go"
	wait "$command"
	wanted='ok ok'
	[ "$level" = standard ] || wanted='EACCES ok'
	tap_is "$level: uid $1: servers start again" "$wanted" \
	    "$(cat "$base/said")"
}

# --- the agent of ssh -------------------------------------------------------

start_agent()
{
	agent=$home/agent
	rm -f "$agent"
	become "$1" ssh-agent -D -a "$agent" >/dev/null 2>&1 </dev/null &
	servers="$servers $!"
	wait_for "$agent"
	as "$1" ssh-keygen -q -t ed25519 -N '' -f "$home/keys/id" </dev/null
	as "$1" env SSH_AUTH_SOCK="$agent" ssh-add -q "$home/keys/id"
	cp "$home/keys/id.pub" "$ws/id.pub"
}

# asked UID: what sbxc says of the agent's variable, there.
asked()
{
	(cd "$ws" && as "$1" ${agent+"SSH_AUTH_SOCK=$agent"} \
	    "$base/sbxc" why -l "$level" "$base/agent$1.bin" env SSH_AUTH_SOCK \
	    2>&1)
}

# skipped UID WHY: the rule, and -n and sbxc say so.
skipped()
{
	held "$1" agent none sh -c 'echo ${SSH_AUTH_SOCK-none}'
	tap_is "$level: uid $1: sbxc says: $2" 'denied 1' \
	    "$(asked "$1" | sed -n '1s/:.*//p') $(asked "$1" |
		grep -c "^    $2.*, so that this grants nothing: ")"
	plan=$(cd "$ws" && as "$1" ${agent+"SSH_AUTH_SOCK=$agent"} \
	    "$base/sbxrun" -n -l "$level" "$base/agent$1.bin" 2>&1 |
	    grep 'ssh-agent')
	case $plan in
	"allow socket \${ssh-agent}  -- skipped: $2"*)
		tap_ok "$level: uid $1: -n says: $2" ;;
	*)
		tap_not_ok "$level: uid $1: -n says: $2" "$plan" ;;
	esac
}

hostile()
{
	unset agent
	skipped "$1" 'SSH_AUTH_SOCK names no'
	agent=relative
	skipped "$1" 'SSH_AUTH_SOCK names no'
	agent=$base/nothing
	skipped "$1" 'no socket of this user is there'
	agent=$home/keys/secret
	skipped "$1" 'no socket of this user is there'
	if [ "$self" -eq 0 ]; then
		agent=$base/run$2/s
		skipped "$1" 'no socket of this user is there'
	fi
	agent=$run/s
	skipped "$1" 'no agent of ssh answers there'
	# In what commands may write: a link, and a socket.
	ln -sfn "$run/other" "$ws/link"
	agent=$ws/link
	skipped "$1" 'a link leads there that somebody could have planted'
	rm "$ws/link"
	agent=$ws/s
	skipped "$1" 'a command may have made it'
}

keys()
{
	agent=$home/agent
	held "$1" agent '256 .*ED25519.*' ssh-add -l
	tap_is "$level: uid $1: sbxc says that it is set" \
	    'allowed: env SSH_AUTH_SOCK' "$(asked "$1" | head -n 1)"
	held "$1" unnamed none sh -c 'echo ${SSH_AUTH_SOCK-none}'
	held "$1" none "Could not open.*|Error connecting.*" ssh-add -l
	[ "$level" = standard ] || a_session "$1"
	signs "$1"
}

# Who joins has the agent, too, and no other than that of the session.
a_session()
{
	tap_is "$level: uid $1: a session" 1 "$(cd "$ws" && for _ in 1 2; do
		as "$1" SSH_AUTH_SOCK="$agent" "$base/sbxrun" -l "$level" \
		    --session="sockets$$" "$base/agent$1.bin" -- ssh-add -l 2>&1
	done | uniq | grep -c '^256 ')"
	as "$1" "$base/sbxrun" --session="sockets$$" --end >/dev/null 2>&1
}

# A commit that the agent signs.
signs()
{
	(cd "$ws" && rm -rf repository && as "$1" git init -q repository)
	(cd "$ws/repository" && as "$1" git config gpg.format ssh &&
		as "$1" git config user.signingkey "$ws/id.pub" &&
		as "$1" git config user.email a@example &&
		as "$1" git config user.name a)
	cat >"$ws/sign" <<-'END'
		cd repository && git commit -q -S --allow-empty -m signed &&
		    git cat-file commit HEAD | grep -q 'BEGIN SSH SIGNATURE' &&
		    echo signed
	END
	held "$1" agent signed sh ./sign
}

# A server of ssh for this user alone, with keys and settings of its own, seen by
# nobody else: it wants a user and a directory.
start_sshd()
{
	as 0 ssh-keygen -q -t ed25519 -N '' -f "$base/host" </dev/null
	cat >"$base/sshd_config" <<-END
		Port $1
		ListenAddress 127.0.0.1
		HostKey $base/host
		AuthorizedKeysFile $ws/id.pub
		PidFile none
		StrictModes no
		UsePAM no
		PasswordAuthentication no
		PermitRootLogin prohibit-password
	END
	grep -v '^sshd:' /etc/passwd >"$base/passwd"
	echo 'sshd:x:65533:65534::/run/sshd:/bin/false' >>"$base/passwd"
	cat >"$base/start" <<-END
		mount --bind "$base/passwd" /etc/passwd &&
		mount -t tmpfs none /run && mkdir -p /run/sshd &&
		exec "$sshd" -D -f "$base/sshd_config"
	END
	unshare -m sh "$base/start" >"$base/sshd.log" 2>&1 </dev/null &
	servers="$servers $!"
}

# git push over ssh, with the agent's key, to a service of the host.
pushes()
{
	sshd=${SSHD-$(PATH=$PATH:/usr/sbin command -v sshd)}
	# It lets in nobody whose shell does not run commands.
	[ "$1" -eq 0 ] || return 0
	if [ -z "$sshd" ] || ! unshare -m true 2>/dev/null; then
		tap_lacks 'git push over ssh' 'no sshd here'
		return
	fi
	proxy=$builddir/sbx-proxy
	[ ! -x "$proxy" ] || install -m 755 "$proxy" "$base/sbx-proxy"
	port=$(tap_port 20000)
	start_sshd "$port"
	policy push0 workspace-write 'allow socket ${ssh-agent}' \
	    "allow network host tcp $port"
	git init -q --bare "$home/there.git"
	ssh="ssh -F none -p $port -o BatchMode=yes -o StrictHostKeyChecking=no \
	    -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
	cat >"$ws/push" <<-END
		cd repository && GIT_SSH_COMMAND='$ssh' \
		    git push -q root@127.0.0.1:$home/there.git HEAD:\$1 &&
		    echo pushed
	END
	tap_until grep -q "$(printf ':%04X ' "$port").* 0A " /proc/net/tcp
	for level in $levels; do
		if [ "$level" = full ] && [ ! -x "$proxy" ]; then
			tap_lacks "$level: git push over ssh" 'no sbx-proxy here'
			continue
		fi
		held 0 push pushed sh ./push "$level"
	done
	level=standard agent=$home/nothing
	held 0 push 'and the repository exists[.]' sh ./push again
}

# --- the agent of GnuPG ------------------------------------------------------

# openpgp UID: signs with an agent outside, by its socket and by the restricted
# one, and with one inside.
openpgp()
{
	for tool in gpg gpgconf gpg-agent git; do
		if ! command -v $tool >/dev/null; then
			tap_lacks "uid $1: the agent of GnuPG" "no $tool here"
			return
		fi
	done
	if [ -d "/run/user/$1" ]; then
		tap_lacks "uid $1: the agent of GnuPG" \
		    "its sockets are those of a user who has logged in"
		return
	fi
	start_gpg "$1" || return
	# Public keys are read, and private ones by nobody but the agent.
	policy "gpg$1" workspace-write 'allow socket ${gpg-agent}' \
	    'drop deny read ~/.gnupg' \
	    'deny read ~/.gnupg except { ~/.gnupg/pubring.kbx  ~/.gnupg/trustdb.gpg }' \
	    'allow read { ~/.gnupg/pubring.kbx  ~/.gnupg/trustdb.gpg }'
	# A home of its own inside, which leads to the restricted socket.
	policy "extra$1" workspace-write 'allow socket ${gpg-agent-extra}' \
	    'set env GNUPGHOME = ${workspace}/gnupg'
	policy "inside$1" workspace-write
	for level in $levels; do
		held "$1" gpg signed sh ./openpgp
		held "$1" extra signed sh ./openpgp
		held "$1" extra "$no|.*No such file.*|.*ermission denied" \
		    sh -c 'cat ~/.gnupg/private-keys-v1.d/* && echo read'
		held "$1" inside 'error: gpg failed.*|fatal: .*' sh ./openpgp
		held "$1" inside secret sh ./own
	done
	as "$1" gpgconf --kill all >/dev/null 2>&1
}

# A key, an agent that has it, and a repository whose commits are signed with it.
# At level standard the lock of the keyring cannot be made.
start_gpg()
{
	mkdir -m 700 "$home/.gnupg" "$ws/gnupg"
	give "$1" "$home/.gnupg" "$ws/gnupg"
	if ! as "$1" gpg --batch --quiet --passphrase '' --quick-gen-key \
	    a@example ed25519 sign never >"$base/gpg.log" 2>&1; then
		tap_not_ok "uid $1: a key of GnuPG" "$(cat "$base/gpg.log")"
		return 1
	fi
	as "$1" gpg --export | as "$1" gpg --quiet --homedir "$ws/gnupg" \
	    --no-autostart --import >"$base/gpg.log" 2>&1
	printf '%%Assuan%%\nsocket=%s\n' "$home/.gnupg/S.gpg-agent.extra" \
	    >"$ws/gnupg/S.gpg-agent"
	(cd "$ws" && rm -rf signing && as "$1" git init -q signing)
	(cd "$ws/signing" && as "$1" git config user.email a@example &&
		as "$1" git config user.signingkey a@example &&
		as "$1" git config gpg.program "$ws/pgp" &&
		as "$1" git config user.name a)
	printf '#!/bin/sh\nexec gpg --lock-never "$@"\n' >"$ws/pgp"
	chmod 755 "$ws/pgp"
	cat >"$ws/openpgp" <<-'END'
		cd signing && git commit -q -S --allow-empty -m signed &&
		    git cat-file commit HEAD | grep -q 'BEGIN PGP SIGNATURE' &&
		    echo signed
	END
	cat >"$ws/own" <<-'END'
		export GNUPGHOME=$PWD/own-gnupg
		rm -rf "$GNUPGHOME"
		mkdir -m 700 "$GNUPGHOME"
		gpg --batch --quiet --passphrase '' --quick-gen-key \
		    b@example default default never
		echo secret | gpg --batch --trust-model always -ear b@example |
		    gpg --batch -d 2>/dev/null
		gpgconf --kill all
	END
}

agents()
{
	openpgp "$1"
	for tool in ssh-agent ssh-add ssh-keygen git; do
		if ! command -v $tool >/dev/null; then
			tap_lacks "uid $1: the agent of ssh" "no $tool here"
			return
		fi
	done
	start_agent "$1"
	for level in $levels; do
		keys "$1"
	done
	pushes "$1"
	unset agent
}

# newer_says UID POLICY: what sbxrun would ask of Landlock ABI 9.
newer_says()
{
	(cd "$ws" && as "$1" env SBX_TEST_NEWER_ABI=9 "$base/sbxrun-test" \
	    -l "$level" "$base/$2$1.bin" -- true 2>&1 </dev/null)
}

# Landlock ABI 9, which this kernel need not have.  What it would deny cannot be
# tried here, since nobody would; but it denies what is handled and not granted,
# and of the servers outside that `paths` tries, none of those that are denied lies
# in what is granted.
newer()
{
	newer_says "$1" paths >"$base/newer"
	tap_is "$level: uid $1: Landlock ABI 9: sockets are handled" 1 \
	    "$(grep -c '^test: a newer right is handled$' "$base/newer")"
	got=$(sed -n 's/^test: a newer right is granted: //p' "$base/newer" |
	    sort)
	tap_is "$level: uid $1: Landlock ABI 9" "$(printf '%s\n' \
	    "$home/keys/s" "$home/look/dgram" "$home/look/s" "$run/dir" \
	    "$run/s" | sort)" "$got"
	for socket in "$home/keys/other" "$run/other" "$ws/shut/s" "$ws/s"; do
		tap_empty "$level: uid $1: Landlock ABI 9 would deny $socket" "$(
		    printf '%s\n' "$got" | while read -r place; do
			case $socket in
			"$place" | "$place"/*) echo "$place" ;;
			esac
		    done)"
	done
	tap_is "$level: uid $1: Landlock ABI 9, a denial below" \
	    'test: a newer right is handled' "$(newer_says "$1" shut)"
	tap_is "$level: uid $1: Landlock ABI 9, what is preferred denied below" \
	    'test: a newer right is handled' "$(newer_says "$1" prefer)"
	got=$(cd "$ws" && as "$1" env SBX_TEST_NEWER_ABI=9 "$base/sbxrun-test" \
	    -n -l "$level" "$base/shut$1.bin" 2>&1 | grep -c \
	    "^allow socket $run/dir  -- stays shut: a denial lies below it")
	tap_is "$level: uid $1: Landlock ABI 9, -n says so" 1 "$got"
}

# At full, what may listen in places that are shown is not left to chance.
unheard()
{
	printf '%s\n' 'sbx 1' 'profile scratch {' 'allow read /etc' \
	    'allow exec { /usr /bin /lib /lib64 ${workspace}/probe }' \
	    'allow env PATH' 'allow write ${tmp}' 'deny socket ${tmp}/shut' '}' |
	    "$SBXC" - -o "$base/scratch$1.bin" || exit 99
	tap_is "full: uid $1: denied sockets where nothing else listens" \
	    'ok EACCES' "$(inside "$1" scratch sh -c 'mkdir -p /tmp/shut
	    echo $(./probe unix-inside /tmp/open) \
		$(./probe unix-inside /tmp/shut/s)')"
	for shown in paths one; do
		got=$(cd "$ws" && as "$1" env SBX_TEST_NO_LISTENER=1 \
		    SBX_TEST_ABI=8 "$base/sbxrun-test" -l full \
		    "$base/$shown$1.bin" -- true 2>&1)
		tap_is "full: uid $1: $shown: no listener where services are shown" \
		    '125 1' \
		    "$? $(printf '%s\n' "$got" | grep -c 'services may listen in')"
	done
}

each()
{
	places "$1"
	for level in $levels; do
		paths "$1"
		links "$1"
		again "$1"
		newer "$1"
		[ "$level" != full ] || unheard "$1"
		hostile "$1" "$2"
		unset agent
	done
	agents "$1"
}

tap_levels standard full
prepare "$self"
control "$self"
if [ "$self" -eq 0 ]; then
	prepare "$ORDINARY"
	control "$ORDINARY"
	each "$ORDINARY" 0
fi
each "$self" "$ORDINARY"
tap_done

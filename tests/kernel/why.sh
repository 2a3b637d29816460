#!/bin/sh
# What `sbxc why` says of this machine against what the kernel does with a command
# that tries it, as TAP; and where something is offered, it is done, and the
# command works.  At levels standard and full.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
base=$(realpath "$tmp")/tree
mkdir "$base"
tap_programs "$SBXRUN" "$SBXC" "$PROBE"

# A home with a workspace in it, and a directory beside both.
prepare()
{
	cd / && rm -rf "${base:?}"/*
	mkdir -p "$base/home/w/node_modules" "$base/home/w/.git" \
	    "$base/home/data" "$base/home/.ssh" "$base/out/lib" "$base/out/a*b"
	echo x | tee "$base/out/lib/x" "$base/out/a*b/x" "$base/home/w/x" \
	    "$base/home/.ssh/id" "$base/home/.gitconfig" >/dev/null
	ln -s "$base/out/lib" "$base/home/w/node_modules/lib"
	ln -s home/w "$base/alias"
	cp "$(command -v ls)" "$base/out/tool"
	cd "$base/home/w" || exit 99
	HOME=$base/home
	export HOME
}

# policy RULE...
policy()
{
	{
		printf 'sbx 1\nprofile p extends workspace-write {\n'
		printf '%s\n' "$@"
		echo '}'
	} >"$tmp/p.sbx"
}

ask()
{
	"$SBXC" why -l "$level" "$tmp/p.sbx" "$@" >"$tmp/said" 2>&1
}

# tried COMMAND...: what the kernel makes of it.
tried()
{
	"$SBXC" build "$tmp/p.sbx" -o "$tmp/p.bin" 2>"$tmp/built" ||
		return 99
	"$SBXRUN" -l "$level" "$tmp/p.bin" -- "$@" >"$tmp/out" 2>&1
}

# Does what was offered; false if nothing was, or to change a rule by hand.
offered()
{
	! grep -q -e '^    no rule is offered' -e ': take away: ' \
	    -e ': end the rule ' -e ': add to the exceptions ' "$tmp/said" ||
		return 1
	grep -q '^    to allow it' "$tmp/said" || return 1
	sed -n 's/^    .*in a shell: //p' "$tmp/said" | sh
	sed -n 's/^    to allow it: //p; s/^    and: //p
		s/^    and in the policy: //p' "$tmp/said" >"$tmp/lines"
	sed -i '$d' "$tmp/p.sbx"
	cat "$tmp/lines" >>"$tmp/p.sbx"
	echo '}' >>"$tmp/p.sbx"
}

# agree WORD OFFER RIGHT PATH COMMAND...: the first word of the answer, and
# whether something is offered that helps.
agree()
{
	word=$1 offer=$2 right=$3 path=$4
	shift 4
	what="level $level: $word: $right $path"
	ask "$right" "$path"
	got=$(sed -n '1s/:.*//p' "$tmp/said")
	result=denied
	! tried "$@" || result=allowed
	tap_is "$what" "$word $word" "$got $result"
	[ "$got" = denied ] || return 0
	did=none
	if offered; then
		did=fails
		! tried "$@" || did=works
	fi
	tap_is "$what: the offer" "$offer" "$did"
}

try_level()
{
	prepare
	policy
	agree allowed - read x cat x
	agree allowed - write new/y sh -c 'mkdir -p new && echo > new/y'
	agree denied works read node_modules/lib/x cat node_modules/lib/x
	prepare
	policy
	agree denied works read "$base/out/a*b/x" cat "$base/out/a*b/x"
	policy
	agree denied works write "$HOME/data/new" sh -c "echo > $HOME/data/new"
	policy
	agree denied works write "$HOME/.tool/x" \
	    sh -c "mkdir -p $HOME/.tool && echo > $HOME/.tool/x"
	policy
	agree denied none read "$HOME/.ssh/id" cat "$HOME/.ssh/id"
	agree denied none write "$HOME/.gitconfig.lock" \
	    sh -c "echo > $HOME/.gitconfig.lock"
	# shellcheck disable=SC2016  # the policy's
	policy 'allow write ~/gone' 'allow read ${workspace}/gone'
	agree denied works write "$HOME/gone/x" \
	    sh -c "mkdir -p $HOME/gone && echo > $HOME/gone/x"
	# An exception for what is not there grants nothing.
	mkdir keep .git/hooks
	# shellcheck disable=SC2016  # the policy's
	policy 'deny write ${workspace}/keep except ${workspace}/keep/a' \
	    'deny write ${workspace}/.git/hooks except ${workspace}/.git/hooks/pre'
	agree denied works write keep/a sh -c 'echo > keep/a'
	agree allowed - write keep/a sh -c 'echo > keep/a'
	agree denied works write .git/hooks/pre/x \
	    sh -c 'mkdir -p .git/hooks/pre && echo > .git/hooks/pre/x'
	agree denied none write keep/b sh -c 'echo > keep/b'
	rmdir .git/hooks/pre .git/hooks
	policy
	agree allowed - exec ls ls
	agree denied works exec "$base/out/tool" "$base/out/tool"
}

# A glob's match that is a link is a rule where it leads, too.
try_matches()
{
	prepare
	mkdir -p "$base/home/dots/hidden/open" "$base/home/dots/shut" \
	    "$base/home/dots/deep/er"
	echo x | tee "$base/home/dots/hidden/key" "$base/home/dots/shut/key" \
	    "$base/home/dots/hidden/open/file" "$base/home/dots/key" \
	    "$base/home/dots/deep/er/key" >/dev/null
	ln -s dots/hidden "$base/home/.hidden"
	ln -s dots/shut "$base/home/.hshut"
	mkdir "$base/home/data/in"
	ln -s ../../dots/deep "$base/home/data/in/.hdeep"
	policy 'allow read glob "~/.h*" except ~/.hshut/key' \
	    'allow read glob "~/data/**/.hd*"'
	for name in .hidden/key dots/hidden/key data/in/.hdeep/er/key; do
		agree allowed - read "$HOME/$name" cat "$HOME/$name"
	done
	agree denied works read "$HOME/dots/key" cat "$HOME/dots/key"
	policy 'allow read glob "~/.h*" except ~/.hshut/key'
	agree denied works read "$HOME/dots/shut" ls "$HOME/dots/shut"
	policy 'allow read { ~/dots  ~/data }' 'allow read glob "~/.h*"' \
	    'deny read glob "~/.h*" except ~/.hidden/open' \
	    'deny read glob "~/data/**/.hd*"'
	for name in .hidden/key dots/hidden/key data/in/.hdeep/er/key \
	    dots/deep/er/key; do
		agree denied none read "$HOME/$name" cat "$HOME/$name"
	done
	ask read "$HOME/dots/hidden/key"
	tap_found "level $level: and it is known who denies it" \
	    "$(grep "^    enforced by: .*(level $level)" "$tmp/said")"
	for name in dots/key .hidden/open/file dots/hidden/open/file; do
		agree allowed - read "$HOME/$name" cat "$HOME/$name"
	done
}

# A link that a command may have made leads no rule that allows anywhere.
try_planted()
{
	prepare
	mkdir -p "$HOME/.cache"
	for link in "$HOME/w/link" "$HOME/.cache/link" "$HOME/data/link" \
	    "$HOME/link"; do
		ln -s "$base/out/lib" "$link"
	done
	policy 'allow read ~/link'
	agree allowed - read "$HOME/link/x" cat "$HOME/link/x"
	# shellcheck disable=SC2016  # the policy's
	for rule in 'allow read ${workspace}/link' 'allow read ~/.cache/link/x' \
	    'allow read glob "${workspace}/li*"' \
	    'allow read glob "${workspace}/link/*"'; do
		policy "$rule"
		agree denied works read "$base/out/lib/x" cat "$base/out/lib/x"
	done
	policy 'allow write ~/data' 'allow read ~/data/link'
	agree denied works read "$HOME/data/link/x" cat "$HOME/data/link/x"
	policy 'allow write glob "~/da*"' 'allow read ~/data/link'
	agree denied works read "$HOME/data/link/x" cat "$HOME/data/link/x"
	policy 'allow read ~/.cache/link'
	ask read "$base/out/lib/x"
	tap_found "level $level: and it is said" "$(grep \
	    '^    a command or another user may have made a link.*allow read' \
	    "$tmp/said")"
}

# bare RULE...: a policy that has no more than programs need.
bare()
{
	{
		printf 'sbx 1\nprofile p {\nrequire level standard\n'
		# shellcheck disable=SC2016  # the policy's
		printf '%s\n' 'allow exec { ${system}  /etc }' \
		    'allow env { HOME  PATH }' "$@"
		echo '}'
	} >"$tmp/p.sbx"
}

# says PATTERN: of the last answer.
says()
{
	tap_found "level $level: and it is said: $1" "$(grep "$1" "$tmp/said")"
}

# What lies in /proc/self is the command's, and not that of who asks.
try_own()
{
	prepare
	policy
	for path in /proc/self/status /proc/thread-self/status /dev/fd \
	    /proc/self/cwd/x; do
		agree allowed - read "$path" \
		    sh -c "cat $path >out || ls $path >out"
	done
	ask read /proc/self/status
	tap_is "level $level: and of no process" \
	    'allowed: read /proc/self/status' "$(head -n 1 "$tmp/said")"
	# At full an ordinary user's is open, which why does not know.
	[ "$level" = full ] && [ "$(id -u)" -ne 0 ] ||
		agree denied none write /proc/self/oom_score_adj \
		    sh -c 'echo 900 >/proc/self/oom_score_adj'
	agree denied none write /proc/self/exe sh -c 'true >>/proc/self/exe'
	for path in /proc/self/exe /proc/self/ns/uts; do
		agree allowed - read "$path" sh -c "true <$path"
	done
	agree denied none read "/proc/self/root/$HOME/.ssh/id" \
	    cat "/proc/self/root/$HOME/.ssh/id"
	bare
	agree denied works read /proc/self/status cat /proc/self/status
	bare
	agree denied works read /dev/fd ls /dev/fd
}

# What stands behind a descriptor, the caller of sbxrun has chosen.
try_streams()
{
	prepare
	policy
	for path in /dev/stdin /dev/fd/0 /proc/self/fd/0; do
		for file in x /dev/null; do
			agree allowed - read "$path" cat "$path" <"$file"
		done
		# A pipe, or a file that was removed.
		agree allowed - read "$path" cat "$path" <<-end
			x
		end
	done
	says '^    but it depends on what the command is given there: a pipe'
	# shellcheck disable=SC2016  # the command's
	agree allowed - write /dev/fd/1 sh -c '[ "$(echo x >/dev/fd/1)" = x ]'
	agree denied none exec /dev/stdin /dev/stdin <<-end
		x
	end
	# What the command opens itself.
	agree allowed - read /dev/fd/9 sh -c 'cat /dev/fd/9 9<x'
	says 'what the command has opened there itself.*by its own path'
	agree allowed - read /dev/fd/9 \
	    sh -c '[ ! -e /dev/fd/9 ] && cat /dev/fd/9 9<x' 9</dev/null
}

# agree_socket CALL ARGUMENTS FAMILY TYPE: of a filter, the one that is taken.
agree_socket()
{
	what="level $level: $rules: $1($2)"
	ask syscall "$1($2)"
	got=$(sed -n '1s/:.*//p' "$tmp/said")
	result=denied
	tried "$tmp/probe" "$1" "$3" "$4"
	! grep -qx ok "$tmp/out" || result=allowed
	tap_is "$what" "$result" "$got"
	tap_found "$what: by which filter is said" \
	    "$(grep "sbxrun takes here, at level $level" "$tmp/said")"
}

try_sockets()
{
	prepare
	cp "$PROBE" "$tmp/probe"
	for rules in 'allow env SBX_NONE' 'allow network connect tcp 443' \
	    'allow network domain example.org' 'allow network loopback' \
	    'allow read ~/data'; do
		policy "allow exec $tmp/probe" "$rules"
		for call in socket socketpair; do
			agree_socket "$call" 1,1,0 unix stream
			agree_socket "$call" 1,2,0 unix dgram
			agree_socket "$call" 1,5,0 unix seqpacket
		done
		agree_socket socket 2,1,0 inet stream
		agree_socket socket 2,2,0 inet dgram
		agree_socket socket 10,1,0 inet6 stream
	done
}

# The view has the directories above what is allowed, with no more in them.
try_above()
{
	prepare
	mkdir "$base/out/mine"
	policy 'allow read ~/data'
	for path in / /var "$HOME"; do
		agree "$1" none read "$path" ls "$path"
	done
	[ "$1" = denied ] ||
		tap_is "level $level: and no more is shown" 'data w' \
		    "$(paste -sd ' ' "$tmp/out")"
	agree denied none write "$HOME" sh -c "echo >$HOME/new"
	agree denied works read "$base/out" ls "$base/out"
	# shellcheck disable=SC2016  # the policy's
	for rule in "allow read glob \"$base/out/li*\"" \
	    "allow read $base/out/lib/x"; do
		policy "$rule"
		agree "$1" works read "$base/out" ls "$base/out"
	done
	[ "$1" = allowed ] || return 0
	python3 -c 'import socket, sys
socket.socket(1).bind(sys.argv[1])' "$base/out/mine/socket"
	policy "allow socket $base/out/mine/socket"
	agree allowed - read "$base/out/mine" ls "$base/out/mine"
	# What is denied or not there leads nowhere, though a rule allows it.
	policy "allow read $base/out/lib" "deny read $base/out/lib"
	agree denied works read "$base/out" ls "$base/out"
	policy "allow read $base/out/gone"
	agree denied works read "$base/out" ls "$base/out"
}

# What differs by level.
try_full()
{
	level=full
	prepare
	policy
	agree denied works read "$base/alias/x" cat "$base/alias/x"
	agree allowed - write /tmp/sbx-why-$$ sh -c "echo > /tmp/sbx-why-$$"
	policy 'allow read /tmp'
	agree denied works write /tmp/sbx-why-$$/x \
	    sh -c "mkdir -p /tmp/sbx-why-$$ && echo > /tmp/sbx-why-$$/x"
	rm -rf /tmp/sbx-why-$$
	policy "deny write $base/home/w/.git/hooks"
	agree allowed - write .git/hooks/x \
	    sh -c 'mkdir .git/hooks && echo > .git/hooks/x'
	prepare
	mkdir .git/hooks
	agree denied none write .git/hooks/x sh -c 'echo > .git/hooks/x'
	agree allowed - write .git/x sh -c 'echo > .git/x'
	prepare
	# A file that is read is opened again for the command.
	policy
	agree allowed - read /dev/stdin cat /dev/stdin <"$base/out/lib/x"
	says 'or one of this user.s that is open for reading opens'
	bare
	agree denied works read /dev/stdin cat /dev/stdin <<-end
		x
	end
	# shellcheck disable=SC2016  # the policy's
	bare 'allow read ${proc}' 'deny read /proc/uptime'
	agree allowed - read /proc/self/status cat /proc/self/status
	# Nobody goes through what is not there.
	policy
	mkdir "$base/out/mine"
	for way in "$base/out/mine/../.." "$base/home/data/../.."; do
		agree denied none read "$way/home/w/x" cat "$way/home/w/x"
	done
	agree allowed - read "$base/home/w/.git/../x" cat "$base/home/w/.git/../x"
	agree allowed - read ../w/x cat ../w/x
	# Devices are shown by rules in /dev, or not as such.
	printf 'sbx 1\nprofile p {\n%s\n}\n' 'allow exec /' >"$tmp/p.sbx"
	agree denied works read /dev/zero head -c 1 /dev/zero
	printf 'sbx 1\nprofile p {\n%s\n%s\n}\n' 'allow exec /' \
	    'deny write /dev/zero' >"$tmp/p.sbx"
	agree allowed - read /dev/zero head -c 1 /dev/zero
	try_above allowed
}

try_standard()
{
	level=standard
	prepare
	policy
	agree allowed - read "$base/alias/x" cat "$base/alias/x"
	policy "deny write $base/home/w/.git/hooks"
	agree denied none write .git/hooks/x \
	    sh -c 'mkdir .git/hooks && echo > .git/hooks/x'
	bare
	agree allowed - read /dev/stdin cat /dev/stdin <<-end
		x
	end
	# Processes come later than the entries of /proc that are granted.
	# shellcheck disable=SC2016  # the policy's
	bare 'allow read ${proc}' 'deny read /proc/uptime'
	agree denied none read /proc/self/status cat /proc/self/status
	says 'as they are when'
	tried sh -c 'cat /proc/self/status; false'
	tap_empty "level $level: and so it is" "$(grep -v 'Permission denied' \
	    "$tmp/out")"
	try_above denied
	try_split
}

# Landlock is given the entries of a directory one by one if one is denied: it
# gives nothing that is not there then, and does not let it be listed.
try_split()
{
	prepare
	mkdir sub sub/deep
	echo x | tee sub/here >/dev/null
	policy "deny write $base/home/w/.git"
	agree denied none write new sh -c 'echo > new'
	agree denied none write new/deep sh -c 'mkdir new && echo > new/deep'
	agree denied none write . sh -c 'echo > ./new'
	agree allowed - write x sh -c 'echo > x'
	agree allowed - write sub/new sh -c 'echo > sub/new'
	agree allowed - read . ls .
	policy "deny read $base/home/w/.git"
	agree denied none read . ls .
	agree allowed - read sub ls sub
	# A link on the way to what is denied may not be replaced.
	prepare
	mkdir sub sub/deep
	echo x | tee sub/here "$base/out/z" >/dev/null
	ln -s ../../../out sub/l
	# shellcheck disable=SC2016  # the policy's
	policy 'deny read ${workspace}/sub/l/z'
	agree denied none write sub/new sh -c 'echo > sub/new'
	agree denied none write new sh -c 'echo > new'
	agree allowed - write sub/here sh -c 'echo > sub/here'
	agree allowed - write sub/deep/new sh -c 'echo > sub/deep/new'
	# A glob denies what it matches then, and no more.
	prepare
	mkdir sub sub/deep
	# shellcheck disable=SC2016  # the policy's
	policy 'deny write glob "${workspace}/lock*"'
	agree allowed - write lockfile sh -c 'echo > lockfile'
	agree denied none write lockfile sh -c 'echo > lockfile'
	agree denied none write other sh -c 'echo > other'
	# shellcheck disable=SC2016  # the policy's
	policy 'deny read glob "${workspace}/**/.env"'
	agree allowed - write sub/deep/new sh -c 'echo > sub/deep/new'
	echo x >sub/.env
	agree denied none write sub/new sh -c 'echo > sub/new'
	agree allowed - read sub ls sub
	agree allowed - write sub/deep/new2 sh -c 'echo > sub/deep/new2'
}

# has NAME: a command that fails unless the variable is set.
has()
{
	echo "test -n \"\${$1+x}\""
}

# What sbxrun sets itself, for a caller that has it already.
try_variables()
{
	prepare
	policy 'allow network domain example.org' 'deny env { SBX*  *_PROXY }' \
	    'set env SBX = x' 'set env NO_PROXY = x'
	for name in SBX SBX_LEVEL TMPDIR HTTP_PROXY HTTPS_PROXY ALL_PROXY \
	    NO_PROXY http_proxy https_proxy all_proxy no_proxy \
	    NODE_USE_ENV_PROXY RSYNC_PROXY; do
		export "$name=caller"
		agree allowed - env "$name" sh -c "$(has "$name")"
		tap_is "level $level: it is not the caller's: $name" '' \
		    "$("$SBXRUN" -l "$level" "$tmp/p.bin" -- env |
			grep "^$name=caller")"
		unset "$name"
	done
	for name in HTTPS_PROXY no_proxy SBX_SESSION; do
		export "$name=caller"
		policy 'allow network connect 10.0.0.1:443'
		agree allowed - env "$name" sh -c "$(has "$name")"
		policy 'allow network connect 10.0.0.1:443' "deny env $name"
		agree denied none env "$name" sh -c "$(has "$name")"
		unset "$name"
	done
	# The runtime directory is nowhere.
	unset XDG_RUNTIME_DIR
	# shellcheck disable=SC2016  # the policy's
	policy 'deny env AT' 'set env AT = ${runtime}/x'
	export AT=caller
	agree denied none env AT sh -c "$(has AT)"
	tap_is "level $level: it says that this sets nothing" 1 \
	    "$(grep -c 'sets nothing: .*: set env AT = ' "$tmp/said")"
	unset AT
}

tap_levels standard full
for level in $levels; do
	prepare
	try_level
	try_matches
	try_planted
	try_own
	try_streams
	try_sockets
	try_variables
	case $level in
	full) try_full ;;
	*) try_standard ;;
	esac
done
tap_done

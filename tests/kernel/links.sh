#!/bin/sh
# Links that somebody planted, as TAP: none of them decides where a rule goes,
# or where the workspace, a parameter, the policy or the log are; and the links
# of ordinary systems go on to work.  At levels standard and full, as this user
# and, started by root, as two ordinary ones too: one has the number that the
# kernel shows for everybody who is not mapped into a user namespace.

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

# shellcheck disable=SC2016  # the anchors are the policies'
policies()
{
	policy ws workspace-write
	policy coding coding
	policy data data-analysis
	policy out workspace-write \
	    'allow write ${workspace}/out/deep' \
	    'allow write glob "${workspace}/out/*.d"'
	# What is denied may have been absent in an earlier run.
	policy denied workspace-write \
	    'deny write ${workspace}/gen' \
	    'allow write ${workspace}/gen/out'
	policy own workspace-write \
	    'allow write { ~/own  ~/own/link/file }' \
	    'allow read ~/own2/link/file' \
	    'allow write glob "~/own*"'
	policy except workspace-write \
	    'deny read ${workspace}/keys except ${workspace}/keys/public' \
	    'prefer deny read glob "${workspace}/**/.env*" except ${workspace}/.env.example' \
	    'deny read ${workspace}/linked'
	policy way workspace-write \
	    'allow write ~/proj except { ~/proj/cur/keep  ~/proj/last }'
	policy dotfiles workspace-write \
	    'deny read glob "~/.h*" except { ~/.hidden/open  ~/.hint }' \
	    'allow read { ~/.h  ~/dots }' 'allow read glob "~/.h*"'
	policy others workspace-write \
	    "allow read { $base/others/link  $base/group/link  $base/sticky/link }" \
	    "allow read { $base/roots/link  $base/others/sub/link }"
	policy usual workspace-write \
	    'allow read { ~/data  ~/.tool/current  /var/run }' \
	    'allow exec ~/.local/bin/tool'
}
policies

# prepare UID: a home, a workspace in it, and a place outside of both.
prepare()
{
	home=$base/home-$1 ws=$home/src outside=$base/outside-$1
	rm -rf "$home" "$outside"
	mkdir -p "$ws" "$home/.cache" "$home/.local/bin" "$outside/deep" \
	    "$outside/a.d"
	echo secret | tee "$outside/file" "$outside/deep/file" \
	    "$outside/a.d/file" >/dev/null
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home" "$outside"
	cd "$ws" || exit 99
}

# run UID POLICY [OPTION...] -- STRING: in the current directory.
run()
{
	run_uid=$1 run_policy=$base/$2.bin
	shift 2
	run_options=
	while [ "$1" != -- ]; do
		run_options="$run_options $1"
		shift
	done
	# shellcheck disable=SC2086
	as "$run_uid" "$base/sbxrun" -l "$level" $run_options "$run_policy" \
	    -c "$2" 2>&1
}

# holds NAME FILE...: what must not have changed, or must not be there.
holds()
{
	name=$1
	shift
	tap_empty "$level: uid $uid: $name" "$(
		for file; do
			case $file in
			!*) [ ! -e "${file#!}" ] || echo "${file#!} is there" ;;
			*) [ "$(cat "$file")" = secret ] ||
			    echo "$file has changed" ;;
			esac
		done)"
}

# says NAME WANTED GOT
says()
{
	tap_is "$level: uid $uid: $1" "$2" "$3"
}

# alike: the status of sbxrun, which is number 2 there, with what a process from 20
# to 29 leads to as its workspace.
alike()
{
	# shellcheck disable=SC2016  # for the inner shell
	timeout 60 unshare -pf --mount-proc sh -c '
		number=$1 outside=$2 policy=$3
		shift 3
		(
			until [ -s "$number" ]; do sleep 0.1; done
			exec "$@" -w "/proc/$(cat "$number")/cwd" "$policy" -- true
		) 2>/dev/null &
		tried=$!
		last=0
		while [ "$last" -lt 20 ]; do
			(cd "$outside" && exec sleep 600) &
			last=$!
		done
		[ "$tried-${#last}-${last%?}" = 2-2-2 ] || exit 99
		echo "$last" >"$number"
		wait "$tried"' sh "$base/number" "$outside" "$base/ws.bin" \
	    "$base/sbxrun" -l "$level"
	echo $?
	rm -f "$base/number"
}

# refused NAME LINK RUN-ARGUMENT...: with one line that names link and way out.
refused()
{
	name=$1 link=$2
	shift 2
	got=$(run "$uid" "$@" -- 'echo ran')
	status=$?
	says "$name" "125 1" "$status $(printf '%s\n' "$got" |
	    grep -c "^sbxrun: $link: .*: give the path")"
	[ "$status" -eq 125 ] || printf '%s\n' "$got" | sed 's/^/# /'
}

# --- rules --------------------------------------------------------------------

rules()
{
	prepare "$uid"
	mkdir "$base/dataset" 2>/dev/null
	as "$uid" mkdir results
	run "$uid" data -D data="$base/dataset" -- 'echo x >results/file'
	says 'results that are a directory' x "$(cat results/file)"
	rm -r results
	as "$uid" ln -s "$home/.local/bin" results
	run "$uid" data -D data="$base/dataset" -- 'echo x >results/tool
	    echo x >~/.local/bin/tool' >/dev/null
	holds 'results that are a link' "!$home/.local/bin/tool"
	says 'results that are a link: it is said' 1 "$(as "$uid" \
	    "$base/sbxrun" -l "$level" -n -D data="$base/dataset" \
	    "$base/data.bin" | grep -c 'allow write .*skipped: a link')"
	# In the middle, and as the base of a glob.
	as "$uid" ln -s "$outside" out
	run "$uid" out -- 'echo x >out/deep/file; echo x >out/a.d/file' \
	    >/dev/null
	holds 'a link in the middle' "$outside/deep/file" "$outside/a.d/file"
	as "$uid" ln -s "$outside" gen
	as "$uid" mkdir "$outside/out"
	run "$uid" denied -- 'echo x >gen/out/file' >/dev/null
	holds 'a link where writing is denied' "!$outside/out/file"
	as "$uid" mkdir -p "$home/own" "$home/own2"
	as "$uid" ln -s "$outside" "$home/own/link"
	as "$uid" ln -s "$outside" "$home/own2/link"
	got=$(run "$uid" own -- 'echo x >~/own/link/file; cat ~/own2/link/file')
	holds 'a link in what the policy lets write' "$outside/file"
	says 'and in what its glob does' 0 "$(echo "$got" | grep -c '^secret')"
}

# What one profile planted, another one follows.
other_profiles()
{
	prepare "$uid"
	as "$uid" mkdir "$home/.cache/pypoetry"
	run "$uid" coding -- "ln -s $outside ~/.cache/pypoetry/virtualenvs"
	says 'the profile coding plants a link' "$outside" \
	    "$(readlink "$home/.cache/pypoetry/virtualenvs")"
	says 'workspace-write does not follow it' 0 "$(run "$uid" ws -- \
	    "cat $outside/file" | grep -c '^secret')"
	# The same where the caches lie elsewhere.
	mv "$home/.cache" "$base/cache-$uid"
	as "$uid" ln -s "$base/cache-$uid" "$home/.cache"
	says 'nor where ~/.cache is a link' 0 "$(run "$uid" ws -- \
	    "cat $outside/file" | grep -c '^secret')"
	rm -rf "$base/cache-$uid"
}

# --- denials ------------------------------------------------------------------

denials()
{
	prepare "$uid"
	as "$uid" sh -c 'mkdir keys real; echo secret >keys/key; echo ok >ok
	    echo secret >.env; ln -s .env .env.example; ln -s . keys/public
	    echo secret >real/file; ln -s real linked'
	got=$(run "$uid" except -- 'cat ok .env .env.example keys/key keys/public/key \
	    linked/file real/file')
	says 'a link takes nothing out of a denial' 'ok' \
	    "$(echo "$got" | grep -v '^cat:')"
	as "$uid" sh -c 'rm .env.example; echo example >.env.example'
	says 'a file does' example "$(run "$uid" except -- 'cat .env.example')"
	as "$uid" sh -c 'cd ~ && mkdir -p dots/hidden/open &&
	    ln -s dots/hidden .hidden && ln -s dots/hint .hint &&
	    echo key >dots/hidden/key && echo hint >dots/hint &&
	    echo open >dots/hidden/open/file'
	says 'a link on the way to what is excepted is denied' "open
open
hint
hint" "$(run "$uid" dotfiles -- 'cd && cat .hidden/key dots/hidden/key \
	    .hidden/open/file dots/hidden/open/file .hint dots/hint \
	    2>/dev/null')"
}

# Whoever could replace a link to what is excepted would decide what is, the next
# time.
exceptions()
{
	prepare "$uid"
	as "$uid" sh -c 'cd ~ && mkdir -p proj/v1/keep proj/v1/in proj/v2 &&
	    ln -s v1 proj/cur && ln -s v2 proj/last && echo secret >proj/v1/keep/file'
	run "$uid" way -- 'cd ~/proj
	    echo x >v1/in/file; echo x >v1/keep/file
	    rm -f cur last; mv cur moved; mv last moved
	    ln -sfn v2 cur; ln -sfn v1 last' >/dev/null
	says 'the links to what is excepted stay' 'x secret v1 v2' \
	    "$(cd "$home/proj" && echo "$(cat v1/in/file v1/keep/file |
	    tr '\n' ' ')$(readlink cur) $(readlink last)")"
}

# --- what the caller names ----------------------------------------------------

given()
{
	prepare "$uid"
	as "$uid" ln -s "$outside" data
	refused 'a parameter in the workspace' "$ws/data" data -D data=data
	refused 'and below it' "$ws/data" data -D data=data/deep
	refused 'and back' "$ws/data" data -D data=data/deep/../deep
	as "$uid" ln -s "$home/.local" "$home/.cache/x"
	as "$uid" ln -s .cache/x "$home/x"
	refused 'a workspace in a cache' "$home/.cache/x" ws \
	    -w "$home/.cache/x"
	refused 'and above' "$home/.cache/x" ws -w "$home/.cache/x/.."
	refused 'and a link that leads to it' "$home/.cache/x" ws -w "$home/x"
	# Expanded by the shell inside.
	# shellcheck disable=SC2016
	scratch=$(as "$uid" "$base/sbxrun" -l standard "$base/ws.bin" -c \
	    'ln -s "$0" $TMPDIR/x; echo $TMPDIR' 2>&1)
	as "$uid" ln -sf "$outside" "$scratch/x"
	refused 'a workspace in a scratch directory' "$scratch/x" ws \
	    -w "$scratch/x"
	as "$uid" rm "$scratch/x"
	# What one run plants, the next one is given as its workspace.
	as "$uid" mkdir "$home/mono"
	(cd "$home/mono" && run "$uid" ws -- "ln -s $outside sub") >/dev/null
	refused 'a workspace in a former one' "$home/mono/sub" ws \
	    -w "$home/mono/sub"
	(cd "$home/mono" && as "$uid" "$base/sbxrun" --clean)
	says 'which --clean lets be forgotten' ran "$(run "$uid" ws \
	    -w "$home/mono/sub" -- 'echo ran')"
	as "$uid" sleep 600 &
	tap_until pgrep -x -P $! sleep
	pid=$(pgrep -x -P $! sleep)
	# In a user namespace they cannot even be looked at.
	for place in "/proc/$pid/cwd" "/proc/$pid/root$outside"; do
		run "$uid" ws -w "$place" -- 'echo ran' >/dev/null
		says "what another process leads to: ${place##*/}" 125 $?
	done
	as "$uid" "$base/sbxrun" -l "$level" \
	    "/proc/$pid/cwd/../../ws.bin" -- true 2>/dev/null
	says 'a policy that another process leads to' 125 $?
	kill "$pid"
	wait 2>/dev/null
	[ "$uid" -ne 0 ] || says 'and one whose number begins alike' 125 "$(alike)"
	as "$uid" ln -s "$outside" logs
	for option in --log --explain --learn; do
		refused "a file of $option" "$ws/logs" ws $option=logs/made
	done
	says 'a file that is refused is not made' no \
	    "$([ -e "$outside/made" ] && echo yes || echo no)"
	as "$uid" ln -s "$base" policies
	tap_is "$level: uid $uid: a policy" '125 1' "$(
	    as "$uid" "$base/sbxrun" -l "$level" policies/usual.bin -- true \
		2>"$base/err"
	    echo "$? $(grep -c "^sbxrun: $ws/policies: .*: give the path" \
		"$base/err")")"
	as "$uid" mkdir sub
	tap_is "$level: uid $uid: a policy, where nothing is written" '125 1' "$(
	    as "$uid" "$base/sbxrun" -l "$level" -D data=sub \
		policies/data.bin -- true 2>"$base/err"
	    echo "$? $(grep -c "^sbxrun: $ws/policies: .*: give the path" \
		"$base/err")")"
	holds 'and nothing has changed' "$outside/file"
	says 'a home in the workspace' 125 "$(home=$ws/data run "$uid" ws -- \
	    'echo ran' >/dev/null; echo $?)"
}

# --- other users --------------------------------------------------------------

others()
{
	prepare "$uid"
	for place in others others/sub group sticky roots; do
		mkdir -p "$base/$place"
		ln -sfn "$outside" "$base/$place/link"
	done
	chown 4321:4321 "$base/others"
	chown 0:4321 "$base/group"
	chmod 775 "$base/group"
	chmod 1777 "$base/sticky"
	chown -h "$uid" "$base/sticky/link"
	for place in others others/sub group sticky roots; do
		sed "/allow read/d; s/^}/allow read ${base_escaped}\\/$(echo \
		    $place | sed 's,/,\\/,')\\/link\\n}/" "$base/others.sbx" \
		    >"$base/one.sbx"
		"$SBXC" "$base/one.sbx" -o "$base/one.bin" || exit 99
		wanted=0
		[ $place != roots ] || wanted=1
		says "a rule through a link in $place" $wanted "$(run "$uid" \
		    one -- "cat $outside/file" | grep -c '^secret')"
		[ $place = roots ] || refused "a workspace through one" \
		    "$base/$place/link" ws -w "$base/$place/link"
	done
	says 'a workspace through a link of root' secret \
	    "$(run "$uid" ws -w "$base/roots/link" -- "cat $outside/file")"
	ln -sfn "$outside" "$home/foreign"
	chown -h 4321 "$home/foreign"
	refused "somebody else's link in the home" "$home/foreign" ws \
	    -w "$home/foreign"
}

# --- ordinary systems ---------------------------------------------------------

usual()
{
	prepare "$uid"
	as "$uid" sh -c "cd ~ && mkdir -p .tool/v1 dotfiles && ln -s v1 \
	    .tool/current && ln -s $outside data && ln -s $outside work &&
	    echo secret >.tool/v1/file && ln -s ../../dotfiles/tool \
	    .local/bin/tool && printf '#!/bin/sh\necho tool\n' >dotfiles/tool &&
	    chmod 755 dotfiles/tool && ln -s dotfiles/gitconfig .gitconfig &&
	    printf '[user]\nname = n\n' >dotfiles/gitconfig"
	says 'links in the home' 'secret
secret
tool
[user]' "$(run "$uid" usual -- 'cat ~/data/file ~/.tool/current/file
	    ~/.local/bin/tool; head -n 1 ~/.gitconfig')"
	# Where the kernel goes nowhere: what is left behind is no directory.
	for end in /.. /. /; do
		as "$uid" ln -sfn "$outside/file$end" "$home/data"
		tap_is "$level: uid $uid: a link through a file, $end" '' \
		    "$(run "$uid" usual -- "cat $outside/file" | grep secret)"
	done
	as "$uid" ln -sfn "$outside" "$home/data"
	got=$(cd "$home/work" && run "$uid" ws -- 'pwd; cat file')
	says 'in a workspace that a link leads to' "$outside
secret" "$got"
	says 'which is named' secret \
	    "$(run "$uid" ws -w "$home/work" -- "cat $outside/file")"
	# As the shell knows it, and below.
	says 'and below it, and back' secret \
	    "$(run "$uid" ws -w "$home/work/deep/.." -- \
	    "cat $outside/file")"
	says 'the current directory' secret "$(cd "$outside" &&
	    run "$uid" ws -w /proc/self/cwd -- 'cat file')"
	says 'a parameter' secret "$(run "$uid" data -D data="$home/data" -- \
	    'cat ~/data/file')"
	says 'the last of two parameters' secret "$(run "$uid" data \
	    -D data=/srv -D data="$home/data" -- 'cat ~/data/file')"
	as "$uid" mkdir "$home/logs"
	as "$uid" ln -s logs "$home/log"
	run "$uid" ws --log "$home/log/file" -- true
	says 'a log' 2 "$(grep -c event "$home/logs/file")"
	# A home that is a link, and one in a directory that is one.
	ln -sfn "$home" "$base/h-$uid"
	ln -sfn "$base" "$base/homes-$uid"
	for other in "$base/h-$uid" "$base/homes-$uid/${home##*/}"; do
		says 'a home that a link leads to' secret "$(tap_as "$uid" \
		    env -i PATH="$PATH" HOME="$other" "$base/sbxrun" \
		    -l "$level" "$base/usual.bin" -c 'cat ~/data/file' 2>&1)"
	done
	as "$uid" ln -sf ../ws.bin "$home/policy.bin"
	says 'a policy' ran "$(as "$uid" "$base/sbxrun" -l "$level" \
	    "$home/policy.bin" -- echo ran 2>&1)"
}

# As many links as the kernel follows, and one more.
chains()
{
	prepare "$uid"
	ln -s "$outside" "$home/link-0"
	for i in $(seq 40); do
		ln -s "link-$((i - 1))" "$home/link-$i"
	done
	[ "$uid" -eq "$(id -u)" ] || chown -h "$uid:$uid" "$home"/link-*
	for last in 39 40; do
		got=$(as "$uid" "$base/sbxrun" -l "$level" -w "$home/link-$last" \
		    "$base/ws.bin" -- echo ran 2>&1)
		case $last-$got in
		39-ran | 40-*'no such workspace: '*) got=right ;;
		esac
		says "a workspace behind $((last + 1)) links" right "$got"
	done
}

check_user()
{
	uid=$1 home=$base
	# If somebody has run something there, no link below is trusted.
	for place in /var /var/tmp; do
		as "$uid" "$base/sbxrun" --clean -w "$place"
	done
	tap_levels standard full
	for level in $levels; do
		rules
		other_profiles
		denials
		exceptions
		given
		[ "$(id -u)" -ne 0 ] || others
		usual
		chains
	done
}

# What a shipped profile lets commands write is known to the loader: devices hold
# no links, and anybody may write in /dev/shm.
# shellcheck disable=SC2016  # these are names of the language
unknown()
{
	for blob; do
		"$SBXC" dump -O sbx "$blob"
	done | sed -n 's/^ *allow write \([^ ]*\)$/\1/p
	    s/^ *allow write \([^ ]*\)  from .*/\1/p' | sort -u | while read -r path; do
		case $path in
		/dev/* | '${tmp}' | '${workspace}' | '${workspace}'/*) ;;
		*) cat "$srcdir/format/caches.def" "$srcdir/format/states.def" |
		    grep -q "\"$path\"" ||
		    echo "$path" ;;
		esac
	done
}
tap_empty 'the places that shipped profiles let commands write' \
    "$(unknown "$builddir"/profiles/*.bin)"
tap_found 'which sees another one' "$(unknown "$base/own.bin")"

base_escaped=$(echo "$base" | sed 's,/,\\/,g')
check_user "$(id -u)"
if [ "$(id -u)" -eq 0 ]; then
	check_user 23917
	check_user 65534
fi
rm -rf "/tmp/sbx-23917"
tap_done

#!/bin/bash
# sbxrun without a policy, as TAP: which word is the policy and which the command,
# what a command runs under if nobody named one, and in what workspace.  In a mount
# namespace, where the profiles are installed and the user's home is one of this test.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
if [ "${1-}" != inside ]; then
	unshare --mount true 2>/dev/null || {
		tap_begin
		tap_lacks "all of it" "needs mount namespaces, as root has"
		tap_done
		exit
	}
	exec unshare --mount --propagation private "$0" inside
fi

tap_begin /var/tmp
tap_programs "$SBXRUN" "$SBXC"
profiles=$(sed -n 's/^prefix = //p' "$builddir/Makefile")/share/sbx/profiles
there=$profiles
until [ -d "$there" ]; do there=${there%/*}; done
cp "$builddir/profiles/coding.bin" "$tmp/coding.bin"
mount -t tmpfs -o mode=755 tmpfs "$there" && mkdir -p "$profiles" &&
    cp "$tmp/coding.bin" "$profiles" || exit 99
mkdir -p "$tmp/home/.ssh" "$tmp/ws" && echo key >"$tmp/home/.ssh/id"
echo "root:x:0:0:root:$tmp/home:/bin/sh" >"$tmp/passwd"
mount --bind "$tmp/passwd" /etc/passwd || exit 99
HOME=$tmp/home
export HOME
cd "$tmp/ws" || exit 99

# The profiles have a workspace that can be written, and no home.
script='echo x >file && cat file && cat ~/.ssh/id 2>/dev/null || echo no'
# ends NAME STATUS TEXT WORD...: sbxrun's status, and the end of what it says.
ends()
{
	name=$1 wanted=$2 text=$3
	shift 3
	got=$("$tmp/sbxrun" "$@" 2>&1 </dev/null)
	status=$?
	case $status/$got in
	"$wanted/"*"$text") tap_ok "$name" ;;
	*) tap_not_ok "$name" "status $status: $got" ;;
	esac
}

ends 'a command' 0 'x
no' sh -c "$script"
ends 'after --' 0 'x
no' -- sh -c "$script"
ends 'a string' 0 'x
no' -c "$script"
ends 'its options are its own' 0 '-v --explain' echo -v --explain
ends 'a policy that is named' 0 'x' "$tmp/coding.bin" -- cat file
tap_is 'what it would be' coding "$("$tmp/sbxrun" -n=summary |
    awk '$1 == "policy" {print $2}')"
ends 'an empty name' 125 'the policy or the command is an empty name' '' -- true
ends 'a policy where the command should be' 125 \
    'sbxrun p.bin -- true ...' p.bin true

# A command may leave a policy that opens the home under the name of a program.
printf 'sbx 1\nprofile wide extends coding {\nallow read ~/.ssh/id\n%s\n}\n' \
    'drop deny read ~/.ssh' >"$tmp/wide.sbx"
"$SBXC" "$tmp/wide.sbx" -o "$tmp/wide.bin" 2>"$tmp/said" ||
    tap_not_ok "a wide policy" "$(cat "$tmp/said")"
cp "$tmp/wide.bin" sh
cp "$tmp/wide.bin" tool
ends 'a blob that has the name of a program' 0 'x
no' sh -c "$script"
ends 'is not taken, and not run for it' 125 'sbxrun -- sh ...' sh -- true
ends 'nor is a path, before -c' 126 '' ./tool -c "$script"

# What the user wants instead.
own=$HOME/.config/sbx/default
mkdir -p "${own%/*}"
printf 'sbx 1\nprofile own extends coding {\ndeny write ${workspace}/kept\n}\n' \
    >"$own.sbx"
echo old >kept
ends 'a default that is a text' 0 'no' -c '(echo x >kept) 2>&1 | grep -q . && echo no'
sed -i 's/kept/other/' "$own.sbx"
ends 'a change of it holds at once' 0 'x' -c 'echo x >kept && cat kept'
sed -i 's/other/kept/' "$own.sbx"
"$SBXC" "$own.sbx" -o "$own.bin" 2>"$tmp/said" || tap_not_ok 'compiled' "$(cat "$tmp/said")"
rm "$own.sbx"
ends 'the text need not be there' 0 'no' -c '(echo x >kept) 2>&1 | grep -q . && echo no'
mv "$own.bin" "$tmp/elsewhere.bin" && ln -s "$tmp/elsewhere.bin" "$own.bin"
ends 'a link leads to where commands may write' 125 'put the policy here' true
mv "$tmp/elsewhere.bin" "$own.bin"
chmod 666 "$own.bin"
ends 'others could write it' 125 'make it yours, chmod go-w' true
chmod 600 "$own.bin"
mkdir -p "$tmp/other/.config/sbx"
cp "$tmp/wide.bin" "$tmp/other/.config/sbx/default.bin"
HOME=$tmp/other ends 'the environment does not choose it' 0 'no' -c \
    '(echo x >kept) 2>&1 | grep -q . && echo no'
tap_is 'at a terminal it is said' \
    "sbxrun: under @default, in $tmp/ws; sbxrun POLICY -- CMD chooses another" "$(
    script -qec "$tmp/sbxrun true" /dev/null | sed 's/\x1b\[[0-9]*m//g' |
    tr -d '\r')"

cp "$tmp/wide.sbx" "${own%/*}/mine.sbx"
ends 'a policy of the own by its name' 0 'key' @mine -- sh -c 'cat ~/.ssh/id'
cp "$tmp/wide.sbx" "${own%/*}/coding.sbx"
ends 'which is never that of a shipped one' 125 \
    'has the name of a shipped profile: give it another one' @coding -- true
tap_is 'and sbxc says the same' 1 "$("$SBXC" why @coding read /x 2>&1 |
    grep -c 'coding.sbx. has the name of a shipped profile: give it another')"
ends 'a name that is near to it' 125 'did you mean @mine?' @mien -- true

rm -r "${own%/*}"

# --- a rule that is allowed ---------------------------------------------------

mkdir "$HOME/data" "$HOME/keys"
echo data >"$HOME/data/f"
allow="$SBXC allow" home='~'
ends 'it is denied' 1 'No such file or directory' cat "$HOME/data/f"
tap_is 'what it opens is shown, and nobody is taken for a yes' "wider: read ~/data
sbxc: nothing was written: add -y to write this
125" "$($allow read "$HOME/data" 2>&1 </dev/null | grep -e ^wider -e ^sbxc:
    $allow read "$HOME/data" >/dev/null 2>&1 </dev/null; echo $?)"
tap_is 'nothing is there then' no "$([ -e "${own%/*}" ] || echo no)"
tap_is 'a mistake in the rule is shown in it' \
    "sbxc: in the rule \"allow raed ~/data\": unknown right 'raed': did you mean 'read'? [SBX0201]
sbxc: in the rule \"allow raed ~/data\": unknown right 'raed': did you mean 'read'? [SBX0201]" \
    "$($allow --yes raed "$home/data" 2>&1
    "$tmp/sbxrun" --allow "raed $home/data" "$tmp/coding.bin" -- true 2>&1 | grep -v ^sbxrun)"
$allow --yes read "$HOME/data" >/dev/null
ends 'it is allowed, from the next command on' 0 data cat "$HOME/data/f"
tap_is 'it is listed' "$own.sbx:4: allow read ~/data" "$($allow --list)"
for rule in 'read ~/.ssh' 'write ~/.config/sbx' 'read ~/.aws' 'write ~/.bashrc'; do
	tap_is "not $rule" 1 "$($allow --yes "$rule" >/dev/null 2>&1; echo $?)"
done
printf 'sbx 1\nprofile plain {\nallow write ${workspace}\n}\n' >"$tmp/plain.sbx"
"$SBXC" "$tmp/plain.sbx" -o "$tmp/plain.bin"
tap_is 'credentials take --force, where no deny keeps them' '1
0' "$(for force in '' --force; do
    $allow --yes $force --for "$tmp/plain.bin" read "$home/.aws" >/dev/null 2>&1; echo $?
done)"
printf 'sbx 1\nprofile kept {\nallow read ~/data\ndeny read ~/data/in\ndeny read ~/data/out\n}\n' >"$tmp/kept.sbx"
mkdir "$HOME/data/in" "$HOME/data/out"
tap_is "a deny of one's own takes --force, and goes no further than the rule" \
    '1
allow read ~/data
deny read ~/data/out except ~/data/out/a
allow read ~/data/in
allow read ~/data/out/a
0' "$($allow --yes --for "$tmp/kept.sbx" read "$home/data/in" >/dev/null 2>&1
    echo $?
    for place in in out/a; do
	    mkdir -p "$HOME/data/$place"
	    $allow --yes --force --for "$tmp/kept.sbx" read "$home/data/$place" >/dev/null
    done
    sed -n 's/^ *\(allow\|deny\)/\1/p' "$tmp/kept.sbx"
    "$SBXC" why "$tmp/kept.sbx" read "$home/data/out/a" >/dev/null; echo $?)"
tap_is 'so does one of a shipped profile, but not what sbx keeps' '0
1
1' "$($allow --yes --force read "$home/.ssh/id" >/dev/null 2>&1; echo $?
    grep -c '^    drop deny read ~/.ssh$' "$own.sbx"
    $allow --yes --force write "$home/.config/sbx" >/dev/null 2>&1; echo $?)"
ends 'and holds from the next command on' 0 key cat "$HOME/.ssh/id"
sed -i '/ssh/d' "$own.sbx"
printf 'sbx: 1\n\nprofiles:\n  team:\n    extends: coding\n    rules:\n      - use registries\n' >"$tmp/team.yaml"
printf 'sbx 1\nprofile vars extends coding {\n}\n' >"$tmp/vars.sbx"
tap_is '--force hands on one variable of many that are kept back' '1
deny env *_TOKEN except { A_TOKEN B_TOKEN }
0 1' "$($allow --yes --for "$tmp/vars.sbx" env A_TOKEN >/dev/null 2>&1; echo $?
	$allow --yes --force --for "$tmp/vars.sbx" env A_TOKEN >/dev/null
	$allow --yes --force --for "$tmp/vars.sbx" env B_TOKEN >/dev/null
	sed -n 's/^ *deny env/deny env/p' "$tmp/vars.sbx"
	"$SBXC" why "$tmp/vars.sbx" env A_TOKEN >/dev/null; first=$?
	"$SBXC" why "$tmp/vars.sbx" env C_TOKEN >/dev/null; echo $first $?)"
tap_is 'a policy as YAML' '      - allow read ~/data
      - use registries
      - use registries' "$($allow --yes --for "$tmp/team.yaml" read "$home/data" >/dev/null
    sed -n '/^ *- /p' "$tmp/team.yaml"
    $allow --yes --remove --for "$tmp/team.yaml" read "$home/data" >/dev/null
    sed -n '/^ *- /p' "$tmp/team.yaml")"
"$tmp/sbxrun" --session auto -- true && "$tmp/sbxrun" --session named @default -- true
tap_is 'an idle session of an agent ends with the policy, one with a name does not' \
    'ended: session auto-
named' "$($allow --yes read /srv/z | sed -n 's/\(ended: session auto-\).*/\1/p'
    "$tmp/sbxrun" --sessions --json | grep -o '"name":"[^"]*"' | cut -d'"' -f4)"
"$tmp/sbxrun" --session named --end
"$SBXC" "$tmp/plain.sbx" -o "$tmp/again.bin"
tap_is 'a blob is made anew, as its text says' 0 \
    "$(cmp "$tmp/plain.bin" "$tmp/again.bin" >&2; echo $?)"
mkdir linked && cp "$tmp/plain.sbx" linked && ln -s "$tmp/plain.bin" linked/plain.bin
cp "$tmp/plain.bin" "$tmp/before.bin"
tap_is 'a link beside the text, which a command may have made, is not followed' 1 \
    "$($allow --yes --for linked/plain.sbx read /srv/y >/dev/null 2>&1; echo $?)"
tap_is 'nothing is written through it' 0 \
    "$(cmp "$tmp/before.bin" "$tmp/plain.bin" >&2; echo $?)"
tap_is 'no text gets out of the rule' 125 "$($allow --yes 'read ~/x
drop deny read ~/.ssh' >/dev/null 2>&1; echo $?)"
tap_is 'a shipped one is extended, and who uses that is said' \
    'used by: sbxrun @my-agent -- CMD' "$($allow --yes --for @agent domain \
    api.example.org | sed -n 's/\(^used by.*CMD\).*/\1/p')"
tap_is 'nobody inside changes anything' 'outside of it: sbxc allow read /srv/x' \
    "$(cp "$SBXC" ./c && "$tmp/sbxrun" ./c allow read /srv/x 2>&1 | sed -n 's/.*\(outside of\)/\1/p')"
tap_is 'two at once: none is lost' 2 "$(for i in 1 2; do
    $allow --yes read "$HOME/two$i" >/dev/null 2>&1 &
done; wait; $allow --list | grep -c 'two[12]$')"
$allow --yes --remove read "$HOME/data" >/dev/null
ends 'it is taken back' 1 'No such file or directory' cat "$HOME/data/f"
rm -r "$HOME/data" "${own%/*}"

# --- the workspace ------------------------------------------------------------

mkdir -p "$tmp/git/.git" "$tmp/git/a/b" "$tmp/git/own/.git" "$tmp/plain/sub"
# taken DIRECTORY WORD...: what -n says is the workspace there.
taken()
{
	(cd "$tmp/$1" && shift && "$tmp/sbxrun" -n "$@" 2>&1 |
	    sed -n "s,^workspace *$tmp/\\([^ ]*\\).*,\\1,p")
}
tap_is 'below the top of a working tree' git "$(taken git/a/b)"
tap_is 'in one that lies in another' git/own "$(taken git/own)"
tap_is 'where there is none' plain/sub "$(taken plain/sub)"
tap_is 'one that is named' git/a/b "$(taken git/a/b -w .)"
mkdir -p "$HOME/.git" "$HOME/sub"
tap_is 'the home is no project of what lies in it' home/sub \
    "$(taken home/sub)"
tap_is 'in the home itself one line says what to do' "sbxrun: $HOME: all of the \
home directory would be the workspace: go into a project first, or say with '-w .' that it is meant
125
0" "$(cd "$HOME" || exit
    "$tmp/sbxrun" true 2>&1
    echo $?
    "$tmp/sbxrun" -w . true 2>/dev/null
    echo $?)"
printf 'sbx 1\nprofile without {\nallow exec /\n}\n' >"$tmp/without.sbx"
"$SBXC" "$tmp/without.sbx" -o "$tmp/without.bin" 2>/dev/null
tap_is 'nor under a policy that is named, unless it has no workspace' '125
125
0
0' "$(cd "$HOME" || exit
    for words in @coding '-w auto @coding' '-w . @coding' "$tmp/without.bin"; do
	    # shellcheck disable=SC2086  # words
	    "$tmp/sbxrun" $words -- true 2>/dev/null; echo $?
    done)"
tap_is 'one that a file .git leads away from' 'git/a
1' "$(echo "gitdir: $tmp/git/own/.git" >"$tmp/git/a/.git"
    taken git/a/b
    cd "$tmp/git/a" && "$tmp/sbxrun" true 2>&1 | grep -c 'leads back here')"
for place in / /tmp; do
	tap_is "$place is none" 125 "$(cd $place || exit
	    "$tmp/sbxrun" true >/dev/null 2>&1; echo $?)"
done
tap_is 'an empty name is none' 125 "$("$tmp/sbxrun" -w '' true 2>/dev/null
    echo $?)"

# --- what is said -------------------------------------------------------------

tap_is '-v says before what runs, and after how it ended' \
    "workspace $tmp/ws, command sh -c exit 3
sbxrun: sh: ended with status 3, after N s" "$("$tmp/sbxrun" -v \
    "$tmp/coding.bin" -- sh -c 'exit 3' 2>&1 | sed 's/.*, workspace/workspace/
    s/after [0-9.]* s$/after N s/')"
printf 'sbx 1\nprofile all {\nallow everything\n}\n' >"$tmp/all.sbx"
"$SBXC" "$tmp/all.sbx" -o "$tmp/all.bin" 2>/dev/null
tap_is 'that nothing is confined is said each time' \
    'sbxrun: --allow-full-access: nothing is confined: the command may do all that you may' \
    "$("$tmp/sbxrun" --allow-full-access "$tmp/all.bin" -- true 2>&1)"
tap_done

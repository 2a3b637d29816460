#!/usr/bin/env bash
# usage: demo.sh BUILDDIR
# Ordinary work under workspace-write in a throw-away project of a throw-away
# home, then three denials, each with what `sbxc why` says of it.  Fails if an
# ordinary command is hindered or a denied one is not.

set -euo pipefail
export LC_ALL=C
build=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
sbxrun=$build/sbxrun sbxc=$build/sbxc policy=$work/policy.bin
trap 'rm -rf "$work"' EXIT
# Nothing that runs here waits for a person, nor does git what a caller's
# variables say.
exec </dev/null
unset "${!GIT_@}"

export HOME=$work/home
project=$HOME/project
mkdir -p "$project" "$HOME/.ssh"
chmod 700 "$HOME/.ssh"
echo "not a key" >"$HOME/.ssh/id_rsa"
cd "$project"

say()
{
	if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
		printf '\n\033[1m%s\033[m\n' "$*"
	else
		printf '\n%s\n' "$*"
	fi
}

# works COMMAND...: under the policy, and it must.
works()
{
	say "\$ sbxrun policy.bin -- $*"
	"$sbxrun" "$policy" -- "$@"
}

# denied QUESTION -- COMMAND...: must fail; then why, asked before it is tried.
denied()
{
	local question=()
	while [ "$1" != -- ]; do
		question+=("$1")
		shift
	done
	shift
	say "\$ sbxrun policy.bin -- $*"
	if "$sbxrun" "$policy" -- "$@"; then
		echo "demo: that was not denied" >&2
		exit 1
	fi
	echo "\$ sbxc why policy.bin ${question[*]}"
	"$sbxc" why -w "$project" --home "$HOME" "$policy" "${question[@]}" ||
	    [ $? -eq 1 ]
}

say "\$ sbxc profiles/workspace-write.sbx -o policy.bin"
"$sbxc" "$top/profiles/workspace-write.sbx" -o "$policy"
stat -c '%s bytes' "$policy"

if command -v git >/dev/null; then
	git config --global user.name "A developer"
	git config --global user.email developer@example.invalid
	git config --global init.defaultBranch main
	works git init -q
fi
cat >hello.c <<'EOF'
#include <stdio.h>
int main(void) { return puts("hello from inside") < 0; }
EOF
works cc -o hello hello.c
works ./hello
if command -v git >/dev/null; then
	works git add hello.c
	works git commit -q -m "Say hello"
	works git --no-pager log --oneline
fi
if command -v python3 >/dev/null; then
	works python3 -c 'import json; print(json.dumps({"python": "works"}))'
fi
if command -v node >/dev/null; then
	works node -e 'console.log("node works")'
fi

denied read "$HOME/.ssh/id_rsa" -- cat "$HOME/.ssh/id_rsa"
denied write "$HOME/outside.txt" -- touch "$HOME/outside.txt"
denied connect tcp 443 -- bash -c 'exec 3<>/dev/tcp/127.0.0.1/443'

say "All as expected: the work went on, and three things did not."

#!/bin/sh
# What `sbxc init` says that it would write, for each client and for a project that
# has everything, what it remembers of it, and what --undo says, beside what is
# expected.  That it works is asked in tests/cli/init.sh.
#
#	tests/golden/init.sh --update	rewrite what is expected

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
here=$srcdir/tests/golden/init
tap_begin /var/tmp
tmp=$(realpath "$tmp")
HOME=$tmp/home
PATH=$tmp/bin:/usr/bin:/bin
GIT_CONFIG_NOSYSTEM=1
export HOME PATH GIT_CONFIG_NOSYSTEM SBXRUN
unset XDG_CONFIG_HOME
mkdir -p "$HOME" "$tmp/bin" "$tmp/work"
cd "$tmp/work" || exit 99
sbxsh=${SBXRUN%/*}/sbxsh
update=${1-}

# plain: names of this run, of this machine and of this build are no news.
plain()
{
	sed -e "s|$SBXRUN|SBXRUN|g; s|$sbxsh|SBXSH|g; s|$SBXC|SBXC|g" \
	    -e "s|${SBXC%/*}|BUILD|g" -e "s|$tmp|TMP|g" -e 's|, /var/run/docker.sock$||' \
	    -e '/docker.sock/d' -e '/# Docker is on this machine/d' \
	    -e 's|"digest": "[0-9]*-[0-9a-f]*"|"digest": "DIGEST"|'
}

# same NAME: what was said is what is expected.
same()
{
	[ "$update" != --update ] || plain <"$tmp/out" >"$here/$1"
	plain <"$tmp/out" >"$tmp/got"
	expected "$1" >"$tmp/expected"
	tap_empty "$1" "$(diff -u "$tmp/expected" "$tmp/got" 2>&1)"
}

# A build where the system's programs lie takes no rule of its own.
expected()
{
	case ${SBXC%/*} in
	/opt/* | /usr/*) grep -v 'allow exec  BUILD$' "$here/$1" ;;
	*) cat "$here/$1" ;;
	esac
}

# init ARGUMENT...
init()
{
	"$SBXC" init "$@" >"$tmp/out" 2>&1 </dev/null
	status=$?
}

# --- what would be written ------------------------------------------------------

# An edit is shown from the first line that differs to the last.
cat >two.toml <<'END'
model = "x"
[mcp_servers.a]
command = "one"
args = ["1"]
[other]
k = 1
[mcp_servers.b]
command = "two"
[last]
END
printf '[mcp_servers.a]\ncommand = "x"\nargs = []' >end.toml
printf '[mcp_servers.a]\ncommand = "x"' >alone.toml
echo '{"mcpServers": {"a": {"command": "x"}}}' >line.json
cat >lines.json <<'END'
{
    "first": 1,
    "mcpServers": {
        "a": { "command": "x", "args": ["y"] }
    },
    "last": 2
}
END
: >"two.toml.before-sbx"
: >"two.toml.before-sbx.2"
for file in two.toml end.toml alone.toml line.json lines.json; do
	init mcp $file
	tap_is "$file: nothing is written" 125 $status
	same "mcp-$file"
done
echo 'a=1' >"$HOME/.npmrc"
init npm
same npm
git init -q .
init git
same git
echo '{ "a": 1.5 }' >settings.json
init vscode settings.json
same vscode
for agent in claude codex gemini opencode; do
	printf '#!/bin/sh\necho 1\n' >"$tmp/bin/$agent"
	chmod +x "$tmp/bin/$agent"
	init $agent
	same "$agent"
done
rm -r .git
init
same project-bare
mkdir .git
for file in package.json Cargo.toml pyproject.toml requirements.txt go.mod .env; do
	: >$file
	mkdir "only-$file"
	: >"only-$file/$file"
	init -w "only-$file"
	same "project-$file"
done
init
same project

# --- what is remembered, and undone ---------------------------------------------

record()
{
	cat "$HOME"/.config/sbx/init/* >"$tmp/out"
	same "$1"
}

chmod 640 two.toml
init -y mcp two.toml
tap_is "mcp: it is written" 0 $status
record mcp-record
tap_is "earlier backups are kept, and one more is made" \
    "two.toml.before-sbx two.toml.before-sbx.2 two.toml.before-sbx.3 " \
    "$(find . -name '*before-sbx*' | sed 's|^./||' | sort | tr '\n' ' ')"
tap_is "of each file the mode" '600 644 644 640 700' "$(stat -c %a \
    "$HOME"/.config/sbx/init/* "$HOME/.config/sbx/mcp-a.sbx" \
    "$HOME/.config/sbx/mcp-a.bin" two.toml "$HOME/.config/sbx/init" |
    paste -sd ' ')"
init mcp two.toml --undo
same mcp-undo
init -y npm
record npm-record
init npm --undo
same npm-undo
init -y npm
echo b=2 >>"$HOME/.npmrc"
init npm --undo
tap_is "npm: what others have changed is kept" 3 $status
same npm-changed

# --- how much is read --------------------------------------------------------------

# sized BYTES: a file of servers that long.
sized()
{
	printf '{"mcpServers": {"a": {"command": "x"}}}' >large.json
	head -c $(($1 - 39)) /dev/zero | tr '\0' ' ' >>large.json
}
sized 4194304
init mcp large.json
tap_is "4 MiB are read" "nothing was written" \
    "$(grep -o 'nothing was written' "$tmp/out")"
sized 4194305
init mcp large.json
tap_is "more are not" "is too large" "$(grep -o 'is too large' "$tmp/out")"
if [ "$(id -u)" = 0 ]; then
	chown 65534 line.json
	init mcp line.json
	tap_is "a file of another user's is left" "belongs to another user" \
	    "$(grep -o 'belongs to another user' "$tmp/out")"
else
	tap_lacks "a file of another user's is left" 'only root can make one'
fi
tap_done

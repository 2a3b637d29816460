#!/bin/sh
# sbxsh as clients call it, as TAP: the words that each of them passes, names,
# pipes, nested, in strange directories; what the environment and the workspace
# cannot change.  As this user and, started by root, as an ordinary one too.

# Variables in what the sandbox's shell runs are that shell's.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
tap_programs "$SBXRUN" "$SBXC" "$builddir/sbxsh"
# The test's own program has another home; by the right one nothing is set.
install -m 755 "$builddir/sbxsh-test" "$tmp/bash"
ln -s bash "$tmp/sbx-ksh"
mkdir "$tmp/apart"
cp "$tmp/bash" "$tmp/apart/bash"
install -m 644 "$SBXRUN" "$tmp/apart/sbxrun"
ln -s bash "$tmp/sbxsh-test"
tap_levels standard full
policy agent agent "allow exec { $tmp/bash  $tmp/sbxsh }"
policy other workspace-write

# begins UID: a home with settings and a project.
begins()
{
	uid=$1
	home=$tmp/$uid
	mkdir -p "$home/.config/sbx" "$home/p/sub" "$home/.ssh"
	echo key >"$home/.ssh/id"
	settings
	chown -R "$uid:$uid" "$home"
	as "$uid" git init -q "$home/p"
}

# settings [LINE...]: those, and the policy.
settings()
{
	{
		echo '# for all agents'
		echo "policy $tmp/agent.bin"
		[ $# -eq 0 ] || printf '%s\n' "$@"
	} >"$home/.config/sbx/shell"
}

# client SCRIPT: what an agent does, which is one process, in the project;
# $S is its shell.
client()
{
	as "$uid" SBX_TEST_HOME="$home" S="$tmp/bash" SH="$tmp" sh -c '
	cd "$HOME/p/sub" && exec bash -c "$1"' sh "$1" 2>&1
}

is()
{
	tap_is "uid $uid, $level: $1" "$2" "$(client "$3")"
}

# The table of sbx-agents(7): what each client passes.
rows()
{
	is 'Claude Code: -c env' my-agent '$S -c env | sed -n s/^SBX=//p'
	is 'Claude Code: -c -l SCRIPT, which keeps its directory' "$home/p" '
	    $S -c -l "cd .. && pwd -P >| sub/cwd"; cat cwd'
	is 'Claude Code: one string, as a prefix gets it' 'one two my-agent' '
	    $S "echo one two \$SBX"'
	is 'an MCP server behind a prefix' 'pong my-agent' '
	    echo ping | $S "sed s/ping/pong/ | sed \"s/\$/ \$SBX/\""'
	is 'Codex: -lc' my-agent '$S -lc "echo \$SBX"'
	is 'Gemini CLI: bash first in PATH, many lines' 'a
my-agent' 'PATH=$SH:$PATH; bash -c "
	    echo a
	    { echo \$SBX; }
	    "'
	is 'opencode: SHELL, -c' my-agent 'SHELL=$S; $SHELL -c "echo \$SBX"'
	is 'npm: -c, as script-shell' 'my-agent x' '$S -c "echo \$SBX x"'
	is 'python: executable=' my-agent "python3 -c '
import os, subprocess
print(subprocess.run(\"echo \$SBX\", shell=True, executable=os.environ[\"S\"],
    capture_output=True, text=True).stdout.strip())'"
	is 'vim, tmux: nothing' my-agent 'echo "echo \$SBX" | $S'
	is 'su, login: -bash' 'on my-agent' 'exec -a -bash $S -c \
	    "shopt -q login_shell && echo on \$SBX"'
	is '-lic' my-agent '$S -lic "echo \$SBX" 2>/dev/null'
	is '-s' 'my-agent x' 'echo "echo \$SBX \$1" | $S -s x'
	is 'a script, with words' 'my-agent x y' '
	    echo "echo \$SBX \"\$@\"" >script; $S script x y'
	is 'a script by its path, alone' my-agent '
	    echo "echo \$SBX" >script; $S ./script'
	is 'a file that is called like a command line is none' 'right' '
	    echo "echo wrong" >"echo right"; $S "echo right"'
	is 'a word that the project has no file for' "$home/p/sub" '$S pwd'
	is 'the status' 7 '$S -c "exit 7"; echo $?'
}

# What sbxsh looks for, and does not find.
missing()
{
	if [ -x /bin/ksh ] || [ -x /usr/bin/ksh ]; then
		tap_lacks 'a shell that is not installed' 'ksh is'
	else
		is 'a shell that is not installed' \
		    'sbxsh: ksh: this shell is not installed
127' '"$SH/sbx-ksh" -c true; echo $?'
	fi
	is 'a file beside it that nobody may execute is not sbxrun' 0 '
	    "$SH/apart/bash" -c true 2>&1 | grep -c "$SH/apart/sbxrun"'
}

# What shells and make hand over.
pipes()
{
	is 'make, with its jobs' 'x my-agent
y my-agent' 'printf "%s\n" "SHELL=$S" "all:" "	+@\$(MAKE) -s -f inner" >outer
	    printf "%s\n" "SHELL=$S" "all: x y" \
		"x:" "	@echo x \$\$SBX >>out" "y: x" "	@echo y \$\$SBX >>out" \
		"	@cat out; rm out" >inner
	    make --no-print-directory -j3 -f outer'
	is 'a script that is a pipe' my-agent '$S <(echo "echo \$SBX")'
	is 'no other descriptor' '' '$S -c "[ -e /proc/self/fd/5 ] && cat <&5" 5<script'
	is '--pass-fd hands on no file' 125 '"$SH/sbxrun" --pass-fd 5 \
	    "$SH/agent.bin" -- true 5<script 2>/dev/null; echo $?'
	is '--pass-fd hands on no socket' 125 "python3 -c '
import os, socket, subprocess
a, b = socket.socketpair()
print(subprocess.run([os.environ[\"SH\"] + \"/sbxrun\", \"--pass-fd\",
    str(a.fileno()), os.environ[\"SH\"] + \"/agent.bin\", \"--\", \"true\"],
    pass_fds=[a.fileno()], stderr=subprocess.DEVNULL).returncode)'"
	is '--pass-fd hands on no directory' 125 '"$SH/sbxrun" --pass-fd 5 \
	    "$SH/agent.bin" -- true 5</ 2>/dev/null; echo $?'
}

places()
{
	is 'the project is the workspace, and nothing above' 'written
no' '$S -c "echo written >../top; cat ../top; (echo >../../x) 2>/dev/null ||
	    echo no"'
	is 'in the root directory' '/ my-agent' 'cd /; $S -c "echo \$PWD \$SBX"'
	is 'in a directory that is gone' my-agent '
	    mkdir gone; cd gone; rmdir ../gone; $S -c "echo \$SBX" 2>/dev/null'
	is 'keys are shut' 'no' '$S -c "cat ~/.ssh/id 2>/dev/null || echo no"'
	is 'nested it says nothing, and goes on' 'my-agent nested' '
	    $S -c "\"$S\" -c \"echo \\\$SBX nested\""'
	is 'a variable does not make it nested' 'no' '
	    SBX=x SBX_LEVEL=full SBX_SESSION=y \
	    $S -c "cat ~/.ssh/id 2>/dev/null || echo no"'
}

# What a project can bring about: variables, files in it.
hostile()
{
	mkdir -p "$home/p/.config/sbx"
	printf 'policy @full-access\nshell /bin/echo\n' \
	    >"$home/p/.config/sbx/shell"
	chown -R "$uid:$uid" "$home/p/.config"
	is 'variables choose no settings' my-agent '
	    HOME=$HOME/p XDG_CONFIG_HOME=$HOME/p/.config $S -c "echo \$SBX"'
	is 'PATH chooses neither sbxrun nor the shell' my-agent '
	    mkdir -p bin; for i in sbxrun bash sh; do
	    printf "#!/bin/sh\necho caught\n" >bin/$i; chmod +x bin/$i; done
	    PATH=$PWD/bin:$PATH; "$S" -c "echo \$SBX"'
	tap_is "uid $uid, $level: settings in the workspace are refused" 125 "$(
	    as "$uid" SBX_TEST_HOME="$home/p/sub/home" sh -c '
	    mkdir -p "$HOME/p/sub/home/.config/sbx"
	    echo "policy @full-access" >"$HOME/p/sub/home/.config/sbx/shell"
	    cd "$HOME/p"; "$1" -c true 2>/dev/null; echo $?' sh "$tmp/bash")"
	rm -rf "$home/p/.config" "$home/p/sub/home" "$home/p/sub/bin"
	chmod go+w "$home/.config/sbx/shell"
	is 'settings that others may write are refused' 125 '
	    $S -c true 2>/dev/null; echo $?'
	chmod go-w "$home/.config/sbx/shell"
	if [ "$(id -u)" -eq 0 ]; then
		chown 0 "$home/.config/sbx/shell"
		is "root's settings are believed" my-agent '$S -c "echo \$SBX"'
		chown "$uid" "$home/.config/sbx/shell"
	fi
	settings 'polcy x'
	for line in "polcy x|polcy: no such setting; see sbxsh(1)" \
	    "policy|policy: a word without a value" \
	    "explain maybe|explain: it has to be yes, agent or no" \
	    "log here|log: it has to begin with / or ~/"; do
		settings "${line%%|*}"
		is "'${line%%|*}' is refused, by its line" \
		    "sbxsh: $home/.config/sbx/shell:3: ${line#*|}
125" '$S -c true; echo $?'
	done
	settings "level $level" 'explain yes'
	is '"explain yes" tells what was denied' 1 '
	    $S -c "cat ~/.ssh/id" 2>&1 | grep -c "^  read .*\.ssh/id "'
	settings "level $level" 'explain agent'
	is '"explain agent" tells it in the form for agents' 1 '
	    $S -c "cat ~/.ssh/id; exit 1" 2>&1 |
	    grep -c "^1. denied: read .*/.ssh/id.* (1x .cat.), by: "'
	settings 'policy /nonexistent/x.bin'
	is 'a policy that is missing is refused' 125 '$S -c true 2>/dev/null
	    echo $?'
	settings "level $level"
	is 'the right program reads no variable of the tests' 1 '
	    SBX_TEST_HOME=$HOME "$SH/sbxsh" -c "echo \$SBX" 2>&1 |
	    grep -vc "^my-agent"'
}

# dotfiles SCRIPT: the status of sbxsh in ~/dotfiles/nvim after that script.
dotfiles()
{
	as "$uid" SBX_TEST_HOME="$home" S="$tmp/bash" SH="$tmp" sh -c '
	cd "$HOME/dotfiles/nvim" && eval "$1"
	"$S" -c "echo \$SBX" 2>/dev/null; echo $?' sh "$1"
}

# Settings, and what leads to them, in a repository around the directory.
led()
{
	as "$uid" mkdir -p "$home/dotfiles/nvim" "$home/dotfiles/sbx"
	as "$uid" git init -q "$home/dotfiles"
	mv "$home/.config/sbx/shell" "$home/dotfiles/sbx/shell"
	as "$uid" ln -s ../../dotfiles/sbx/shell "$home/.config/sbx/shell"
	tap_is "uid $uid, $level: settings in a repository above are refused" \
	    125 "$(dotfiles :)"
	tap_is "uid $uid, $level: and behind a .git that is none" 125 \
	    "$(dotfiles 'ln -s nowhere .git')"
	tap_is "uid $uid, $level: and where the .git is gone" 125 "$(dotfiles '
	    rm .git; "$SH/sbxrun" -l standard -w auto "$SH/agent.bin" -- true
	    rm -rf ../.git' 2>/dev/null)"
	as "$uid" git init -q "$home/dotfiles"
	mv "$home/dotfiles/sbx/shell" "$home/.config/shell"
	as "$uid" ln -s ../../.config/shell "$home/dotfiles/sbx/shell"
	tap_is "uid $uid, $level: and a link that leads to them" 125 \
	    "$(dotfiles :)"
	rm "$home/.config/sbx/shell"
	mv "$home/.config/shell" "$home/.config/sbx/shell"
	tap_is "uid $uid, $level: and nothing else" "my-agent
0" "$(dotfiles :)"
	as "$uid" cp "$tmp/agent.bin" "$home/dotfiles/agent.bin"
	settings "policy ~/dotfiles/agent.bin"
	tap_is "uid $uid, $level: a policy in a repository above is refused" \
	    125 "$(dotfiles 'ln -s nowhere .git')"
	settings "level $level"
	rm -rf "$home/dotfiles"
}

# A relative path would be that of a file in the workspace.
relative()
{
	as "$uid" cp "$tmp/agent.bin" "$home/p/sub/own.bin"
	for word in policy shell log; do
		what='/ or ~/'
		[ $word != policy ] || what='/, ~/ or @'
		settings "level $level" "$word own.bin"
		is "a relative $word is refused" \
		    "sbxsh: $home/.config/sbx/shell:4: $word: it has to begin with $what
125" '$S -c true; echo $?'
	done
	rm "$home/p/sub/own.bin"
	settings "level $level"
}

# Commands of one agent meet; those of another agent do not.
sessions()
{
	is 'what one command leaves behind answers the next' hello '
	    mkdir -p served; echo hello >served/index.html
	    $S -c "cd served && exec python3 -m http.server 8124" \
		>/dev/null 2>&1 &
	    for i in $(seq 100); do
		    $S -c "python3 -c \"
import urllib.request as u
print(u.urlopen(\\\"http://127.0.0.1:8124/\\\").read().decode().strip())\"" \
		    2>/dev/null && break
		    sleep 0.1
	    done
	    $S -c "pkill -f [h]ttp.server"; wait'
	is 'another agent has another session' different '
	    one=$($S -c "echo \$SBX_SESSION"); two=$(bash -c "
	    $S -c \"echo \\\$SBX_SESSION\"; :")
	    [ "$one" != "$two" ] && echo different'
	is 'and so has another project' different '
	    one=$($S -c "echo \$SBX_SESSION"); mkdir -p ../../q; cd ../../q
	    two=$($S -c "echo \$SBX_SESSION")
	    [ "$one" != "$two" ] && echo different'
	is '"session none" has none' '' 'echo "session none" \
	    >>~/.config/sbx/shell; $S -c "echo \$SBX_SESSION"'
	settings "level $level"
}

everything()
{
	begins "$1"
	for level in $levels; do
		settings "level $level"
		rows
		missing
		pipes
		places
		hostile
		led
		relative
		[ "$level" != full ] || sessions
	done
}

everything "$(id -u)"
! tap_twice || everything $ORDINARY
tap_done

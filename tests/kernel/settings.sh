#!/bin/sh
# What settings in the home and in /etc lead to, as TAP.  git has the name that they
# set in a sandbox, too, by whatever files; a denial of such a file holds, and settings
# that a command could have written open nothing.  Who is kept from a file that names
# a registry is told so.  ssh believes root's files, and tools find a home.  At both
# levels, as this user and, started by root, as an ordinary one too.

# Variables in what the sandbox's shell runs are that shell's.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

if ! command -v git >/dev/null; then
	tap_skip 'settings of git' 'there is no git'
	tap_done
	exit
fi
tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$builddir/sbx-proxy"
policy plain workspace-write
policy shut workspace-write 'deny read ~/work/config'
policy open workspace-write 'allow write ~/.config/git'
policy home workspace-write 'allow write ~/work'
policy coding coding
policy gpu workspace-write 'use gpu'
policy online coding-online
policy told coding-online 'set env npm_config_registry = "http://127.0.0.1:9/"'

# prepare UID: a home with a repository, and settings in many files.
prepare()
{
	home=$base/home-$1
	rm -rf "$home"
	mkdir -p "$home/ws" "$home/work" "$home/dot/more" "$home/.config/git"
	cat >"$home/dot/gitconfig" <<-'CONFIG'
		[user]
			name = plain
			email = a@b
		[core]
			excludesFile = ~/dot/ignored
		[include]
			path = "beside.inc"   ; from where the link is
			path = ~/dot/more/first
			path = ~/gone
		[includeIf "gitdir:~/ws/"]
			path = ~/work/config
		[includeIf "gitdir:~/elsewhere/"]
			path = ~/work/other
	CONFIG
	ln -s dot/gitconfig "$home/.gitconfig"
	printf '[sbx]\n\tbeside = yes\n' >"$home/beside.inc"
	printf '[include]\n\tpath = second\n' >"$home/dot/more/first"
	printf '[sbx]\n\tnested = yes\n' >"$home/dot/more/second"
	printf '[user]\n\tname = work\n' >"$home/work/config"
	printf '[user]\n\tname = other\n' >"$home/work/other"
	echo private >"$home/work/beside"
	printf '[include]\n\tpath = ~/work/xdg\n' >"$home/.config/git/config"
	printf '[sbx]\n\txdg = yes\n' >"$home/work/xdg"
	echo '*.skip' >"$home/dot/ignored"
	touch "$home/ws/a.skip"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home"
	as "$1" git init -q "$home/ws"
}

# run POLICY STRING: in the repository; what it prints, in one line.
run()
{
	(cd "$home/ws" && as "$uid" "$base/sbxrun" -l "$level" "$base/$1.bin" \
	    -- sh -c "$2" 2>&1 </dev/null) | tr '\n' ' '
}

included()
{
	prepare "$uid"
	all='git config user.name; git config --get-regexp ^sbx; git status -s'
	tap_is "$level: uid $uid: all that counts here is read" \
	    "work sbx.xdg yes sbx.beside yes sbx.nested yes " \
	    "$(run plain "$all")"
	# What is beside the workspace is not there, so git finds no repository.
	tap_is "$level: uid $uid: what is conditional stays so" 'plain ' \
	    "$(run plain 'cd "$TMPDIR" && git config user.name')"
	tap_is "$level: uid $uid: nothing of it can be written" 'no ' \
	    "$(run plain '(echo >>~/work/config) 2>/dev/null || echo no')"
	tap_is "$level: uid $uid: and nothing is opened that git does not read" \
	    'no ' "$(run plain 'cat ~/work/beside 2>/dev/null || echo no')"
}

# Saved anew while the command runs, as git does: a file of the same name.
replaced()
{
	prepare "$uid"
	rm "$home/.gitconfig"
	printf '[user]\n\tname = first\n' >"$home/.gitconfig"
	printf '[user]\n\tname = second\n' >"$home/anew"
	[ "$uid" -eq "$(id -u)" ] ||
		chown "$uid:$uid" "$home/.gitconfig" "$home/anew"
	(tap_until [ -e "$home/ws/ready" ]
	mv "$home/anew" "$home/.gitconfig"
	touch "$home/ws/go") &
	tap_is "$level: uid $uid: settings that are saved anew meanwhile" \
	    'first yes ' "$(run plain 'touch ready
		until [ -e go ]; do sleep 0.1; done
		git config user.name && git config sbx.xdg' |
		sed 's/sbxrun: the command changed.*//')"
	wait
	tap_is "$level: uid $uid: the next run has them" 'second no ' \
	    "$(run plain 'git config user.name
		(echo >>"${GIT_CONFIG_GLOBAL:-/}") 2>/dev/null || echo no')"
}

shut()
{
	prepare "$uid"
	tap_is "$level: uid $uid: a denied file stays denied" 'no ' \
	    "$(run shut 'cat ~/work/config 2>/dev/null || echo no' |
		sed 's/^sbxrun: warning.* level //')"
	case $level-$(run shut true) in
	full-) said=right ;;
	standard-*"the policy denies it, so git fails"*) said=right ;;
	*) said=wrong ;;
	esac
	tap_is "$level: uid $uid: and is said where git fails" right "$said"
}

planted()
{
	prepare "$uid"
	rm "$home/.gitconfig"
	printf '[include]\n\tpath = ~/work/config\n' \
	    >"$home/.config/git/config"
	tap_is "$level: uid $uid: settings that a command writes lead nowhere" \
	    'no ' "$(run open 'cat ~/work/config 2>/dev/null || echo no')"
	printf '[include]\n\tpath = ~/work/other\n' >"$home/.gitconfig"
	printf '[include]\n\tpath = ~/dot/more/second\n' >"$home/work/other"
	tap_is "$level: uid $uid: included ones neither" 'no ' \
	    "$(run home 'cat ~/dot/more/second 2>/dev/null || echo no')"
}

# asked NPMRC POLICY: whether sbxrun says that npm asks the public registry.
asked()
{
	prepare "$uid"
	printf '%s\n' "$1" >"$home/.npmrc"
	case $(run "$2" true) in
	*npmrc:*'npm asks the public registry'*) echo told ;;
	*) echo not ;;
	esac
}

registries()
{
	corp='@corp:registry=https://npm.example.org/'
	tap_is "$level: uid $uid: a registry that is hidden is told of" told \
	    "$(asked "$corp" online)"
	tap_is "$level: uid $uid: not without a network" not \
	    "$(asked "$corp" plain)"
	tap_is "$level: uid $uid: nor where the policy sets one" not \
	    "$(asked "$corp" told)"
	tap_is "$level: uid $uid: nor for the usual one and its token" not \
	    "$(asked 'registry = https://registry.npmjs.org/
//registry.npmjs.org/:_authToken=x' online)"
}

# An account on which nothing was run yet.
fresh()
{
	home=$base/fresh-$uid
	rm -rf "$home"
	mkdir -p "$home" "$base/ws-$uid"
	[ "$uid" -eq "$(id -u)" ] || chown -R "$uid:$uid" "$home" "$base/ws-$uid"
	tap_is "$level: uid $uid: there is a home, though nothing is in it" \
	    'there shut' "$(fresh_run 'stat ~ >/dev/null && echo there
		touch ~/x 2>/dev/null || echo shut' | xargs)"
	tap_is "$level: uid $uid: pnpm's store is where one can be made" yes \
	    "$(fresh_run 'mkdir -p "$PNPM_HOME/store" && echo yes')"
	tap_is "$level: uid $uid: so are modules of Go" yes \
	    "$(fresh_run 'mkdir -p "$GOMODCACHE/x" && echo yes')"
	tap_is "$level: uid $uid: so are what Gradle, cargo and nimble keep" yes \
	    "$(fresh_run 'mkdir -p "$GRADLE_USER_HOME/native" \
		"$CARGO_HOME/registry" "$NIMBLE_DIR/pkgs2" && echo yes')"
	mkdir -p "$home/.config/gh" "$home/.ipython"
	tap_is "$level: uid $uid: gh and IPython find settings that can be read" \
	    yes "$(fresh_run 'for d in "$GH_CONFIG_DIR" "$IPYTHONDIR"; do
		mkdir -p "$d" && ls "$d" >/dev/null && echo >"$d/x" || exit; done; echo yes')"
	if [ "$level" = full ]; then
		fresh_run 'mkdir -p ~/.m2/repository/x && touch ~/.cargo/git/y'
		tap_is "$level: uid $uid: caches are kept, and not in the home" \
		    'repository/x git/y' "$(fresh_run 'cd ~/.m2 &&
			echo repository/* && cd ~/.cargo && echo git/*' | xargs
			ls -d "$home/.m2" "$home/.cargo" 2>/dev/null)"
		fresh_run 'rm -r /tmp/.ivy2 /tmp/.sbt && ln -s /etc /tmp/.ivy2 &&
			ln -s ~/ws /tmp/.sbt'
		tap_is "$level: uid $uid: and no link in their place is followed" \
		    'no no' "$(fresh_run 'for f in ~/.ivy2 ~/.sbt; do
			[ -e $f ] || echo no; done' | xargs)"
	fi
	mkdir -p "$home/.local/share/pnpm/store"
	tap_is "$level: uid $uid: and where it is, once it is there" \
	    "$home/.local/share/pnpm" "$(fresh_run 'echo "$PNPM_HOME"')"
}
fresh_run()
{
	(cd "$base/ws-$uid" && as "$uid" "$base/sbxrun" -l "$level" \
	    "$base/coding.bin" -- sh -c "$1" 2>&1 </dev/null)
}

# ssh ends where a file there is neither root's nor the user's, as root's look in a
# user namespace.
ssh_settings()
{
	name="$level: uid $uid: ssh reads root's settings"
	if ! command -v ssh >/dev/null || ! [ -d /etc/ssh/ssh_config.d ]; then
		tap_lacks "$name" 'there is no ssh with a directory of settings'
		return
	fi
	if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
		tap_lacks "$name" 'only root can put a file there'
		return
	fi
	prepare "$ORDINARY"
	mkdir -p "$base/settings"
	chmod 755 "$base/settings"
	printf 'Host example.org\n\tPort 77\n' >"$base/settings/20-x.conf"
	chmod 644 "$base/settings/20-x.conf"
	tap_is "$name" 'port 77' "$(cd "$home/ws" && BASE=$base LEVEL=$level \
	    USER_ID=$ORDINARY HOME=$home unshare -m sh -c '
		mount --bind "$BASE/settings" /etc/ssh/ssh_config.d &&
		setpriv --reuid="$USER_ID" --regid="$USER_ID" --clear-groups \
		    "$BASE/sbxrun" -l "$LEVEL" "$BASE/plain.bin" -- \
		    ssh -T -G example.org' 2>&1 </dev/null | grep -e '^port' -e owner)"
}

# They are copies at level full, of any length; what is missing is said.
ssh_copies()
{
	name="$level: uid $uid: settings of ssh are whole"
	if [ "$(id -u)" -ne 0 ] || ! [ -d /etc/ssh/ssh_config.d ] ||
	    ! unshare -m true 2>/dev/null; then
		tap_lacks "$name" 'only root can put files there'
		return
	fi
	prepare "$ORDINARY"
	mkdir -p "$base/long"
	chmod 755 "$base/long"
	(yes '# comment' | head -c 40000; echo; echo end) >"$base/long/10-long.conf"
	echo x >"$base/long/20-shut.conf"
	chmod 644 "$base/long/10-long.conf"
	chmod 600 "$base/long/20-shut.conf"
	wanted=end
	[ "$level" != full ] || wanted="end
sbxrun: warning: /etc/ssh/ssh_config.d/20-shut.conf: it is not in the view: it cannot be read, or is longer than 1 MiB: Permission denied"
	tap_is "$name" "$wanted" "$(cd "$home/ws" && BASE=$base LEVEL=$level \
	    USER_ID=$ORDINARY HOME=$home unshare -m sh -c '
		mount --bind "$BASE/long" /etc/ssh/ssh_config.d &&
		setpriv --reuid="$USER_ID" --regid="$USER_ID" --clear-groups \
		    "$BASE/sbxrun" -l "$LEVEL" "$BASE/plain.bin" -- \
		    tail -n 1 /etc/ssh/ssh_config.d/10-long.conf' 2>&1 </dev/null |
	    grep -e '^end' -e ssh_config.d | sort)"
}

# A device whose name is that of one of NVIDIA's, and what it does, /dev/null's.
devices()
{
	name="$level: uid $uid: the devices of graphics cards open with the group alone"
	card=/dev/nvidia-sbx-$$
	if [ "$(id -u)" -ne 0 ] || ! mknod -m 666 "$card" c 1 3 2>/dev/null; then
		tap_lacks "$name" 'only root can make a device'
		return
	fi
	prepare "$uid"
	tap_is "$name" 'shut open ' "$(for p in plain gpu; do
		run $p "echo 2>/dev/null >$card && echo open || echo shut"
	done)"
	rm "$card"
}

tap_levels standard full
users=$(id -u)
if tap_twice; then users="$users $ORDINARY"; fi
for uid in $users; do
	for level in $levels; do
		included
		replaced
		shut
		planted
		registries
		fresh
		devices
	done
done
for level in $levels; do
	ssh_settings
	ssh_copies
done
tap_done

#!/bin/sh
# What sbx keeps in a home, as TAP: no shipped profile, and no policy that opens
# the home or everything, lets a command read, write, move or make the policies in
# ~/.config/sbx and the state in ~/.local/state/sbx.  At levels standard and full,
# as this user and, started by root, as an ordinary one too.

# The inner shell expands the rest.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN"

# prepare UID [WHAT]: a home with a policy and state in it.
prepare()
{
	home=$base/home-$1
	rm -rf "$home"
	mkdir -p "$home/ws"
	case ${2-} in
	linked)
		mkdir -p "$home/dots/config/sbx" "$home/dots/state/sbx" \
		    "$home/.local"
		ln -s dots/config "$home/.config"
		ln -s ../dots/state "$home/.local/state"
		;;
	absent) ;;
	*) mkdir -p "$home/.config/sbx" "$home/.local/state/sbx" ;;
	esac
	[ "${2-}" = absent ] || {
		echo secret >"$home/.config/sbx/team.sbx"
		echo secret >"$home/.local/state/sbx/plan"
	}
	[ "$1" -eq "$(id -u)" ] || chown -hR "$1:$1" "$home"
}

policies()
{
	policy home workspace-write 'allow write ~' 'allow exec ~'
	policy all workspace-write 'allow write /' 'allow exec /'
	policy named workspace-write 'allow write ~/.config/sbx' \
	    'allow write ~/.local/state/sbx/plan'
	policy open workspace-write 'drop deny read ~/.config except ~/.config/git' \
	    'allow write ~/.config' 'allow write ~/.local' \
	    'allow write glob "~/.*/s*"'
	for shipped in $("$SBXC" profiles | sed -n 's/^\([a-z-]*\) .*/\1/p'); do
		[ "$shipped" = full-access ] || policy "$shipped" "$shipped"
	done
}

# What a command might try.  Everything that it can read is printed.
attack='
	for place in .config/sbx .local/state/sbx; do
		cat "$HOME/$place"/* "/proc/self/root$HOME/$place"/*
		ls "$HOME/$place"
		for file in team.sbx plan new; do
			echo planted >>"$HOME/$place/$file"
			echo planted >"$HOME/new-$$" &&
				mv "$HOME/new-$$" "$HOME/$place/$file"
			ln "$HOME/$place/$file" "$HOME/ws/hard" &&
				cat "$HOME/ws/hard"
		done
		chmod 777 "$HOME/$place"
		rm -rf "$HOME/$place"
		mv "$HOME/$place" "$HOME/moved"
		mkdir -p "$HOME/$place" && echo planted >"$HOME/$place/new"
		ln -s "$HOME/ws" "$HOME/$place"
	done
	for above in .config .local/state .local dots/config dots/state dots; do
		mv "$HOME/$above" "$HOME/ws/above" && cat "$HOME/ws/above/sbx"/* \
			"$HOME/ws/above"/*/sbx/*
		mkdir -p "$HOME/$above/sbx" "$HOME/$above/state/sbx" \
			"$HOME/$above/config/sbx"
		for in in "" state/ config/; do
			echo planted >"$HOME/$above/${in}sbx/new"
			echo planted >"$HOME/$above/${in}sbx/plan"
		done
		mv "$HOME/ws/above" "$HOME/$above"
	done
	true'

# What lies there afterwards, from outside: the files and what they say.
kept()
{
	(cd "$home" && find -L .config/sbx .local/state/sbx -path '*/runs' \
	    -prune -o -type f \
	    -exec cat {} + -o -type f 2>/dev/null | sort | uniq -c |
	    tr -s ' \n' ' ')
}

# try NAME POLICY WANTED: at full nothing is read, and what lies there is as it was.
try()
{
	said=$(cd "$home/${at-ws}" && as "$uid" env \
	    XDG_CONFIG_HOME="$home/ws/c" XDG_STATE_HOME="$home/ws/s" \
	    "$base/sbxrun" -l "$level" -w . "$base/$2.bin" -- \
	    sh -c "$attack" 2>"$base/said" | grep -c secret)
	# At standard it may be read where the policy opens it.
	[ "$level" = full ] || said=0
	tap_is "$level: uid $uid: $1: $2" "0 $3" "$said $(kept)"
}

levels='standard full'
for uid in $(id -u) $([ "$(id -u)" -ne 0 ] || echo "$ORDINARY"); do
	prepare "$uid"
	policies
	for level in $levels; do
		"$SBXRUN" -l "$level" -w "$home/ws" "$base/read-only.bin" -- \
		    true 2>/dev/null || {
			tap_lacks "level $level" 'it is not to be had'
			continue
		}
		for opened in home all named open; do
			prepare "$uid"
			try 'opened' "$opened" ' 2 secret '
			at='' try 'with the home as the workspace' "$opened" \
			    ' 2 secret '
			prepare "$uid" linked
			try 'behind links' "$opened" ' 2 secret '
			prepare "$uid" absent
			try 'absent' "$opened" ''
		done
		prepare "$uid"
		for shipped in $("$SBXC" profiles |
		    sed -n 's/^\([a-z-]*\) .*/\1/p'); do
			[ "$shipped" != full-access ] || continue
			at='' try 'the home is the workspace' "$shipped" \
			    ' 2 secret '
		done
		prepare "$uid"
		tap_is "$level: uid $uid: no workspace is in it" '125 yes' "$(
		    cd "$home/.local/state/sbx" && as "$uid" "$base/sbxrun" \
			-l "$level" "$base/home.bin" -- true >"$base/said" 2>&1
		    echo "$? $(grep -q 'keeps its own files' "$base/said" &&
			echo yes)")"
	done
done
tap_done

# shellcheck shell=bash disable=SC2154,SC2034 # variables are set and used elsewhere
# What follows is the same in every script that 'sbxc export' makes.
# The rules above are a model: what may be done with a path depends on the rules
# that cover it.  So the places that rules name are sorted, and each is mounted
# where its rights differ from those of the mount around it, parents first.

refuse() {
	printf '%s: %s\n' "${0##*/}" "$1" >&2
	exit 125
}

# A shell with -p takes no functions and no options from the environment.
[[ $- == *p* ]] || exec "$BASH" -p -- "${BASH_SOURCE[0]-}" "$@" ||
	refuse 'bash does not start'
# These change what it does nevertheless.  The command may have them.
kept=()
for name in BASH_COMPAT EXECIGNORE FUNCNEST POSIXLY_CORRECT; do
	[[ ! -v $name ]] || kept+=("$name" "${!name}")
	unset "$name" || refuse "the variable $name stays"
done
# What the caller had, which the command gets whatever the script calls its own
# variables.
mapfile -d '' -t environment </proc/self/environ || refuse 'there is no /proc'
set +f
shopt -s dotglob globstar nullglob
shopt -u failglob nocaseglob nocasematch
caller_path=$PATH
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin
LC_ALL=C.UTF-8
letter=$'\303\251'
((${#letter} == 1)) || refuse 'the locale C.UTF-8 is missing'

plan=false
if [[ ${1-} == -n ]]; then
	plan=true
	shift
fi
(($# > 0)) || $plan || refuse 'a command is missing'
[[ $(uname -m) == "$machine" ]] || refuse "this filter is for $machine"
[[ ${HOME-} == /* ]] || refuse 'HOME is no absolute path'

# A directory that the caller left open would lead past all mounts.  The shell
# moves its own descriptor of this script when that number is closed.
for fd in /proc/self/fd/*; do
	fd=${fd##*/}
	((fd <= 2)) || exec {fd}>&-
done
for fd in 0 1 2; do
	[[ -L /proc/self/fd/$fd ]] || case $fd in
	0) exec </dev/null ;;
	1) exec >/dev/null ;;
	2) exec 2>/dev/null ;;
	esac
	[[ ! -d /proc/self/fd/$fd ]] || refuse "descriptor $fd is a directory"
	# On a descriptor of its own: the kernel looks at $fd when it is read.
	exec {info}</proc/self/fdinfo/$fd
	mapfile -t -u "$info" lines
	exec {info}<&-
	flags=
	for line in "${lines[@]}"; do
		[[ $line != flags:* ]] || flags=${line#flags:}
	done
	[[ -n $flags ]] || refuse "the flags of descriptor $fd are not known"
	# O_PATH: what it names can be reached, and opened again.
	((!(flags & 010000000))) || refuse "descriptor $fd was opened with O_PATH"
done
# So would a file as standard input, which can be opened again for writing.
[[ ! -f /dev/stdin && ! -b /dev/stdin ]] || exec < <(exec cat)

# --- anchors ---------------------------------------------------------------

# Without getent(1) the file alone is asked.
entry=$(if type -P getent >/dev/null; then
	getent passwd "$UID"
else
	while IFS=: read -r line; do
		IFS=: read -r _ _ number _ <<<"$line"
		[[ $number != "$UID" ]] || printf '%s\n' "$line"
	done </etc/passwd
fi)
IFS=: read -r _ _ _ _ _ own_home _ <<<"${entry%%$'\n'*}"
for name in HOME PWD; do
	printf -v "real_$name" '%s' "$(realpath -e -- "${!name}"; echo .)"
done
# shellcheck disable=SC2154 # real_HOME, real_PWD
workspace=${real_PWD%$'\n'.} home=${real_HOME%$'\n'.}
[[ $workspace == /?* ]] || refuse 'the workspace is the root directory, or gone'
[[ $home == /* ]] || refuse 'HOME is not there'
[[ $home != / ]] || home=
[[ $own_home == /?* && -d $own_home ]] && own_home=$(realpath -e -- "$own_home") ||
	own_home=$home
runtime=${XDG_RUNTIME_DIR-}
[[ $runtime != /* ]] || runtime=$(realpath -m -- "$runtime")

# --- rules -----------------------------------------------------------------

# Of each rule: its effect, its rights (1 read, 2 write), its path.  Of each
# exclusion: the rule, the path.
effects=() rights=() paths=() ex_rules=() ex_paths=()

# bases EFFECT ANCHOR: sets `bases`.  A denial holds for both homes.
bases() {
	bases=()
	case $2 in
	root) bases=('') ;;
	workspace) bases=("$workspace") ;;
	home)
		bases=("$home")
		[[ $1 == allow || $own_home == "$home" ]] || bases+=("$own_home")
		;;
	tmp) ;;
	runtime) [[ $runtime != /* ]] || bases=("$runtime") ;;
	esac
}

# rule EFFECT RIGHTS ANCHOR SUFFIX [GLOB], then except ANCHOR SUFFIX for each of
# its exclusions.  GLOB is quoted for `eval`, but for its wildcards.
rule() {
	local base match matches

	first=${#paths[@]}
	bases "$1" "$3"
	for base in "${bases[@]}"; do
		matches=("$base$4")
		(($# < 5)) || eval "matches=(\"\$base\$4\"/$5)"
		for match in "${matches[@]}"; do
			effects+=("$1") rights+=("$2") paths+=("$match")
		done
	done
}

except() {
	local base i

	bases deny "$1"
	for base in "${bases[@]}"; do
		for ((i = first; i < ${#paths[@]}; i++)); do
			ex_rules+=("$i") ex_paths+=("$base$2")
		done
	done
}

# shellcheck disable=SC2154 # rules() is above
rules

# covers PLACE PATH
covers() {
	[[ $2 == "$1" || $2 == "$1"/* ]]
}

# is_planted PATH: does it lead through a link that a command may have made?
# One that somebody other than root owns, or that lies where commands may write.
# The others, such as /bin, are wanted in the view.
is_planted() {
	local rest=$1 done='' name i steps=0 target

	while [[ -n $rest ]]; do
		rest=${rest#/}
		name=${rest%%/*}
		[[ $rest == */* ]] && rest=/${rest#*/} || rest=
		case $name in
		'' | .) continue ;;
		..)
			done=${done%/*}
			continue
			;;
		esac
		if [[ ! -L $done/$name ]]; then
			done=$done/$name
			continue
		fi
		((++steps <= 40)) || return 0
		[[ $(stat -c %u -- "$done/$name") == 0 ]] || return 0
		for i in "$home" "$workspace" "$runtime" "${writable[@]}"; do
			[[ -z $i ]] || ! covers "$i" "$done" || return 0
		done
		target=$(readlink -n -- "$done/$name"; echo .)
		target=${target%.}
		view_links+=("$done/$name") view_targets+=("$target")
		[[ $target != /* ]] || done=
		rest=/$target$rest
	done
	return 1
}

# Follows all links at once; what is not there keeps its name.
asked=()
for place in "${paths[@]}" "${ex_paths[@]}"; do
	asked+=("/$place")
done
mapfile -d '' -t real < <(
	((${#asked[@]} == 0)) || realpath -z -m -- "${asked[@]}"
)
((${#real[@]} == ${#asked[@]})) ||
	refuse 'a path of the policy cannot be followed'
for place in "${real[@]}"; do
	[[ $place == /* ]] || refuse 'a path of the policy is not absolute'
done
writable=()
for i in "${!paths[@]}"; do
	[[ ${effects[i]} == allow ]] && ((rights[i] & 2)) &&
		writable+=("${real[i]%/}")
done

# `skipped` says why a rule is not applied.
skipped=() links=() view_links=() view_targets=()
for i in "${!paths[@]}"; do
	skipped[i]=
	to=${real[i]%/}
	if [[ ! -e ${to:-/} ]]; then
		skipped[i]='is not there'
	elif [[ $to == "${paths[i]}" ]]; then
		:
	elif [[ ${effects[i]} == allow ]]; then
		! is_planted "${paths[i]}" ||
			skipped[i]='leads through a link that may be planted'
	elif [[ -L ${paths[i]} ]]; then
		links+=("${paths[i]}")
	fi
	paths[i]=$to
done
for i in "${!ex_paths[@]}"; do
	to=${real[${#paths[@]} + i]%/}
	# What is not there, or may be planted, takes nothing out of a denial.
	if [[ ${effects[ex_rules[i]]} != allow ]]; then
		[[ -e $to ]] && { [[ $to == "${ex_paths[i]}" ]] ||
			! is_planted "${ex_paths[i]}"; } || ex_rules[i]=-1
	fi
	ex_paths[i]=$to
done

# state PATH: sets `state` to 0, 1 (read) or 3 (write too).
state() {
	local i j allowed=0 denied=0

	for i in "${!paths[@]}"; do
		[[ -z ${skipped[i]} ]] || continue
		[[ $1 == "${paths[i]}" || $1 == "${paths[i]}"/* ]] || continue
		for j in "${!ex_paths[@]}"; do
			((ex_rules[j] == i)) || continue
			! covers "${ex_paths[j]}" "$1" || continue 2
		done
		if [[ ${effects[i]} == allow ]]; then
			((allowed |= rights[i]))
		else
			((denied |= rights[i]))
		fi
	done
	((state = allowed & ~denied & 3))
	((state & 1)) || state=0
}

# --- mounts ----------------------------------------------------------------

args=() last=()
# The mounts around the place that is looked at: their paths and states.
around=() around_state=()
# All but the private /tmp, which is empty.
mounts=()

# bind PATH STATE
bind() {
	local how=--ro-bind

	(($2 == 1)) || how=--bind
	# Other mounts have no devices.
	[[ $2 == 1 || ! ($1 == '' || $1 == /dev || $1 == /dev/*) ]] ||
		how=--dev-bind
	args+=("$how" "${1:-/}" "${1:-/}")
}

# mask PATH: a directory that cannot be listed, or a device that cannot be
# opened.
mask() {
	if [[ -d $1 ]]; then
		args+=(--perms 0111 --tmpfs "$1")
		last+=(--remount-ro "$1")
	else
		args+=(--ro-bind /dev/null "$1")
	fi
}

# keep FROM TO: a directory between two mounts must keep its name.
keep() {
	local at=$1 rest=${2#"$1"/}

	while [[ $rest == */* ]]; do
		at=$at/${rest%%/*} rest=${rest#*/}
		bind "$at" 3
		around+=("$at") around_state+=(3)
	done
}

# leave PATH: what does not lie around it, is no longer around.
leave() {
	local n

	while n=${#around[@]} && ((n > 0)) && ! covers "${around[n - 1]}" "$1"; do
		unset 'around[n - 1]' 'around_state[n - 1]'
	done
}

# settle PATH
settle() {
	local n

	state "$1"
	leave "$1"
	n=${#around[@]}
	if ((n == 0)); then
		((state > 0)) || return 0
	elif [[ $1 == "${around[n - 1]}" ]]; then
		return 0
	elif [[ ${around_state[n - 1]} == tmp ]]; then
		((state > 0)) || return 0
	else
		((state != around_state[n - 1])) || return 0
		((around_state[n - 1] != 3)) || keep "${around[n - 1]}" "$1"
	fi
	if ((state == 0)); then
		mask "$1"
	else
		bind "$1" "$state"
	fi
	around+=("$1") around_state+=("$state")
	mounts+=("$1")
}

# The kernel's own file systems are new ones.
settle_proc() {
	state /proc
	if ((state == 0)); then
		settle /proc
		return
	fi
	leave /proc
	args+=(--proc /proc)
	((state == 3)) || last+=(--remount-ro /proc)
	around+=(/proc) around_state+=("$state")
	mounts+=(/proc)
}

settle_dev() {
	local name any=false

	for name in null zero full random urandom tty ptmx pts shm; do
		state "/dev/$name"
		((state == 0)) || any=true
	done
	state /dev
	if ((state > 0)) || ! $any; then
		settle /dev
		return
	fi
	leave /dev
	args+=(--dev /dev)
	for name in null zero full random urandom tty pts shm; do
		state "/dev/$name"
		if ((state != 3)); then
			mask "/dev/$name"
		elif [[ $name == shm ]]; then
			args+=(--perms 1777 --tmpfs /dev/shm)
		fi
	done
	around+=(/dev) around_state+=(0)
	mounts+=(/dev)
	last+=(--remount-ro /dev)
}

settle_tmp() {
	state /tmp
	if ((state == 0)); then
		tmp=/tmp
		leave /tmp
		args+=(--perms 0700 --tmpfs /tmp)
		around+=(/tmp) around_state+=(tmp)
		return
	fi
	settle /tmp
	# It stays behind.
	tmp=$(mktemp -d /tmp/sbx.XXXXXX) || refuse 'no scratch directory'
	args+=(--bind "$tmp" "$tmp")
	around+=("$tmp") around_state+=(3)
}

mapfile -d '' -t places < <(
	for i in "${!paths[@]}"; do
		[[ -n ${skipped[i]} ]] || printf '%s\0' "${paths[i]}"
	done
	for i in "${!ex_paths[@]}"; do
		((ex_rules[i] < 0)) || [[ ! -e ${ex_paths[i]} ]] ||
			printf '%s\0' "${ex_paths[i]}"
	done
	printf '%s\0' /proc /dev
	! $scratch || printf '%s\0' /tmp
)
# A slash sorts before all other bytes, so all that lies in a place comes right
# after it: `a`, `a/b`, `a.b`.  The last word tells that all went well: wait(1) may
# have lost how a substitution ended.
mapfile -d '' -t places < <(
	set -o pipefail
	printf '%s\0' "${places[@]}" | tr '/\001' '\001/' | LC_ALL=C sort -zu |
		tr '/\001' '\001/' && printf 'end\0'
)
[[ "${places[*]: -1}" == end ]] || refuse 'the places cannot be sorted'
unset 'places[-1]'

for link in "${links[@]}"; do
	place=$(realpath -m -- "${link%/*}/" && echo .)
	[[ $place == /*$'\n'. ]] || refuse "'$link' cannot be followed"
	state "${place%$'\n'.}"
	((state != 3)) ||
		refuse "'$link' is a link where the command may write, and bubblewrap cannot keep it"
done
for place in "${places[@]}"; do
	case $place in
	/proc) settle_proc ;;
	/dev) settle_dev ;;
	/dev/null | /dev/zero | /dev/full | /dev/random | /dev/urandom | /dev/tty | \
		/dev/ptmx | /dev/pts | /dev/shm)
		state /dev
		((state == 0)) || settle "$place"
		;;
	/tmp)
		if $scratch; then
			settle_tmp
		else
			settle /tmp
		fi
		;;
	*) settle "$place" ;;
	esac
done
is_planted "$PWD" || is_planted "$HOME" || :
for i in "${!view_links[@]}"; do
	for place in "${mounts[@]}"; do
		! covers "$place" "${view_links[i]}" || continue 2
	done
	args+=(--symlink "${view_targets[i]}" "${view_links[i]}")
	mounts+=("${view_links[i]}")
done
state ''
((state == 3)) || last+=(--remount-ro /)
state "$workspace"
((state == 0)) && last+=(--chdir /) || last+=(--chdir "$workspace")

# plan ARGUMENT...: what would be started, and what is not applied.
plan() {
	local i

	printf '%q ' "$@"
	echo
	for i in "${!paths[@]}"; do
		[[ -z ${skipped[i]} ]] || [[ ${effects[i]} == allow &&
			${skipped[i]} == 'is not there' ]] ||
			printf '# %s: %s\n' "${paths[i]}" "${skipped[i]}"
	done
	exit 0
}

# hand_back ENTRY...: exports these.  It has no variables, which they would change.
hand_back() {
	while (($# > 0)); do
		case ${1%%=*} in
		'' | [0-9]* | *[!A-Za-z0-9_]*) ;;
		UID | EUID | PPID | SHELLOPTS | BASHOPTS) ;;
		BASH_COMPAT | EXECIGNORE | FUNCNEST | POSIXLY_CORRECT) ;;
		*)
			unset -v "${1%%=*}"
			export "${1?}"
			;;
		esac
		shift
	done
}

# start ARGUMENT...: becomes that, with all of the caller's variables.
start() {
	hand_back "${environment[@]}"
	exec "$@"
}

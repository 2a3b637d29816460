# shellcheck shell=bash disable=SC2154 # variables are set above
# --- docker ----------------------------------------------------------------

# The mounts above are said in the words of bubblewrap.  Docker sorts its own by
# their depth, which changes nothing, for no path leads through a link.

# options `run` of docker
run=(--rm --interactive --read-only --cap-drop ALL
	--security-opt no-new-privileges --user "$UID:$(id -g)")
[[ ! -t 0 ]] || run+=(--tty)
if ((${#network[@]} > 0)); then
	run+=(--network none)
else
	run+=(--network host)
fi

# The places that end as read-only ones.
shut=' '
for ((i = 0; i < ${#last[@]}; i += 2)); do
	case ${last[i]} in
	--remount-ro) shut+="${last[i + 1]//[ $'\n']/ / } " ;;
	--chdir) run+=(--workdir "${last[i + 1]}") ;;
	esac
done

# named PATH: docker reads a mount as a line of comma-separated values.
named() {
	[[ $1 != *[,\"$'\n\r']* && $1 != *' ' ]] ||
		refuse "docker cannot be told of '$1'"
}

recursive=bind-recursive=readonly,bind-propagation=rprivate
# A place is mounted once; its first mount counts.
declare -A mounted=()

# mount_bind FROM TO STATE: with all that is mounted below, which is read-only too,
# or else Docker refuses.
mount_bind() {
	[[ -z ${mounted["x$2"]-} ]] || return 0
	mounted["x$2"]=1
	named "$1"
	named "$2"
	if (($3 == 3)); then
		run+=(--mount "type=bind,src=$1,dst=$2")
	else
		run+=(--mount "type=bind,src=$1,dst=$2,readonly,$recursive")
	fi
}

# mount_empty PATH MODE
mount_empty() {
	local only=

	mounted["x$1"]=1
	named "$1"
	[[ $shut != *" ${1//[ $'\n']/ / } "* ]] || only=,readonly
	run+=(--mount "type=tmpfs,dst=$1,tmpfs-mode=$2$only")
}

# A device would open, and can be written where the mount is read-only.  This file
# stays behind.
closed=
mount_closed() {
	if [[ -z $closed ]]; then
		closed=/tmp/sbx-closed
		$plan || closed=$(mktemp /tmp/sbx-closed.XXXXXX) &&
			{ $plan || chmod 000 "$closed"; } ||
			refuse 'no file in /tmp'
	fi
	mount_bind "$closed" "$1" 1
}

# mount_alias LINK: the container gets what it leads to, if all of that may
# be done which may be done with the link.
mount_alias() {
	local to place

	to=$(realpath -e -- "$1" && echo .) || return 0
	to=${to%$'\n'.}
	state "$to"
	((state > 0)) || return 0
	for place in "${places[@]}"; do
		[[ $place == "$to" ]] || ! covers "$to" "$place" ||
			refuse "'$1' is a link to what has parts of its own, '$place'"
	done
	mount_bind "$to" "$1" "$state"
}

# The root of a container is that of its image.
mount_root() {
	local entry

	for entry in /*; do
		case $entry in
		/proc | /sys | /dev) continue ;;
		esac
		if [[ -L $entry ]]; then
			mount_alias "$entry"
		elif [[ -d $entry || -f $entry ]]; then
			mount_bind "$entry" "$entry" "$1"
		fi
	done
}

mode=0755 root=
for ((i = 0; i < ${#args[@]}; )); do
	case ${args[i]} in
	--ro-bind | --bind | --dev-bind)
		from=${args[i + 1]} to=${args[i + 2]} how=3
		[[ ${args[i]} != --ro-bind ]] || how=1
		[[ $to != /dev && $to != /proc/* ]] ||
			refuse "docker mounts nothing at '$to'"
		if [[ $from == / ]]; then
			root=$how
		elif [[ $how == 1 && -c $from ]]; then
			mount_closed "$to"
		else
			mount_bind "$from" "$to" $how
		fi
		((i += 3))
		;;
	--perms)
		mode=${args[i + 1]}
		((i += 2))
		;;
	--tmpfs)
		[[ ${args[i + 1]} != /proc/* ]] ||
			refuse "docker mounts nothing at '${args[i + 1]}'"
		mount_empty "${args[i + 1]}" "$mode"
		((i += 2))
		;;
	--symlink)
		mount_alias "${args[i + 2]}"
		((i += 3))
		;;
	--proc | --dev) ((i += 2)) ;;
	*) refuse "nothing is known of '${args[i]}'" ;;
	esac
done
[[ -z $root ]] || mount_root "$root"

# The values are taken from the variables of docker itself.
for entry in "${environment[@]}"; do
	! is_handed_on "${entry%%=*}" || run+=(--env "${entry%%=*}")
done
for ((i = 0; i < ${#kept[@]}; i += 2)); do
	! is_handed_on "${kept[i]}" || run+=(--env "${kept[i]}=${kept[i + 1]}")
done
setting() {
	run+=(--env "$1=$2")
}
! $scratch || setting TMPDIR "$tmp"
settings

# limit LETTER VALUE: of ulimit, in its units.
limit() {
	case $1 in
	f) run+=(--ulimit "fsize=$(($2 * 1024))") ;;
	n) run+=(--ulimit "nofile=$2") ;;
	t) run+=(--ulimit "cpu=$2") ;;
	c) run+=(--ulimit "core=$(($2 * 1024))") ;;
	s) run+=(--ulimit "stack=$(($2 * 1024))") ;;
	v) run+=(--memory "$(($2 * 1024))" --memory-swap "$(($2 * 1024))") ;;
	u) run+=(--pids-limit "$2") ;;
	*) refuse "there is no limit $1" ;;
	esac
}
limits

! $plan || plan docker run "${run[@]}" --security-opt seccomp=FILTER
(($# > 1)) || refuse 'an image and a command are wanted'
docker=$(PATH=$PATH:$caller_path type -P docker) ||
	refuse 'docker is not installed'
# An empty file system of podman's holds a copy of what it hides.
[[ $("$docker" --version) =~ ^'Docker version '([0-9]+)\. ]] ||
	refuse "'$docker' is not Docker"
# An older one does not know bind-recursive.
((10#${BASH_REMATCH[1]} >= 25)) ||
	refuse "'$docker' is Docker ${BASH_REMATCH[1]}: it leaves writable what is mounted below a place that is read-only; 25 does not"
exec {fd}< <(printf '%s' "$filter")
start "$docker" run "${run[@]}" --security-opt "seccomp=/dev/fd/$fd" \
	--entrypoint "$2" -- "$1" "${@:3}"

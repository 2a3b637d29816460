# shellcheck shell=bash disable=SC2154 # variables are set above
# --- bubblewrap ------------------------------------------------------------

mapfile -d '' -t names < <(env -0 && printf 'end\0')
[[ "${names[*]: -1}" == end ]] || refuse 'the environment cannot be read'
unset 'names[-1]'
# bubblewrap stays beside the command, as process 1, and /proc shows what it was
# started with.  So it is started without what is withheld; by names alone, for all
# users of the machine see arguments.  The shell lists no variable of the caller's
# whose name is that of an array here, and `environment` none of the shell's.
withheld=()
declare -A listed=()
for name in "${names[@]}" "${environment[@]}"; do
	name=${name%%=*}
	[[ -n $name && -z ${listed["x$name"]-} ]] || continue
	listed["x$name"]=1
	is_handed_on "$name" || withheld+=(-u "$name")
done
for ((i = 0; i < ${#kept[@]}; i += 2)); do
	! is_handed_on "${kept[i]}" ||
		last+=(--setenv "${kept[i]}" "${kept[i + 1]}")
done
setting() {
	last+=(--setenv "$1" "$2")
}
! $scratch || setting TMPDIR "$tmp"
settings

# limit LETTER VALUE: of ulimit.  The caller's own limit stays if it is lower.
limit() {
	local hard
	hard=$(ulimit -H "-$1")
	[[ $hard == unlimited ]] || ((hard > $2)) || set -- "$1" "$hard"
	ulimit "-$1" "$2" || refuse "cannot set the limit -$1"
}
$plan || limits

command=(bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-uts
	--unshare-cgroup-try "${network[@]}" --cap-drop ALL "${args[@]}" "${last[@]}")
! $plan || plan env "${withheld[@]}" "${command[@]}"
command[0]=$(PATH=$PATH:$caller_path type -P bwrap) ||
	refuse 'bubblewrap (bwrap) is not installed'
env=$(type -P env) || refuse 'env(1) is not installed'
# env(1) takes a word with this sign for a variable.
[[ ${command[0]} != *=* ]] || refuse "'${command[0]}' cannot be started by env(1)"
if [[ -n $filter ]]; then
	exec {fd}< <(base64 -d <<<"$filter")
	command+=(--seccomp "$fd")
fi
((${#timeout[@]} == 0)) || timeout[0]=$(type -P timeout) ||
	refuse 'timeout(1) is not installed'
start "$env" "${withheld[@]}" "${timeout[@]}" "${command[@]}" -- "$@"

# shellcheck shell=bash disable=SC2154 # variables are set above
# --- bubblewrap ------------------------------------------------------------

# bwrap is process 1 inside, and the command can read which variables that has: no
# others than the command's own.
handed=()
for entry in "${environment[@]}"; do
	! is_handed_on "${entry%%=*}" || handed+=("$entry")
done
# Not in bwrap's own variables, since it is not confined by what they may change.
setting() {
	local left=()

	for entry in "${handed[@]}"; do
		[[ ${entry%%=*} == "$1" ]] || left+=("$entry")
	done
	handed=("${left[@]}")
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
! $plan || plan "${command[@]}"
command[0]=$(PATH=$PATH:$caller_path type -P bwrap) ||
	refuse 'bubblewrap (bwrap) is not installed'
if [[ -n $filter ]]; then
	exec {fd}< <(base64 -d <<<"$filter")
	command+=(--seccomp "$fd")
fi
((${#timeout[@]} == 0)) || timeout[0]=$(type -P timeout) ||
	refuse 'timeout(1) is not installed'
env=$(type -P env) || refuse 'env(1) is not installed'
exec "$env" -i -- "${handed[@]}" "${timeout[@]}" "${command[@]}" -- "$@"

# shellcheck shell=sh
# Sourced by tests that need a control group of their own.  As root one is made,
# below which others may be made and delegated; anybody else has none.
#
# Where version 2 has not got the controllers pids and memory, which version 1
# holds on some machines, the test build of sbxrun takes hugetlb in their place:
# then all is as ever, but that nothing is counted.

# The group, or nothing; and what became of it, for people.
group='' delegate_how=''
delegate_root='' delegate_was='' delegate_switched=''

# delegate_switch CONTROLLER...: for the groups below ours.
delegate_switch()
{
	for controller in "$@"; do
		grep -qw "$controller" "$delegate_root/cgroup.controllers" ||
			return 1
	done
	for controller in "$@"; do
		grep -qw "$controller" \
		    "$delegate_root/cgroup.subtree_control" && continue
		echo "+$controller" >"$delegate_root/cgroup.subtree_control" ||
			return 1
		delegate_switched="$delegate_switched -$controller"
	done
	# shellcheck disable=SC2154  # tap_begin sets $tmp
	group=$delegate_root/sbxtest-${tmp##*-}
	mkdir "$group" || exit 99
	for controller in "$@"; do
		echo "+$controller" >"$group/cgroup.subtree_control" || exit 99
	done
}

delegate_begin()
{
	delegate_how='not root: no group can be made'
	[ "$(id -u)" -eq 0 ] || return
	delegate_how='no control groups of version 2 here'
	for mount in /sys/fs/cgroup /sys/fs/cgroup/unified; do
		[ ! -w $mount/cgroup.subtree_control ] || delegate_root=$mount
	done
	[ -n "$delegate_root" ] || return
	delegate_was=$delegate_root$(sed -n 's/^0:://p' /proc/self/cgroup)
	delegate_how='a group with pids and memory'
	delegate_switch pids memory 2>/dev/null && return
	delegate_how='a group in which hugetlb plays the part of pids and memory'
	SBX_TEST_CGROUP=1
	export SBX_TEST_CGROUP
	[ -n "$group" ] || delegate_switch hugetlb 2>/dev/null && return
	unset SBX_TEST_CGROUP
	delegate_how='no controllers in version 2 here'
}

# delegate_to UID: a group for a user, as an administrator would make it, and
# one in it, for processes.
delegate_to()
{
	mkdir -p "$group/$1/main" && chown "$1" "$group/$1" \
	    "$group/$1/cgroup.procs" "$group/$1/cgroup.subtree_control" \
	    "$group/$1/main" "$group/$1/main/cgroup.procs"
}

# enter GROUP: this shell, and what it starts.
enter()
{
	echo $$ >"$1/cgroup.procs" || exit 99
}

# Everything as it was.
delegate_end()
{
	if [ -n "$group" ]; then
		enter "$delegate_was"
		find "$group" -depth -type d -exec rmdir {} +
	fi
	# Words.
	# shellcheck disable=SC2086
	[ -z "$delegate_switched" ] ||
		echo $delegate_switched >"$delegate_root/cgroup.subtree_control"
}

# shellcheck shell=sh
# shellcheck disable=SC2154  # containers.sh has them
# Sourced by containers.sh: how each container is made.  in_NAME UID COMMAND...
# runs a command in one, in which $tmp lies where it lies outside.

# Name, user, the level that --status says, `unconnected` where it says that
# sbxrun connects no sockets, and what a run says that chooses its level itself;
# it refuses then, but at level minimal.
kinds()
{
	unprotected='warning: level minimal: files are NOT protected, nor other processes from signals; the network is'
	unseen='/proc/thread-self/children: cannot see what the command starts, which a limit or a receipt needs: No such file or directory'
	crowded='level full: its namespaces cannot be made now; -l standard does without them: No space left on device'
	cat <<-KINDS
	docker|0|standard|unconnected|
	docker|65534|standard|unconnected|
	older|0|minimal|unconnected|$unprotected
	older|65534|minimal|unconnected|$unprotected
	spaces|0|full|unconnected|
	spaces|65534|full|unconnected|
	podman|0|full||
	podman|65534|full||
	unmasked|0|full||
	unmasked|65534|full||
	rootless|65534|full||
	bubblewrap|0|full||
	bubblewrap|65534|full||
	closed|65534|||$crowded
	refused|0|standard||
	refused|65534|standard||
	late|0|standard||
	late|65534|standard||
	hidepid|0|full||
	hidepid|65534|full||
	noproc|0|standard||$unseen
	noproc|65534|standard||$unseen
	readonly|0|standard|unconnected|
	readonly|65534|standard|unconnected|
	KINDS
}

# What containers have by default.
default_capabilities='"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID",
    "CAP_FOWNER", "CAP_MKNOD", "CAP_NET_RAW", "CAP_SETGID", "CAP_SETUID",
    "CAP_SETFCAP", "CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT",
    "CAP_KILL", "CAP_AUDIT_WRITE"'
namespace_calls='"unshare", "setns", "mount", "umount2", "pivot_root", "fsopen",
    "fsconfig", "fsmount", "fspick", "open_tree", "move_mount",
    "mount_setattr"'
# Those that only a privileged container may call, as of 2026.
privileged_calls='"acct", "add_key", "bpf", "clock_settime", "delete_module",
    "fanotify_init", "finit_module", "get_mempolicy", "init_module",
    "io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl",
    "kcmp", "kexec_file_load", "kexec_load", "keyctl", "lookup_dcookie",
    "mbind", "move_pages", "open_by_handle_at", "perf_event_open",
    "pidfd_getfd", "process_madvise", "quotactl", "reboot", "request_key",
    "set_mempolicy", "settimeofday", "swapoff", "swapon", "syslog",
    "userfaultfd", "vhangup"'
harmful_calls='"acct", "bpf", "delete_module", "finit_module", "init_module",
    "kexec_file_load", "kexec_load", "open_by_handle_at", "perf_event_open",
    "reboot", "settimeofday", "swapoff", "swapon", "syslog", "userfaultfd"'

# denying ERRNO CALL...: a part of a filter.
denying()
{
	printf '{ "names": [ %s ], "action": "SCMP_ACT_ERRNO", "errnoRet": %s }' \
	    "$2" "$1"
}

# Namespaces by clone(2); clone3(2) is not there, whose arguments no filter sees.
namespaces_denied()
{
	denying 38 '"clone3"'
	for flag in 0x00020000 0x02000000 0x04000000 0x08000000 0x10000000 \
	    0x20000000 0x40000000; do
		printf ', { "names": [ "clone" ], "action": "SCMP_ACT_ERRNO",
		    "errnoRet": 1, "args": [ { "index": 0, "value": %s,
		    "valueTwo": %s, "op": "SCMP_CMP_MASKED_EQ" } ] }' \
		    $((flag)) $((flag))
	done
}

# bound PATH...: a mount of the same place, with options.
bound()
{
	printf ', { "destination": "%s", "type": "bind", "source": "%s",
	    "options": [ "rbind"%s ] }' "$2" "$1" "$3"
}

# mounts: the programs of this machine, what a container has of its own, the
# directory of the test and the files that are mounted on files.
mounts()
{
	[ -z "$proc" ] || printf '{ "destination": "/proc", "type": "proc",
	    "source": "proc", "options": [ %s ] },' "$proc"
	cat <<-END
	{ "destination": "/dev", "type": "tmpfs", "source": "tmpfs",
	  "options": [ "nosuid", "mode=755", "size=65536k" ] },
	{ "destination": "/dev/pts", "type": "devpts", "source": "devpts",
	  "options": [ "nosuid", "noexec", "newinstance", "ptmxmode=0666" ] },
	{ "destination": "/dev/shm", "type": "tmpfs", "source": "shm",
	  "options": [ "nosuid", "noexec", "nodev", "mode=1777" ] },
	{ "destination": "/tmp", "type": "tmpfs", "source": "tmpfs",
	  "options": [ "nosuid", "nodev", "mode=1777" ] }
	END
	for directory in /usr /bin /lib /lib64 /etc; do
		[ ! -e $directory ] || bound $directory $directory ', "ro"'
	done
	for file in resolv.conf hosts hostname; do
		[ ! -e "/etc/$file" ] || bound "$tmp/$file" "/etc/$file" ''
	done
	bound "$tmp" "$tmp" ''
}

masked='"/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
    "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
    "/proc/scsi", "/sys/firmware"'
fixed='"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
    "/proc/sysrq-trigger"'

# container UID COMMAND...: in one of crun's, as $proc, $filter, $hidden,
# $shut, $root_options and $namespaces say.
container()
{
	container_uid=$1
	shift
	bundle=$place/bundle
	mkdir -p "$bundle/root"
	for file in resolv.conf hosts hostname; do
		echo "# $file" >"$tmp/$file"
	done
	capabilities=$default_capabilities
	effective=$capabilities
	[ "$container_uid" -eq 0 ] || effective=''
	arguments=$(printf ', "%s"' "$@")
	cat >"$bundle/config.json" <<-END
	{ "ociVersion": "1.0.2",
	  "process": { "user": { "uid": $container_uid, "gid": $container_uid },
	    "cwd": "/", "args": [ ${arguments#, } ], "env": [ "PATH=$PATH" ],
	    "noNewPrivileges": false, "capabilities": {
	      "bounding": [ $capabilities ], "effective": [ $effective ],
	      "permitted": [ $effective ] } },
	  "root": { "path": "root"${root_options-} },
	  "hostname": "container",
	  "mounts": [ $(mounts) ],
	  "linux": { "namespaces": [ { "type": "mount" }, { "type": "pid" },
	    { "type": "ipc" }, { "type": "uts" }, { "type": "network" }
	    ${namespaces-} ], ${mappings-}
	    "maskedPaths": [ ${hidden-} ], "readonlyPaths": [ ${shut-} ],
	    "seccomp": { "defaultAction": "SCMP_ACT_ALLOW",
	      "syscalls": [ $filter ] } } }
	END
	(cd "$bundle" && ${starter-} crun --root "$bundle/state" \
	    --cgroup-manager=disabled run "sbx-$$" </dev/null)
}

ordinary_proc='"nosuid", "noexec", "nodev"'

# works NAME: whether this machine has what makes these containers.
works()
{
	case $1 in
	bubblewrap | closed)
		needs bwrap && tried bwrap --ro-bind / / true
		;;
	*)
		place=$tmp/works
		needs crun && (filter='' proc='' && tried container 0 true)
		;;
	esac
}

default_filter()
{
	denying 1 "$privileged_calls, $namespace_calls"
	echo ,
	namespaces_denied
}

in_docker()
{
	(proc=$ordinary_proc hidden=$masked shut=$fixed filter=$(default_filter)
	container "$@")
}

# One whose filter does not know newer calls.
in_older()
{
	(proc=$ordinary_proc hidden=$masked shut=$fixed
	filter="$(default_filter), $(denying 1 '"landlock_create_ruleset",
	    "landlock_add_rule", "landlock_restrict_self", "openat2",
	    "close_range", "faccessat2", "pidfd_open", "epoll_pwait2"')"
	container "$@")
}

# One that permits namespaces alone.
in_spaces()
{
	(proc=$ordinary_proc hidden=$masked shut=$fixed
	filter=$(denying 1 "$privileged_calls")
	container "$@")
}

# One that permits what the kernel does; /proc is masked.
in_podman()
{
	(proc=$ordinary_proc hidden=$masked shut=$fixed
	filter=$(denying 1 "$harmful_calls")
	container "$@")
}

in_unmasked()
{
	(proc=$ordinary_proc filter=$(denying 1 "$harmful_calls")
	container "$@")
}

in_hidepid()
{
	(proc=$ordinary_proc', "hidepid=2"'
	filter=$(denying 1 "$harmful_calls")
	container "$@")
}

in_noproc()
{
	(proc='' filter=$(denying 1 "$harmful_calls")
	container "$@")
}

in_readonly()
{
	(proc=$ordinary_proc hidden=$masked shut=$fixed filter=$(default_filter)
	root_options=', "readonly": true'
	container "$@")
}

# As Ubuntu's AppArmor: a user namespace can be had, and nothing done in it.
in_refused()
{
	(proc=$ordinary_proc filter="$(denying 1 "$harmful_calls"),
	    $(denying 13 '"mount", "umount2", "pivot_root", "fsopen",
	    "fsmount", "move_mount", "open_tree", "mount_setattr"')"
	container "$@")
}

# One that refuses only what comes last.
in_late()
{
	(proc=$ordinary_proc filter="$(denying 1 "$harmful_calls"),
	    $(denying 13 '"pivot_root"')"
	container "$@")
}

# Started by the user, who is root inside.
in_rootless()
{
	rootless_uid=$1
	shift
	(proc=$ordinary_proc filter=$(denying 1 "$harmful_calls")
	mkdir -p "$place/bundle/root"
	chown -R "$rootless_uid:$rootless_uid" "$place/bundle"
	# What is root's outside is nobody's inside, and a policy there not to be
	# trusted.
	chown "$rootless_uid" "$tmp"
	namespaces=', { "type": "user" }'
	mappings="\"uidMappings\": [ { \"containerID\": 0, \"hostID\":
	    $rootless_uid, \"size\": 1 } ], \"gidMappings\": [ { \"containerID\":
	    0, \"hostID\": $rootless_uid, \"size\": 1 } ],"
	starter="setpriv --reuid=$rootless_uid --regid=$rootless_uid
	    --clear-groups env XDG_RUNTIME_DIR=$place/bundle"
	container 0 "$@"
	chown 0 "$tmp")
}

in_bubblewrap()
{
	wrapped_uid=$1
	shift
	tap_as "$wrapped_uid" bwrap --unshare-pid --unshare-ipc --unshare-net \
	    --ro-bind / / --bind "$tmp" "$tmp" --tmpfs /tmp --dev /dev \
	    --proc /proc --chdir / ${wrapping-} -- "$@"
}

in_closed()
{
	(wrapping='--unshare-user --disable-userns'
	in_bubblewrap "$@")
}

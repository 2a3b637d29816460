# shellcheck shell=bash
# Loaded by the tests of sbxc's command line: a directory with policies, and
# what a command is to end with and print.  $SBXC is the compiler.

bats_require_minimum_version 1.5.0

setup() {
	SBXC=$(realpath "${SBXC:-build/sbxc}")
	export SBXC HOME=/home/ada LC_ALL=C.UTF-8
	# What `why` answers does not depend on what this machine gives.
	export SBXRUN=none
	unset NO_COLOR CLICOLOR_FORCE POSIXLY_CORRECT
	mkdir "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work"
	umask 022
	cat >team.sbx <<-'SBX'
	sbx 1

	profile team {
	    about "A team's profile."
	    param data
	    allow read   { /usr ${data} }
	    allow write  ${workspace}
	    allow network connect tcp { 443 8000-8080 }
	    allow env    { PATH LC_* }
	    deny  write  ${workspace}/.git/hooks
	    deny  env    LC_SECRET
	    deny  syscalls { ptrace chroot }
	    set env CI = 1
	    require landlock 4
	}
	SBX
	cat >two.sbx <<-'SBX'
	sbx 1

	profile one {
	    allow read /usr
	}
	profile two {
	    allow read /opt
	}
	SBX
	printf 'sbx 1\nprofile bad {\n    allow raed /usr\n}\n' >bad.sbx
}

# The command runs as `run` does, and ends with this status.
ends() {
	local wanted=$1
	shift
	run --separate-stderr "$@"
	if [ "$status" -ne "$wanted" ]; then
		echo "status $status, not $wanted: $*"
		echo "stdout: $output"
		echo "stderr: $stderr"
		return 1
	fi
}

says() {
	if [[ "$output" != *"$1"* ]]; then
		echo "no '$1' in: $output"
		return 1
	fi
}

complains() {
	if [[ "$stderr" != *"$1"* ]]; then
		echo "no '$1' in: $stderr"
		return 1
	fi
}

refute_complains() {
	if [[ "$stderr" == *"$1"* ]]; then
		echo "'$1' in: $stderr"
		return 1
	fi
}

# No line of the file has the pattern.  (bash takes no notice of a `! grep` that
# is not the last command.)
lacks() {
	if grep -E "$1" "$2"; then
		echo "'$1' in $2"
		return 1
	fi
}

# The command line of sbxc: what it takes, prints, writes and ends with.
# $SBXC is the compiler.

bats_require_minimum_version 1.5.0

setup() {
	SBXC=$(realpath "${SBXC:-build/sbxc}")
	export SBXC HOME=/home/ada LC_ALL=C.UTF-8
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

# --- help and version ------------------------------------------------------

@test "--help goes to stdout, fits a screen and ends with 0" {
	ends 0 "$SBXC" --help
	says "usage: sbxc [build] FILE"
	[ -z "$stderr" ]
	[ "${#lines[@]}" -le 25 ]
	for line in "${lines[@]}"; do
		[ "${#line}" -le 80 ]
	done
}

@test "--help wins over what else is there" {
	ends 0 "$SBXC" check --help
	says "usage: sbxc check"
	ends 0 "$SBXC" -h nonsense
}

@test "a command comes first" {
	ends 2 "$SBXC" -p x check
	complains "the command comes first"
}

@test "--version is one line, name and number" {
	ends 0 "$SBXC" --version
	[[ "$output" =~ ^sbxc\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	ends 0 "$SBXC" -V
}

@test "every option of --help is known" {
	commands=$("$SBXC" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
	[ -n "$commands" ]
	for command in $commands; do
		options=$("$SBXC" "$command" --help |
		    grep -o -- '^ .*--[a-z-]*' | grep -o -- '--.*')
		[ -n "$options" ]
		for option in $options; do
			run --separate-stderr "$SBXC" "$command" "$option=x"
			[[ "$stderr" != *"unknown option"* ]]
			[[ "$stderr" != *"does not go with"* ]]
		done
	done
}

# --- called wrongly --------------------------------------------------------

@test "nothing to do is a wrong call" {
	ends 2 "$SBXC"
	complains "--help"
	[ -z "$output" ]
}

@test "an unknown option is a wrong call, whatever the program is called" {
	ln -s "$SBXC" other
	ends 2 ./other --frobnicate team.sbx
	complains "sbxc: "
	ends 2 "$SBXC" check -Z team.sbx
	ends 2 "$SBXC" team.sbx -o
}

@test "an unknown command is a wrong call, with a guess" {
	ends 2 "$SBXC" chekc
	complains "did you mean 'check'?"
	ends 2 "$SBXC" xyzzy
	complains "'xyzzy' is no command, and no file"
}

@test "an option that the command has no use for is refused" {
	ends 2 "$SBXC" check team.sbx -o out.bin
	complains "--output does not go with 'check'"
	ends 2 "$SBXC" team.sbx --home /x
	ends 2 "$SBXC" dump team.bin -p x
}

@test "missing and superfluous operands are refused" {
	ends 2 "$SBXC" build
	ends 2 "$SBXC" check
	ends 2 "$SBXC" dump
	ends 2 "$SBXC" explain
	ends 2 "$SBXC" build team.sbx two.sbx
	ends 2 "$SBXC" profiles x
	ends 2 "$SBXC" dump a b
}

@test "values of options are checked" {
	ends 2 "$SBXC" check team.sbx -f tap
	complains "-f is text, gcc, json, sarif, github or junit, not 'tap'"
	ends 2 "$SBXC" check team.sbx --color=mauve
	ends 2 "$SBXC" team.sbx -D data
	ends 2 "$SBXC" team.sbx -D =x
	"$SBXC" team.sbx
	ends 2 "$SBXC" dump team.bin -O toml
	ends 2 "$SBXC" dump team.bin -O bpf --arch vax
	ends 2 "$SBXC" dump team.bin -O bpf --variant -1
	ends 2 "$SBXC" dump team.bin -O bpf --variant 99
	ends 2 "$SBXC" dump team.bin --variant 0
}

# --- build -----------------------------------------------------------------

@test "build is silent and writes FILE.bin here" {
	mkdir sub
	cp team.sbx sub/
	ends 0 "$SBXC" sub/team.sbx
	[ -z "$output$stderr" ]
	[ -f team.bin ]
	[ ! -e sub/team.bin ]
}

@test "build, the word, may be left out and options stand anywhere" {
	"$SBXC" team.sbx -o a
	"$SBXC" build -o b team.sbx
	"$SBXC" -o c team.sbx
	"$SBXC" --output=d -- team.sbx
	POSIXLY_CORRECT=1 "$SBXC" team.sbx -o e
	for other in b c d e; do
		cmp a $other
	done
}

@test "a file is built whatever it is called" {
	cp team.sbx check.sbx
	cp team.sbx policy
	ends 0 "$SBXC" check.sbx
	ends 0 "$SBXC" policy
	[ -f policy.bin ]
	cp team.sbx check
	ends 0 "$SBXC" ./check
	[ -f check.bin ]
}

@test "a file name after -- may begin with a dash" {
	cp team.sbx -- -team.sbx
	ends 0 "$SBXC" -o out.bin -- -team.sbx
}

@test "standard input is -, and needs -o" {
	ends 2 "$SBXC" - <team.sbx
	ends 0 "$SBXC" - -o out.bin <team.sbx
	[ -s out.bin ]
}

@test "-o - writes to standard output" {
	"$SBXC" team.sbx -o out.bin
	"$SBXC" team.sbx -o - | cmp - out.bin
}

@test "-o - does not write to a terminal" {
	command -v script >/dev/null || skip "no script(1)"
	ends 2 script -qec "'$SBXC' team.sbx -o -" /dev/null
	says "not for a terminal"
}

@test "the bytes hang on the policy alone" {
	"$SBXC" team.sbx -o a
	mkdir -p elsewhere/deep
	cp team.sbx elsewhere/deep/
	(
		cd elsewhere
		umask 077
		HOME=/root LC_ALL=C TZ=Asia/Tokyo "$SBXC" deep/team.sbx -o b
	)
	cmp a elsewhere/b
	[ "$(stat -c %a a)" = 644 ]
	[ "$(stat -c %a elsewhere/b)" = 600 ]
}

@test "a policy at fault leaves the old file and nothing else" {
	echo old >out.bin
	ends 1 "$SBXC" bad.sbx -o out.bin -d out.d
	complains "bad.sbx:3:11: error: "
	complains "did you mean 'read'?"
	[ "$(cat out.bin)" = old ]
	[ ! -e out.d ]
	[ "$(ls)" = "$(printf '%s\n' bad.sbx out.bin team.sbx two.sbx)" ]
}

@test "an output that cannot be written is trouble and leaves nothing" {
	ends 3 "$SBXC" team.sbx -o missing/out.bin
	complains "cannot write 'missing/out.bin': No such file or directory"
	mkdir dir
	ends 3 "$SBXC" team.sbx -o dir
	ends 3 "$SBXC" team.sbx -o out.bin -d missing/out.d
	[ ! -e out.bin ]
	ends 3 "$SBXC" team.sbx -o missing/out.bin -d out.d
	[ ! -e out.d ]
	[ -z "$(find . -name '*.bin.*')" ]
}

@test "a full disk is trouble" {
	[ -c /dev/full ] || skip "no /dev/full"
	ends 3 bash -c '"$SBXC" team.sbx -o - >/dev/full'
	complains "cannot write to standard output: No space left on device"
	ends 3 bash -c '"$SBXC" --help >/dev/full'
	ends 3 "$SBXC" team.sbx -o /dev/full
	[ -c /dev/full ]
}

@test "a closed or broken standard output is trouble" {
	ends 3 bash -c '"$SBXC" --version >&-'
	ends 3 bash -c '{ sleep 0.2; "$SBXC" explain all; echo $? >status; } | :;
		exit $(cat status)'
}

@test "a device is written, not replaced" {
	ends 0 "$SBXC" team.sbx -o /dev/null
	[ -c /dev/null ]
}

@test "an output that is a symbolic link stays one" {
	mkdir real
	ln -s real/out.bin link.bin
	"$SBXC" team.sbx -o real/out.bin
	ends 0 "$SBXC" two.sbx -p one -o link.bin
	[ -L link.bin ]
	"$SBXC" two.sbx -p one -o - | cmp - real/out.bin
}

@test "a source is never written over" {
	cp team.sbx copy.sbx
	ends 2 "$SBXC" copy.sbx -o copy.sbx
	ends 2 "$SBXC" copy.sbx -d ./copy.sbx
	cmp team.sbx copy.sbx
}

@test "a missing file is trouble" {
	ends 3 "$SBXC" missing.sbx
	complains "cannot read 'missing.sbx': No such file or directory"
	ends 3 "$SBXC" check missing.sbx
	mkdir dir.sbx
	ends 3 "$SBXC" dir.sbx
}

@test "several profiles: -p chooses, and without it they are listed" {
	ends 1 "$SBXC" two.sbx
	complains one
	complains two
	ends 0 "$SBXC" two.sbx -p two
	"$SBXC" dump two.bin | grep -qx 'profile two'
	ends 1 "$SBXC" two.sbx -p three
}

@test "a shipped profile is built by -p from any file" {
	ends 0 "$SBXC" two.sbx -p workspace-write
	"$SBXC" dump two.bin | grep -qx 'profile workspace-write'
}

@test "-D makes a parameter a constant" {
	ends 0 "$SBXC" team.sbx -D data=/srv/data
	"$SBXC" dump team.bin >plan
	grep -q '^allow read /srv/data ' plan
	! grep -q '^param ' plan
	ends 1 "$SBXC" team.sbx -D nothing=/srv/data
}

@test "-I is where included files are looked for" {
	mkdir lib
	printf 'sbx 1\ngroup extra {\n    allow read /opt\n}\n' >lib/extra.sbx
	printf 'sbx 1\ninclude "extra.sbx"\nprofile p {\n    use extra\n}\n' >p.sbx
	ends 1 "$SBXC" p.sbx
	ends 0 "$SBXC" p.sbx -I lib
}

@test "-d writes what make needs" {
	command -v make >/dev/null || skip "no make"
	name='odd name#$.sbx'
	printf 'sbx 1\ngroup extra {\n    allow read /opt\n}\n' >"$name"
	printf 'sbx 1\ninclude "%s"\nprofile p extends workspace-write {\n    use extra\n}\n' \
	    "$name" >p.sbx
	ends 0 "$SBXC" p.sbx -o p.bin -d p.d
	! grep -q 'workspace-write' p.d
	printf 'include p.d\np.bin:\n\t@echo made $(words $^)\n' >Makefile
	touch -d '1 minute ago' p.sbx "$name"
	run make
	says "up to date"
	touch -d '1 minute' "$name"
	run make
	says "made"
	ends 2 "$SBXC" p.sbx -o - -d p.d
}

# --- check -----------------------------------------------------------------

@test "check prints nothing about good files" {
	ends 0 "$SBXC" check team.sbx two.sbx
	[ -z "$output$stderr" ]
}

@test "check looks at every file and every profile" {
	cat >three.sbx <<-'SBX'
	sbx 1

	profile good {
	    allow read /usr
	}
	profile worse {
	    allow read ${nothing}
	}
	profile worst {
	    allow read ${neither}
	}
	SBX
	ends 1 "$SBXC" check bad.sbx three.sbx
	complains "bad.sbx:3"
	complains "three.sbx:7"
	complains "three.sbx:10"
	ends 0 "$SBXC" check three.sbx -p good
	ends 3 "$SBXC" check bad.sbx missing.sbx
}

@test "check -f gcc prints one line for each finding" {
	ends 1 "$SBXC" check -f gcc bad.sbx
	[[ "${stderr_lines[0]}" =~ ^bad.sbx:3:11:\ error:\ .*\ \[SBX[0-9]+\]$ ]]
	[[ "$stderr" != *"|"* ]]
}

# A file with one warning of each of two codes.
warned() {
	cat >warned.sbx <<-'END'
	sbx 1
	profile warned {
	    allow write ~/.zshrc
	    allow read /srv
	    allow read /srv
	}
	END
}

@test "check -W and -E choose what counts" {
	warned
	ends 0 "$SBXC" check warned.sbx
	complains "2 warnings"
	ends 0 "$SBXC" check -W no-SBX0605 warned.sbx
	complains "1 warning"
	refute_complains SBX0605
	ends 0 "$SBXC" check -W no-risky-startup,no-sbx0301 warned.sbx
	[ -z "$stderr" ]
	ends 0 "$SBXC" check -W no-all -W duplicate-rule warned.sbx
	complains "1 warning"
	ends 1 "$SBXC" check -E SBX0301 warned.sbx
	complains "1 error, 1 warning"
	ends 1 "$SBXC" check -E all warned.sbx
	complains "2 errors"
	ends 1 "$SBXC" check -E all -E no-SBX0301 warned.sbx
	complains "1 error, 1 warning"
	ends 0 "$SBXC" check -E all -W no-all warned.sbx
	ends 1 "$SBXC" check -W no-all -E SBX0301 warned.sbx
	complains "1 error"
}

@test "check -W and -E know their codes" {
	warned
	ends 2 "$SBXC" check -W SBX0650 warned.sbx
	complains "'SBX0650' is no code of a diagnostic; did you mean"
	ends 2 "$SBXC" check -E no-riskystartup warned.sbx
	complains "did you mean 'risky-startup'?"
	ends 2 "$SBXC" check -W no-SBX0201 warned.sbx
	complains "SBX0201 is an error, and errors cannot be switched off"
	ends 2 "$SBXC" check -E no-SBX0201 warned.sbx
	ends 0 "$SBXC" check -W SBX0201 -E SBX0201 team.sbx
	ends 2 "$SBXC" check -W "" warned.sbx
}

@test "check looks at comments that ignore, unless told not to" {
	warned
	sed -i 's/zshrc$/zshrc  # sbx: ignore SBX0605 -- why not/' warned.sbx
	ends 0 "$SBXC" check warned.sbx
	refute_complains SBX0605
	ends 0 "$SBXC" check --no-ignore warned.sbx
	complains SBX0605
	ends 0 "$SBXC" check -E SBX0605 warned.sbx
	ends 1 "$SBXC" check --no-ignore -E SBX0605 warned.sbx
	ends 0 "$SBXC" build warned.sbx -o warned.bin
	refute_complains SBX0605
	sed -i 's/ -- why not//' warned.sbx
	ends 1 "$SBXC" build warned.sbx -o warned.bin
	ends 1 "$SBXC" check --no-ignore warned.sbx
	complains SBX0115
}

@test "check --target judges another machine" {
	ends 2 "$SBXC" check --target landlock=99 team.sbx
	complains "--target is landlock=N, level=LEVEL or macos"
	ends 2 "$SBXC" check --target level=medium team.sbx
	ends 2 "$SBXC" check --target landlock= team.sbx
	ends 2 "$SBXC" check --target linux team.sbx
	warned
	ends 1 "$SBXC" check --target landlock=0 warned.sbx
	complains "landlock=0: nothing confines files"
	ends 0 "$SBXC" check --target landlock=6 --target level=full warned.sbx
	complains "landlock=6: "
}

@test "check -q prints nothing" {
	ends 1 "$SBXC" check -q bad.sbx
	[ -z "$output$stderr" ]
}

@test "check reads standard input" {
	ends 0 "$SBXC" check - <team.sbx
	ends 1 "$SBXC" check - <bad.sbx
}

@test "colours: flag, NO_COLOR, CLICOLOR_FORCE, terminal, in this order" {
	escape=$'\e['
	ends 1 "$SBXC" check bad.sbx
	[[ "$stderr" != *"$escape"* ]]
	CLICOLOR_FORCE=1 ends 1 "$SBXC" check bad.sbx
	complains "$escape"
	CLICOLOR_FORCE=0 ends 1 "$SBXC" check bad.sbx
	[[ "$stderr" != *"$escape"* ]]
	NO_COLOR=1 CLICOLOR_FORCE=1 ends 1 "$SBXC" check bad.sbx
	[[ "$stderr" != *"$escape"* ]]
	NO_COLOR=1 ends 1 "$SBXC" check bad.sbx --color=always
	complains "$escape"
	CLICOLOR_FORCE=1 ends 1 "$SBXC" check bad.sbx --color never
	[[ "$stderr" != *"$escape"* ]]
}

# --- why -------------------------------------------------------------------

@test "why: an allowed path, and the rule" {
	ends 0 "$SBXC" why team.sbx read /usr/bin/env
	[ "${lines[0]}" = "allowed: read /usr/bin/env" ]
	says "team.sbx:6:"
	says "allow read /usr"
}

@test "why: a denied path, the rule, who enforces it, the way out" {
	ends 1 "$SBXC" why team.sbx -w /src/app write /src/app/.git/hooks/x
	[ "${lines[0]}" = "denied: write /src/app/.git/hooks/x" ]
	says "team.sbx:10:"
	says "deny write \${workspace}/.git/hooks"
	says "also: team.sbx:7:"
	says "a mount over it, if it is there when the sandbox starts (level full)"
	says "Landlock, which is given the entries of /src/app and /src/app/.git one by one (level standard)"
	says "nothing (level minimal): 'require level standard' refuses that"
	says "to allow it: end the rule at team.sbx:10:18 with: "
	says "except \${workspace}/.git/hooks/x"
	ends 1 "$SBXC" why team.sbx -w /src/app write /src/app/.git/hooks
	says "to allow it: take away: deny write \${workspace}/.git/hooks at team.sbx:10:18"
	ends 1 "$SBXC" why team.sbx write /usr/x
	says "the view, where it is read-only, and Landlock (level full)"
}

@test "why: the way out is one" {
	for question in "read ~/.ssh/x" "env GITHUB_TOKEN" "syscall mount" \
	    "connect tcp 25" "write /srv/x"; do
		# shellcheck disable=SC2086  # words
		ends 1 "$SBXC" why @workspace-write $question
		{
			printf 'sbx 1\nprofile p extends workspace-write {\n'
			sed -n 's/^    to allow it: //p; s/^    and: //p' \
			    <<<"$output"
			echo '}'
		} >out.sbx
		# shellcheck disable=SC2086  # words
		ends 0 "$SBXC" why out.sbx $question
	done
}

@test "why: what no rule allows, and the rule that would" {
	ends 1 "$SBXC" why team.sbx write /srv/x
	says "no rule allows it"
	says "to allow it: allow write /srv/x"
	ends 1 "$SBXC" why team.sbx exec '~/x'
	[ "${lines[0]}" = "denied: exec /home/ada/x" ]
	says "to allow it: allow exec ~/x"
}

@test "why: paths are relative, normal, and by anchor" {
	ends 0 "$SBXC" why team.sbx -w /src/app write '${workspace}/a'
	[ "${lines[0]}" = "allowed: write /src/app/a" ]
	ends 0 "$SBXC" why team.sbx write a/../b/./c//d
	[ "${lines[0]}" = "allowed: write $PWD/b/c/d" ]
	ends 1 "$SBXC" why team.sbx write ../x
	ends 0 "$SBXC" why team.sbx read '${data}/x'
	ends 0 "$SBXC" why team.sbx -D data=/srv read /srv/x
	ends 1 "$SBXC" why team.sbx read /srv/x
	ends 1 "$SBXC" why team.sbx --home /h read '~/x'
	[ "${lines[0]}" = "denied: read /h/x" ]
	ends 2 "$SBXC" why team.sbx read '${nothing}/x'
	ends 2 "$SBXC" why team.sbx -D nothing=/x read /x
}

@test "why: a place whose entries are granted one by one" {
	ends 0 "$SBXC" why -l standard team.sbx -w /w write /w/.git/x
	says "granted one by one"
	ends 0 "$SBXC" why -l standard team.sbx -w /w write /w/.git
	says "nothing is made, renamed or removed directly in it"
	ends 0 "$SBXC" why -l standard team.sbx -w /w write /w/src/x
	[[ "$output" != *"one by one"* ]]
}

@test "why: a glob is asked by its pattern" {
	cat >globs.sbx <<-'POLICY'
	sbx 1
	profile globs extends workspace-write {
	    deny read glob "${workspace}/src/*/.env*" except ${workspace}/src/a/.env.example
	}
	POLICY
	ends 1 "$SBXC" why globs.sbx -w /w read /w/src/a/.env
	says 'globs.sbx:3:15: deny read glob "${workspace}/src/*/.env*"'
	says "only for what is there when the sandbox starts"
	ends 1 "$SBXC" why globs.sbx -w /w read /w/src/a/.envs/below/it
	for path in /w/src/a/.env.example /w/src/.env /w/src/a/b/.env; do
		ends 0 "$SBXC" why globs.sbx -w /w read $path
	done
	ends 0 "$SBXC" why -l standard globs.sbx -w /w write /w/src/a/x
	says "restricted where a glob has matches beside or below it"
	ends 0 "$SBXC" why globs.sbx -w /w write /w/src/a/b/x
	[[ "$output" != *glob* ]]
}

@test "why: the level" {
	ends 1 "$SBXC" why team.sbx -l minimal write /srv/x
	says "nothing (level minimal); it takes level standard"
	ends 2 "$SBXC" why team.sbx -l maximal write /srv/x
}

@test "why: ports" {
	ends 0 "$SBXC" why team.sbx connect tcp 443
	says "allow network connect tcp 443"
	ends 0 "$SBXC" why team.sbx connect tcp 8001
	says "8000-8080"
	ends 1 "$SBXC" why team.sbx connect tcp 25
	says "to allow it: allow network connect tcp 25"
	ends 1 "$SBXC" why team.sbx listen tcp 443
	ends 2 "$SBXC" why team.sbx connect tcp http
	ends 2 "$SBXC" why team.sbx connect tcp 65536
	ends 2 "$SBXC" why team.sbx connect 443
}

@test "why: a port that is allowed in a network that is denied" {
	cat >shut.sbx <<-'END'
	sbx 1
	profile shut {
	    deny  network full
	    allow network connect tcp 443
	    deny  network connect tcp 25
	}
	END
	ends 1 "$SBXC" why shut.sbx connect tcp 443
	says "shut.sbx:3:11: deny network full"
	ends 1 "$SBXC" why shut.sbx connect tcp 25
	says "deny network connect tcp 25"
	ends 1 "$SBXC" why shut.sbx listen tcp 443
	says "deny network full"
}

@test "why: a network of its own" {
	printf 'sbx 1\nprofile own { allow network loopback }\n' >own.sbx
	ends 0 "$SBXC" why own.sbx connect tcp 443
	says "own.sbx:2:21: allow network loopback"
	says "from which nothing leads out"
	says "where no socket opens: 'require level full'"
	ends 1 "$SBXC" why own.sbx -l standard listen tcp 443
	says "it needs level full"
	ends 0 "$SBXC" why own.sbx syscall socket
}

@test "why: system calls" {
	ends 0 "$SBXC" why team.sbx syscall read
	ends 1 "$SBXC" why team.sbx syscall ptrace
	says "team.sbx:12:"
	ends 1 "$SBXC" why team.sbx syscall mount
	says "baseline"
	says "to allow it: allow syscalls mount"
	ends 0 "$SBXC" why team.sbx syscall socket
	says "depends on the arguments"
	ends 2 "$SBXC" why team.sbx syscall mout
	complains "did you mean 'mount'?"
	ends 2 "$SBXC" why team.sbx syscall @mount
}

@test "why: variables" {
	ends 0 "$SBXC" why team.sbx env LC_ALL
	says "allow env LC_*"
	ends 1 "$SBXC" why team.sbx env LC_SECRET
	says "deny env LC_SECRET"
	ends 1 "$SBXC" why team.sbx env SECRET
	says "to allow it: allow env SECRET"
	ends 0 "$SBXC" why team.sbx env CI
	says "set env CI = 1"
}

@test "why: a blob gives the answers of its source" {
	"$SBXC" team.sbx
	for question in "read /usr/x" "write /srv" "exec /usr/bin/sh" \
	    "connect tcp 443" "listen tcp 1" "syscall mount" "env PATH"; do
		# shellcheck disable=SC2086  # words
		run "$SBXC" why team.sbx $question
		text=$output status_of_text=$status
		# shellcheck disable=SC2086  # words
		run "$SBXC" why team.bin $question
		[ "$output" = "$text" ]
		[ "$status" = "$status_of_text" ]
		# shellcheck disable=SC2086  # words
		run bash -c 'cat team.bin | "$SBXC" why - '"$question"
		[ "$output" = "$text" ]
		# shellcheck disable=SC2086  # words
		run bash -c 'cat team.sbx | "$SBXC" why - '"$question"
		[ "$status" = "$status_of_text" ]
	done
}

@test "why: a policy at fault is no answer" {
	ends 3 "$SBXC" why bad.sbx read /usr
	complains "bad.sbx:3:11: error: "
	[ -z "$output" ]
	ends 3 "$SBXC" why two.sbx read /usr
	ends 0 "$SBXC" why two.sbx -p one read /usr
}

@test "why: a shipped profile by its name" {
	ends 0 "$SBXC" why @coding read /usr/bin/env
	says "sbx:groups.sbx:"
	ends 3 "$SBXC" why @nosuch read /usr
	complains "no shipped profile is called 'nosuch'"
}

@test "why: an unknown question is a wrong call" {
	ends 2 "$SBXC" why team.sbx
	ends 2 "$SBXC" why team.sbx raed /usr
	complains "did you mean 'read'?"
	ends 2 "$SBXC" why team.sbx read
	ends 2 "$SBXC" why team.sbx read a b
}

@test "why: a policy that allows everything" {
	printf 'sbx 1\nprofile p {\n    allow everything\n}\n' >all.sbx
	for question in "write /etc/passwd" "connect tcp 1" "syscall mount" \
	    "env X"; do
		# shellcheck disable=SC2086  # words
		ends 0 "$SBXC" why all.sbx $question
	done
}

# --- dump ------------------------------------------------------------------

@test "dump: one record a line, with its place" {
	"$SBXC" team.sbx
	ends 0 "$SBXC" dump team.bin
	says "profile team"
	says "deny write \${workspace}/.git/hooks  # team.sbx:10:"
	says "allow network connect tcp 8000-8080  # team.sbx:8:"
	says "set env CI = 1"
}

@test "dump reads standard input" {
	"$SBXC" team.sbx
	"$SBXC" dump team.bin >plan
	"$SBXC" dump - <team.bin | cmp - plan
}

@test "dump -O bpf lists every program that dump counts" {
	"$SBXC" team.sbx
	programs=$("$SBXC" dump team.bin | grep -c '^program ')
	[ "$programs" -ge 2 ]
	[ "$("$SBXC" dump team.bin -O bpf | grep -c '^program ')" = "$programs" ]
	"$SBXC" dump team.bin -O bpf --arch aarch64 >listing
	grep -q '^program aarch64 ' listing
	! grep -q '^program x86_64 ' listing
	[ "$("$SBXC" dump team.bin -O bpf --arch aarch64 --variant 0 |
	    grep -c '^program ')" = 1 ]
}

@test "dump -O bpf-raw is the program's bytes" {
	"$SBXC" team.sbx
	insns=$("$SBXC" dump team.bin |
	    sed -n 's/^program x86_64 0 .*insns \([0-9]*\).*/\1/p')
	[ "$("$SBXC" dump team.bin -O bpf-raw --arch x86_64 --variant 0 |
	    wc -c)" = $((insns * 8)) ]
}

@test "dump -O sbpl is the whole profile" {
	"$SBXC" team.sbx
	ends 0 "$SBXC" dump team.bin -O sbpl
	[ "${lines[0]}" = "(version 1)" ]
	says '(deny default)'
	says '(tree (in "WORKSPACE" "/.git/hooks"))'
	says '(remote tcp "*:443")'
}

@test "dump: what is no blob is refused with a sentence" {
	ends 3 "$SBXC" dump team.sbx
	complains "team.sbx: it is not a compiled policy"
	"$SBXC" team.sbx
	head -c 100 team.bin >short.bin
	ends 3 "$SBXC" dump short.bin
	printf x >>team.bin
	ends 3 "$SBXC" dump team.bin
	ends 3 "$SBXC" dump missing.bin
	: >empty
	ends 3 "$SBXC" dump empty
}

# --- profiles and explain --------------------------------------------------

@test "profiles lists the five and what they are for" {
	ends 0 "$SBXC" profiles
	for name in coding data-analysis full-access read-only \
	    workspace-write; do
		[[ "$output" =~ (^|$'\n')"$name"\ +[^\ ] ]]
	done
	for line in "${lines[@]}"; do
		[ "${#line}" -le 80 ]
	done
}

@test "explain knows every code, in any case" {
	ends 0 "$SBXC" explain all
	codes=$(grep -o '^SBX[0-9]*' <<<"$output")
	[ -n "$codes" ]
	for code in $codes; do
		ends 0 "$SBXC" explain "$code"
	done
	ends 0 "$SBXC" explain sbx0201
	ends 2 "$SBXC" explain SBX9999
}

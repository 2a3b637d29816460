# sbxc why.

load sbxc

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
	says "nothing (level minimal): add 'require level standard' to refuse to run there"
	for place in .git/hooks/x .git/hooks; do
		ends 1 "$SBXC" why team.sbx -w /src/app write /src/app/$place
		says "no rule is offered: 'deny write \${workspace}/.git/hooks' at team.sbx:10:18 is there to keep commands from it"
		[[ "$output" != *except* && "$output" != *"to allow it"* ]]
	done
	printf 'sbx 1\nprofile p extends workspace-write {\n%s\n}\n' \
	    'deny read ${workspace}/a' >out.sbx
	ends 1 "$SBXC" why out.sbx -w /src/app read /src/app/a/b
	says "to allow it: end the rule at out.sbx:3:11 with: except \${workspace}/a/b"
	ends 1 "$SBXC" why out.sbx -w /src/app read /src/app/a
	says "to allow it: take away: deny read \${workspace}/a at out.sbx:3:11"
	ends 1 "$SBXC" why team.sbx write /usr/x
	says "the view, where it is read-only, and Landlock (level full)"
}

@test "why: what enforces a denial at several levels is said once" {
	ends 1 "$SBXC" why --model team.sbx syscall bpf
	says "enforced by: the filter, which answers EPERM (levels full to minimal)"
	[ "$(grep -c 'enforced by' <<<"$output")" -eq 1 ]
	ends 1 "$SBXC" why --model team.sbx connect tcp 25
	says "opens no TCP socket (levels full and standard)"
	says "opens no TCP socket (level minimal)"
	[ "$(grep -c 'enforced by' <<<"$output")" -eq 2 ]
}

@test "why: the bounds of a range, and another error than EPERM" {
	local port
	printf 'sbx 1\nprofile p {\n%s\n%s\n}\n' \
	    'allow network connect tcp 8000-8080' \
	    'deny network connect tcp 8040-8042' >range.sbx
	for port in 8040 8042; do
		ends 1 "$SBXC" why --model range.sbx connect tcp $port
		says "take away: deny network connect tcp 8040-8042 at"
	done
	for port in 7999 8081; do
		ends 1 "$SBXC" why --model range.sbx connect tcp $port
		says "to allow it: allow network connect tcp $port"
	done
	for port in 8000 8039 8043 8080; do
		ends 0 "$SBXC" why --model range.sbx connect tcp $port
	done
	ends 1 "$SBXC" why --model range.sbx syscall ustat
	says "the filter, which answers ENOSYS"
	ends 1 "$SBXC" why --model range.sbx syscall "bpf(65535,65536)"
	says "denied: syscall bpf(65535,0x10000)"
}

@test "why: what is typed is relative to the current directory" {
	mkdir sub
	for options in "" "--model"; do
		# shellcheck disable=SC2086  # words
		{
			ends 0 "$SBXC" why $options -w sub team.sbx write sub/x
			ends 0 "$SBXC" why $options -w ./sub/ team.sbx write sub/./x
			ends 0 "$SBXC" why $options -w sub team.sbx write sub/../sub/x
			ends 1 "$SBXC" why $options -w sub team.sbx write x
			ends 1 "$SBXC" why $options -w sub team.sbx write sub/../x
			ends 1 "$SBXC" why $options team.sbx write /sub/x
		}
	done
	# Of two anchors that cover it the nearer one is named.
	printf 'sbx 1\nprofile p { allow exec /usr }\n' >near.sbx
	ends 1 "$SBXC" why --model -w /home near.sbx read '~/x'
	says "to allow it: allow read ~/x"
	ends 1 "$SBXC" why --model -w /home/ada/src near.sbx read '~/src/x'
	says 'to allow it: allow read ${workspace}/x'
	ends 125 "$SBXC" why team.sbx write ""
	complains "the path is empty"
	ends 3 "$SBXC" why team write x
	complains "did you mean 'team.sbx'?"
	# shellcheck disable=SC2016  # names of the policy
	ends 125 "$SBXC" why team.sbx write '${workspace}x'
	ends 0 "$SBXC" why --model team.sbx write '~x/y'
	says "/~x/y"
}

@test "why: the way out is one" {
	for question in "env GITHUB_TOKEN" "syscall bpf" "connect tcp 25" \
	    "write /srv/x" "read /srv/x" "listen tcp 0" "write /srv/a*b" \
	    'write /srv/a{b' 'read /srv/$x' 'write /srv/a;b'; do
		# shellcheck disable=SC2086  # words
		ends 1 "$SBXC" why --model @workspace-write $question
		{
			printf 'sbx 1\nprofile p extends workspace-write {\n'
			sed -n 's/^    to allow it: //p; s/^    and: //p' \
			    <<<"$output"
			echo '}'
		} >out.sbx
		# shellcheck disable=SC2086  # words
		ends 0 "$SBXC" why --model out.sbx $question
	done
}

@test "why: no rule is offered for credentials, or for what others run" {
	ends 1 "$SBXC" why @workspace-write read '~/.ssh/x'
	[[ "$output" != *drop* ]]
	says "no rule is offered: credentials are there"
	for question in "read ~/.ssh/x" "write ~/.bashrc" "read ~/.netrc" \
	    "write /etc/passwd" "read /home/ada" "write /home/ada/.config" \
	    "read /home/bob/.aws/credentials" "read /etc/shadow" "read /" \
	    "write /root/.profile" "read /run/docker.sock" \
	    "read ~/.bash_history"; do
		for options in "-l standard" "--model"; do
			# shellcheck disable=SC2086  # words
			run "$SBXC" why $options team.sbx $question
			[[ "$output" != *": allow "* && "$output" != *drop* ]]
			says "no rule is offered: "
		done
	done
}

@test "why: no rule is offered for what git runs in another repository" {
	local place
	mkdir -p home/other/.git/hooks home/bare.git/hooks w/.git/hooks
	export HOME=$PWD/home
	cd w
	for place in other/.git/hooks/pre-commit other/.git/config other/.git \
	    other/.git/config.lock other/.git/modules/m/hooks/x \
	    bare.git/hooks/x none/.git/hooks/x; do
		ends 1 "$SBXC" why ../team.sbx write "~/$place"
		says "no rule is offered: "
		says "it gives away what git runs in another repository"
	done
	ends 1 "$SBXC" why ../team.sbx write '~/other/.git/objects/x'
	says "allow write ~/other/.git/objects"
	ends 1 "$SBXC" why @read-only write .git/hooks/x
	says 'to allow it: allow write ${workspace}/.git/hooks'
	says "which opens: what git runs later"
}

@test "why: what a rule for a host or a call opens is said" {
	ends 1 "$SBXC" why --model @workspace-write domain metadata.google.internal
	says "no rule is offered: it gives out the machine's credentials"
	ends 1 "$SBXC" why --model @workspace-write connect 169.254.169.254:80
	says "no rule is offered: a cloud gives out the machine's credentials"
	# Nor one for the port, which leads there as well.
	ends 1 "$SBXC" why --model team.sbx connect 169.254.169.254:80
	says "no rule is offered: "
	[[ "$output" != *"tcp 80"* ]]
	ends 1 "$SBXC" why --model @workspace-write domain pastebin.com
	says "which opens: pastebin.com, where everybody can leave data"
	ends 1 "$SBXC" why --model @workspace-write syscall bpf
	says "which opens: a call that no rule of a policy confines"
}

@test "why: a new or passing file needs its directory, or a variable" {
	mkdir -p home/src
	export HOME=$PWD/home
	cd home/src
	ends 1 "$SBXC" why ../../team.sbx write '~/.gitconfig.lock'
	says "no rule is offered: it takes ~"
	says 'instead: set env GIT_CONFIG_GLOBAL = ${tmp}/gitconfig'
	ends 1 "$SBXC" why ../../team.sbx write '~/.gitconfigs.lock'
	[[ "$output" != *GIT_CONFIG_GLOBAL* ]]
	ends 1 "$SBXC" why ../../team.sbx write '~/.parallel/tmp/x'
	says "to allow it, in a shell: mkdir $HOME/.parallel"
	says "and in the policy: allow write ~/.parallel"
	mkdir ../data
	ends 1 "$SBXC" why ../../team.sbx write '~/data/new/x'
	says "to allow it: allow write ~/data"
	ends 1 "$SBXC" why --model ../../team.sbx write '~/data/x.lock'
	says "to allow it: allow write ~/data"
	local ending
	for ending in .lock .tmp .swp .part .new .bak '~'; do
		run "$SBXC" why --model ../../team.sbx write "~/data/x$ending"
		[[ "$output" == *"to allow it: allow write ~/data" ]]
		# A name that is an ending is a name.
		run "$SBXC" why --model ../../team.sbx write "~/data/$ending"
		says "to allow it: allow write "
		[[ "$output" != *"~/data" ]]
	done
	echo 'sbx 1
	profile absent { allow write ~/gone }' >../absent.sbx
	ends 0 "$SBXC" why --model ../absent.sbx write '~/gone/x'
	ends 1 "$SBXC" why ../absent.sbx write '~/gone/x'
	says "nothing is there, so that this grants nothing: "
	says "mkdir $HOME/gone"
}

# A policy of these rules, of which each is a line.
rules() {
	printf 'sbx 1\nprofile p {\n'
	printf '    %s\n' "$@"
	printf '}\n'
}

# How often the output has such a line.
counts() {
	[ "$(grep -c -- "$2" <<<"$output")" -eq "$1" ]
}

@test "why: each step is offered once, and only if it leads there" {
	mkdir -p home/x home/real
	export HOME=$PWD/home
	rules "allow read /" "allow write ~/x" "deny read ~/x  except ~/x/y" \
	    "deny write ~/x  except ~/x/y" >twice.sbx
	ends 1 "$SBXC" why twice.sbx write '~/x/y'
	counts 1 "touch $HOME/x/y"
	counts 1 "to allow it\|and in\|and:"
	rules "allow read /" "deny read ~/keys" "deny read ~/keys/a" >two.sbx
	ends 1 "$SBXC" why --model two.sbx read '~/keys/a'
	counts 1 "^    to allow it: "
	counts 1 "^    and: "
	# What is denied is not allowed either, and nothing allows it alone.
	rules "allow read /usr" "deny read ~/x.lock" >none.sbx
	ends 1 "$SBXC" why none.sbx read '~/x.lock'
	says "no rule is offered: it takes ~"
	counts 0 "take away"
	rules "allow write ~/gone" >gone.sbx
	ends 1 "$SBXC" why gone.sbx write '~/gone/x'
	says "mkdir $HOME/gone"
	counts 0 "and in the policy"
	# Below the place that a rule writes lies nothing of where a link leads.
	touch home/real/a
	ln -s real home/link
	rules "allow read ~/real" "deny read ~/link" >link.sbx
	ends 1 "$SBXC" why link.sbx read '~/real/a'
	says "to allow it: take away: deny read ~/link"
	# What is common is so to those who write.
	rules "allow read /srv" >common.sbx
	ends 1 "$SBXC" why common.sbx read /usr/none-such/x
	[[ "$output" == *"to allow it: allow read /usr
    by: sbxc allow --for common.sbx 'read /usr'" ]]
	ends 1 "$SBXC" why common.sbx write /usr/none-such/x
	says "and in the policy: allow write /usr/none-such"
}

@test "why: a rule about both homes is one" {
	local home
	home=$(getent passwd "$(id -u)" | cut -d: -f6)
	[ -d "$home" ] || skip "this user has no home"
	rules "allow read /" "deny read ~" >homes.sbx
	HOME=$home/sub ends 1 "$SBXC" why homes.sbx read "$home/sub/a/b"
	counts 1 "end the rule at homes.sbx:4:15"
}

@test "why: links of this machine are followed" {
	mkdir -p w/node_modules out/lib
	ln -s ../../out/lib w/node_modules/lib
	ln -s w alias
	cd w
	ends 1 "$SBXC" why ../team.sbx read node_modules/lib/x
	[[ "${lines[0]}" == "denied: read "*/out/lib/x ]]
	says "/node_modules/lib is a link on the way there"
	ends 0 "$SBXC" why --model ../team.sbx read node_modules/lib/x
	ends 0 "$SBXC" why -w . ../team.sbx read node_modules/lib/x
	ends 1 "$SBXC" why ../team.sbx write ../alias/x
	says "/alias is a link, which the view does not hold"
	says "to allow it: allow read "
	touch x
	ends 0 "$SBXC" why -l standard ../team.sbx write ../alias/x
	ends 1 "$SBXC" why ../team.sbx read node_modules/lib/../x
	cd ../alias
	ends 0 "$SBXC" why ../team.sbx write new/x
	ln -s .. ../up
	ends 1 "$SBXC" why ../team.sbx read ../up/out
	ln -s loop loop
	ends 0 "$SBXC" why ../team.sbx read loop
}

@test "why: a denied glob covers what its links lead to, in each directory" {
	local i
	mkdir -p w/tree
	cat >glob.sbx <<-'SBX'
	sbx 1

	profile p extends workspace-write {
	    deny read glob "${workspace}/tree/*/key"
	}
	SBX
	# More than directories may lie in each other.
	for i in $(seq 200); do
		mkdir -p w/tree/$i
		: >w/secret.$i
		ln -s ../../secret.$i w/tree/$i/key
	done
	cd w
	for i in $(seq 200); do
		"$SBXC" why ../glob.sbx read secret.$i || true
	done | grep -c '^denied: ' >../denied
	[ "$(cat ../denied)" = 200 ]
	ends 0 "$SBXC" why --model ../glob.sbx read secret.1
}

@test "why: a deny covers what is there when the sandbox starts" {
	mkdir -p w/.git
	cd w
	ends 0 "$SBXC" why ../team.sbx write .git/hooks/x
	says "nothing is there to cover when the sandbox starts: "
	ends 1 "$SBXC" why -l standard ../team.sbx write .git/hooks/x
	ends 1 "$SBXC" why --model ../team.sbx write .git/hooks/x
	mkdir .git/hooks
	ends 1 "$SBXC" why ../team.sbx write .git/hooks/x
}

@test "why: a glob that nothing is there for is named once" {
	mkdir w
	cd w
	echo 'sbx 1
	profile p extends workspace-write {
	    allow write ${workspace}/lock1
	    deny write glob "${workspace}/lock*"
	}' >../lock.sbx
	for level in full standard; do
		rm -f lock1
		ends 0 "$SBXC" why -l $level ../lock.sbx write lock1
		says "nothing is there to cover when the sandbox starts: lock.sbx:4:17: deny write glob"
		[ "$(grep -c 'lock[*]' <<<"$output")" -eq 1 ]
		touch lock1
		ends 1 "$SBXC" why -l $level ../lock.sbx write lock1
		says "also: lock.sbx:3:18: allow write"
		[ "$(grep -c '^    .*:4:17: deny' <<<"$output")" -eq 1 ]
	done
}

@test "why: an exception counts if its place is there" {
	mkdir -p w/keep
	cd w
	echo 'sbx 1
	profile p extends workspace-write {
	    deny write ${workspace}/keep except ${workspace}/keep/a
	}' >../except.sbx
	for level in full standard; do
		rm -rf keep/*
		ends 1 "$SBXC" why -l $level ../except.sbx write keep/a
		says "so that its exception grants nothing"
		says "to allow it, in a shell: touch $PWD/keep/a  # or for a directory: mkdir $PWD/keep/a; first:"
		[[ "$output" != *"in the policy"* ]]
		ends 1 "$SBXC" why -l $level ../except.sbx write keep/a/b
		says "in a shell: mkdir -p $PWD/keep/a"
		ends 1 "$SBXC" why -l $level ../except.sbx write keep/b
		says "no rule is offered: 'deny write "
		[[ "$output" != *touch* ]]
		ends 0 "$SBXC" why --model -l $level ../except.sbx write keep/a
		touch keep/a keep/b
		ends 0 "$SBXC" why -l $level ../except.sbx write keep/a
		ends 1 "$SBXC" why -l $level ../except.sbx write keep/b
		[[ "$output" != *"in a shell"* ]]
	done
}

@test "why: a name that a shell would run is in no command" {
	mkdir -p w/keep
	cd w
	printf 'sbx 1\nprofile p extends workspace-write {\n%s\n}\n' \
	    'deny write ${workspace}/keep except "${workspace}/keep/$(id)"' \
	    >../names.sbx
	mkdir ../home
	export HOME=${PWD%/w}/home
	for name in 'z;$(id)' 'a b' 'x>y' '`id`' "it's" 'a&b' 'a|b' 'a*' 'a"b'; do
		ends 1 "$SBXC" why -l standard ../names.sbx write ~/"$name"
		says "in a shell: make the "
		says " outside of the sandbox  # first"
		[[ "$output" != *touch* && "$output" != *mkdir* ]]
	done
	ends 1 "$SBXC" why ../names.sbx write 'keep/$(id)'
	says "shell: make the file or directory \"$PWD/keep/\$(id)\" outside"
	[[ "$output" != *touch* && "$output" != *mkdir* ]]
	ends 1 "$SBXC" why ../names.sbx write 'keep/$(id)/x'
	says "shell: make the directory \"$PWD/keep/\$(id)\" outside"
	[[ "$output" != *touch* && "$output" != *mkdir* ]]
}

@test "why: level minimal is named where it may be chosen" {
	cat >sbxrun <<-'END'
	#!/bin/sh
	echo '{"level":"standard","landlock":{"abi":4}}'
	END
	chmod +x sbxrun
	ends 1 env SBXRUN="$PWD/sbxrun" "$SBXC" why team.sbx write /srv/x
	[[ "$output" != *"level minimal"* ]]
	ends 1 "$SBXC" why --model team.sbx write /srv/x
	says "nothing (level minimal): add 'require level standard'"
	printf 'sbx 1\nprofile p extends workspace-write {\nrequire level standard\n}\n' >floor.sbx
	ends 1 "$SBXC" why --model floor.sbx write /srv/x
	[[ "$output" != *"level minimal"* ]]
	ends 1 "$SBXC" why --model -l full team.sbx write /srv/x
	[[ "$output" != *"level minimal"* ]]
}

@test "why: a command is looked for in PATH" {
	mkdir -p bin
	touch ls bin/only-here
	chmod +x ls bin/only-here
	echo 'sbx 1
	profile p { allow exec /usr
	    allow env PATH
	}' >p.sbx
	ends 0 env PATH="$PWD/bin:/usr/bin" "$SBXC" why p.sbx exec ls
	[[ "${lines[0]}" == "allowed: exec /usr/bin/"* ]]
	ends 1 env PATH="$PWD/bin:/usr/bin" "$SBXC" why p.sbx exec only-here
	[[ "${lines[0]}" == "denied: exec "*/bin/only-here ]]
	ends 1 env PATH="$PWD/bin:/usr/bin" "$SBXC" why p.sbx exec nothing-at-all
	says "PATH leads to no such program"
	ends 1 "$SBXC" why p.sbx exec ./ls
	ends 1 "$SBXC" why --model p.sbx exec ls
	[ "${lines[0]}" = "denied: exec $PWD/ls" ]
}

@test "why: what runs a program has to be allowed as well" {
	mkdir -p bin
	cp "$(command -v ls)" bin/tool
	printf '#! /usr/bin/env sh\n' >bin/script
	chmod +x bin/script
	printf 'sbx 1\nprofile p { allow exec "%s/bin" }\n' "$PWD" >p.sbx
	ends 0 "$SBXC" why p.sbx exec bin/tool
	says "but what runs it may not be executed: /"
	ends 0 "$SBXC" why p.sbx exec bin/script
	says "but what runs it may not be executed: /usr/bin/env"
	ends 0 "$SBXC" why --model p.sbx exec bin/script
	[[ "$output" != *"what runs it"* ]]
	ends 0 "$SBXC" why @workspace-write exec ls
	[[ "$output" != *"what runs it"* ]]
}

@test "why: what no rule allows, and the rule that would" {
	ends 1 "$SBXC" why --model team.sbx write /srv/x
	says "no rule allows it"
	says "to allow it: allow write /srv/x"
	ends 1 "$SBXC" why --model team.sbx exec '~/x'
	[ "${lines[0]}" = "denied: exec /home/ada/x" ]
	says "to allow it: allow exec ~/x"
}

@test "why: what is new where many write is made first" {
	ends 1 "$SBXC" why team.sbx write /var/tmp/sbx-absent
	says "in a shell: mkdir /var/tmp/sbx-absent"
	says "and in the policy: allow write /var/tmp/sbx-absent"
	[ -d /srv ] || skip "there is no /srv"
	ends 1 "$SBXC" why team.sbx write /srv/sbx-absent.txt
	says "in a shell: touch /srv/sbx-absent.txt"
	ends 1 "$SBXC" why team.sbx write /srv
	says "which opens: all that lies in /srv"
}

# What is to be typed in a shell, and what a remark offers in its place.
typed() {
	sed -n 's/^    to allow it, in a shell: \(.*\)  # .*/\1/p' <<<"$output"
}
typed_else() {
	sed -n 's/^.*  # or for a [a-z]*: \([^;]*\); first.*/\1/p' <<<"$output"
}

@test "why: what may be a file or a directory is made as either" {
	local name file directory
	mkdir -p home w/keep
	export HOME=$PWD/home
	rules "allow read /usr" "allow write ~/new" "allow write ~/new.txt" \
	    "allow write ~/.rc" >made.sbx
	for name in new new.txt .rc; do
		ends 1 "$SBXC" why made.sbx write "~/$name"
		if [ "$name" = new.txt ]; then
			file=$(typed) directory=$(typed_else)
		else
			file=$(typed_else) directory=$(typed)
		fi
		[[ "$file" == "touch "* && "$directory" == "mkdir "* ]]
		eval "$file"
		[ -f "$HOME/$name" ]
		ends 0 "$SBXC" why made.sbx write "~/$name"
		rm "$HOME/$name"
		eval "$directory"
		ends 0 "$SBXC" why made.sbx write "~/$name"
		ends 0 "$SBXC" why made.sbx write "~/$name/x"
	done
	# What lies above is a directory, whatever its name.
	rules "allow read /usr" "allow write ~/conf.d" >above.sbx
	ends 1 "$SBXC" why above.sbx write '~/conf.d/x'
	[ "$(typed)" = "mkdir $HOME/conf.d" ]
	[ -z "$(typed_else)" ]
	# The directory of an exception that is not there either.
	rules "allow write ~" "deny write ~/keep except ~/keep/sub/a" >sub.sbx
	mkdir "$HOME/keep"
	ends 1 "$SBXC" why sub.sbx write '~/keep/sub/a'
	eval "$(typed)"
	ends 0 "$SBXC" why sub.sbx write '~/keep/sub/a'
	# A program is no directory.
	rules "allow read /usr" "allow exec ~/tool" >tool.sbx
	ends 1 "$SBXC" why tool.sbx exec '~/tool'
	says "in a shell: install the program \"$HOME/tool\" outside"
}

@test "why: to drop a shipped deny of a whole place is said to open it" {
	mkdir -p home/.config
	printf 'sbx 1\nprofile p extends workspace-write {\n%s\n}\n' \
	    'limit timeout 60s' >plain.sbx
	ends 1 env HOME="$PWD/home" "$SBXC" why plain.sbx read '~/.config'
	says "which opens: all that this rule keeps"
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
	ends 125 "$SBXC" why team.sbx read '${nothing}/x'
	ends 125 "$SBXC" why team.sbx -D nothing=/x read /x
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

@test "why: whose home it is, and where the files of a session are" {
	local own home away=/srv/another/home
	export HOME=$away
	# The home of the password entry, too, is the home.
	own=$(getent passwd "$(id -u)" | cut -d: -f6)
	cat >homes.sbx <<-'SBX'
	sbx 1
	profile homes {
	    allow read { ~/x ${runtime} }
	    deny read ~/x/y
	}
	SBX
	"$SBXC" build homes.sbx
	# An allow holds in one of them, a deny in both.
	ends 0 "$SBXC" why --model homes.bin read $away/x
	ends 1 "$SBXC" why --model homes.bin read "$own/x"
	ends 1 "$SBXC" why --model homes.bin read $away/x/y
	ends 0 env HOME= "$SBXC" why --model homes.bin read "$own/x"
	ends 1 env HOME= "$SBXC" why --model homes.bin read /x
	# So it is with sockets, and both are told what to take away.
	cat >keys.sbx <<-'SBX'
	sbx 1
	profile keys {
	    allow write /
	    allow socket ~/x
	    deny socket ~/x/y
	}
	SBX
	ends 0 "$SBXC" why --model keys.sbx socket "$own/x"
	for home in "$own" $away; do
		ends 1 "$SBXC" why --model keys.sbx socket "$home/x/y/z"
		says "deny socket ~/x/y"
		says "take away: deny socket ~/x/y at keys.sbx:5:17"
	done
	printf 'sbx 1\nprofile p {\nallow write /\nwatch ~/x\n}\n' >watched.sbx
	for home in "$own" $away; do
		ends 1 "$SBXC" why --model watched.sbx unseen "$home/x/y"
		says "watched.sbx:4:7: watch ~/x"
	done
	ends 0 env XDG_RUNTIME_DIR=/run/r "$SBXC" why --model homes.bin read /run/r/x
	ends 1 env XDG_RUNTIME_DIR=run "$SBXC" why --model homes.bin read "$PWD/run/x"
	ends 1 env XDG_RUNTIME_DIR=run "$SBXC" why --model homes.bin read /run/x
}

@test "why: the level" {
	ends 1 "$SBXC" why --model team.sbx -l minimal write /srv/x
	ends 0 "$SBXC" why team.sbx -l minimal write /srv/x
	says "nothing (level minimal); it takes level standard"
	ends 125 "$SBXC" why team.sbx -l maximal write /srv/x
}

@test "why: the level that sbxrun finds" {
	printf 'sbx 1\nprofile own { allow network loopback }\n' >own.sbx
	cat >sbxrun <<-'END'
	#!/bin/sh
	echo '{"level":"standard","landlock":{"abi":4}}'
	END
	chmod +x sbxrun
	ends 0 env SBXRUN="$PWD/sbxrun" "$SBXC" why own.sbx connect tcp 443
	says "on the loopback device of the host (level standard)"
	ends 0 env SBXRUN="$PWD/sbxrun" "$SBXC" why --model own.sbx connect tcp 443
	ends 0 env SBXRUN="$PWD/sbxrun" "$SBXC" why -l full own.sbx connect tcp 443
}

@test "why: ports" {
	ends 0 "$SBXC" why team.sbx connect tcp 443
	says "allow network connect tcp 443"
	ends 0 "$SBXC" why team.sbx connect tcp 8001
	says "8000-8080"
	ends 1 "$SBXC" why team.sbx connect tcp 25
	says "to allow it: allow network connect tcp 25"
	ends 1 "$SBXC" why team.sbx listen tcp 443
	ends 125 "$SBXC" why team.sbx connect tcp http
	ends 125 "$SBXC" why team.sbx connect tcp 65536
	ends 125 "$SBXC" why team.sbx connect 443
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
	[ "${lines[0]}" = "inside: connect tcp 443" ]
	says "own.sbx:2:21: allow network loopback"
	says "from which nothing leads out"
	says "where no socket opens: 'require level standard'"
	ends 0 "$SBXC" why own.sbx -l standard listen tcp 443
	says "sbxrun connects the sandbox's own servers"
	ends 1 "$SBXC" why own.sbx -l minimal listen tcp 443
	ends 0 "$SBXC" why own.sbx syscall socket
}

@test "why: system calls" {
	ends 0 "$SBXC" why team.sbx syscall read
	ends 1 "$SBXC" why team.sbx syscall ptrace
	says "team.sbx:12:"
	ends 1 "$SBXC" why team.sbx syscall mount
	says "baseline"
	says "no rule is offered: nobody gets users, mounts or processes"
	ends 0 "$SBXC" why team.sbx syscall socket
	says "depends on the arguments"
	ends 125 "$SBXC" why team.sbx syscall mout
	complains "did you mean 'mount'?"
	ends 125 "$SBXC" why team.sbx syscall @mount
}

@test "why: which filter judges system calls" {
	local filter="by the filter for level"
	SBXRUN=none ends 0 "$SBXC" why team.sbx syscall read
	says "$filter full and the newest Landlock; sbxrun may take another one here, but is neither beside sbxc nor in PATH"
	SBXRUN=none ends 1 "$SBXC" why -l minimal @read-only syscall mount
	says "$filter minimal; sbxrun may"
	SBXRUN=/bin/false ends 0 "$SBXC" why -l standard team.sbx syscall read
	says "$filter standard and the newest Landlock; sbxrun may take another one here, but does not run the policy here at this level"
	# Who asks about no machine in particular is asked about none.
	SBXRUN=none ends 0 "$SBXC" why --model team.sbx syscall read
	[[ "$output" != *filter* ]]
	SBXRUN=none ends 0 "$SBXC" why --arch aarch64 team.sbx syscall read
	[[ "$output" != *filter* ]]
	SBXRUN=none ends 0 "$SBXC" why team.sbx read /usr
	[[ "$output" != *filter* ]]
}

@test "why: system calls that sbxrun answers" {
	ends 0 "$SBXC" why @workspace-write -l standard syscall connect
	says "but sbxrun answers it, without Landlock ABI 9: what may be written can be connected to (level standard)"
	ends 0 "$SBXC" why @workspace-write syscall fchmodat
	says "but sbxrun answers it: for what may be written, and nothing else (level standard)"
	ends 0 "$SBXC" why @workspace-write -l standard syscall shmget
	says "but sbxrun answers it: the sandbox has objects of its own (level standard)"
	ends 0 "$SBXC" why @workspace-write -l standard syscall openat
	says "a file without a name in /tmp is made in \${tmp}"
	ends 0 "$SBXC" why @workspace-write -l full syscall shmget
	[[ "$output" != *'sbxrun answers'* ]]
	ends 0 "$SBXC" why team.sbx -l standard syscall chmod
	says "but sbxrun answers it: for what may be written, and nothing else (level standard)"
	# The command could not hand over its listener; somebody decided otherwise.
	printf 'sbx 1\nprofile p {\ndeny syscalls sendmsg\n}\n' >mute.sbx
	ends 0 "$SBXC" why mute.sbx -l standard syscall chmod
	[[ "$output" != *'sbxrun answers'* ]]
	printf 'sbx 1\nprofile p extends workspace-write {\nallow syscalls shmget\n}\n' >lifted.sbx
	ends 0 "$SBXC" why lifted.sbx -l standard syscall shmget
	[[ "$output" != *'sbxrun answers'* ]]
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
	# But for the command that would change that file.
	plain() { sed '/^    by: sbxc allow/d' <<<"$output"; }
	"$SBXC" team.sbx
	for question in "read /usr/x" "write /srv" "exec /usr/bin/sh" \
	    "connect tcp 443" "listen tcp 1" "syscall mount" "env PATH"; do
		# shellcheck disable=SC2086  # words
		run "$SBXC" why team.sbx $question
		text=$(plain) status_of_text=$status
		# shellcheck disable=SC2086  # words
		run "$SBXC" why team.bin $question
		[ "$(plain)" = "$text" ]
		[ "$status" = "$status_of_text" ]
		# shellcheck disable=SC2086  # words
		run bash -c 'cat team.bin | "$SBXC" why - '"$question"
		[ "$(plain)" = "$text" ]
		# shellcheck disable=SC2086  # words
		run bash -c 'cat team.sbx | "$SBXC" why - '"$question"
		[ "$status" = "$status_of_text" ]
	done
}

@test "why: a policy at fault is no answer" {
	ends 1 "$SBXC" why bad.sbx read /usr
	complains "bad.sbx:3:11: error: "
	[ -z "$output" ]
	ends 1 "$SBXC" why two.sbx read /usr
	ends 0 "$SBXC" why two.sbx -p one read /usr
}

@test "why: a shipped profile by its name" {
	ends 0 "$SBXC" why @coding read /usr/bin/env
	says "sbx:groups.sbx:"
	ends 3 "$SBXC" why @nosuch read /usr
	complains "no policy is called @nosuch"
	ends 3 "$SBXC" why coding read /usr
	complains "cannot read 'coding': no such file; did you mean @coding?"
	ends 3 "$SBXC" why ./coding read /usr
	complains "cannot read './coding': No such file or directory"
}

@test "why: an unknown question is a wrong call" {
	ends 125 "$SBXC" why team.sbx
	ends 125 "$SBXC" why team.sbx raed /usr
	complains "did you mean 'read'?"
	ends 125 "$SBXC" why team.sbx read
	ends 125 "$SBXC" why team.sbx read a b
}

@test "why: a policy that allows everything" {
	printf 'sbx 1\nprofile p {\n    allow everything\n}\n' >all.sbx
	for question in "write /etc/passwd" "connect tcp 1" "syscall mount" \
	    "env X"; do
		# shellcheck disable=SC2086  # words
		ends 0 "$SBXC" why all.sbx $question
	done
}

@test "why says what is missing, and shows an example" {
	ends 125 "$SBXC" why
	complains "a policy and a question are missing; for example: sbxc why @coding write /etc/passwd"
	ends 125 "$SBXC" why team.sbx
	complains "a question about the policy is missing; for example: sbxc why team.sbx write /etc/passwd"
	refute_complains "policy and"
}

@test "why, diff, check --within, build --verify: faulty input" {
	"$SBXC" team.sbx -o team.bin
	head -c 200 team.bin >short.bin
	ends 1 "$SBXC" why bad.sbx read /usr
	ends 1 "$SBXC" diff bad.sbx team.sbx
	ends 1 "$SBXC" diff team.sbx bad.sbx
	ends 1 "$SBXC" check --within bad.sbx team.sbx
	ends 1 "$SBXC" check --within team.sbx bad.sbx
	# Of two profiles, which one is asked about?  diff takes both.
	ends 1 "$SBXC" why two.sbx read /usr
	ends 0 "$SBXC" diff two.sbx team.sbx
	for policy in short.bin missing.sbx; do
		ends 3 "$SBXC" why $policy read /usr
		ends 3 "$SBXC" diff $policy team.sbx
		ends 3 "$SBXC" check --within $policy team.sbx
	done
	ends 1 "$SBXC" build --verify=team.bin bad.sbx
	ends 1 "$SBXC" build --verify=short.bin team.sbx
	ends 1 "$SBXC" build --verify=team.sbx team.sbx
	ends 3 "$SBXC" build --verify=missing.bin team.sbx
	rm team.bin short.bin
}

@test "-D: a parameter that is declared and not used" {
	printf 'sbx 1\nparam a\nprofile p {\n    allow read /etc\n}\n' >par.sbx
	ends 0 "$SBXC" check -D a=/x par.sbx
	ends 0 "$SBXC" build -D a=/x par.sbx -o par.bin
	ends 0 "$SBXC" why -D a=/x par.sbx read /etc
	ends 0 "$SBXC" diff -D a=/x par.sbx par.sbx
	ends 125 "$SBXC" build -D b=/x par.sbx -o par.bin
	ends 125 "$SBXC" why -D b=/x par.sbx read /etc
	rm par.sbx par.bin
}

@test "why: sockets by path, and the words that open them" {
	cat >sockets.sbx <<-'SBX'
	sbx 1
	profile p {
	    allow write ${workspace}
	    allow read /run
	    allow socket { ${ssh-agent} /run/db }
	    deny socket /run/db/admin
	}
	SBX
	ends 0 "$SBXC" why --model sockets.sbx 'socket' '${ssh-agent}'
	says "sockets.sbx:5:20: allow socket \${ssh-agent}"
	ends 0 "$SBXC" why sockets.sbx socket /run/db/x
	ends 1 "$SBXC" why sockets.sbx socket /run/db/admin
	says "to allow it: take away: deny socket /run/db/admin at sockets.sbx:6:17"
	ends 1 "$SBXC" why sockets.sbx socket /run/else
	says "to allow it: allow socket /run/else"
	ends 1 "$SBXC" why sockets.sbx socket /run/docker.sock
	says "no rule is offered: Docker does what it is asked"
	ends 0 "$SBXC" why sockets.sbx -w /src socket /src/x
	says "what may be written may be connected to"
	ends 0 "$SBXC" why --model sockets.sbx env SSH_AUTH_SOCK
	says "sbxrun sets it itself: where the socket of the agent is"
	ends 1 "$SBXC" why sockets.sbx -l minimal socket /run/db
	says "at level minimal no AF_UNIX socket opens"
}

@test "why: an agent of ssh that is not there" {
	printf 'sbx 1\nprofile p {\nallow write /\nallow env A*\n%s\n}\n' \
	    'allow socket ${ssh-agent}' >agent.sbx
	local question path
	for question in 'socket ${ssh-agent}' 'env SSH_AUTH_SOCK'; do
		# shellcheck disable=SC2086  # words
		ends 1 env -u SSH_AUTH_SOCK "$SBXC" why agent.sbx $question
		says "SSH_AUTH_SOCK names no socket, so that this grants nothing: agent.sbx:5:14: allow socket \${ssh-agent}"
		says "no rule is offered: the rule is there; it takes an agent"
	done
	for path in /nonexistent/agent /etc/passwd; do
		SSH_AUTH_SOCK=$path ends 1 "$SBXC" why agent.sbx env SSH_AUTH_SOCK
		says "no socket of this user is there, so that this grants nothing: agent.sbx:5:14: "
	done
	sed -i '/ssh-agent/d' agent.sbx
	ends 1 env -u SSH_AUTH_SOCK "$SBXC" why agent.sbx socket '${ssh-agent}'
	says "SSH_AUTH_SOCK names no socket"
	says "to allow it: allow socket \${ssh-agent}"
}

@test "why: a variable that is allowed and not set" {
	printf 'sbx 1\nprofile p {\nallow env A*\n}\n' >unset.sbx
	ends 0 env -u AX "$SBXC" why unset.sbx env AX
	says "but it is not set here"
	ends 0 env AX= "$SBXC" why unset.sbx env AX
	[[ "$output" != *"not set here"* ]]
	ends 0 env -u AX "$SBXC" why --model unset.sbx env AX
	[[ "$output" != *"not set here"* ]]
}

@test "why: nothing listens on port 0" {
	local rule
	for rule in loopback 'domain example.org' 'proxy tcp 3129'; do
		printf 'sbx 1\nprofile p { allow network %s }\n' "$rule" >zero.sbx
		ends 1 "$SBXC" why zero.sbx connect tcp 0
		says "denied: connect tcp 0"
		says "no rule is offered: no rule names port 0; nothing listens there"
		[[ "$output" != *"but it needs"* ]]
		ends 0 "$SBXC" why zero.sbx connect tcp 1
		says "inside: connect tcp 1"
	done
}

@test "why: to listen on port 0" {
	printf 'sbx 1\nprofile p { allow network listen tcp 8080 }\n' >zero.sbx
	ends 1 "$SBXC" why zero.sbx listen tcp 0
	says "no rule is offered: no rule names port 0; let the program listen on a port that one names"
	printf 'sbx 1\nprofile p { allow read /srv }\n' >none.sbx
	ends 1 "$SBXC" why none.sbx listen tcp 0
	says "to allow it: allow network loopback"
}

@test "why: a proxy of the user's decides alone, unless a name is allowed" {
	printf 'sbx 1\nprofile p {\nallow network proxy tcp 3129\n}\n' >proxy.sbx
	for level in full standard; do
		ends 0 "$SBXC" why proxy.sbx -l $level domain example.org
		says "proxy.sbx:3:25: allow network proxy tcp 3129"
		says "but this proxy decides alone what it lets through"
	done
	ends 1 "$SBXC" why proxy.sbx -l minimal domain example.org
	says "at level minimal no socket opens that leads out"
	printf 'sbx 1\nprofile p {\nallow network proxy tcp 3129\nallow network domain example.com\n}\n' >proxy.sbx
	ends 1 "$SBXC" why proxy.sbx domain example.org
	says "no rule allows it"
	ends 0 "$SBXC" why proxy.sbx domain example.com
	says "proxy.sbx:4:22: allow network domain example.com"
}

@test "why: hosts and services, level by level" {
	cat >hosts.sbx <<-'SBX'
	sbx 1
	profile p {
	    require level minimal
	    allow network domain github.com
	    allow network publish tcp 3000
	    allow network host tcp 5432
	}
	SBX
	ends 0 "$SBXC" why hosts.sbx -l full publish tcp 3000
	ends 0 "$SBXC" why hosts.sbx -l standard publish tcp 3000
	says "the server itself has to listen on 127.0.0.1 or ::1"
	ends 1 "$SBXC" why hosts.sbx -l minimal publish tcp 3000
	says "at level minimal no socket opens that leads out"
	ends 0 "$SBXC" why hosts.sbx -l standard connect 127.0.0.1:5432
	says "allowed: connect 127.0.0.1:5432"
	ends 0 "$SBXC" why hosts.sbx -l standard connect "[::1]:5432"
	says "inside: connect [::1]:5432"
	ends 0 "$SBXC" why hosts.sbx -l full connect "[::1]:5432"
	says "inside: connect [::1]:5432"
	ends 0 "$SBXC" why hosts.sbx -l standard host tcp 5432
	ends 0 "$SBXC" why hosts.sbx -l standard connect tcp 5433
	[ "${lines[0]}" = "inside: connect tcp 5433" ]
	ends 0 "$SBXC" why hosts.sbx -l standard domain github.com
	says "at level standard through the proxy alone"
	ends 1 "$SBXC" why hosts.sbx -l standard 'syscall' 'socket(2,2,0)'
	says "instead: level full, where the names are looked up"
	printf 'sbx 1\nprofile p {\n    allow read /srv\n}\n' >hosts.sbx
	ends 1 "$SBXC" why hosts.sbx syscall 'socket(2,1,0)'
	says "instead: for a host outside: 'allow network domain NAME'"
	ends 1 "$SBXC" why hosts.sbx syscall 'socket(2,2,0)'
	says "instead: 'allow network domain NAME', which is looked up then"
}

@test "why: other processes" {
	ends 0 "$SBXC" why team.sbx spawn
	says "no rule denies it"
	printf 'sbx 1\nprofile p {\n    deny spawn\n}\n' >one.sbx
	ends 1 "$SBXC" why one.sbx spawn
	says "deny spawn"
	says "the filter, in which the command can only make threads"
	ends 125 "$SBXC" why one.sbx spawn /usr/bin/git
}

@test "why: who listens is told of a network of its own" {
	ends 1 "$SBXC" why two.sbx -p one listen tcp 3000
	says "to allow it: allow network listen tcp 3000"
	says "instead: 'allow network loopback'"
	ends 1 "$SBXC" why team.sbx listen tcp 3000
	[[ "$output" != *loopback* ]]
}

@test "diff: a profile of the files that define several, or one of each" {
	ends 0 "$SBXC" diff -p one team.sbx two.sbx
	ends 0 "$SBXC" diff --fail-on any -p one two.sbx two.sbx
	ends 1 "$SBXC" diff --fail-on any -p one -p two two.sbx two.sbx
	says "wider: read /opt"
	ends 1 "$SBXC" diff -p one -p nobody two.sbx team.sbx
	ends 125 "$SBXC" diff -p one -p two -p one two.sbx two.sbx
	ends 1 "$SBXC" check --within @read-only -p one two.sbx
	[[ "$output" != *"unknown profile"* ]]
}

@test "a parameter that no policy has is a wrong command line everywhere" {
	ends 125 "$SBXC" check -D nothing=/x team.sbx
	ends 125 "$SBXC" build -D nothing=/x team.sbx -o none.bin
	ends 125 "$SBXC" diff -D nothing=/x team.sbx team.sbx
	ends 125 "$SBXC" why -D nothing=/x team.sbx read /x
}

@test "a shipped profile as a file" {
	ends 0 "$SBXC" build @coding
	[ -s coding.bin ]
	ends 0 "$SBXC" check @coding
	ends 3 "$SBXC" build @codin
}

@test "why: what enforces that a host is not reached" {
	ends 1 "$SBXC" why -l full @coding domain example.org
	says "enforced by: a network of its own, out of which nothing leads (level full)"
	ends 1 "$SBXC" why -l standard @coding domain example.org
	says "enforced by: Landlock, and the supervisor, which connects the sandbox's own servers (level standard)"
	ends 1 "$SBXC" why -l full @coding connect 10.0.0.5:80
	says "out of which nothing leads"
	printf 'sbx 1\nprofile p extends read-only { allow network connect tcp 443 }\n' >ports.sbx
	ends 1 "$SBXC" why -l full ports.sbx domain example.org:80
	says "Landlock from ABI 4 on"
}

@test "why: ports of services, which are what rules about them say" {
	cat >services.sbx <<-'EOF'
	sbx 1
	profile p extends workspace-write {
	    require level standard
	    allow network publish tcp 3000
	    allow network host tcp 5432
	}
	EOF
	ends 0 "$SBXC" why -l standard services.sbx listen tcp 3000
	says "services.sbx:4:31: allow network publish tcp 3000"
	says "on 127.0.0.1 or ::1 alone, which are the host's (level standard)"
	ends 0 "$SBXC" why services.sbx listen tcp 3000
	[[ "$output" != *"also runs at level standard"* ]]
	ends 0 "$SBXC" why -l standard services.sbx listen tcp 3001
	says "but only inside: sbxrun connects the sandbox's own servers"
	ends 0 "$SBXC" why -l standard services.sbx connect tcp 5432
	ends 0 "$SBXC" why -l full services.sbx connect tcp 5432
	[ "${lines[0]}" = "allowed: connect tcp 5432" ]
	says "allow network host tcp 5432"
	ends 0 "$SBXC" why -l full services.sbx connect tcp 3000
	[ "${lines[0]}" = "inside: connect tcp 3000" ]
	ends 0 "$SBXC" why -l standard services.sbx connect tcp 3000
	[ "${lines[0]}" = "inside: connect tcp 3000" ]
	ends 0 "$SBXC" why -l standard services.sbx connect '[::1]:5432'
	[ "${lines[0]}" = "inside: connect [::1]:5432" ]
	ends 0 "$SBXC" why -l standard services.sbx connect 127.0.0.1:5432
}

@test "why: a question that is none says what to ask" {
	local question
	while read -r question; do
		# shellcheck disable=SC2086  # words
		ends 125 "$SBXC" why team.sbx ${question%%|*}
		complains "${question#*|}"
	done <<-'EOF'
	domain https://example.org/x|ask 'domain example.org'
	domain *.example.org|ask of one of them
	domain 10.0.0.5:443|ask 'connect 10.0.0.5:443'
	domain 10.0.0.5|ask 'connect 10.0.0.5:443'
	domain example.org:https|it is a number, as in example.org:443
	connect example.org:443|ask 'domain example.org:443'
	connect https://example.org|ask 'domain example.org'
	connect 10.0.0.5|ask 'connect 10.0.0.5:443'
	connect fd00::1|ask 'connect [fd00::1]:443'
	connect 10.0.0.5:x|no address with a port
	EOF
}

@test "why: a socket's place that is a file" {
	printf 'sbx 1\nprofile p extends read-only { allow socket %s }\n' "$PWD/team.sbx" >file.sbx
	ends 0 "$SBXC" why file.sbx socket "$PWD/team.sbx"
	says "but what is there is no socket"
}

@test "tools are told to stay offline where nothing leads out" {
	local rule
	for rule in 'network full' 'network connect tcp 443' 'network domain example.org' \
	    'network connect 10.0.0.5:443' 'network host tcp 5432' 'network proxy tcp 3129'; do
		printf 'sbx 1\nprofile p extends workspace-write { allow %s }\n' "$rule" >open.sbx
		"$SBXC" open.sbx -o open.bin
		run "$SBXC" dump open.bin
		[[ "$output" != *"set env GOPROXY"* && "$output" != *"set env CARGO_NET_OFFLINE"* ]]
		says "set env npm_config_update_notifier"
	done
	for rule in 'network publish tcp 3000' 'network loopback' 'network listen tcp 3000'; do
		printf 'sbx 1\nprofile p extends workspace-write { allow %s }\n' "$rule" >open.sbx
		"$SBXC" open.sbx -o open.bin
		run "$SBXC" dump open.bin
		says "set env GOPROXY = off"
	done
	# What a policy says itself stands, and what is denied opens nothing.
	printf 'sbx 1\nprofile p extends coding {\nallow network domain example.org\nset env GOPROXY = off\n}\n' >open.sbx
	"$SBXC" open.sbx -o open.bin
	run "$SBXC" dump open.bin
	says "set env GOPROXY = off"
	[[ "$output" != *CARGO_NET_OFFLINE* ]]
}

@test "why: below full, the deny that holds there comes first" {
	cat >both.sbx <<-'SBX'
	sbx 1

	profile both {
	    allow write ${workspace}
	    prefer deny write ${workspace}/.git
	    deny write ${workspace}/.git/hooks
	}
	SBX
	why() {
		"$SBXC" why --model -w /w --level "$1" both.sbx \
		    write /w/.git/hooks/x | sed -n 2p
	}
	[[ "$(why standard)" == *": deny write"* ]]
	[[ "$(why full)" == *": prefer deny write"* ]]
}

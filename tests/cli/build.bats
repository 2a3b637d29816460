# sbxc build.

load sbxc

@test "build is silent and writes FILE.bin here" {
	mkdir sub
	cp team.sbx sub/
	ends 0 "$SBXC" sub/team.sbx
	[ -z "$output$stderr" ]
	[ -f team.bin ]
	[ ! -e sub/team.bin ]
}

@test "build: what a blob is called by itself" {
	for name in a.sbx=a a.b.sbx=a.b noext=noext x.txt=x.txt .sbx=.sbx \
	    x.sbx.old=x.sbx.old x.bin=x.bin; do
		cp team.sbx "${name%=*}"
		ends 0 "$SBXC" "${name%=*}"
		rm "${name#*=}.bin"
	done
	printf '{"sbx": 1, "profiles": {"p": {"rules": ["allow read /srv"]}}}' \
	    >any
	for suffix in yaml yml json; do
		cp any "y.$suffix"
		ends 0 "$SBXC" "y.$suffix"
		rm y.bin
	done
	ends 0 "$SBXC" build @coding
	rm coding.bin
	[ -z "$(find . -name '*.bin' ! -name x.bin)" ]
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
	ends 125 "$SBXC" - <team.sbx
	ends 0 "$SBXC" - -o out.bin <team.sbx
	[ -s out.bin ]
}

@test "-o - writes to standard output" {
	"$SBXC" team.sbx -o out.bin
	"$SBXC" team.sbx -o - | cmp - out.bin
}

@test "-o - does not write to a terminal" {
	command -v script >/dev/null || skip "no script(1)"
	ends 125 script -qec "'$SBXC' team.sbx -o -" /dev/null
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
	ends 3 perl -e 'pipe R, W; close R; open STDOUT, ">&", W; exec @ARGV' \
	    "$SBXC" explain all
}

@test "a device is written, not replaced" {
	ends 0 "$SBXC" team.sbx -o /dev/null
	[ -c /dev/null ]
}

@test "an output that is a symbolic link is replaced" {
	mkdir real
	ln -s real/out.bin link.bin
	"$SBXC" team.sbx -o real/out.bin
	cp real/out.bin before.bin
	ln -s "$PWD/real/out.bin" other.bin
	ends 0 "$SBXC" two.sbx -p one -o "$PWD/other.bin"
	[ ! -L other.bin ]
	ends 0 "$SBXC" two.sbx -p one -o link.bin
	[ ! -L link.bin ]
	"$SBXC" two.sbx -p one -o - | cmp - link.bin
	cmp real/out.bin before.bin
}

@test "a source is never written over" {
	cp team.sbx copy.sbx
	ends 125 "$SBXC" copy.sbx -o copy.sbx
	ends 125 "$SBXC" copy.sbx -d ./copy.sbx
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
	lacks '^param ' plan
	ends 125 "$SBXC" team.sbx -D nothing=/srv/data
}

@test "a shipped file includes what is shipped, whatever lies around" {
	grep -q '^include "groups.sbx"' "$srcdir/profiles/read-only.sbx"
	ends 0 "$SBXC" build @read-only -o shipped.bin
	echo 'this is no policy' >groups.sbx
	ends 0 "$SBXC" build @read-only -I . -o again.bin
	cmp shipped.bin again.bin
}

@test "-I is where included files are looked for" {
	mkdir lib
	printf 'sbx 1\ngroup extra {\n    allow read /opt\n}\n' >lib/extra.sbx
	printf 'sbx 1\ninclude "extra.sbx"\nprofile p {\n    use extra\n}\n' >p.sbx
	ends 1 "$SBXC" p.sbx
	ends 0 "$SBXC" p.sbx -I lib
	ends 0 "$SBXC" p.sbx -I absent -I lib
	# The first one counts, and a file that is there counts before all.
	mkdir first
	echo 'sbx 1' | tee first/extra.sbx >extra.sbx
	ends 1 "$SBXC" p.sbx -I first -I lib
	cp lib/extra.sbx extra.sbx
	ends 0 "$SBXC" p.sbx -I first
}

@test "-d writes what make needs" {
	command -v make >/dev/null || skip "no make"
	name='odd name#$.sbx'
	printf 'sbx 1\ngroup extra {\n    allow read /opt\n}\n' >"$name"
	printf 'sbx 1\ninclude "%s"\nprofile p extends workspace-write {\n    use extra\n}\n' \
	    "$name" >p.sbx
	ends 0 "$SBXC" p.sbx -o p.bin -d p.d
	lacks 'workspace-write' p.d
	printf 'include p.d\np.bin:\n\t@echo made $(words $^)\n' >Makefile
	touch -d '1 minute ago' p.sbx "$name"
	run make
	says "up to date"
	touch -d '1 minute' "$name"
	run make
	says "made"
	ends 125 "$SBXC" p.sbx -o - -d p.d
}

@test "build: -o and -d are two files" {
	ends 125 "$SBXC" team.sbx -o one -d one
	complains "-o and -d are one file"
	ends 125 "$SBXC" team.sbx -o one -d ./one
	[ ! -e one ]
	ends 0 "$SBXC" team.sbx -o one -d two
	ends 125 "$SBXC" team.sbx -o one -d "$PWD/one"
	rm one two
}

@test "build: what is read is not written" {
	printf 'sbx 1\ngroup extra {\n    allow read /opt\n}\n' >extra.sbx
	printf 'sbx 1\ninclude "extra.sbx"\nprofile p {\n    use extra\n}\n' >p.sbx
	ln extra.sbx hard
	ln -s extra.sbx soft
	cp extra.sbx before
	for file in p.sbx ./p.sbx extra.sbx hard soft; do
		ends 125 "$SBXC" p.sbx -o $file
		complains "'$file' is read, so it is not written"
		ends 125 "$SBXC" p.sbx -o p.bin -d $file
		complains "'$file' is read, so it is not written"
	done
	cmp extra.sbx before
	[ ! -e p.bin ]
}

@test "build: of blob and policy one alone is standard input" {
	ends 125 "$SBXC" build --verify - - <team.sbx
	complains "standard input cannot be both"
}

@test "a shipped profile takes nothing from where sbxc is called" {
	for file in groups workspace-write coding; do
		echo 'no policy' >"$file.sbx"
	done
	ends 0 "$SBXC" team.sbx -p coding -o coding.bin
	rm groups.sbx workspace-write.sbx coding.sbx
}

@test "-d: names as make reads them" {
	command -v make >/dev/null || skip "no make"
	printf 'include one.d\none.bin:\n\t@echo made\n' >Makefile
	for name in 'a b' 'a#b' 'a:b' 'a$b' 'a\b' 'a\ b' 'a\\ b' $'a\tb' 'a\#b' \
	    'a\\#b' 'a\:b' 'a\$b'; do
		cp two.sbx "$name"
		touch -d '1 minute ago' "$name"
		ends 0 "$SBXC" build -p one "$name" -o one.bin -d one.d
		ends 0 make
		says "up to date"
		rm one.bin
		ends 0 make
		says "made"
		rm "$name"
		ends 2 make
	done
}

@test "build: names of 251 and 255 bytes" {
	name=$(printf 'a%.0s' {1..251})
	ends 0 "$SBXC" team.sbx -o "$name"
	ends 0 "$SBXC" team.sbx -o "${name}.bin"
	ends 3 "$SBXC" team.sbx -o "${name}.bins"
	[ "$(ls -A | grep -c sbxc-)" = 0 ]
	rm "$name" "$name.bin"
}

@test "a name of a file that is not there is shown without its controls" {
	for command in check fmt why diff test dump; do
		run "$SBXC" $command $'x\e[31m\u202ey\n.sbx' $'x\e.sbx' read /a
		[[ $output != *$'\e'* && $output != *$'\u202e'* ]]
	done
	ends 3 "$SBXC" check $'x\e\n.sbx'
	complains "cannot read 'x??.sbx'"
}

@test "check: an include that is a pipe does not hang" {
	mkfifo pipe.sbx
	printf 'sbx 1\ninclude "pipe.sbx"\nprofile p {\n}\n' >reads.sbx
	ends 1 timeout 100 "$SBXC" check reads.sbx
	rm pipe.sbx reads.sbx
}

@test "test: an unknown profile is a mistake of the test file" {
	cat >profile.yaml <<-'EOF'
	sbx-test: 1
	policy: team.sbx
	profile: nosuch
	cases:
	  - deny: [ read /a, read /b ]
	EOF
	ends 1 "$SBXC" test profile.yaml
	complains "profile.yaml:3:10: error: unknown profile 'nosuch' [SBX0203]"
	[[ $stderr != *team.sbx:* ]]
	rm profile.yaml
}

@test "drop use, drop set env: what a parent has" {
	cat >parents.sbx <<-'EOF'
	sbx 1
	group quiet { set env QUIET = 1 }
	group both {
	    use quiet
	    set env BOTH = 1
	    deny read /srv/quiet
	}
	profile parent {
	    use both
	    set env OWN = 1
	    allow exec /usr
	    drop deny read /srv/quiet
	}
	profile none extends parent {
	    drop use both
	    drop set env OWN
	}
	profile again extends none {
	    use quiet
	}
	profile online extends coding {
	    drop allow network loopback
	    allow network full
	    drop use offline
	    drop set env XDG_CACHE_HOME
	}
	EOF
	ends 0 "$SBXC" check -W no-risky-everything parents.sbx
	for profile in parent none again online; do
		"$SBXC" -p $profile parents.sbx -o $profile.bin
		"$SBXC" dump $profile.bin >$profile.dump
		"$SBXC" dump -O yaml $profile.bin >$profile.yaml
		ends 0 "$SBXC" build --verify $profile.bin $profile.yaml
		"$SBXC" convert -O yaml parents.sbx >twin.yaml
		ends 0 "$SBXC" build -p $profile twin.yaml -o twin.bin
		ends 0 "$SBXC" diff --fail-on any $profile.bin twin.bin
	done
	[ "$(grep -c '^set env' parent.dump)" = 3 ]
	[ "$(grep -c '^set env' none.dump)" = 0 ]
	[ "$(grep '^set env' again.dump)" = "$(grep QUIET parent.dump)" ]
	lacks '^set env (CARGO_NET_OFFLINE|GOPROXY|XDG_CACHE_HOME)' online.dump
	grep -q '^set env npm_config_cache' online.dump
	rm parents.sbx {parent,none,again,online}.{bin,dump,yaml} twin.*
}

# How often a profile with these lines has a setting of the group.
offline() {
	printf 'sbx 1\nprofile base { allow network connect tcp 22 }\n' >off.sbx
	printf 'profile p %s {\nuse offline\n%b\n}\n' "$2" "$3" >>off.sbx
	ends 0 "$SBXC" build -p p off.sbx -o off.bin
	[ "$("$SBXC" dump off.bin | grep -c '^set env GOPROXY')" -eq "$1" ]
}

@test "tools are told that nothing leads out where nothing does" {
	local rule
	for rule in "allow network loopback" "allow network listen tcp 80" \
	    "allow network publish tcp 3000" "deny network connect tcp 443" \
	    "allow network connect tcp 443\ndeny network full"; do
		offline 1 "" "$rule"
	done
	offline 1 "extends base" "drop allow network connect tcp 22"
	for rule in "allow network full" "allow network connect tcp 443" \
	    "allow network host tcp 5432" "allow network domain a.example" \
	    "allow network connect 10.0.0.5:80" "allow network proxy tcp 3128" \
	    "allow everything"; do
		offline 0 "" "$rule"
	done
	offline 0 "extends base" ""
}

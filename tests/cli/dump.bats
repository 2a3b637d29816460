# sbxc dump, profiles and explain.

load sbxc

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
	lacks '^program x86_64 ' listing
	[ "$("$SBXC" dump team.bin -O bpf --arch aarch64 --variant 0 |
	    grep -c '^program ')" = 1 ]
}

@test "dump -O bpf: a rule lifts the traps that it may, and no other" {
	local call variant
	for call in none fchown inotify_add_watch fsetxattr shmget; do
		{
			printf 'sbx 1\nprofile p {\n    limit timeout 5s\n'
			[ $call = none ] || echo "    allow syscalls $call"
			echo '}'
		} >trap.sbx
		ends 0 "$SBXC" build trap.sbx -o trap.bin
		for variant in $("$SBXC" dump trap.bin |
		    sed -n 's/^program x86_64 \([0-9]*\) .*listener.*/\1/p'); do
			"$SBXC" dump trap.bin -O bpf --arch x86_64 \
			    --variant "$variant" >"$call.$variant"
		done
	done
	for call in fchown inotify_add_watch fsetxattr; do
		for variant in none.[0-9]*; do
			cmp "$variant" "$call${variant#none}"
		done
	done
	cat none.[0-9]* >none
	cat shmget.[0-9]* | { ! cmp -s - none; }
}

@test "dump: each program is found by its machine and number" {
	"$SBXC" team.sbx
	"$SBXC" dump team.bin | grep '^program ' >programs
	while read -r _ arch variant rest; do
		insns=${rest##*insns }
		chosen="--arch $arch --variant $variant"
		"$SBXC" dump team.bin -O bpf $chosen | grep '^program ' >found
		[ "$(cut -d' ' -f1-3 found)" = "program $arch $variant" ]
		[ "$("$SBXC" dump team.bin -O bpf-raw $chosen | wc -c)" = \
		    $((${insns%% *} * 8)) ]
	done <programs
	ends 125 "$SBXC" dump team.bin -O bpf --variant 32
	complains "the blob has no such filter"
}

@test "dump: a call has the rule that names it before one that names its group" {
	cat >calls.sbx <<-'SBX'
	sbx 1

	profile calls {
	    deny syscalls { clock_adjtime  @clock  clock_settime }
	}
	SBX
	ends 0 "$SBXC" build calls.sbx
	"$SBXC" dump calls.bin >calls.dump
	grep -q '^syscall clock_adjtime .* because clock_adjtime ' calls.dump
	grep -q '^syscall clock_settime .* because clock_settime ' calls.dump
	grep -q '^syscall settimeofday .* because @clock ' calls.dump
}

@test "dump: the newest call that is known can be denied" {
	local name
	name=$(sed -n 's/^NEWER("\([a-z_0-9]*\)".*/\1/p' \
	    "$srcdir/compiler/tables/newer.def" | tail -n 1)
	printf 'sbx 1\nprofile p {\n    deny syscalls %s\n}\n' "$name" >new.sbx
	ends 0 "$SBXC" build new.sbx
	"$SBXC" dump new.bin | grep "^syscall $name deny EPERM because $name  #"
}

@test "dump: a group that a layer uses again has all its rules there, once" {
	cat >layers.sbx <<-'SBX'
	sbx 1

	group tools {
	    allow read { /srv /opt /mnt }
	}
	profile base {
	    use tools
	}
	profile middle extends base {
	    drop allow read /srv
	    on x86_64 { drop allow read /opt }
	}
	profile top extends middle {
	    use tools
	}
	SBX
	for layer in middle top; do
		"$SBXC" layers.sbx -p $layer -o $layer.bin
		for path in /srv /opt /mnt; do
			"$SBXC" why --model --arch x86_64 $layer.bin \
			    read $path || true
		done | grep -c ^allowed >$layer
	done
	[ "$(cat middle top | tr '\n' ' ')" = '1 3 ' ]
	[ "$("$SBXC" dump top.bin | grep -c '^allow read /mnt')" = 1 ]
}

@test "dump: a group that a parent uses on one platform is used on all" {
	local first word
	for first in linux macos x86_64 aarch64; do
		cat >part.sbx <<-SBX
		sbx 1

		group tools {
		    allow read { /srv /opt }
		    allow env X
		}
		profile base {
		    on $first { use tools }
		}
		profile top extends base {
		    use tools
		}
		profile plain {
		    use tools
		}
		SBX
		for word in base top plain; do
			ends 0 "$SBXC" build part.sbx -p $word -o $word.bin
		done
		ends 0 "$SBXC" diff plain.bin top.bin
		"$SBXC" dump -O sbpl top.bin >top.sb
		"$SBXC" dump -O sbpl plain.bin | sed s/plain/top/ | cmp - top.sb
	done
}

# What the filters of a profile are that has this rule alone; whoever reads /proc may
# ask for the interfaces, too.
programs_of()
{
	printf 'sbx 1\nprofile p {\n    %s\n}\n' "$1" >rule.sbx
	"$SBXC" build rule.sbx -o rule.bin
	"$SBXC" dump rule.bin |
	    sed -n 's/ netlink//; s/ insns .*//; /^program /p'
}

@test "dump: filters know where services of the host have their sockets" {
	local place
	programs_of "allow read /srv" >none
	programs_of "allow read /run" >some
	{ ! cmp -s none some; }
	for place in / /tmp /var '~' '${runtime}'; do
		programs_of "allow read $place" | cmp - some
		programs_of "allow write $place" | cmp - some
		programs_of "deny read $place" | cmp - none
	done
	for place in /run/user /tmp/x /var/lib /runs /etc '~/.ssh' '~/run' \
	    '${workspace}' '${workspace}/run'; do
		programs_of "allow read $place" | cmp - none
	done
	# On macOS there are no filters.
	programs_of "on macos { allow read /run }" | cmp - none
	programs_of "on x86_64 { allow read /run }" >one
	grep ' x86_64 ' some | cmp - <(grep ' x86_64 ' one)
	grep -v ' x86_64 ' none | cmp - <(grep -v ' x86_64 ' one)
}

@test "dump -O sbpl is the whole profile" {
	"$SBXC" team.sbx
	ends 0 "$SBXC" dump team.bin -O sbpl
	[ "${lines[0]}" = "(version 1)" ]
	says '(deny default)'
	says '(tree (in "WORKSPACE" "/.git/hooks"))'
	says '(remote tcp "*:443")'
}

@test "dump -O sbpl spells parameters in capitals and digits" {
	cat >spelled.sbx <<-'SBX'
	sbx 1

	profile spelled {
	    param az-AZ
	    param d09
	    param data-set
	    param data_set
	    allow read { ${az-AZ}  ${d09}  ${data-set}  ${data_set} }
	}
	SBX
	ends 0 "$SBXC" build spelled.sbx
	ends 0 "$SBXC" dump spelled.bin -O sbpl
	says "; parameters: WORKSPACE HOME TMP RUNTIME AZ_AZ D09 DATA_SET DATA_SET_2"
}

# sealed BLOB: it, with the checksum that it has to have.
sealed()
{
	python3 "$srcdir/tests/lib/seal.py" "$1"
}

# retold SCRIPT: of a blob whose text was edited so.
retold()
{
	local size
	size=$(od -An -tu4 -j12 -N4 team.bin)
	head -c "$size" team.bin >edited.bin
	tail -c +$((size + 1)) team.bin | LC_ALL=C sed "$1" >text
	[ "$(wc -c <team.bin)" -eq $((size + $(wc -c <text))) ]
	cat text >>edited.bin
	{ ! cmp -s team.bin edited.bin; }
}

@test "dump of a blob that somebody edited prints it, and ends with 1" {
	"$SBXC" team.sbx
	# The rules are changed, and then the text.
	LC_ALL=C sed 's,LC_SECRET\x00,LC_SECRAT\x00,' team.bin >edited
	sealed edited >edited.bin
	ends 1 "$SBXC" dump edited.bin
	says "profile team"
	complains "the text in it compiles to another blob"
	complains "SBX0902"
	ends 1 "$SBXC" dump -O bpf edited.bin
	retold 's,LC_SECRET,LC_SECRAT,'
	for form in text sbx yaml bpf; do
		ends 1 "$SBXC" dump -O "$form" edited.bin
		complains "compiles to another blob"
	done
	ends 1 "$SBXC" why edited.bin read /srv
	[ -z "$output" ]
	complains "compiles to another blob"
	ends 1 "$SBXC" build --verify edited.bin team.sbx
	complains "they differ first in the text"
}

@test "dump: a blob with a text that is no policy" {
	"$SBXC" team.sbx
	retold 's,^profile ,profxle ,'
	ends 1 "$SBXC" dump -O sbx edited.bin
	[ -z "$output" ]
	complains "the text in it is none"
	ends 1 "$SBXC" why edited.bin read /srv
	complains "the text in it does not compile"
	# It reads no other file.
	echo 'a secret of somebody' >other
	size=$(od -An -tu4 -j12 -N4 team.bin)
	text=$(($(wc -c <team.bin) - size))
	head -c "$size" team.bin >edited.bin
	printf '%-*s' "$text" $'sbx 1\ninclude "other"\n' >>edited.bin
	ends 1 "$SBXC" dump -O sbx edited.bin
	{ ! grep secret <<<"$output$stderr"; }
}

@test "dump: a blob with text that nobody sees" {
	local bytes
	printf 'sbx 1\nprofile p {\n    allow read /zwxy\n}\n' >said.sbx
	"$SBXC" build said.sbx
	# A byte that is no UTF-8, and a soft hyphen.
	for bytes in '\xff' '\xc2\xad'; do
		LC_ALL=C sed "s,/zw,/$bytes,g; s,/\xffxy,/\xffzxy,g" said.bin >edited
		sealed edited >edited.bin
		run "$SBXC" dump edited.bin
		[ "$status" -ne 0 ]
		says "the text in it does not compile"
		run "$SBXC" why edited.bin read /srv
		[ "$status" -ne 0 ]
		says "invisible characters or such that are no UTF-8"
	done
}

@test "dump: what is no blob is refused with a sentence" {
	cp team.sbx text.bin
	ends 3 "$SBXC" dump text.bin
	complains "text.bin: it is not a compiled policy"
	"$SBXC" team.sbx
	[ "$("$SBXC" dump team.sbx)" = "$("$SBXC" dump team.bin)" ]
	head -c 100 team.bin >short.bin
	ends 3 "$SBXC" dump short.bin
	printf x >>team.bin
	ends 3 "$SBXC" dump team.bin
	ends 3 "$SBXC" dump missing.bin
	: >empty
	ends 3 "$SBXC" dump empty
}

# --- profiles and explain --------------------------------------------------

@test "profiles lists all and what they are for" {
	ends 0 "$SBXC" profiles
	for name in agent claude codex coding coding-online data-analysis \
	    full-access gemini mcp opencode read-only workspace-write; do
		[[ "$output" =~ (^|$'\n')"$name"\ +[^\ ] ]]
	done
	for line in "${lines[@]}"; do
		[ "${#line}" -le 80 ]
	done
}

@test "explain knows every code and every name, in any case" {
	ends 0 "$SBXC" explain all
	codes=$(sed -n 's/^\(SBX[0-9]*\): .*, \([a-z0-9-]*\))$/\1 \2/p' \
	    <<<"$output")
	[ "$(wc -l <<<"$codes")" -eq "$(grep -c '^SBX[0-9]*: ' <<<"$output")" ]
	while read -r code name; do
		ends 0 "$SBXC" explain "$code"
		said=$output
		ends 0 "$SBXC" explain "$name"
		[ "$output" = "$said" ]
	done <<<"$codes"
	ends 0 "$SBXC" explain sbx0201
	ends 125 "$SBXC" explain SBX9999
}

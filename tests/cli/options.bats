# What every command of sbxc has: help, version, and what is said of a wrong call.

load sbxc

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

@test "an empty value is a wrong call" {
	: >team.sbx
	ends 2 "$SBXC" why -w "" team.sbx read x
	complains "the value of --workspace is empty"
	ends 2 "$SBXC" build -I "" team.sbx
	complains "the value of --include is empty"
}

@test "an unknown option is a wrong call, whatever the program is called" {
	ln -s "$SBXC" other
	ends 2 ./other --frobnicate team.sbx
	complains "sbxc: "
	ends 2 "$SBXC" check --wihtin=x team.sbx
	complains "unknown option '--wihtin'; did you mean '--within'?"
	ends 2 "$SBXC" why --outptu=x team.sbx
	complains "unknown option '--outptu'"
	refute_complains "did you mean"
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
	for words in build check dump explain test 'diff team.sbx' \
	    'why team.sbx' convert 'export -O oci-seccomp' 'import -I claude' learn \
	    show; do
		ends 2 "$SBXC" $words </dev/null
	done
	ends 2 "$SBXC" build team.sbx two.sbx
	ends 2 "$SBXC" profiles x
	ends 2 "$SBXC" dump a b
}

@test "values of options are checked" {
	ends 2 "$SBXC" check team.sbx -f tap
	complains "-f is text, gcc, json, github or junit, not 'tap'"
	ends 2 "$SBXC" check team.sbx --color=mauve
	ends 2 "$SBXC" team.sbx -D data
	ends 2 "$SBXC" team.sbx -D =x
	"$SBXC" team.sbx
	ends 2 "$SBXC" dump team.bin -O toml
	ends 2 "$SBXC" dump team.bin -O bpf --arch vax
	ends 2 "$SBXC" dump team.bin -O bpf --variant -1
	ends 2 "$SBXC" dump team.bin -O bpf --variant 99
	ends 2 "$SBXC" dump team.bin -O bpf --variant 1x
	ends 2 "$SBXC" dump team.bin -O bpf --variant ""
	ends 0 "$SBXC" dump team.bin -O bpf --variant 1
	ends 2 "$SBXC" dump team.bin --variant 0
}

@test "explain SBX0207 names each word that may stand after 'network'" {
	local word words
	words=$(sed -n 's/^[A-Z_]*("network \([a-z]*\)[ "].*/\1/p' \
	    "$srcdir/compiler/tables/words.def" | sort -u)
	[ "$(wc -w <<<"$words")" -ge 8 ]
	ends 0 "$SBXC" explain SBX0207
	for word in $words; do
		grep -qw -- "$word" <<<"${output#*\'network\'}"
	done
}

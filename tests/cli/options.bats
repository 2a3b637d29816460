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
	ends 125 "$SBXC" -p x check
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

# --- one meaning -----------------------------------------------------------

# The names of all options of both programs, a line each, with the letter or "-".
options_of_all()
{
	{
		"$SBXC" --help=all
		"$builddir/sbxrun" --help=all
	} | sed -n -e 's/^  -\([a-zA-Z]\), --\([a-z-]*\).*/\1 \2/p' \
	    -e 's/^      --\([a-z-]*\).*/- \1/p' | sort -u
}

@test "a letter means the same everywhere, and a name has one letter" {
	all=$(options_of_all)
	[ "$(wc -l <<<"$all")" -gt 60 ]
	twice=$(grep -v '^-' <<<"$all" | cut -d' ' -f1 | uniq -d)
	[ -z "$twice" ]
	twice=$(cut -d' ' -f2 <<<"$all" | sort | uniq -d)
	[ -z "$twice" ]
	# Those that there are.
	expected=$(printf '%s\n' 'D define' 'E error' 'I include' 'O out-format' \
	    'V version' 'W warning' 'd depfile' 'f format' 'h help' 'l level' \
	    'n dry-run' 'o output' 'p profile' 'q quiet' 'v verbose' \
	    'w workspace' 'y yes')
	[ "$(grep -v '^-' <<<"$all" | LC_ALL=C sort)" = "$expected" ]
}

@test "reports for programs are asked for by --json alone, and say sbx 1" {
	formats=$("$SBXC" --help=all | grep -e '--format=')
	[[ $formats != *json* ]]
	printf 'sbx 1\nprofile a {\nallow read /usr\n}\n' >a.sbx
	printf 'sbx-test: 1\npolicy: a.sbx\ncases:\n  - allow: [ read /usr ]\n' \
	    >a.test.yaml
	for words in 'check a.sbx' 'diff a.sbx a.sbx' 'test a.test.yaml' \
	    'doctor a.sbx'; do
		# shellcheck disable=SC2086  # words
		run --separate-stderr env SBXRUN="$builddir/sbxrun" "$SBXC" \
		    $words --json
		[[ "$(tr -d ' \n' <<<"$output")" == '{"sbx":1,'* ]]
	done
	for words in --status --sessions; do
		# shellcheck disable=SC2086  # words
		run --separate-stderr "$builddir/sbxrun" $words --json
		[[ "$output" == '{"sbx":1,'* ]]
	done
}

@test "a wrong command line ends with 125 in each program" {
	commands=$("$SBXC" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
	for command in $commands; do
		ends 125 "$SBXC" "$command" --nonsense
		lines=$("$SBXC" "$command" --help | wc -l)
		[ "$lines" -le 24 ]
	done
	ends 125 "$builddir/sbxrun" --nonsense
	ends 125 "$SBXC" --help=some
	[ "$("$builddir/sbxrun" --help | wc -l)" -le 25 ]
}

# --- called wrongly --------------------------------------------------------

@test "nothing to do is a wrong call" {
	ends 125 "$SBXC"
	complains "--help"
	[ -z "$output" ]
}

@test "an empty value is a wrong call" {
	: >team.sbx
	ends 125 "$SBXC" why -w "" team.sbx read x
	complains "the value of --workspace is empty"
	ends 125 "$SBXC" build -I "" team.sbx
	complains "the value of --include is empty"
}

@test "an unknown option is a wrong call, whatever the program is called" {
	ln -s "$SBXC" other
	ends 125 ./other --frobnicate team.sbx
	complains "sbxc: "
	ends 125 "$SBXC" check --wihtin=x team.sbx
	complains "unknown option '--wihtin'; did you mean '--within'?"
	ends 125 "$SBXC" why --outptu=x team.sbx
	complains "unknown option '--outptu'"
	refute_complains "did you mean"
	ends 125 "$SBXC" check -Z team.sbx
	ends 125 "$SBXC" team.sbx -o
}

@test "an unknown command is a wrong call, with a guess" {
	ends 125 "$SBXC" chekc
	complains "did you mean 'check'?"
	ends 125 "$SBXC" xyzzy
	complains "'xyzzy' is no command, and no file"
}

@test "an option that the command has no use for is refused" {
	ends 125 "$SBXC" check team.sbx -o out.bin
	complains "--output does not go with 'check'"
	ends 125 "$SBXC" team.sbx --home /x
	ends 125 "$SBXC" dump team.bin -p x
}

@test "missing and superfluous operands are refused" {
	for words in build check dump explain test 'diff team.sbx' \
	    'why team.sbx' convert 'export -O oci-seccomp' 'import --from claude' learn \
	    show; do
		ends 125 "$SBXC" $words </dev/null
	done
	ends 125 "$SBXC" build team.sbx two.sbx
	ends 125 "$SBXC" profiles x
	ends 125 "$SBXC" dump a b
}

@test "values of options are checked" {
	ends 125 "$SBXC" check team.sbx -f tap
	complains "-f is text, gcc, github or junit, not 'tap'"
	ends 125 "$SBXC" check team.sbx --color=mauve
	ends 125 "$SBXC" team.sbx -D data
	ends 125 "$SBXC" team.sbx -D =x
	"$SBXC" team.sbx
	ends 125 "$SBXC" dump team.bin -O toml
	ends 125 "$SBXC" dump team.bin -O bpf --arch vax
	ends 125 "$SBXC" dump team.bin -O bpf --variant -1
	ends 125 "$SBXC" dump team.bin -O bpf --variant 99
	ends 125 "$SBXC" dump team.bin -O bpf --variant 1x
	ends 125 "$SBXC" dump team.bin -O bpf --variant ""
	ends 0 "$SBXC" dump team.bin -O bpf --variant 1
	ends 125 "$SBXC" dump team.bin --variant 0
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

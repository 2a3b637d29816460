# sbxc check.

load sbxc

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
	ends 3 "$SBXC" check missing.sbx bad.sbx team.sbx
	ends 1 "$SBXC" check bad.sbx team.sbx
}

@test "check looks at each profile as if it were alone" {
	cat >twice.sbx <<-'SBX'
	sbx 1

	group tools {
	    let   cache = /srv/cache
	    allow read { ${cache}  /opt }
	}
	profile base {
	    use tools
	}
	profile one extends base {
	    use  tools
	    drop allow read /opt
	}
	profile two extends base {
	    drop use tools
	    allow read /opt
	}
	SBX
	ends 0 "$SBXC" check twice.sbx
	[ -z "$output$stderr" ]
}

@test "a copy of a shipped profile is that profile to the byte" {
	cp "$srcdir/profiles/read-only.sbx" copy.sbx
	ends 0 "$SBXC" check copy.sbx
	echo "# more" >>copy.sbx
	ends 1 "$SBXC" check copy.sbx
	complains "'read-only' is the name of a shipped profile"
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
	ends 1 "$SBXC" check -E all -E no-duplicate-rule warned.sbx
	complains "1 error, 1 warning"
	ends 1 "$SBXC" check -E duplicate-rule -W no-risky-startup warned.sbx
	complains "1 error"
	refute_complains warning
}

@test "check -W and -E know their codes" {
	warned
	ends 125 "$SBXC" check -W SBX0650 warned.sbx
	complains "'SBX0650' is no code of a diagnostic; did you mean"
	ends 125 "$SBXC" check -E no-riskystartup warned.sbx
	complains "did you mean 'risky-startup'?"
	ends 125 "$SBXC" check -W no-SBX0201 warned.sbx
	complains "SBX0201 is an error, and errors cannot be switched off"
	ends 125 "$SBXC" check -E no-SBX0201 warned.sbx
	ends 0 "$SBXC" check -W SBX0201 -E SBX0201 team.sbx
	ends 125 "$SBXC" check -W "" warned.sbx
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

@test "check: a comment that ignores names several codes, or is the last line" {
	printf '%s\n' 'sbx 1' 'profile p {' 'allow write /srv' \
	    'allow write { /srv ~/.zshrc } # sbx: ignore SBX0301, SBX0605 -- why ' \
	    '}' >both.sbx
	ends 0 "$SBXC" check both.sbx
	[ -z "$output$stderr" ]
	ends 0 "$SBXC" check --json both.sbx
	[ "$(grep -c '"reason": "why"' <<<"$output")" -eq 2 ]
	printf 'sbx 1\nprofile p { allow write ~/.zshrc } # sbx: ignore SBX0605 -- why' \
	    >last.sbx
	ends 0 "$SBXC" check last.sbx
	[ -z "$output$stderr" ]
	# In YAML a backslash is itself between single quotes.
	cat >quoted.yaml <<-'YAML'
	sbx: 1
	profiles:
	  p:
	    - 'allow write ~/.zshrc # a\' # sbx: ignore SBX0605 -- why
	YAML
	ends 0 "$SBXC" check quoted.yaml
	[ -z "$output$stderr" ]
}

@test "check --target judges another machine" {
	ends 125 "$SBXC" check --target landlock=99 team.sbx
	complains "--target is landlock=N, level=LEVEL or macos"
	ends 125 "$SBXC" check --target level=medium team.sbx
	ends 125 "$SBXC" check --target landlock= team.sbx
	ends 125 "$SBXC" check --target linux team.sbx
	warned
	ends 1 "$SBXC" check --target landlock=0 warned.sbx
	complains "landlock=0: nothing confines files"
	ends 0 "$SBXC" check --target landlock=6 --target level=full warned.sbx
	complains "landlock=6: "
	for targets in "level=full landlock=0" "landlock=0 level=full"; do
		ends 1 "$SBXC" check --target "${targets% *}" \
		    --target "${targets#* }" warned.sbx
		complains "landlock=0: nothing confines files"
	done
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

# --- files that are no policies ----------------------------------------------

# Files with a secret, each of which a different part of the compiler would
# stumble over, and would show where.
secrets() {
	mkdir secrets dir
	echo 'root:hunter2:20000:0:99999:7:::' >secrets/shadow.sbx
	printf -- '-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n' >secrets/key.sbx
	printf 'A=1\0TOKEN=hunter2\0' >secrets/environ.sbx
	printf '"hunter2\n' >secrets/quoted.sbx
	printf '# hunter2\n' >secrets/comment.sbx
	printf 'hunter2%070000d\n' 1 >secrets/long.sbx
	printf 'caf\351 hunter2\n' >secrets/latin.sbx
	echo '{"auths": {"example.org": {"auth": "hunter2"}}}' >secrets/config.json
	printf 'hunter2: [ *hunter2\n' >secrets/broken.yaml
	printf 'users:\n- hunter2: hunter2\n  hunter2: 1\n' >secrets/kube.yaml
	echo '- hunter2' >secrets/list.yml
	echo 'hunter2' >secrets/plain
	cp secrets/shadow.sbx dir/elsewhere.sbx
}

hides() {
	run "$@"
	if [[ "$output" == *hunter2* || "$status" -eq 0 ]]; then
		echo "status $status: $*"
		echo "$output"
		return 1
	fi
}

@test "a file that is no policy is not shown, whoever leads to it" {
	secrets
	for file in secrets/*; do
		cp team.sbx evil.sbx
		echo "include \"$file\"" >>evil.sbx
		printf 'sbx: 1\nrules: [ include "%s" ]\n' "$file" >evil.yaml
		printf 'sbx-test: 1\npolicy: %s\ncases: [ allow: read /x ]\n' \
		    "$file" >evil.test.yaml
		link=link-$(basename "$file")
		ln -sf "$file" "$link"
		for policy in evil.sbx evil.yaml "$file" "$link"; do
			hides "$SBXC" check "$policy"
			hides "$SBXC" check -f github "$policy"
			hides "$SBXC" build "$policy" -o out.bin
			hides "$SBXC" why "$policy" read /x
			hides "$SBXC" diff @coding "$policy"
		done
		hides "$SBXC" fmt "$file"
		hides "$SBXC" convert -O yaml "$file"
		hides "$SBXC" test evil.test.yaml
		hides "$SBXC" test "$file"
		hides "$SBXC" dump "$file"
	done
	printf 'sbx 1\ninclude "elsewhere.sbx"\n' >evil.sbx
	hides "$SBXC" check -I dir evil.sbx
	[[ "$output" == *"the first statement is not 'sbx 1' [SBX0701]"* ]]
}

@test "a policy is one wherever the key stands" {
	printf '{profiles: {p: [allow raed /srv]},sbx: 1}\n' >flow.yaml
	ends 1 "$SBXC" check flow.yaml
	complains "1 | {profiles: "
	sed -i 's/sbx/"sbx"/' flow.yaml
	ends 1 "$SBXC" check flow.yaml
	complains "1 | {profiles: "
	sed -i 's/"sbx"/sbz/' flow.yaml
	ends 1 "$SBXC" check flow.yaml
	refute_complains "profiles: {"
}

@test "what is explained about links in what another rule gives is so" {
	mkdir -p home/tree home/real
	ln -s ../real home/tree/sub
	printf 'sbx 1\nprofile p {\n%s\n%s\n}\n' "allow read $PWD/home/tree" \
	    "allow read $PWD/home/tree/sub  # sbx: ignore SBX0302 -- a link" \
	    >links.sbx
	ends 0 "$SBXC" check links.sbx
	[ -z "$output$stderr" ]
	ends 0 "$SBXC" check --no-ignore links.sbx
	complains "is allowed already [SBX0302]"
	explained=$("$SBXC" explain SBX0302 | tr -s '\n ' '  ')
	[[ "$explained" == *"names a link inside of what the wider one gives, it may give more"* ]]
	[[ "$explained" == *"'# sbx: ignore SBX0302 -- a link'"* ]]
}

@test "what is explained about comments that ignore does what it says" {
	example=$("$SBXC" explain SBX0114 | tr -s '\n ' '  ' |
		sed "s/.*Example: '\\(.*\\)'\\..*/\\1/")
	[[ "$example" == "allow "*"# sbx: ignore SBX"*" -- "* ]]
	printf 'sbx 1\nprofile p extends workspace-write {\n    %s\n}\n' \
	    "$example" >example.sbx
	ends 0 "$SBXC" check example.sbx
	[ -z "$output" ]
}

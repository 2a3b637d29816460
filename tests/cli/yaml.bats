# Policies in YAML and JSON on the command line, and `sbxc convert`.

bats_require_minimum_version 1.5.0

setup()
{
	SBXC=$(realpath "${SBXC:-build/sbxc}")
	export LC_ALL=C.UTF-8
	cd "$BATS_TEST_TMPDIR" || exit 99
	unset NO_COLOR CLICOLOR_FORCE
	cat >p.yaml <<-'END'
	# What it is for.
	sbx: 1
	profiles:
	  p:
	    extends: read-only
	    rules:
	      # why
	      - allow write ${workspace}/out
	END
	cat >p.sbx <<-'END'
	# What it is for.
	sbx 1

	profile p extends read-only {
	    # why
	    allow write ${workspace}/out   # not more
	}
	END
}

@test "a policy is YAML by its name" {
	for name in a.yaml a.yml a.json; do
		cp p.yaml $name
		run "$SBXC" check $name
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
	cp p.yaml a.sbx
	run "$SBXC" check a.sbx
	[ "$status" -eq 1 ]
	[[ $output == *SBX0701* ]]
	cp p.sbx b.yaml
	run "$SBXC" check b.yaml
	[ "$status" -eq 1 ]
	[[ $output == *"called NAME.sbx"* ]]
}

@test "or by how it begins, where the name does not say" {
	"$SBXC" - -o out.bin <p.yaml
	"$SBXC" - -o out.bin <p.sbx
	"$SBXC" convert -O json p.yaml | "$SBXC" - -o out.bin
	cp p.yaml policy
	"$SBXC" check policy
	local text
	# Each way in which it may begin; blank lines and comments do not count.
	for text in '{ sbx: 1, profiles: { p: [] } }' \
	    '---\nsbx: 1\nprofiles: { p: [] }' \
	    '%%YAML 1.2\n---\nsbx: 1\nprofiles: { p: [] }' \
	    'sbx: 1\nprofiles: { p: [] }' \
	    '"sbx": 1\nprofiles: { p: [] }' \
	    "'sbx': 1\nprofiles: { p: [] }" \
	    '\n# What it is for.\n\nsbx: 1\nprofiles: { p: [] }'; do
		printf -- "$text\n" >policy
		"$SBXC" build policy -o out.bin
		"$SBXC" build - -o in.bin <policy
		"$SBXC" dump in.bin | grep -q '^profile p'
		"$SBXC" dump out.bin | grep -q '^profile p'
		rm out.bin in.bin
	done
}

@test "build, why, dump and a list of what was read" {
	printf 'sbx: 1\ngroups:\n  g: [ deny write /srv/a ]\n' >g.yaml
	printf 'sbx: 1\nrules: [ include "g.yaml" ]\nprofiles: { p: [ use g ] }\n' \
	    >main.yaml
	"$SBXC" main.yaml -d main.d
	[ -s main.bin ]
	grep -q 'g\.yaml' main.d
	run "$SBXC" why main.bin write /srv/a/x
	[ "$status" -eq 1 ]
	[[ $output == *"g.yaml:3:19: deny write /srv/a"* ]]
	run "$SBXC" why main.yaml write /srv/a/x
	[ "$status" -eq 1 ]
}

@test "reading ends with the fiftieth error" {
	{
		printf 'sbx: 1\nprofile p:\n'
		for _ in $(seq 60); do
			printf '%s\n' '- about: "a\x01"'
		done
	} >many.yaml
	run "$SBXC" check many.yaml
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "50 errors" ]
}

@test "the two forms include each other" {
	printf 'sbx 1\ninclude "b.yaml"\nprofile p { use b }\n' >a.sbx
	printf 'sbx: 1\nrules: [ include "c.sbx" ]\ngroups: { b: [ use c ] }\n' >b.yaml
	printf 'sbx 1\ngroup c { allow read /srv }\n' >c.sbx
	"$SBXC" a.sbx -o a.bin
	"$SBXC" dump a.bin | grep -q 'allow read /srv  # c.sbx:2:22 c'
	printf 'sbx 1\ninclude "a.sbx"\ngroup c { allow read /srv }\n' >c.sbx
	run "$SBXC" check a.sbx
	[ "$status" -eq 1 ]
	[[ $output == *"a.sbx -> b.yaml -> c.sbx -> a.sbx"* ]]
}

@test "convert keeps what is said" {
	for form in sbx yaml json; do
		for file in p.sbx p.yaml; do
			"$SBXC" convert -O $form $file >q.$form
			"$SBXC" check q.$form
			"$SBXC" convert -O sbx q.$form >back.sbx
			"$SBXC" convert -O sbx p.sbx | cmp - back.sbx
		done
	done
}

@test "convert keeps the comments of statements in YAML" {
	run "$SBXC" convert -O yaml p.sbx
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "# What it is for." ]
	[[ $output == *"      # why
      # not more
      - allow write \${workspace}/out"* ]]
	"$SBXC" convert -O yaml p.sbx >a.yaml
	"$SBXC" convert -O yaml a.yaml | cmp - a.yaml
}

@test "convert writes what people would write" {
	cat >a.sbx <<-'END'
	sbx 1
	include "groups.sbx"
	let d = { /srv/a ~/b }
	group g { deny syscalls { @mount ptrace } }
	profile p extends coding {
	    about "Build: all of it"
	    use g
	    deny syscalls ptrace
	    allow network full
	    deny read glob "${workspace}/*.pem" except ${workspace}/a.pem
	    allow read "/srv/my data"
	    allow env { *_A B_* }
	    set env CI = 1
	    set env A = "x: y"
	    on linux {
	        allow read /sys
	        deny spawn
	    }
	    on macos { deny spawn }
	}
	END
	cat >expected <<-'END'
	sbx: 1

	rules:
	  - include "groups.sbx"
	  - let d = { /srv/a  ~/b }

	groups:
	  g:
	    - deny syscalls { @mount  ptrace }

	profiles:
	  p:
	    extends: coding
	    about: "Build: all of it"
	    rules:
	      - use g
	      - deny syscalls ptrace
	      - allow network full
	      - deny read glob "${workspace}/*.pem"  except ${workspace}/a.pem
	      - allow read "/srv/my data"
	      - allow env { *_A  B_* }
	      - set env CI = 1
	      - "set env A = \"x: y\""
	      - |-
	        on linux {
	            allow read /sys
	            deny spawn
	        }
	      - on macos { deny spawn }
	END
	"$SBXC" convert -O yaml a.sbx >a.yaml
	diff -u expected a.yaml
	"$SBXC" convert -O json a.sbx >a.json
	# Its last line has an end.
	[ -z "$(tail -c 1 a.json)" ]
	grep -Fqx '        "allow read \"/srv/my data\"",' a.json
}

@test "convert: what YAML reads otherwise has quotes" {
	cat >a.sbx <<-'END'
	sbx 1
	profile colon { about "why:" }
	profile blank { about "why " }
	profile comment { about "why # not" }
	profile key { about "why: not" }
	profile hash { about "why#not:so" }
	END
	"$SBXC" convert -O yaml a.sbx >a.yaml
	grep -Fqx '    about: "why:"' a.yaml
	grep -Fqx '    about: "why "' a.yaml
	grep -Fqx '    about: "why # not"' a.yaml
	grep -Fqx '    about: "why: not"' a.yaml
	grep -Fqx '    about: why#not:so' a.yaml
}

@test "convert: names that stand twice stay where they stand" {
	printf 'sbx 1\ngroup g { use a }\nprofile p { use g }\ngroup g { use b }\n' \
	    >a.sbx
	for form in yaml json; do
		"$SBXC" convert -O $form a.sbx >a.$form
		"$SBXC" convert -O sbx a.sbx >b.sbx
		"$SBXC" convert -O sbx a.$form | cmp - b.sbx
	done
}

@test "convert does not look into what is included" {
	printf 'sbx 1\ninclude "nowhere.sbx"\nprofile p { use a }\n' >a.sbx
	run "$SBXC" convert -O yaml a.sbx
	[ "$status" -eq 0 ]
	[[ $output == *'include "nowhere.sbx"'* ]]
}

@test "convert of what is faulty prints nothing but why" {
	printf 'sbx: 1\nprofiles: { p: [ alow read /a ] }\n' >bad.yaml
	run --separate-stderr "$SBXC" convert -O sbx bad.yaml
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ $stderr == *SBX0102* ]]
}

@test "convert keeps a path with a wildcard as faulty as it is" {
	printf 'sbx: 1\nprofiles: { p: [ allow read /a/* ] }\n' >bad.yaml
	"$SBXC" convert -O sbx bad.yaml >bad.sbx
	run "$SBXC" check bad.sbx
	[ "$status" -eq 1 ]
	[[ $output == *SBX0110* ]]
	"$SBXC" convert -O json bad.sbx >bad.json
	run "$SBXC" check bad.json
	[[ $output == *SBX0110* ]]
}

@test "convert is called rightly" {
	run "$SBXC" convert p.sbx
	[ "$status" -eq 125 ]
	run "$SBXC" convert -O toml p.sbx
	[ "$status" -eq 125 ]
	[[ $output == *"sbx, yaml or json"* ]]
	run "$SBXC" convert -O yaml
	[ "$status" -eq 125 ]
	run "$SBXC" convert -O yaml absent.sbx
	[ "$status" -eq 3 ]
	run sh -c "'$SBXC' convert -O yaml p.sbx >/dev/full"
	[ "$status" -eq 3 ]
}

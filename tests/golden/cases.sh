#!/bin/sh
# sbxc test: what it prints and exits with, and that programs can read it.
#
#	tests/golden/cases.sh [--update]
#
# cases/NAME.yaml is tested as its first line says; standard output, standard
# error and the exit status are NAME.out, without what changes with the shipped
# profiles.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
cd "$srcdir/tests/golden/cases" || exit 99
tap_begin

# run NAME: what comes of it.
run()
{
	words=$(sed -n '1s/^# sbxc //p' "$1.yaml")
	# shellcheck disable=SC2086  # words
	"$SBXC" $words --color=never "$1.yaml" >"$tmp/out" 2>"$tmp/err"
	status=$?
	cat "$tmp/out"
	sed 's/^/! /' "$tmp/err"
	echo "status $status"
}

for file in *.yaml; do
	name=${file%.yaml}
	grep -q '^# sbxc ' "$file" || continue
	run "$name" | sed 's/"tool": "sbxc .*"/"tool": "sbxc"/
	    s/\(sbx:[a-z-]*\.sbx\):[0-9]*:[0-9]*/\1:N:N/g
	    s/of all [0-9]* ([0-9]*%); [0-9]*/of all N (N%); N/' >"$tmp/got"
	if [ "${1-}" = --update ]; then
		cmp -s "$tmp/got" "$name.out" || cp "$tmp/got" "$name.out"
	fi
	tap_empty "$name" "$(diff -u "$name.out" "$tmp/got" 2>&1)"
done

# same NAME EXPECTED GOT
same()
{
	tap_empty "$1" "$([ "$2" = "$3" ] || printf 'expected %s\nfound %s\n' \
	    "$2" "$3")"
}

# status NAME EXPECTED WORD...: what sbxc exits with.
status()
{
	status_name=$1 status_wanted=$2
	shift 2
	"$SBXC" "$@" >"$tmp/out" 2>&1
	same "$status_name" "$status_wanted" $?
}

# What the shipped rules are counted as: numbers that are left out above.  Where
# no rule is the policy's own, each that is not covered has a line.
covered()
{
	sed -n 's/^coverage of .* \([0-9]*\) of all \([0-9]*\) (\([0-9]*\)%).*/\1 \2 \3/p' \
	    "$tmp/out"
}
printf '%s\n' 'sbx-test: 1' 'policy: "@workspace-write"' 'cases:' \
    '  - deny: read ~/.ssh/id_rsa' '  - allow: "write ${workspace}/x"' \
    "  - deny: 'env GITHUB_TOKEN'" >"$tmp/shipped.yaml"
"$SBXC" test --coverage "$tmp/shipped.yaml" >"$tmp/out" 2>&1
open=$(grep -c ': not covered: ' "$tmp/out")
same "three shipped rules of all are covered" \
    "3 $((open + 3)) $((300 / (open + 3)))" "$(covered)"
"$SBXC" test --coverage good.yaml >"$tmp/out" 2>&1
same "the same and its own are all rules of a policy" \
    "12 $((open + 3 + 12)) $((1200 / (open + 3 + 12)))" "$(covered)"

status "all that is good" 0 test good.yaml
status "a case that fails" 1 test good.yaml failing.yaml
status "a test file that is not understood" 1 test unknown.yaml
status "no file" 125 test
status "an unknown format" 125 test -f sarif good.yaml
status "an unknown level" 125 test -l high good.yaml
status "a level twice" 125 test -l full,full good.yaml
status "coverage in XML" 125 test -f junit --coverage good.yaml
status "a file that is not there" 3 test not-there.yaml
status "a policy that is not there" 3 test missing.yaml

same "files are counted together" "5 passed, 1 failed" \
    "$("$SBXC" test yaml-policy.yaml yaml-policy.yaml unenforced.yaml | tail -n 1)"

# The examples hold what they promise.
status "the profiles that are known by name" 0 \
    test "$srcdir/examples/seatbelt/profiles.test.yaml"

# The same policy in each form.
"$SBXC" team.sbx -o "$tmp/team.bin" 2>/dev/null
sed "s,^policy: .*,policy: $tmp/team.bin," good.yaml >"$tmp/blob.yaml"
same "a blob is tested as its text" \
    "$("$SBXC" test good.yaml)" "$("$SBXC" test "$tmp/blob.yaml" 2>&1)"
sed "s,^policy: .*,policy: nested/../team.bin," good.yaml >"$tmp/beside.yaml"
mkdir "$tmp/nested"
same "a policy is looked for beside the test file" \
    "$("$SBXC" test good.yaml)" "$("$SBXC" test "$tmp/beside.yaml" 2>&1)"
same "-D binds a parameter" "1 passed, 0 failed" "$(
    printf '%s\n' 'sbx-test: 1' "policy: $tmp/team.bin" 'cases:' \
	'  - allow: read /elsewhere/x' |
    "$SBXC" test -D dataset=/elsewhere - 2>&1)"
printf '%s\n' 'sbx-test: 1' 'text: |' '  sbx 1' \
    '  profile a {' '    param spare' '    allow read /a' '  }' 'cases:' \
    '  - allow: read /a' >"$tmp/spare.yaml"
status "-D of a parameter that nothing uses" 0 test -D spare=/s \
    "$tmp/spare.yaml"
status "-D of what only one of the policies has" 0 test -D spare=/s good.yaml \
    "$tmp/spare.yaml"
status "-D of what no policy has" 125 test -D other=/s good.yaml "$tmp/spare.yaml"
same "-p chooses the profile" "1 passed, 0 failed" "$(
    printf '%s\n' 'sbx-test: 1' 'text: |' '  sbx 1' \
	'  profile a { allow read /a }' '  profile b { allow read /b }' \
	'profile: a' 'cases:' '  - deny: read /a' |
    "$SBXC" test -p b - 2>&1)"

# The answers do not depend on who asks, where, and when.
same "the environment changes nothing" "$("$SBXC" test good.yaml failing.yaml)" \
    "$(HOME=/ XDG_RUNTIME_DIR=/srv TMPDIR=/srv "$SBXC" test good.yaml \
	failing.yaml)"

# --- for programs -----------------------------------------------------------

"$SBXC" test -f junit good.yaml failing.yaml >"$tmp/cases.xml"
"$SBXC" test -f junit unknown.yaml >"$tmp/broken.xml" 2>/dev/null
if command -v xmllint >/dev/null; then
	for file in cases broken; do
		tap_empty "JUnit of $file cases is valid" "$(xmllint --noout \
		    --schema ../report/junit.xsd "$tmp/$file.xml" 2>&1 |
		    grep -v ' validates$')"
	done
	same "JUnit counts the failures" "$("$SBXC" test good.yaml failing.yaml |
	    grep -c ': failed: ')" \
	    "$(xmllint --xpath 'string(/testsuites/@failures)' \
	    "$tmp/cases.xml")"
	same "a file that is not understood is a failure" 1 \
	    "$(xmllint --xpath 'string(/testsuites/@failures)' \
	    "$tmp/broken.xml")"
else
	tap_skip "JUnit is valid" "xmllint is not installed"
fi

# --- many -------------------------------------------------------------------

awk 'BEGIN {
	print "sbx 1\nprofile many {"
	for (i = 0; i < 10000; i++)
		printf "    %s /srv/d%d/e%d\n", i % 2 ? "deny read" : \
		    "allow read", i / 100, i
	print "}"
}' >"$tmp/many.sbx"
awk 'BEGIN {
	print "sbx-test: 1\npolicy: many.sbx\ncases:"
	for (i = 0; i < 10000; i++)
		printf "  - %s: read /srv/d%d/e%d/x\n", \
		    i % 2 ? "deny" : "allow", i / 100, i
}' >"$tmp/many.yaml"
same "ten thousand cases of ten thousand rules" "10000 passed, 0 failed" \
    "$("$SBXC" test "$tmp/many.yaml" 2>&1)"

# Of the failures of a file, 50 are explained.
awk 'BEGIN {
	print "sbx-test: 1\npolicy: \"@read-only\"\ncases:"
	for (i = 0; i < 51; i++)
		print "  - allow: write /srv/" i
}' >"$tmp/failing.yaml"
"$SBXC" test "$tmp/failing.yaml" >"$tmp/out" 2>&1
same "51 failures, and the answers to 50" "51 50" \
    "$(grep -c 'it is denied' "$tmp/out") $(
    grep -c 'no rule allows it' "$tmp/out")"

tap_done

#!/bin/sh
# The formats of `sbxc check` for programs, each read by what its readers would
# use, and compared with what is written in tests/golden/report/.
#
#	tests/golden/report.sh --update	rewrite what is expected

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
here=$srcdir/tests/golden/report
tap_begin
cd "$tmp" || exit 99
mkdir sub
cat "$here/plain.sbx" >"sub/100%, plain.sbx"
printf 'sbx 1\nprofile clean {\n    allow read /srv\n}\n' >clean.sbx
printf 'sbx 1\nprofile bad {\n    allow raed /srv\n}\n' >bad.sbx

# check FORMAT FILE...: the document in $tmp/out, what else was said in
# $tmp/said, the exit status in $status.
check()
{
	form=$1
	shift
	case $form in
	json) set -- --json "$@" ;;
	*) set -- -f "$form" "$@" ;;
	esac
	"$SBXC" check --target level=standard "$@" >out 2>said
	status=$?
}

# --- what is expected, byte for byte ---------------------------------------

# The version is no news.
expected()
{
	sed -e 's/"sbxc [0-9.]*"/"sbxc VERSION"/' "$1"
}

for format in json github junit gcc; do
	check $format "sub/100%, plain.sbx" clean.sbx
	if [ $format = gcc ]; then
		tap_is "$format: standard output is empty" "" "$(cat out)"
		mv said out
	else
		tap_is "$format: standard error is empty" "" "$(cat said)"
	fi
	tap_is "$format: warnings are no faults" 0 $status
	expected out >got
	[ "${1-}" != --update ] || cp got "$here/plain.$format"
	tap_empty "$format: as it was" \
	    "$(diff -u "$here/plain.$format" got 2>&1)"
	check $format clean.sbx bad.sbx
	tap_is "$format: an error gives status 1" 1 $status
	check $format -q clean.sbx bad.sbx
	tap_is "$format: -q prints nothing" 1 "$status$(cat out said)"
	check $format clean.sbx none.sbx
	tap_is "$format: a file that is not there gives status 3" 3 $status
done

# --- JUnit, by an XML schema ------------------------------------------------

valid_junit()
{
	xmllint --noout --schema "$here/junit.xsd" "$1" 2>&1 |
	    grep -v ' validates$'
}

check junit "sub/100%, plain.sbx" clean.sbx bad.sbx
cp out plain.junit
if command -v xmllint >/dev/null; then
	tap_empty "JUnit is valid by its schema" "$(valid_junit plain.junit)"
	sed 's/failures=/fails=/' plain.junit >broken.junit
	tap_found "the schema objects to another attribute" \
	    "$(valid_junit broken.junit)"
	tap_is "the failures are the errors" "1 1" "$(xmllint --xpath \
	    'concat(/testsuites/@failures, " ", count(//failure))' plain.junit)"
	tap_is "each case is counted" "$(xmllint --xpath 'count(//testcase)' \
	    plain.junit)" "$(xmllint --xpath 'string(/testsuites/@tests)' \
	    plain.junit)"
	tap_is "what is ignored is skipped, with its reason" \
	    '"why" <not> & 100%' "$(xmllint --xpath \
	    'string(//skipped/@message)' plain.junit)"
else
	tap_skip "JUnit is valid by its schema" "xmllint is missing"
fi

# --- several files ----------------------------------------------------------

cat >part.sbx <<'END'
sbx 1
group part {
    allow write ~/.bashrc
}
END
for name in one two; do
	printf 'sbx 1\ninclude "part.sbx"\nprofile %s {\n    use part\n}\n' \
	    $name >$name.sbx
done
check json one.sbx two.sbx
tap_is "what two files include is told once" 1 "$(grep -c '"SBX0605"' out)"
check json bad.sbx one.sbx
tap_is "each file is there" 'bad.sbx one.sbx' "$(sed -n \
    '/"files"/,/\]/s/^ *"\(.*\.sbx\)".*/\1/p' out | paste -sd ' ')"
for i in $(seq 60); do
	echo "    allow write /srv/$i.json"
done | sed "1i sbx 1\nprofile many {" >many.sbx
echo "}" >>many.sbx
check json many.sbx
tap_is "programs get all findings" 60 "$(grep -c '"SBX0612"' out)"
"$SBXC" check many.sbx >out 2>&1
tap_is "people get fifty" 50 "$(grep -c 'SBX0612' out)"

tap_done

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
	"$SBXC" check --target level=standard -f "$@" >out 2>said
	status=$?
}

# --- what is expected, byte for byte ---------------------------------------

# The version and the texts of all codes are no news.
expected()
{
	sed -e 's/"sbxc [0-9.]*"/"sbxc VERSION"/' "$1" |
	    if [ "$2" = sarif ]; then
		sed -e '/^ *"driver": {/,/^ *"columnKind"/d' \
		    -e '/"ruleIndex"/d'
	    else
		cat
	    fi
}

for format in json sarif github junit gcc; do
	check $format "sub/100%, plain.sbx" clean.sbx
	if [ $format = gcc ]; then
		tap_is "$format: standard output is empty" "" "$(cat out)"
		mv said out
	else
		tap_is "$format: standard error is empty" "" "$(cat said)"
	fi
	tap_is "$format: warnings are no faults" 0 $status
	expected out $format >got
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

# --- SARIF, by its schema ---------------------------------------------------

python=
for one in python3 /usr/bin/python3; do
	! "$one" -c 'import jsonschema' 2>/dev/null || { python=$one; break; }
done

validate()
{
	"$python" "$here/validate.py" "$here/sarif-2.1.0.json" "$1" 2>&1
}

check sarif "sub/100%, plain.sbx" clean.sbx bad.sbx
cp out plain.sarif
check sarif clean.sbx
cp out empty.sarif
if [ -n "$python" ]; then
	tap_empty "SARIF is valid by its schema" "$(validate plain.sarif)"
	tap_empty "so it is without findings" "$(validate empty.sarif)"
	sed 's/"startLine": 7/"startLine": 0/' plain.sarif >broken.sarif
	tap_found "the schema objects to line 0" "$(validate broken.sarif)"
	sed 's/"ruleId"/"rule"/' plain.sarif >broken.sarif
	tap_found "and to a name of our own" "$(validate broken.sarif)"
else
	tap_skip "SARIF is valid by its schema" "python3-jsonschema is missing"
fi

# fingerprints FILE: one a line.
fingerprints()
{
	check sarif "$1"
	sed -n 's/.*"primaryLocationLineHash": "\(.*\)".*/\1/p' out
}

fingerprints "sub/100%, plain.sbx" >before
{
	echo "# a line above"
	cat "$here/plain.sbx"
} >"sub/100%, plain.sbx"
fingerprints "sub/100%, plain.sbx" >after
tap_is "fingerprints outlive a line above" "$(cat before)" "$(cat after)"
tap_is "and tell equal lines apart" "$(wc -l <before)" \
    "$(sort -u before | wc -l)"
sed 's/\.zshrc/.zshenv/' "$here/plain.sbx" >"sub/100%, plain.sbx"
fingerprints "sub/100%, plain.sbx" >after
tap_is "and change with their line" no \
    "$(cmp -s before after && echo yes || echo no)"
cat "$here/plain.sbx" >"sub/100%, plain.sbx"
check sarif "$tmp/sub/100%, plain.sbx" "./sub/../clean.sbx"
tap_is "a path below the directory is relative" 0 "$(grep -c 'file://' out)"
cd sub || exit 99
"$SBXC" check -f sarif "$tmp/bad.sbx" >../out 2>&1
cd ..
tap_is "one elsewhere is not" "file://$tmp/bad.sbx" \
    "$(sed -n 's/.*"uri": "\(.*\)".*/\1/p' out | head -n 1)"

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

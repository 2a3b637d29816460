#!/bin/sh
# The schema that editors use for policies in YAML and JSON: it takes what sbxc
# takes, refuses what people get wrong, and knows every word of words.def.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
schema=$srcdir/packaging/sbx.schema.json
tap_begin

cat >"$tmp/validate.py" <<'END'
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1]))
validator = jsonschema.validators.validator_for(schema)
validator.check_schema(schema)
for path in sys.argv[2:]:
    document = json.load(open(path))
    for error in validator(schema).iter_errors(document):
        print(f"{path}: {error.json_path}: {error.message[:300]}")
END

# refuses NAME DOCUMENT
refuses()
{
	printf '%s' "$2" >"$tmp/bad.json"
	tap_found "refused: $1" "$(python3 "$tmp/validate.py" "$schema" \
	    "$tmp/bad.json" 2>"$tmp/fault")$(cat "$tmp/fault" >&2)"
}

# words_without FILE: the words of rules and settings that it does not have.
words_without()
{
	sed -n -e 's/^\(RIGHT\|PORT_OP\|PROXY\|LIST\)("\([^"]*\)".*/allow \2/p' \
	    -e 's/^WATCH("\([^"]*\)".*/\1/p' \
	    -e 's/^LIMIT("\([^"]*\)".*/limit \1/p' \
	    -e 's/^BLANKET("\([^"]*\)".*/allow \1/p' \
	    "$srcdir/compiler/tables/words.def" "$srcdir/format/limits.def" |
	    while read -r words; do
		grep -Fq -e "\"$words\"" -e "\"deny ${words#allow }\"" "$1" ||
		    echo "$words"
	done
	sed -n -e 's/^\(LEVEL\|PLATFORM\)("\([^"]*\)".*/\2/p' \
	    "$srcdir/compiler/tables/words.def" | while read -r word; do
		grep -Eq "[\"(|]${word}[\")|]" "$1" || echo "$word"
	done
}

tap_empty "it knows the words of the language" "$(words_without "$schema")"
sed 's/"limit timeout"/"limit time"/; s/|macos|/|/' "$schema" >"$tmp/less"
tap_found "it knows the words: the check can fail" \
    "$(words_without "$tmp/less")"

if ! python3 -c 'import jsonschema' 2>/dev/null; then
	tap_skip "policies against the schema" "python3-jsonschema is missing"
	tap_done
	exit
fi

set --
for file in "$srcdir"/tests/golden/ok/*.sbx "$srcdir"/tests/golden/ok/*.yaml \
    "$srcdir"/profiles/*.sbx; do
	name=$(echo "${file#"$srcdir"/}" | tr / _).json
	"$SBXC" convert -O json "$file" >"$tmp/$name" || echo "$file" \
	    >>"$tmp/failed"
	set -- "$@" "$tmp/$name"
done
tap_empty "every good policy is converted" \
    "$(cat "$tmp/failed" 2>/dev/null)"
tap_empty "$# policies are taken, and those written as JSON" \
    "$(python3 "$tmp/validate.py" "$schema" "$@" \
    "$srcdir"/tests/golden/ok/*.json 2>&1)"

refuses "an unknown key of a file" '{"sbx": 1, "profile": {}}'
refuses "a version to come" '{"sbx": 2}'
refuses "an unknown key of a profile" '{"profiles": {"p": {"extend": "q"}}}'
refuses "a name that is none" '{"profiles": {"1p": []}}'
refuses "rules that are a map" '{"profiles": {"p": {"rules": {"use": "a"}}}}'
refuses "an unknown right" '{"profiles": {"p": [{"allow raed": "/a"}]}}'
refuses "an unknown effect" '{"profiles": {"p": [{"alow read": "/a"}]}}'
refuses "two statements in one entry" \
    '{"profiles": {"p": [{"allow read": "/a", "deny read": "/b"}]}}'
refuses "two settings in one entry" \
    '{"profiles": {"p": [{"use": "a", "limit timeout": "5s"}]}}'
refuses "'except' alone" '{"profiles": {"p": [{"except": "/a"}]}}'
refuses "'except' beside a setting" \
    '{"profiles": {"p": [{"use": "a", "except": "/a"}]}}'
refuses "two objects in one text" \
    '{"profiles": {"p": [{"deny read": "/a /b"}]}}'
refuses "a port beyond all" \
    '{"profiles": {"p": [{"allow network connect tcp": 70000}]}}'
refuses "an unknown limit" '{"profiles": {"p": [{"limit time": "5s"}]}}'
refuses "a wrong unit" '{"profiles": {"p": [{"limit output": "5MB"}]}}'
refuses "an unknown level" '{"profiles": {"p": [{"require level": "ful"}]}}'
refuses "an unknown platform" '{"groups": {"g": [{"on windows": []}]}}'
refuses "an object without objects" '{"groups": {"g": [{"deny read": []}]}}'
tap_done

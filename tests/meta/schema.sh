#!/bin/sh
# The schema that editors use for policies in YAML and JSON: it takes what sbxc
# takes, and refuses what people get wrong.

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

refuses "no version" '{"profiles": {"p": []}}'
refuses "an unknown key of a file" '{"sbx": 1, "profile": {}}'
refuses "a version to come" '{"sbx": 2}'
refuses "an unknown key of a profile" \
    '{"sbx": 1, "profiles": {"p": {"extend": "q"}}}'
refuses "a name that is none" '{"sbx": 1, "profiles": {"1p": []}}'
refuses "rules that are a map" \
    '{"sbx": 1, "profiles": {"p": {"rules": {"use": "a"}}}}'
refuses "an unknown statement" '{"sbx": 1, "rules": ["alow read /a"]}'
refuses "a statement that is a map" \
    '{"sbx": 1, "profiles": {"p": [{"allow read": "/a"}]}}'
tap_done

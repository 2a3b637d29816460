#!/bin/sh
# How a run ends, and what a process group and a terminal see of it, as TAP: at
# levels standard and full.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin /var/tmp
tap_programs "$SBXRUN" "$SBXC"
cat >"$tmp/ends.sbx" <<'POLICY'
sbx 1
profile ends extends workspace-write {
    limit timeout 300s
    limit processes none
}
POLICY
"$SBXC" "$tmp/ends.sbx" -o "$tmp/ends.bin" || exit 99
# Without a watch, so that it tells nothing itself.
cat >"$tmp/tmp.sbx" <<'POLICY'
sbx 1
profile temporary {
    use system
    allow write { /tmp  /run }
}
include "groups.sbx"
POLICY
"$SBXC" "$tmp/tmp.sbx" -o "$tmp/ends-tmp.bin" || exit 99
mkdir "$tmp/work" "$tmp/home"
HOME=$tmp/home
export HOME
tap_levels standard full
for level in $levels; do
	(cd "$tmp/work" && python3 "$srcdir/tests/kernel/ends.py" \
	    "$tmp/sbxrun" "$tmp/ends.bin" "$level") >"$tmp/said" 2>&1
	while IFS= read -r line; do
		case $line in
		'ok - '*) tap_is "${line#ok - }" '' '' ;;
		'not ok - '*) tap_is "${line#not ok - }" yes no ;;
		*) printf '# %s\n' "${line#\# }" ;;
		esac
	done <"$tmp/said"
	tap_is "$level: all was tried" 24 "$(grep -c '^\(not \)\?ok' "$tmp/said")"
done
tap_done

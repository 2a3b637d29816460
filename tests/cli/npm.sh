#!/bin/sh
# The npm packages: made, installed without a network, and run.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin

for wanted in npm strip; do
	command -v $wanted >/dev/null && continue
	tap_skip "npm packages" "$wanted is not installed"
	tap_done
	exit
done
if grep -q "^SANITIZE = ." "$builddir/Makefile" ||
    ldd "$SBXRUN" >/dev/null 2>&1; then
	tap_skip "npm packages" "this build is not static"
	tap_done
	exit
fi
HOME=$tmp/home
export HOME
mkdir "$HOME" "$tmp/out" "$tmp/use"
"$srcdir/packaging/npm.sh" "$tmp/out" "$builddir" >"$tmp/list" 2>"$tmp/err"
tap_is "they are made" "0 2" "$? $(grep -c 'tgz$' "$tmp/list")"
cd "$tmp/use" || exit 99
npm install --offline --no-audit --no-fund --silent "$tmp"/out/*.tgz \
    >"$tmp/err" 2>&1
bin=$tmp/use/node_modules/.bin
for program in sbxc sbxrun; do
	tap_is "$program is the one of this tree" \
	    "$("$builddir/$program" --version)" "$("$bin/$program" --version)"
done
tap_empty "the programs need no library" "$(for program in \
    node_modules/sbx-linux-*/bin/sbx[crs]*; do
	ldd "$program" >/dev/null 2>&1 && echo "$program"
done)"
"$bin/sbxc" build -o p.bin @coding
tap_is "sbxc compiles" 0 $?
"$bin/sbxrun" p.bin -- sh -c 'echo in; exit 7' >"$tmp/said"
tap_is "sbxrun hands on what a command says and ends with" "7 in" \
    "$? $(cat "$tmp/said")"
tap_is "sbxrun finds the shipped profiles" "in @coding" \
    "$("$bin/sbxrun" @coding -c 'echo in @coding' 2>&1)"
"$bin/sbxc" build -o hosts.bin @claude
tap_is "sbxrun finds sbx-proxy" "in" "$("$bin/sbxrun" hosts.bin -c 'echo in' \
    2>&1)"
"$bin/sbxrun" --doctor >"$tmp/said" 2>&1
tap_is "sbxrun finds sbxc" 1 "$(grep -c '^good  workspace' "$tmp/said")"
tap_is "npx finds it" "$("$bin/sbxrun" --version)" \
    "$(npx --offline sbxrun --version 2>&1)"
# As a user installs programs for every project, and takes them away again.
npm install --prefix "$tmp/own" -g --offline --no-audit --no-fund --silent \
    "$tmp"/out/*.tgz >"$tmp/err" 2>&1
tap_is "they work from a prefix of the user's" "in" \
    "$("$tmp/own/bin/sbxrun" @workspace-write -c 'echo in' 2>&1)"
npm uninstall --prefix "$tmp/own" -g --silent sbx "$(cd node_modules &&
    echo sbx-linux-*)" \
    >"$tmp/err" 2>&1
tap_empty "and leave nothing" "$(find "$tmp/own" ! -type d)"
rm -r node_modules/sbx-linux-*
"$bin/sbxrun" --version 2>"$tmp/err"
tap_is "without the programs it is refused" "125 1" \
    "$? $(grep -c 'there is no package' "$tmp/err")"
tap_done

#!/bin/sh
# The sandbox profile for macOS says what the model says, as TAP.
#
# Each policy is compiled; sbpl_model.c names places and ports worth asking
# about and says what the model answers, and sbpl/prelude.scm reads the profile
# as macOS would.  What every process needs (tables/sbpl.def) is known to the profile
# alone, which may therefore give more where no rule speaks.
#
# $SBXC is the compiler.  Policies: the shipped profiles, model/sbpl/*.sbx,
# golden/ok/*.sbx.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
sbpl_model=$(realpath "$builddir/tests/model/sbpl_model")
GUILE=${GUILE:-guile}
cd "$srcdir/tests" || exit 99

if ! command -v "$GUILE" >/dev/null; then
	tap_skip "the profile for macOS" "guile is not installed"
	tap_done
	exit
fi

tap_begin
tab=$(printf '\t')

# definitions PROFILE: NAME=VALUE of each parameter, one a line.
definitions()
{
	sed -n 's/^; parameters: //p' "$1" | tr ' ' '\n' >"$tmp/names"
	sed -n "s/^params$tab//p" "$tmp/model" | tr '\t' '\n' >"$tmp/values"
	paste -d= "$tmp/names" "$tmp/values"
}

# ask PROFILE: what prelude.scm answers to the questions of the model.
ask()
{
	definitions "$1" >"$tmp/definitions"
	cut -f 2,3 "$tmp/questions" >"$tmp/asked"
	xargs "$GUILE" --no-auto-compile -s model/sbpl/prelude.scm "$1" "$tmp/asked" \
	    <"$tmp/definitions" 2>&1
}

# compare FILE [SED]: prints where the profile of FILE and the model differ;
# SED damages the profile first.
compare()
{
	if ! "$SBXC" "$1" -o "$tmp/blob.bin" 2>"$tmp/errors" ||
	    ! "$sbpl_model" "$1" >"$tmp/model"; then
		cat "$tmp/errors"
		echo "it does not compile"
		return
	fi
	"$SBXC" dump -O sbpl "$tmp/blob.bin" | sed "${2-}" >"$tmp/profile.sb"
	# A policy that allows everything may say nothing else.
	if grep -q '^(allow default)' "$tmp/profile.sb"; then
		grep -Evx '[(](version 1|allow default)[)]|;.*' \
		    "$tmp/profile.sb"
		return
	fi
	sed 1d "$tmp/model" | LC_ALL=C sort -u >"$tmp/questions"
	ask "$tmp/profile.sb" >"$tmp/answers" || cat "$tmp/answers"
	ask "$tmp/nothing.sb" | cut -f 1 >"$tmp/given"
	[ "$(wc -l <"$tmp/given")" -gt 0 ] || echo "there was nothing to ask"
	paste "$tmp/questions" "$tmp/answers" "$tmp/given" | awk -F '\t' '
	$4 != ($1 == "none" ? $7 : $1) {
		printf "%s %s: model %s, profile %s\n", $2, $3, $1, $4
	}' | head -n 20
}

printf 'sbx 1\nprofile nothing {\n    about "x"\n}\n' >"$tmp/nothing.sbx"
"$SBXC" "$tmp/nothing.sbx" -o "$tmp/nothing.bin" &&
    "$SBXC" dump -O sbpl "$tmp/nothing.bin" >"$tmp/nothing.sb" || exit 99

for file in ../profiles/*.sbx model/sbpl/*.sbx golden/ok/*.sbx; do
	if [ -e "$file" ] && grep -q '^profile ' "$file"; then
		tap_empty "$file" "$(compare "$file")"
	fi
done

# The comparison can fail.
for damage in 's/^(deny file-read/(allow file-read/' 's/(subpath/(literal/' \
    's/require-not (/require-all (/' 's/^(deny file-write/(allow file-write/' \
    's/(in "HOME" /(in "TMP" /'; do
	tap_found "a damaged profile is caught: $damage" \
	    "$(compare model/sbpl/rules.sbx "$damage")"
done
for damage in 's/\[^\/\]\*/.*/' 's/(\/\.\*)?\$"/$"/' 's/regex-quote //'; do
	tap_found "a damaged profile is caught: $damage" \
	    "$(compare model/sbpl/globs.sbx "$damage")"
done
tap_found "a damaged profile is caught: a port" \
    "$(compare model/sbpl/ports.sbx 's/:443/:444/')"
tap_found "a damaged profile is caught: an address" \
    "$(compare golden/ok/loopback.sbx 's/localhost/*/')"
tap_done

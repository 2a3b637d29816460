#!/bin/sh
# The sandbox profile for macOS says what the model says, as TAP.
#
# sbpl/questions.c compiles policies, writes their profiles, and asks about
# places, sockets, ports and names with the answer of the model; sbpl/seatbelt.scm
# reads the profiles as macOS would and tells where they differ.
#
# Policies: the shipped profiles, model/sbpl/*.sbx, golden/ok/*.sbx, and random
# ones.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
questions=$(realpath "$builddir/tests/model/sbpl/questions")
GUILE=${GUILE:-guile}
cd "$srcdir/tests" || exit 99

if ! command -v "$GUILE" >/dev/null; then
	tap_skip "the profile for macOS" "guile is not installed"
	tap_done
	exit
fi

tap_begin
# Compiled it is twenty times as fast.
HOME=$tmp
export HOME
"$GUILE" --no-auto-compile -c '
(use-modules (system base compile))
(compile-file (cadr (command-line)) #:output-file (caddr (command-line)))' \
    model/sbpl/seatbelt.scm "$tmp/seatbelt.go" >/dev/null || exit 99

seatbelt()
{
	"$GUILE" --no-auto-compile -c '
(set-program-arguments (cdr (command-line)))
(load-compiled (car (command-line)))' "$tmp/seatbelt.go" "$@" 2>&1
}

# compare STREAM [SED]: prints where profiles and model differ; SED damages the
# profiles first.
compare()
{
	if [ -n "${2-}" ]; then
		sed "$2" "$1" >"$tmp/damaged"
	else
		ln -sf "$1" "$tmp/damaged"
	fi
	seatbelt --compare "$tmp/damaged" >"$tmp/answers"
	grep -v '^[1-9][0-9]* questions about [1-9][0-9]* profiles, 0 differences$' \
	    "$tmp/answers" || [ -s "$tmp/answers" ] || echo "no answer"
}

# what COMPARED: how much that was.
what()
{
	sed -n 's/, [0-9]* differences$//p' "$tmp/answers"
}

# Of its own policies everything is asked.
files=
for file in ../profiles/*.sbx golden/ok/*.sbx; do
	if grep -q '^profile ' "$file"; then
		files="$files $file"
	fi
done
# shellcheck disable=SC2086 # words
if "$questions" "${SEED:-1}" 100 model/sbpl/*.sbx >"$tmp/few" &&
    "$questions" "${SEED:-1}" "$(tap_rounds 30)" $files >"$tmp/files"; then
	cat "$tmp/few" >>"$tmp/files"
else
	tap_not_ok "each policy compiles"
fi
found=$(compare "$tmp/files")
tap_empty "$(what) of files" "$found"

"$questions" "${SEED:-1}" random "$(tap_rounds 100000)" >"$tmp/random"
found=$(compare "$tmp/random")
tap_empty "$(what) of random policies" "$found"

# What the profile cannot say, `check --target macos` says; and of what it says,
# nothing but what "partly" is.
policy()
{
	printf 'sbx 1\nprofile p {\n    allow write /srv\n    %s\n}\n' "$1" \
	    >"$tmp/p.sbx"
}

# said STATEMENT: all, partly or none of it is in the profile; or two words that
# do not go together.
said()
{
	policy ''
	"$SBXC" build -o "$tmp/p.bin" "$tmp/p.sbx" 2>/dev/null &&
	    "$SBXC" dump -O sbpl "$tmp/p.bin" >"$tmp/without" || return
	policy "$1"
	"$SBXC" build -o "$tmp/p.bin" "$tmp/p.sbx" 2>/dev/null &&
	    "$SBXC" dump -O sbpl "$tmp/p.bin" >"$tmp/with" || return
	"$SBXC" check --target macos -f gcc "$tmp/p.sbx" >"$tmp/told" 2>&1
	text=silent told=silent
	cmp -s "$tmp/without" "$tmp/with" || text=written
	grep -q 'p.sbx:4:.*macos: ' "$tmp/told" && told=told
	case $text,$told in
	written,silent) echo all ;;
	written,told) echo partly ;;
	silent,told) echo none ;;
	*) echo "not in the profile, and nobody says so" ;;
	esac
}

while IFS='|' read -r wanted statement; do
	found=$(said "$statement")
	if [ "$found" = "$wanted" ]; then
		tap_ok "the profile says $wanted of '$statement'"
	else
		tap_not_ok "the profile says $wanted of '$statement'" "$found"
	fi
done <<-'END'
	all|allow read /opt/x
	all|allow write glob "/opt/*/x"
	all|allow exec /opt/x except /opt/x/y
	all|deny write /srv/x
	all|prefer deny read /srv/x
	all|allow network connect tcp 443
	all|allow network listen tcp 8000-8010
	all|allow network full
	all|allow signal anywhere
	all|allow socket /opt/x.sock
	all|deny socket /srv/x.sock
	partly|allow network loopback
	partly|allow network domain example.org
	partly|allow network connect 10.0.0.5:5432
	partly|allow network host tcp 6379
	partly|deny spawn
	none|deny syscalls ptrace
	none|deny env *_TOKEN
	none|set env CI = 1
	none|limit processes 64
	none|limit timeout 60s
	none|watch /srv/.git
END

# The script for those who have a Mac, with a sandbox-exec of ours.
"$SBXC" build -o "$tmp/probe.bin" macos/probe.sbx 2>/dev/null
tap_is "macos/probe.sb is what sbxc dump -O sbpl writes of macos/probe.sbx" \
    "$(cat macos/probe.sb)" "$("$SBXC" dump -O sbpl "$tmp/probe.bin")"
cat >"$tmp/reader" <<-END
	#!/bin/sh
	exec $GUILE --no-auto-compile -c '
	(set-program-arguments (cdr (command-line)))
	(load-compiled (car (command-line)))' $tmp/seatbelt.go "\$@"
END
chmod 755 "$tmp/reader"
SEATBELT=$tmp/reader
export SEATBELT
got=$(TMPDIR=$tmp sh macos/run "$PWD/model/sbpl/sandbox-exec")
tap_is "macos/run finds nothing wrong" 0 "$?"
printf '%s\n' "$got" | grep -v '^ok' | sed 's/^/# /'
sed 's/^(deny file-write-unlink/(allow file-write-unlink/' macos/probe.sb \
    >"$tmp/probe.sb"
got=$(PROBE_TEXT=$tmp/probe.sb TMPDIR=$tmp \
    sh macos/run "$PWD/model/sbpl/sandbox-exec")
tap_is "it finds what is wrong" 1 "$?"
tap_is "and runs nowhere else" '1..0 # SKIP there is no /nowhere' \
    "$(sh macos/run /nowhere)"

# Each of these would be seen.
"$questions" 1 20 model/sbpl/*.sbx golden/ok/loopback.sbx >"$tmp/few"
for damage in 's/^(deny file-read/(allow file-read/' 's/(subpath/(literal/' \
    's/require-not (/require-all (/' 's/^(deny file-write/(allow file-write/' \
    's/(in "HOME" /(in "TMP" /' 's/\[^\/\]\*/.*/' 's/(\/\.\*)?\$"/$"/' \
    's/regex-quote //' 's/:443/:444/' 's/localhost/*/'; do
	tap_found "a damaged profile is caught: $damage" \
	    "$(compare "$tmp/few" "/^allow\|^deny/!$damage")"
done
tap_done

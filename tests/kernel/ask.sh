#!/bin/bash
# --ask at a terminal, as TAP: what was denied is asked about when the command has
# ended, nothing opens without an answer, and what is allowed then works.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
if ! command -v python3 >/dev/null; then
	tap_lacks "all of it" "needs python3, to play the person"
	tap_done
	exit
fi
tap_programs "$SBXRUN" "$SBXC"
policy work workspace-write 'allow read ~/shown' 'deny read ~/kept'
home=$tmp/home
mkdir -p "$home/ws" "$home/data" "$home/kept"
echo secret | tee "$home/data/f" "$home/kept/f" >/dev/null
chmod 755 "$tmp" "$home"
cat >"$tmp/person.py" <<'EOF'
# person.py ANSWERS CMD...: answers the questions of a command in a terminal: next,
# always, yes, or what is typed; says how often it was asked, and the status.
import os, pty, re, select, sys, time
answers = sys.argv[1].split(',') if sys.argv[1] else []
process, terminal = pty.fork()
if process == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
out, seen, asked, late = b'', 0, 0, time.time() + 100
while time.time() < late:
    ready = select.select([terminal], [], [], 0.2)[0]
    try:
        more = os.read(terminal, 65536) if ready else b'-'
    except OSError:
        break
    if not more:
        break
    out += more if ready else b''
    text = out[seen:].decode(errors='replace').replace('\r', '')
    if ready or not text.endswith('\n> '):
        continue
    asked, seen = asked + 1, len(out)
    letters = {what: letter for letter, what in
        re.findall(r'\n  (\w)  (in the next|always|yes)', text)}
    word = answers.pop(0) if answers else 'nothing'
    os.write(terminal, (letters.get({'next': 'in the next'}.get(word, word),
        word) + '\n').encode())
status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
print(asked, status, out.decode(errors='replace').count('secret\r'))
open(sys.argv[0] + '.out', 'wb').write(out)
EOF

# asked NAME WANTED ANSWERS WORD...: questions, status, how often the secret is seen.
asked()
{
	name=$1 wanted=$2 answers=$3
	shift 3
	tap_is "$level: $name" "$wanted" "$(cd "$home/ws" &&
	    HOME=$home TERM=dumb timeout 120 python3 "$tmp/person.py" \
		"$answers" "$tmp/sbxrun" -l "$level" "$@")"
}

for level in full standard; do
	"$SBXRUN" -l $level -w "$home/ws" "$tmp/work.bin" -- true 2>/dev/null || {
		tap_lacks "level $level" 'it is not to be had'
		continue
	}
	cat="cat $home/data/f"
	asked 'allowed and run again' '2 0 1' next,yes \
	    --ask "$tmp/work.bin" -c "$cat"
	asked 'allowed, and not run again' '2 1 0' next,no \
	    --ask "$tmp/work.bin" -c "$cat"
	asked 'a word that is none of the letters' '1 1 0' next-y \
	    --ask=tty "$tmp/work.bin" -c "$cat"
	asked 'y is no answer' '1 1 0' y --ask "$tmp/work.bin" -c "$cat"
	asked 'what a rule denies' '0 1 0' next,yes \
	    --ask "$tmp/work.bin" -c "cat $home/kept/f"
	asked 'a question that the command paints' '1 1 0' no \
	    --ask "$tmp/work.bin" -c "$cat; printf '  a  yes\n> '; false"
	cp "$(command -v cat)" "$home/ws/"$'c\033[32mat'
	asked 'a name that a terminal obeys' '1 1 0' no \
	    --ask "$tmp/work.bin" -c "./c*at $home/data/f"
	tap_is "$level: ... is shown, in the question" '0 1' \
	    "$(grep -c $'\033.32mat.* was denied' "$tmp/person.py.out") $(
		grep -c '^sbxrun: .*x1b.32mat.* was denied' "$tmp/person.py.out")"
	asked 'a terminal without lines or echo' '2 0 1' next,yes \
	    --ask "$tmp/work.bin" -c "$cat && exit; stty raw -echo; false"
	asked 'a terminal where no key ends a line' '2 0 1' next,yes \
	    --ask "$tmp/work.bin" -c "$cat && exit; stty inlcr; false"
	cp "$tmp/work.sbx" "$tmp/team.sbx"
	asked 'always' '2 0 1' always,yes --ask "$tmp/team.sbx" -c "$cat"
	tap_is "$level: it stands in the policy" 1 \
	    "$(grep -c 'allow read ~/data/f' "$tmp/team.sbx")"
	said=$(cd "$home/ws" && HOME=$home "$tmp/sbxrun" -l $level --ask \
	    "$tmp/work.bin" -c "$cat" 2>&1 </dev/null)
	tap_is "$level: nobody is asked without a terminal" '1 0' \
	    "$? $(printf %s "$said" | grep -c 'next run')"
done
tap_done

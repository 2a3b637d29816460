#!/bin/bash
# --ask, as TAP: hosts are asked about while the command waits, all else that was
# denied when it has ended; nothing opens without an answer, and what is allowed then
# works.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
builddir=${builddir:-$srcdir/build}
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
tap_programs "$SBXRUN" "$SBXC" "$builddir/sbx-proxy"
policy work workspace-write 'allow read ~/shown' 'deny read ~/kept' \
    'allow network domain example.org' 'deny network domain b.example.net'
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

cat >"$home/ws/net" <<'EOF'
at=${HTTPS_PROXY##*[/@]}
for name; do
	exec 3<>"/dev/tcp/${at%:*}/${at##*:}"
	printf 'CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n' $name $name >&3
	read -r answer <&3
	case $answer in *' 40'[03]' '*) ;; *) echo "got $answer" ;; esac
done
exit 1
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
	# Refused, so that nobody looks a name up.
	asked 'a host, twice, and not again in the end' '1 1 0' no --ask \
	    "$tmp/work.bin" -- bash "$home/ws/net" a.example.net a.example.net
	asked 'a command that writes on' '1 1 0' no --ask "$tmp/work.bin" -c \
	    'while sleep 0.01; do echo paint; done & bash net a.example.net'
	asked 'a host that a rule denies' '0 1 0' '' --ask \
	    "$tmp/work.bin" -- bash "$home/ws/net" b.example.net
	asked 'addresses and words, in the end alone' '3 1 0' no,no,no --ask \
	    "$tmp/work.bin" -- bash "$home/ws/net" 11.22.33.44 localhost host
	tap_is "$level: ... as another thing that was denied" 0 \
	    "$(grep -c 'the command waits for' "$tmp/person.py.out")"
	cp /bin/true "$home/ws/program"
	tap_is "$level: no program that a command can write" 1 "$(
		cd "$home/ws" && HOME=$home "$tmp/sbxrun" -l $level \
		    --ask=./program "$tmp/work.bin" -- echo started 2>&1 |
		    grep -c 'a command might write this program\|started')"
	if [ "$(id -u)" -ne 0 ]; then
		tap_is "$level: a program that says nothing" 1 "$(
			cd "$home/ws" && HOME=$home "$tmp/sbxrun" -l $level \
			    --ask=/usr/bin/true "$tmp/work.bin" -- bash \
			    net a.example.net 2>&1 | grep -c '(no answer)')"
	fi
	said=$(cd "$home/ws" && HOME=$home "$tmp/sbxrun" -l $level --ask \
	    "$tmp/work.bin" -c "$cat" 2>&1 </dev/null)
	tap_is "$level: nobody is asked without a terminal" '1 0' \
	    "$? $(printf %s "$said" | grep -c 'next run')"
done
tap_done

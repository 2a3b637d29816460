#!/bin/sh
# The stack of sbxrun as it is shipped, a static program: how much it takes at
# most, and that nothing in it has no bound.  See stack.py, which is also run on
# programs that have what it looks for.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin
stack() { python3 "$srcdir/tests/meta/stack.py" "$1" >"$tmp/said" 2>&1; }

if [ "$(uname -m)" != x86_64 ]; then
	tap_skip "the stack of sbxrun" "this reads the code of x86_64"
elif readelf -lW "$SBXRUN" | grep -q INTERP; then
	tap_skip "the stack of sbxrun" "it is not a static program in this build"
elif stack "$SBXRUN"; then
	tap_ok "the stack of sbxrun: $(sed -n 's/^_start: \([^,]*\),.*/\1/p' \
	    "$tmp/said")"
else
	tap_not_ok "the stack of sbxrun" "$(cat "$tmp/said")"
fi

# noticed WHAT MESSAGE: a program with the code of stdin is refused for that.
noticed()
{
	cat >"$tmp/wrong.c"
	if ! ${CC:-cc} -O1 -fno-stack-protector -nostdlib -static -no-pie \
	    -o "$tmp/wrong" "$tmp/wrong.c" 2>"$tmp/said"; then
		tap_not_ok "$1" "$(cat "$tmp/said")"
		return
	fi
	stack "$tmp/wrong"
	if grep -q "$2" "$tmp/said"; then
		tap_ok "$1 is noticed"
	else
		tap_not_ok "$1 is noticed" "$(head -n 20 "$tmp/said")"
	fi
}

if [ "$(uname -m)" = x86_64 ]; then
	noticed "a function that calls itself" "fault: recursion: deeper" <<'EOF'
__attribute__((noipa)) int deeper(int n) { return n ? deeper(n / 2) + n : 0; }
void _start(void) { deeper(8); }
EOF
	noticed "an array of variable size" "fault: sized: .*rsp" <<'EOF'
__attribute__((noipa)) void use(char *bytes) { bytes[0] = 1; }
__attribute__((noipa)) int sized(int n) { char a[n]; use(a); return a[0]; }
void _start(void) { sized(8); }
EOF
	noticed "a frame that is too large" "fault: _start needs more" <<'EOF'
__attribute__((noipa)) void use(char *bytes) { bytes[0] = 1; }
void _start(void) { char a[1 << 20]; use(a); }
EOF
	noticed "a pointer without a row" "fault: choose calls through" <<'EOF'
__attribute__((noipa)) int choose(int (*how)(void)) { return how() + 1; }
static int one(void) { return 1; }
void _start(void) { choose(one); }
EOF
	noticed "an address in no row" "fault: the address of one is" <<'EOF'
__attribute__((noipa)) int choose(int (*how)(void)) { return how() + 1; }
static int one(void) { return 1; }
void _start(void) { choose(one); }
EOF
fi
tap_done

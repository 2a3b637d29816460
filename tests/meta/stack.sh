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

# stack_of FLAG...: the stack of a program with the code of stdin.
stack_of()
{
	cat >"$tmp/wrong.c"
	${CC:-cc} -O1 -fno-stack-protector -nostdlib -static -no-pie "$@" \
	    -o "$tmp/wrong" "$tmp/wrong.c" >"$tmp/said" 2>&1 &&
	    stack "$tmp/wrong"
}

# noticed WHAT MESSAGE FLAG...: a program is refused for that.
noticed()
{
	noticed_what=$1 noticed_message=$2
	shift 2
	stack_of "$@"
	if grep -q "$noticed_message" "$tmp/said"; then
		tap_ok "$noticed_what is noticed"
	else
		tap_not_ok "$noticed_what is noticed" "$(head -n 20 "$tmp/said")"
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
	lies='-Wl,--section-start=.lies=0x442d00'
	noticed "an address in a table" "fault: the address of one is" "$lies" <<'EOF'
__attribute__((section(".lies"))) int one(void) { return 1; }
__attribute__((noipa)) int read(int (*const *how)(void)) { return !*how; }
static int (*const table[])(void) = { one, 0 };
void _start(void) { read(table); }
EOF
	stack_of "$lies" <<'EOF'
__attribute__((section(".lies"))) int one(void) { return 1; }
__attribute__((noipa)) int read(const char *text) { return *text; }
static const char text[] __attribute__((aligned(8))) = "\0-D\0\0\0\0";
void _start(void) { read(text + 1); }
EOF
	if grep -q '^_start: ' "$tmp/said" && ! grep -q address "$tmp/said"; then
		tap_ok "text that reads like an address is none"
	else
		tap_not_ok "text that reads like an address is none" \
		    "$(head -n 20 "$tmp/said")"
	fi
fi
tap_done

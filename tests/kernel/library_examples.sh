#!/bin/sh
# The examples of libsbx: in C against what is installed, shared and static, and
# as C++; in Python; in Node.  And what the library shows to who links it.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/examples.sh
. "$srcdir/tests/lib/examples.sh"
agent=$srcdir/examples/agent

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
shared=$(find "$builddir" -maxdepth 1 -name 'libsbx.so.*' | sort | tail -n 1)
mkdir "$tmp/workspace" "$tmp/library"
tap_programs "$SBXRUN"
SBXRUN=$tmp/sbxrun
export SBXRUN

# --- symbols ---------------------------------------------------------------

exported()
{
	sed -n 's/^	\(sbx_[a-z_]*\);$/\1/p' "$srcdir/runtime/library/libsbx.map"
}

declared()
{
	sed -n 's/.*[ *]\(sbx_[a-z_]*\)(.*/\1/p' "$srcdir/runtime/library/sbx.h" |
	    grep -vx sbx_close_ | sort -u
}

# ends_program NM-LINES: calls that a library has no business with.
ends_program()
{
	grep -E ' U (_?exit|_Exit|abort|v?f?printf|puts|perror|std(out|err)|signal|sigaction|setenv|putenv)(@|$)'
}

tap_is "sbx.h declares what the library exports" "$(exported)" \
    "$(declared)"
tap_is "the shared library exports that, with a version" \
    "$(exported | sed 's/$/@@SBX_1.0/')" \
    "$(nm -D --defined-only "$shared" | awk '$2 == "T" { print $3 }' | sort)"
tap_is "and so does the archive" "$(exported)" \
    "$(nm "$builddir/libsbx.a" | awk '$2 ~ /^[A-Z]$/ && $1 ~ /^[0-9a-f]/ \
	{ print $3 }' | grep -v '^__odr_asan' | sort)"
tap_empty "nothing in it ends a program or writes" \
    "$(nm -D -u "$shared" | grep -v asan | ends_program)"
tap_found "nothing in it ends a program: the check can fail" \
    "$(echo '                 U _exit@GLIBC_2.2.5' | ends_program)"
# What the linker and the start of every library add is not ours.
tap_empty "it has no data that changes" \
    "$(objdump -t "$shared" | grep -v asan |
	awk 'NF > 4 && $(NF - 2) ~ /^\.(data|bss)$/ { print $NF }' |
	grep -vE '^(__dso_handle|completed\.[0-9]+|\.?data|\.bss|_.*)$')"

# --- in C, from outside of the tree ------------------------------------------

page_examples "$srcdir/man/sbx.3" "$tmp/page"
tap_empty "the example of sbx(3) is that of the sources" \
    "$(cat "$tmp"/page/*.file.agent.c | diff - "$agent/agent.c")"
if ! make -s -C "$builddir" install DESTDIR="$tmp/root" >"$tmp/log" 2>&1; then
	tap_not_ok "make install" "$(tail -n 5 "$tmp/log")"
	tap_done
	exit
fi
PKG_CONFIG_PATH=$(dirname "$(find "$tmp/root" -name sbx.pc)")
PKG_CONFIG_SYSROOT_DIR=$tmp/root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
flags=$(pkg-config --cflags --libs sbx)
libdir=$(dirname "$(find "$tmp/root" -name libsbx.a)")
# The path of sbxrun in the library is that of an installation.
sed 's/^#include <stdio.h>/&\n#include <stdlib.h>/
    s/^\toptions.policy = .*/&\n\toptions.sbxrun = getenv("SBXRUN");/' \
    "$agent/agent.c" >"$tmp/agent.c"
printf '%s\n' '#include <sbx.h>' \
    'int main() { return sbx_version()[0] == 0 || sbx_open(nullptr, nullptr); }' \
    >"$tmp/plus.cc"
sanitize=
nm -D "$shared" | grep -q __asan && sanitize=-fsanitize=address,undefined

# compiles NAME COMMAND...
compiles()
{
	name=$1
	shift
	if "$@" 2>"$tmp/log"; then
		tap_ok "$name compiles"
	else
		tap_not_ok "$name compiles" "$(cat "$tmp/log")"
	fi
}

# shellcheck disable=SC2086  # lists
compiles "the example" "${CC:-cc}" $sanitize -D_GNU_SOURCE -Wall -Werror \
    "$agent/agent.c" $flags -o "$tmp/example"
# shellcheck disable=SC2086
compiles "it, shared" "${CC:-cc}" $sanitize -D_GNU_SOURCE "$tmp/agent.c" \
    $flags -o "$tmp/shared"
# shellcheck disable=SC2086
compiles "it, static" "${CC:-cc}" $sanitize -D_GNU_SOURCE "$tmp/agent.c" \
    "-I$(dirname "$(find "$tmp/root" -name sbx.h)")" "$libdir/libsbx.a" -o "$tmp/static"
# shellcheck disable=SC2086
if command -v g++ >/dev/null; then
	compiles "C++" g++ $sanitize -std=c++11 -Wall -Wextra -pedantic -Werror \
	    "$tmp/plus.cc" $flags -o "$tmp/plus"
	tap_is "and runs" 0 "$(LD_LIBRARY_PATH=$libdir "$tmp/plus"; echo $?)"
fi
tap_is "an installed program knows its library by a name with a version" \
    "libsbx.so.0" "$(readelf -d "$tmp/example" |
	sed -n 's/.*NEEDED.*\[\(libsbx.*\)\]/\1/p')"

# --- they run ----------------------------------------------------------------

printf 'sbx 1\nprofile none { allow exec /nonexistent }\n' |
    "$SBXC" - -o "$tmp/none.bin" || exit 99
"$SBXC" "$srcdir/profiles/workspace-write.sbx" -o "$tmp/team.bin" || exit 99
cat >"$tmp/free.sbx" <<'POLICY'
sbx 1
profile free extends workspace-write {
    limit timeout none
    limit output none
    allow network loopback
}
POLICY
"$SBXC" "$tmp/free.sbx" -o "$tmp/free.bin" 2>/dev/null || exit 99
cd "$tmp/workspace" || exit 99
tap_levels full
if [ -z "$levels" ]; then
	tap_done
	exit
fi

for kind in shared static; do
	for policy in team free; do
		# What is written by itself comes at the end.
		tap_is "$kind: $policy" 'one
echo one >/tmp/one: 0
cat /tmp/one: 0
exit 3: 3' "$(LD_LIBRARY_PATH=$libdir "$tmp/$kind" "../$policy.bin" \
		    'echo one >/tmp/one' 'cat /tmp/one' 'exit 3' 2>&1)"
	done
done
tap_is "what sbxrun refuses" \
    'agent: /nonexistent.bin: cannot open the policy: No such file or directory' \
    "$(LD_LIBRARY_PATH=$libdir "$tmp/shared" /nonexistent.bin true 2>&1)"

cat >"$tmp/try.py" <<'EOF_PY'
import errno, os, sys
import sbx
for policy in "../free.bin", "../team.bin":
    with sbx.Sandbox(policy, sbxrun=os.environ["SBXRUN"]) as sandbox:
        assert sandbox.level == "full"
        assert sandbox.run(["sh", "-c", "exit 7"]) == 7
        assert sandbox.run(["sh", "-c", "echo kept >/tmp/kept"]) == 0
        assert sandbox.output(["cat", "/tmp/kept"]) == (b"kept\n", 0)
        if policy == "../team.bin":
            continue
        alone = {"flags": sbx.UNSUPERVISED}
        assert sandbox.run(["sh", "-c", "kill -15 $$"], **alone) == -15
        assert sandbox.run(["true"], cwd="/usr", **alone) == 0
        assert sandbox.output(["env"], env={"A": "b", "X_TOKEN": "c"})[0] \
            .splitlines()[0] == b"A=b"
        try:
            sandbox.run(["nonexistent"], **alone)
        except sbx.SandboxError as error:
            assert error.errno == errno.ENOENT, error
            assert "command not found" in str(error), error
        else:
            assert False
try:
    sbx.Sandbox("/nonexistent.bin", sbxrun=os.environ["SBXRUN"])
except sbx.SandboxError as error:
    assert "cannot open the policy" in str(error), error
else:
    assert False
print("fine")
EOF_PY
if [ -n "$sanitize" ]; then
	tap_skip "Python" "the library is sanitized, and Python is not"
elif ! python3 -c 'import os; os.P_PIDFD' 2>/dev/null; then
	tap_skip "Python" "it is not there, or older than 3.9"
else
	tap_is "Python" fine "$(LIBSBX=$shared PYTHONPATH=$agent \
	    PYTHONDONTWRITEBYTECODE=1 python3 "$tmp/try.py" 2>&1)"
fi
tap_done

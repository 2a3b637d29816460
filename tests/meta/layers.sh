#!/bin/sh
# Which libraries, streams and memory the rooms may use (rooms.sh has the rooms
# themselves); and that no test hides another.  Each check prints the lines that
# break it; each is also run on a small tree that breaks it, so that a check
# which can no longer fail is seen.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
LC_ALL=C

# includes TREE DIR...: every "file:line:#include ..." of the sources there.
includes()
{
	(cd "$1" && shift && grep -rn --include='*.[chly]' \
	    '^[[:space:]]*#[[:space:]]*include' "$@" 2>/dev/null)
}

format_stands_alone()
{
	includes "$1" format |
	    grep -Ev '<(stdbool|stddef|stdint|stdalign|limits)\.h>' |
	    grep -v '"format/'
}

runtime_without_stdio()
{
	includes "$1" runtime | grep -E '<(stdio|seccomp)\.h>' |
	    grep -v '^runtime/shell/[^:]*:[0-9]*:#include <stdio.h>'
}

# one_file_knows HEADER TREE
one_file_knows()
{
	includes "$2" compiler grammar runtime format | grep -F "<$1>" |
	    awk -F: '!($1 in seen) { seen[$1]; n++; text = text $0 "\n" }
		END { if (n != 1) printf "%d files:\n%s", n, text }'
}

one_file_knows_libseccomp()
{
	one_file_knows seccomp.h "$1"
}

one_file_knows_jansson()
{
	one_file_knows jansson.h "$1"
}

one_file_knows_libyaml()
{
	one_file_knows yaml.h "$1"
}

# diag_print.c renders, and whoever has diagnostics may tell it where to.  The others
# speak when there is nothing to render: no memory, a bug of ours, a command
# line.  What bison and flex made is in the tree if it was built there.
few_files_print_to_stderr()
{
	(cd "$1" && grep -rnw --include='*.[chly]' stderr compiler grammar \
	    format) |
	    grep -Ev '^grammar/(policy|scan)\.[ch]:' |
	    grep -v -e 'diags_print(' -e '"/dev/stderr"' |
	    grep -Ev '^compiler/(base/arena|base/bug|base/complain|command/main)\.c:'
}

# Prints the place of each action of more than three lines.
short_actions()
{
	[ -f "$1/grammar/policy.y" ] || return 0
	awk '
	/^%%/ { part++; next }
	part != 1 { next }
	{
		line = $0
		gsub(/\047[^\047]*\047|"[^"]*"|\/\*.*\*\//, "", line)
		text = line
		gsub(/[ \t{}]/, "", text)
		if (depth > 0 && text != "")
			lines++
		for (i = 1; i <= length(line); i++) {
			c = substr(line, i, 1)
			if (c == "{" && depth++ == 0) {
				start = NR
				lines = text != "" && substr(line, i + 1) ~ \
				    /[^ \t}]/
			}
			if (c == "}" && --depth == 0 && lines > 3)
				print "grammar/policy.y:" start ": an " \
				    "action of " lines " lines"
		}
	}' "$1/grammar/policy.y"
}

# Automake calls a log after its test without the extension: of a.sh and the
# program a only one would be run.
one_log_a_test()
{
	cat "$1"/tests/*/local.mk | awk '
	/^(test|slow|static|kernel)_(programs|scripts) \+?= / {
		inside = 1
		sub(/^.*= /, "")
	}
	inside { sub(/\.(sh|bats)$/, "", $1); print $1 }
	!/\\$/ { inside = 0 }' | grep -v '^\\$' | sort | uniq -d
}

# Of two headers with one guard the second would be left out without a word.
one_guard_a_header()
{
	(cd "$1" && find compiler grammar runtime format tests -name '*.h' \
	    -exec awk '/^#ifndef SBX_/ { print $2; nextfile }' {} +) |
	    sort | uniq -d
}

# What the loader may not link: memory that grows, standard streams, the
# environment's say in what happens, save for what $HOME, $PATH and
# $SSH_AUTH_SOCK mean, and for what --explain leaves out of $OLDPWD.
heap_or_stdio()
{
	nm -A -u "$@" 2>&1 |
	    grep -Ev 'sbxrun-(anchors|environment|execute|explained|git_includes|project|registries|scratch|sockets|tripwire)\.o: +U getenv$' |
	    grep -E ' U (m|c|re)alloc$| U (free|str(n)?dup|(v)?(f|d|s|sn|as)?printf|fopen|fdopen|fputs|fputc|puts|putchar|perror|(secure_)?getenv|system|popen|dlopen|setlocale|qsort|exit|atexit|err|errx|warn|warnx|getpw[a-z]*|pthread_[a-z_]*)$'
}

# --- the tree that breaks every rule ---------------------------------------

tap_begin
bad=$tmp
mkdir "$bad/format" "$bad/runtime" "$bad/compiler" "$bad/grammar"
mkdir -p "$bad/tests/unit"
printf '%s\n' 'test_programs += \' '	tests/unit/a' \
    'static_scripts += tests/unit/a.sh' >"$bad/tests/unit/local.mk"
echo '#include "compiler/base/arena.h"' >"$bad/format/bad.c"
echo '# include <stdio.h>' >"$bad/format/bad.h"
echo '#include "compiler/policy/policy.h"' >"$bad/runtime/bad.c"
echo '#include <stdio.h>' >"$bad/runtime/bad.h"
printf '%s\n' '#include "runtime/base/out.h"' '#include <seccomp.h>' \
    'fputs("x", stderr);' >"$bad/compiler/one.c"
echo '#include <seccomp.h>' >"$bad/compiler/two.c"
cat >"$bad/grammar/policy.y" <<'EOF'
%%
a: b { one(); }
 | c {
	one();
	two();
	three();
	four();
   }
EOF
printf '#ifndef SBX_A_H\n' | tee "$bad/format/a.h" >"$bad/runtime/a.h"
cat >"$bad/heap.c" <<'EOF'
#include <stdlib.h>
void *f(void);
void *f(void) { return malloc(1); }
EOF

check()
{
	tap_empty "$2" "$($1 "$srcdir")"
	tap_found "$2: the check can fail" "$($1 "$bad")"
}

check format_stands_alone "format/ includes only itself and language headers"
check runtime_without_stdio "runtime/ but shell/ includes no stdio, and no seccomp.h"
check one_file_knows_libseccomp "one file includes <seccomp.h>"
check one_file_knows_jansson "one file includes <jansson.h>"
check one_file_knows_libyaml "one file includes <yaml.h>"
check few_files_print_to_stderr "few files print to stderr"
check short_actions "a grammar action has at most three lines"
check one_log_a_test "no two tests have one log"
check one_guard_a_header "no two headers have one guard"

# Not those of sbxrun-test, which asks the environment what to pretend.
objects=$(find "$builddir/runtime" "$builddir/format" -name 'sbxrun-*.o' \
    2>/dev/null)
if [ -z "$objects" ]; then
	tap_skip "the loader has no heap and no stdio" "nothing is built"
else
	# shellcheck disable=SC2086  # a list
	tap_empty "the loader has no heap and no stdio" \
	    "$(heap_or_stdio $objects)"
fi
if ${CC:-cc} -c "$bad/heap.c" -o "$bad/heap.o" 2>/dev/null; then
	tap_found "the loader has no heap and no stdio: the check can fail" \
	    "$(heap_or_stdio "$bad/heap.o")"
else
	tap_skip "the loader has no heap and no stdio: the check can fail" \
	    "no compiler"
fi

tap_done

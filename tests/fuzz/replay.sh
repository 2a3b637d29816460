#!/bin/sh
# The corpus of each fuzzer, replayed: fuzz_NAME.c gets the files of NAME/.
# What a fuzzer found once stays here, so that it is not found again.
#
# To fuzz: clang -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -I. -Ibuild \
#	tests/fuzz/fuzz_NAME.c build/libcompiler.a build/libformat.a \
#	-lseccomp -lyaml -ljansson

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

cd "$srcdir/tests/fuzz" || exit 99
tap_begin
log=$tmp/log
for fuzzer in fuzz_*.c; do
	fuzzer=${fuzzer%.c}
	for file in "${fuzzer#fuzz_}"/*; do
		if "$builddir/tests/fuzz/$fuzzer" "$file" >"$log" 2>&1; then
			tap_ok "$fuzzer $file"
		else
			tap_not_ok "$fuzzer $file" "$(tail -n 20 "$log")"
		fi
	done
done
tap_done

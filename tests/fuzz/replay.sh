#!/bin/sh
# The corpus of each fuzzer, replayed: fuzz_NAME.c gets the files of NAME/.
# What a fuzzer found once stays here, so that it is not found again.
# To fuzz: make fuzz.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

cd "$srcdir/tests/fuzz" || exit 99
tap_begin
log=$tmp/log
# Blobs of another format are refused at the first look, and try nothing.
if "$builddir/sbxc" dump blob/good.blob >"$log" 2>&1; then
	tap_ok "the corpus of blobs has this format"
else
	tap_not_ok "the corpus of blobs has this format" "$(tail -n 20 "$log")"
fi
for fuzzer in fuzz_*.c; do
	fuzzer=${fuzzer%.c}
	set -- "${fuzzer#fuzz_}"/*
	# Without OpenSSL there is none for what it is linked to.
	[ -x "$builddir/tests/fuzz/$fuzzer" ] || continue
	if "$builddir/tests/fuzz/$fuzzer" "$@" >"$log" 2>&1; then
		for file; do
			tap_ok "$fuzzer $file"
		done
		continue
	fi
	# One of them ended it.
	for file; do
		if "$builddir/tests/fuzz/$fuzzer" "$file" >"$log" 2>&1; then
			tap_ok "$fuzzer $file"
		else
			tap_not_ok "$fuzzer $file" "$(tail -n 20 "$log")"
		fi
	done
done
tap_done

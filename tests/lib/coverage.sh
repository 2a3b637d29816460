#!/bin/sh
# make coverage: which lines and branches of format/ and runtime/ the tests have
# reached, a room a line, of the counts in the directory `counts` of a build that
# was configured with --enable-coverage.
#
# Usage: coverage.sh open BUILD | report BUILD.  `open` makes the directory, and
# the file of each program for every user.  `report` also leaves the figure of
# each file in BUILD/coverage.txt, the branches that nothing reached in
# BUILD/unreached.txt and the sources with their counts in BUILD/coverage/.

set -eu
srcdir=${srcdir:?}
command=$1 build=$(cd "$2" && pwd)

# A test program counts the parts that it alone reaches.  Those with a switch of
# their own stand first: of a function that is compiled twice in two ways the
# first one counts.
programs()
{
	(
		cd "$build"
		ls sbxrun-test sbxsh-test sbxrun sbxsh sbx-proxy sbxc \
		    libsbx.so.?.*
		find tests -type f -perm -u+x ! -name '*.*'
	)
}

is_counting()
{
	objdump -h "$1" 2>/dev/null | grep -q __llvm_prf_cnts
}

open_counts()
{
	rm -rf "$build/counts"
	mkdir -p "$build/counts"
	for program in sbxrun-test sbxsh-test sbxrun sbxsh sbx-proxy sbxc; do
		"$build/$program" --version </dev/null >"$build/counts.log" 2>&1 ||
		    true
	done
	chmod 1777 "$build/counts"
	chmod 666 "$build/counts"/*
}

report()
{
	cd "$build"
	llvm-profdata merge -sparse -failure-mode=all -o counts.data \
	    counts/*.profraw 2>counts.log
	set --
	for program in $(programs); do
		if is_counting "$program"; then
			set -- "$@" -object "$program"
		fi
	done
	shift
	first=$1
	shift
	llvm-cov export "$first" "$@" -instr-profile=counts.data \
	    2>>counts.log | python3 "$srcdir/tests/lib/coverage.py" "$srcdir" .
	llvm-cov show "$first" "$@" -instr-profile=counts.data \
	    -show-branches=count -output-dir=coverage \
	    "$srcdir/format" "$srcdir/runtime" >/dev/null 2>>counts.log
}

case $command in
open) open_counts ;;
report) report ;;
esac

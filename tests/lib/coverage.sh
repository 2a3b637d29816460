#!/bin/sh
# make coverage: which lines and branches of format/ and runtime/ the tests have
# reached, a room a line, of the counts in the directory `counts` of a build that
# was configured with --enable-coverage.
#
# Usage: coverage.sh open BUILD | report BUILD.  `open` makes the directory, and
# the file of each program for every user.  `report` also leaves the figure of
# each file in BUILD/coverage.txt and the sources with their counts in
# BUILD/coverage/.

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

# Stdin is what `llvm-cov export` says: a line a room, then one in all.
rooms()
{
	python3 -c '
import json, os, sys
top = os.path.realpath(sys.argv[1]) + "/"
rooms, files = {}, []
for entry in json.load(sys.stdin)["data"][0]["files"]:
    name = os.path.realpath(entry["filename"])
    if not name.startswith((top + "format/", top + "runtime/")):
        continue
    name = name[len(top):]
    figures = [entry["summary"][kind][part] for kind in ("lines", "branches")
               for part in ("covered", "count")]
    files.append((name, figures))
    for room in (os.path.dirname(name), name.split("/")[0], "in all"):
        sums = rooms.setdefault(room, [0, 0, 0, 0])
        rooms[room] = [a + b for a, b in zip(sums, figures)]

def show(name, figures, out):
    parts = []
    for covered, count in (figures[:2], figures[2:]):
        share = 100 * covered / count if count else 100
        parts.append("%6d of %6d %5.1f%%" % (covered, count, share))
    print("%-30s %s   %s" % (name, parts[0], parts[1]), file=out)

with open(sys.argv[2], "w") as out:
    for name, figures in sorted(files):
        show(name, figures, out)
print("%-30s %s" % ("", "lines                    branches"))
for name in sorted(rooms, key=lambda name: (name == "in all", name)):
    show(name, rooms[name], sys.stdout)
' "$srcdir" "$build/coverage.txt"
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
	llvm-cov export "$first" "$@" -instr-profile=counts.data -summary-only \
	    2>>counts.log | rooms
	llvm-cov show "$first" "$@" -instr-profile=counts.data \
	    -show-branches=count -output-dir=coverage \
	    "$srcdir/format" "$srcdir/runtime" >/dev/null 2>>counts.log
}

case $command in
open) open_counts ;;
report) report ;;
esac

#!/bin/sh
# usage: summary.sh BUILDDIR
# What the tests of a build came to, from the .trs files: one line a test
# program, then the sums.  `passed N failed N skipped N` on the last line.

set -u
cd "$1" || exit 2
find tests -name '*.trs' | LC_ALL=C sort | LC_ALL=C xargs awk '
	FNR == 1 {
		if (name) show()
		name = FILENAME
		sub(/\.trs$/, "", name)
		pass = fail = skip = error = 0
	}
	/^:test-result: (PASS|XFAIL)/ { pass++ }
	/^:test-result: (FAIL|XPASS)/ { fail++ }
	/^:test-result: ERROR/ { error++ }
	/^:test-result: SKIP/ { skip++ }
	function show() {
		# A program with failing cases also ends with a status.
		if (!fail) fail = error
		printf "  %-28s %5d passed", name, pass
		if (fail) printf "  %d FAILED", fail
		if (skip) printf "  %d skipped", skip
		print ""
		passed += pass; failed += fail; skipped += skip
	}
	END {
		if (name) show()
		printf "passed %d failed %d skipped %d\n", \
		    passed, failed, skipped
	}' /dev/null

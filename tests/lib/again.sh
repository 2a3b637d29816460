# shellcheck shell=sh
# Sourced by .ci/run.  Test programs that failed beside others are run again,
# alone: a build's programs share a machine with each other and with whatever
# else runs there, and one that did not get its turn may have failed for that.

# again_failed TRS: whether the program of this file with results failed.
again_failed()
{
	grep -qE '^:test-result: (FAIL|XPASS|ERROR)' "$1"
}

# again_alone TRS LOG COMMAND...: whether the program passes three times;
# $again_attempt is the last one.
again_alone()
{
	again_trs=$1 again_log=$2
	shift 2
	for again_attempt in 1 2 3; do
		rm -f "$again_trs"
		"$@" "TEST_LOGS=$again_log" >/dev/null 2>&1 </dev/null &&
			[ -f "$again_trs" ] && ! again_failed "$again_trs" ||
			return 1
	done
}

# again BUILDDIR COMMAND...: runs `COMMAND... TEST_LOGS=NAME.log` for each test
# program that failed, three times or until it fails once more, and prints a line
# for each.  The last results are what summary.sh counts then.  No more than ten
# programs are run again, and none is begun after five minutes.
again()
{
	again_dir=$1 again_left=10 again_until=$(($(date +%s) + 300))
	shift
	find "$again_dir/tests" -name '*.trs' | LC_ALL=C sort |
	    while read -r again_one; do
		again_failed "$again_one" || continue
		again_name=${again_one#"$again_dir/"} again_name=${again_name%.trs}
		if [ $again_left -eq 0 ] ||
		    [ "$(date +%s)" -ge $again_until ]; then
			echo "$again_name: failed beside others; too many did to run it again"
			continue
		fi
		again_left=$((again_left - 1))
		cp "$again_one" "$again_one.first"
		if again_alone "$again_one" "$again_name.log" "$@"; then
			echo "$again_name: failed beside others, then passed 3 times of 3 alone"
		else
			echo "$again_name: failed beside others, and alone (time $again_attempt of 3)"
			# Whatever went wrong, it did not pass.
			[ -f "$again_one" ] && again_failed "$again_one" ||
				cp "$again_one.first" "$again_one"
		fi
		rm -f "$again_one.first"
	done
}

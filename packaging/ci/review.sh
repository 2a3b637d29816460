#!/bin/sh
# Reviews the policies of a repository in CI: check, test, compare with the base.
#
#	review.sh [-b REF] [-e widen|any|never] [-f FORMAT] [-r DIR] [FILE...]
#
# FILEs are policies (*.sbx, and *.yaml or *.json that are one) and test files
# (*.test.yaml); without any, all *.sbx and *.test.yaml that git tracks.
# A blob beside a policy, NAME.bin beside NAME.sbx, must be what it compiles to.
#
#	-b REF     the commit to compare with; without it nothing is compared
#	-e WHEN    what a difference must be to fail: wider (the default), any, or
#	           it never does
#	-f FORMAT  text or github (annotations)
#	-r DIR     write check.xml and test.xml, JUnit reports, to DIR
#
# $GITHUB_STEP_SUMMARY gets the differences as a table.  $SBXC is the compiler.
# Ends with 0, 1 if a policy is at fault or got wider, 2 if called wrongly, 3
# if it could not work.
set -u

sbxc=${SBXC:-sbxc} base='' fail=widen format=text reports='' worst=0

while getopts b:e:f:r: option; do
	case $option in
	b) base=$OPTARG ;;
	e) fail=$OPTARG ;;
	f) format=$OPTARG ;;
	r) reports=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
case $format-$fail in
text-widen | text-any | text-never | github-widen | github-any | github-never) ;;
*)
	echo "review.sh: -f is text or github, -e is widen, any or never" >&2
	exit 2
	;;
esac

work=$(mktemp -d) || exit 3
trap 'git worktree remove --force "$work/base" >/dev/null 2>&1
	rm -rf "$work"' EXIT
trap 'exit 3' HUP INT TERM

# run COMMAND...: remembers the worst status.
run()
{
	"$@"
	status=$?
	[ $status -le "$worst" ] || worst=$status
	return $status
}

# Names with a newline in them are nobody's policy.
if [ $# -gt 0 ]; then
	printf '%s\n' "$@"
else
	git ls-files -- '*.sbx' '*.test.yaml' || exit 3
fi >"$work/files"
grep '\.test\.yaml$' "$work/files" >"$work/tests"
grep -v '\.test\.yaml$' "$work/files" >"$work/policies"

# each LIST COMMAND...: with all names of the list behind it.
each()
{
	list=$1
	shift
	while IFS= read -r name; do
		set -- "$@" "$name"
	done <"$list"
	"$@"
}

if [ -s "$work/policies" ]; then
	run each "$work/policies" "$sbxc" check -f "$format"
	[ -z "$reports" ] ||
	    each "$work/policies" "$sbxc" check -f junit >"$reports/check.xml"
fi
while IFS= read -r policy; do
	blob=${policy%.*}.bin
	[ ! -e "$blob" ] || run "$sbxc" build --verify "$blob" "$policy"
done <"$work/policies"

if [ -s "$work/tests" ]; then
	run each "$work/tests" "$sbxc" test
	[ -z "$reports" ] ||
	    each "$work/tests" "$sbxc" test -f junit >"$reports/test.xml"
fi

# A tree of its own, since a policy includes other files.
[ -z "$base" ] || run git worktree add --quiet --detach "$work/base" "$base" ||
    exit 3

compare()
{
	if [ ! -e "$work/base/$1" ]; then
		echo "$1: new, there is nothing to compare it with"
		return
	fi
	if [ "$fail" = never ]; then
		run "$sbxc" diff -f "$format" "$work/base/$1" "$1"
	else
		run "$sbxc" diff -f "$format" --fail-on "$fail" \
		    "$work/base/$1" "$1"
	fi
	[ -z "${GITHUB_STEP_SUMMARY:-}" ] ||
	    "$sbxc" diff -f markdown "$work/base/$1" "$1" \
		>>"$GITHUB_STEP_SUMMARY"
}

if [ -n "$base" ]; then
	while IFS= read -r policy; do
		compare "$policy"
	done <"$work/policies"
fi
exit "$worst"

#!/bin/sh
# Reviews the policies of a repository in CI: check, test, compare with the base.
#
#	review.sh [-a] [-b REF] [-e widen|any|never] [-f FORMAT] [-r DIR] [FILE...]
#
# FILEs are policies (*.sbx, and *.yaml or *.json that are one) and test files
# (*.test.yaml); without any, all *.sbx and *.test.yaml of the repository.
# A blob beside a policy, NAME.bin beside NAME.sbx, must be what it compiles to.
#
#	-b REF     the commit to compare with; without it nothing is compared
#	-e WHEN    what a difference must be to fail: widen (the default), any, or
#	           it never does
#	-a         accept policies that the base does not have; they fail
#	           otherwise, since all that they allow is new
#	-f FORMAT  text or github (annotations)
#	-r DIR     write check.xml and test.xml, JUnit reports, to DIR, and a page
#	           of each policy that changed, for a browser
#
# $GITHUB_STEP_SUMMARY gets the differences as a table.  $SBXC is the compiler.
# Ends with 0, 1 if a policy is at fault, new or wider, 2 if called wrongly or
# there is nothing to review, 3 if it could not work.
set -u

sbxc=${SBXC:-sbxc} base='' fail=widen format=text reports='' accept='' worst=0
unknown='' new='' wider=''

while getopts ab:e:f:r: option; do
	case $option in
	a) accept=1 ;;
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
[ -z "$reports" ] || mkdir -p "$reports" || exit 3

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

# Names with a newline in them are nobody's policy.  A name that would be an
# option, or a shipped profile, gets its directory.
if [ $# -gt 0 ]; then
	printf '%s\n' "$@"
else
	case $reports in /*) ;; ?*) reports=$PWD/$reports ;; esac
	top=$(git rev-parse --show-toplevel) && cd "$top" || exit 3
	git ls-files -- '*.sbx' '*.test.yaml' || exit 3
fi >"$work/names"
sed 's,^[-@],./&,' "$work/names" >"$work/files"
if [ ! -s "$work/files" ]; then
	echo "review.sh: no policies: git tracks no *.sbx" >&2
	exit 2
fi
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
[ -z "$base" ] ||
    run git worktree add --quiet --detach -- "$work/base" "$base" || exit 3

# Prints what a file was called in the base: git sees that it was renamed.
name_in_base()
{
	if [ -e "$work/base/$1" ]; then
		printf '%s\n' "$1"
	else
		git diff --find-renames=30% --diff-filter=R --name-status \
		    "$base" -- | awk -F '\t' -v name="$1" '$3 == name { print $2 }'
	fi
}

new_policy()
{
	if [ "$format" = github ]; then
		echo "::warning file=$1::a new policy: all that it allows is new"
	else
		echo "$1: a new policy: all that it allows is new"
	fi
	new="$new, $1"
	[ -n "$accept" ] || [ "$fail" = never ]
}

compare()
{
	old=$(name_in_base "$1")
	if [ -z "$old" ]; then
		run new_policy "$1"
		return
	fi
	if [ "$fail" = never ]; then
		run "$sbxc" diff -f "$format" "$work/base/$old" "$1"
	else
		run "$sbxc" diff -f "$format" --fail-on "$fail" \
		    "$work/base/$old" "$1"
	fi
	name=$1
	set -- "$work/base/$old" "$1"
	[ "$fail" = never ] || set -- --fail-on "$fail" "$@"
	"$sbxc" diff -f markdown "$@" >"$work/table" 2>/dev/null
	if [ -n "$reports" ] && grep -q '^|' "$work/table"; then
		"$sbxc" diff --html "$@" \
		    >"$reports/$(printf '%s' "$name" | tr / -).html" 2>/dev/null
	fi
	# Without a headline there were errors, and it may let through anything.
	if ! grep -q '^### ' "$work/table"; then
		unknown="$unknown, $name"
		return
	fi
	grep -q '^|' "$work/table" || return
	if grep -q '^### .*: [1-9][0-9]* wider\|^### .*maybe' "$work/table"; then
		wider="$wider, $name"
	fi
	echo >>"$work/tables"
	cat "$work/table" >>"$work/tables"
}

# What a person in a hurry has to know comes first.
summary()
{
	[ -z "$unknown" ] ||
	    echo "**Not compared**, since there are errors: ${unknown#, }"
	[ -z "$new" ] || echo "**New**, so all that it allows is new: ${new#, }"
	[ -z "$wider" ] || echo "**Lets through more than before:** ${wider#, }"
	if [ -s "$work/tables" ]; then
		[ -n "$wider" ] ||
		    echo 'Nothing lets through more than before; but it changed:'
		cat "$work/tables"
	elif [ -z "$unknown$new" ]; then
		echo 'The policies let through what they did before.'
	fi
}

if [ -n "$base" ]; then
	while IFS= read -r policy; do
		compare "$policy"
	done <"$work/policies"
	[ -z "${GITHUB_STEP_SUMMARY:-}" ] || summary >>"$GITHUB_STEP_SUMMARY"
fi
exit "$worst"

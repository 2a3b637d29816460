# What other people's CI runs: the hooks of pre-commit, the steps of the action,
# the job for GitLab, each as its host would run it, on the example repository.

bats_require_minimum_version 1.5.0

setup() {
	export SBXC SBXRUN srcdir LC_ALL=C.UTF-8
	PATH=$(dirname "$SBXC"):$PATH
	export HOME=$BATS_TEST_TMPDIR/home GIT_CONFIG_NOSYSTEM=1
	export PRE_COMMIT_HOME=$HOME/pre-commit
	mkdir "$HOME"
	git config --global user.name Ada
	git config --global user.email ada@example.invalid
	git config --global init.defaultBranch main
	git config --global advice.detachedHead false
	cp -R "$srcdir/examples/node-app" "$BATS_TEST_TMPDIR/example"
	chmod -R u+w "$BATS_TEST_TMPDIR/example"
	make -s -C "$BATS_TEST_TMPDIR/example"
	repository "$BATS_TEST_TMPDIR/example" "$BATS_TEST_TMPDIR/app"
	cd "$BATS_TEST_TMPDIR/app"
}

# repository FROM TO: a copy with one commit.
repository() {
	cp -R "$1" "$2"
	chmod -R u+w "$2"
	git -C "$2" init -q
	git -C "$2" add -A
	git -C "$2" commit -q -m "Begin"
}

# Adds a rule to the policy, compiles it, and commits both.
change() {
	sed -i "s|^    set env CI = 1|&\n    $1|" sandbox/app.sbx
	sbxc build -o sandbox/app.bin sandbox/app.sbx
	git commit -q -a -m "Change the policy"
}

# The commands of the step with that name in action.yml.
action_step() {
	awk -v name="$1" '
	/^    - name: / { inside = substr($0, 13) == name; text = 0; next }
	inside && /^      run: \|/ { text = 1; next }
	inside && text { print substr($0, 9) }' "$srcdir/action.yml"
}

review() {
	"$srcdir/packaging/ci/review.sh" "$@"
}

# --- the example -----------------------------------------------------------

@test "the example's blob is what its source compiles to" {
	make -s verify
	echo "# a comment does not change the policy, but a rule does" \
	    >>sandbox/app.sbx
	make -s verify
	sed -i 's/5m$/6m/' sandbox/app.sbx
	run make -s verify
	[ "$status" -ne 0 ]
}

@test "the example passes its own check" {
	make -s check
}

@test "the example's tests run in its sandbox" {
	# Its server listens on a network of its own, which level full gives.
	if [ "${SBX_MUST_RUN:-0}" != 1 ] &&
	    ! "$SBXRUN" --status --json | grep -q '"level":"full"'; then
		skip "this machine does not give level full"
	fi
	"$SBXRUN" sandbox/app.bin -- node --test
}

# --- pre-commit ------------------------------------------------------------

hooks() {
	[ "${SBX_MUST_RUN:-0}" = 1 ] || command -v pre-commit >/dev/null ||
		skip "pre-commit is not installed"
	# The published files only: a repository of hooks is cloned.
	mkdir "$BATS_TEST_TMPDIR/from"
	cp "$srcdir/.pre-commit-hooks.yaml" "$BATS_TEST_TMPDIR/from"
	repository "$BATS_TEST_TMPDIR/from" "$BATS_TEST_TMPDIR/hooks"
	git -C "$BATS_TEST_TMPDIR/hooks" tag v0.1.0
	sed -i "s|https://github.com/OWNER/sbx|$BATS_TEST_TMPDIR/hooks|" \
	    .pre-commit-config.yaml
	git add .pre-commit-config.yaml
	pre-commit install >/dev/null
}

@test "pre-commit: a good change passes all hooks" {
	hooks
	run pre-commit run --all-files
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c 'Passed$' <<<"$output")" -eq 4 ]
}

@test "pre-commit: each hook stops what it is there for" {
	hooks
	sed -i 's/^    set env CI = 1/    allow raed \/srv/' sandbox/app.sbx
	run git commit -a -m "A slip"
	[ "$status" -ne 0 ]
	[[ "$output" == *"app.sbx:18:11: error: unknown right 'raed'"* ]]
	git checkout -q -- sandbox
	sed -i 's/^    set env CI = 1/  set   env CI = 1/' sandbox/app.sbx
	run git commit -a -m "Untidy"
	[ "$status" -ne 0 ]
	[[ "$output" == *"files were modified by this hook"* ]]
	grep -q '^    set env CI = 1' sandbox/app.sbx
	git checkout -q -- sandbox
	sed -i '/sandbox$/d' sandbox/app.sbx
	run git commit -a -m "The policy is no longer its own guard"
	[ "$status" -ne 0 ]
	[[ "$output" == *"write /src/app/sandbox/app.sbx"* ]]
	git checkout -q -- sandbox
	sed -i 's/5m$/6m/' sandbox/app.sbx
	run git commit -a -m "The blob is forgotten"
	[ "$status" -ne 0 ]
	[[ "$output" == *"sandbox/app.bin"* ]]
}

# --- the action ------------------------------------------------------------

action() {
	export GITHUB_ACTION_PATH=$srcdir GITHUB_STEP_SUMMARY=$HOME/summary
	export GITHUB_PATH=$HOME/path FILES='' FAIL_ON=widen ACCEPT=''
	git clone -q --bare . "$BATS_TEST_TMPDIR/origin"
	git remote add origin "$BATS_TEST_TMPDIR/origin"
	: >"$GITHUB_STEP_SUMMARY"
	BASE=$(git rev-parse -q --verify HEAD~1 || git rev-parse HEAD)
	export BASE
}

@test "action: sbxc that is there is not built again" {
	action
	bash -e -c "$(action_step 'Build sbxc')"
	[ ! -e "$GITHUB_PATH" ]
}

@test "action: what nobody changed passes" {
	action
	run bash -e -o pipefail -c "$(action_step Review)"
	echo "$output"
	[ "$status" -eq 0 ]
	[ ! -d .git/worktrees ] || [ -z "$(ls .git/worktrees)" ]
}

@test "action: what gets wider is annotated and refused" {
	change 'allow write ~/notes'
	action
	run bash -e -o pipefail -c "$(action_step Review)"
	echo "$output"
	[ "$status" -eq 1 ]
	grep -q '^::error file=sandbox/app.sbx,line=19' <<<"$output"
	[[ "$output" == *"write"*"notes"* ]]
	grep -q 'notes' "$GITHUB_STEP_SUMMARY"
	grep -q '^|' "$GITHUB_STEP_SUMMARY"
}

@test "action: what gets wider passes where that is asked for" {
	change 'allow write ~/notes'
	action
	FAIL_ON=never run bash -e -o pipefail -c "$(action_step Review)"
	echo "$output"
	[ "$status" -eq 0 ]
	grep -q 'notes' "$GITHUB_STEP_SUMMARY"
}

@test "action: what gets narrower passes" {
	change 'deny write ${workspace}/package.json'
	action
	run bash -e -o pipefail -c "$(action_step Review)"
	echo "$output"
	[ "$status" -eq 0 ]
	grep -q 'package.json' "$GITHUB_STEP_SUMMARY"
}

@test "action: a blob that is not what its source says is refused" {
	sed -i 's/5m$/4m/' sandbox/app.sbx
	git commit -q -a -m "Forget the blob"
	action
	run bash -e -o pipefail -c "$(action_step Review)"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"app.bin"* ]]
}

@test "action: the files that it is given, and no others" {
	echo 'sbx 1' >other.sbx
	echo 'nonsense' >>other.sbx
	git add other.sbx
	git commit -q -m "Another"
	action
	run bash -e -o pipefail -c "$(action_step Review)"
	[ "$status" -eq 1 ]
	[[ "$output" == *"::error file=other.sbx,line=2"* ]]
	FILES=sandbox/app.sbx run bash -e -o pipefail \
	    -c "$(action_step Review)"
	[ "$status" -eq 0 ]
}

# --- review.sh and GitLab --------------------------------------------------

@test "review: a wrong call, and a base that is not there" {
	run review -f sarif
	[ "$status" -eq 2 ]
	run review -e sometimes
	[ "$status" -eq 2 ]
	run review -b nosuch
	[ "$status" -eq 3 ]
}

@test "review: a policy that is new is accepted only if that is asked for" {
	printf 'sbx 1\n\nprofile new extends coding {\n}\n' >new.sbx
	git add new.sbx
	run review -b HEAD
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"new.sbx: a new policy"* ]]
	review -a -b HEAD
	review -e never -b HEAD
}

@test "review: a policy with another name is the same policy" {
	git mv sandbox/app.sbx sandbox/other.sbx
	git mv sandbox/app.bin sandbox/other.bin
	sed -i 's/app.sbx/other.sbx/' sandbox/app.test.yaml
	sbxc build -o sandbox/other.bin sandbox/other.sbx
	git commit -q -a -m "Another name"
	review -b HEAD~1
	sed -i 's|^    set env CI = 1|&\n    allow write ~/notes|' \
	    sandbox/other.sbx
	sbxc build -o sandbox/other.bin sandbox/other.sbx
	git commit -q -a -m "More"
	run review -b HEAD~2
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"notes"* ]]
}

@test "review: profiles that share a file, and what changes nothing" {
	printf 'sbx 1\ngroup g {\n    allow read /srv\n}\n' >sandbox/g.sbx
	printf 'sbx 1\ninclude "g.sbx"\nprofile %s { use g }\nprofile %s { use g }\n' \
	    one two >sandbox/both.sbx
	git add sandbox && git commit -q -m "Two profiles"
	GITHUB_STEP_SUMMARY=$PWD/summary review -b HEAD
	[ "$(cat summary)" = 'The policies let through what they did before.' ]
	sed -i 's,/srv,/,' sandbox/g.sbx
	GITHUB_STEP_SUMMARY=$PWD/summary run review -f github -b HEAD
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"file=sandbox/g.sbx,line=3,"*"::both.sbx one, two: wider: read /;"* ]]
	[ "$(sed -n 2p summary)" = '**Lets through more than before:** sandbox/both.sbx' ]
	grep '^| error | both.sbx one, two: wider: read /<br>.* | sandbox/g.sbx:3 |$' summary
	[ "$(grep -c '^### ' summary)" -eq 1 ]
}

@test "review: what does not compile is not said to be as before" {
	printf 'sbx 1\nprofile %s { allow read /srv }\nprofile %s { allow read /srv }\n' \
	    one two >sandbox/both.sbx
	git add sandbox && git commit -q -m "Two profiles"
	echo oops >>sandbox/both.sbx
	GITHUB_STEP_SUMMARY=$PWD/summary run review -b HEAD
	echo "$output"
	[ "$status" -eq 1 ]
	# And it is said of it, and not that the base has two profiles.
	[[ "$output" != *SBX0221* ]]
	[ "$(cat summary)" = \
	    '**Not compared**, since there are errors: sandbox/both.sbx' ]
}

@test "names that begin like an option or a shipped profile are files" {
	hooks
	# Each would be an option, or @coding, and say no word.
	for name in -q.sbx --no-ignore.sbx -fgithub.sbx @coding.sbx; do
		printf 'sbx 1\n\nprofile new {\n    allow raed /usr\n}\n' >"./$name"
		git add -- "./$name"
		run pre-commit run sbxc-check --all-files
		[ "$status" -ne 0 ]
		[[ "$output" == *"error: unknown right 'raed'"* ]]
		run review
		echo "$output"
		[ "$status" -eq 1 ]
		[[ "$output" == *"error: unknown right 'raed'"* ]]
		printf 'sbx 1\n\nprofile new extends coding {\n}\n' >"./$name"
		review -a -b HEAD
		git rm -q -f -- "./$name"
	done
	action
	printf 'sbx 1\n\nprofile new {\n    allow raed /usr\n}\n' >./-q.sbx
	FILES=-q.sbx run bash -e -o pipefail -c "$(action_step Review)"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"unknown right"* ]]
}

@test "review: from a subdirectory, and where there is nothing" {
	mkdir -p below
	cd below
	run review -r reports
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"12 passed"* ]]
	[ -s reports/check.xml ]
	git rm -q -r --cached ../sandbox
	run review
	[ "$status" -eq 2 ]
}

@test "gitlab: the job's script writes reports" {
	change 'deny write ${workspace}/package.json'
	SBX_REVIEW=$srcdir/packaging/ci/review.sh
	CI_MERGE_REQUEST_DIFF_BASE_SHA=$(git rev-parse HEAD~1)
	export SBX_REVIEW CI_MERGE_REQUEST_DIFF_BASE_SHA
	sed -n '/^  script:/,/^  [a-z]*:/s/^    - //p' \
	    "$srcdir/packaging/ci/gitlab.yml" >job
	[ "$(wc -l <job)" -eq 3 ]
	run sh -e job
	echo "$output"
	[ "$status" -eq 0 ]
	grep -q '<testsuite' reports/check.xml
	grep -q '<testcase' reports/test.xml
	xmllint --noout reports/*.xml
	grep -q "<!DOCTYPE html>" reports/*.html
}

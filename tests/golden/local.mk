# What sbxc prints, beside what it is expected to print.

test_scripts += \
	tests/golden/calls.sh \
	tests/golden/cases.sh \
	tests/golden/changes.sh \
	tests/golden/diff.sh \
	tests/golden/export.sh \
	tests/golden/fmt.sh \
	tests/golden/import.sh \
	tests/golden/init.sh \
	tests/golden/learn.sh \
	tests/golden/policies.sh \
	tests/golden/report.sh \
	tests/golden/risks.sh

# Several processes for each policy there is.  What they ask of memory, sanitizers
# see in fuzz/replay and model/roundtrip.
static_scripts += tests/golden/why.sh
slow_scripts += \
	tests/golden/asked.sh \
	tests/golden/dumps.sh \
	tests/golden/fmt_all.sh
slow_scripts += tests/golden/corpus.sh

helper_programs += tests/golden/unplaced

EXTRA_DIST += \
	tests/golden/asked.pl \
	tests/golden/changes/lines \
	tests/golden/changes/narrower \
	tests/golden/blob \
	tests/golden/calls \
	tests/golden/cases \
	tests/golden/diff \
	tests/golden/err \
	tests/golden/export \
	tests/golden/fmt \
	tests/golden/import \
	tests/golden/init \
	tests/golden/learn \
	tests/golden/ok \
	tests/golden/report \
	tests/golden/risks \
	tests/golden/why

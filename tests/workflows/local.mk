# What people run in a project, with and without a sandbox.
test_scripts += tests/workflows/few.sh

EXTRA_DIST += \
	tests/workflows/bubblewrap \
	tests/workflows/corpus.txt \
	tests/workflows/run

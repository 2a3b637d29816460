# The sources themselves, and what does not depend on how the programs were
# built: who includes whom, what the manual says.

static_scripts += \
	tests/meta/again.sh \
	tests/meta/format.sh \
	tests/meta/hidden.sh \
	tests/meta/layers.sh \
	tests/meta/mandoc.sh \
	tests/meta/manual.sh \
	tests/meta/manual_blob.sh \
	tests/meta/negation.sh \
	tests/meta/rooms.sh \
	tests/meta/run.sh \
	tests/meta/schema.sh \
	tests/meta/stack.sh \
	tests/meta/version.sh

slow_scripts += \
	tests/meta/mutate.sh \
	tests/meta/reproducible.sh

EXTRA_DIST += .clang-format .clang-tidy
EXTRA_DIST += tests/meta/analyze.sh tests/meta/hidden.pl tests/meta/stack.py
EXTRA_DIST += \
	tests/mutate/alone.py \
	tests/mutate/alone.sh \
	tests/mutate/chance.py \
	tests/mutate/mutate.py \
	tests/mutate/rooms.txt \
	tests/mutate/runner.py

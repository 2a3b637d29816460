# Fuzzers; their corpus is replayed.

test_scripts += tests/fuzz/replay.sh

helper_programs += \
	tests/fuzz/fuzz_blob \
	tests/fuzz/fuzz_policy \
	tests/fuzz/fuzz_yaml

tests_fuzz_fuzz_blob_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_policy_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_yaml_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY

EXTRA_DIST += \
	tests/fuzz/blob \
	tests/fuzz/fuzz.h \
	tests/fuzz/policy \
	tests/fuzz/yaml

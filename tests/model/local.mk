# The model against something that knows better: the kernel, libseccomp, a
# reader of macOS profiles, or asking about everything.

program_tests += \
	tests/model/compare \
	tests/model/property \
	tests/model/roundtrip \
	tests/model/seccomp_oracle

script_tests += \
	tests/model/sbpl.sh \
	tests/model/syscalls.sh \
	tests/model/witnesses.sh

helper_programs += \
	tests/model/sbpl_model \
	tests/model/syscall_table

EXTRA_DIST += \
	tests/model/drafts.h \
	tests/model/random_policy.h \
	tests/model/sbpl \
	tests/model/syscalls

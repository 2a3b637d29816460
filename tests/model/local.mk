# The model against something that knows better: the kernel, libseccomp, a
# reader of macOS profiles, or asking about everything.

test_programs += \
	tests/model/compare \
	tests/model/property \
	tests/model/roundtrip \
	tests/model/seccomp_oracle

test_scripts += \
	tests/model/syscalls.sh \
	tests/model/witnesses.sh

static_scripts += tests/model/sbpl.sh

helper_programs += \
	tests/model/sbpl_model \
	tests/model/syscall_table

EXTRA_DIST += \
	tests/model/drafts.h \
	tests/model/random_policy.h \
	tests/model/sbpl \
	tests/model/syscalls

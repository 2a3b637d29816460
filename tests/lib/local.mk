# What tests share.

helper_programs += tests/lib/run
tests_lib_run_LDADD =

EXTRA_DIST += \
	tests/lib/again.sh \
	tests/lib/ask_kernel.h \
	tests/lib/chance.h \
	tests/lib/examples.sh \
	tests/lib/samples.h \
	tests/lib/session.sh \
	tests/lib/sandbox.sh \
	tests/lib/summary.sh \
	tests/lib/tap.h \
	tests/lib/tap.sh

# What tests share.

EXTRA_DIST += \
	tests/lib/ask_kernel.h \
	tests/lib/chance.h \
	tests/lib/examples.sh \
	tests/lib/samples.h \
	tests/lib/summary.sh \
	tests/lib/tap.h \
	tests/lib/tap.sh

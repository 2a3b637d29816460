# What tests share.

helper_programs += tests/lib/run
tests_lib_run_LDADD =

EXTRA_DIST += \
	tests/lib/again.sh \
	tests/lib/ask_kernel.h \
	tests/lib/chance.h \
	tests/lib/costs.sh \
	tests/lib/coverage.py \
	tests/lib/coverage.sh \
	tests/lib/examples.sh \
	tests/lib/samples.h \
	tests/lib/seal.py \
	tests/lib/session.sh \
	tests/lib/sandbox.sh \
	tests/lib/summary.sh \
	tests/lib/tap.h \
	tests/lib/tap.sh

# `make coverage`: all of it compiled once more, by clang and with counters, in
# ./coverage, and what the tests reach of format/ and runtime/ there.  What fails
# with counters only is no matter; it is listed.  Programs are slower there, and the
# other side of many conditions is a call that fails, so faults.sh tries more: with
# a thousand rounds each place that makes a call.  `make -j2 coverage` runs two tests
# at once.
coverage_tests = $(slow_programs) $(slow_kernel_scripts) $(kernel_users) \
	$(test_scripts) \
	$(test_programs)
# In libsbx.a the name that leads to the counters would be hidden.
coverage_library = libsbx_pic.a -Wl,--unresolved-symbols=ignore-all
coverage_make = $(MAKE) -C coverage \
	tests_kernel_fault_library_LDADD='$(coverage_library)' \
	tests_kernel_library_LDADD='$(coverage_library)' \
	tests_kernel_library_storm_LDADD='$(coverage_library)'
coverage_run = srcdir='$(abs_srcdir)' $(srcdir)/tests/lib/coverage.sh

coverage/Makefile: Makefile
	$(AM_V_GEN)$(MKDIR_P) coverage && cd coverage && \
	    env -u CPPFLAGS -u LDFLAGS $(abs_srcdir)/configure -q CC=clang \
	    CFLAGS='-g -O0' --enable-coverage >/dev/null

coverage: coverage/Makefile
	$(MAKE) -C coverage grammar/policy.h
	+$(coverage_make) all
	+$(coverage_make) check TESTS=
	$(coverage_run) open coverage
	-+$(coverage_make) -k check TESTS='$(coverage_tests)' \
	    TEST_ROUNDS=$(TEST_ROUNDS) TEST_LIMIT=3600 >coverage/tests.log 2>&1
	-+$(coverage_make) check TESTS=tests/kernel/faults.sh TEST_ROUNDS=1000 \
	    TEST_LIMIT=3600 >>coverage/tests.log 2>&1
	@$(coverage_run) report coverage

.PHONY: coverage

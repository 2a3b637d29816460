# The tests, a room each.  A test is one line in its room's local.mk; a C
# program that prints TAP is NAME for NAME.c, a script is named with its
# extension, data goes to EXTRA_DIST by directory.

TEST_EXTENSIONS = .sh .bats
tap_driver = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(tap_driver)
SH_LOG_DRIVER = $(tap_driver)
BATS_LOG_DRIVER = $(tap_driver)

# Of each kind those stand first that take longest, since many wait more than they
# work: started last, one would be waited for alone.
#
# What the rooms add to: programs that print TAP, and scripts that do; scripts
# whose result is the same however the programs were built; tests that take long;
# programs that scripts run.
test_programs =
test_scripts =
static_scripts =
slow_programs =
slow_scripts =
helper_programs =

fast_tests = $(test_scripts) $(test_programs) $(static_scripts)
all_tests = $(slow_programs) $(slow_scripts) $(fast_tests)
TESTS = $(all_tests)
check_PROGRAMS = sbxrun-test sbxsh-test $(test_programs) $(slow_programs) \
	$(helper_programs)
EXTRA_DIST += $(test_scripts) $(static_scripts) $(slow_scripts) \
	tests/bare/run \
	tests/demo.sh \
	tests/machines/archive.sh tests/machines/become.c \
	tests/machines/cross tests/machines/inside \
	tests/machines/kernels tests/machines/restricted \
	tests/machines/run

# `make check` is the fast tier, three minutes on two cores: without what is
# slow, and with a part of the rounds where chance decides what is tried.
TEST_ROUNDS = 10
ALL_ROUNDS = 100
TEST_LIMIT = 600
fast_tier = check-TESTS
$(fast_tier): TESTS = $(fast_tests)

# Everything.  `./bootstrap check` has an eighth of the rounds, and runs more
# tests at once than there are processors.
check-all:
	find tests -name '*.trs' -exec rm -f {} +
	$(MAKE) check TESTS='$(all_tests)' TEST_ROUNDS=$(ALL_ROUNDS)
	[ $(ALL_ROUNDS) -lt 100 ] || $(MAKE) analyze

# What reads the sources and takes minutes of all processors, so that nothing runs
# beside it.
analyze: all tests/lib/run$(EXEEXT)
	$(MAKE) check-TESTS TESTS=tests/meta/analyze.sh TEST_LIMIT=3600 \
	    VERBOSE=1

# For one more way to build the programs; for one more user; and distcheck
# without tests, which another build runs from the same tarball.
check-build:
	$(MAKE) check TESTS='$(test_scripts) $(test_programs)'
check-kernel:
	$(MAKE) check TESTS='$(kernel_tests)' TEST_ROUNDS=$(ALL_ROUNDS)
check-dist:
	$(MAKE) distcheck AM_DISTCHECK_CONFIGURE_FLAGS=CFLAGS=-O0 \
	    AM_MAKEFLAGS='TESTS= check_PROGRAMS='

# Other kernels, under qemu: all of them, or an old one and one for aarch64.
MACHINES = /var/tmp/sbx-machines
check-machines:
	$(srcdir)/tests/machines/run -b . $(MACHINES)
check-machines-small:
	$(srcdir)/tests/machines/run -b . $(MACHINES) 5.10 arm-6.1

.PHONY: analyze check-all check-build check-kernel check-dist check-machines \
	check-machines-small test-commands

# Every test is run by lib/run, in the same surroundings whoever calls make,
# and with these variables.
test_run = tests/lib/run \
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' \
	SBXC='$(abs_builddir)/sbxc' \
	SBXRUN='$(abs_builddir)/sbxrun' \
	SBXRUN_TEST='$(abs_builddir)/sbxrun-test' \
	PROBE='$(abs_builddir)/tests/kernel/probe' \
	CC='$(CC)' MANDOC='$(MANDOC)' \
	TEST_ROUNDS='$(TEST_ROUNDS)' TEST_LIMIT='$(TEST_LIMIT)' \
	CLIENTS='$(CLIENTS)'
AM_TESTS_ENVIRONMENT = TEST_COSTS=yes; export TEST_COSTS;
LOG_COMPILER = $(test_run)
SH_LOG_COMPILER = $(test_run)
BATS_LOG_COMPILER = $(test_run) $(BATS)
AM_BATS_LOG_FLAGS = --tap
# A word a line, for who runs tests without make: what runs them, and which
# there are.
test-commands:
	@printf '%s\n' $(LOG_COMPILER) '' \
	    $(BATS_LOG_COMPILER) $(AM_BATS_LOG_FLAGS) '' $(TESTS)

include tests/lib/local.mk
include tests/kernel/local.mk
include tests/places/local.mk
include tests/workflows/local.mk
include tests/agents/local.mk
include tests/model/local.mk
include tests/golden/local.mk
include tests/cli/local.mk
include tests/fuzz/local.mk
include tests/unit/local.mk
include tests/meta/local.mk

# Make knows how to make NAME of NAME.sh, and would write over the directory or
# the program of that name, whichever is older.
.sh:
	@:

# The tests, a room each.  A test is one line in its room's local.mk; a C
# program that prints TAP is NAME for NAME.c, a script is named with its
# extension, data goes to EXTRA_DIST by directory.

TEST_EXTENSIONS = .sh .bats
tap_driver = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(tap_driver)
SH_LOG_DRIVER = $(tap_driver)
BATS_LOG_DRIVER = $(tap_driver)

# `make check` is the fast tier, under two minutes on two cores: without
# $(slow_tests), and with a part of the rounds where chance decides what is
# tried.  `make check-all` is everything.
TEST_ROUNDS = 10
TEST_LIMIT = 600
fast_tier = check-TESTS
$(fast_tier): TESTS = $(program_tests) $(script_tests)

check-all:
	find tests -name '*.trs' -exec rm -f {} +
	$(MAKE) check TESTS='$(program_tests) $(script_tests) $(slow_tests)' \
	    TEST_ROUNDS=100

.PHONY: check-all

# Every test is run by lib/run, in the same surroundings whoever calls make,
# and with these variables.
test_run = tests/lib/run \
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' \
	SBXC='$(abs_builddir)/sbxc' \
	SBXRUN='$(abs_builddir)/sbxrun' \
	SBXRUN_TEST='$(abs_builddir)/sbxrun-test' \
	PROBE='$(abs_builddir)/tests/kernel/probe' \
	CC='$(CC)' MANDOC='$(MANDOC)' \
	TEST_ROUNDS='$(TEST_ROUNDS)' TEST_LIMIT='$(TEST_LIMIT)'
LOG_COMPILER = $(test_run)
SH_LOG_COMPILER = $(test_run)
BATS_LOG_COMPILER = $(test_run) $(BATS)
AM_BATS_LOG_FLAGS = --tap

# What the rooms add to: programs that print TAP, scripts that do, those that
# take long, programs that scripts run.
program_tests =
script_tests =
slow_programs =
slow_scripts =
helper_programs =

slow_tests = $(slow_programs) $(slow_scripts)
TESTS = $(program_tests) $(script_tests) $(slow_tests)
check_PROGRAMS = sbxrun-test $(program_tests) $(slow_programs) \
	$(helper_programs)
EXTRA_DIST += $(script_tests) $(slow_scripts) tests/demo.sh

include tests/lib/local.mk
include tests/unit/local.mk
include tests/golden/local.mk
include tests/cli/local.mk
include tests/kernel/local.mk
include tests/model/local.mk
include tests/fuzz/local.mk
include tests/meta/local.mk

# Make knows how to make NAME of NAME.sh, and would write over the directory or
# the program of that name, whichever is older.
.sh:
	@:

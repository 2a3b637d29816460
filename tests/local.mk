# The tests, a room each.  A test is one line in its room's local.mk; a C
# program that prints TAP is NAME for NAME.c, a script is named with its
# extension, data goes to EXTRA_DIST by directory.

TEST_EXTENSIONS = .sh .bats
tap_driver = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(tap_driver)
SH_LOG_DRIVER = $(tap_driver)
BATS_LOG_DRIVER = $(tap_driver)
BATS_LOG_COMPILER = $(BATS)
AM_BATS_LOG_FLAGS = --tap

AM_TESTS_ENVIRONMENT = \
	SBXC='$(abs_builddir)/sbxc'; \
	SBXRUN='$(abs_builddir)/sbxrun'; \
	SBXRUN_TEST='$(abs_builddir)/sbxrun-test'; \
	PROBE='$(abs_builddir)/tests/kernel/probe'; \
	CC='$(CC)'; MANDOC='$(MANDOC)'; \
	srcdir='$(abs_srcdir)'; builddir='$(abs_builddir)'; \
	export SBXC SBXRUN SBXRUN_TEST PROBE CC MANDOC srcdir builddir; \
	unset MAKEFLAGS MFLAGS MAKELEVEL;

# What the rooms add to: programs that print TAP, scripts that do, programs
# that scripts run.
program_tests =
script_tests =
helper_programs =

TESTS = $(program_tests) $(script_tests)
check_PROGRAMS = sbxrun-test $(program_tests) $(helper_programs)
EXTRA_DIST += $(script_tests) tests/demo.sh

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

# Test files: accesses that must be allowed or denied.
libcompiler_a_SOURCES += \
	compiler/cases/calls.c \
	compiler/cases/cases.c \
	compiler/cases/cases.h \
	compiler/cases/coverage.c \
	compiler/cases/file.c \
	compiler/cases/live.c \
	compiler/cases/machine.c \
	compiler/cases/macos.c \
	compiler/cases/subject.c \
	compiler/cases/tree.c \
	compiler/cases/trial.c \
	compiler/cases/trial_network.c

# Test files: accesses that must be allowed or denied.
libcompiler_a_SOURCES += \
	compiler/cases/calls.c \
	compiler/cases/calls.h \
	compiler/cases/cases.c \
	compiler/cases/cases.h \
	compiler/cases/coverage.c \
	compiler/cases/coverage.h \
	compiler/cases/file.c \
	compiler/cases/file.h \
	compiler/cases/live.c \
	compiler/cases/live.h \
	compiler/cases/machine.c \
	compiler/cases/machine.h \
	compiler/cases/macos.c \
	compiler/cases/macos.h \
	compiler/cases/subject.c \
	compiler/cases/subject.h \
	compiler/cases/tree.c \
	compiler/cases/tree.h \
	compiler/cases/trial.c \
	compiler/cases/trial_network.c \
	compiler/cases/trial.h

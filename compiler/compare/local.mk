# On which accesses two policies differ.
libcompiler_a_SOURCES += \
	compiler/compare/bindings.c \
	compiler/compare/compare.c \
	compiler/compare/compare.h \
	compiler/compare/difference.c \
	compiler/compare/env.c \
	compiler/compare/explanation.c \
	compiler/compare/findings.c \
	compiler/compare/globs.c \
	compiler/compare/hosts.c \
	compiler/compare/layouts.c \
	compiler/compare/paths.c \
	compiler/compare/paths.h \
	compiler/compare/ports.c \
	compiler/compare/rules.c \
	compiler/compare/settings.c \
	compiler/compare/sockets.c \
	compiler/compare/syscalls.c

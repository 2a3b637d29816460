# On which accesses two policies differ.
libcompiler_a_SOURCES += \
	compiler/compare/bindings.c \
	compiler/compare/bundle.c \
	compiler/compare/bundle.h \
	compiler/compare/bindings.h \
	compiler/compare/compare.c \
	compiler/compare/compare.h \
	compiler/compare/difference.c \
	compiler/compare/difference.h \
	compiler/compare/env.c \
	compiler/compare/explanation.c \
	compiler/compare/forest.c \
	compiler/compare/forest.h \
	compiler/compare/globs.c \
	compiler/compare/guesses.c \
	compiler/compare/hosts.c \
	compiler/compare/layouts.c \
	compiler/compare/lookup.h \
	compiler/compare/meetings.c \
	compiler/compare/names.c \
	compiler/compare/names.h \
	compiler/compare/parts.h \
	compiler/compare/paths.c \
	compiler/compare/paths.h \
	compiler/compare/ports.c \
	compiler/compare/quest.c \
	compiler/compare/quest.h \
	compiler/compare/rules.c \
	compiler/compare/settings.c \
	compiler/compare/sockets.c \
	compiler/compare/spots.c \
	compiler/compare/spots.h \
	compiler/compare/syscalls.c

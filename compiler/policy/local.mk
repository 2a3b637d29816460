# Statements to a resolved policy.
libcompiler_a_SOURCES += \
	compiler/policy/blocks.c \
	compiler/policy/blocks.h \
	compiler/policy/drop.c \
	compiler/policy/exclusions.c \
	compiler/policy/exclusions.h \
	compiler/policy/expand.h \
	compiler/policy/globs.c \
	compiler/policy/globs.h \
	compiler/policy/host.c \
	compiler/policy/host.h \
	compiler/policy/item_index.c \
	compiler/policy/idna.c \
	compiler/policy/idna.h \
	compiler/policy/item_index.h \
	compiler/policy/kind.h \
	compiler/policy/objects.c \
	compiler/policy/objects.h \
	compiler/policy/path.c \
	compiler/policy/path.h \
	compiler/policy/policy.c \
	compiler/policy/policy.h \
	compiler/policy/resolve.c \
	compiler/policy/resolve.h \
	compiler/policy/rules.c \
	compiler/policy/scope.c \
	compiler/policy/scope.h \
	compiler/policy/settings.c \
	compiler/policy/target.c \
	compiler/policy/target.h \
	compiler/policy/texts.c \
	compiler/policy/texts.h \
	compiler/policy/uses.c \
	compiler/policy/unused.c

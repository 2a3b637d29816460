# Statements to a resolved policy.
libcompiler_a_SOURCES += \
	compiler/policy/blocks.c \
	compiler/policy/drop.c \
	compiler/policy/exclusions.c \
	compiler/policy/globs.c \
	compiler/policy/host.c \
	compiler/policy/idna.c \
	compiler/policy/item_index.c \
	compiler/policy/kind.h \
	compiler/policy/objects.c \
	compiler/policy/path.c \
	compiler/policy/policy.c \
	compiler/policy/policy.h \
	compiler/policy/resolve.c \
	compiler/policy/rules.c \
	compiler/policy/scope.c \
	compiler/policy/statements.c \
	compiler/policy/settings.c \
	compiler/policy/target.c \
	compiler/policy/texts.c \
	compiler/policy/unused.c \
	compiler/policy/uses.c

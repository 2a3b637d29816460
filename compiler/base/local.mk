# Memory, tables, names, files, JSON: what knows nothing of policies.
libcompiler_a_SOURCES += \
	compiler/base/arena.c \
	compiler/base/base.h \
	compiler/base/bug.c \
	compiler/base/complain.c \
	compiler/base/input.c \
	compiler/base/json.c \
	compiler/base/map.c \
	compiler/base/names.c \
	compiler/base/output.c \
	compiler/base/path.c \
	compiler/base/shell.c \
	compiler/base/width.c

# Memory, tables, names, files, JSON: what knows nothing of policies.
libcompiler_a_SOURCES += \
	compiler/base/arena.c \
	compiler/base/arena.h \
	compiler/base/bug.c \
	compiler/base/bug.h \
	compiler/base/complain.c \
	compiler/base/complain.h \
	compiler/base/input.c \
	compiler/base/input.h \
	compiler/base/json.c \
	compiler/base/json.h \
	compiler/base/map.c \
	compiler/base/map.h \
	compiler/base/names.c \
	compiler/base/names.h \
	compiler/base/output.c \
	compiler/base/output.h \
	compiler/base/path.c \
	compiler/base/path.h \
	compiler/base/shell.c \
	compiler/base/shell.h \
	compiler/base/width.c \
	compiler/base/width.h

# Numbers, text, memory and system calls without heap or stdio.
loader_sources += \
	runtime/base/arena.c \
	runtime/base/arena.h \
	runtime/base/directory.c \
	runtime/base/directory.h \
	runtime/base/file.c \
	runtime/base/file.h \
	runtime/base/json.c \
	runtime/base/json.h \
	runtime/base/kernel.h \
	runtime/base/limits.c \
	runtime/base/limits.h \
	runtime/base/machine.c \
	runtime/base/machine.h \
	runtime/base/newer_calls.h \
	runtime/base/options.c \
	runtime/base/options_check.c \
	runtime/base/options.h \
	runtime/base/out.c \
	runtime/base/out.h \
	runtime/base/own.c \
	runtime/base/own.h \
	runtime/base/path.c \
	runtime/base/path.h \
	runtime/base/sha256.c \
	runtime/base/sha256.h \
	runtime/base/signals.c \
	runtime/base/signals.h \
	runtime/base/terminal.c \
	runtime/base/terminal.h \
	runtime/base/spelling.c \
	runtime/base/spelling.h \
	runtime/base/unsteady.c \
	runtime/base/unsteady.h

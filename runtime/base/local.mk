# Numbers, text, memory and system calls without heap or stdio.
loader_sources += \
	runtime/base/arena.c \
	runtime/base/files.h \
	runtime/base/directory.c \
	runtime/base/file.c \
	runtime/base/helper.c \
	runtime/base/json.c \
	runtime/base/json.h \
	runtime/base/out.h \
	runtime/base/kernel.h \
	runtime/base/limits.c \
	runtime/base/options.h \
	runtime/base/machine.c \
	runtime/base/options.c \
	runtime/base/options_check.c \
	runtime/base/options_words.c \
	runtime/base/out.c \
	runtime/base/own.c \
	runtime/base/path.c \
	runtime/base/sha1.c \
	runtime/base/sha256.c \
	runtime/base/signals.c \
	runtime/base/terminal.c \
	runtime/base/spelling.c \
	runtime/base/unsteady.c

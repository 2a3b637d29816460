# libsbx: what sbxrun does, for programs.
library_sources = \
	runtime/library/arguments.c \
	runtime/library/arguments.h \
	runtime/library/descriptors.c \
	runtime/library/descriptors.h \
	runtime/library/error.c \
	runtime/library/error.h \
	runtime/library/kill.c \
	runtime/library/launch.c \
	runtime/library/launch.h \
	runtime/library/open.c \
	runtime/library/raw.h \
	runtime/library/sandbox.h \
	runtime/library/sbx.h \
	runtime/library/spawn.c \
	runtime/library/start.c \
	runtime/library/start.h \
	runtime/library/words.c \
	runtime/library/words.h

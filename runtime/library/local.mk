# libsbx: what sbxrun does, for programs.
library_sources = \
	runtime/library/arguments.c \
	runtime/library/descriptors.c \
	runtime/library/error.c \
	runtime/library/kill.c \
	runtime/library/launch.c \
	runtime/library/library.h \
	runtime/library/open.c \
	runtime/library/sbx.h \
	runtime/library/spawn.c \
	runtime/library/start.c \
	runtime/library/words.c

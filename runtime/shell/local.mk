# sbxsh: a shell for agents, each of whose commands runs under sbxrun.
shell_sources = \
	runtime/shell/main.c \
	runtime/shell/settings.c \
	runtime/shell/settings.h \
	runtime/shell/words.c \
	runtime/shell/words.h \
	runtime/base/own.c \
	runtime/base/own.h \
	runtime/base/sha256.c \
	runtime/base/sha256.h \
	format/inside.h \
	format/own.h

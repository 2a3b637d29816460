# sbxsh: a shell for agents, each of whose commands runs under sbxrun.
shell_sources = \
	runtime/shell/main.c \
	runtime/shell/settings.c \
	runtime/shell/shell.h \
	runtime/shell/words.c \
	runtime/base/own.c \
	runtime/base/files.h \
	runtime/base/sha256.c \
	format/protocol.h

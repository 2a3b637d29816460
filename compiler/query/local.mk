# A policy from any file, and what it says about one access.
libcompiler_a_SOURCES += \
	compiler/query/access.c \
	compiler/query/access.h \
	compiler/query/compile.c \
	compiler/query/compile.h \
	compiler/query/denials.c \
	compiler/query/denials.h \
	compiler/query/dump.c \
	compiler/query/dump.h \
	compiler/query/env_index.c \
	compiler/query/env_index.h \
	compiler/query/here.c \
	compiler/query/here.h \
	compiler/query/network.c \
	compiler/query/network.h \
	compiler/query/options.c \
	compiler/query/options.h \
	compiler/query/places.c \
	compiler/query/places.h \
	compiler/query/places_here.c \
	compiler/query/decider.c \
	compiler/query/decider.h \
	compiler/query/remedy.c \
	compiler/query/remedy.h \
	compiler/query/remedy_path.c \
	compiler/query/show.c \
	compiler/query/show.h \
	compiler/query/sockets.c \
	compiler/query/sockets.h \
	compiler/query/subject.c \
	compiler/query/subject.h \
	compiler/query/verdict.c \
	compiler/query/verdict.h \
	compiler/query/why.c \
	compiler/query/why.h \
	compiler/query/why_enforcer.c

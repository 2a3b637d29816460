# A policy from any file, and what it says about one access.
libcompiler_a_SOURCES += \
	compiler/query/access.c \
	compiler/query/binder.c \
	compiler/query/binder.h \
	compiler/query/ceiling.c \
	compiler/query/compile.c \
	compiler/query/compiled.c \
	compiler/query/decider.c \
	compiler/query/denials.c \
	compiler/query/dump.c \
	compiler/query/env_index.c \
	compiler/query/glob_list.c \
	compiler/query/here.c \
	compiler/query/named.c \
	compiler/query/network.c \
	compiler/query/options.c \
	compiler/query/own.c \
	compiler/query/page.c \
	compiler/query/places.c \
	compiler/query/places_here.c \
	compiler/query/places_rules.c \
	compiler/query/program.c \
	compiler/query/query.h \
	compiler/query/remedy.c \
	compiler/query/remedy_path.c \
	compiler/query/remedy_risk.c \
	compiler/query/show.c \
	compiler/query/sockets.c \
	compiler/query/subject.c \
	compiler/query/verdict.c \
	compiler/query/vouch.c \
	compiler/query/why.c \
	compiler/query/why.h \
	compiler/query/why_enforcer.c

# Drafts of policies, of what runs wanted.
libcompiler_a_SOURCES += \
	compiler/learn/draft.c \
	compiler/learn/fold.c \
	compiler/learn/learn.h \
	compiler/learn/lines.c \
	compiler/learn/needs.c \
	compiler/learn/needs_network.c \
	compiler/learn/records.c \
	compiler/learn/tests.c

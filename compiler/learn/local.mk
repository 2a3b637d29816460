# Drafts of policies, of what runs wanted.
libcompiler_a_SOURCES += \
	compiler/learn/draft.c \
	compiler/learn/draft.h \
	compiler/learn/fold.c \
	compiler/learn/lines.c \
	compiler/learn/lines.h \
	compiler/learn/looking.h \
	compiler/learn/needs.c \
	compiler/learn/needs.h \
	compiler/learn/needs_network.c \
	compiler/learn/records.c \
	compiler/learn/records.h \
	compiler/learn/tests.c

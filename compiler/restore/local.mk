# The bytes of a blob back to a policy and its statements.
libcompiler_a_SOURCES += \
	compiler/restore/builder.h \
	compiler/restore/restore.c \
	compiler/restore/restore.h \
	compiler/restore/restorer.h \
	compiler/restore/sbpl_read.c \
	compiler/restore/sbpl_read.h \
	compiler/restore/statements.c \
	compiler/restore/vouch.c \
	compiler/restore/vouch.h

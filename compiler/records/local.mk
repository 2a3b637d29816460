# What sbxrun wrote as records, in words.
libcompiler_a_SOURCES += \
	compiler/records/explained.c \
	compiler/records/log.c \
	compiler/records/plan.c \
	compiler/records/records.c \
	compiler/records/records.h \
	compiler/records/run.c \
	compiler/records/status.c

# What a stage of sbxrun changed, and applying it.
libcompiler_a_SOURCES += \
	compiler/stage/apply.c \
	compiler/stage/changes.c \
	compiler/stage/stage.h

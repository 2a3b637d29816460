# Settings of other sandboxes as policies.
libcompiler_a_SOURCES += \
	compiler/import/claude.c \
	compiler/import/codex.c \
	compiler/import/codex_files.c \
	compiler/import/import.c \
	compiler/import/import.h \
	compiler/import/llxprt.c \
	compiler/import/localgpt.c \
	compiler/import/paths.c \
	compiler/import/runtime_keys.def \
	compiler/import/srt.c

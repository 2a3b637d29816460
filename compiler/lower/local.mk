# A policy to filters, SBPL text and the bytes of a blob.
libcompiler_a_SOURCES += \
	compiler/lower/bare.c \
	compiler/lower/bpf.c \
	compiler/lower/bpfsim.c \
	compiler/lower/emit.c \
	compiler/lower/emit_pool.c \
	compiler/lower/emit_tables.c \
	compiler/lower/filter.c \
	compiler/lower/lower.h \
	compiler/lower/openings.c \
	compiler/lower/programs.c \
	compiler/lower/sbpl.c \
	compiler/lower/sbpl_paths.c \
	compiler/lower/sections.c

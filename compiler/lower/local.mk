# A policy to filters, SBPL text and the bytes of a blob.
libcompiler_a_SOURCES += \
	compiler/lower/bare.c \
	compiler/lower/bare.h \
	compiler/lower/bpf.c \
	compiler/lower/bpf.h \
	compiler/lower/bpfsim.c \
	compiler/lower/bpfsim.h \
	compiler/lower/emit.c \
	compiler/lower/emit.h \
	compiler/lower/emit_pool.c \
	compiler/lower/emit_tables.c \
	compiler/lower/emitter.h \
	compiler/lower/filter.c \
	compiler/lower/filter.h \
	compiler/lower/openings.c \
	compiler/lower/openings.h \
	compiler/lower/programs.c \
	compiler/lower/programs.h \
	compiler/lower/sbpl.c \
	compiler/lower/sbpl.h \
	compiler/lower/sbpl_paths.c \
	compiler/lower/sbpl_paths.h \
	compiler/lower/sections.c \
	compiler/lower/sections.h

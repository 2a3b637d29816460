# Facts of the kernel and of the language, one a line, and their readers.
libcompiler_a_SOURCES += \
	compiler/tables/arches.def \
	compiler/tables/baseline.c \
	compiler/tables/baseline.def \
	compiler/tables/diags.def \
	compiler/tables/enforcement.def \
	compiler/tables/groups.def \
	compiler/tables/hosts.def \
	compiler/tables/ioctls.def \
	compiler/tables/keywords.def \
	compiler/tables/newer.def \
	compiler/tables/remedies.def \
	compiler/tables/risks.def \
	compiler/tables/sbpl.def \
	compiler/tables/sets.def \
	compiler/tables/syscalls.c \
	compiler/tables/tables.h \
	compiler/tables/words.c \
	compiler/tables/words.def

# Filters for containers.
libcompiler_a_SOURCES += \
	compiler/export/cubes.c \
	compiler/export/export.h \
	compiler/export/losses.c \
	compiler/export/oci.c

# Policies for other programs.
libcompiler_a_SOURCES += \
	compiler/export/bwrap.c \
	compiler/export/cubes.c \
	compiler/export/cubes.h \
	compiler/export/export.c \
	compiler/export/export.h \
	compiler/export/losses.c \
	compiler/export/oci.c \
	compiler/export/systemd.c

# The part of a script that is always the same, as C.
nodist_libcompiler_a_SOURCES += compiler/export/script.c

compiler/export/script.c: compiler/export/script.awk compiler/export/bwrap.sh
	$(AM_V_GEN)$(MKDIR_P) compiler/export && (cd $(srcdir) && LC_ALL=C $(AWK) \
	    -f compiler/export/script.awk compiler/export/bwrap.sh) >$@.tmp && \
	    mv $@.tmp $@

CLEANFILES += compiler/export/script.c compiler/export/script.c.tmp

EXTRA_DIST += compiler/export/script.awk compiler/export/bwrap.sh

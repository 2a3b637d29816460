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

# The parts of scripts that are always the same, as C.
nodist_libcompiler_a_SOURCES += compiler/export/script.c

export_scripts = compiler/export/view.sh compiler/export/bwrap.sh \
	compiler/export/docker.sh

compiler/export/script.c: compiler/export/script.awk $(export_scripts)
	$(AM_V_GEN)$(MKDIR_P) compiler/export && (cd $(srcdir) && LC_ALL=C $(AWK) \
	    -f compiler/export/script.awk $(export_scripts)) >$@.tmp && \
	    mv $@.tmp $@

CLEANFILES += compiler/export/script.c compiler/export/script.c.tmp

EXTRA_DIST += compiler/export/script.awk $(export_scripts)

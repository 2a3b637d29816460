# Namespaces, mounts, Landlock, seccomp; becoming the command.
loader_sources += \
	runtime/apply/confine.c \
	runtime/apply/confine.h \
	runtime/apply/environment.c \
	runtime/apply/environment.h \
	runtime/apply/execute.c \
	runtime/apply/execute.h \
	runtime/apply/lower.c \
	runtime/apply/lower.h \
	runtime/apply/mount.c \
	runtime/apply/mount_tree.c \
	runtime/apply/mount_tree.h \
	runtime/apply/mounts.c \
	runtime/apply/mounts.h \
	runtime/apply/namespaces.c \
	runtime/apply/namespaces.h \
	runtime/apply/outcome.h

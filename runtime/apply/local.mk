# Namespaces, mounts, Landlock, seccomp; becoming the command.
loader_sources += \
	runtime/apply/confine.c \
	runtime/apply/confine.h \
	runtime/apply/covered.c \
	runtime/apply/covered.h \
	runtime/apply/detached.c \
	runtime/apply/detached.h \
	runtime/apply/elsewhere.c \
	runtime/apply/elsewhere.h \
	runtime/apply/environment.c \
	runtime/apply/environment.h \
	runtime/apply/execute.c \
	runtime/apply/execute.h \
	runtime/apply/lower.c \
	runtime/apply/lower.h \
	runtime/apply/lower_sockets.c \
	runtime/apply/mask.c \
	runtime/apply/mask.h \
	runtime/apply/mount.c \
	runtime/apply/mount.h \
	runtime/apply/mount_sockets.c \
	runtime/apply/mount_sockets.h \
	runtime/apply/mount_table.c \
	runtime/apply/mount_table.h \
	runtime/apply/mount_tree.c \
	runtime/apply/mount_tree.h \
	runtime/apply/name_files.c \
	runtime/apply/name_files.h \
	runtime/apply/namespaces.c \
	runtime/apply/namespaces.h \
	runtime/apply/outcome.h \
	runtime/apply/pid_max.c \
	runtime/apply/pid_max.h \
	runtime/apply/spawn.c \
	runtime/apply/spawn.h \
	runtime/apply/streams.c \
	runtime/apply/streams.h

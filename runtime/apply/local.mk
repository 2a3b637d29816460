# Namespaces, mounts, Landlock, seccomp; becoming the command.
loader_sources += \
	runtime/apply/confine.c \
	runtime/apply/apply.h \
	runtime/apply/covered.c \
	runtime/apply/mounts.h \
	runtime/apply/detached.c \
	runtime/apply/elsewhere.c \
	runtime/apply/environment.c \
	runtime/apply/execute.c \
	runtime/apply/lower.c \
	runtime/apply/lower_sockets.c \
	runtime/apply/mask.c \
	runtime/apply/mount.c \
	runtime/apply/mount_sockets.c \
	runtime/apply/mount_table.c \
	runtime/apply/mount_tree.c \
	runtime/apply/name_files.c \
	runtime/apply/namespaces.c \
	runtime/apply/pid_max.c \
	runtime/apply/spawn.c \
	runtime/apply/stage.c \
	runtime/apply/streams.c

# Anchors and rules to places in the file system: for sbxrun, and for sbxc, which
# answers questions about this machine by it.
binder_sources = \
	runtime/bind/agent.c \
	runtime/bind/bind.h \
	runtime/bind/anchors.c \
	runtime/bind/bind.c \
	runtime/bind/binder.h \
	runtime/bind/ceiling.c \
	runtime/bind/follow.c \
	runtime/bind/git_includes.c \
	runtime/bind/git_settings.c \
	runtime/bind/glob.c \
	runtime/bind/listing.c \
	runtime/bind/missing.c \
	runtime/bind/owners.c \
	runtime/bind/planted.c \
	runtime/bind/project.c \
	runtime/bind/registries.c \
	runtime/bind/rule_index.c \
	runtime/bind/rules.c \
	runtime/bind/scratch.c \
	runtime/bind/sockets.c \
	runtime/bind/services.c
loader_sources += $(binder_sources)
libcompiler_a_SOURCES += $(binder_sources) \
	runtime/base/arena.c \
	runtime/base/directory.c \
	runtime/base/file.c \
	runtime/base/out.c \
	runtime/base/own.c \
	runtime/base/path.c \
	runtime/base/sha256.c

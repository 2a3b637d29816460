# Anchors and rules to places in the file system: for sbxrun, and for sbxc, which
# answers questions about this machine by it.
binder_sources = \
	runtime/bind/agent.c \
	runtime/bind/agent.h \
	runtime/bind/anchors.c \
	runtime/bind/bind.c \
	runtime/bind/bind.h \
	runtime/bind/binder.h \
	runtime/bind/follow.c \
	runtime/bind/follow.h \
	runtime/bind/glob.c \
	runtime/bind/glob.h \
	runtime/bind/listing.c \
	runtime/bind/listing.h \
	runtime/bind/missing.c \
	runtime/bind/missing.h \
	runtime/bind/owners.c \
	runtime/bind/owners.h \
	runtime/bind/planted.c \
	runtime/bind/planted.h \
	runtime/bind/project.c \
	runtime/bind/project.h \
	runtime/bind/rule_index.c \
	runtime/bind/rule_index.h \
	runtime/bind/rules.c \
	runtime/bind/scratch.c \
	runtime/bind/scratch.h \
	runtime/bind/sockets.c \
	runtime/bind/services.c \
	runtime/bind/services.h
loader_sources += $(binder_sources)
libcompiler_a_SOURCES += $(binder_sources) \
	runtime/base/arena.c \
	runtime/base/directory.c \
	runtime/base/file.c \
	runtime/base/out.c \
	runtime/base/own.c \
	runtime/base/path.c \
	runtime/base/sha256.c

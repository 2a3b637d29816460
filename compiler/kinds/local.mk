# One file a kind of rule, and the table of them.
libcompiler_a_SOURCES += \
	compiler/kinds/blanket.c \
	compiler/kinds/domain.c \
	compiler/kinds/endpoint.c \
	compiler/kinds/env.c \
	compiler/kinds/kinds.c \
	compiler/kinds/kinds.h \
	compiler/kinds/limit.c \
	compiler/kinds/path.c \
	compiler/kinds/place.c \
	compiler/kinds/port.c \
	compiler/kinds/proxy.c \
	compiler/kinds/set.c \
	compiler/kinds/socket.c \
	compiler/kinds/syscall.c \
	compiler/kinds/watch.c

# The ways out of a network of the sandbox's own, and who serves them.
loader_sources += \
	runtime/network/event.h \
	runtime/network/handing.c \
	runtime/network/handing.h \
	runtime/network/inside.c \
	runtime/network/network.h \
	runtime/network/outside.c \
	runtime/network/proxy.c \
	runtime/network/proxy.h \
	runtime/network/remedy.c \
	runtime/network/remedy.h \
	runtime/network/route.c \
	runtime/network/route.h \
	runtime/network/decisions.c \
	runtime/network/decisions.h

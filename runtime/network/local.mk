# The ways out of a network of the sandbox's own, and who serves them.
loader_sources += \
	runtime/network/event.h \
	runtime/network/handing.c \
	runtime/network/inside.c \
	runtime/network/network.h \
	runtime/network/outside.c \
	runtime/network/proxy.c \
	runtime/network/remedy.c \
	runtime/network/route.c \
	runtime/network/secrets.c \
	runtime/network/tls.c \
	runtime/network/decisions.c

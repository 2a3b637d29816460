# The supervisor: limits, output, signals, the receipt.
loader_sources += \
	runtime/watch/cgroup.c \
	runtime/watch/cgroup.h \
	runtime/watch/first.c \
	runtime/watch/receipt.c \
	runtime/watch/receipt.h \
	runtime/watch/relay.c \
	runtime/watch/relay.h \
	runtime/watch/supervise.c \
	runtime/watch/supervise.h

# From the command line to the policy and the level.
loader_sources += \
	runtime/start/load.c \
	runtime/start/load.h \
	runtime/start/main.c \
	runtime/start/status.c \
	runtime/start/status.h \
	runtime/start/trust.c \
	runtime/start/trust.h

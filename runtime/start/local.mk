# From the command line to the policy and the level.
loader_sources += \
	runtime/start/load.c \
	runtime/start/load.h \
	runtime/start/machine.c \
	runtime/start/machine.h \
	runtime/start/main.c \
	runtime/start/options.c \
	runtime/start/options.h \
	runtime/start/trust.c \
	runtime/start/trust.h

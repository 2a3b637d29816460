# From the command line to the policy and the level.
loader_sources += \
	runtime/start/ceiling.c \
	runtime/start/compiled.c \
	runtime/start/differences.c \
	runtime/start/start.h \
	runtime/start/fork.c \
	runtime/start/level.c \
	runtime/start/load.c \
	runtime/start/main.c \
	runtime/start/sandbox.c \
	runtime/start/sessions.c \
	runtime/start/title.c \
	runtime/start/trust.c \
	runtime/start/view_listener.c

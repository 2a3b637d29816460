# From the command line to the policy and the level.
loader_sources += \
	runtime/start/differences.c \
	runtime/start/differences.h \
	runtime/start/fork.c \
	runtime/start/level.c \
	runtime/start/level.h \
	runtime/start/load.c \
	runtime/start/load.h \
	runtime/start/main.c \
	runtime/start/sandbox.c \
	runtime/start/sandbox.h \
	runtime/start/sessions.c \
	runtime/start/sessions.h \
	runtime/start/title.c \
	runtime/start/title.h \
	runtime/start/trust.c \
	runtime/start/trust.h \
	runtime/start/view_listener.c \
	runtime/start/view_listener.h

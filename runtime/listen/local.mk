# The seccomp listener: system calls that the supervisor answers.
loader_sources += \
	runtime/listen/answers.c \
	runtime/listen/answers.h \
	runtime/listen/caller.c \
	runtime/listen/caller.h \
	runtime/listen/connect.c \
	runtime/listen/destination.c \
	runtime/listen/destination.h \
	runtime/listen/diagnosis.c \
	runtime/listen/diagnosis.h \
	runtime/listen/inside.c \
	runtime/listen/inside.h \
	runtime/listen/internet.c \
	runtime/listen/internet.h \
	runtime/listen/listen.c \
	runtime/listen/listen.h \
	runtime/listen/loopback.c \
	runtime/listen/loopback.h \
	runtime/listen/metadata.c \
	runtime/listen/objects.c \
	runtime/listen/objects.h \
	runtime/listen/observe.c \
	runtime/listen/observe.h \
	runtime/listen/obstacle.c \
	runtime/listen/place.c \
	runtime/listen/place.h \
	runtime/listen/servers.c \
	runtime/listen/servers.h \
	runtime/listen/unnamed.c \
	runtime/listen/view.c \
	runtime/listen/view.h \
	runtime/listen/watching.c

# The seccomp listener: system calls that the supervisor answers.
loader_sources += \
	runtime/listen/answers.c \
	runtime/listen/answers.h \
	runtime/listen/beyond.c \
	runtime/listen/caller.c \
	runtime/listen/connect.c \
	runtime/listen/destination.c \
	runtime/listen/diagnosis.c \
	runtime/listen/listen.h \
	runtime/listen/inside.c \
	runtime/listen/internet.c \
	runtime/listen/listen.c \
	runtime/listen/loopback.c \
	runtime/listen/metadata.c \
	runtime/listen/objects.c \
	runtime/listen/observe.c \
	runtime/listen/obstacle.c \
	runtime/listen/place.c \
	runtime/listen/servers.c \
	runtime/listen/unnamed.c \
	runtime/listen/view.c \
	runtime/listen/watching.c

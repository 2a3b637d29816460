# The supervisor: limits, output, signals, the receipt.
loader_sources += \
	runtime/watch/cgroup.c \
	runtime/watch/cgroup.h \
	runtime/watch/children.c \
	runtime/watch/children.h \
	runtime/watch/denial_line.c \
	runtime/watch/denial_line.h \
	runtime/watch/ending.c \
	runtime/watch/ending.h \
	runtime/watch/explained.c \
	runtime/watch/explained.h \
	runtime/watch/learned.c \
	runtime/watch/learned.h \
	runtime/watch/first.c \
	runtime/watch/receipt.c \
	runtime/watch/receipt.h \
	runtime/watch/git_settings.c \
	runtime/watch/git_settings.h \
	runtime/watch/hint.c \
	runtime/watch/hint.h \
	runtime/watch/look.c \
	runtime/watch/look.h \
	runtime/watch/relay.c \
	runtime/watch/relay.h \
	runtime/watch/supervise.c \
	runtime/watch/supervise.h \
	runtime/watch/term.c \
	runtime/watch/term.h \
	runtime/watch/tripwire.c \
	runtime/watch/tripwire.h \
	runtime/watch/unfinished.c \
	runtime/watch/unfinished.h

# The supervisor: limits, output, signals, the receipt.
loader_sources += \
	runtime/watch/cgroup.c \
	runtime/watch/receipt.h \
	runtime/watch/children.c \
	runtime/watch/supervise.h \
	runtime/watch/ending.c \
	runtime/watch/explained.c \
	runtime/watch/killed.c \
	runtime/watch/learned.c \
	runtime/watch/first.c \
	runtime/watch/receipt.c \
	runtime/watch/git_blind.c \
	runtime/watch/tripwire.h \
	runtime/watch/hint.c \
	runtime/watch/log.c \
	runtime/watch/log_record.c \
	runtime/watch/look.c \
	runtime/watch/relay.c \
	runtime/watch/supervise.c \
	runtime/watch/term.c \
	runtime/watch/told.c \
	runtime/watch/tripwire.c \
	runtime/watch/unfinished.c

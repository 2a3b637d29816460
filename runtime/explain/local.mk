# --explain: what was denied to the command.
loader_sources += \
	runtime/explain/advice.c \
	runtime/explain/explain.h \
	runtime/explain/denials.c \
	runtime/explain/hosts.c \
	runtime/explain/judge.c \
	runtime/explain/learn.c \
	runtime/explain/traced.c \
	runtime/explain/trail.c

# --explain: what was denied to the command.
loader_sources += \
	runtime/explain/advice.c \
	runtime/explain/advice.h \
	runtime/explain/denials.c \
	runtime/explain/explain.h \
	runtime/explain/hosts.c \
	runtime/explain/judge.c \
	runtime/explain/judge.h \
	runtime/explain/learn.c \
	runtime/explain/learn.h \
	runtime/explain/traced.c \
	runtime/explain/traced.h \
	runtime/explain/trail.c \
	runtime/explain/trail.h

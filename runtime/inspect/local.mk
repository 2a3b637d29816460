# What sbxrun says about itself instead of running a command.
loader_sources += \
	runtime/inspect/clean.c \
	runtime/inspect/inspect.h \
	runtime/inspect/doctor.c \
	runtime/inspect/plan.c \
	runtime/inspect/plan_json.c \
	runtime/inspect/plan_network.c \
	runtime/inspect/plan_sockets.c \
	runtime/inspect/plan_text.c \
	runtime/inspect/probes.c \
	runtime/inspect/questions.c \
	runtime/inspect/render.c \
	runtime/inspect/self_test.c \
	runtime/inspect/staged.c \
	runtime/inspect/status.c \
	runtime/inspect/warnings.c

# What is wrong or risky in a policy that resolves.
libcompiler_a_SOURCES += \
	compiler/check/baseline.c \
	compiler/check/certificate.c \
	compiler/check/check.c \
	compiler/check/check.h \
	compiler/check/grants.c \
	compiler/check/host_denies.c \
	compiler/check/host_risks.c \
	compiler/check/hosts.c \
	compiler/check/leaks.c \
	compiler/check/paths.c \
	compiler/check/ports.c \
	compiler/check/risks.c \
	compiler/check/rules.c \
	compiler/check/sockets.c \
	compiler/check/spelling.c \
	compiler/check/syscalls.c

# The commands of sbxc.
libcompiler_a_SOURCES += \
	compiler/command/allow.c \
	compiler/command/allow_policy.c \
	compiler/command/allow_text.c \
	compiler/command/ask.c \
	compiler/command/ask.h \
	compiler/command/ask_names.c \
	compiler/command/ask_terminal.c \
	compiler/command/build.c \
	compiler/command/check.c \
	compiler/command/commands.c \
	compiler/command/commands.h \
	compiler/command/convert.c \
	compiler/command/diff.c \
	compiler/command/diff_page.c \
	compiler/command/diff_report.c \
	compiler/command/doctor.c \
	compiler/command/dump.c \
	compiler/command/export.c \
	compiler/command/extra.c \
	compiler/command/fmt.c \
	compiler/command/import.c \
	compiler/command/init.c \
	compiler/command/learn.c \
	compiler/command/log.c \
	compiler/command/records.c \
	compiler/command/secrets.c \
	compiler/command/show.c \
	compiler/command/staged.c \
	compiler/command/test.c \
	compiler/command/why.c \
	compiler/command/within.c

# Texts and places in them, diagnostics, and the formats of reports.
libcompiler_a_SOURCES += \
	compiler/report/clean.c \
	compiler/report/diag.c \
	compiler/report/diag_print.c \
	compiler/report/diag_report.c \
	compiler/report/json.c \
	compiler/report/junit.c \
	compiler/report/lines.c \
	compiler/report/position.c \
	compiler/report/report.c \
	compiler/report/report.h \
	compiler/report/source.c \
	compiler/report/suppress.c

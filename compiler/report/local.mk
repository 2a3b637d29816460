# Texts and places in them, diagnostics, and the formats of reports.
libcompiler_a_SOURCES += \
	compiler/report/clean.c \
	compiler/report/clean.h \
	compiler/report/diag.c \
	compiler/report/diag.h \
	compiler/report/diag_print.c \
	compiler/report/diag_print.h \
	compiler/report/diag_report.c \
	compiler/report/diag_report.h \
	compiler/report/json.c \
	compiler/report/junit.c \
	compiler/report/lines.c \
	compiler/report/position.c \
	compiler/report/position.h \
	compiler/report/report.c \
	compiler/report/report.h \
	compiler/report/source.c \
	compiler/report/source.h \
	compiler/report/suppress.c \
	compiler/report/suppress.h \
	compiler/report/write.h

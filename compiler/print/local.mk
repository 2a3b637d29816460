# Statements to text: sbx, YAML, JSON; the one layout.
libsbx_a_SOURCES += \
	compiler/print/fmt.c \
	compiler/print/fmt.h \
	compiler/print/fmt_diff.c \
	compiler/print/sbx.c \
	compiler/print/sheet.c \
	compiler/print/sheet.h \
	compiler/print/sheet_atom.c \
	compiler/print/sheet_atom.h \
	compiler/print/tree.c \
	compiler/print/tree.h \
	compiler/print/write.h \
	compiler/print/yaml.c

# Statements to text: sbx, YAML, JSON; the one layout.
libcompiler_a_SOURCES += \
	compiler/write/fmt.c \
	compiler/write/fmt.h \
	compiler/write/sbx.c \
	compiler/write/sheet.c \
	compiler/write/sheet.h \
	compiler/write/sheet_atom.c \
	compiler/write/sheet_atom.h \
	compiler/write/write.h \
	compiler/write/yaml.c

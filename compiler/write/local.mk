# Statements to text: sbx, YAML, JSON; the one layout.
libcompiler_a_SOURCES += \
	compiler/write/fmt.c \
	compiler/write/sbx.c \
	compiler/write/sheet.c \
	compiler/write/sheet_atom.c \
	compiler/write/write.h \
	compiler/write/yaml.c

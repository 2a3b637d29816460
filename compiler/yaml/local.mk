# YAML and JSON to statements.
libsbx_a_SOURCES += \
	compiler/yaml/atom.c \
	compiler/yaml/atom.h \
	compiler/yaml/entry.c \
	compiler/yaml/entry.h \
	compiler/yaml/policy.c \
	compiler/yaml/policy.h \
	compiler/yaml/problem.c \
	compiler/yaml/problem.h \
	compiler/yaml/stmts.c \
	compiler/yaml/stmts.h \
	compiler/yaml/yaml.c \
	compiler/yaml/yaml.h

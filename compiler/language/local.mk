# Statements: what a policy says before anything is looked up.
libsbx_a_SOURCES += \
	compiler/language/ast.c \
	compiler/language/ast.h

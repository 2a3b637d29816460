# Statements: what a policy says before anything is looked up.
libcompiler_a_SOURCES += \
	compiler/language/ast.c \
	compiler/language/ast.h

# Files to statements: what they include; YAML and JSON.
libcompiler_a_SOURCES += \
	compiler/read/read.c \
	compiler/read/read.h \
	compiler/read/toml.c \
	compiler/read/yaml.c \
	compiler/read/yaml_policy.c \
	compiler/read/yaml_problem.c

# What a newcomer needs: what is wrong here, and the settings of clients.
libcompiler_a_SOURCES += \
	compiler/setup/change.c \
	compiler/setup/chosen.c \
	compiler/setup/clients.c \
	compiler/setup/doctor.c \
	compiler/setup/doctor_agents.c \
	compiler/setup/doctor_machine.c \
	compiler/setup/doctor_policy.c \
	compiler/setup/doctor_project.c \
	compiler/setup/init.c \
	compiler/setup/init_agent.c \
	compiler/setup/init_mcp.c \
	compiler/setup/init_project.c \
	compiler/setup/init_settings.c \
	compiler/setup/init_shell.c \
	compiler/setup/needs.c \
	compiler/setup/place.c \
	compiler/setup/program.c \
	compiler/setup/record.c \
	compiler/setup/server.c \
	compiler/setup/setup.h

# Command lines: options, output, exit status.

script_tests += \
	tests/cli/cli.bats \
	tests/cli/messages.sh \
	tests/cli/packaging.bats \
	tests/cli/yaml.bats

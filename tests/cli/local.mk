# Command lines: options, output, exit status.

test_scripts += \
	tests/cli/cli.bats \
	tests/cli/messages.sh \
	tests/cli/yaml.bats

static_scripts += tests/cli/packaging.bats

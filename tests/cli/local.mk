# Command lines: options, output, exit status.

test_scripts += \
	tests/cli/bindings.sh \
	tests/cli/build.bats \
	tests/cli/bounds.bats \
	tests/cli/check.bats \
	tests/cli/doctor.sh \
	tests/cli/dump.bats \
	tests/cli/init.sh \
	tests/cli/messages.sh \
	tests/cli/options.bats \
	tests/cli/page.sh \
	tests/cli/paths.sh \
	tests/cli/proxy.sh \
	tests/cli/why.bats \
	tests/cli/yaml.bats

static_scripts += \
	tests/cli/editors.sh \
	tests/cli/install.sh
slow_scripts += \
	tests/cli/npm.sh \
	tests/cli/packaging.bats \
	tests/cli/shapes.sh

EXTRA_DIST += tests/cli/sbxc.bash tests/cli/shapes.pl

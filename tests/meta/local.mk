# The sources themselves: who includes whom, what the manual says.

script_tests += \
	tests/meta/layers.sh \
	tests/meta/mandoc.sh \
	tests/meta/manual.sh \
	tests/meta/manual_blob.sh \
	tests/meta/reproducible.sh \
	tests/meta/run.sh \
	tests/meta/schema.sh \
	tests/meta/version.sh

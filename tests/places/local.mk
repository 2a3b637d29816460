# sbxrun where files lie otherwise: in other file systems, in containers.

test_scripts += tests/places/places.sh

EXTRA_DIST += \
	tests/places/idmapped.py \
	tests/places/probes.sh \
	tests/places/rows.sh

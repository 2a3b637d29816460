# sbxrun where files lie otherwise: in other file systems, in containers.

test_scripts += \
	tests/places/containers.sh \
	tests/places/places.sh

EXTRA_DIST += \
	tests/places/contained.sh \
	tests/places/guest.sh \
	tests/places/idmapped.py \
	tests/places/kinds.sh \
	tests/places/probes.sh \
	tests/places/rows.sh

# Anchors and rules to places in the file system.
loader_sources += \
	runtime/bind/anchors.c \
	runtime/bind/bind.c \
	runtime/bind/bind.h \
	runtime/bind/cover.c \
	runtime/bind/cover.h \
	runtime/bind/glob.c \
	runtime/bind/glob.h \
	runtime/bind/listing.c \
	runtime/bind/listing.h \
	runtime/bind/missing.c \
	runtime/bind/missing.h \
	runtime/bind/resolve.c \
	runtime/bind/resolve.h \
	runtime/bind/scratch.c \
	runtime/bind/scratch.h

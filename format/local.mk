# What compiler and loader share: the blob, the verifier, the model.
format_sources = \
	format/addresses.c \
	format/model.h \
	format/advice.def \
	format/protocol.h \
	format/blob.h \
	format/caches.def \
	format/checksum.c \
	format/cut.c \
	format/cut.h \
	format/decimal.c \
	format/text.h \
	format/filter_run.c \
	format/frame.c \
	format/verify.h \
	format/given.c \
	format/glob.c \
	format/index.c \
	format/landlock.c \
	format/landlock.def \
	format/limits.def \
	format/model.c \
	format/names.c \
	format/observed.def \
	format/obstacles.def \
	format/registries.def \
	format/requests.c \
	format/select.c \
	format/setting.c \
	format/sort.c \
	format/states.def \
	format/trapped.def \
	format/utf8.c \
	format/verify.c \
	format/verify_network.c \
	format/watch.c \
	format/ways.c

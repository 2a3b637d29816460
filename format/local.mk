# What compiler and loader share: the blob, the verifier, the model.
format_sources = \
	format/blob.h \
	format/caches.def \
	format/crc32.c \
	format/decimal.c \
	format/decimal.h \
	format/denial.h \
	format/filter_run.c \
	format/filter_run.h \
	format/frame.c \
	format/frame.h \
	format/glob.c \
	format/glob.h \
	format/index.c \
	format/index.h \
	format/landlock.c \
	format/landlock.def \
	format/landlock.h \
	format/limits.def \
	format/model.c \
	format/model.h \
	format/observed.def \
	format/select.c \
	format/select.h \
	format/sort.c \
	format/sort.h \
	format/trapped.def \
	format/trial.h \
	format/utf8.c \
	format/utf8.h \
	format/verify.c \
	format/watch.c \
	format/watch.h

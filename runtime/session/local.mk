# Sessions: a sandbox that is kept, and commands that join it.
loader_sources += \
	runtime/session/enter.c \
	runtime/session/enter.h \
	runtime/session/offer.c \
	runtime/session/offer.h

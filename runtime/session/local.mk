# Sessions: a sandbox that is kept, and commands that join it.
loader_sources += \
	runtime/session/ask.c \
	runtime/session/session.h \
	runtime/session/attend.c \
	runtime/session/decided.c \
	runtime/session/enter.c \
	runtime/session/offer.h \
	runtime/session/guard.c \
	runtime/session/handover.c \
	runtime/session/join.c \
	runtime/session/keeper.c \
	runtime/session/offer.c \
	runtime/session/peer.c \
	runtime/session/sockets.c \
	runtime/session/traced_join.c

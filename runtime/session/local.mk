# Sessions: a sandbox that is kept, and commands that join it.
loader_sources += \
	runtime/session/ask.c \
	runtime/session/ask.h \
	runtime/session/attend.c \
	runtime/session/decided.c \
	runtime/session/decided.h \
	runtime/session/enter.c \
	runtime/session/enter.h \
	runtime/session/guard.c \
	runtime/session/guard.h \
	runtime/session/handover.c \
	runtime/session/handover.h \
	runtime/session/join.c \
	runtime/session/join.h \
	runtime/session/keeper.c \
	runtime/session/keeper.h \
	runtime/session/offer.c \
	runtime/session/offer.h \
	runtime/session/peer.c \
	runtime/session/peer.h \
	runtime/session/sockets.c \
	runtime/session/sockets.h \
	runtime/session/reaper.c \
	runtime/session/reaper.h \
	runtime/session/traced_join.c \
	runtime/session/traced_join.h

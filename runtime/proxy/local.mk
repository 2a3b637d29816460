# The program outside that serves the ways out of a sandbox's network.  What it
# parses and judges is an archive, which the tests link, too.
proxy_sources = \
	runtime/base/file.c \
	runtime/base/files.h \
	runtime/base/out.c \
	runtime/base/out.h \
	runtime/network/remedy.c \
	runtime/network/event.h \
	runtime/proxy/chunks.c \
	runtime/proxy/dns.c \
	runtime/proxy/protocols.h \
	runtime/proxy/fakes.c \
	runtime/proxy/http.c \
	runtime/proxy/socks.c \
	runtime/proxy/target.c \
	runtime/proxy/tls.c

noinst_LIBRARIES += libproxy.a
libproxy_a_SOURCES = $(proxy_sources)

pkglibexec_PROGRAMS += sbx-proxy
sbx_proxy_SOURCES = \
	runtime/network/event.h \
	runtime/proxy/accept.c \
	runtime/proxy/ask.c \
	runtime/proxy/client.c \
	runtime/proxy/confine.c \
	runtime/proxy/conn.c \
	runtime/proxy/connect.c \
	runtime/proxy/decide.c \
	runtime/proxy/events.c \
	runtime/proxy/filter.c \
	runtime/proxy/flow.c \
	runtime/proxy/handover.c \
	runtime/proxy/inside.c \
	runtime/proxy/lookup.c \
	runtime/proxy/lookup_serve.c \
	runtime/proxy/main.c \
	runtime/proxy/proxy.h \
	runtime/proxy/relay.c \
	runtime/proxy/resolve.c
sbx_proxy_LDADD = libproxy.a libformat.a
sbx_proxy_LDFLAGS = $(AM_LDFLAGS) -pthread
# Where a user may write it, each start copies it into memory.
if !SANITIZED
sbx_proxy_LDFLAGS += -s
endif

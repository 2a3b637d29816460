# Fuzzers; their corpus is replayed.

test_scripts += tests/fuzz/replay.sh

helper_programs += \
	tests/fuzz/fuzz_blob \
	tests/fuzz/fuzz_dns \
	tests/fuzz/fuzz_http \
	tests/fuzz/fuzz_learn \
	tests/fuzz/fuzz_library \
	tests/fuzz/fuzz_messages \
	tests/fuzz/fuzz_policy \
	tests/fuzz/fuzz_relay \
	tests/fuzz/fuzz_socks \
	tests/fuzz/fuzz_tls \
	tests/fuzz/fuzz_yaml

tests_fuzz_fuzz_blob_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_dns_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_dns_LDADD = libproxy.a $(LDADD)
tests_fuzz_fuzz_http_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_http_LDADD = libproxy.a $(LDADD)
tests_fuzz_fuzz_learn_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_library_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_library_LDADD = libsbx_pic.a
tests_fuzz_fuzz_library_LDFLAGS = $(AM_LDFLAGS) -pthread
tests_fuzz_fuzz_messages_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_policy_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_relay_SOURCES = \
	tests/fuzz/fuzz_relay.c \
	runtime/proxy/client.c \
	runtime/proxy/conn.c \
	runtime/proxy/connect.c \
	runtime/proxy/decide.c \
	runtime/proxy/flow.c \
	runtime/proxy/flow.h \
	runtime/proxy/proxy.h \
	runtime/proxy/relay.c
tests_fuzz_fuzz_relay_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_relay_LDADD = libproxy.a $(LDADD)
# Calls that may fail, and those that lead to a server.
tests_fuzz_fuzz_relay_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=splice -Wl,--wrap=recv -Wl,--wrap=send -Wl,--wrap=write \
	-Wl,--wrap=pipe2 -Wl,--wrap=epoll_ctl -Wl,--wrap=getsockopt \
	-Wl,--wrap=shutdown -Wl,--wrap=malloc -Wl,--wrap=calloc \
	-Wl,--wrap=socket -Wl,--wrap=connect
tests_fuzz_fuzz_socks_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_socks_LDADD = libproxy.a $(LDADD)
tests_fuzz_fuzz_tls_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_tls_LDADD = libproxy.a $(LDADD)
tests_fuzz_fuzz_yaml_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY

EXTRA_DIST += \
	tests/fuzz/blob \
	tests/fuzz/dns \
	tests/fuzz/fuzz.h \
	tests/fuzz/http \
	tests/fuzz/learn \
	tests/fuzz/library \
	tests/fuzz/messages \
	tests/fuzz/policy \
	tests/fuzz/relay \
	tests/fuzz/socks \
	tests/fuzz/tls \
	tests/fuzz/yaml

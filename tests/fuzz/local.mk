# Fuzzers; their corpus is replayed.

test_scripts += tests/fuzz/replay.sh

fuzzers = \
	tests/fuzz/fuzz_bind \
	tests/fuzz/fuzz_blob \
	tests/fuzz/fuzz_build \
	tests/fuzz/fuzz_compare \
	tests/fuzz/fuzz_dns \
	tests/fuzz/fuzz_explain \
	tests/fuzz/fuzz_http \
	tests/fuzz/fuzz_import \
	tests/fuzz/fuzz_learn \
	tests/fuzz/fuzz_library \
	tests/fuzz/fuzz_policy \
	tests/fuzz/fuzz_relay \
	tests/fuzz/fuzz_socks \
	tests/fuzz/fuzz_tls \
	tests/fuzz/fuzz_yaml
if HAVE_OPENSSL
fuzzers += tests/fuzz/fuzz_requests
endif
helper_programs += $(fuzzers)
kept_programs = tests/fuzz/kept_programs.c tests/fuzz/kept_programs.h

tests_fuzz_fuzz_bind_SOURCES = \
	tests/fuzz/fuzz_bind.c \
	tests/fuzz/bind_tree.c \
	tests/fuzz/bind_tree.h \
	runtime/base/arena.c \
	runtime/base/directory.c \
	runtime/base/file.c \
	runtime/base/limits.c \
	runtime/base/out.c \
	runtime/base/own.c \
	runtime/base/path.c \
	runtime/base/sha256.c \
	runtime/base/spelling.c \
	runtime/bind/agent.c \
	runtime/bind/anchors.c \
	runtime/bind/bind.c \
	runtime/bind/ceiling.c \
	runtime/bind/follow.c \
	runtime/bind/git_includes.c \
	runtime/bind/git_settings.c \
	runtime/bind/glob.c \
	runtime/bind/listing.c \
	runtime/bind/missing.c \
	runtime/bind/owners.c \
	runtime/bind/planted.c \
	runtime/bind/registries.c \
	runtime/bind/rule_index.c \
	runtime/bind/rules.c \
	runtime/bind/scratch.c \
	runtime/bind/services.c \
	runtime/bind/sockets.c
tests_fuzz_fuzz_bind_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
# What ends sbxrun ends an input.
tests_fuzz_fuzz_bind_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=refuse -Wl,--wrap=refuse_at \
	-Wl,--wrap=warn_at -Wl,--wrap=warn_about
tests_fuzz_fuzz_blob_SOURCES = \
	tests/fuzz/fuzz_blob.c \
	tests/fuzz/blob_mutator.c \
	tests/fuzz/blob_mutator.h \
	$(kept_programs)
tests_fuzz_fuzz_blob_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_blob_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=programs_get
tests_fuzz_fuzz_build_SOURCES = \
	tests/fuzz/fuzz_build.c \
	$(kept_programs)
tests_fuzz_fuzz_build_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_build_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=programs_get
tests_fuzz_fuzz_compare_SOURCES = \
	tests/fuzz/fuzz_compare.c \
	$(kept_programs) \
	tests/model/drafts.c \
	tests/model/pair.c \
	tests/model/universe.c
tests_fuzz_fuzz_compare_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_compare_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=programs_get
tests_fuzz_fuzz_dns_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_dns_LDADD = libproxy.a $(LDADD)
tests_fuzz_fuzz_explain_SOURCES = \
	tests/fuzz/fuzz_explain.c \
	runtime/base/arena.c \
	runtime/base/files.h \
	runtime/base/json.c \
	runtime/base/limits.c \
	runtime/base/options.h \
	runtime/base/out.h \
	runtime/base/out.c \
	runtime/base/path.c \
	runtime/bind/rule_index.c \
	runtime/bind/bind.h \
	runtime/explain/denials.c \
	runtime/explain/explain.h \
	runtime/explain/hosts.c \
	runtime/explain/judge.c \
	runtime/explain/learn.c \
	runtime/explain/trail.c \
	runtime/listen/beyond.c \
	runtime/listen/caller.c \
	runtime/listen/answers.h \
	runtime/listen/destination.c \
	runtime/listen/loopback.c \
	runtime/listen/observe.c \
	runtime/network/decisions.c \
	runtime/network/network.h \
	runtime/network/remedy.c \
	runtime/network/event.h
# The checked forms of calls have other names.
tests_fuzz_fuzz_explain_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY \
	-U_FORTIFY_SOURCE
# What the observer asks of the command and of the file system.
tests_fuzz_fuzz_explain_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=process_vm_readv -Wl,--wrap=file_read \
	-Wl,--wrap=readlink -Wl,--wrap=fstatat -Wl,--wrap=lstat \
	-Wl,--wrap=access -Wl,--wrap=syscall -Wl,--wrap=close \
	-Wl,--wrap=open -Wl,--wrap=ioctl -Wl,--wrap=getsockopt \
	-Wl,--wrap=read -Wl,--wrap=recv -Wl,--wrap=send
tests_fuzz_fuzz_http_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_http_LDADD = libproxy.a $(LDADD)
tests_fuzz_fuzz_import_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_learn_SOURCES = \
	tests/fuzz/fuzz_learn.c \
	$(kept_programs)
tests_fuzz_fuzz_learn_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_learn_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=compile -Wl,--wrap=programs_get
tests_fuzz_fuzz_library_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_library_LDADD = libsbx_pic.a
tests_fuzz_fuzz_library_LDFLAGS = $(AM_LDFLAGS) -pthread
tests_fuzz_fuzz_policy_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_relay_SOURCES = \
	tests/fuzz/fuzz_relay.c \
	runtime/proxy/ask.c \
	runtime/proxy/client.c \
	runtime/proxy/conn.c \
	runtime/proxy/connect.c \
	runtime/proxy/decide.c \
	runtime/proxy/flow.c \
	runtime/proxy/handover.c \
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
tests_fuzz_fuzz_requests_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS) \
	-DFUZZ_REPLAY
tests_fuzz_fuzz_requests_LDADD = libtls.a libproxy.a $(LDADD) $(OPENSSL_LIBS)
tests_fuzz_fuzz_socks_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_socks_LDADD = libproxy.a $(LDADD)
tests_fuzz_fuzz_tls_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_fuzz_tls_LDADD = libproxy.a $(LDADD)
tests_fuzz_fuzz_yaml_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY

EXTRA_DIST += \
	tests/fuzz/bind \
	tests/fuzz/blob \
	tests/fuzz/build \
	tests/fuzz/compare \
	tests/fuzz/dns \
	tests/fuzz/explain \
	tests/fuzz/fuzz.h \
	tests/fuzz/http \
	tests/fuzz/import \
	tests/fuzz/learn \
	tests/fuzz/library \
	tests/fuzz/policy \
	tests/fuzz/relay \
	tests/fuzz/requests \
	tests/fuzz/run.sh \
	tests/fuzz/socks \
	tests/fuzz/tls \
	tests/fuzz/yaml

# `make fuzz FUZZ_SECONDS=600 FUZZERS="blob dns"`: all of it compiled once more, by
# clang and with what libFuzzer counts, in ./fuzz.
FUZZ_SECONDS = 60
FUZZERS =
fuzz_run = srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' \
	FUZZ_SECONDS='$(FUZZ_SECONDS)' FUZZERS='$(FUZZERS)' \
	$(srcdir)/tests/fuzz/run.sh

fuzz/Makefile: Makefile
	$(AM_V_GEN)$(MKDIR_P) fuzz && cd fuzz && \
	    env -u CFLAGS -u LDFLAGS $(abs_srcdir)/configure -q CC=clang \
	    CPPFLAGS=-UFUZZ_REPLAY CFLAGS='-g -O1 -fsanitize=fuzzer-no-link' \
	    --enable-sanitizers >/dev/null

fuzz-build: fuzz/Makefile sbxrun$(EXEEXT)
	$(MAKE) -C fuzz grammar/policy.h
	$(MAKE) -C fuzz AM_LDFLAGS='$$(SANITIZE) -fsanitize=fuzzer' $(fuzzers)

fuzz: fuzz-build
	@$(fuzz_run) fuzz
fuzz-corpus: fuzz-build
	@$(fuzz_run) grow

.PHONY: fuzz fuzz-build fuzz-corpus

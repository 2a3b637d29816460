# The program that ends TLS, where a policy needs it and OpenSSL is there; it alone
# is linked to it.  What it reads and writes is an archive for the tests.
EXTRA_DIST += runtime/tls/tls.h

if HAVE_OPENSSL
noinst_LIBRARIES += libtls.a
libtls_a_SOURCES = \
	runtime/tls/finder.c \
	runtime/tls/heads.c \
	runtime/tls/secrets.c \
	runtime/tls/tls.h
libtls_a_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)

pkglibexec_PROGRAMS += sbx-tls
sbx_tls_SOURCES = \
	runtime/proxy/confine.c \
	runtime/proxy/filter.c \
	runtime/proxy/proxy.h \
	runtime/tls/authority.c \
	runtime/tls/main.c \
	runtime/tls/talk.c \
	runtime/tls/tls.h
sbx_tls_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)
sbx_tls_LDADD = libtls.a libproxy.a libformat.a $(OPENSSL_LIBS)
# Where a user may write it, each start copies it into memory.
if !SANITIZED
sbx_tls_LDFLAGS = $(AM_LDFLAGS) -s
endif
endif

/*
 * sbx-tls: ends TLS for the names whose requests a policy judges, or which a secret
 * may go to.  sbxrun starts it before the command, once, with the secrets and the
 * machine's roots; sbx-proxy then hands it connections that it has made:
 *
 *	client <- TLS by an authority of this run -> sbx-tls <- TLS -> server
 *
 * It makes no socket, opens no file and runs nothing.
 */
#include "runtime/proxy/proxy.h"
#include "runtime/tls/tls.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
	TALKS_MAX = 500,
	TALK_DESCRIPTORS = 2,
	OWN_DESCRIPTORS_TLS = 32,
	ROOTS_MAX = 8 << 20,
	START_MAX = 1 << 18,
	WAIT = 250,
};

/* --- what is handed over --------------------------------------------------- */

/* Its bytes, with a NUL behind them; NULL: it is longer than that, or nothing. */
static char *
read_all(int fd, size_t most, size_t *len)
{
	char *bytes = malloc(most + 1);
	ssize_t got = 1;

	*len = 0;
	while (bytes != NULL && *len < most && got > 0) {
		got = read(fd, bytes + *len, most - *len);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			*len += (size_t)got;
	}
	if (bytes == NULL || got != 0)
		return NULL;
	bytes[*len] = '\0';
	return bytes;
}

static void
send_all(const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t count = send(TLS_START, at, len, MSG_NOSIGNAL);

		if (count < 0 && errno != EINTR)
			proxy_fail("cannot answer sbxrun", errno);
		at += count > 0 ? count : 0;
		len -= count > 0 ? (size_t)count : 0;
	}
}

static void
send_bytes(uint32_t name, const char *bytes, size_t len)
{
	const struct tls_secret header = { name, (uint32_t)len };

	send_all(&header, sizeof header);
	send_all(bytes, len);
}

/* sbxrun refuses the run with this line. */
__attribute__((noreturn)) static void
refuse_start(const char *why)
{
	const struct tls_start start = { TLS_VERSION, TLS_REFUSED };

	send_all(&start, sizeof start);
	send_bytes(0, why, strlen(why));
	_exit(EXIT_REFUSED);
}

static void
read_blob(struct tls *tls)
{
	size_t size;
	char *bytes = read_all(TLS_POLICY, SBX_MAX_SIZE, &size);

	if (bytes == NULL ||
	    sbx_verify((uint8_t *)bytes, size, &tls->blob) != SBX_BLOB_OK)
		refuse_start("sbx-tls cannot read the policy");
	for (uint32_t i = 0; i < tls->blob.name_count; i++)
		tls->judges |= tls->blob.names[i].path != 0;
	close(TLS_POLICY);
}

/* They are copied into memory that is locked. */
static const char *
read_secrets(struct tls *tls)
{
	size_t len;
	char *bytes = read_all(TLS_START, START_MAX, &len);
	const char *why = "the secrets cannot be read";

	if (bytes == NULL)
		return why;
	why = secrets_take(tls->secrets, &tls->blob, (uint8_t *)bytes, len);
	OPENSSL_cleanse(bytes, len);
	free(bytes);
	return why;
}

static void
answer_start(const struct tls *tls)
{
	const struct secrets *secrets = tls->secrets;
	const struct tls_start start = { TLS_VERSION,
		(uint32_t)secrets->count };
	char pem[TLS_TEXT_MAX];
	size_t len = authority_pem(tls->authority, pem);

	if (len == 0)
		refuse_start("the policy has too many names whose TLS is "
			     "ended");
	send_all(&start, sizeof start);
	for (size_t i = 0; i < secrets->count; i++)
		send_bytes(secrets->all[i].name, secrets->all[i].placeholder,
		    secrets->all[i].len);
	send_bytes(0, pem, len);
	close(TLS_START);
}

/* --- TLS -------------------------------------------------------------------- */

/* HTTP/2 is not read here; who can do no other is refused. */
static int
choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *len,
    const unsigned char *in, unsigned in_len, void *unused)
{
	static const unsigned char wanted[] = "\x08http/1.1";
	unsigned char *chosen;

	(void)ssl;
	(void)unused;
	if (SSL_select_next_proto(&chosen, len, wanted, sizeof wanted - 1, in,
		in_len) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *
make_context(const SSL_METHOD *method)
{
	enum { READ_AHEAD = 1 << 16 };
	SSL_CTX *context = SSL_CTX_new(method);

	if (context == NULL ||
	    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1)
		return NULL;
	SSL_CTX_set_mode(context,
	    SSL_MODE_ENABLE_PARTIAL_WRITE |
		SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_options(context,
	    SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(context, 0);
	SSL_CTX_set_read_ahead(context, 1);
	SSL_CTX_set_default_read_buffer_len(context, READ_AHEAD);
	return context;
}

static bool
make_contexts(struct tls *tls)
{
	static const unsigned char protocols[] = "\x08http/1.1";

	tls->clients = make_context(TLS_server_method());
	tls->servers = make_context(TLS_client_method());
	if (tls->clients == NULL || tls->servers == NULL)
		return false;
	SSL_CTX_set_alpn_select_cb(tls->clients, choose_protocol, NULL);
	SSL_CTX_set_verify(tls->servers, SSL_VERIFY_PEER, NULL);
	return SSL_CTX_set_alpn_protos(tls->servers, protocols,
		   sizeof protocols - 1) == 0;
}

/* While sbxrun goes on. */
static void
take_roots(struct tls *tls, const char *roots, size_t len)
{
	X509_STORE *store = SSL_CTX_get_cert_store(tls->servers);
	BIO *bio = BIO_new_mem_buf(roots, (int)len);
	X509 *root;

	while (bio != NULL &&
	    (root = PEM_read_bio_X509_AUX(bio, NULL, NULL, NULL)) != NULL) {
		X509_STORE_add_cert(store, root);
		X509_free(root);
	}
	BIO_free(bio);
	ERR_clear_error();
}

/* --- work --------------------------------------------------------------------- */

static void
take_sockets(const struct msghdr *message, int sockets[2])
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);

	sockets[0] = sockets[1] = -1;
	if (header != NULL && header->cmsg_level == SOL_SOCKET &&
	    header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(2 * sizeof(int)))
		memcpy(sockets, CMSG_DATA(header), 2 * sizeof(int));
}

/* False: there will be no more. */
static bool
take_work(struct tls *tls)
{
	char head[HTTP_HEAD_MAX];
	struct tls_work work;
	struct iovec parts[] = { { &work, sizeof work },
		{ head, sizeof head } };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control;

	for (;;) {
		struct msghdr message = {
			.msg_iov = parts,
			.msg_iovlen = 2,
			.msg_control = control.bytes,
			.msg_controllen = sizeof control.bytes,
		};
		ssize_t len = recvmsg(TLS_WORK, &message,
		    MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		int sockets[2];

		if (len < 0 && errno == EINTR)
			continue;
		if (len <= 0)
			return len < 0 && errno == EAGAIN;
		take_sockets(&message, sockets);
		if ((size_t)len >= sizeof work && sockets[0] >= 0 &&
		    work.version == TLS_VERSION &&
		    memchr(work.name, '\0', sizeof work.name) != NULL &&
		    work.head_size == (size_t)len - sizeof work) {
			talk_begin(tls, &work, head, sockets);
			continue;
		}
		for (size_t i = 0; i < 2 && sockets[i] >= 0; i++)
			close(sockets[i]);
	}
}

static void
set_time(struct tls *tls)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	tls->now = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
serve(struct tls *tls)
{
	enum { EVENTS = 128 };
	struct epoll_event events[EVENTS];
	struct epoll_event work = { .events = EPOLLIN, .data.ptr = NULL };
	bool more = true;

	if (epoll_ctl(tls->epoll, EPOLL_CTL_ADD, TLS_WORK, &work) != 0)
		proxy_fail("cannot wait for connections", errno);
	while (more) {
		int wait = tls->unready ? 0 : tls->count > 0 ? WAIT : -1;
		int count = epoll_wait(tls->epoll, events, EVENTS, wait);

		if (count < 0 && errno != EINTR)
			proxy_fail("cannot wait for connections", errno);
		set_time(tls);
		for (int i = 0; i < count; i++) {
			if (events[i].data.ptr != NULL)
				talk_run(tls, events[i].data.ptr);
			else
				more = take_work(tls);
		}
		talks_sweep(tls);
	}
	talks_end(tls);
}

static void
raise_descriptors(struct tls *tls)
{
	const uint64_t wanted = TALKS_MAX * TALK_DESCRIPTORS +
	    OWN_DESCRIPTORS_TLS;
	struct rlimit_pair limit;

	if (limit_process(RLIMIT_NOFILE, NULL, &limit) != 0)
		proxy_fail("cannot ask for the limit of open files", errno);
	limit.soft = limit.hard < wanted ? limit.hard : wanted;
	if (limit_process(RLIMIT_NOFILE, &limit, NULL) != 0 ||
	    limit.soft <= OWN_DESCRIPTORS_TLS)
		proxy_fail("cannot have as many files open as are needed",
		    errno);
	tls->max = (limit.soft - OWN_DESCRIPTORS_TLS) / TALK_DESCRIPTORS;
}

int
main(int argc, char **argv)
{
	struct tls *tls = calloc(1, sizeof *tls);
	struct secrets *secrets = calloc(1, sizeof *secrets);
	const char *why;
	char *roots;
	size_t roots_len;

	(void)argv;
	if (argc != 2 || tls == NULL || secrets == NULL ||
	    fcntl(TLS_START, F_GETFD) < 0)
		proxy_fail("sbxrun starts this program", 0);
	end_with_parent(getppid());
	signal(SIGPIPE, SIG_IGN);
	tls->secrets = secrets;
	raise_descriptors(tls);
	read_blob(tls);
	roots = read_all(TLS_ROOTS, ROOTS_MAX, &roots_len);
	close(TLS_ROOTS);
	tls->epoll = epoll_create1(EPOLL_CLOEXEC);
	/* What OpenSSL would look for later, it finds now. */
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1 ||
	    tls->epoll < 0 || !make_contexts(tls))
		refuse_start("sbx-tls cannot begin");
	confine_process(CONFINED_TLS);
	why = read_secrets(tls);
	if (why != NULL)
		refuse_start(why);
	tls->authority = authority_new(&tls->blob);
	if (tls->authority == NULL)
		refuse_start("sbx-tls cannot make an authority for this run");
	answer_start(tls);
	if (roots != NULL)
		take_roots(tls, roots, roots_len);
	free(roots);
	set_time(tls);
	serve(tls);
	OPENSSL_cleanse(secrets, sizeof *secrets);
	return 0;
}

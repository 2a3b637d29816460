/* sbx-tls: requests to names whose TLS is ended, and secrets that go with them. */
#ifndef SBX_RUNTIME_TLS_TLS_H
#define SBX_RUNTIME_TLS_TLS_H

#include "format/model.h"
#include "runtime/base/out.h"
#include "runtime/network/event.h"
#include "runtime/proxy/protocols.h"

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- finder.c ---------------------------------------------------------- */

/*
 * Looks for many texts at once, and puts another of the same length in the place
 * of each.  It skips what cannot be the end of one (Wu and Manber, 1994).
 */

enum { FINDER_MAX = 128 };

struct needle {
	const char *at, *with;
	size_t len;
};

struct finder {
	size_t count, min, max; /* texts; the shortest and the longest */
	struct needle needles[FINDER_MAX];
	uint8_t shift[1 << 16]; /* how far two bytes are from an end */
};

/* A text, which stays where it is; at least two bytes, at most FINDER_MAX times. */
void finder_add(struct finder *finder, const char *at, const char *with,
    size_t len);
/* When all are there. */
void finder_prepare(struct finder *finder);
/* How many bytes at the end may begin a text that goes on behind them. */
size_t finder_replace(const struct finder *finder, char *bytes, size_t len);

/* --- secrets.c --------------------------------------------------------- */

/*
 * Inside, another text of the same length stands for a secret, and begins as it
 * does where everybody knows the beginning.  So a head and a body keep their
 * lengths, whichever of the two is in them.
 */

enum { SECRETS_MAX = 32 }; /* FINDER_MAX / 4 */

struct secret {
	uint32_t name; /* in the blob's strings */
	size_t len;
	char *value, *placeholder; /* in locked memory */
};

struct secrets {
	size_t count;
	struct secret all[SECRETS_MAX];
	/* From what a server sends: each secret, and three texts of which one is
	 * in whatever has it in base64. */
	struct finder echoes;
};

/* Takes what sbxrun sends; NULL, or why it cannot be used. */
const char *secrets_take(struct secrets *secrets, const struct sbx_blob *blob,
    const uint8_t *bytes, size_t len);

/* What a head has of secrets. */
struct swap {
	const struct secrets *secrets;
	uint32_t may;     /* a bit for each that may go with the request */
	uint32_t carried; /* those that do */
	const struct secret *refused;
};

/* Puts secrets in the place of what stands for them; false: one is refused. */
bool swap_text(struct swap *swap, char *text, size_t len);
/* The same within the base64 of a field Authorization. */
bool swap_basic(struct swap *swap, char *text, size_t len);
/* Which secret a text names by its placeholder, or NULL. */
const struct secret *secrets_find(const struct secrets *secrets,
    const char *text, size_t len);

/* --- heads.c ----------------------------------------------------------- */

enum {
	ANSWER_HEAD_MAX = 32768,
	HEAD_ADDED = 256, /* bytes that are longer than what was read */
};

/* Why a request does not pass as it is. */
enum head_fault {
	HEAD_OK,
	HEAD_LONG,
	HEAD_SECRET,   /* swap->refused */
	HEAD_TARGET,   /* the same, and it stands in the path or the query */
	HEAD_OVERRIDE, /* of the method or the path, in a field */
	HEAD_UPGRADE,
	HEAD_EXPECT,
};

struct head_rules {
	bool judges; /* methods */
	bool
	    guarded; /* some secret may go with it: the answer must be readable */
};

/* The request as it goes to the server.  What is for one connection alone is left
 * out. */
enum head_fault head_request(const struct http_request *request,
    struct head_rules rules, struct swap *swap,
    char head[HTTP_HEAD_MAX + HEAD_ADDED], size_t *len, bool *expects);

struct answer {
	size_t head; /* bytes */
	unsigned status;
	struct http_request frame; /* its first line, fields, and body */
	bool until_end;            /* the body is all that comes */
	bool last;                 /* no other request may follow */
	bool encoded;
};

/* The head of an answer to a request (HEAD has no body); PARSED_BAD has a
 * frame.fault. */
enum parsed answer_parse(const char *bytes, size_t len, bool is_head,
    struct answer *answer);
/* As it goes to the client; its length, at most that of the head and
 * HEAD_ADDED. */
size_t answer_write(const struct answer *answer, bool last, char *head);

/* --- authority.c ------------------------------------------------------- */

/*
 * An authority of this run: its key is in no file, and it can speak for the names
 * alone of which TLS is ended.
 */

struct authority;

/* NULL: OpenSSL says why. */
struct authority *authority_new(const struct sbx_blob *blob);
/* Its certificate as PEM; the length, or 0. */
size_t authority_pem(const struct authority *authority,
    char text[TLS_TEXT_MAX]);
/* Gives a connection the certificate of a name, which is made once. */
bool authority_use(struct authority *authority, SSL *ssl, const char *name);

/* --- talk.c ------------------------------------------------------------ */

struct talk;

struct tls {
	struct sbx_blob blob;
	struct secrets *secrets;
	bool judges; /* some rule is about methods */
	struct authority *authority;
	SSL_CTX *clients, *servers;
	int epoll;
	size_t count, max; /* of connections */
	struct talk *talks;
	bool unready;  /* some have more to do in the next turn */
	uint64_t lost; /* events */
	int64_t now;   /* milliseconds */
};

/* Takes both sockets; whatever goes wrong is told, and ends them. */
void talk_begin(struct tls *tls, const struct tls_work *work, const char *head,
    const int sockets[2]);
/* Does what can be done now. */
void talk_run(struct tls *tls, struct talk *talk);
/* Those that wait for too long, have more to do or have ended. */
void talks_sweep(struct tls *tls);
void talks_end(struct tls *tls);

#endif

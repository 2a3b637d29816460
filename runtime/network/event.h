/* What sbx-proxy is handed, and what it reports. */
#ifndef SBX_RUNTIME_NETWORK_EVENT_H
#define SBX_RUNTIME_NETWORK_EVENT_H

#include "format/blob.h"
#include "format/model.h"
#include "runtime/base/out.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What sbx-proxy tells the supervisor: one record for each decision, over a
 * socket that keeps records apart.  Whoever took the proxy over could send
 * anything, so nothing in a record is believed but for the words of a report.
 */

enum {
	PROXY_EVENT_VERSION = 3,
	PROXY_EVENT_NAME = 256,
};

#define PROXY_NO_RULE_INDEX UINT32_MAX

/* On which way somebody came. */
enum proxy_via {
	PROXY_BY_RESOLVER,
	PROXY_BY_HTTP,
	PROXY_BY_SOCKS,
	PROXY_BY_ADDRESS, /* that the resolver had given for a name */
	PROXY_BY_ENDPOINT,
	PROXY_BY_HOST,
	PROXY_BY_PUBLISH,
	PROXY_VIA_END,
};

enum proxy_verdict {
	PROXY_ALLOWED,
	PROXY_DENIED,     /* by a rule */
	PROXY_NO_RULE,    /* no rule allows it */
	PROXY_PRIVATE,    /* the name has only addresses that are not public */
	PROXY_RESERVED,   /* and to none of them any name may lead */
	PROXY_OTHER_NAME, /* TLS, or a request of HTTP, was for another name */
	PROXY_NO_NAME,    /* it was for none, or no such thing */
	PROXY_NO_SUCH_NAME,
	PROXY_FAILED, /* nobody answered there */
	PROXY_LIMIT,  /* of the proxy */
	/* Behind the name is what was asked for: "METHOD /path". */
	PROXY_REQUEST,     /* no rule allows this request, or one denies it */
	PROXY_SECRET,      /* it carries a secret that may not go there */
	PROXY_MALFORMED,   /* two readers could understand it in two ways */
	PROXY_PROTOCOL,    /* this is no HTTP/1, or it changes to another */
	PROXY_CERTIFICATE, /* that of the server is not believed */
	PROXY_DISTRUSTED,  /* the client did not believe ours */
	PROXY_ANSWERED,    /* allowed by who was asked */
	PROXY_REFUSED,     /* and by him refused */
	PROXY_UNANSWERED,
	PROXY_VERDICT_END,
};

enum proxy_kind {
	PROXY_DECISION,
	PROXY_BYTES, /* an allowed connection has ended: what it has moved */
	PROXY_KIND_END,
};

struct proxy_event {
	uint32_t version;
	uint8_t via;     /* enum proxy_via */
	uint8_t verdict; /* enum proxy_verdict */
	uint16_t port;
	uint32_t rule;           /* index in the section of that kind of rule */
	uint32_t kind;           /* enum proxy_kind */
	uint64_t sent, received; /* bytes, as the command sees it */
	char name[PROXY_EVENT_NAME]; /* or an address in words; ends with NUL */
};

_Static_assert(sizeof(struct proxy_event) == 32 + PROXY_EVENT_NAME,
    "a record has no gaps");

/*
 * sbx-tls ends TLS for names whose requests are judged or carry a secret.  sbxrun
 * starts it before the command, and both say this to each other; sbx-proxy then
 * hands connections over to it.
 */
enum tls_descriptor {
	TLS_POLICY = 3, /* the verified blob, in a sealed file */
	TLS_EVENTS,     /* struct proxy_event, to the supervisor */
	TLS_WORK,       /* struct tls_work, from sbx-proxy; its end ends it */
	TLS_START, /* the secrets, from sbxrun, and what it makes of them */
	TLS_ROOTS, /* the certificates that this machine believes */
};

enum {
	TLS_VERSION = 1,
	TLS_SECRET_MIN = 16,   /* bytes of a secret */
	TLS_SECRET_MAX = 4096, /* more would be no field of a request */
	TLS_TEXT_MAX = 8192,
};

#define TLS_REFUSED UINT32_MAX

/* First this, then so many secrets; back come as many of the same length, which
 * stand for them inside, and the certificate that is to be believed there.
 * TLS_REFUSED: a line of text comes instead, which says why. */
struct tls_start {
	uint32_t version, count;
};

/* Its bytes follow. */
struct tls_secret {
	uint32_t name; /* in the blob's strings; 0: it is no secret */
	uint32_t size;
};

/* With the sockets of the client, of which no byte of TLS was taken, and of the
 * server. */
struct tls_work {
	uint32_t version;
	uint16_t port;
	uint8_t via;        /* enum proxy_via */
	uint8_t plain;      /* HTTP without TLS */
	uint32_t rule;      /* of the connection */
	uint32_t head_size; /* bytes of a head that was taken, which follow */
	char name[SBX_NAME_SIZE];
};

/* --- handing.c --------------------------------------------------------- */

enum { HANDING_MAX = SBX_MAX_WAYS + 1 };

struct handing {
	uint32_t count;
	int descriptors[HANDING_MAX];
};

/* False with errno. */
bool handing_send(int socket, const struct handing *handing);

/*
 * Waits for the message; the descriptors are closed by execve(2), and none of
 * them has the number of a standard stream.  No descriptors and true: the other
 * end was closed.
 */
bool handing_receive(int socket, struct handing *handing);

/* --- remedy.c ---------------------------------------------------------- */

/* What was asked for of the name, as sbx-tls says behind it: "GET /a?b"; or "". */
const char *event_request(const struct proxy_event *event);

/*
 * False, and nothing is written: no single rule would.  A rule denies it, which
 * stands elsewhere; or it was no matter of a rule.
 */
bool remedy_put(struct out *out, const struct proxy_event *event);

/* An address in its usual spelling; of IPv4 without the prefix. */
void out_address(struct out *out, const uint8_t address[SBX_ADDRESS_SIZE]);

#endif

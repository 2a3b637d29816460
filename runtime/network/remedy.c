/*
 * A rule that would allow what was refused, as it stands in a policy.  The
 * client of sbx-proxy reads it, and so do the receipt and people.
 */
#include "runtime/network/event.h"

#include "format/model.h"

#include <arpa/inet.h>
#include <string.h>

/* --- addresses ------------------------------------------------------------ */

enum { GROUPS = SBX_ADDRESS_SIZE / 2, V4_BEGIN = SBX_ADDRESS_SIZE - 4 };

static void
out_group(struct out *out, unsigned group)
{
	bool begun = false;

	for (int shift = 12; shift >= 0; shift -= 4) {
		unsigned digit = group >> shift & 15;

		begun |= digit != 0 || shift == 0;
		if (begun)
			out_bytes(out, &"0123456789abcdef"[digit], 1);
	}
}

/* RFC 5952: "::" stands for the first of the longest runs of zeros, of two or
 * more. */
static void
out_v6(struct out *out, const uint8_t address[SBX_ADDRESS_SIZE])
{
	int best = GROUPS, longest = 1;

	for (int i = 0, run = 0; i < GROUPS; i++) {
		run = address[2 * i] == 0 && address[2 * i + 1] == 0 ? run + 1 :
								       0;
		if (run > longest) {
			longest = run;
			best = i + 1 - run;
		}
	}
	for (int i = 0; i < GROUPS; i++) {
		if (i == best) {
			out_text(out, "::");
			i += longest - 1;
			continue;
		}
		if (i > 0 && i != best + longest)
			out_text(out, ":");
		out_group(out,
		    (unsigned)address[2 * i] << 8 | address[2 * i + 1]);
	}
}

void
out_address(struct out *out, const uint8_t address[SBX_ADDRESS_SIZE])
{
	const uint8_t *v4 = address + V4_BEGIN;

	if (sbx_address_is_v4(address))
		out_print(out, "%u.%u.%u.%u", v4[0], v4[1], v4[2], v4[3]);
	else
		out_v6(out, address);
}

/* --- rules ---------------------------------------------------------------- */

/* Of a query the port is not known yet, and of most it will be one of these.  What
 * is neither TLS nor HTTP wants a rule that names the port.  `more` follows it. */
static bool
put_name(struct out *out, const struct proxy_event *event, const char *more,
    size_t more_len)
{
	char name[SBX_NAME_SIZE];

	if (!sbx_name_normal(event->name, strlen(event->name), name))
		return false;
	out_print(out, "allow network domain %s\"%s", more_len > 0 ? "{ " : "",
	    name);
	if (event->port != 0 &&
	    (!sbx_port_is_web(event->port) || event->verdict == PROXY_NO_NAME))
		out_print(out, ":%u", (unsigned)event->port);
	out_text(out, more_len > 0 ? "\" " : "\"");
	out_bytes(out, more, more_len);
	out_text(out, more_len > 0 ? " }" : "");
	return true;
}

const char *
event_request(const struct proxy_event *event)
{
	size_t len = strlen(event->name) + 1;

	return event->verdict >= PROXY_REQUEST &&
		event->verdict <= PROXY_DISTRUSTED && len < sizeof event->name ?
	    event->name + len :
	    "";
}

/* This one request, if no rule denies it and it is here whole and can be written as
 * it is.  The client writes the method: "git-write" would open more than it asked
 * for. */
static bool
put_request(struct out *out, const struct proxy_event *event)
{
	static const char plain[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789/._~- ";
	static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ-";
	const char *request = event_request(event);
	const char *path = request + strspn(request, capitals);
	size_t len = strcspn(request, "?");

	if (event->rule != UINT32_MAX || strspn(request, plain) < len ||
	    strncmp(path, " /", 2) != 0 || strstr(request, "/.") != NULL ||
	    path + strlen(path) == event->name + sizeof event->name - 1 ||
	    strstr(request, "//") != NULL)
		return false;
	return put_name(out, event, request, len);
}

static bool
put_host(struct out *out, uint16_t port)
{
	out_print(out, "allow network host tcp %u", (unsigned)port);
	return true;
}

/* No rule may name an address of the machine itself; its services have rules
 * of their own.  None is told where a cloud gives out the machine's
 * credentials. */
static bool
put_endpoint(struct out *out, const struct proxy_event *event)
{
	static const uint8_t here[SBX_ADDRESS_SIZE] = { [10] = 0xff,
		[11] = 0xff,
		[V4_BEGIN] = 127,
		[SBX_ADDRESS_SIZE - 1] = 1 };
	uint8_t address[SBX_ADDRESS_SIZE] = { [10] = 0xff, [11] = 0xff };
	bool v4 = inet_pton(AF_INET, event->name, address + V4_BEGIN) == 1;

	if (!v4 && inet_pton(AF_INET6, event->name, address) != 1)
		return false;
	if (memcmp(address, here, sizeof here) == 0)
		return put_host(out, event->port);
	if (sbx_address_is_reserved(address, SBX_ADDRESS_BITS) ||
	    sbx_address_is_metadata(address))
		return false;
	v4 = sbx_address_is_v4(address);
	out_print(out, "allow network connect %s", v4 ? "" : "[");
	out_address(out, address);
	out_print(out, "%s:%u", v4 ? "" : "]", (unsigned)event->port);
	return true;
}

bool
remedy_put(struct out *out, const struct proxy_event *event)
{
	if (event->verdict == PROXY_REQUEST)
		return put_request(out, event);
	if ((event->verdict != PROXY_NO_RULE &&
		event->verdict != PROXY_PRIVATE &&
		event->verdict != PROXY_NO_NAME &&
		event->verdict != PROXY_UNANSWERED) ||
	    sbx_way_is_reserved(event->port))
		return false;
	switch ((enum proxy_via)event->via) {
	case PROXY_BY_RESOLVER:
	case PROXY_BY_HTTP:
	case PROXY_BY_SOCKS:
	case PROXY_BY_ADDRESS:
		return put_name(out, event, "private",
		    event->verdict == PROXY_PRIVATE ? 7 : 0);
	case PROXY_BY_ENDPOINT:
		return put_endpoint(out, event);
	case PROXY_BY_HOST:
		return put_host(out, event->port);
	case PROXY_BY_PUBLISH:
		out_print(out, "allow network publish tcp %u",
		    (unsigned)event->port);
		return true;
	case PROXY_VIA_END:
		break;
	}
	return false;
}

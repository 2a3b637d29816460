/*
 * The networks that mean something, at their edges: the first and the last
 * address belong to each, those beside it do not.  They are written down here
 * once more, as the registries have them.
 */
#include "compiler/policy/kind.h"
#include "format/model.h"
#include "tests/lib/tap.h"

#define countof(array) (sizeof(array) / sizeof *(array))

static bool
is_shut(const uint8_t address[SBX_ADDRESS_SIZE])
{
	return !sbx_address_is_public(address);
}

static bool
is_reserved(const uint8_t address[SBX_ADDRESS_SIZE])
{
	return sbx_address_is_reserved(address, SBX_ADDRESS_BITS);
}

typedef bool asked(const uint8_t address[SBX_ADDRESS_SIZE]);

/* Before and after are NULL where the neighbour belongs to another one. */
struct net {
	const char *before, *first, *last, *after;
};

static const struct net shut[] = {
	{ NULL, "0.0.0.0", "0.255.255.255", "1.0.0.0" },
	{ "9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0" },
	{ "100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0" },
	{ "126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0" },
	{ "168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17" },
	{ "169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0" },
	{ "172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0" },
	{ "191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0" },
	{ "192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0" },
	{ "192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0" },
	{ "192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0" },
	{ "198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0" },
	{ "198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0" },
	{ "203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0" },
	{ "223.255.255.255", "224.0.0.0", "255.255.255.255", NULL },
	{ NULL, "::", "1fff:ffff::ffff", "2000::" },
	{ "2000:ffff:ffff:ffff::", "2001::", "2001:1ff:ffff:ffff::ffff",
	    "2001:200::" },
	{ "2001:db7:ffff::", "2001:db8::", "2001:db8:ffff:ffff::ffff",
	    "2001:db9::" },
	{ "2001:ffff:ffff::", "2002::", "2002:ffff:ffff:ffff::ffff", "2003::" },
	{ "3ffe:ffff:ffff::", "3fff::", "3fff:fff:ffff:ffff::ffff",
	    "3fff:1000::" },
	{ "3fff:ffff:ffff:ffff::ffff",
	    "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL },
};

static const struct net metadata[] = {
	{ "100.100.100.199", "100.100.100.200", "100.100.100.200",
	    "100.100.100.201" },
	{ "168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17" },
	{ "169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0" },
	{ "192.0.0.191", "192.0.0.192", "192.0.0.192", "192.0.0.193" },
	{ "fd00:ec1:ffff::", "fd00:ec2::", "fd00:ec2:ffff:ffff::ffff",
	    "fd00:ec3::" },
	{ "fd20:ce::253", "fd20:ce::254", "fd20:ce::254", "fd20:ce::255" },
	{ "fe7f:ffff::", "fe80::", "febf:ffff:ffff:ffff::ffff", "fec0::" },
};

static const struct net wrapped[] = {
	{ NULL, "::", "::ffff:ffff", "::1:0:0" },
	{ "::fffe:ffff:ffff:ffff", "::ffff:0:0:0", "::ffff:0:ffff:ffff",
	    "::ffff:1:0:0" },
	{ "64:ff9b:0:ffff::", "64:ff9b:1::", "64:ff9b:1:ffff:ffff::ffff",
	    "64:ff9b:2::" },
	{ "2000:ffff::", "2001::", "2001:0:ffff:ffff::ffff", "2001:1::" },
	{ "2001:ffff::", "2002::", "2002:ffff:ffff:ffff::ffff", "2003::" },
	/* Of NAT64 what does not lead to a public address. */
	{ "64:ff9b::9.255.255.255", "64:ff9b::10.0.0.0",
	    "64:ff9b::10.255.255.255", "64:ff9b::11.0.0.0" },
};

static const struct net reserved[] = {
	{ NULL, "0.0.0.0", "0.255.255.255", "1.0.0.0" },
	{ "126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0" },
	{ "198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0" },
	{ "223.255.255.255", "224.0.0.0", "255.255.255.255", NULL },
	{ NULL, "::", "::1", "::2" },
	{ "ff:ffff::", "100::", "100::ffff:ffff:ffff:ffff", "100:0:0:1::" },
	{ "feff:ffff::", "ff00::", "ffff:ffff:ffff:ffff::ffff", NULL },
};

static void
try_one(struct tap *tap, const char *text, asked *is, bool wanted,
    const char *what)
{
	struct host_net net;

	if (text != NULL)
		tap_ok(tap,
		    host_net_parse(text, strlen(text), &net) &&
			is(net.address) == wanted,
		    "%s is%s %s", text, wanted ? "" : " not", what);
}

static void
try_nets(struct tap *tap, const struct net *nets, size_t count, asked *is,
    const char *what)
{
	for (const struct net *net = nets; net < nets + count; net++) {
		try_one(tap, net->before, is, false, what);
		try_one(tap, net->first, is, true, what);
		try_one(tap, net->last, is, true, what);
		try_one(tap, net->after, is, false, what);
	}
}

int
main(void)
{
	struct tap tap = { 0 };

	try_nets(&tap, shut, countof(shut), is_shut, "shut");
	try_nets(&tap, metadata, countof(metadata), sbx_address_is_metadata,
	    "of metadata");
	try_nets(&tap, wrapped, countof(wrapped), sbx_address_is_wrapped,
	    "wrapped");
	try_nets(&tap, reserved, countof(reserved), is_reserved, "reserved");
	return tap_done(&tap);
}

/*
 * Hosts as rules name them: names, addresses, ports.  Each function reads one
 * object, and reports what is wrong with it before it returns false.
 */
#include "compiler/policy/kind.h"

#include "format/model.h"

#include <arpa/inet.h>
#include <string.h>

/* --- ports ---------------------------------------------------------------- */

static bool
is_atom_of_host(const struct ast_atom *atom)
{
	return atom->kind == AST_WORD || atom->kind == AST_STRING ||
	    atom->kind == AST_PATTERN || atom->kind == AST_NUMBER ||
	    atom->kind == AST_RANGE;
}

bool
host_port_read(struct scope *scope, const struct ast_atom *atom, uint16_t *port)
{
	if (atom->kind == AST_NUMBER)
		return object_port(scope, atom, atom->text, strlen(atom->text),
		    port);
	diag_help(diag_add(scope->diags, DIAG_WRONG_OBJECT, atom->loc,
		      "expected a port, found '%s'", atom_text(scope, atom)),
	    "a port is a number, as in 3128");
	return false;
}

bool
host_ports_read(struct scope *scope, const struct ast_atom *atom,
    const char *text, uint16_t *low, uint16_t *high)
{
	size_t len = strcspn(text, "-");

	if (!object_port(scope, atom, text, len, low))
		return false;
	*high = *low;
	if (text[len] == '-' &&
	    !object_port(scope, atom, text + len + 1, strlen(text + len + 1),
		high))
		return false;
	if (*high >= *low)
		return true;
	diag_help(diag_add(scope->diags, DIAG_BAD_PORT, atom->loc,
		      "the range '%s' is empty", text),
	    "did you mean '%u-%u'?", (unsigned)*high, (unsigned)*low);
	return false;
}

/* The sandbox's own resolver and proxy listen there. */
bool
host_ports_free(struct scope *scope, const struct ast_atom *atom, uint16_t low,
    uint16_t high)
{
	static const struct {
		uint16_t port;
		const char *who, *help;
	} taken[] = {
		{ SBX_RESOLVER_PORT, "resolver",
		    "names that are allowed are looked up without a rule" },
		{ SBX_PROXY_PORT, "proxy",
		    "a proxy of the host: 'allow network proxy tcp 3128'" },
	};

	for (size_t i = 0; i < countof(taken); i++) {
		if (taken[i].port < low || taken[i].port > high)
			continue;
		diag_help(diag_add(scope->diags, DIAG_BAD_PORT, atom->loc,
			      "port %u is where the sandbox's own %s listens",
			      (unsigned)taken[i].port, taken[i].who),
		    "%s", taken[i].help);
		return false;
	}
	return true;
}

/* --- addresses ------------------------------------------------------------ */

/* Where the part before "/BITS" ends; 0 if that is no number of bits. */
static size_t
read_bits(const char *text, size_t len, uint64_t *bits)
{
	const char *slash = memchr(text, '/', len);

	if (slash == NULL)
		return len;
	if (len - (size_t)(slash - text) > 4 ||
	    !number_read(slash + 1, text + len, bits))
		return 0;
	return (size_t)(slash - text);
}

bool
host_net_parse(const char *text, size_t len, struct host_net *net)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char host[INET6_ADDRSTRLEN];
	uint64_t bits = UINT64_MAX;

	if (len > 1 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	}
	len = read_bits(text, len, &bits);
	if (len == 0 || len >= sizeof host)
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	if (inet_pton(AF_INET6, host, net->address) == 1) {
		net->prefix = (uint8_t)(bits == UINT64_MAX ? 128 : bits);
		return bits == UINT64_MAX || bits <= 128;
	}
	memcpy(net->address, mapped, sizeof mapped);
	net->prefix = (uint8_t)(bits == UINT64_MAX ? 128 : bits + 96);
	return inet_pton(AF_INET, host, net->address + 12) == 1 &&
	    (bits == UINT64_MAX || bits <= 32);
}

/* How long the address is at the front of a text; what follows is ":PORTS" or
 * nothing. */
static size_t
address_len(const char *text)
{
	const char *bracket = strchr(text, ']'), *colon = strchr(text, ':');

	if (text[0] == '[' && bracket != NULL) {
		colon = strchr(bracket, ':');
		return colon != NULL ? (size_t)(colon - text) : strlen(text);
	}
	/* Several colons without brackets: IPv6, and no port. */
	return colon == NULL || strchr(colon + 1, ':') != NULL ?
	    strlen(text) :
	    (size_t)(colon - text);
}

/* "[fd00::]/8" is "[fd00::/8]". */
static bool
parse_net(const char *text, size_t len, struct host_net *net)
{
	const char *end = memchr(text, ']', len);
	char inner[INET6_ADDRSTRLEN + 8];
	size_t host;

	if (text[0] != '[' || end == NULL || end + 1 == text + len)
		return host_net_parse(text, len, net);
	host = (size_t)(end - text) - 1;
	if (len - 2 >= sizeof inner || end[1] != '/')
		return false;
	memcpy(inner, text + 1, host);
	memcpy(inner + host, end + 1, len - host - 2);
	return host_net_parse(inner, len - 2, net);
}

static const char of_the_host[] = "that is the sandbox itself: a service of "
				  "the host is 'network host tcp %s'";

/* The port at the end of a text, or what stands for one. */
static const char *
port_text(const char *text)
{
	return text[0] == ':' && text[1] != '\0' ? text + 1 : "PORT";
}

static bool
report_address(struct scope *scope, const struct ast_atom *atom, size_t len)
{
	char name[SBX_NAME_SIZE];
	bool named = sbx_name_normal(atom->text, len, name);
	struct diag *diag;

	diag = diag_add(scope->diags, DIAG_BAD_ADDRESS,
	    atom_part(scope, atom, atom->text, len), "'%s' is no address",
	    arena_strndup(scope->arena, atom->text, len));
	if (named && strcmp(name, "localhost") == 0)
		diag_help(diag, of_the_host, port_text(atom->text + len));
	else if (named && strcmp(atom->text, "private") == 0)
		diag_help(diag,
		    "delete the word, which is for names: a rule opens its "
		    "address, private or not");
	else if (named)
		diag_help(diag, "a host by its name: 'network domain %s'",
		    atom->text);
	else
		diag_help(diag,
		    "expected 'tcp' and a port, or an address and a port, as "
		    "in 10.0.0.5:5432 or [fd00::1]:5432");
	return false;
}

static const char *
net_text(struct arena *arena, const struct host_net *net)
{
	bool v4 = net->prefix >= 96 && sbx_address_is_v4(net->address);
	char host[INET6_ADDRSTRLEN];

	inet_ntop(v4 ? AF_INET : AF_INET6, net->address + (v4 ? 12 : 0), host,
	    sizeof host);
	return arena_printf(arena, v4 ? "%s/%u" : "[%s/%u]", host,
	    net->prefix - (v4 ? 96u : 0u));
}

/* Whether a rule may name the network; reports it. */
static bool
net_is_good(struct scope *scope, const struct ast_atom *atom,
    const struct host_net *net, enum sbx_effect effect)
{
	struct host_net masked = *net;
	struct diag *diag;

	for (unsigned bit = net->prefix; bit < SBX_ADDRESS_BITS; bit++)
		masked.address[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
	if (!sbx_address_is_net(net->address, net->prefix)) {
		diag = diag_add(scope->diags, DIAG_BAD_ADDRESS, atom->loc,
		    "'%s' has bits beyond its prefix", atom->text);
		diag_help(diag,
		    "the network is %s; a single address has no '/'",
		    net_text(scope->arena, &masked));
		return false;
	}
	if (effect != SBX_ALLOW ||
	    !sbx_address_is_reserved(net->address, net->prefix))
		return true;
	diag = diag_add(scope->diags, DIAG_BAD_ADDRESS, atom->loc,
	    "'%s' takes in addresses that no rule can open", atom->text);
	diag_help(diag,
	    "127.0.0.0/8 and ::1 are the sandbox itself ('allow network host "
	    "tcp PORT' brings a service of the host there), 198.18.0.0/15 and "
	    "100::/64 are its resolver's; for every address there is 'network "
	    "full'");
	return false;
}

bool
host_address_read(struct scope *scope, const struct ast_atom *atom,
    const struct ast_atom *ports, struct rule *rule)
{
	const char *text = atom->text;
	size_t len = address_len(text);
	struct host_net net;

	if (!is_atom_of_host(atom) || !parse_net(text, len, &net))
		return report_address(scope, atom, len);
	if (!net_is_good(scope, atom, &net, rule->effect))
		return false;
	memcpy(rule->endpoint.address, net.address, sizeof net.address);
	rule->endpoint.prefix = net.prefix;
	if (ports == NULL && text[len] == '\0' && rule->effect != SBX_ALLOW) {
		rule->endpoint.low = 1;
		rule->endpoint.high = UINT16_MAX;
		return true;
	}
	if (ports == NULL && (text[len] == '\0' || text[len + 1] == '\0')) {
		diag_help(diag_add(scope->diags, DIAG_BAD_ADDRESS, atom->loc,
			      "'%s' names no port", text),
		    "write %s:443, or with the ports that are meant",
		    text[len] == '\0' && strchr(text, ':') != NULL &&
			    text[0] != '[' ?
			arena_printf(scope->arena, "[%s]", text) :
			arena_strndup(scope->arena, text, len));
		return false;
	}
	return host_ports_read(scope, ports != NULL ? ports : atom,
		   ports != NULL ? ports->text : text + len + 1,
		   &rule->endpoint.low, &rule->endpoint.high) &&
	    (rule->effect != SBX_ALLOW ||
		host_ports_free(scope, atom, rule->endpoint.low,
		    rule->endpoint.high));
}

/* --- names ---------------------------------------------------------------- */

static bool
is_ascii(const char *text)
{
	while (*text != '\0' && (unsigned char)*text < 0x80)
		text++;
	return *text == '\0';
}

const char *
host_of_url(struct arena *arena, const char *text)
{
	const char *at = strstr(text, "://");

	if (at == NULL && strchr(text, '/') == NULL)
		return NULL;
	at = at == NULL ? text : at + 3;
	return arena_strndup(arena, at, strcspn(at, "/?#"));
}

/* What is wrong with a star in a name. */
static bool
report_star(struct scope *scope, const struct ast_atom *atom, const char *rest)
{
	struct diag *diag = diag_add(scope->diags, DIAG_BAD_HOST, atom->loc,
	    "'%s' is not a host pattern", atom->text);

	if (rest[strcspn(rest, ".*")] == '\0' && *rest != '\0')
		diag_help(diag,
		    "all of '%s' belongs to many owners: write more of the "
		    "name, as in *.example.%s",
		    rest, rest);
	else
		diag_help(diag,
		    "a star stands first and alone, for all names below: "
		    "*.example.com; every host is 'network full'");
	return false;
}

static bool
report_name(struct scope *scope, const struct ast_atom *atom, const char *name)
{
	const char *url = host_of_url(scope->arena, atom->text);
	const char *ascii = NULL;
	struct host_net net;
	size_t len = address_len(atom->text);
	bool local = strcmp(name, "localhost") == 0;
	const char *port = port_text(atom->text + strcspn(atom->text, ":"));
	struct diag *diag = diag_add(scope->diags, DIAG_BAD_HOST, atom->loc,
	    local ? "'%s' leads to no other host" : "'%s' is not a host name",
	    atom->text);

	if (local) {
		diag_help(diag, of_the_host, port);
		return false;
	}
	if (!is_ascii(name))
		ascii = idna_to_ascii(scope->arena, name);
	if (parse_net(atom->text, len, &net) &&
	    sbx_address_is_reserved(net.address, net.prefix))
		diag_help(diag, of_the_host, port_text(atom->text + len));
	else if (parse_net(atom->text, len, &net))
		diag_help(diag,
		    "an address has a rule of its own: 'network connect %s%s'",
		    atom->text, atom->text[len] == '\0' ? ":443" : "");
	else if (ascii != NULL)
		diag_help(diag, "names are written as the DNS has them: '%s'",
		    ascii);
	else if (url != NULL)
		diag_help(diag, "did you mean '%s'?", url);
	else
		diag_help(diag,
		    "letters, digits, '-' and '_' between dots, and last no "
		    "number; an address is for 'network connect'");
	return false;
}

/* What begins with a letter, or is a range. */
static bool
report_port(struct scope *scope, const struct ast_atom *atom, const char *text)
{
	const char *name = arena_strndup(scope->arena, atom->text,
	    (size_t)(text - atom->text) - 1);
	struct diag *diag = diag_add(scope->diags, DIAG_BAD_PORT,
	    atom_part(scope, atom, text, strlen(text)), "'%s' is not a port",
	    text);

	if (strspn(text, "0123456789-") == strlen(text))
		diag_help(diag,
		    "one port stands behind a name: { %s:%.*s  %s:%s }", name,
		    (int)strcspn(text, "-"), text, name,
		    text + strcspn(text, "-") + 1);
	else
		diag_help(diag,
		    "a port is a number, as in %s:443; a name without a port "
		    "is for 80 and 443",
		    name);
	return false;
}

static bool
name_port(struct scope *scope, const struct ast_atom *atom, const char *colon,
    struct rule *rule)
{
	rule->domain.port = 0;
	if (*colon == '\0')
		return true;
	if (strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return report_port(scope, atom, colon + 1);
	return object_port(scope, atom, colon + 1, strlen(colon + 1),
		   &rule->domain.port) &&
	    (rule->effect != SBX_ALLOW ||
		host_ports_free(scope, atom, rule->domain.port,
		    rule->domain.port));
}

bool
host_name_read(struct scope *scope, const struct ast_atom *atom,
    struct rule *rule)
{
	bool below = strncmp(atom->text, "*.", 2) == 0;
	const char *text = atom->text + (below ? 2 : 0);
	size_t len = strcspn(text, ":");
	const char *part = arena_strndup(scope->arena, text, len);
	char name[SBX_NAME_SIZE];

	if (!is_atom_of_host(atom)) {
		diag_help(diag_add(scope->diags, DIAG_WRONG_OBJECT, atom->loc,
			      "expected the name of a host, found '%s'",
			      atom_text(scope, atom)),
		    "as in github.com, *.npmjs.org or github.com:22");
		return false;
	}
	if (memchr(text, '*', len) != NULL)
		return report_star(scope, atom, part);
	if (strncmp(text + len, "://", 3) == 0 ||
	    !sbx_name_normal(text, len, name) ||
	    (strcmp(name, "localhost") == 0 && rule->effect == SBX_ALLOW))
		return report_name(scope, atom, part);
	if (below && strchr(name, '.') == NULL)
		return report_star(scope, atom, name);
	rule->domain.name = arena_intern(scope->arena, name, strlen(name));
	rule->domain.flags |= below ? SBX_NAME_BELOW : 0;
	return name_port(scope, atom, text + len, rule);
}

/*
 * See model.h.  The rules are sorted by name, so the rules about a name are
 * found by looking for it, and then for each name above it.
 */
#include "format/model.h"

static const uint16_t web_ports[] = { 80, 443 };

/* --- spelling ------------------------------------------------------------- */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool
is_label_char(char c)
{
	return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_';
}

static bool
is_label(const char *label, size_t len)
{
	if (len == 0 || len > SBX_LABEL_MAX || label[0] == '-' ||
	    label[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_label_char(label[i]))
			return false;
	}
	return true;
}

/* inet_aton(3) takes a text for an address if its last part is a number. */
static bool
is_number(const char *label, size_t len)
{
	bool hex = len >= 2 && label[0] == '0' && label[1] == 'x';

	for (size_t i = hex ? 2 : 0; i < len; i++) {
		if (!(hex ? is_hex(label[i]) : is_digit(label[i])))
			return false;
	}
	return true;
}

bool
sbx_name_normal(const char *text, size_t len, char name[SBX_NAME_SIZE])
{
	size_t label = 0;

	if (len > 0 && text[len - 1] == '.')
		len--;
	if (len == 0 || len >= SBX_NAME_SIZE)
		return false;
	for (size_t i = 0; i < len; i++)
		name[i] = text[i] >= 'A' && text[i] <= 'Z' ?
		    (char)(text[i] - 'A' + 'a') :
		    text[i];
	name[len] = '\0';
	for (size_t i = 0; i <= len; i++) {
		if (i < len && name[i] != '.')
			continue;
		if (!is_label(name + label, i - label) ||
		    (i == len && is_number(name + label, i - label)))
			return false;
		label = i + 1;
	}
	return true;
}

/* --- verdicts ------------------------------------------------------------- */

int
sbx_name_compare(const char *a, const char *b)
{
	while (*a == *b && *a != '\0') {
		a++;
		b++;
	}
	return (uint8_t)*a - (uint8_t)*b;
}

/* The first rule about exactly this name, or where it would stand. */
static uint32_t
first_rule(const struct sbx_blob *blob, const char *name)
{
	uint32_t low = 0, high = blob->name_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sbx_name_compare(sbx_string(blob, blob->names[middle].name),
			name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool
sbx_port_is_web(uint16_t port)
{
	return port == web_ports[0] || port == web_ports[1];
}

static bool
has_port(const struct sbx_name *rule, uint16_t port)
{
	if (rule->port != 0 || rule->effect != SBX_ALLOW)
		return rule->port == port || rule->port == 0;
	return sbx_port_is_web(port);
}

struct sbx_name_walk
sbx_name_walk(const struct sbx_blob *blob, uint8_t platforms, const char *name,
    uint16_t port)
{
	return (struct sbx_name_walk){
		.blob = blob,
		.at = name,
		.next = first_rule(blob, name),
		.port = port,
		.platforms = platforms,
	};
}

uint32_t
sbx_name_next(struct sbx_name_walk *walk)
{
	const struct sbx_blob *blob = walk->blob;

	while (*walk->at != '\0') {
		uint32_t i = walk->next++;
		const struct sbx_name *rule = &blob->names[i];

		if (i < blob->name_count &&
		    sbx_name_compare(sbx_string(blob, rule->name), walk->at) ==
			0) {
			bool below = rule->flags & SBX_NAME_BELOW;

			if ((rule->platforms & walk->platforms) != 0 &&
			    below == walk->above && has_port(rule, walk->port))
				return i;
			continue;
		}
		while (*walk->at != '\0' && *walk->at++ != '.')
			;
		walk->above = true;
		walk->next = first_rule(blob, walk->at);
	}
	return UINT32_MAX;
}

/* A deny of some requests leaves others. */
struct sbx_name_verdict
sbx_name_verdict(const struct sbx_blob *blob, uint8_t platforms,
    const char *name, uint16_t port)
{
	return sbx_request_verdict(blob, platforms, name, port, NULL);
}

/* Whether a port that a rule about this name allows is not denied. */
static bool
gives_port(const struct sbx_blob *blob, uint8_t platforms, const char *name,
    const char *at)
{
	for (uint32_t i = first_rule(blob, at); i < blob->name_count; i++) {
		const struct sbx_name *rule = &blob->names[i];
		bool below = rule->flags & SBX_NAME_BELOW;
		uint16_t port = rule->port;

		if (sbx_name_compare(sbx_string(blob, rule->name), at) != 0)
			break;
		if (rule->effect != SBX_ALLOW || below != (at != name) ||
		    (rule->platforms & platforms) == 0)
			continue;
		if (sbx_name_verdict(blob, platforms, name,
			port != 0 ? port : web_ports[0])
			.allowed)
			return true;
		if (port == 0 &&
		    sbx_name_verdict(blob, platforms, name, web_ports[1])
			.allowed)
			return true;
	}
	return false;
}

bool
sbx_name_is_known(const struct sbx_blob *blob, uint8_t platforms,
    const char *name)
{
	if (gives_port(blob, platforms, name, name))
		return true;
	for (const char *at = name; *at != '\0'; at++) {
		if (*at == '.' && gives_port(blob, platforms, name, at + 1))
			return true;
	}
	return false;
}

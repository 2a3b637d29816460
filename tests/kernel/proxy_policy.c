/* The policy that the proxy gets: a blob of sbxc's, with more sections. */
#include "tests/kernel/proxy.h"

#include <arpa/inet.h>
#include <stdlib.h>

static uint8_t *
compile(size_t *size)
{
	const char *sbxc = getenv("SBXC"), *srcdir = getenv("srcdir");
	char command[1024];
	uint8_t *bytes = malloc(SBX_MAX_SIZE);
	FILE *stream;

	snprintf(command, sizeof command,
	    "exec '%s' '%s/tests/golden/ok/loopback.sbx' -o -",
	    sbxc != NULL ? sbxc : "build/sbxc", srcdir != NULL ? srcdir : ".");
	stream = popen(command, "r");
	must(stream != NULL && bytes != NULL, "sbxc");
	*size = fread(bytes, 1, SBX_MAX_SIZE, stream);
	must(pclose(stream) == 0 && *size > 0, "sbxc");
	return bytes;
}

struct layout_of {
	uint8_t *bytes;
	size_t used;
	struct sbx_section *table;
	uint32_t count;
};

static void *
put_section(struct layout_of *new, uint32_t kind, uint32_t flags,
    const void *bytes, size_t size)
{
	void *at = new->bytes + new->used;

	new->table[new->count++] = (struct sbx_section){
		.kind = kind,
		.flags = flags,
		.offset = (uint32_t) new->used,
		.size = (uint32_t)size,
	};
	memcpy(at, bytes, size);
	new->used = (new->used + size + 7) / 8 * 8;
	return at;
}

struct records {
	char strings[1 << 18];
	size_t strings_used;
	struct sbx_name names[512];
	struct sbx_endpoint endpoints[64];
	struct sbx_port ports[64];
	size_t name_count, endpoint_count, port_count;
	uint32_t upstream; /* the string of a proxy's path */
};

static int
compare_names(const void *a, const void *b, void *strings)
{
	return strcmp((char *)strings + ((const struct sbx_name *)a)->name,
	    (char *)strings + ((const struct sbx_name *)b)->name);
}

static int
compare_ports(const void *a, const void *b)
{
	const struct sbx_port *left = a, *right = b;

	return left->op != right->op ? left->op - right->op :
				       left->low - right->low;
}

static void
add_rule(struct records *records, const struct rule *rule)
{
	if (rule->name != NULL) {
		size_t len = strlen(rule->name) + 1;

		records->names[records->name_count++] = (struct sbx_name){
			.name = (uint32_t)records->strings_used,
			.source = SBX_NO_SOURCE,
			.port = rule->port,
			.effect = rule->effect,
			.flags = rule->flags,
			.platforms = SBX_ON_LINUX,
		};
		memcpy(records->strings + records->strings_used, rule->name,
		    len);
		records->strings_used += len;
	} else if (rule->address != NULL) {
		struct sbx_endpoint endpoint = {
			.address = { [10] = 0xff, [11] = 0xff },
			.source = SBX_NO_SOURCE,
			.low = rule->port,
			.high = rule->port,
			.prefix = 128,
			.effect = rule->effect,
			.platforms = SBX_ON_LINUX,
		};

		inet_pton(AF_INET, rule->address, endpoint.address + 12);
		records->endpoints[records->endpoint_count++] = endpoint;
	} else {
		records->ports[records->port_count++] = (struct sbx_port){
			.low = rule->port,
			.high = rule->port,
			.effect = rule->effect,
			.op = rule->op,
			.platforms = SBX_ON_LINUX,
			.source = SBX_NO_SOURCE,
		};
	}
}

static void
put_records(struct layout_of *new, struct records *records,
    const struct sbx_proxy *upstream)
{
	if (records->name_count > 0)
		put_section(new, SBX_SECTION_NAMES, SBX_CRITICAL,
		    records->names,
		    records->name_count * sizeof *records->names);
	if (records->endpoint_count > 0)
		put_section(new, SBX_SECTION_ENDPOINTS, SBX_CRITICAL,
		    records->endpoints,
		    records->endpoint_count * sizeof *records->endpoints);
	if (upstream != NULL) {
		struct sbx_proxy *put = put_section(new, SBX_SECTION_PROXY,
		    SBX_CRITICAL, upstream, sizeof *upstream);

		if (put->anchor == SBX_ANCHOR_ROOT)
			put->suffix = records->upstream;
	}
}

void
policy_make(struct stage *stage, const struct rule *rules, size_t count,
    const struct sbx_proxy *upstream)
{
	size_t size;
	uint8_t *old = compile(&size);
	struct sbx_header *header = (void *)old;
	struct sbx_section *table = (void *)(old + sizeof *header);
	struct records *records = calloc(1, sizeof *records);
	struct layout_of new = {
		.bytes = calloc(1, SBX_MAX_SIZE),
		.used = sizeof *header + 24 * sizeof *table,
	};
	bool ports_put = false;

	must(records != NULL && new.bytes != NULL, "memory");
	new.table = (void *)(new.bytes + sizeof *header);
	memcpy(records->strings, old + table[1].offset, table[1].size);
	records->strings_used = table[1].size;
	records->upstream = (uint32_t)records->strings_used;
	strcpy(records->strings + records->strings_used, UPSTREAM_PATH);
	records->strings_used += sizeof UPSTREAM_PATH;
	for (size_t i = 0; i < count; i++)
		add_rule(records, &rules[i]);
	qsort_r(records->names, records->name_count, sizeof *records->names,
	    compare_names, records->strings);
	qsort(records->ports, records->port_count, sizeof *records->ports,
	    compare_ports);
	for (uint32_t i = 0; i < header->section_count; i++) {
		const void *bytes = old + table[i].offset;
		size_t len = table[i].size;
		struct sbx_meta *meta;

		if (!ports_put && table[i].kind >= SBX_SECTION_PORTS) {
			ports_put = true;
			if (records->port_count > 0)
				put_section(&new, SBX_SECTION_PORTS,
				    SBX_CRITICAL, records->ports,
				    records->port_count *
					sizeof *records->ports);
		}
		if (table[i].kind == SBX_SECTION_STRINGS) {
			bytes = records->strings;
			len = records->strings_used;
		}
		meta = put_section(&new, table[i].kind, table[i].flags, bytes,
		    len);
		if (table[i].kind == SBX_SECTION_META)
			meta->net = SBX_NET_SELECTED;
		if (table[i].kind == SBX_SECTION_ANCHORS && upstream != NULL &&
		    upstream->anchor == SBX_ANCHOR_ROOT)
			((struct sbx_anchor *)(void *)meta)->flags |=
			    SBX_ANCHOR_USED;
	}
	put_records(&new, records, upstream);
	/* The table must end where the first section begins. */
	size_t first = (sizeof *header + new.count * sizeof *table + 7) / 8 * 8,
	       shift = sizeof *header + 24 * sizeof *table - first;
	memmove(new.bytes + first, new.bytes + first + shift, new.used - first);
	for (uint32_t i = 0; i < new.count; i++)
		new.table[i].offset -= (uint32_t)shift;
	new.used -= shift;
	/* The last section ends without padding. */
	*(struct sbx_header *)(void *)new.bytes = *header;
	header = (void *)new.bytes;
	header->section_count = new.count;
	header->size = (uint32_t) new.used;
	header->sum = sbx_checksum(new.bytes, new.used);
	free(stage->bytes);
	free(old);
	free(records);
	stage->bytes = new.bytes;
	stage->size = new.used;
	enum sbx_blob_error error = sbx_verify(new.bytes, new.used,
	    &stage->blob);
	if (error != SBX_BLOB_OK) {
		printf("Bail out! the policy: %s\n", sbx_blob_strerror(error));
		exit(99);
	}
}

/* See blob.h: sums over format/landlock.def. */
#include "format/blob.h"

#define BIT(n) (UINT64_C(1) << (n))

struct sbx_landlock
sbx_landlock_row(uint32_t abi, const struct sbx_meta *policy)
{
	bool network = policy->net == SBX_NET_FULL;
	uint64_t list = 0, read = 0, write = 0, exec = 0, never = 0, file = 0;
	uint64_t connect_tcp = 0, listen_tcp = 0, scoped = 0;
	uint32_t flags = 0;

#define LIST list
#define READ read
#define WRITE write
#define EXEC exec
#define NEVER never
#define CONNECT_TCP connect_tcp
#define LISTEN_TCP listen_tcp
#define SIGNAL SBX_SIGNAL_ANYWHERE
#define ABSTRACT SBX_ABSTRACT_ANYWHERE
#define FS(name, bit, since, on_file, kind, help) \
	if (abi >= (since)) { \
		kind |= BIT(bit); \
		file |= (on_file) ? BIT(bit) : 0; \
	}
#define NET(name, bit, since, op, help) \
	if (abi >= (since) && !network) \
		op |= BIT(bit);
#define SCOPE(name, bit, since, freedom, help) \
	if (abi >= (since) && (policy->flags & (freedom)) == 0) \
		scoped |= BIT(bit);
#define FLAG(name, bit, since, help) \
	if (abi >= (since)) \
		flags |= 1U << (bit);
#include "format/landlock.def"
#undef FS
#undef NET
#undef SCOPE
#undef FLAG
#undef LIST
#undef READ
#undef WRITE
#undef EXEC
#undef NEVER
#undef CONNECT_TCP
#undef LISTEN_TCP
#undef SIGNAL
#undef ABSTRACT
	return (struct sbx_landlock){
		.abi = abi,
		.restrict_flags = flags,
		.handled_fs = list | read | write | exec | never,
		.handled_net = connect_tcp | listen_tcp,
		.scoped = scoped,
		.list = list,
		.read = read,
		.write = write,
		.exec = exec,
		.file = file,
		.connect_tcp = connect_tcp,
		.bind_tcp = listen_tcp,
	};
}

/* Leaves of a row what the table knows. */
static void
keep_known(struct sbx_landlock *row)
{
	static const struct sbx_meta restricted = { .net = SBX_NET_NONE };
	struct sbx_landlock all = sbx_landlock_row(SBX_LANDLOCK_LAST_ABI,
	    &restricted);

	row->abi = SBX_LANDLOCK_LAST_ABI;
	row->restrict_flags &= all.restrict_flags;
	row->handled_fs &= all.handled_fs;
	row->handled_net &= all.handled_net;
	row->scoped &= all.scoped;
	row->list &= all.handled_fs;
	row->read &= all.handled_fs;
	row->write &= all.handled_fs;
	row->exec &= all.handled_fs;
	row->file &= all.handled_fs;
	row->connect_tcp &= all.handled_net;
	row->bind_tcp &= all.handled_net;
}

bool
sbx_landlock_is_implied(const struct sbx_landlock *row,
    const struct sbx_meta *policy)
{
	struct sbx_landlock known = *row, implied;

	if (known.abi > SBX_LANDLOCK_LAST_ABI)
		keep_known(&known);
	implied = sbx_landlock_row(known.abi, policy);
	return __builtin_memcmp(&known, &implied, sizeof known) == 0;
}

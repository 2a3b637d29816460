/* See landlock.h: sums over format/landlock.def. */
#include "compiler/tables/landlock.h"

#define BIT(n) (UINT64_C(1) << (n))

struct sbx_landlock
landlock_row(uint32_t abi, struct landlock_blankets blankets)
{
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
#define SIGNAL blankets.signal
#define ABSTRACT blankets.abstract
#define FS(name, bit, since, on_file, kind, help) \
	if (abi >= (since)) { \
		kind |= BIT(bit); \
		file |= (on_file) ? BIT(bit) : 0; \
	}
#define NET(name, bit, since, op, help) \
	if (abi >= (since) && !blankets.network) \
		op |= BIT(bit);
#define SCOPE(name, bit, since, blanket, help) \
	if (abi >= (since) && !(blanket)) \
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

const struct landlock_right landlock_rights[] = {
#define FS(name, bit, abi, file, kind, help) \
	{ "fs", #name, #kind, BIT(bit), abi, file, help },
#define NET(name, bit, abi, op, help) \
	{ "net", #name, #op, BIT(bit), abi, false, help },
#define SCOPE(name, bit, abi, blanket, help) \
	{ "scope", #name, #blanket, BIT(bit), abi, false, help },
#define FLAG(name, bit, abi, help) \
	{ "flag", #name, "", BIT(bit), abi, false, help },
#include "format/landlock.def"
#undef FS
#undef NET
#undef SCOPE
#undef FLAG
	{ .name = 0 }
};

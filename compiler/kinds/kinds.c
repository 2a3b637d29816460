/*
 * The entries of the table of rule kinds, one a file.
 */
#include "compiler/kinds/kinds.h"

const struct rule_kind *const rule_kinds[KIND_END] = {
	[KIND_PATH] = &kind_path,
	[KIND_PORT] = &kind_port,
	[KIND_SYSCALL] = &kind_syscall,
	[KIND_ENV] = &kind_env,
	[KIND_SET] = &kind_set,
	[KIND_BLANKET] = &kind_blanket,
	[KIND_LIMIT] = &kind_limit,
	[KIND_WATCH] = &kind_watch,
	[KIND_SOCKET] = &kind_socket,
	[KIND_DOMAIN] = &kind_domain,
	[KIND_ENDPOINT] = &kind_endpoint,
	[KIND_PROXY] = &kind_proxy,
};

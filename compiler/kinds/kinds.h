/*
 * The entries of the table of rule kinds, one a file.
 */
#ifndef SBX_KINDS_H
#define SBX_KINDS_H

#include "compiler/policy/kind.h"

extern const struct rule_kind kind_path, kind_port, kind_syscall, kind_env,
    kind_set, kind_blanket, kind_limit, kind_watch, kind_socket, kind_domain,
    kind_endpoint, kind_proxy;

#endif

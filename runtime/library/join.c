/*
 * A named session, which sbxrun has made.
 */
#include "runtime/library/sandbox.h"

struct sbx_sandbox *
sbx_join(const char *name, struct sbx_error *error)
{
	error_set(error, SBX_ERROR_ENDED, name, "there is no such session", 0);
	return NULL;
}

/*
 * A program that does not find where a company's packages come from asks the public
 * registry for their names, where anybody may have put something under them.  What
 * says so often has a token beside it, and is denied.  So it is told, where a policy
 * leads out.
 */
#include "runtime/bind/binder.h"

#include "format/model.h"
#include "format/text.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_SIZE = 8 << 10 };

static const struct registry {
	struct sbx_place path;
	const char *word, *usual, *program, *variable, *remedy;
} registries[] = {
#define REGISTRY(path, word, usual, program, variable, remedy) \
	{ { path, sizeof(path) - 1 }, word, usual, program, variable, remedy },
#include "format/registries.def"
#undef REGISTRY
};

static bool
leads_out(const struct sbx_blob *blob)
{
	return blob->meta->net == SBX_NET_FULL ||
	    blob->meta->net == SBX_NET_PORTS ||
	    sbx_ways_names(blob, KERNEL_WHERE);
}

/* Whether the program is told by a variable: the policy's, or the caller's. */
static bool
is_told(const struct sbx_blob *blob, const char *variable)
{
	for (uint32_t i = 0; i < blob->set_count; i++) {
		if (strcmp(sbx_string(blob, blob->set[i].name), variable) == 0)
			return true;
	}
	return *variable != '\0' && getenv(variable) != NULL &&
	    sbx_verdict_allows(sbx_env_verdict(blob, KERNEL_WHERE, variable,
		strlen(variable)));
}

/* A pipe, in which some keep their tokens, would be waited for. */
static bool
has_setting(struct arena *arena, struct sbx_place file, const char *word,
    const char *usual)
{
	uint32_t used = arena->used;
	char *text = arena_take(arena, TEXT_SIZE, 1);
	struct stat status;
	bool has = stat(file.path, &status) == 0 && S_ISREG(status.st_mode) &&
	    file_read(AT_FDCWD, file.path, text, TEXT_SIZE) &&
	    text_has_setting(text, word, usual);

	arena_cut(arena, used);
	return has;
}

static void
tell(struct binder *binder, const struct registry *registry)
{
	struct arena *arena = binder->arena;
	struct sbx_place at = arena_join(arena,
	    binder->made.anchors[SBX_ANCHOR_HOME], registry->path);
	struct followed found;
	struct out out;
	char text[512];

	if (access(at.path, R_OK) != 0 ||
	    is_told(binder->blob, registry->variable))
		return;
	found = follow(arena, at);
	if (found.fd >= 0)
		close(found.fd);
	if (found.fd < 0 ||
	    sbx_verdict_allows(verdict_so_far(binder, SBX_READ, found.at)) ||
	    !has_setting(arena, found.at, registry->word, registry->usual))
		return;
	out_into(&out, text, sizeof text);
	out_print(&out,
	    "the policy denies this file, so %s asks the public registry and "
	    "not the one in it: %s",
	    registry->program, registry->remedy);
	warn_about(at.path, text, 0);
}

void
bind_registries(struct binder *binder)
{
	if (!binder->made.bound[SBX_ANCHOR_HOME] || !leads_out(binder->blob))
		return;
	for (size_t i = 0; i < countof(registries); i++)
		tell(binder, &registries[i]);
}

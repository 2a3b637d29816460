/*
 * What a blob holds in several versions, and which of them counts in given
 * circumstances.  The loader asks for the kernel that it runs on, the compiler
 * for a kernel that it is asked about.
 */
#include "format/model.h"

static bool
is_better(const struct sbx_program *program, const struct sbx_program *best)
{
	uint32_t listener = program->flags & SBX_PROGRAM_LISTENER;

	if (best == NULL || listener != (best->flags & SBX_PROGRAM_LISTENER))
		return best == NULL || listener != 0;
	return program->min_abi > best->min_abi;
}

const struct sbx_program *
sbx_program_select(const struct sbx_blob *blob,
    const struct sbx_circumstances *where)
{
	uint32_t kind = (where->level == SBX_LEVEL_FULL ? SBX_PROGRAM_FULL :
							  0) |
	    (where->loopback ? SBX_PROGRAM_LOOPBACK : 0);
	/* Where Landlock is not applied, no filter may rely on it. */
	uint32_t abi = where->level >= SBX_LEVEL_STANDARD ?
	    where->landlock_abi :
	    0;
	const struct sbx_program *best = NULL;

	for (uint32_t i = 0; i < blob->program_count; i++) {
		const struct sbx_program *program = &blob->programs[i];

		if (program->arch == where->arch &&
		    (program->flags &
			(SBX_PROGRAM_FULL | SBX_PROGRAM_LOOPBACK)) == kind &&
		    program->min_abi <= abi &&
		    (where->listener ||
			(program->flags & SBX_PROGRAM_LISTENER) == 0) &&
		    is_better(program, best))
			best = program;
	}
	return best;
}

const struct sbx_landlock *
sbx_landlock_select(const struct sbx_blob *blob, uint32_t abi)
{
	const struct sbx_landlock *best = NULL;

	/* The verifier has seen that the rows are sorted. */
	for (uint32_t i = 0; i < blob->landlock_count; i++) {
		if (blob->landlock[i].abi <= abi)
			best = &blob->landlock[i];
	}
	return best;
}

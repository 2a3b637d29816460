/* See kept_programs.h. */
#include "tests/fuzz/kept_programs.h"
#include "compiler/lower/lower.h"

/* So many are looked through as fast as few; more are not kept at all. */
enum { KEPT_MAX = 200 };

static struct programs kept;

void
kept_programs_begin(void)
{
	if (kept.arena != NULL && kept.list.count < KEPT_MAX)
		return;
	if (kept.arena != NULL)
		arena_release(kept.arena);
	kept = (struct programs){ .arena = arena_new() };
}

struct bpf_program __real_programs_get(struct programs *programs,
    struct arena *arena, const struct filter *filter);
struct bpf_program __wrap_programs_get(struct programs *programs,
    struct arena *arena, const struct filter *filter);
struct bpf_program
__wrap_programs_get(struct programs *programs, struct arena *arena,
    const struct filter *filter)
{
	(void)programs;
	return __real_programs_get(&kept, arena, filter);
}

/* The file of trials, as format/trial.h has it: see test_trial.h. */
#include "compiler/cases/trial.h"

#include <string.h>

static bool
is_tried(const struct test_trial *trial, bool outside)
{
	return outside ? test_trial_compares(trial) : trial->untried == NULL;
}

static void
trial_pack(const struct test_trial *trial, struct sbx_trial *packed)
{
	*packed = (struct sbx_trial){
		.kind = trial->kind,
		.number = trial->number,
		.answer = SBX_TRIAL_NONE,
	};
	memcpy(packed->args, trial->args, sizeof packed->args);
}

struct sbx_trials *
test_trials_pack(struct arena *arena, const struct test_trials *trials,
    bool outside)
{
	size_t size = sizeof(struct sbx_trials), texts, count = 0;
	struct sbx_trials *packed;
	struct sbx_trial *at;

	for (size_t i = 0; i < trials->list.count; i++) {
		if (!is_tried(&trials->list.items[i], outside))
			continue;
		size += sizeof *at + strlen(trials->list.items[i].text) + 1;
		count++;
	}
	packed = arena_alloc(arena, size);
	*packed = (struct sbx_trials){
		.magic = SBX_TRIAL_MAGIC,
		.count = (uint32_t)count,
		.size = (uint32_t)size,
	};
	at = (struct sbx_trial *)(void *)(packed + 1);
	texts = sizeof *packed + count * sizeof *at;
	for (size_t i = 0; i < trials->list.count; i++) {
		const struct test_trial *trial = &trials->list.items[i];
		size_t len = is_tried(trial, outside) ?
		    strlen(trial->text) + 1 :
		    0;

		if (len == 0)
			continue;
		trial_pack(trial, at);
		at->text = (uint32_t)texts;
		memcpy((char *)packed + texts, trial->text, len);
		texts += len;
		at++;
	}
	return packed;
}

bool
test_trials_take(struct test_trials *trials, const struct sbx_trials *packed,
    bool outside)
{
	const struct sbx_trial *at =
	    (const struct sbx_trial *)(const void *)(packed + 1);

	for (size_t i = 0; i < trials->list.count; i++) {
		struct test_trial *trial = &trials->list.items[i];

		if (!is_tried(trial, outside))
			continue;
		if (at->answer == SBX_TRIAL_NONE)
			return false;
		*(outside ? &trial->outside : &trial->answer) = *at;
		at++;
	}
	return true;
}

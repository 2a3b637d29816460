/*
 * What the kernel is to say to an attempt, by the model.
 */
#ifndef SBX_TEST_EXPECT_H
#define SBX_TEST_EXPECT_H

#include "tests/model/properties/attempts.h"
#include "tests/model/properties/model.h"

enum expected { DENIED, ALLOWED, EITHER };

enum expected expect(const struct world *world, const struct model *model,
    const struct attempt *attempt);

/* What would change the scratch directory, of which the model knows nothing. */
bool is_left_out(const struct model *model, const struct attempt *attempt);

/* Whether the answer is what it is to be. */
bool is_answer(const struct world *world, const struct model *model,
    const struct attempt *attempt, const char *answer, enum expected verdict);

#endif

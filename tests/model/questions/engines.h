/*
 * Who answers questions about a policy, each in its own way.
 */
#ifndef SBX_TEST_ENGINES_H
#define SBX_TEST_ENGINES_H

#include "compiler/query/query.h"
#include "compiler/query/why.h"
#include "tests/model/questions/question.h"

struct bytes {
	char *text;
	size_t size;
};

/* A policy as it comes out of one of the forms. */
struct build {
	struct ast_stmt *stmts;
	const struct policy *policy;
	struct image image;
	struct sbx_blob blob;
};

/* Compiles the profile p of a text as if it were a file of that name; false,
 * and on stdout why if `loud`, if it does not compile. */
bool build_text(struct arena *arena, const char *name, struct bytes text,
    struct build *build, bool loud);

/* What a form of the statements compiles to. */
bool build_yaml(struct arena *arena, const struct build *from,
    struct build *build);

/* The policy that is read back from a blob. */
const struct policy *build_restore(struct arena *arena,
    const struct build *from);

/* The text of a policy with some rules about writing, of which some denies,
 * drawn by chance, are preferred ones; to be freed.  False if it does not
 * compile. */
bool text_soften(struct arena *arena, struct chance *chance, struct bytes text,
    struct bytes *softer);

/* A policy without one of its statements, or with a deny that is stricter or
 * less strict, drawn by chance. */
bool build_less(struct arena *arena, struct chance *chance, struct bytes text,
    struct build *build);

/* A blob where it runs. */
struct subject subject_of(struct arena *arena, const struct sbx_blob *blob,
    const struct layout *layout);

/* The question in the words of the language; NULL, or what is wrong. */
const char *question_parse(const struct subject *subject,
    const struct question *question, struct access *access);

/* Whether the first word of what `sbxc why` says, and the status that it ends
 * with, are those of the question, and whether it says that nothing holds it. */
bool why_agrees(const struct subject *subject, const struct access *access,
    const struct question *question);

/*
 * A test file with all questions and the policy as text: a result for each, in
 * `agrees`.  False if sbxc has a fault to find with the file.
 */
bool test_agrees(struct arena *arena, struct bytes policy,
    const struct plain *plain, const struct question *questions, size_t count,
    bool *agrees);

#endif

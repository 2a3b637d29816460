/*
 * Test files: what a policy must allow and deny, written down.
 *
 *	sbx-test: 1
 *	policy: team.sbx
 *	given: { workspace: /src/app, level: standard }
 *	cases:
 *	  - allow: write ${workspace}/x
 *	  - deny: [ read ~/.ssh/id_rsa, connect tcp 22 ]
 *	    by: credentials
 *
 * file.c makes cases of the YAML tree, one for each access; it knows
 * nothing of policies.  See sbx-test(5).
 */
#ifndef SBX_TEST_FILE_H
#define SBX_TEST_FILE_H

#include "compiler/query/verdict.h"
#include "compiler/read/yaml.h"

/* A directory under `given`: home, runtime, workspace or a parameter. */
struct test_directory {
	const char *name, *path;
	struct loc name_loc, loc;
};

/* The bindings with which a policy is asked.  Each has a value, so that an
 * answer does not depend on who asks, and but for --live on what machine. */
struct test_given {
	VEC(struct test_directory) directories; /* home comes first */
	enum sbx_level level;
	struct loc level_loc; /* no place: nobody chose it */
	int abi;              /* of Landlock; 0: the newest known */
	struct loc abi_loc;
	const struct arch *arch; /* NULL: x86_64, or with --live this machine */
	bool macos;
};

/* A policy in a file, a shipped one, or a text in the test file. */
struct test_policy {
	const char *path, *text; /* one of them, or neither */
	const char *profile;     /* or NULL */
	struct loc profile_loc;
	struct loc loc;
};

enum test_kind { TEST_ALLOW, TEST_DENY, TEST_ERROR, TEST_WARNING };

/* "allow", "expect-error". */
const char *test_kind_word(enum test_kind kind);

struct test_case {
	enum test_kind kind;
	const char *text;      /* the access as written, or the code */
	struct loc loc;        /* of it */
	const char *name, *by; /* or NULL */
	struct loc by_loc;
	const struct test_given *given;
	const struct test_policy *policy;
};

struct test_file {
	struct arena *arena;
	struct sources sources;
	struct diags diags;
	const struct source *source;
	struct test_policy policy;
	struct test_given given;
	VEC(struct test_case) cases;
};

/* Reads a test file; false, with errno set, if it cannot be read.  What is
 * wrong in it is in file->diags. */
bool test_file_read(struct test_file *file, struct arena *arena,
    const char *path);

/* The words of an access: separated by blanks, in double quotes if there is a
 * blank in them.  Returns NULL, or what is wrong. */
struct test_words {
	VEC(const char *) list;
};
const char *test_words_split(struct arena *arena, const char *text,
    struct test_words *words);

#endif

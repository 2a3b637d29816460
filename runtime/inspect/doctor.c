/*
 * See inspect.h.  To look at policies, configurations and repositories takes heap
 * and parsers, so it is sbxc that does it, and no sandbox is involved.
 */
#include "runtime/inspect/inspect.h"

#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/watch/tripwire.h"

#include <errno.h>
#include <unistd.h>

enum { FIXED_WORDS = 10 };

void
doctor_run(const struct options *options, struct arena *arena)
{
	struct path program;
	const char *words[FIXED_WORDS + 2 * OPTIONS_MAX_DEFINITIONS];
	size_t count = 0;

	tripwire_tell_killed(arena, NULL);
	if (helper_path(&program) == NULL)
		refuse("--doctor", "cannot tell where sbxrun lies", errno);
	words[count++] = program.text;
	words[count++] = "doctor";
	if (options->json)
		words[count++] = "--json";
	if (options->workspace != NULL) {
		words[count++] = "-w";
		words[count++] = options->workspace;
	}
	for (uint32_t i = 0; i < options->definition_count; i++) {
		words[count++] = "-D";
		words[count++] = options->definitions[i].text;
	}
	words[count++] = "--";
	if (options->policy != NULL)
		words[count++] = options->policy;
	words[count] = NULL;
	execv(program.text, (char *const *)words);
	refuse(program.text, "--doctor needs sbxc beside sbxrun", errno);
}

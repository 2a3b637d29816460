/*
 * A dim line at a terminal, after a command that failed: what of the policy may be
 * why, and that --explain exists.  Without it hardly a denial is seen: the kernel
 * does not tell them, and at level full what is not open is not there.
 */
#include "runtime/watch/supervise.h"

#include "runtime/apply/apply.h"
#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/explain/explain.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_EXECUTED = 126, NOT_FOUND = 127 };

static bool
is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	    access(path, X_OK) == 0;
}

/* "" if it is not set. */
static const char *
callers(const char *name)
{
	size_t len = strlen(name);

	for (char **variable = environ; *variable != NULL; variable++) {
		if (strncmp(*variable, name, len) == 0 &&
		    (*variable)[len] == '=')
			return *variable + len + 1;
	}
	return "";
}

/* The program that the caller's PATH leads to. */
static bool
find_program(const char *name, struct path *path)
{
	const char *directory = callers("PATH");

	path_cut(path, 0);
	if (*name == '/')
		return path_push(path, name + 1, strlen(name) - 1) &&
		    is_program(path->text);
	if (strchr(name, '/') != NULL)
		return false;
	while (*directory != '\0') {
		size_t len = strcspn(directory, ":");

		path_cut(path, 0);
		if (*directory == '/' &&
		    path_push(path, directory + 1, len - 1) &&
		    path_push(path, name, strlen(name)) &&
		    is_program(path->text))
			return true;
		directory += len;
		directory += strspn(directory, ":");
	}
	return false;
}

/*
 * Whether a rule gives the right to run something there, as far as that can be
 * told without binding the rules: by a name, and whatever a pattern or an
 * exception says.  Then nothing is said; the program itself may have ended so.
 */
static bool
may_be_allowed(const struct binding *anchored, struct sbx_place at)
{
	const struct sbx_blob *blob = anchored->blob;

	for (uint32_t i = 0; i < blob->path_count; i++) {
		const struct sbx_path *rule = &blob->paths[i];
		struct sbx_place anchor = anchored->anchors[rule->anchor];
		const char *suffix = sbx_string(blob, rule->suffix);

		if (rule->effect == SBX_ALLOW && rule->ceiling == 0 &&
		    (rule->rights & SBX_EXEC) != 0 &&
		    anchored->bound[rule->anchor] && sbx_covers(anchor, at) &&
		    sbx_covers(sbx_place_of(suffix),
			(struct sbx_place){ at.path + anchor.len,
			    at.len - anchor.len }))
			return true;
	}
	return false;
}

static bool
is_told(const struct supervision *supervision, int status)
{
	return status != 0 && supervision->listening.explaining == NULL &&
	    supervision->why_untraced == NULL && isatty(STDERR_FILENO) == 1 &&
	    strcmp(callers("SBX_HINT"), "0") != 0;
}

bool
hint_is_hidden(const struct supervision *supervision, int status)
{
	struct path path;

	return is_told(supervision, status) && WIFEXITED(status) &&
	    (WEXITSTATUS(status) == NOT_FOUND ||
		WEXITSTATUS(status) == NOT_EXECUTED) &&
	    supervision->command != NULL &&
	    find_program(supervision->command[0], &path) &&
	    trail_follow(&path, true) &&
	    !may_be_allowed(supervision->anchored,
		(struct sbx_place){ path.text, path.len });
}

static bool
has_refusals(const struct decisions *decisions)
{
	for (uint32_t i = 0; i < decisions->count; i++) {
		if (decision_is_refusal(&decisions->all[i].event))
			return true;
	}
	return false;
}

/* Whether the policy may be why it failed, though nothing was seen.  A program that
 * is not there outside either is no matter of it; and who has ended the command by a
 * signal knows why. */
static bool
may_be_why(const struct supervision *supervision, int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) < NOT_EXECUTED &&
	    (supervision->blob->meta->flags & SBX_EVERYTHING) == 0;
}

void
hint_tell(const struct supervision *supervision, int status, bool hidden)
{
	static const char dim[] = "\x1b[2m", plain[] = "\x1b[0m";
	bool refused = has_refusals(&supervision->network.decisions);
	const char *profile;
	struct out out;

	if (!is_told(supervision, status) ||
	    (!hidden && !refused && !may_be_why(supervision, status)))
		return;
	profile = sbx_string(supervision->blob,
	    supervision->blob->meta->profile);
	out_init(&out, STDERR_FILENO);
	out_print(&out, "%ssbxrun: ", dim);
	if (hidden) {
		out_text(&out,
		    "the policy keeps the command from this program");
	} else if (refused) {
		out_text(&out, "the policy refused what is named above");
	} else {
		out_text(&out, "was it the policy? ");
		if (supervision->namespaces) {
			out_text(&out, "What ");
			out_shown(&out, profile, strlen(profile));
			out_text(&out,
			    " does not open looks missing or read-only");
		} else {
			out_text(&out, "The kernel does not tell");
		}
	}
	environment_put_withheld(&out, "; kept back: ", supervision->blob,
	    environ);
	out_print(&out,
	    "; run it with --explain to see (SBX_HINT=0: quiet)%s\n", plain);
	out_flush(&out);
}

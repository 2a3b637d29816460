/*
 * See init.c: a policy for the project of the workspace, proposed from what is
 * there, and a test file that says what it must allow and deny.  What it gives is
 * what coding gives; what a tool of the project would want besides stands in it
 * as a comment, since nobody has asked for it yet.
 */
#include "compiler/base/base.h"
#include "compiler/query/binder.h"
#include "compiler/setup/setup.h"
#include "grammar/grammar.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct trait {
	const char *file;   /* in the project, or a place of the machine */
	const char *reason; /* a comment */
	const char *rules;  /* of the policy */
	const char *cases;  /* of the test file */
};

/* Every case holds whether the file is there or not. */
static const struct trait traits[] = {
	{ "package.json", "Packages of npm.",
	    "    # allow network domain { \"registry.npmjs.org\" }\n", "" },
	{ "Cargo.toml", "Packages of cargo.",
	    "    # allow network domain { \"index.crates.io\"  "
	    "\"static.crates.io\" }\n",
	    "" },
	{ "pyproject.toml", "Packages of pip.",
	    "    # allow network domain { \"pypi.org\"  "
	    "\"files.pythonhosted.org\" }\n",
	    "" },
	{ "requirements.txt", "Packages of pip.",
	    "    # allow network domain { \"pypi.org\"  "
	    "\"files.pythonhosted.org\" }\n",
	    "" },
	{ "go.mod", "Modules of Go.",
	    "    # allow network domain { \"proxy.golang.org\"  "
	    "\"sum.golang.org\" }\n",
	    "" },
	{ ".git", "Commits are made inside; a push needs the network.",
	    "    # allow network domain { \"github.com\" }\n",
	    "  - allow: write ${workspace}/.git/index\n" },
	{ ".env", "Secrets of the project; the examples stay readable.",
	    "    prefer deny read glob \"${workspace}/**/.env\"\n"
	    "    prefer deny read glob \"${workspace}/**/.env.local\"\n",
	    "  - deny: read ${workspace}/.env\n" },
	{ "/var/run/docker.sock",
	    "Docker is on this machine and stays out of reach: who talks to it "
	    "is root.",
	    "",
	    "  - deny: [ write /var/run/docker.sock, write "
	    "/run/docker.sock ]\n" },
};

struct project {
	struct init *init;
	const char *top;  /* the workspace */
	const char *name; /* of the profile */
	const char *rules, *cases, *found;
};

/* The directory's name as that of a profile. */
static const char *
profile_name(struct arena *arena, const char *top)
{
	const char *base = strrchr(top, '/') + 1;
	char *name = arena_strndup(arena, base, strlen(base));

	for (char *at = name; *at != '\0'; at++) {
		bool digit = at != name && *at >= '0' && *at <= '9';

		if (!digit && !name_is_good(at, 1))
			*at = '-';
	}
	name += strspn(name, "-");
	return word_is_name(name) ? name : "project";
}

static void
add_trait(struct project *project, const struct trait *trait)
{
	struct arena *arena = project->init->arena;
	const char *path = trait->file[0] == '/' ?
	    trait->file :
	    arena_printf(arena, "%s/%s", project->top, trait->file);
	struct stat status;

	if (lstat(path, &status) != 0)
		return;
	project->found = arena_printf(arena, "%s%s%s", project->found,
	    *project->found == '\0' ? "" : ", ", trait->file);
	/* Two files of one tool say the same. */
	if (*trait->rules != '\0' && strstr(project->rules, trait->rules))
		return;
	project->rules = arena_printf(arena, "%s\n    # %s\n%s", project->rules,
	    trait->reason, trait->rules);
	project->cases = arena_printf(arena, "%s%s", project->cases,
	    trait->cases);
}

static const char *
policy_text(const struct project *project)
{
	return arena_printf(project->init->arena,
	    "# Proposed by 'sbxc init' from: %s\n"
	    "#     sbxc build -o sandbox/%s.bin sandbox/%s.sbx\n"
	    "#     sbxrun sandbox/%s.bin -- COMMAND\n"
	    "sbx 1\n\n"
	    "profile %s extends coding {\n"
	    "    about \"What commands of %s may do\"\n\n"
	    "    # The policy is no business of those whom it confines.\n"
	    "    deny write  ${workspace}/sandbox\n"
	    "%s}\n",
	    *project->found != '\0' ? project->found : "nothing in particular",
	    project->name, project->name, project->name, project->name,
	    project->name, project->rules);
}

static const char *
test_text(const struct project *project)
{
	return arena_printf(project->init->arena,
	    "# sbxc test sandbox/%s.test.yaml\n"
	    "sbx-test: 1\n"
	    "policy: %s.sbx\n"
	    "given: { workspace: /src/project, home: /home/user }\n"
	    "cases:\n"
	    "  - allow: write ${workspace}/file\n"
	    "  - deny: write ${workspace}/sandbox/%s.sbx\n"
	    "  - deny: [ read ~/.ssh/id_rsa, read ~/.aws/credentials ]\n"
	    "  - deny: [ write /etc/passwd, write ~/.bashrc ]\n"
	    "%s",
	    project->name, project->name, project->name, project->cases);
}

enum exit_status
init_project(struct init *init)
{
	const struct options *options = init->options;
	struct project project = { .init = init,
		.rules = "",
		.cases = "",
		.found = "" };
	const char *wanted = options->workspace != NULL ? options->workspace :
							  binder_workspace();
	char *top = realpath(wanted != NULL ? wanted : ".", NULL);
	const char *stem;
	struct image image;

	if (top == NULL) {
		complain_unread(wanted != NULL ? wanted : ".");
		return EXIT_TROUBLE;
	}
	project.top = arena_strndup(init->arena, top, strlen(top));
	free(top);
	project.name = profile_name(init->arena, project.top);
	for (size_t i = 0; i < countof(traits); i++)
		add_trait(&project, &traits[i]);
	stem = arena_printf(init->arena, "%s/sandbox/%s", project.top,
	    project.name);
	init->changes.record = NULL;
	if (!init_compile(init, policy_text(&project), &image) ||
	    change_add(&init->changes,
		arena_printf(init->arena, "%s.sbx", stem),
		policy_text(&project), 0644, true) == NULL ||
	    change_add(&init->changes,
		arena_printf(init->arena, "%s.test.yaml", stem),
		test_text(&project), 0644, true) == NULL)
		return EXIT_TROUBLE;
	init->after = arena_printf(init->arena,
	    "read it, then: cd %s && sbxc test sandbox/%s.test.yaml && sbxc "
	    "build -o sandbox/%s.bin sandbox/%s.sbx\nundo: rm -r sandbox",
	    shell_word(init->arena, project.top), project.name, project.name,
	    project.name);
	return EXIT_CLEAN;
}

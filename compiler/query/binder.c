/* See binder.h.  The loader's headers, and none of sbxc's but that. */
#include "compiler/query/binder.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/bind/bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* Shared with the process that binds: its addresses are the same in both. */
struct shared {
	struct bound bound;
	struct options options;
	char fault[1024];
	struct arena arena;
};

static void
add_rules(struct shared *shared, const struct bind_question *question,
    const struct binding *binding)
{
	struct bound_path *rules = arena_take(&shared->arena,
	    binding->rule_count, sizeof *rules);
	const struct sbx_path *paths = question->blob->paths;
	uint32_t count = 0;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct site *site = &binding->sites[i];
		bool is_tmp;

		/* What was not bound has no place; what sbxrun adds itself is
		 * no rule of the policy. */
		if (site->state == RULE_UNBOUND || site->state == RULE_WAIVED ||
		    site->path < paths ||
		    site->path >= paths + question->blob->path_count)
			continue;
		/* A run makes its scratch directory. */
		is_tmp = site->path->anchor == SBX_ANCHOR_TMP;
		rules[count] = (struct bound_path){
			.rule = binding->rules[i],
			.path = site->path,
			.absent = site->state == RULE_ABSENT && !is_tmp,
			.planted = site->state == RULE_PLANTED,
			.is_link = site->is_link,
		};
		if (site->path->effect == SBX_ALLOW)
			rules[count].rule.rights = site->path->rights;
		count++;
	}
	shared->bound.rules = rules;
	shared->bound.rule_count = count;
}

static void
add_others(struct shared *shared, const struct binding *binding)
{
	struct bound *bound = &shared->bound;
	struct bound_glob *globs = arena_take(&shared->arena,
	    binding->glob_count, sizeof *globs);
	struct bound_socket *sockets = arena_take(&shared->arena,
	    binding->socket_site_count, sizeof *sockets);

	for (uint32_t i = 0; i < binding->glob_count; i++)
		globs[i] = (struct bound_glob){ binding->globs[i].path,
			binding->globs[i].planted };
	for (uint32_t i = 0; i < binding->socket_site_count; i++) {
		const struct socket_site *site = &binding->socket_sites[i];

		if (site->fault != NULL)
			sockets[bound->socket_count++] =
			    (struct bound_socket){ site->rule, site->fault };
	}
	bound->globs = globs;
	bound->glob_count = binding->glob_count;
	bound->sockets = sockets;
	bound->links = binding->links;
	bound->link_count = binding->link_count;
}

/* As `sbxrun -n` binds: nothing is made. */
static void
bind_all(const struct bind_question *question, struct shared *shared)
{
	char key[SCRATCH_KEY_SIZE];
	struct bind_request request = {
		.blob = question->blob,
		.options = &shared->options,
		.scratch = key,
		.rules = true,
		.level = SBX_LEVEL_FULL,
	};
	const struct binding *binding;

	scratch_key(key,
	    sbx_string(question->blob, question->blob->meta->profile), "");
	owners_none(&request.owners);
	shared->options = (struct options){
		.workspace = question->workspace,
		.plan = true,
		.status_fd = -1,
		.definition_count = question->definition_count,
	};
	for (uint32_t i = 0; i < question->definition_count; i++)
		shared->options.definitions[i] = (struct definition){
			question->definitions[i],
			(uint32_t)strcspn(question->definitions[i], "="),
		};
	if (question->home != NULL)
		setenv("HOME", question->home, 1);
	else
		unsetenv("HOME");
	if (question->workspace == NULL)
		project_find(&shared->arena, &shared->options);
	binding = bind_finish(bind_begin(&shared->arena, &request), &request);
	if (binding->bound[SBX_ANCHOR_TMP])
		binding = bind_moved(&shared->arena, binding, SBX_ANCHOR_TMP,
		    question->scratch);
	add_rules(shared, question, binding);
	add_others(shared, binding);
	shared->bound.workspace = binding->anchors[SBX_ANCHOR_WORKSPACE];
	shared->bound.fault = NULL;
}

/* What it says, until it ends. */
static void
read_words(struct shared *shared, int from)
{
	size_t used = 0;
	ssize_t len;

	while (used < sizeof shared->fault - 1 &&
	    (len = read(from, shared->fault + used,
		 sizeof shared->fault - 1 - used)) > 0)
		used += (size_t)len;
	while (used > 0 && shared->fault[used - 1] == '\n')
		used--;
	shared->fault[used] = '\0';
}

/* "sbxrun: SUBJECT: TEXT": the last line, after warnings. */
static void
keep_fault(struct shared *shared)
{
	static const char name[] = "sbxrun: ";
	const char *line = strrchr(shared->fault, '\n');

	line = line == NULL ? shared->fault : line + 1;
	if (strncmp(line, name, sizeof name - 1) == 0)
		line += sizeof name - 1;
	shared->bound.fault = *line != '\0' ? line :
					      "its rules cannot be bound";
}

static struct shared *
share(void)
{
	struct shared *shared = mmap(NULL, sizeof *shared,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
	    -1, 0);

	fflush(NULL);
	return shared == MAP_FAILED ? NULL : shared;
}

const char *
binder_workspace(void)
{
	struct shared *shared = share();
	pid_t finder = shared == NULL ? -1 : fork();

	if (finder < 0)
		return NULL;
	if (finder == 0) {
		shared->options.plan = true;
		project_find(&shared->arena, &shared->options);
		_exit(0);
	}
	while (waitpid(finder, NULL, 0) < 0 && errno == EINTR)
		;
	return shared->options.workspace;
}

const struct bound *
binder_ask(const struct bind_question *question)
{
	static const struct bound nothing = {
		.fault = "its rules cannot be bound"
	};
	struct shared *shared = share();
	int ends[2];
	pid_t binder;

	if (shared == NULL ||
	    question->definition_count > OPTIONS_MAX_DEFINITIONS ||
	    pipe2(ends, O_CLOEXEC) != 0)
		return &nothing;
	shared->bound = nothing;
	shared->bound.platforms = KERNEL_WHERE;
	binder = fork();
	if (binder == 0) {
		dup2(ends[1], STDERR_FILENO);
		bind_all(question, shared);
		_exit(0);
	}
	close(ends[1]);
	read_words(shared, ends[0]);
	close(ends[0]);
	while (binder > 0 && waitpid(binder, NULL, 0) < 0 && errno == EINTR)
		;
	if (shared->bound.fault != NULL)
		keep_fault(shared);
	return &shared->bound;
}

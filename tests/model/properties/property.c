/*
 * The model's verdict is the kernel's verdict, at levels standard and full.
 *
 *	property [SEED [ROUNDS]]
 *
 * A round makes a random tree and a random policy about it, compiles the
 * policy, and runs the probe under sbxrun.  The probe tries every operation on
 * everything in the tree, one at a time; each answer is held against what
 * format/model.h says about the blob.  Whatever an operation changed is put
 * back before the next, inode for inode: a rule of Landlock hangs on the inode
 * and not on the name.  Started by root, a round is run as root and as an
 * ordinary user.
 *
 * In the scratch directory, of which the model knows nothing, one place is
 * denied at level full: it has to stay what and where it is, from one run to
 * the next.
 *
 * Where they differ the policy is made smaller as long as something differs,
 * and printed with the seed that makes this round the first one.
 *
 * At level standard each answer is foretold.  At level full mounts add refusals
 * of their own (EXDEV, EBUSY) that are not foretold; what the model denies must
 * be refused there all the same, and what no mount is near must be allowed.
 *
 * Not tried: a file with two names.  Its rules hang on the one inode, so what
 * is granted by one name is granted by the other.
 */
#include "tests/lib/tap.h"
#include "tests/model/properties/draft.h"
#include "tests/model/properties/expect.h"
#include "tests/model/properties/prober.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ORDINARY = 65534,
	ROUNDS = 150,
	LANDLOCK_ABI = 3, /* the first that restricts all that is tried here */
	NR_LANDLOCK_CREATE_RULESET = 444,
};

struct difference {
	const struct attempt *attempt; /* NULL: there is none */
	enum expected verdict;         /* by the model */
	char answer[64];
};

struct tally {
	unsigned policies, refused, differing;
	unsigned long attempts, allowed, open;
	bool doctored; /* the model is made wrong, to see that it is noticed */
};

static void
try_all(const struct world *world, const struct model *model,
    const struct attempts *attempts, struct tally *tally,
    struct difference *difference)
{
	struct prober prober;

	prober_start(&prober, world, model->defined);
	for (size_t i = 0; i < attempts->count && difference->attempt == NULL;
	     i++) {
		const struct attempt *attempt = &attempts->list[i];
		enum expected verdict = expect(world, model, attempt);

		if (is_left_out(model, attempt))
			continue;
		attempt_prepare(world, attempt);
		prober_ask(&prober, attempt, difference->answer);
		attempt_undo(world, attempt,
		    strcmp(difference->answer, "ok") == 0);
		tally->attempts++;
		tally->allowed += verdict == ALLOWED;
		tally->open += verdict == EITHER;
		difference->verdict = verdict;
		if (!is_answer(world, model, attempt, difference->answer,
			verdict))
			difference->attempt = attempt;
	}
	prober_stop(&prober);
}

/* Ours alone: other tests run beside, with workspaces of the same user. */
static void
scratch_remove(const struct world *world)
{
	char loader[PATH_SIZE], workspace[PATH_SIZE];
	char *arguments[] = { loader, (char[]){ "--clean" }, (char[]){ "-w" },
		workspace, NULL };
	int status;
	pid_t pid;

	print_path(loader, "%s/sbxrun", world->base);
	print_path(workspace, "%s", world->workspace);
	pid = fork();
	if (pid == 0)
		prober_become(world, arguments);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		give_up("sbxrun --clean -w %s", workspace);
}

/* Makes what is denied in the scratch directory, while it is not there. */
static void
kept_make(const struct world *world, const struct model *model,
    const struct draft *policy)
{
	struct attempt make = { .operation = MKDIR };
	struct prober prober;
	char answer[64];

	prober_start(&prober, world, model->defined);
	for (const char *end = policy->kept;
	     (end = strchr(end + 1, '/')) != NULL;) {
		print_path(make.a, "/tmp%.*s", (int)(end - policy->kept),
		    policy->kept);
		prober_ask(&prober, &make, answer);
	}
	make.operation = CREATE;
	print_path(make.a, "/tmp%s", policy->kept);
	prober_ask(&prober, &make, answer);
	if (strcmp(answer, "ok") != 0)
		give_up("%s: %s", make.a, answer);
	prober_stop(&prober);
}

/* What must be refused: to carry it away, to use it, and to use it where it
 * would have been carried. */
static void
kept_attempts(struct attempts *attempts, const struct draft *policy)
{
	enum operation use = policy->kept_right[0] == 'r' ? OPEN_READ :
	    policy->kept_right[0] == 'w'                  ? OPEN_WRITE :
							    EXEC;
	char path[PATH_SIZE];

	attempts->count = 0;
	for (const char *end = policy->kept;
	     (end = strchr(end + 1, '/')) != NULL;) {
		print_path(path, "/tmp%.*s", (int)(end - policy->kept),
		    policy->kept);
		attempt_add(attempts, RENAME, path, "/tmp/new");
		print_path(path, "/tmp/new%s", end);
		attempt_add(attempts, use, path, "");
	}
	print_path(path, "/tmp%s", policy->kept);
	attempt_add(attempts, use, path, "");
}

/* The scratch directory stays for the next run, and what one carries away there
 * another could use: it is tried twice. */
static void
try_scratch(const struct world *world, const struct model *model,
    const struct draft *policy, struct tally *tally,
    struct difference *difference)
{
	static struct attempts attempts;
	struct prober prober;

	scratch_remove(world);
	kept_make(world, model, policy);
	kept_attempts(&attempts, policy);
	for (unsigned run = 0; run < 2; run++) {
		prober_start(&prober, world, model->defined);
		for (size_t i = 0;
		     i < attempts.count && difference->attempt == NULL; i++) {
			const struct attempt *attempt = &attempts.list[i];

			prober_ask(&prober, attempt, difference->answer);
			tally->attempts++;
			if (!is_answer(world, model, attempt,
				difference->answer, DENIED))
				difference->attempt = attempt;
		}
		prober_stop(&prober);
	}
	difference->verdict = DENIED;
}

/* The last rule that denies is forgotten. */
static void
model_doctor(struct model *model)
{
	size_t i = model->count;

	while (i > 0 && model->rules[i - 1].effect == SBX_ALLOW)
		i--;
	if (i > 0)
		model->rules[i - 1].rights = 0;
}

/* Runs one policy; false where the compiler did not take it. */
static bool
try_policy(const struct world *world, const struct draft *policy,
    const struct attempts *attempts, struct tally *tally,
    struct difference *difference)
{
	struct arena *arena = arena_new();
	struct model model;
	struct sbx_blob blob;
	bool compiled = draft_compile(world, policy, arena, &blob);

	*difference = (struct difference){ .attempt = NULL };
	if (compiled) {
		model_bind(&model, world, arena, &blob);
		model.scratch = policy->scratch &&
		    strncmp(world->base, "/tmp/", 5) == 0;
		if (tally->doctored)
			model_doctor(&model);
		try_all(world, &model, attempts, tally, difference);
		if (policy->scratch && difference->attempt == NULL)
			try_scratch(world, &model, policy, tally, difference);
	}
	arena_release(arena);
	return compiled;
}

static void
draft_drop(struct draft *policy, size_t rule)
{
	policy->count--;
	memmove(&policy->rules[rule], &policy->rules[rule + 1],
	    (policy->count - rule) * sizeof *policy->rules);
}

static void
words_drop(struct draft_words *words, size_t exclusion)
{
	words->exclusion_count--;
	memmove(words->exclusions[exclusion], words->exclusions[exclusion + 1],
	    (words->exclusion_count - exclusion) * sizeof *words->exclusions);
}

/* Takes the smaller policy over if something still differs. */
static bool
shrink_to(const struct world *world, struct draft *policy,
    const struct draft *smaller, const struct attempts *attempts,
    struct difference *difference)
{
	struct tally unused = { .policies = 0 };
	struct difference found;

	if (!try_policy(world, smaller, attempts, &unused, &found) ||
	    found.attempt == NULL)
		return false;
	*policy = *smaller;
	*difference = found;
	return true;
}

static void
shrink(const struct world *world, struct draft *policy,
    const struct attempts *attempts, struct difference *difference)
{
	struct draft smaller;

	for (size_t i = policy->count; i-- > 0;) {
		for (size_t j = policy->rules[i].exclusion_count; j-- > 0;) {
			smaller = *policy;
			words_drop(&smaller.rules[i], j);
			shrink_to(world, policy, &smaller, attempts,
			    difference);
		}
		smaller = *policy;
		draft_drop(&smaller, i);
		shrink_to(world, policy, &smaller, attempts, difference);
	}
	smaller = *policy;
	smaller.scratch = false;
	if (policy->scratch)
		shrink_to(world, policy, &smaller, attempts, difference);
}

/* What sbxrun said, if it did not start. */
static void
report_refusal(const struct world *world)
{
	char path[PATH_SIZE], line[PATH_SIZE];
	FILE *file;

	print_path(path, "%s/stderr", world->base);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		printf("# stderr: %s", line);
	if (file != NULL)
		fclose(file);
}

static void
report(const struct world *world, const struct draft *policy, uint64_t seed,
    const struct difference *difference)
{
	static const char kinds[] = { 'd', 'f', 'l' };
	char target[PATH_SIZE];

	printf("# seed %llu, %s, uid %u: %s %s %s: expected %s, got %s\n",
	    (unsigned long long)seed, world->level, (unsigned)world->uid,
	    operations[difference->attempt->operation].word,
	    difference->attempt->a, difference->attempt->b,
	    difference->verdict == ALLOWED ?
		operations[difference->attempt->operation].allowed :
		"EACCES",
	    difference->answer[0] != '\0' ? difference->answer : "no answer");
	printf("# -w %s HOME=%s -D p=%s\n", world->workspace, world->home,
	    world->parameter);
	report_refusal(world);
	draft_write(world, policy, "#     ", stdout);
	for (size_t i = 0; i < world->node_count; i++) {
		const struct node *node = &world->nodes[i];
		ssize_t len = readlink(node->path, target, sizeof target - 1);

		target[len < 0 ? 0 : len] = '\0';
		printf("# %c %s%s%s\n", kinds[node->kind], node->path,
		    len < 0 ? "" : " -> ", target);
	}
}

static void
try_round(struct world *world, uint64_t seed, struct tally *tally)
{
	static struct attempts attempts;
	struct difference difference;
	struct draft policy;

	world->chance.state = seed * UINT64_C(0x2545f4914f6cdd1d);
	world_make(world);
	attempts_make(&attempts, world);
	draft_make(world, &policy);
	/* What is denied there would be what is forgotten. */
	policy.scratch &= !tally->doctored;
	if (!try_policy(world, &policy, &attempts, tally, &difference)) {
		tally->refused++;
	} else {
		tally->policies++;
		tally->differing += difference.attempt != NULL;
		if (difference.attempt != NULL && !tally->doctored &&
		    tally->differing <= 5) {
			shrink(world, &policy, &attempts, &difference);
			report(world, &policy, seed, &difference);
		}
	}
	scratch_remove(world);
	world_remove(world);
}

static void
try_user(struct tap *tap, struct world *world, uint64_t seed, unsigned rounds)
{
	struct tally tally = { .policies = 0 };

	for (unsigned i = 0; i < rounds; i++)
		try_round(world, seed + i, &tally);
	tap_ok(tap,
	    tally.differing == 0 && tally.policies > rounds / 2 &&
		tally.allowed > tally.attempts / 10,
	    "%s, uid %u, %.8s: seeds %llu to %llu: %u policies, %lu attempts "
	    "(%lu allowed, %lu open); %u differ, %u not compiled",
	    world->level, (unsigned)world->uid, world->base,
	    (unsigned long long)seed, (unsigned long long)(seed + rounds - 1),
	    tally.policies, tally.attempts, tally.allowed, tally.open,
	    tally.differing, tally.refused);
	tally = (struct tally){ .doctored = true };
	for (unsigned i = 0; i < 20; i++)
		try_round(world, seed + i, &tally);
	tap_ok(tap, tally.differing > 0,
	    "%s, uid %u: a model that forgets a "
	    "denial is found out: %u of %u policies",
	    world->level, (unsigned)world->uid, tally.differing,
	    tally.policies);
}

static void
install(const struct world *world, const char *variable, const char *fallback,
    const char *name)
{
	char path[PATH_SIZE], command[3 * PATH_SIZE];
	const char *from = getenv(variable);

	print_path(path, "%s/%s", world->base, name);
	snprintf(command, sizeof command, "cp '%s' '%s' && chmod 755 '%s'",
	    from != NULL ? from : fallback, path, path);
	if (system(command) != 0)
		give_up("no %s: set %s", name, variable);
}

static void
clean_up(const struct world *world)
{
	static const char *const names[] = {
		"sbxrun",
		"probe",
		"policy.sbx",
		"policy.bin",
		"stderr",
	};
	char path[PATH_SIZE];

	for (size_t i = 0; i < countof(names); i++) {
		print_path(path, "%s/%s", world->base, names[i]);
		unlink(path);
	}
	rmdir(world->base);
}

static long
landlock_abi(void)
{
	return syscall(NR_LANDLOCK_CREATE_RULESET, NULL, (size_t)0, 1);
}

static void
try_level(struct tap *tap, struct world *world, const char *level,
    const char *place, uint64_t seed, unsigned rounds)
{
	world->level = level;
	print_path(world->base, "%s/sbx-property.XXXXXX", place);
	if (mkdtemp(world->base) == NULL || chmod(world->base, 0755) != 0)
		give_up("%s", world->base);
	print_path(world->outside, "%s/outside", world->base);
	install(world, "SBXRUN", "./sbxrun", "sbxrun");
	install(world, "PROBE", "tests/kernel/probe", "probe");
	world->uid = getuid();
	try_user(tap, world, seed, rounds);
	if (world->uid == 0) {
		world->uid = ORDINARY;
		try_user(tap, world, seed, rounds);
	}
	clean_up(world);
}

int
main(int argc, char **argv)
{
	static struct world world;
	struct tap tap = { 0, 0 };
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) :
	    argc > 1               ? 1 :
				     tap_rounds(ROUNDS);

	if (landlock_abi() < LANDLOCK_ABI) {
		tap_skip(&tap, "no Landlock with truncation",
		    "the model against the kernel");
		return tap_done(&tap);
	}
	umask(0022);
	signal(SIGPIPE, SIG_IGN);
	try_level(&tap, &world, "standard", "/tmp", seed, rounds);
	/* There the view has a /tmp of its own. */
	if (tap_has_full(&tap)) {
		try_level(&tap, &world, "full", "/tmp", seed, (rounds + 1) / 2);
		try_level(&tap, &world, "full", "/var/tmp", seed,
		    (rounds + 1) / 2);
	}
	return tap_done(&tap);
}

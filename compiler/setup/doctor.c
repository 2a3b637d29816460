/* See setup.h: the command, what it asks sbxrun, and how it tells. */
#include "compiler/base/base.h"
#include "compiler/setup/setup.h"
#include "compiler/tables/tables.h"

#include "format/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_COLUMN = 11 };

void
doctor_find(struct doctor *doctor, enum finding_state state, const char *about,
    const char *text, const char *command)
{
	*arena_push(doctor->arena, &doctor->findings) = (struct finding){
		.state = state,
		.about = about,
		.text = text,
		.command = command,
	};
}

bool
doctor_allows(const struct doctor *doctor, const char *what, const char *object)
{
	const char *words[] = { what, object };
	struct access access;

	if (access_parse(&doctor->subject->places, words, countof(words),
		&access) != NULL)
		return false;
	/* What lies in /tmp here is not what lies there inside. */
	access.outside = true;
	return verdict_of(doctor->subject, &access).allowed;
}

/* --- what is asked -------------------------------------------------------- */

static bool
ask_status(struct doctor *doctor)
{
	const char *words[] = { doctor->sbxrun, "--status", "--json", NULL };
	struct ran ran = program_run(doctor->arena, words, NULL, -1);

	if (ran.status == 0)
		doctor->status = json_read(ran.out);
	if (doctor->status == NULL)
		complain("'%s --status' does not tell what this machine "
			 "gives: %s",
		    doctor->sbxrun, ran.err);
	return doctor->status != NULL;
}

/*
 * Runs sbxrun with two words and the policy.  A blob is named by its path, so
 * that sbxrun judges who could replace it; any other policy has been compiled
 * here.
 */
static struct ran
ask_sbxrun(struct doctor *doctor, const struct options *options,
    const char *what, const char *how)
{
	const struct sbx_blob *blob = doctor->subject->places.blob;
	bool compiled = doctor->policy[0] != '@' &&
	    input_is_blob(doctor->policy);
	int fd = compiled ? -1 : program_memory(blob->base, blob->size);
	struct words words = { .list.count = 0 };
	struct ran ran;

	*arena_push(doctor->arena, &words.list) = doctor->sbxrun;
	*arena_push(doctor->arena, &words.list) = what;
	*arena_push(doctor->arena, &words.list) = how;
	*arena_push(doctor->arena, &words.list) = "--json";
	for (size_t i = 0; i < options->definitions.list.count; i++)
		*arena_push(doctor->arena,
		    &words.list) = arena_printf(doctor->arena, "-D%s=%s",
		    options->definitions.list.items[i].name,
		    options->definitions.list.items[i].value);
	if (blob->meta->flags & SBX_EVERYTHING)
		*arena_push(doctor->arena, &words.list) = "--allow-full-access";
	*arena_push(doctor->arena, &words.list) = compiled ?
	    doctor->policy :
	    arena_printf(doctor->arena, "/proc/self/fd/%d", fd);
	*arena_push(doctor->arena, &words.list) = NULL;
	ran = program_run(doctor->arena, words.list.items, NULL, fd);
	if (fd >= 0)
		close(fd);
	return ran;
}

static void
ask_plan(struct doctor *doctor, const struct options *options)
{
	struct ran ran = ask_sbxrun(doctor, options, "-n",
	    arena_printf(doctor->arena, "-w%s", doctor->workspace));

	if (ran.status == 0)
		doctor->plan = json_read(ran.out);
	else
		doctor_find(doctor, FINDING_FIX, "policy",
		    arena_printf(doctor->arena, "sbxrun refuses it: %.*s",
			(int)strcspn(ran.err, "\n"), ran.err),
		    NULL);
}

/*
 * What the self-test finds, a pseudo-terminal among it: a container's /dev or
 * /proc may make a sandbox other than its plan.  Where nothing protects files
 * that has been said; a policy that lets nothing be started cannot be tried.
 */
static void
try_policy(struct doctor *doctor, const struct options *options)
{
	struct json_t *answer;
	const struct json_t *canaries;
	const char *failed = "";

	if (doctor->plan == NULL ||
	    level_find(json_text(doctor->status, "level")) < SBX_LEVEL_STANDARD)
		return;
	answer = json_read(
	    ask_sbxrun(doctor, options, "--self-test", "-lauto").out);
	if (answer == NULL)
		return;
	canaries = json_member(answer, "canaries");
	for (size_t i = 0; i < json_count(canaries); i++) {
		const struct json_t *canary = json_item(canaries, i);

		if (!json_flag(canary, "ok"))
			failed = arena_printf(doctor->arena, "%s%s%s", failed,
			    *failed == '\0' ? "" : ", ",
			    json_text(canary, "canary"));
	}
	if (*failed != '\0')
		doctor_find(doctor, FINDING_FIX, "self-test",
		    arena_printf(doctor->arena, "not as the policy says: %s",
			failed),
		    arena_printf(doctor->arena, "sbxrun --self-test %s",
			shell_word(doctor->arena, doctor->policy)));
	json_release(answer);
}

/* --- how it is told ------------------------------------------------------- */

static const char *const state_words[] = {
	[FINDING_GOOD] = "good",
	[FINDING_NOTE] = "note",
	[FINDING_FIX] = "fix",
};

static size_t
count_to_fix(const struct doctor *doctor)
{
	size_t count = 0;

	for (size_t i = 0; i < doctor->findings.count; i++)
		count += doctor->findings.items[i].state == FINDING_FIX;
	return count;
}

/* Names of files are among the texts: they are shown as what they are. */
static void
print_clean(const char *text)
{
	for (size_t size; *text != '\0'; text += size) {
		uint32_t character;

		size = utf8_decode(text, strlen(text), &character);
		if (size > 0 && !utf8_is_hidden(character)) {
			fwrite(text, 1, size, stdout);
			continue;
		}
		size = size > 0 ? size : 1;
		for (size_t i = 0; i < size; i++)
			printf("\\x%02x", (uint8_t)text[i]);
	}
}

static void
print_finding(const struct doctor *doctor, const struct finding *finding,
    bool colour)
{
	static const char *const colours[] = {
		[FINDING_GOOD] = "\033[32m",
		[FINDING_NOTE] = "\033[36m",
		[FINDING_FIX] = "\033[1;31m",
	};

	(void)doctor;
	printf("%s%-4s%s  %-*s ", colour ? colours[finding->state] : "",
	    state_words[finding->state], colour ? "\033[0m" : "", PATH_COLUMN,
	    finding->about);
	print_clean(finding->text);
	putchar('\n');
	if (finding->command == NULL)
		return;
	printf("%*s", PATH_COLUMN + 7, "");
	print_clean(finding->command);
	putchar('\n');
}

static void
print_text(const struct doctor *doctor, bool colour)
{
	size_t count = count_to_fix(doctor);

	for (size_t i = 0; i < doctor->findings.count; i++)
		print_finding(doctor, &doctor->findings.items[i], colour);
	if (count == 0)
		puts("nothing has to be fixed");
	else
		printf("to be fixed: %zu\n", count);
}

static void
print_json(const struct doctor *doctor)
{
	struct json_t *root = json_root(), *list;

	json_put_number(root, "sbx", 1);
	list = json_put_array(root, "findings");
	for (size_t i = 0; i < doctor->findings.count; i++) {
		const struct finding *finding = &doctor->findings.items[i];
		struct json_t *entry = json_put_object(list, NULL);

		json_put_text(entry, "state", state_words[finding->state]);
		json_put_text(entry, "about", finding->about);
		json_put_text(entry, "text", finding->text);
		json_put_text(entry, "command", finding->command);
	}
	json_put_number(root, "fix", count_to_fix(doctor));
	json_write(root, stdout);
}

/* --- all of it ---------------------------------------------------------- */

enum exit_status
doctor_examine(struct doctor *doctor, const struct options *options)
{
	enum sbx_level level;

	if (!ask_status(doctor))
		return EXIT_TROUBLE;
	level = (enum sbx_level)level_find(json_text(doctor->status, "level"));
	if (options->level == NULL && level >= SBX_LEVEL_STANDARD)
		doctor->subject->level = level;
	doctor->subject->abi =
	    (int)json_number(json_member(doctor->status, "landlock"), "abi");
	places_ask_machine(&doctor->subject->places);
	doctor_machine(doctor);
	ask_plan(doctor, options);
	doctor_policy(doctor);
	try_policy(doctor, options);
	doctor_project(doctor);
	doctor_agents(doctor);
	doctor_later(doctor);
	if (options->format == REPORT_JSON)
		print_json(doctor);
	else
		print_text(doctor, options->colour_out);
	json_release(doctor->status);
	json_release(doctor->plan);
	return count_to_fix(doctor) == 0 ? EXIT_CLEAN : EXIT_POLICY;
}

/*
 * A script for bash that becomes bubblewrap, or docker.  The rules are written as calls of
 * functions of view.sh, which asks for each place what the policy gives there,
 * when all anchors are known; so a blob's promise, one text for every machine,
 * holds for the script as well.
 *
 * No AF_UNIX socket opens: neither can tell which of those that the view shows
 * are services of the host, and a read-only mount does not prevent connecting.
 */
#include "compiler/base/shell.h"
#include "compiler/export/export.h"
#include "compiler/lower/bpf.h"
#include "compiler/tables/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- losses --------------------------------------------------------------- */

/* A place as the key of a map: the anchor, then the suffix. */
static const char *
place_key(struct arena *arena, uint16_t anchor, const char *suffix, size_t len)
{
	const char *text = arena_printf(arena, "%u%.*s", anchor, (int)len,
	    suffix);

	return arena_intern(arena, text, strlen(text));
}

/* The places that may be executed as a whole. */
static void
executable_places(const struct exporter *exporter, struct map *places)
{
	const struct policy *policy = exporter->policy;

	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];

		if (rule->effect == SBX_ALLOW &&
		    (rule->rights & SBX_EXEC) != 0 && rule->glob == NULL &&
		    rule->exclusion_count == 0 &&
		    export_wants(exporter, &rule->origin))
			map_put(exporter->arena, places,
			    place_key(exporter->arena, rule->at.anchor,
				rule->at.suffix, strlen(rule->at.suffix)),
			    (void *)rule);
	}
}

/* Whether a place lies in one that may be executed. */
static bool
is_executable(const struct exporter *exporter, const struct map *places,
    struct target at)
{
	for (size_t len = strlen(at.suffix);; len--) {
		bool whole = at.suffix[len] == '\0' || at.suffix[len] == '/';

		if (whole &&
		    map_find(places,
			place_key(exporter->arena, at.anchor, at.suffix, len)))
			return true;
		if (len == 0)
			return false;
	}
}

static bool
lies_in(const struct path_rule *rule, const char *suffix)
{
	struct target place = { suffix, SBX_ANCHOR_ROOT };

	return target_covers(place, rule->at);
}

/* A part of a file system that is a new one inside. */
static bool
is_in_proc(const struct path_rule *rule)
{
	return lies_in(rule, "/proc") &&
	    (rule->glob != NULL || strcmp(rule->at.suffix, "/proc") != 0);
}

/* In /proc the numbers are others inside, and /proc/self is whoever asks. */
static bool
is_of_process(const struct path_rule *rule)
{
	const char *name = rule->at.suffix + strlen("/proc/");

	return is_in_proc(rule) &&
	    (rule->glob != NULL || strspn(name, "0123456789") > 0 ||
		strncmp(name, "self", 4) == 0 ||
		strncmp(name, "thread-self", 11) == 0);
}

static void
allow_losses(struct exporter *exporter, const struct map *executable,
    const struct path_rule *rule)
{
	bool writes = (rule->rights & SBX_WRITE) != 0;

	if ((rule->rights & SBX_EXEC) == 0 && !lies_in(rule, "/dev") &&
	    !lies_in(rule, "/proc") &&
	    !is_executable(exporter, executable, rule->at))
		loss_add_path(exporter, LOSS_WEAKER, rule,
		    "it cannot keep what may be read from being executed");
	if (is_in_proc(rule))
		loss_add_path(exporter, LOSS_NARROWER, rule,
		    "/proc is a new one or none, and has no parts");
	if (lies_in(rule, "/dev") && !writes)
		loss_add_path(exporter, LOSS_NARROWER, rule,
		    "it cannot open a device for reading alone");
}

static void
deny_losses(struct exporter *exporter, const struct path_rule *rule)
{
	if (rule->rights == SBX_EXEC)
		loss_add_path(exporter, LOSS_WEAKER, rule,
		    "it cannot keep what may be read from being executed");
	if (rule->at.anchor == SBX_ANCHOR_TMP && *rule->at.suffix != '\0')
		loss_add_path(exporter, LOSS_WEAKER, rule,
		    "the scratch directory is new and empty at each start");
	if (is_of_process(rule))
		loss_add_path(exporter, LOSS_WEAKER, rule,
		    "which processes /proc shows is not known before");
}

/* Whether /proc is there, which has the descriptors.  Docker gives the command
 * pipes or a terminal of its own. */
static bool
shows_files(const struct exporter *exporter)
{
	const struct policy *policy = exporter->policy;

	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];

		if (rule->effect == SBX_ALLOW && rule->glob == NULL &&
		    export_wants(exporter, &rule->origin) &&
		    target_covers(rule->at,
			(struct target){ "/proc", SBX_ANCHOR_ROOT }))
			return true;
	}
	return false;
}

void
bwrap_paths(struct exporter *exporter)
{
	const struct policy *policy = exporter->policy;
	struct map executable = { .capacity = 0 };

	executable_places(exporter, &executable);
	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];

		if (rule->effect == SBX_ALLOW)
			allow_losses(exporter, &executable, rule);
		else
			deny_losses(exporter, rule);
	}
	if (exporter->target == TARGET_DOCKER)
		loss_add_own(exporter,
		    "the image's own files and variables, and the container's "
		    "/proc, /sys and /dev, are there as well");
	else if (shows_files(exporter))
		loss_add_own(exporter,
		    "a file that is standard output or error can be opened "
		    "again in /proc, and be read and emptied");
}

/* --- the rules ------------------------------------------------------------ */

static const char *
quoted(const struct exporter *exporter, const char *text)
{
	return *text == '\0' ? "''" : shell_word(exporter->arena, text);
}

/* A pattern of which the shell sees the wildcards alone.  A star of a name
 * matches no slash there either, since it stands for names of files. */
static void
put_pattern(const struct exporter *exporter, FILE *stream, const char *pattern,
    const char *wild)
{
	while (*pattern != '\0') {
		size_t len = strcspn(pattern, wild), run;

		if (len > 0)
			fputs(quoted(exporter,
				  arena_strndup(exporter->arena, pattern, len)),
			    stream);
		pattern += len;
		run = strspn(pattern, wild);
		fwrite(pattern, 1, run, stream);
		pattern += run;
	}
}

static void
put_glob(const struct exporter *exporter, FILE *stream, const char *glob)
{
	struct arena *arena = exporter->arena;
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (memory == NULL)
		arena_exhausted();
	put_pattern(exporter, memory, glob, "*?/");
	if (fclose(memory) != 0)
		arena_exhausted();
	fprintf(stream, " %s", shell_word(arena, text));
	free(text);
}

static void
put_place(const struct exporter *exporter, FILE *stream, struct target at)
{
	fprintf(stream, "%s %s",
	    at.anchor == SBX_ANCHOR_ROOT ? "root" : anchor_word(at.anchor),
	    quoted(exporter, at.suffix));
}

static bool
is_said(const struct exporter *exporter, const struct path_rule *rule)
{
	if (!export_wants(exporter, &rule->origin) ||
	    (rule->rights & (SBX_READ | SBX_WRITE)) == 0)
		return false;
	if (rule->effect == SBX_ALLOW)
		return !is_in_proc(rule);
	return !is_of_process(rule);
}

static void
put_rule(const struct exporter *exporter, FILE *stream,
    const struct path_rule *rule)
{
	fprintf(stream, "\trule %s %d ",
	    rule->effect == SBX_ALLOW ? "allow" : "deny",
	    rule->rights & (SBX_READ | SBX_WRITE));
	put_place(exporter, stream, rule->at);
	if (rule->glob != NULL)
		put_glob(exporter, stream, rule->glob);
	fputc('\n', stream);
	for (size_t i = 0; i < rule->exclusion_count; i++) {
		fputs("\texcept ", stream);
		put_place(exporter, stream, rule->exclusions[i]);
		fputc('\n', stream);
	}
}

static void
put_rules(const struct exporter *exporter, FILE *stream)
{
	const struct policy *policy = exporter->policy;
	bool scratch = false;

	fputs("\nrules() {\n\t:\n", stream);
	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];

		if (!is_said(exporter, rule))
			continue;
		scratch |= rule->at.anchor == SBX_ANCHOR_TMP &&
		    rule->effect == SBX_ALLOW && (rule->rights & SBX_WRITE);
		put_rule(exporter, stream, rule);
	}
	fprintf(stream, "}\n\nscratch=%s\n", scratch ? "true" : "false");
}

/* --- variables ------------------------------------------------------------ */

static void
put_patterns(const struct exporter *exporter, FILE *stream, bool allow)
{
	const struct rule_list *list = &exporter->policy->rules[KIND_ENV];

	for (size_t i = 0; i < list->count; i++) {
		const struct rule *rule = &list->items[i];

		if ((rule->effect == SBX_ALLOW) != allow ||
		    !export_wants(exporter, &rule->origin))
			continue;
		fputs("\t", stream);
		put_pattern(exporter, stream, rule->env.pattern, "*");
		fprintf(stream, ") return %d ;;\n", allow ? 0 : 1);
	}
}

static void
put_variables(const struct exporter *exporter, FILE *stream)
{
	const struct rule_list *list = &exporter->policy->rules[KIND_SET];

	fputs("\nis_handed_on() {\n\tcase $1 in\n", stream);
	put_patterns(exporter, stream, false);
	put_patterns(exporter, stream, true);
	fputs("\tesac\n\treturn 1\n}\n\nsettings() {\n\t:\n", stream);
	for (size_t i = 0; i < list->count; i++) {
		const struct rule *rule = &list->items[i];
		uint16_t anchor = rule->set.anchor;

		if (!export_wants(exporter, &rule->origin))
			continue;
		fprintf(stream, "\tsetting %s ",
		    quoted(exporter, rule->set.name));
		if (anchor != SBX_NO_ANCHOR && anchor != SBX_ANCHOR_ROOT)
			fprintf(stream, "\"$%s\"", anchor_word(anchor));
		fprintf(stream, "%s\n", quoted(exporter, rule->set.text));
	}
	fputs("}\n", stream);
}

/* --- limits, network, filter ---------------------------------------------- */

/* Options of ulimit in bash, and how many bytes or seconds its unit has. */
static const struct {
	enum sbx_limit_kind kind;
	char letter;
	uint64_t unit;
} ulimits[] = {
	{ SBX_LIMIT_FILE_SIZE, 'f', 1024 }, { SBX_LIMIT_OPEN_FILES, 'n', 1 },
	{ SBX_LIMIT_CPU_TIME, 't', 1 }, { SBX_LIMIT_MEMORY, 'v', 1024 },
	{ SBX_LIMIT_CORE, 'c', 1024 }, { SBX_LIMIT_STACK, 's', 1024 },
	{ SBX_LIMIT_PROCESSES, 'u', 1 }, /* a loss of bubblewrap's */
};

static void
put_limits(const struct exporter *exporter, FILE *stream)
{
	const struct rule *timeout = export_limit(exporter, SBX_LIMIT_TIMEOUT);
	bool open = exporter->net == SBX_NET_FULL;

	fputs("\nlimits() {\n\t:\n", stream);
	for (size_t i = 0; i < countof(ulimits); i++) {
		const struct rule *rule = export_limit(exporter,
		    ulimits[i].kind);

		if (rule != NULL &&
		    (ulimits[i].letter != 'u' ||
			exporter->target == TARGET_DOCKER))
			fprintf(stream, "\tlimit %c %" PRIu64 "\n",
			    ulimits[i].letter,
			    rule->limit.value / ulimits[i].unit);
	}
	fputs("}\n\n", stream);
	fprintf(stream, "network=(%s%s)\n", open ? "" : "--unshare-net",
	    timeout == NULL ? "" :
		open        ? "--die-with-parent" :
			      " --die-with-parent");
	fputs("timeout=(", stream);
	if (timeout != NULL)
		fprintf(stream, "timeout --foreground -k 2 %" PRIu64,
		    timeout->limit.value);
	fputs(")\n", stream);
}

static void
put_base64(FILE *stream, const uint8_t *bytes, size_t size)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		uint32_t word = (uint32_t)bytes[i] << 16;
		size_t left = size - i;

		if (left > 1)
			word |= (uint32_t)bytes[i + 1] << 8;
		if (left > 2)
			word |= bytes[i + 2];
		if (i % 57 == 0)
			fputc('\n', stream);
		fputc(digits[word >> 18], stream);
		fputc(digits[word >> 12 & 63], stream);
		fputc(left > 1 ? digits[word >> 6 & 63] : '=', stream);
		fputc(left > 2 ? digits[word & 63] : '=', stream);
	}
}

/* bubblewrap gives it to the kernel as it is. */
static void
put_filter(const struct exporter *exporter, FILE *stream)
{
	uint32_t flags = SBX_PROGRAM_FULL | SBX_PROGRAM_NETLINK;
	struct bpf_program program;
	struct filter filter;

	if (sbx_net_is_own(exporter->net))
		flags |= SBX_PROGRAM_LOOPBACK;
	export_filter(exporter, flags, &filter);
	program = bpf_emit(exporter->arena, &filter);
	fprintf(stream, "machine=%s\nfilter='", exporter->arch->name);
	put_base64(stream, (const uint8_t *)program.insns,
	    program.count * sizeof *program.insns);
	fputs("'\n", stream);
}

static void
put_oci_filter(const struct exporter *exporter, FILE *stream)
{
	uint32_t flags = SBX_PROGRAM_FULL | SBX_PROGRAM_NETLINK;
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (memory == NULL)
		arena_exhausted();
	if (sbx_net_is_own(exporter->net))
		flags |= SBX_PROGRAM_LOOPBACK;
	oci_write_filter(exporter, flags, memory);
	if (fclose(memory) != 0)
		arena_exhausted();
	fprintf(stream, "machine=%s\nfilter=%s\n", exporter->arch->name,
	    shell_word(exporter->arena, text));
	free(text);
}

/* --- the whole ------------------------------------------------------------ */

static void
put_head(const struct exporter *exporter, FILE *stream)
{
	bool docker = exporter->target == TARGET_DOCKER;

	fprintf(stream,
	    "#!/bin/bash -p\n"
	    "# Runs a command in %s, under the policy '%s':\n"
	    "#\n"
	    "#\tSCRIPT%s COMMAND [ARGUMENT...]\n"
	    "#\tSCRIPT -n\tprints what it would start\n"
	    "#\n"
	    "# The workspace is the current directory.  Made by "
	    "'sbxc export -O %s'.\n",
	    docker ? "a container of Docker" : "bubblewrap",
	    exporter->policy->profile, docker ? " IMAGE" : "",
	    docker ? "docker" : "bwrap");
	if (exporter->losses.count > 0)
		fprintf(stream, "#\n# The policy says more than %s can:\n#\n",
		    docker ? "docker" : "bubblewrap");
	losses_print(exporter, stream, "#\t");
}

static void
put_body(const struct exporter *exporter, FILE *stream)
{
	put_rules(exporter, stream);
	put_variables(exporter, stream);
	put_limits(exporter, stream);
}

void
bwrap_write(const struct exporter *exporter, FILE *stream)
{
	put_head(exporter, stream);
	if (exporter->everything) {
		fputs("exec bwrap --dev-bind / / -- \"$@\"\n", stream);
		return;
	}
	put_body(exporter, stream);
	put_filter(exporter, stream);
	fprintf(stream, "\n%s\n%s", view_script, bwrap_script);
}

void
docker_write(const struct exporter *exporter, FILE *stream)
{
	put_head(exporter, stream);
	if (exporter->everything) {
		fputs("exec docker run --rm --privileged \"$@\"\n", stream);
		return;
	}
	put_body(exporter, stream);
	put_oci_filter(exporter, stream);
	fprintf(stream, "\n%s\n%s", view_script, docker_script);
}

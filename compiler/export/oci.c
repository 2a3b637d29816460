/*
 * linux.seccomp of a container's config.json, as the OCI runtime specification
 * has it; Docker and podman read the same (--security-opt seccomp=FILE).  The
 * runtime gives it to libseccomp.
 *
 * Nothing else confines the container then, as far as the policy knows, so this
 * is the filter of the levels without Landlock and without a view.  A call that
 * the runtime's libseccomp does not know answers ENOSYS, like every other one
 * that is not named.
 */
#include "compiler/base/base.h"
#include "compiler/export/export.h"

#include <errno.h>
#include <string.h>

enum { OTHERS = FILTER_ERRNO | ENOSYS };

static const struct {
	const char *arch, *name;
} machine_names[] = {
	{ "x86_64", "SCMP_ARCH_X86_64" },
	{ "aarch64", "SCMP_ARCH_AARCH64" },
};

static void
put_action(struct json_t *rule, uint32_t action)
{
	if (action == FILTER_ALLOW) {
		json_put_text(rule, "action", "SCMP_ACT_ALLOW");
		return;
	}
	json_put_text(rule, "action", "SCMP_ACT_ERRNO");
	json_put_number(rule, "errnoRet", action & 0xffff);
}

/* The calls of which each gets one answer, whatever its arguments. */
static void
put_plain(struct json_t *rules, const struct filter *filter, uint32_t action)
{
	struct json_t *rule = NULL, *names = NULL;

	for (size_t i = 0; i < filter->entry_count; i++) {
		const struct filter_entry *entry = &filter->entries[i];

		if (entry->name == NULL || entry->clause_count > 0 ||
		    entry->action != action)
			continue;
		if (rule == NULL) {
			rule = json_put_object(rules, NULL);
			names = json_put_array(rule, "names");
		}
		json_put_text(names, NULL, entry->name);
	}
	if (rule != NULL)
		put_action(rule, action);
}

/* Whether no entry before has this answer. */
static bool
is_first(const struct filter *filter, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (filter->entries[i].action == filter->entries[index].action)
			return false;
	}
	return true;
}

static void
put_cube(struct json_t *rules, const char *name, const struct cube *cube)
{
	struct json_t *rule = json_put_object(rules, NULL), *args;

	json_put_text(json_put_array(rule, "names"), NULL, name);
	put_action(rule, cube->action);
	args = json_put_array(rule, "args");
	for (size_t i = 0; i < CUBE_ARGS; i++) {
		struct json_t *arg;

		if (cube->masks[i] == 0)
			continue;
		arg = json_put_object(args, NULL);
		json_put_number(arg, "index", i);
		json_put_number(arg, "value", cube->masks[i]);
		json_put_number(arg, "valueTwo", cube->values[i]);
		json_put_text(arg, "op", "SCMP_CMP_MASKED_EQ");
	}
}

static void
put_rules(const struct exporter *exporter, struct json_t *root,
    const struct filter *filter)
{
	struct json_t *rules = json_put_array(root, "syscalls");

	for (size_t i = 0; i < filter->entry_count; i++) {
		if (is_first(filter, i) && filter->entries[i].action != OTHERS)
			put_plain(rules, filter, filter->entries[i].action);
	}
	for (size_t i = 0; i < filter->entry_count; i++) {
		const struct filter_entry *entry = &filter->entries[i];
		struct cubes cubes = { { NULL, 0 } };

		if (entry->name == NULL || entry->clause_count == 0)
			continue;
		cubes_cut(exporter->arena, entry, OTHERS, &cubes);
		for (size_t j = 0; j < cubes.list.count; j++)
			put_cube(rules, entry->name, &cubes.list.items[j]);
	}
}

static void
build_filter(const struct exporter *exporter, struct filter *filter)
{
	struct policy policy = *exporter->policy;
	const struct rule_list *all = &exporter->policy->rules[KIND_BLANKET];
	struct rule_list *kept = &policy.rules[KIND_BLANKET];

	/* The command is executed under the filter; see the losses. */
	*kept = (struct rule_list){ NULL, 0 };
	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].detail != BLANKET_SPAWN)
			*arena_push(exporter->arena, kept) = all->items[i];
	}
	filter_alone(&policy, exporter->arch, 0, filter);
}

void
oci_write(const struct exporter *exporter, FILE *stream)
{
	struct json_t *root = json_root();
	struct filter filter;

	if (exporter->everything) {
		json_put_text(root, "defaultAction", "SCMP_ACT_ALLOW");
		json_write(root, stream);
		return;
	}
	json_put_text(root, "defaultAction", "SCMP_ACT_ERRNO");
	json_put_number(root, "defaultErrnoRet", OTHERS & 0xffff);
	for (size_t i = 0; i < countof(machine_names); i++) {
		if (strcmp(machine_names[i].arch, exporter->arch->name) == 0)
			json_put_text(json_put_array(root, "architectures"),
			    NULL, machine_names[i].name);
	}
	build_filter(exporter, &filter);
	put_rules(exporter, root, &filter);
	json_write(root, stream);
}

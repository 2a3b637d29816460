/*
 * From process 1 of a session to its keeper: what was decided inside.
 */
#include "runtime/session/session.h"

#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8 /* Linux 6.3, where a sysctl may want it */
#endif

static int
open_own(const char *name)
{
	struct out path;
	int fd;

	out_init(&path, -1);
	out_print(&path, "/proc/thread-self/%s", name);
	fd = open(path.text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		refuse(path.text, "cannot open what the session needs", errno);
	return fd;
}

void
handover_namespaces(struct handover *handover, bool user)
{
	int *namespaces = handover->namespaces;

	for (int i = 0; i < OFFER_END; i++)
		namespaces[i] = -1;
	namespaces[OFFER_MOUNT] = open_own("ns/mnt");
	namespaces[OFFER_PID] = open_own("ns/pid");
	namespaces[OFFER_IPC] = open_own("ns/ipc");
	if (handover->plan->network != NETWORK_OUTER)
		namespaces[OFFER_NETWORK] = open_own("ns/net");
	if (user)
		namespaces[OFFER_USER] = open_own("ns/user");
	/* A /proc that is mounted with hidepid=2 does not show it to the keeper. */
	namespaces[OFFER_CHILDREN] = open_own("children");
}

/* --- the file ------------------------------------------------------------- */

struct file {
	char *bytes;
	uint32_t used, size;
};

static struct offer_text
add(struct file *file, const char *text, size_t len)
{
	struct offer_text added = { file->used, (uint32_t)len };

	/* An anchor that is not bound has no text at all. */
	if (len > 0)
		memcpy(file->bytes + file->used, text, len);
	file->used += (uint32_t)len + 1;
	return added;
}

/* --- the rules ------------------------------------------------------------ */

static size_t
room_for_rules(const struct handover *handover)
{
	const struct binding *outside = handover->plan->outside;
	uint32_t places = outside->exclusion_count + outside->link_count;
	uint32_t rules = outside->rule_count + outside->socket_count;
	size_t room = 16 + rules * sizeof(struct offer_rule) +
	    places * sizeof(struct offer_text) + rules + places;

	for (uint32_t i = 0; i < outside->rule_count; i++)
		room += outside->rules[i].at.len;
	for (uint32_t i = 0; i < outside->socket_count; i++)
		room += outside->sockets[i].at.len;
	for (uint32_t i = 0; i < outside->exclusion_count; i++)
		room += outside->exclusions[i].len;
	for (uint32_t i = 0; i < outside->link_count; i++)
		room += outside->links[i].len;
	return room;
}

static void
add_rules(struct file *file, const struct binding *outside,
    struct offer_rule *into, const struct sbx_rule *rules, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct sbx_rule *rule = &rules[i];

		into[i] = (struct offer_rule){
			.at = add(file, rule->at.path, rule->at.len),
			.exclusions = rule->exclusion_count > 0 ?
			    (uint32_t)(rule->exclusions - outside->exclusions) :
			    0,
			.exclusion_count = rule->exclusion_count,
			.source = rule->source,
			.effect = rule->effect,
			.rights = rule->rights,
		};
	}
}

static void
add_places(struct file *file, struct offer_text *into,
    const struct sbx_place *places, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		into[i] = add(file, places[i].path, places[i].len);
}

/* As they were bound outside, when the session was made. */
static void
add_binding(const struct handover *handover, struct file *file)
{
	const struct binding *outside = handover->plan->outside;
	struct offer_head *head = (struct offer_head *)file->bytes;
	struct offer_rule *rules;
	struct offer_text *places;

	head->rule_count = outside->rule_count;
	head->socket_count = outside->socket_count;
	head->link_count = outside->link_count;
	head->place_count = outside->exclusion_count + outside->link_count;
	head->rules_at = file->used = (file->used + 7) & ~7U;
	rules = (struct offer_rule *)(void *)(file->bytes + file->used);
	file->used += (head->rule_count + head->socket_count) *
	    (uint32_t)sizeof *rules;
	head->places_at = file->used;
	places = (struct offer_text *)(void *)(file->bytes + file->used);
	file->used += head->place_count * (uint32_t)sizeof *places;
	add_rules(file, outside, rules, outside->rules, head->rule_count);
	add_rules(file, outside, rules + head->rule_count, outside->sockets,
	    head->socket_count);
	add_places(file, places, outside->exclusions, outside->exclusion_count);
	add_places(file, places + outside->exclusion_count, outside->links,
	    outside->link_count);
}

/* -------------------------------------------------------------------------- */

static const char *
stage_of(const struct handover *handover)
{
	return handover->stage != NULL ? handover->stage->name : "";
}

static size_t
room_for(const struct handover *handover)
{
	const struct binding *binding = handover->plan->binding;
	const size_t filter = GUARD_SIZE + handover->plan->program->count;
	size_t room = sizeof(struct offer_head) + 8 + handover->policy_size +
	    8 + GUARD_END * filter * sizeof(struct sbx_insn);

	for (int i = 0; i < SBX_MAX_ANCHORS; i++)
		room += binding->anchors[i].len + 1;
	return room + room_for_rules(handover) + binding->scratch.len +
	    binding->other_home.len + binding->git.len + binding->agent.len +
	    handover->plan->trust.len + handover->plan->secrets.len + 6 +
	    strlen(handover->plan->policy) + 1 + strlen(handover->name) + 1 +
	    strlen(stage_of(handover)) + 1;
}

static void
fill_head(const struct handover *handover, struct offer_head *head)
{
	const struct plan *plan = handover->plan;
	const struct sbx_blob *blob = plan->blob;

	session_stamp(&head->stamp, SESSION_JOIN);
	head->blob = *blob;
	head->level = plan->level;
	head->network = plan->network;
	head->restrict_flags = plan->row->restrict_flags;
	head->held = handover->held;
	head->listens = (plan->program->flags & SBX_PROGRAM_LISTENER) != 0;
	head->moved = handover->listening->moved;
	head->has_null = access("/dev/null", R_OK | W_OK) == 0;
	head->limit_count = blob->limit_count;
	memcpy(head->limits, blob->limits,
	    blob->limit_count * sizeof *blob->limits);
	memcpy(head->digest, plan->digest, sizeof plan->digest);
}

static void
add_filters(const struct handover *handover, struct file *file)
{
	const struct plan *plan = handover->plan;
	struct offer_head *head = (struct offer_head *)file->bytes;
	struct sbx_insn *insns;
	uint32_t used = 0;

	_Static_assert(SBX_MAX_INSNS - GUARD_SIZE == 4082, "it is said below");
	if (GUARD_SIZE + plan->program->count > SBX_MAX_INSNS)
		refuse(NULL,
		    "the policy's filter has more than the 4082 instructions "
		    "that a session has room for; run each command without a "
		    "session",
		    0);
	head->filters_at = file->used = (file->used + 7) & ~7U;
	insns = (struct sbx_insn *)(void *)(file->bytes + file->used);
	for (int i = 0; i < GUARD_END; i++) {
		head->filters[i] = *plan->program;
		head->filters[i].first = used;
		head->filters[i].count = guard_filter((enum guard)i,
		    plan->blob->bpf, plan->program, insns + used);
		used += head->filters[i].count;
	}
	file->used += used * (uint32_t)sizeof *insns;
}

/* This process is in the view, whose own directories are on that of its root.  A
 * staged workspace is another file system here, and is compared by what lies under
 * it. */
static void
note_inode(const struct handover *handover, struct offer_head *head,
    uint32_t anchor, struct sbx_place place)
{
	const struct staging *stage = handover->stage;
	struct stat status, root;

	if (stage != NULL && anchor == SBX_ANCHOR_WORKSPACE) {
		head->device[anchor] = stage->device;
		head->inode[anchor] = stage->inode;
		return;
	}
	if (stage != NULL && sbx_covers(stage->workspace, place))
		return;
	if (place.len == 0 || stat(place.path, &status) != 0 ||
	    stat("/", &root) != 0 || status.st_dev == root.st_dev)
		return;
	head->device[anchor] = status.st_dev;
	head->inode[anchor] = status.st_ino;
}

static struct file
make_file(const struct handover *handover)
{
	const struct binding *binding = handover->plan->binding;
	const char *policy = handover->plan->policy;
	struct file file = { .size = (uint32_t)room_for(handover) };
	struct offer_head *head;

	file.bytes = arena_take(handover->arena, 1, file.size);
	head = (struct offer_head *)file.bytes;
	file.used = sizeof *head;
	fill_head(handover, head);
	for (int i = 0; i < SBX_MAX_ANCHORS; i++) {
		head->bound[i] = binding->bound[i];
		head->anchors[i] = add(&file, binding->anchors[i].path,
		    binding->anchors[i].len);
		note_inode(handover, head, (uint32_t)i, binding->anchors[i]);
	}
	if (bind_is_moved(binding))
		head->scratch = add(&file, binding->scratch.path,
		    binding->scratch.len);
	if (binding->git.len > 0)
		head->git = add(&file, binding->git.path, binding->git.len);
	if (binding->has_other_home)
		head->other_home = add(&file, binding->other_home.path,
		    binding->other_home.len);
	if (binding->agent.len > 0)
		head->agent = add(&file, binding->agent.path,
		    binding->agent.len);
	if (handover->plan->trust.len > 0)
		head->trust = add(&file, handover->plan->trust.path,
		    handover->plan->trust.len);
	if (handover->plan->secrets.len > 0)
		head->secrets = add(&file, handover->plan->secrets.path,
		    handover->plan->secrets.len);
	head->policy = add(&file, policy, strlen(policy));
	head->name = add(&file, handover->name, strlen(handover->name));
	head->stage = add(&file, stage_of(handover),
	    strlen(stage_of(handover)));
	add_binding(handover, &file);
	add_filters(handover, &file);
	file.used = (file.used + 7) & ~7U;
	head->blob_at = file.used;
	head->blob_size = (uint32_t)handover->policy_size;
	memcpy(file.bytes + file.used, handover->policy, handover->policy_size);
	head->size = file.used += head->blob_size;
	return file;
}

static int
write_file(const struct file *file)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("sbx-session", flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("sbx-session", flags);
	if (fd < 0 ||
	    write(fd, file->bytes, file->used) != (ssize_t)file->used ||
	    fcntl(fd, F_ADD_SEALS,
		F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0)
		refuse(NULL, "cannot keep the session's policy", errno);
	return fd;
}

void
handover_send(const struct handover *handover, int socket)
{
	struct session_reply reply = { .first = getpid(),
		.listens = handover->plan->program->flags &
		    SBX_PROGRAM_LISTENER,
		.moved = handover->listening->moved };
	struct file file = make_file(handover);
	int descriptors[OFFER_END];
	const char *fault;

	memcpy(descriptors, handover->namespaces, sizeof descriptors);
	descriptors[OFFER_FILE] = write_file(&file);
	descriptors[OFFER_RULESET] = handover->ruleset;
	descriptors[OFFER_GROUP] = handover->group;
	if (handover->listening->answers && handover->listening->own_network)
		descriptors[OFFER_SERVERS] =
		    handover->listening->servers->diagnosis;
	session_stamp(&reply.stamp, SESSION_JOIN);
	fault = session_reply(socket, &reply, descriptors);
	if (fault != NULL)
		refuse(NULL, fault, errno);
}

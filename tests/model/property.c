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
#include "compiler/query/compile.h"
#include "compiler/query/places.h"
#include "tests/lib/chance.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum {
	ORDINARY = 65534,
	ROUNDS = 150,
	MAX_NODES = 26,
	MAX_RULES = 11,
	MAX_EXCLUSIONS = 3,
	MAX_LINKS = 40,
	MAX_ATTEMPTS = 1024,
	MAX_MENTIONED = 16,
	PATH_SIZE = 512,
	LANDLOCK_ABI = 3, /* the first that restricts all that is tried here */
	NR_LANDLOCK_CREATE_RULESET = 444,
	EXCHANGE_NAMES = 2,
	LIST = SBX_RIGHTS + 1,
};

#ifdef __x86_64__
#define HERE SBX_ON_LINUX_X86_64
#else
#define HERE SBX_ON_LINUX_AARCH64
#endif

__attribute__((noreturn, format(printf, 1, 2))) static void
give_up(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("Bail out! ");
	vprintf(format, args);
	printf(": %s\n", strerror(errno));
	va_end(args);
	exit(99);
}

__attribute__((format(printf, 2, 3))) static void
print_path(char path[PATH_SIZE], const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(path, PATH_SIZE, format, args);
	va_end(args);
	if (len < 0 || len >= PATH_SIZE)
		give_up("a path of %d bytes", len);
}

/* --- chance --------------------------------------------------------------- */

/* Names that are prefixes of each other; '-' and '.' sort before '/', and '0'
 * just after it. */
static const char *
chance_name(struct chance *chance)
{
	static const char *const names[] = {
		"a",
		"ab",
		"a.b",
		"a-b",
		"a0",
		"b",
		"ba",
	};

	return names[chance_below(chance, countof(names))];
}

/* --- the tree ------------------------------------------------------------- */

enum kind { DIRECTORY, REGULAR, SYMLINK };

struct node {
	char path[PATH_SIZE];
	enum kind kind;
};

struct world {
	struct chance chance;
	char base[PATH_SIZE];    /* holds the tree and what runs it */
	char outside[PATH_SIZE]; /* a file beside the tree */
	uid_t uid;
	const char *level;
	struct node nodes[MAX_NODES]; /* parents first */
	size_t node_count;
	/* Paths that a link or a rule speaks of: others are to speak of them,
	 * too, for what is interesting is where two meet. */
	char mentioned[MAX_MENTIONED][PATH_SIZE];
	size_t mentioned_count;
	/* Where the anchors lead; as given, by way of links. */
	char workspace[PATH_SIZE], home[PATH_SIZE], parameter[PATH_SIZE];
};

static bool
is_full(const struct world *world)
{
	return strcmp(world->level, "full") == 0;
}

static bool
exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

static bool
is_directory(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static const struct node *
world_pick(struct world *world)
{
	return &world->nodes[chance_below(&world->chance, world->node_count)];
}

static void
world_mention(struct world *world, const char *path)
{
	if (world->mentioned_count < MAX_MENTIONED)
		print_path(world->mentioned[world->mentioned_count++], "%s",
		    path);
}

/* A path that may be there, and may lie below something that is not. */
static void
world_path(struct world *world, char path[PATH_SIZE])
{
	const struct node *node = world_pick(world);

	if (world->mentioned_count > 0 && chance_percent(&world->chance, 25))
		print_path(path, "%s",
		    world->mentioned[chance_below(&world->chance,
			world->mentioned_count)]);
	else if (chance_percent(&world->chance, 70))
		print_path(path, "%s", node->path);
	else
		print_path(path, "%s/%s%s", node->path,
		    chance_name(&world->chance),
		    chance_percent(&world->chance, 20) ? "/a" : "");
}

static void
file_make(const struct world *world, const char *path)
{
	/* Empty and executable: execve() says ENOEXEC if it may. */
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777);

	if (fd < 0 || fchown(fd, world->uid, world->uid) != 0)
		give_up("%s", path);
	close(fd);
}

/* False for links in a ring: a rule that leads there is refused. */
static bool
node_make(struct world *world, const struct node *node)
{
	char target[PATH_SIZE];
	struct stat status;

	switch (node->kind) {
	case DIRECTORY:
		if (mkdir(node->path, 0777) != 0)
			give_up("%s", node->path);
		break;
	case REGULAR:
		file_make(world, node->path);
		break;
	case SYMLINK:
		if (chance_percent(&world->chance, 25))
			print_path(target, "../%s",
			    chance_name(&world->chance));
		else if (chance_percent(&world->chance, 10))
			print_path(target, "%s", world->outside);
		else
			world_path(world, target);
		if (target[0] == '/')
			world_mention(world, target);
		world_mention(world, node->path);
		if (symlink(target, node->path) != 0)
			give_up("%s", node->path);
		if (stat(node->path, &status) != 0 && errno == ELOOP)
			return unlink(node->path) != 0;
		break;
	}
	if (lchown(node->path, world->uid, world->uid) != 0)
		give_up("%s", node->path);
	return true;
}

static void
world_add(struct world *world)
{
	struct node *node = &world->nodes[world->node_count];
	const struct node *parent = world_pick(world);
	size_t kind = chance_below(&world->chance, 100);

	if (parent->kind != DIRECTORY)
		return;
	print_path(node->path, "%s/%s", parent->path,
	    chance_name(&world->chance));
	if (exists(node->path))
		return;
	node->kind = kind < 45 ? DIRECTORY : kind < 85 ? REGULAR : SYMLINK;
	world->node_count += node_make(world, node);
}

/* A directory, or a link to one, that an anchor can be bound to. */
static void
world_anchor(struct world *world, char path[PATH_SIZE])
{
	struct stat status;
	const struct node *node;

	do {
		node = world_pick(world);
	} while (stat(node->path, &status) != 0 || !S_ISDIR(status.st_mode));
	print_path(path, "%s", node->path);
}

static void
world_make(struct world *world)
{
	size_t wanted = 4 + chance_below(&world->chance, MAX_NODES - 4);

	world->node_count = 1;
	world->mentioned_count = 0;
	world->nodes[0].kind = DIRECTORY;
	print_path(world->nodes[0].path, "%s/t", world->base);
	node_make(world, &world->nodes[0]);
	for (unsigned i = 0; i < 200 && world->node_count < wanted; i++)
		world_add(world);
	file_make(world, world->outside);
	world_anchor(world, world->workspace);
	world_anchor(world, world->home);
	world_anchor(world, world->parameter);
}

static void
world_remove(struct world *world)
{
	if (unlink(world->outside) != 0)
		give_up("%s", world->outside);
	while (world->node_count > 0) {
		const struct node *node = &world->nodes[--world->node_count];

		if ((node->kind == DIRECTORY ? rmdir(node->path) :
					       unlink(node->path)) != 0)
			give_up("the tree is not as it was: %s", node->path);
	}
}

/* --- the policy ----------------------------------------------------------- */

struct words {
	const char *effect, *right;
	char at[PATH_SIZE];
	char exclusions[MAX_EXCLUSIONS][PATH_SIZE];
	size_t exclusion_count;
};

struct draft {
	struct words rules[MAX_RULES];
	size_t count;
	bool scratch;           /* the policy allows ${tmp} */
	const char *kept_right; /* and denies this */
	char kept[PATH_SIZE];   /* below it, here; deeper than one name */
};

/* Spells a path by way of an anchor that leads there, now and then. */
static void
spell(struct world *world, const char *path, char text[PATH_SIZE])
{
	const struct {
		const char *name, *leads;
	} anchors[] = {
		{ "${workspace}", world->workspace },
		{ "~", world->home },
		{ "${p}", world->parameter },
	};
	size_t pick = chance_below(&world->chance, countof(anchors) + 1);
	size_t len;

	if (pick < countof(anchors)) {
		len = strlen(anchors[pick].leads);
		if (strncmp(path, anchors[pick].leads, len) == 0 &&
		    (path[len] == '/' || path[len] == '\0')) {
			print_path(text, "%s%s", anchors[pick].name,
			    path + len);
			return;
		}
	}
	print_path(text, "%s", path);
}

/* What lies below in the tree, or nothing that is there. */
static void
world_path_below(struct world *world, const char *path, char below[PATH_SIZE])
{
	size_t len = strlen(path);

	for (unsigned i = 0; i < 12; i++) {
		world_path(world, below);
		if (strncmp(below, path, len) == 0 && below[len] == '/')
			return;
	}
	print_path(below, "%s/%s", path, chance_name(&world->chance));
}

static void
words_make(struct world *world, struct words *words, bool first)
{
	static const char *const effects[] = {
		"allow",
		"allow",
		"allow",
		"deny",
		"deny",
		"prefer deny",
	};
	static const char *const rights[] = {
		"read",
		"write",
		"write",
		"exec",
	};
	struct chance *chance = &world->chance;
	char path[PATH_SIZE], exclusion[PATH_SIZE];

	words->effect = first ? "allow" :
				effects[chance_below(chance, countof(effects))];
	words->right = rights[chance_below(chance, countof(rights))];
	if (first && chance_percent(chance, 50))
		print_path(path, "%s", world->nodes[0].path);
	else
		world_path(world, path);
	world_mention(world, path);
	spell(world, path, words->at);
	words->exclusion_count = chance_percent(chance, 30) ?
	    1 + chance_below(chance, MAX_EXCLUSIONS) :
	    0;
	for (size_t i = 0; i < words->exclusion_count; i++) {
		world_path_below(world, path, exclusion);
		world_mention(world, exclusion);
		/* Spelt as the rule is, or the compiler refuses. */
		print_path(words->exclusions[i], "%s%s", words->at,
		    exclusion + strlen(path));
		if (chance_percent(chance, 10))
			spell(world, exclusion, words->exclusions[i]);
	}
}

/*
 * What chance alone seldom makes: a place that one rule leaves out, and that
 * another gives by way of a link which may have been planted.
 */
static void
draft_add_planted(struct world *world, struct draft *policy)
{
	const struct node *node = world_pick(world);
	struct words *words = &policy->rules[policy->count];
	char target[PATH_SIZE];
	ssize_t len = readlink(node->path, target, sizeof target - 1);
	size_t top = strlen(world->nodes[0].path);

	target[len < 0 ? 0 : len] = '\0';
	if (strncmp(target, world->nodes[0].path, top) != 0 ||
	    target[top] != '/')
		return;
	words[0] = words[1] = (struct words){ .effect = "allow",
		.right = "write" };
	print_path(words[0].at, "%s", world->nodes[0].path);
	print_path(words[0].exclusions[words[0].exclusion_count++], "%s",
	    target);
	print_path(words[1].at, "%s", node->path);
	policy->count += 2;
}

static void
draft_keep(struct world *world, struct draft *policy)
{
	static const char *const rights[] = { "read", "write", "exec" };
	struct chance *chance = &world->chance;

	policy->kept_right = rights[chance_below(chance, countof(rights))];
	print_path(policy->kept, "/%s/%s%s%s", chance_name(chance),
	    chance_name(chance), chance_percent(chance, 50) ? "/" : "-",
	    chance_name(chance));
}

static void
draft_make(struct world *world, struct draft *policy)
{
	policy->scratch = is_full(world) && chance_percent(&world->chance, 30);
	policy->count = 1 + chance_below(&world->chance, MAX_RULES - 2);
	for (size_t i = 0; i < policy->count; i++)
		words_make(world, &policy->rules[i], i == 0);
	for (unsigned i = 0; i < 3 && policy->count <= MAX_RULES - 2; i++)
		draft_add_planted(world, policy);
	draft_keep(world, policy);
}

static void
draft_write(const struct world *world, const struct draft *policy,
    const char *indent, FILE *stream)
{
	fprintf(stream, "%ssbx 1\n%sparam p\n%sprofile random {\n", indent,
	    indent, indent);
	fprintf(stream, "%s    allow exec %s/probe\n", indent, world->base);
	if (policy->scratch)
		fprintf(stream,
		    "%s    allow write ${tmp}\n"
		    "%s    allow exec ${tmp}\n"
		    "%s    deny %s ${tmp}%s\n",
		    indent, indent, indent, policy->kept_right, policy->kept);
	for (size_t i = 0; i < policy->count; i++) {
		const struct words *words = &policy->rules[i];

		fprintf(stream, "%s    %s %s %s", indent, words->effect,
		    words->right, words->at);
		for (size_t j = 0; j < words->exclusion_count; j++)
			fprintf(stream, "%s%s", j == 0 ? " except { " : " ",
			    words->exclusions[j]);
		fputs(words->exclusion_count > 0 ? " }\n" : "\n", stream);
	}
	fprintf(stream, "%s}\n", indent);
}

static bool
file_write(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "we");
	bool written = file != NULL && fwrite(bytes, 1, size, file) == size;

	return file != NULL && fclose(file) == 0 && written;
}

/* Into BASE/policy.bin; false where the compiler has objections. */
static bool
draft_compile(const struct world *world, const struct draft *policy,
    struct arena *arena, struct sbx_blob *blob)
{
	struct compilation compilation;
	struct image image;
	char path[PATH_SIZE];
	FILE *file;

	print_path(path, "%s/policy.sbx", world->base);
	file = fopen(path, "we");
	if (file == NULL)
		give_up("%s", path);
	draft_write(world, policy, "", file);
	fclose(file);
	compilation_init(&compilation, arena);
	if (!compilation_open(&compilation, path) ||
	    !compile(&compilation, NULL, &image))
		return false;
	print_path(path, "%s/policy.bin", world->base);
	if (!file_write(path, image.bytes, image.size))
		give_up("%s", path);
	return sbx_verify(image.bytes, image.size, blob) == SBX_BLOB_OK;
}

/* --- the model ------------------------------------------------------------ */

/* Where a path leads, and the links on the way, as bound paths. */
struct route {
	char at[PATH_SIZE];
	char links[MAX_LINKS][PATH_SIZE];
	size_t link_count;
};

static void
route_up(struct route *route)
{
	char *slash = strrchr(route->at, '/');

	if (slash != NULL)
		*slash = '\0';
}

/*
 * Follows a path component by component.  From the first that is not there on
 * the rest is text.
 */
static void
route_follow(struct route *route, const char *path)
{
	char rest[2 * PATH_SIZE], target[PATH_SIZE], longer[2 * PATH_SIZE];
	bool lost = false;
	size_t len;

	*route = (struct route){ .link_count = 0 };
	snprintf(rest, sizeof rest, "%s", path);
	for (char *next = rest; *(next += strspn(next, "/")) != '\0';) {
		char *name = next;
		ssize_t got;

		len = strcspn(next, "/");
		next += len;
		if (len == 2 && memcmp(name, "..", 2) == 0) {
			route_up(route);
			continue;
		}
		snprintf(longer, sizeof longer, "%s/%.*s", route->at, (int)len,
		    name);
		print_path(route->at, "%s", longer);
		got = lost ? -1 :
			     readlink(route->at, target, sizeof target - 1);
		lost |= got < 0 && errno != EINVAL;
		if (got < 0)
			continue;
		/* A loop of links leads nowhere, like what is not there. */
		if (route->link_count == MAX_LINKS) {
			lost = true;
			continue;
		}
		target[got] = '\0';
		print_path(route->links[route->link_count++], "%s", route->at);
		if (target[0] == '/')
			route->at[0] = '\0';
		else
			route_up(route);
		snprintf(longer, sizeof longer, "%s%s", target, next);
		memcpy(rest, longer, sizeof rest);
		next = rest;
	}
}

struct model {
	struct arena *arena;
	struct sbx_rule *rules;
	size_t count;
	bool defined; /* some rule speaks of the parameter */
	bool scratch; /* what is not shown lies in the scratch directory */
};

static struct sbx_place
place_of(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

static struct sbx_place
model_place(const struct model *model, const char *path)
{
	return place_of(arena_strndup(model->arena, path, strlen(path)));
}

static bool
model_gives(const struct model *model, uint8_t right, const char *path)
{
	return sbx_verdict_allows(sbx_path_verdict(model->rules, model->count,
	    right, place_of(path)));
}

/* Adds a rule; what denies by way of a link also keeps the link in place, and
 * a link to an exclusion is one too. */
static void
model_add(struct model *model, const struct sbx_rule *text)
{
	struct sbx_rule *rule = &model->rules[model->count++];
	struct sbx_place *exclusions = arena_alloc(model->arena,
	    (text->exclusion_count * (1u + MAX_LINKS) + 1) *
		sizeof *exclusions);
	struct route route;

	*rule = *text;
	rule->exclusions = exclusions;
	rule->exclusion_count = 0;
	for (uint16_t i = 0; i < text->exclusion_count; i++) {
		route_follow(&route, text->exclusions[i].path);
		exclusions[rule->exclusion_count++] = model_place(model,
		    route.at);
		for (size_t j = 0; j < route.link_count; j++)
			exclusions[rule->exclusion_count++] = model_place(model,
			    route.links[j]);
	}
	route_follow(&route, text->at.path);
	rule->at = model_place(model, route.at);
	/* What allows a place that is not there grants nothing, see sbx(5). */
	if (rule->effect == SBX_ALLOW && !exists(route.at))
		rule->rights = 0;
	for (size_t i = 0; i < route.link_count && rule->effect != SBX_ALLOW;
	     i++)
		model->rules[model->count++] = (struct sbx_rule){
			.at = model_place(model, route.links[i]),
			.source = rule->source,
			.effect = rule->effect,
			.rights = SBX_WRITE,
		};
}

/* What allows by way of a link that the sandbox may write allows nothing. */
static void
model_distrust(struct model *model, const struct place_rules *texts)
{
	bool *planted = arena_alloc(model->arena, model->count + 1);
	struct route route;
	size_t at = 0;

	for (size_t i = 0; i < texts->count; i++, at++) {
		route_follow(&route, texts->rules[i].at.path);
		if (texts->rules[i].effect != SBX_ALLOW) {
			at += route.link_count;
			continue;
		}
		for (size_t j = 0; j < route.link_count; j++)
			planted[at] |= model_gives(model, SBX_WRITE,
			    route.links[j]);
	}
	for (size_t i = 0; i < model->count; i++) {
		if (planted[i])
			model->rules[i].rights = 0;
	}
}

/* Binds the rules of the blob, as the loader must: anchors first. */
static void
model_bind(struct model *model, const struct world *world, struct arena *arena,
    const struct sbx_blob *blob)
{
	struct place_rules texts;
	struct places places;
	struct route workspace, home, parameter;

	route_follow(&workspace, world->workspace);
	route_follow(&home, world->home);
	route_follow(&parameter, world->parameter);
	places_init(&places, arena, blob, workspace.at, home.at);
	*model = (struct model){ .arena = arena };
	model->defined = places_define(&places, "p", parameter.at);
	places_rules(&places, HERE, &texts);
	model->rules = arena_alloc(arena,
	    (texts.count + 1) * (MAX_LINKS + 1) * sizeof *model->rules);
	for (size_t i = 0; i < texts.count; i++)
		model_add(model, &texts.rules[i]);
	model_distrust(model, &texts);
}

/* --- what the kernel is to say -------------------------------------------- */

static bool
is_file(const char *path)
{
	return exists(path) && !is_directory(path);
}

static bool
is_below(const char *path, struct sbx_place place)
{
	size_t len = strlen(path);

	return place.len > len && strncmp(place.path, path, len) == 0 &&
	    place.path[len] == '/';
}

/* Whether a directory at that place, if there is or may come to be one, is
 * kept from being listed.  Below a file there is nothing. */
static bool
cuts_listing(const struct model *model, struct sbx_place place)
{
	struct stat status;

	if (model_gives(model, SBX_READ, place.path))
		return false;
	return lstat(place.path, &status) == 0 ? S_ISDIR(status.st_mode) :
						 errno != ENOTDIR;
}

/*
 * A denied file does not keep the directories above it from being listed: to
 * list is a right of its own in Landlock, which files do not have.
 */
static bool
model_lists(const struct model *model, const char *path)
{
	if (!model_gives(model, SBX_READ, path))
		return false;
	for (size_t i = 0; i < model->count; i++) {
		const struct sbx_rule *rule = &model->rules[i];

		if (rule->effect != SBX_ALLOW && is_below(path, rule->at) &&
		    cuts_listing(model, rule->at))
			return false;
		for (uint16_t j = 0; j < rule->exclusion_count; j++) {
			if (is_below(path, rule->exclusions[j]) &&
			    cuts_listing(model, rule->exclusions[j]))
				return false;
		}
	}
	return true;
}

/* Whether all that is at and below a directory, new things too, has it. */
static bool
model_whole(const struct model *model, uint8_t right, const char *path)
{
	if (right == LIST)
		return model_lists(model, path);
	return model_gives(model, right, path) &&
	    !sbx_path_is_split(model->rules, model->count, right,
		place_of(path));
}

static void
parent_of(const char *path, char parent[PATH_SIZE])
{
	print_path(parent, "%.*s", (int)(strrchr(path, '/') - path), path);
}

/* Whether what lies at the path has the right there. */
static bool
model_has(const struct model *model, uint8_t right, const char *path)
{
	struct stat status;
	char parent[PATH_SIZE];

	if (lstat(path, &status) != 0)
		return false;
	if (S_ISDIR(status.st_mode))
		return model_whole(model, right, path);
	/* Links among the entries of a split directory are granted nothing. */
	if (S_ISLNK(status.st_mode)) {
		parent_of(path, parent);
		return model_whole(model, right, parent);
	}
	return right == LIST || model_gives(model, right, path);
}

/*
 * Landlock refuses to let something be moved, or linked, into a directory
 * where it would have a right that it does not have where it is.
 */
static bool
gains_nothing(const struct model *model, const char *path, const char *into)
{
	static const uint8_t rights[] = {
		SBX_READ,
		SBX_WRITE,
		SBX_EXEC,
		LIST,
	};

	for (size_t i = 0; i < countof(rights); i++) {
		if (rights[i] == LIST && !is_directory(path))
			continue;
		if (model_whole(model, rights[i], into) &&
		    !model_has(model, rights[i], path))
			return false;
	}
	return true;
}

/* --- attempts ------------------------------------------------------------- */

enum operation {
	OPEN_READ,
	LISTING,
	OPEN_WRITE,
	TRUNCATE,
	EXEC,
	CREATE,
	MKDIR,
	MKNOD,
	MAKE_LINK,
	UNLINK,
	RMDIR,
	RENAME,
	LINK,
	EXCHANGE,
};

/* `allowed` is the answer that says that only Landlock could have refused. */
static const struct {
	const char *word, *allowed;
} operations[] = {
	[OPEN_READ] = { "open-read", "ok" },
	[LISTING] = { "list", "ok" },
	[OPEN_WRITE] = { "open-write", "ok" },
	[TRUNCATE] = { "truncate", "ok" },
	[EXEC] = { "exec", "ENOEXEC" },
	[CREATE] = { "create", "ok" },
	[MKDIR] = { "mkdir", "ok" },
	[MKNOD] = { "mknod", "ok" },
	[MAKE_LINK] = { "symlink", "ok" },
	[UNLINK] = { "unlink", "ok" },
	[RMDIR] = { "rmdir", "ENOTEMPTY" },
	[RENAME] = { "rename", "ok" },
	[LINK] = { "link", "ok" },
	[EXCHANGE] = { "exchange", "ok" },
};

struct attempt {
	enum operation operation;
	char a[PATH_SIZE], b[PATH_SIZE];
};

struct attempts {
	struct attempt list[MAX_ATTEMPTS];
	size_t count;
};

static void
attempt_add(struct attempts *attempts, enum operation operation, const char *a,
    const char *b)
{
	struct attempt *attempt = &attempts->list[attempts->count];

	if (attempts->count == MAX_ATTEMPTS)
		return;
	attempts->count++;
	attempt->operation = operation;
	print_path(attempt->a, "%s", a);
	print_path(attempt->b, "%s", b);
}

/* What is tried of a node depends on what it leads to. */
static void
attempts_at(struct attempts *attempts, const char *path, struct chance *chance)
{
	struct stat status;
	char fresh[PATH_SIZE];

	if (stat(path, &status) != 0)
		return;
	if (!S_ISDIR(status.st_mode)) {
		for (enum operation i = OPEN_READ; i <= EXEC; i++) {
			if (i != LISTING)
				attempt_add(attempts, i, path, "");
		}
		return;
	}
	attempt_add(attempts, LISTING, path, "");
	print_path(fresh, "%s/%s", path,
	    chance_percent(chance, 50) ? "new" : chance_name(chance));
	if (exists(fresh))
		return;
	attempt_add(attempts, CREATE, fresh, "");
	attempt_add(attempts, MKDIR, fresh, "");
	attempt_add(attempts, MKNOD, fresh, "");
	attempt_add(attempts, MAKE_LINK, "/", fresh);
}

/* Whether two names can change places, or one become the other: neither lies
 * inside the other, which the kernel refuses before it asks Landlock. */
static bool
are_apart(const char *a, const char *b)
{
	return strcmp(a, b) != 0 && !is_below(a, place_of(b)) &&
	    !is_below(b, place_of(a));
}

/* Everything that moves or links what is at a to b, if anything is there. */
static void
attempts_between(struct attempts *attempts, const char *a, const char *b)
{
	bool over = exists(b);

	if (!are_apart(a, b))
		return;
	if (!over || (is_file(a) && is_file(b)))
		attempt_add(attempts, RENAME, a, b);
	if (!over && is_file(a))
		attempt_add(attempts, LINK, a, b);
	if (over)
		attempt_add(attempts, EXCHANGE, a, b);
}

static void
attempts_make(struct attempts *attempts, struct world *world)
{
	char parent[PATH_SIZE], fresh[PATH_SIZE];

	attempts->count = 0;
	for (size_t i = 0; i < world->node_count; i++) {
		const struct node *node = &world->nodes[i];

		attempts_at(attempts, node->path, &world->chance);
		if (i == 0)
			continue;
		attempt_add(attempts, node->kind == DIRECTORY ? RMDIR : UNLINK,
		    node->path, "");
		parent_of(node->path, parent);
		print_path(fresh, "%s/new", parent);
		attempts_between(attempts, node->path, fresh);
		for (unsigned j = 0; j < 3; j++) {
			const struct node *other = world_pick(world);

			if (other != world->nodes)
				attempts_between(attempts, node->path,
				    other->path);
			if (other->kind != DIRECTORY)
				continue;
			print_path(fresh, "%s/new", other->path);
			attempts_between(attempts, node->path, fresh);
		}
	}
}

/* A name that is made or taken away: all but the last component is followed. */
static void
entry_of(const char *path, char directory[PATH_SIZE], char entry[PATH_SIZE])
{
	struct route route;

	parent_of(path, directory);
	route_follow(&route, directory);
	print_path(directory, "%s", route.at);
	print_path(entry, "%s%s", directory, strrchr(path, '/'));
}

static bool
expect_move(const struct model *model, const struct attempt *attempt)
{
	char from[PATH_SIZE], to[PATH_SIZE], a[PATH_SIZE], b[PATH_SIZE];

	entry_of(attempt->a, from, a);
	entry_of(attempt->b, to, b);
	if (!model_whole(model, SBX_WRITE, from) ||
	    !model_whole(model, SBX_WRITE, to))
		return false;
	/* Within one directory nothing can be gained. */
	if (strcmp(from, to) == 0)
		return true;
	return gains_nothing(model, a, to) &&
	    (attempt->operation != EXCHANGE || gains_nothing(model, b, from));
}

static bool
expect_entry(const struct model *model, const char *path)
{
	char directory[PATH_SIZE], entry[PATH_SIZE];

	entry_of(path, directory, entry);
	return model_whole(model, SBX_WRITE, directory);
}

static bool
expect_use(const struct model *model, uint8_t right, const char *path)
{
	struct route route;

	route_follow(&route, path);
	return right == LIST ? model_lists(model, route.at) :
			       model_gives(model, right, route.at);
}

static bool
expect_standard(const struct model *model, const struct attempt *attempt)
{
	switch (attempt->operation) {
	case OPEN_READ:
		return expect_use(model, SBX_READ, attempt->a);
	case LISTING:
		return expect_use(model, LIST, attempt->a);
	case OPEN_WRITE:
	case TRUNCATE:
		return expect_use(model, SBX_WRITE, attempt->a);
	case EXEC:
		return expect_use(model, SBX_EXEC, attempt->a);
	case CREATE:
	case MKDIR:
	case MKNOD:
	case UNLINK:
	case RMDIR:
		return expect_entry(model, attempt->a);
	case MAKE_LINK:
		return expect_entry(model, attempt->b);
	case RENAME:
	case LINK:
	case EXCHANGE:
		return expect_move(model, attempt);
	}
	return false;
}

/* --- the same at level full ----------------------------------------------- */

enum verdict { DENIED, ALLOWED, EITHER };

/* Some place that a rule names lies at or below the path. */
static bool
is_touched(const struct model *model, const char *path)
{
	struct sbx_place at = place_of(path);

	for (size_t i = 0; i < model->count; i++) {
		const struct sbx_rule *rule = &model->rules[i];

		if (sbx_covers(at, rule->at))
			return true;
		for (uint16_t j = 0; j < rule->exclusion_count; j++) {
			if (sbx_covers(at, rule->exclusions[j]))
				return true;
		}
	}
	return false;
}

/* Whether execution is denied where it is given around. */
static bool
is_exec_cut(const struct model *model, struct sbx_place cut)
{
	char parent[PATH_SIZE];

	parent_of(cut.path, parent);
	return model_gives(model, SBX_EXEC, parent) &&
	    !model_gives(model, SBX_EXEC, cut.path);
}

/* A denied place that is there must not be carried away. */
static bool
is_guarded(const struct model *model, const char *path, struct sbx_place cut)
{
	return sbx_covers(place_of(path), cut) && exists(cut.path) &&
	    (!model_gives(model, SBX_WRITE, cut.path) ||
		is_exec_cut(model, cut));
}

static bool
holds_guarded(const struct model *model, const char *path)
{
	for (size_t i = 0; i < model->count; i++) {
		const struct sbx_rule *rule = &model->rules[i];

		if (rule->effect != SBX_ALLOW &&
		    is_guarded(model, path, rule->at))
			return true;
		for (uint16_t j = 0; j < rule->exclusion_count; j++) {
			if (is_guarded(model, path, rule->exclusions[j]))
				return true;
		}
	}
	return false;
}

/* A link on the way that the view may leave out. */
static bool
is_hidden(const struct model *model, const char *path)
{
	struct route route;

	route_follow(&route, path);
	for (size_t i = 0; i < route.link_count; i++) {
		if (!model_gives(model, SBX_READ, route.links[i]))
			return true;
	}
	return false;
}

/* Some directory above is shown. */
static bool
is_in_shown(const struct model *model, const char *path)
{
	char above[PATH_SIZE];

	print_path(above, "%s", path);
	for (char *slash; (slash = strrchr(above, '/')) != NULL;) {
		*slash = '\0';
		if (model_gives(model, SBX_READ, above))
			return true;
	}
	return false;
}

static enum verdict
full_use(const struct model *model, uint8_t right, const char *path)
{
	struct route route;

	route_follow(&route, path);
	if (model_gives(model, right == LIST ? SBX_READ : right, route.at))
		return is_hidden(model, path) ? EITHER : ALLOWED;
	/* The directories above what is shown hold nothing else. */
	return right == LIST &&
		(is_touched(model, route.at) || !is_in_shown(model, route.at)) ?
	    EITHER :
	    DENIED;
}

static enum verdict
full_entry(const struct model *model, const char *path)
{
	char directory[PATH_SIZE], entry[PATH_SIZE], parent[PATH_SIZE];

	entry_of(path, directory, entry);
	parent_of(path, parent);
	if (!model_gives(model, SBX_WRITE, directory))
		return DENIED;
	return is_hidden(model, parent) ? EITHER : ALLOWED;
}

static enum verdict
full_removal(const struct model *model, const char *path)
{
	char directory[PATH_SIZE], entry[PATH_SIZE];
	enum verdict verdict = full_entry(model, path);

	entry_of(path, directory, entry);
	if (verdict == DENIED || holds_guarded(model, entry))
		return DENIED;
	return is_touched(model, entry) ? EITHER : verdict;
}

static bool
full_gains(const struct model *model, const char *path, const char *into)
{
	for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		if (model_gives(model, right, into) &&
		    !model_gives(model, right, path))
			return true;
	}
	return false;
}

static enum verdict
full_move(const struct model *model, const struct attempt *attempt)
{
	char from[PATH_SIZE], to[PATH_SIZE], a[PATH_SIZE], b[PATH_SIZE];
	enum verdict verdict = full_removal(model, attempt->a);
	enum verdict other = exists(attempt->b) ?
	    full_removal(model, attempt->b) :
	    full_entry(model, attempt->b);

	entry_of(attempt->a, from, a);
	entry_of(attempt->b, to, b);
	if (verdict == DENIED || other == DENIED)
		return DENIED;
	if (strcmp(from, to) == 0)
		return verdict == EITHER ? EITHER : other;
	if (full_gains(model, a, to) ||
	    (attempt->operation == EXCHANGE && full_gains(model, b, from)))
		return DENIED;
	return EITHER;
}

static enum verdict
expect_full(const struct model *model, const struct attempt *attempt)
{
	switch (attempt->operation) {
	case OPEN_READ:
		return full_use(model, SBX_READ, attempt->a);
	case LISTING:
		return full_use(model, LIST, attempt->a);
	case OPEN_WRITE:
	case TRUNCATE:
		return full_use(model, SBX_WRITE, attempt->a);
	case EXEC:
		return full_use(model, SBX_EXEC, attempt->a);
	case CREATE:
	case MKDIR:
	case MKNOD:
		return full_entry(model, attempt->a);
	case UNLINK:
	case RMDIR:
		return full_removal(model, attempt->a);
	case MAKE_LINK:
		return full_entry(model, attempt->b);
	case RENAME:
	case LINK:
	case EXCHANGE:
		return full_move(model, attempt);
	}
	return EITHER;
}

static enum verdict
expect(const struct world *world, const struct model *model,
    const struct attempt *attempt)
{
	if (is_full(world))
		return expect_full(model, attempt);
	return expect_standard(model, attempt) ? ALLOWED : DENIED;
}

static bool
is_elsewhere(const struct model *model, const char *path)
{
	char directory[PATH_SIZE], entry[PATH_SIZE];

	if (path[0] == '\0' || strcmp(path, "/") == 0)
		return false;
	entry_of(path, directory, entry);
	return !model_gives(model, SBX_READ, directory);
}

/* What would change the scratch directory, of which the model knows nothing. */
static bool
is_left_out(const struct model *model, const struct attempt *attempt)
{
	return model->scratch && attempt->operation >= CREATE &&
	    (is_elsewhere(model, attempt->a) ||
		is_elsewhere(model, attempt->b));
}

/* --- trying --------------------------------------------------------------- */

/* A command that answers one line for each line that it is given. */
struct prober {
	pid_t pid;
	int to, from;
};

static void
prober_become(const struct world *world, char *const *arguments)
{
	char home[PATH_SIZE + 8], error[PATH_SIZE];
	char *environment[] = { home, NULL };
	int fd;

	snprintf(home, sizeof home, "HOME=%s", world->home);
	print_path(error, "%s/stderr", world->base);
	fd = open(error, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0 || dup2(fd, 2) < 0)
		_exit(99);
	if (world->uid != getuid() &&
	    (setgroups(0, NULL) != 0 || setgid(world->uid) != 0 ||
		setuid(world->uid) != 0))
		_exit(99);
	umask(0);
	/* A place that every view shows. */
	if (chdir("/") != 0)
		_exit(99);
	execve(arguments[0], arguments, environment);
	_exit(99);
}

static void
prober_start(struct prober *prober, const struct world *world, bool defined)
{
	char loader[PATH_SIZE], image[PATH_SIZE], probe[PATH_SIZE];
	char workspace[PATH_SIZE], parameter[PATH_SIZE + 4], level[32];
	char *arguments[] = { loader, level, (char[]){ "-w" }, workspace,
		parameter, image, (char[]){ "--" }, probe, (char[]){ "-" },
		NULL };
	int to[2], from[2];

	print_path(loader, "%s/sbxrun", world->base);
	print_path(image, "%s/policy.bin", world->base);
	print_path(probe, "%s/probe", world->base);
	print_path(workspace, "%s", world->workspace);
	snprintf(level, sizeof level, "-l%s", world->level);
	/* To define what no rule speaks of is refused. */
	if (defined)
		snprintf(parameter, sizeof parameter, "-Dp=%s",
		    world->parameter);
	else
		print_path(parameter, "-v");
	if (pipe(to) != 0 || pipe(from) != 0)
		give_up("a pipe");
	prober->pid = fork();
	if (prober->pid < 0)
		give_up("a process");
	if (prober->pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		prober_become(world, arguments);
	}
	close(to[0]);
	close(from[1]);
	prober->to = to[1];
	prober->from = from[0];
}

static void
prober_stop(struct prober *prober)
{
	close(prober->to);
	close(prober->from);
	waitpid(prober->pid, NULL, 0);
}

/* The answer without its line end; "" from a prober that has gone. */
static void
prober_ask(const struct prober *prober, const struct attempt *attempt,
    char answer[64])
{
	char line[3 * PATH_SIZE];
	size_t used = 0;
	int len = snprintf(line, sizeof line, "%s\t%s\t%s\n",
	    operations[attempt->operation].word, attempt->a, attempt->b);

	answer[0] = '\0';
	if (write(prober->to, line, (size_t)len) != len)
		return;
	while (used < 63 && read(prober->from, answer + used, 1) == 1) {
		if (answer[used] == '\n')
			break;
		used++;
	}
	answer[used] = '\0';
}

/* Keeps the inode of what may go away under another name. */
static void
keep(const struct world *world, const char *path)
{
	char kept[PATH_SIZE];

	print_path(kept, "%s/kept", world->base);
	if (is_file(path) && linkat(AT_FDCWD, path, AT_FDCWD, kept, 0) != 0)
		give_up("%s", path);
}

static void
give_back(const struct world *world, const char *path)
{
	char kept[PATH_SIZE];

	print_path(kept, "%s/kept", world->base);
	if (!exists(kept))
		return;
	/* rename() between two names of one inode does nothing. */
	if ((!exists(path) && rename(kept, path) != 0) ||
	    (exists(kept) && unlink(kept) != 0))
		give_up("%s", path);
}

static void
attempt_prepare(const struct world *world, const struct attempt *attempt)
{
	char inside[PATH_SIZE];

	if (attempt->operation == UNLINK)
		keep(world, attempt->a);
	if (attempt->operation == RENAME)
		keep(world, attempt->b);
	/* A directory that would be removed must not be. */
	print_path(inside, "%s/inside", attempt->a);
	if (attempt->operation == RMDIR && mkdir(inside, 0777) != 0)
		give_up("%s", inside);
}

static void
attempt_undo(const struct world *world, const struct attempt *attempt, bool ok)
{
	char inside[PATH_SIZE];
	long undone = 0;

	switch (attempt->operation) {
	case OPEN_READ:
	case LISTING:
	case OPEN_WRITE:
	case TRUNCATE:
	case EXEC:
		break;
	case CREATE:
	case MKNOD:
		undone = ok ? unlink(attempt->a) : 0;
		break;
	case MKDIR:
		undone = ok ? rmdir(attempt->a) : 0;
		break;
	case MAKE_LINK:
	case LINK:
		undone = ok ? unlink(attempt->b) : 0;
		break;
	case UNLINK:
		give_back(world, attempt->a);
		break;
	case RMDIR:
		print_path(inside, "%s/inside", attempt->a);
		undone = rmdir(inside);
		break;
	case RENAME:
		undone = ok ? rename(attempt->b, attempt->a) : 0;
		give_back(world, attempt->b);
		break;
	case EXCHANGE:
		undone = ok ? syscall(SYS_renameat2, AT_FDCWD, attempt->b,
				  AT_FDCWD, attempt->a, EXCHANGE_NAMES) :
			      0;
		break;
	}
	if (undone != 0)
		give_up("putting back %s", attempt->a);
}

/* Whether the answer is what it is to be. */
static bool
is_answer(const struct world *world, enum operation operation,
    const char *answer, enum verdict verdict)
{
	bool done = strcmp(answer, operations[operation].allowed) == 0;

	if (verdict == EITHER)
		return answer[0] != '\0';
	if (verdict == ALLOWED)
		return done;
	if (is_full(world))
		return answer[0] != '\0' && !done;
	return strcmp(answer, "EACCES") == 0 ||
	    (operation >= RENAME && strcmp(answer, "EXDEV") == 0);
}

/* --- rounds --------------------------------------------------------------- */

struct difference {
	const struct attempt *attempt; /* NULL: there is none */
	enum verdict verdict;          /* by the model */
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
		enum verdict verdict = expect(world, model, attempt);

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
		if (!is_answer(world, attempt->operation, difference->answer,
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
			if (!is_answer(world, attempt->operation,
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
words_drop(struct words *words, size_t exclusion)
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

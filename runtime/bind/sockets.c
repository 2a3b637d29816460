/*
 * Rules about sockets by path become rules of the model, which have no right but
 * SBX_CONNECT.  They are few, and bound with the anchors, so that both processes
 * of a sandbox know them.
 */
#include "runtime/base/kernel.h"
#include "runtime/bind/bind.h"
#include "runtime/bind/binder.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A denial has a place as it is written and where links lead, in two homes. */
enum { PLACES_EACH = 4 };

static void
add_socket(struct binder *binder, const struct sbx_socket *socket,
    struct sbx_place at)
{
	struct sbx_rule *rules = binder->sockets;

	rules[binder->made.socket_count++] = (struct sbx_rule){
		.at = at,
		.source = socket->source,
		.effect = socket->effect,
		.rights = SBX_CONNECT,
	};
}

/* Why a rule that allows something is skipped, or NULL. */
static const char *
bind_found(struct binder *binder, const struct sbx_socket *socket,
    struct sbx_place at, const struct followed *found)
{
	if (socket->effect != SBX_ALLOW)
		add_socket(binder, socket, at);
	else if (is_planted(binder, found))
		return "a link leads there that somebody could have planted";
	add_socket(binder, socket, found->at);
	return NULL;
}

static const char *
bind_place(struct binder *binder, const struct sbx_socket *socket,
    struct sbx_place anchor, struct sbx_place *bound)
{
	const char *suffix = sbx_string(binder->blob, socket->suffix), *fault;
	struct sbx_place at = arena_join(binder->arena, anchor,
	    place_of(suffix));
	struct followed found = follow(binder->arena, at);

	fault = bind_found(binder, socket, at, &found);
	if (found.fd >= 0)
		close(found.fd);
	*bound = found.at;
	return fault;
}

/* A variable must not choose a socket of somebody else's, nor one that a command
 * has made, nor that of another service of the user's. */
static const char *
agent_fault(struct binder *binder, const struct followed *found)
{
	struct stat status;

	if (found->fd < 0 || fstat(found->fd, &status) != 0 ||
	    !S_ISSOCK(status.st_mode) || status.st_uid != geteuid())
		return "no socket of this user is there";
	if (commands_choose(binder, found->at))
		return "a command may have made it";
	return agent_answers(found->fd) ? NULL :
					  "no agent of ssh answers there";
}

static const char *
bind_agent(struct binder *binder, const struct sbx_socket *socket,
    struct sbx_place *bound)
{
	const char *path = getenv("SSH_AUTH_SOCK"), *fault = NULL;
	struct followed found;

	if (path == NULL || *path != '/')
		return "SSH_AUTH_SOCK names no socket";
	found = follow_given(binder->arena, path);
	if (socket->effect == SBX_ALLOW && !is_planted(binder, &found))
		fault = agent_fault(binder, &found);
	if (fault == NULL)
		fault = bind_found(binder, socket, found.at, &found);
	if (fault == NULL && socket->effect == SBX_ALLOW)
		binder->made.agent = found.at;
	if (found.fd >= 0)
		close(found.fd);
	*bound = found.at;
	return fault;
}

static void
bind_socket(struct binder *binder, const struct sbx_socket *socket)
{
	const struct binding *made = &binder->made;
	struct socket_site *site =
	    &binder->socket_sites[binder->made.socket_site_count++];
	struct sbx_place other;

	*site = (struct socket_site){ .rule = socket };
	if (socket->form == SBX_SOCKET_SSH_AGENT) {
		site->fault = bind_agent(binder, socket, &site->at);
		return;
	}
	if (!made->bound[socket->anchor]) {
		site->fault = "its anchor has no path here";
		return;
	}
	site->fault = bind_place(binder, socket, made->anchors[socket->anchor],
	    &site->at);
	if (socket->effect != SBX_ALLOW && made->has_other_home &&
	    socket->anchor == SBX_ANCHOR_HOME)
		bind_place(binder, socket, made->other_home, &other);
}

void
bind_sockets(struct binder *binder)
{
	const struct sbx_blob *blob = binder->blob;
	bool cut = (blob->meta->flags & SBX_CUT) != 0;
	uint32_t own = 0;

	if (blob->socket_count == 0)
		return;
	binder->sockets = arena_take(binder->arena,
	    PLACES_EACH * blob->socket_count, sizeof *binder->sockets);
	binder->socket_sites = arena_take(binder->arena, blob->socket_count,
	    sizeof *binder->socket_sites);
	for (uint32_t i = 0; i < blob->socket_count; i++) {
		if ((blob->sockets[i].platforms & KERNEL_WHERE) != 0)
			bind_socket(binder, &blob->sockets[i]);
		if ((blob->sockets[i].flags & SBX_SOCKET_CEILING) == 0)
			own = binder->made.socket_count;
	}
	if (cut) {
		const struct sbx_rule *rules = binder->sockets;
		uint32_t count = binder->made.socket_count;

		binder->made.socket_count = bind_cut_sockets(rules, count, own,
		    NULL);
		binder->sockets = arena_take(binder->arena,
		    binder->made.socket_count, sizeof *binder->sockets);
		bind_cut_sockets(rules, count, own, binder->sockets);
	}
	binder->made.sockets = binder->sockets;
	binder->made.socket_sites = binder->socket_sites;
	/* What another rule denies is not named to the command either. */
	if (binder->made.agent.len > 0 &&
	    !sbx_verdict_allows(sbx_socket_verdict(binder->sockets,
		binder->made.socket_count, binder->made.agent)))
		binder->made.agent = (struct sbx_place){ "", 0 };
}

bool
bind_socket_is_split(const struct binding *binding, struct sbx_place at)
{
	for (uint32_t i = 0; i < binding->socket_count; i++) {
		const struct sbx_rule *rule = &binding->sockets[i];

		if (rule->effect != SBX_ALLOW && sbx_covers(at, rule->at))
			return true;
	}
	return false;
}

/*
 * sbx-proxy connects to it from outside as often as the command likes, so the
 * command must not choose what lies there: neither by a link on the way nor in
 * the place of the socket.  Sets what is at fault.
 */
static const char *
proxy_fault(struct binder *binder, const struct followed *found,
    struct sbx_place *at)
{
	*at = found->at;
	for (uint32_t i = 0; i < found->link_count; i++) {
		const char *fault = link_fault(binder, found->links[i]);

		if (fault == NULL)
			continue;
		*at = found->links[i];
		return fault;
	}
	if (commands_choose(binder, found->at))
		return "a command may put another socket or a link here, for "
		       "commands may write this directory";
	if (found->at.len >= sizeof((struct sockaddr_un *)NULL)->sun_path)
		return "the path is longer than a socket's can be";
	return NULL;
}

void
bind_proxy(struct binder *binder)
{
	const struct sbx_blob *blob = binder->blob;
	const struct sbx_proxy *proxy = NULL;
	struct binding *made = &binder->made;
	struct followed found;

	for (uint32_t i = 0; i < blob->proxy_count; i++) {
		if ((blob->proxies[i].platforms & KERNEL_WHERE) != 0)
			proxy = &blob->proxies[i];
	}
	if (proxy == NULL || proxy->anchor == SBX_NO_ANCHOR)
		return;
	if (!made->bound[proxy->anchor]) {
		made->proxy_fault = "neither HOME nor XDG_RUNTIME_DIR says "
				    "where the socket of the proxy is";
		return;
	}
	found = follow(binder->arena,
	    arena_join(binder->arena, made->anchors[proxy->anchor],
		place_of(sbx_string(blob, proxy->suffix))));
	made->proxy_fault = proxy_fault(binder, &found, &made->proxy);
	if (found.fd >= 0)
		close(found.fd);
}

/*
 * See model.h.  A path is read once into its one spelling.  Only an escaped slash
 * stays as a question, "%2F": for some servers it ends a part, and for others it
 * is in one.  So it is matched in both ways, and an allow must hold in both, a
 * deny in one.  A deny does not look at the case of letters either, nor at a slash
 * at the end, since many servers do not.
 *
 *	*	in a part: any characters, none too
 *	**	as a part: any number of parts, none too
 */
#include "format/model.h"
#include "format/text.h"

/* --- one spelling --------------------------------------------------------- */

static int
hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte of "%XX", or -1. */
static int
escape_value(const char *at, const char *end)
{
	if (end - at < 3 || hex_value(at[1]) < 0 || hex_value(at[2]) < 0)
		return -1;
	return hex_value(at[1]) * 16 + hex_value(at[2]);
}

static bool
is_alphanumeric(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9');
}

/* What means the same with an escape and without one. */
static bool
is_plain(char c)
{
	return is_alphanumeric(c) ||
	    (c != '\0' && __builtin_strchr("-._~!$&'()+,=:@", c) != NULL);
}

struct writer {
	struct sbx_request *request;
	size_t used;
};

static void
put(struct writer *writer, char c)
{
	if (writer->used < SBX_REQUEST_PATH_SIZE - 1)
		writer->request->path[writer->used++] = c;
	else
		writer->request->fault = SBX_REQUEST_LONG;
}

static void
put_escape(struct writer *writer, int value)
{
	static const char digits[] = "0123456789ABCDEF";

	put(writer, '%');
	put(writer, digits[value >> 4]);
	put(writer, digits[value & 15]);
}

/* Bytes beyond ASCII, which together must be UTF-8: other spellings of a slash
 * are none.  Returns how many escapes they take, or 0. */
static size_t
read_letters(const char *at, const char *end)
{
	char bytes[4];
	size_t count = 0;
	uint32_t character;

	for (const char *next = at; count < sizeof bytes && next < end &&
	     *next == '%' && escape_value(next, end) >= 0;
	     next += 3)
		bytes[count++] = (char)escape_value(next, end);
	return utf8_decode(bytes, count, &character);
}

/* Returns what was read, or NULL. */
static const char *
read_escape(struct writer *writer, const char *at, const char *end)
{
	int value = escape_value(at, end);
	size_t letters;

	if (value < ' ' || value == 0x7f || value == '\\')
		return NULL;
	if (value < 0x80) {
		if (is_plain((char)value))
			put(writer, (char)value);
		else
			put_escape(writer, value);
		return at + 3;
	}
	letters = read_letters(at, end);
	for (size_t i = 0; i < letters; i++, at += 3)
		put_escape(writer, escape_value(at, end));
	return letters > 0 ? at : NULL;
}

static bool
is_slash(const char *at)
{
	return at[0] == '%' && at[1] == '2' && at[2] == 'F';
}

/* Looks at each part, whatever an escaped slash is. */
static enum sbx_request_fault
parts_fault(const char *path)
{
	size_t dots = 0, others = 0;

	for (const char *at = path + 1;; at++) {
		bool escaped = *at != '\0' && is_slash(at);

		/* "%252F" is "%2F" to who reads it twice. */
		if (at[0] == '%' && at[1] == '2' && at[2] == '5' &&
		    hex_value(at[3]) >= 0 && hex_value(at[4]) >= 0)
			return SBX_REQUEST_ESCAPE;

		if (*at != '\0' && *at != '/' && !escaped) {
			dots += *at == '.';
			others += *at != '.';
			continue;
		}
		if (others == 0 && (dots == 1 || dots == 2))
			return SBX_REQUEST_DOTS;
		if (dots + others == 0 && *at != '\0')
			return SBX_REQUEST_EMPTY;
		/* "%2F" at the end may end a part, which is then empty. */
		if (*at == '\0')
			return SBX_REQUEST_NONE;
		dots = others = 0;
		at += escaped ? 2 : 0;
	}
}

static enum sbx_request_fault
read_path(struct sbx_request *request, const char *at, const char *end)
{
	struct writer writer = { .request = request };

	if (at == end || *at != '/')
		return SBX_REQUEST_FORM;
	while (at < end && request->fault == SBX_REQUEST_NONE) {
		if (*at == '%') {
			at = read_escape(&writer, at, end);
			if (at == NULL)
				return SBX_REQUEST_ESCAPE;
		} else if (*at == ';') {
			return SBX_REQUEST_SEMICOLON;
		} else if (is_plain(*at) || *at == '/' || *at == '*') {
			put(&writer, *at++);
		} else {
			return SBX_REQUEST_BYTE;
		}
	}
	request->path[writer.used] = '\0';
	return request->fault != SBX_REQUEST_NONE ? request->fault :
						    parts_fault(request->path);
}

static bool
is_method(const char *method, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((method[i] < 'A' || method[i] > 'Z') && method[i] != '-')
			return false;
	}
	return len > 0 && len < SBX_METHOD_MAX;
}

enum sbx_request_fault
sbx_request_read(struct sbx_request *request, const char *method,
    size_t method_len, const char *target, size_t len)
{
	const char *end = target + len, *query = target;

	while (query < end && *query != '?')
		query++;
	request->method = method;
	request->method_len = method_len;
	request->query = query < end ? query + 1 : query;
	request->query_len = (size_t)(end - request->query);
	request->fault = SBX_REQUEST_NONE;
	request->path[0] = '\0';
	request->fault = read_path(request, target, query);
	if (!is_method(method, method_len))
		request->fault = SBX_REQUEST_METHOD;
	return request->fault;
}

const char *
sbx_request_fault_text(enum sbx_request_fault fault)
{
	static const char *const sentences[] = {
#define SBX_X(name, sentence) [SBX_REQUEST_##name] = sentence,
		SBX_REQUEST_FAULTS(SBX_X)
#undef SBX_X
	};

	return sentences[fault];
}

/* --- what a rule says ----------------------------------------------------- */

static bool
text_is(const char *text, size_t len, const char *word)
{
	return len == __builtin_strlen(word) &&
	    __builtin_memcmp(text, word, len) == 0;
}

static const char git_read[] = "git-read", git_write[] = "git-write";

static bool
is_git(const char *method)
{
	return __builtin_strcmp(method, git_read) == 0 ||
	    __builtin_strcmp(method, git_write) == 0;
}

bool
sbx_request_is_method(const char *method)
{
	return __builtin_strcmp(method, "*") == 0 || is_git(method) ||
	    is_method(method, __builtin_strlen(method));
}

/* In its one spelling, and with stars as they can be. */
enum sbx_request_fault
sbx_request_pattern_fault(const char *path)
{
	struct sbx_request request;
	enum sbx_request_fault fault = sbx_request_read(&request, "GET", 3,
	    path, __builtin_strlen(path));

	if (fault == SBX_REQUEST_NONE &&
	    __builtin_strcmp(request.path, path) != 0)
		return __builtin_strchr(path, '?') != NULL ? SBX_REQUEST_BYTE :
							     SBX_REQUEST_ESCAPE;
	for (; fault == SBX_REQUEST_NONE && *path != '\0'; path++) {
		if (path[0] == '*' && path[1] == '*' &&
		    (path[-1] != '/' || (path[2] != '/' && path[2] != '\0')))
			return SBX_REQUEST_BYTE;
	}
	return fault;
}

static size_t
part_len(const char *at)
{
	size_t len = 0;

	while (at[len] != '/' && at[len] != '\0')
		len++;
	return len;
}

/* Part by part; both begin with a slash, or are empty.  What "**" has passed over
 * is tried again with one part more. */
static bool
path_matches(const char *pattern, const char *path)
{
	const char *star = NULL, *mark = NULL;

	while (*path != '\0' || *pattern != '\0') {
		size_t rule = *pattern == '\0' ? 0 : part_len(pattern + 1);
		size_t len = *path == '\0' ? 0 : part_len(path + 1);

		if (rule == 2 && pattern[1] == '*' && pattern[2] == '*') {
			star = pattern += 3;
			mark = path;
			continue;
		}
		if (*pattern != '\0' && *path != '\0' &&
		    sbx_name_match(pattern + 1, rule, path + 1, len)) {
			pattern += rule + 1;
			path += len + 1;
			continue;
		}
		if (star == NULL || *mark == '\0')
			return false;
		path = mark += part_len(mark + 1) + 1;
		pattern = star;
	}
	return true;
}

/* One way to read what the client sends. */
struct reading {
	bool slashes; /* "%2F" ends a part */
	bool denies;  /* capitals do not count, nor a slash at the end */
};

static size_t
copy_as(char to[SBX_REQUEST_PATH_SIZE], const char *from,
    struct reading reading)
{
	size_t used = 0;

	for (; *from != '\0' && used < SBX_REQUEST_PATH_SIZE - 1; from++) {
		char c = *from;

		if (reading.slashes && is_slash(from)) {
			c = '/';
			from += 2;
		}
		to[used++] = reading.denies && c >= 'A' && c <= 'Z' ?
		    (char)(c - 'A' + 'a') :
		    c;
	}
	if (reading.denies && used > 1 && to[used - 1] == '/')
		used--;
	to[used] = '\0';
	return used;
}

/* Cuts off what stands behind the path of a repository; false: it is no request of
 * the service.  A deny looks less closely. */
static bool
cut_repository(const struct sbx_request *request, char *path, size_t len,
    const char *service, bool denies)
{
	static const char refs[] = "/info/refs", fetch[] = "git-upload-pack";
	const size_t tail = __builtin_strlen(service),
		     asks = __builtin_strlen("service=");
	const size_t refs_len = sizeof refs - 1;
	const char *query = request->query;
	bool named = request->query_len > asks &&
	    __builtin_memcmp(query, "service=", asks) == 0;

	if (len > tail + 1 && path[len - tail - 1] == '/' &&
	    __builtin_memcmp(path + len - tail, service, tail) == 0) {
		path[len - tail - 1] = '\0';
		return denies ||
		    text_is(request->method, request->method_len, "POST");
	}
	if (len <= refs_len ||
	    __builtin_memcmp(path + len - refs_len, refs, refs_len) != 0)
		return false;
	path[len - refs_len] = '\0';
	query += asks;
	if (denies)
		return !named || __builtin_strcmp(service, fetch) == 0 ||
		    !text_is(query, request->query_len - asks, fetch);
	return text_is(request->method, request->method_len, "GET") && named &&
	    text_is(query, request->query_len - asks, service);
}

static bool
path_is_of(const struct sbx_request *request, const char *pattern,
    const char *service, struct reading reading)
{
	char own[SBX_REQUEST_PATH_SIZE], theirs[SBX_REQUEST_PATH_SIZE];
	size_t len = copy_as(theirs, request->path, reading);

	copy_as(own, pattern, (struct reading){ .denies = reading.denies });
	return (service == NULL ||
		   cut_repository(request, theirs, len, service,
		       reading.denies)) &&
	    path_matches(own, theirs);
}

/* Who may push may fetch.  So an allow of git-write lets both through, a deny of
 * git-read stops both. */
static bool
matches_in(const struct sbx_request *request, const char *method,
    const char *pattern, struct reading reading)
{
	bool writes = __builtin_strcmp(method, git_write) == 0;

	if (!is_git(method))
		return path_is_of(request, pattern, NULL, reading);
	return ((!writes || !reading.denies) &&
		   path_is_of(request, pattern, "git-upload-pack", reading)) ||
	    ((writes || reading.denies) &&
		path_is_of(request, pattern, "git-receive-pack", reading));
}

/* HEAD goes with GET. */
static bool
has_method(const struct sbx_request *request, const char *method)
{
	return is_git(method) || __builtin_strcmp(method, "*") == 0 ||
	    text_is(request->method, request->method_len, method) ||
	    (text_is(request->method, request->method_len, "HEAD") &&
		__builtin_strcmp(method, "GET") == 0);
}

/* Whether a rule is about the request. */
static bool
rule_matches(const struct sbx_blob *blob, const struct sbx_name *rule,
    const struct sbx_request *request)
{
	const char *method = sbx_string(blob, rule->method);
	const char *path = sbx_string(blob, rule->path);
	bool denies = rule->effect != SBX_ALLOW;
	bool whole, parted;

	if (rule->path == 0)
		return true;
	if (request->fault == SBX_REQUEST_METHOD)
		return denies;
	if (!has_method(request, method))
		return false;
	if (!is_git(method) && __builtin_strcmp(path, "/**") == 0)
		return true;
	if (request->fault != SBX_REQUEST_NONE)
		return denies;
	whole = matches_in(request, method, path,
	    (struct reading){ .denies = denies });
	parted = matches_in(request, method, path,
	    (struct reading){ .slashes = true, .denies = denies });
	return denies ? whole || parted : whole && parted;
}

/* --- verdicts ------------------------------------------------------------- */

/* Of a name alone, without a request: an allow of some requests opens it, and a
 * deny of some does not shut it. */
static bool
counts(const struct sbx_blob *blob, const struct sbx_name *rule,
    const struct sbx_request *request)
{
	if (request == NULL)
		return rule->path == 0 || rule->effect == SBX_ALLOW;
	return rule_matches(blob, rule, request);
}

struct sbx_name_verdict
sbx_request_verdict(const struct sbx_blob *blob, uint8_t platforms,
    const char *name, uint16_t port, const struct sbx_request *request)
{
	struct sbx_name_walk walk = sbx_name_walk(blob, platforms, name, port);
	struct sbx_name_verdict verdict = { .rule = UINT32_MAX };
	uint32_t i;

	while ((i = sbx_name_next(&walk)) != UINT32_MAX) {
		const struct sbx_name *rule = &blob->names[i];

		if (!counts(blob, rule, request))
			continue;
		if (rule->effect != SBX_ALLOW)
			return (struct sbx_name_verdict){ .rule = i };
		if (!verdict.allowed)
			verdict.rule = i;
		verdict.allowed = true;
		verdict.is_private |= (rule->flags & SBX_NAME_PRIVATE) != 0;
		verdict.by_port |= rule->port != 0;
	}
	return verdict;
}

uint32_t
sbx_request_secret(const struct sbx_blob *blob, uint8_t platforms,
    const char *name, uint16_t port, const struct sbx_request *request,
    const char *secret)
{
	struct sbx_name_walk walk = sbx_name_walk(blob, platforms, name, port);
	uint32_t i;

	while ((i = sbx_name_next(&walk)) != UINT32_MAX) {
		const struct sbx_name *rule = &blob->names[i];

		if (rule->secret != 0 &&
		    __builtin_strcmp(sbx_string(blob, rule->secret), secret) ==
			0 &&
		    counts(blob, rule, request))
			return i;
	}
	return UINT32_MAX;
}

/* Where every request is allowed, which ones does not matter. */
bool
sbx_name_is_ended(const struct sbx_blob *blob, uint8_t platforms,
    const char *name, uint16_t port)
{
	struct sbx_name_walk walk = sbx_name_walk(blob, platforms, name, port);
	bool some = false, all = false;
	uint32_t i;

	while ((i = sbx_name_next(&walk)) != UINT32_MAX) {
		const struct sbx_name *rule = &blob->names[i];

		if (rule->secret != 0 ||
		    (rule->path != 0 && rule->effect != SBX_ALLOW))
			return true;
		some |= rule->path != 0;
		all |= rule->path == 0;
	}
	return some && !all;
}

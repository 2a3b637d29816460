/* See message_words.h. */
#include "compiler/query/message_words.h"

#include <string.h>

/* What comes first counts, so what says more stands above what says less. */
static const struct {
	const char *phrase;
	enum message_error error;
} phrases[] = {
	{ "sbxrun: network: refused", ERROR_REFUSED_BY_US },
	{ "CONNECT tunnel failed, response 403", ERROR_PROXY_REFUSES },
	{ "tunnel connection failed: 403", ERROR_PROXY_REFUSES },
	{ "proxy tunneling failed: forbidden", ERROR_PROXY_REFUSES },
	{ "proxy response (403)", ERROR_PROXY_REFUSES },
	{ "proxy returns \"HTTP/1.1 403", ERROR_PROXY_REFUSES },
	{ "response from proxy: HTTP/1.1 403", ERROR_PROXY_REFUSES },
	{ "statusCode=403", ERROR_PROXY_REFUSES },
	{ "403 Forbidden - GET", ERROR_PROXY_REFUSES },
	{ "CONNECT tunnel failed, response 502", ERROR_PROXY_FAILS },
	{ "tunnel connection failed: 502", ERROR_PROXY_FAILS },
	{ "proxy tunneling failed: bad gateway", ERROR_PROXY_FAILS },
	{ "proxy response (502)", ERROR_PROXY_FAILS },
	{ "proxy returns \"HTTP/1.1 502", ERROR_PROXY_FAILS },
	{ "connection refused", ERROR_NOBODY_LISTENS },
	{ "ECONNREFUSED", ERROR_NOBODY_LISTENS },
	{ "read-only file system", ERROR_READ_ONLY },
	{ "EROFS", ERROR_READ_ONLY },
	{ "permission denied", ERROR_DENIED },
	{ "operation not permitted", ERROR_DENIED },
	{ "EACCES", ERROR_DENIED },
	{ "EPERM", ERROR_DENIED },
	{ "AccessDenied", ERROR_DENIED },
	{ "no such file or directory", ERROR_ABSENT },
	{ "ENOENT", ERROR_ABSENT },
	{ "NoSuchFile", ERROR_ABSENT },
	{ "FileNotFound", ERROR_ABSENT },
	{ "could not resolve", ERROR_NETWORK },
	{ "unable to resolve", ERROR_NETWORK },
	{ "name resolution", ERROR_NETWORK },
	{ "name or service not known", ERROR_NETWORK },
	{ "lookup address information", ERROR_NETWORK },
	{ "no such host", ERROR_NETWORK },
	{ "UnknownHost", ERROR_NETWORK },
	{ "unknown host", ERROR_NETWORK },
	{ "ENOTFOUND", ERROR_NETWORK },
	{ "EAI_AGAIN", ERROR_NETWORK },
	{ "network is unreachable", ERROR_NETWORK },
	{ "ENETUNREACH", ERROR_NETWORK },
	{ "no rule allows it", ERROR_NETWORK },
	{ "dial tcp", ERROR_NETWORK },
	{ "failed to connect to", ERROR_NETWORK },
	{ "connect to host", ERROR_NETWORK },
	{ "cannot connect to", ERROR_DENIED },
	{ "unable to open database", ERROR_DENIED },
	{ "not found", ERROR_ABSENT },
};

bool
message_has(const char *text, const char *word)
{
	return strcasestr(text, word) != NULL;
}

/* Where a phrase begins that says why it failed; NULL: none does. */
const char *
message_error(const char *text, enum message_error *error)
{
	for (size_t i = 0; i < countof(phrases); i++) {
		const char *at = strcasestr(text, phrases[i].phrase);

		if (at == NULL)
			continue;
		*error = phrases[i].error;
		return at;
	}
	return NULL;
}

/* Shells and the like, of what they could not run. */
bool
message_runs(const char *text)
{
	static const char *const begins[] = { "sh: ", "bash: ", "/bin/sh: ",
		"/bin/bash: ", "env: ", "make: ", "xargs: ", "timeout: ",
		"nohup: ", "nice: ", "zsh: " };

	for (size_t i = 0; i < countof(begins); i++) {
		if (strncmp(text, begins[i], strlen(begins[i])) == 0)
			return !message_has(text, "creat") &&
			    !message_has(text, " open ");
	}
	return message_has(text, "spawn ") || message_has(text, "exec ") ||
	    message_has(text, "execv") || message_has(text, ": not found");
}

bool
message_reads(const char *text)
{
	static const char *const begins[] = { "cat: ", "head: ", "tail: ",
		"less: ", "more: ", "grep: ", "wc: ", "ls: ", "diff: " };

	for (size_t i = 0; i < countof(begins); i++) {
		if (strncmp(text, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

bool
message_writes(const char *text)
{
	static const char *const words[] = { "creat", "mkdir", "writ", "remov",
		"unlink", "renam", "delet", "lock", "touch", "output file",
		"save", "append", "overwr", "rmdir", "mov", "chmod", "chown",
		"permissions of", "make dir", "copyfile", "symlink", "install",
		"OutputStream", "\"w", "'w", "\"a\"", "'a'" };

	for (size_t i = 0; i < countof(words); i++) {
		if (message_has(text, words[i]))
			return true;
	}
	return false;
}

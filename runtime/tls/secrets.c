/*
 * See tls.h.  Secrets, what stands for them, and the texts that are looked for lie
 * in memory that is locked, is in no dump and belongs to no child.
 */
#include "runtime/tls/tls.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/mman.h>

/* --- what stands for a secret ---------------------------------------------- */

/* By which tools know whose secret it is; longer ones first. */
static const char *const beginnings[] = { "github_pat_", "ghp_", "gho_", "ghu_",
	"ghs_", "ghr_", "glpat-", "npm_", "sk-ant-api03-", "sk-ant-",
	"sk-proj-", "sk-", "pypi-", "hf_", "AIza", "xoxb-", "xoxp-", "dop_v1_",
	"cio" };

enum { RANDOM_MIN = 12 };

static size_t
beginning_len(const char *value, size_t len)
{
	for (size_t i = 0; i < countof(beginnings); i++) {
		size_t known = strlen(beginnings[i]);

		if (len >= known + RANDOM_MIN &&
		    memcmp(value, beginnings[i], known) == 0)
			return known;
	}
	return 0;
}

static bool
make_placeholder(struct secret *secret)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn"
				      "opqrstuvwxyz0123456789";
	enum { LETTERS = sizeof letters - 1, FAIR = 256 / LETTERS * LETTERS };
	size_t at = beginning_len(secret->value, secret->len);

	memcpy(secret->placeholder, secret->value, at);
	while (at < secret->len) {
		uint8_t byte;

		if (RAND_bytes(&byte, 1) != 1)
			return false;
		if (byte < FAIR)
			secret->placeholder[at++] = letters[byte % LETTERS];
	}
	return true;
}

/* --- locked memory ---------------------------------------------------------- */

struct locked {
	char *at;
	size_t left;
};

static char *
take(struct locked *locked, size_t len)
{
	char *at = locked->at;

	if (len > locked->left)
		return NULL;
	locked->at += len;
	locked->left -= len;
	return at;
}

static bool
lock(struct locked *locked, size_t size)
{
	locked->left = size;
	locked->at = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return locked->at != MAP_FAILED && mlock(locked->at, size) == 0 &&
	    madvise(locked->at, size, MADV_DONTDUMP) == 0 &&
	    madvise(locked->at, size, MADV_WIPEONFORK) == 0;
}

/* For one secret: itself, its placeholder, and each of them three times in base64
 * and, in between, behind up to two bytes. */
static size_t
room_for(size_t len)
{
	return 2 * len + 6 * (len + 2) + 6 * ((len + 4) / 3 * 4 + 1);
}

/* --- base64 ----------------------------------------------------------------- */

/* What base64 has of a text whatever stands before it, if `shift` bytes of three
 * do, and behind it.  NULL: no room. */
static char *
core_of(struct locked *locked, const char *text, size_t len, size_t shift,
    size_t *core)
{
	size_t first = (8 * shift + 5) / 6, end = 8 * (shift + len) / 6;
	char *padded = take(locked, shift + len);
	char *at = take(locked, (shift + len + 2) / 3 * 4 + 1);

	if (padded == NULL || at == NULL)
		return NULL;
	memset(padded, 0, shift);
	memcpy(padded + shift, text, len);
	EVP_EncodeBlock((unsigned char *)at, (const unsigned char *)padded,
	    (int)(shift + len));
	*core = end - first;
	return at + first;
}

static bool
add_echoes(struct secrets *secrets, const struct secret *secret,
    struct locked *locked)
{
	finder_add(&secrets->echoes, secret->value, secret->placeholder,
	    secret->len);
	for (size_t shift = 0; shift < 3; shift++) {
		size_t len;
		char *at = core_of(locked, secret->value, secret->len, shift,
		    &len);
		char *with = core_of(locked, secret->placeholder, secret->len,
		    shift, &len);

		if (at == NULL || with == NULL)
			return false;
		finder_add(&secrets->echoes, at, with, len);
	}
	return true;
}

/* --- what sbxrun sends ------------------------------------------------------ */

static const char malformed[] = "the secrets are malformed";

static const char *
take_one(struct secrets *secrets, const struct tls_secret *header,
    const uint8_t *bytes, struct locked *locked)
{
	struct secret *secret = &secrets->all[secrets->count];

	for (size_t i = 0; i < header->size; i++) {
		if (bytes[i] < 0x21 || bytes[i] > 0x7e)
			return "a secret has a byte that no field of a request "
			       "can have: only visible ASCII can be sent";
	}
	secret->name = header->name;
	secret->len = header->size;
	secret->value = take(locked, secret->len);
	secret->placeholder = take(locked, secret->len);
	if (secret->value == NULL || secret->placeholder == NULL)
		return malformed;
	memcpy(secret->value, bytes, secret->len);
	secrets->count++;
	return make_placeholder(secret) && add_echoes(secrets, secret, locked) ?
	    NULL :
	    "there is nothing random";
}

/* Sizes first, for the memory that they need. */
static const char *
measure(const uint8_t *bytes, size_t len, uint32_t count,
    const struct sbx_blob *blob, size_t *room)
{
	struct tls_secret header;

	*room = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (len < sizeof header)
			return malformed;
		memcpy(&header, bytes, sizeof header);
		bytes += sizeof header;
		len -= sizeof header;
		if (header.size > len || header.name >= blob->strings_size)
			return malformed;
		if (header.size < TLS_SECRET_MIN)
			return "a secret is shorter than 16 bytes, which could "
			       "be found in anything";
		if (header.size > TLS_SECRET_MAX)
			return "a secret is longer than 4096 bytes";
		bytes += header.size;
		len -= header.size;
		*room += room_for(header.size);
	}
	return len == 0 ? NULL : malformed;
}

const char *
secrets_take(struct secrets *secrets, const struct sbx_blob *blob,
    const uint8_t *bytes, size_t len)
{
	struct tls_start start;
	struct tls_secret header;
	struct locked locked;
	const char *why;
	size_t room;

	if (len < sizeof start)
		return malformed;
	memcpy(&start, bytes, sizeof start);
	bytes += sizeof start;
	if (start.version != TLS_VERSION)
		return "sbxrun is of another version";
	if (start.count > SECRETS_MAX)
		return "there are more than 32 secrets";
	why = measure(bytes, len - sizeof start, start.count, blob, &room);
	if (why != NULL || start.count == 0)
		return why;
	if (!lock(&locked, room))
		return "there is no locked memory for the secrets "
		       "(ulimit -l)";
	for (uint32_t i = 0; i < start.count; i++) {
		memcpy(&header, bytes, sizeof header);
		bytes += sizeof header;
		why = take_one(secrets, &header, bytes, &locked);
		if (why != NULL)
			return why;
		bytes += header.size;
	}
	finder_prepare(&secrets->echoes);
	return NULL;
}

/* --- swapping ---------------------------------------------------------------- */

const struct secret *
secrets_find(const struct secrets *secrets, const char *text, size_t len)
{
	for (size_t i = 0; i < secrets->count; i++) {
		const struct secret *secret = &secrets->all[i];

		if (memmem(text, len, secret->placeholder, secret->len) != NULL)
			return secret;
	}
	return NULL;
}

bool
swap_text(struct swap *swap, char *text, size_t len)
{
	const struct secret *secret;

	while ((secret = secrets_find(swap->secrets, text, len)) != NULL) {
		uint32_t bit = 1U << (secret - swap->secrets->all);
		char *at = memmem(text, len, secret->placeholder, secret->len);

		if ((swap->may & bit) == 0) {
			swap->refused = secret;
			return false;
		}
		memcpy(at, secret->value, secret->len);
		swap->carried |= bit;
	}
	return true;
}

/* What has more than one spelling is left alone: inside, it means nothing. */
bool
swap_basic(struct swap *swap, char *text, size_t len)
{
	unsigned char plain[HTTP_HEAD_MAX], again[HTTP_HEAD_MAX + 4];
	size_t pad = 0, size;
	bool swapped = true;

	while (pad < 2 && pad < len && text[len - 1 - pad] == '=')
		pad++;
	if (len == 0 || len % 4 != 0 || len > HTTP_HEAD_MAX ||
	    EVP_DecodeBlock(plain, (const unsigned char *)text, (int)len) < 0)
		return true;
	size = len / 4 * 3 - pad;
	EVP_EncodeBlock(again, plain, (int)size);
	if (memcmp(again, text, len) == 0) {
		swapped = swap_text(swap, (char *)plain, size);
		EVP_EncodeBlock((unsigned char *)again, plain, (int)size);
		memcpy(text, again, len);
	}
	OPENSSL_cleanse(plain, sizeof plain);
	OPENSSL_cleanse(again, sizeof again);
	return swapped;
}

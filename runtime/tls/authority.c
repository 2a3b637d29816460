/* See tls.h. */
#include "runtime/tls/tls.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	LEAVES = 64,
	BEFORE = -24 * 3600, /* clocks differ */
	AFTER = 90 * 24 * 3600,
	SERIAL = 16,
};

struct leaf {
	char name[SBX_NAME_SIZE];
	X509 *certificate;
};

struct authority {
	EVP_PKEY *key, *leaf_key;
	X509 *certificate;
	unsigned next; /* the leaf whose place is taken next */
	struct leaf leaves[LEAVES];
};

static bool
set_serial(X509 *certificate)
{
	uint8_t bytes[SERIAL];
	BIGNUM *number;
	bool set;

	if (RAND_bytes(bytes, sizeof bytes) != 1)
		return false;
	bytes[0] &= 0x7f;
	number = BN_bin2bn(bytes, sizeof bytes, NULL);
	set = number != NULL &&
	    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) !=
		NULL;
	BN_free(number);
	return set;
}

static bool
add_extension(X509 *certificate, X509 *issuer, int number, const char *value)
{
	X509V3_CTX context;
	X509_EXTENSION *extension;
	bool added;

	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, number, value);
	added = extension != NULL &&
	    X509_add_ext(certificate, extension, -1) == 1;
	X509_EXTENSION_free(extension);
	return added;
}

/* The name of what it is about, in its subject. */
static X509 *
begin(EVP_PKEY *key, const char *name)
{
	X509 *certificate = X509_new();

	/* A name longer than a subject takes is in the extension alone. */
	if (strlen(name) > 64)
		name = "sbx";
	if (certificate == NULL ||
	    X509_set_version(certificate, X509_VERSION_3) != 1 ||
	    !set_serial(certificate) ||
	    X509_gmtime_adj(X509_getm_notBefore(certificate), BEFORE) == NULL ||
	    X509_gmtime_adj(X509_getm_notAfter(certificate), AFTER) == NULL ||
	    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN",
		MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0) != 1 ||
	    X509_set_pubkey(certificate, key) != 1) {
		X509_free(certificate);
		return NULL;
	}
	return certificate;
}

/* --- the authority ------------------------------------------------------------ */

/* "permitted;DNS:x,...", and no address. */
static char *
constraints(const struct sbx_blob *blob)
{
	static const char addresses[] =
	    "critical,excluded;IP:0.0.0.0/0.0.0.0,"
	    "excluded;IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0";
	static const char permitted[] = ",permitted;DNS:";
	size_t size = sizeof addresses;
	char *text;

	for (uint32_t i = 0; i < blob->name_count; i++)
		size += sizeof permitted +
		    strlen(sbx_string(blob, blob->names[i].name));
	text = malloc(size);
	if (text == NULL)
		return NULL;
	strcpy(text, addresses);
	for (uint32_t i = 0; i < blob->name_count; i++) {
		const struct sbx_name *rule = &blob->names[i];

		/* They are sorted, and each name is wanted once. */
		if ((rule->secret == 0 && rule->path == 0) ||
		    (i > 0 && rule->name == rule[-1].name &&
			(rule[-1].secret != 0 || rule[-1].path != 0)))
			continue;
		strcat(text, permitted);
		strcat(text, sbx_string(blob, rule->name));
	}
	return text;
}

static bool
make_certificate(struct authority *authority, const struct sbx_blob *blob)
{
	X509 *own = begin(authority->key, "sbx, for this run alone");
	char *names = constraints(blob);
	bool made = own != NULL && names != NULL &&
	    X509_set_issuer_name(own, X509_get_subject_name(own)) == 1 &&
	    add_extension(own, own, NID_basic_constraints,
		"critical,CA:TRUE,pathlen:0") &&
	    add_extension(own, own, NID_key_usage, "critical,keyCertSign") &&
	    add_extension(own, own, NID_subject_key_identifier, "hash") &&
	    add_extension(own, own, NID_name_constraints, names) &&
	    X509_sign(own, authority->key, EVP_sha256()) > 0;

	free(names);
	authority->certificate = own;
	return made;
}

struct authority *
authority_new(const struct sbx_blob *blob)
{
	struct authority *authority = calloc(1, sizeof *authority);

	if (authority == NULL)
		return NULL;
	authority->key = EVP_EC_gen("P-256");
	authority->leaf_key = EVP_EC_gen("P-256");
	if (authority->key == NULL || authority->leaf_key == NULL ||
	    !make_certificate(authority, blob))
		return NULL;
	return authority;
}

size_t
authority_pem(const struct authority *authority, char text[TLS_TEXT_MAX])
{
	BIO *bio = BIO_new(BIO_s_mem());
	int len = 0;

	if (bio != NULL && PEM_write_bio_X509(bio, authority->certificate) == 1)
		len = BIO_read(bio, text, TLS_TEXT_MAX);
	if (bio != NULL && BIO_pending(bio) > 0)
		len = 0;
	BIO_free(bio);
	return len > 0 ? (size_t)len : 0;
}

/* --- certificates of names ----------------------------------------------------- */

static X509 *
make_leaf(const struct authority *authority, const char *name)
{
	X509 *leaf = begin(authority->leaf_key, name);
	X509 *issuer = authority->certificate;
	char names[SBX_NAME_SIZE + 8] = "DNS:";

	strcat(names, name);
	if (leaf != NULL &&
	    X509_set_issuer_name(leaf, X509_get_subject_name(issuer)) == 1 &&
	    add_extension(leaf, issuer, NID_basic_constraints,
		"critical,CA:FALSE") &&
	    add_extension(leaf, issuer, NID_key_usage,
		"critical,digitalSignature") &&
	    add_extension(leaf, issuer, NID_ext_key_usage, "serverAuth") &&
	    add_extension(leaf, issuer, NID_authority_key_identifier,
		"keyid:always") &&
	    add_extension(leaf, issuer, NID_subject_alt_name, names) &&
	    X509_sign(leaf, authority->key, EVP_sha256()) > 0)
		return leaf;
	X509_free(leaf);
	return NULL;
}

static X509 *
find_leaf(struct authority *authority, const char *name)
{
	struct leaf *leaf;

	for (size_t i = 0; i < LEAVES; i++) {
		leaf = &authority->leaves[i];
		if (leaf->certificate != NULL && strcmp(leaf->name, name) == 0)
			return leaf->certificate;
	}
	leaf = &authority->leaves[authority->next++ % LEAVES];
	X509_free(leaf->certificate);
	strcpy(leaf->name, name);
	leaf->certificate = make_leaf(authority, name);
	return leaf->certificate;
}

bool
authority_use(struct authority *authority, SSL *ssl, const char *name)
{
	X509 *leaf = find_leaf(authority, name);

	return leaf != NULL && SSL_use_certificate(ssl, leaf) == 1 &&
	    SSL_use_PrivateKey(ssl, authority->leaf_key) == 1;
}

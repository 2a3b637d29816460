/*
 * SHA-256 (FIPS 180-4).
 */
#ifndef SBX_SHA256_H
#define SBX_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_HEX = 64 };

/* The digest of size bytes in lower-case hexadecimal, NUL-terminated. */
void sha256_hex(const void *data, size_t size, char hex[SHA256_HEX + 1]);

#endif

/*
 * Parts of a verified blob as the language writes them.  Text from a blob is
 * never printed as it is: anybody may have made the blob.
 */
#ifndef SBX_SHOW_H
#define SBX_SHOW_H

#include "compiler/base/arena.h"
#include "format/blob.h"

#include <stdio.h>

/* The text as it is if it is one plain word; else in quotes, with escapes for
 * what a terminal could take for a command. */
void show_text(FILE *stream, const char *text);

/* The same, in quotes whatever it is. */
void show_quoted(FILE *stream, const char *text);

/* A path as an object of the language: in quotes if it needs them; NULL if no
 * policy can hold it. */
const char *spelled_path(struct arena *arena, const char *path);

/* The same, as a text in the arena. */
const char *shown_text(struct arena *arena, const char *text);

/* "${workspace}/x", "~/x", "/x", quoted if need be. */
void show_place(FILE *stream, const struct sbx_blob *blob, uint16_t anchor,
    uint32_t suffix);

/* The same with a pattern, in front of which stands the word; 0: none. */
void show_glob(FILE *stream, const struct sbx_blob *blob, uint16_t anchor,
    uint32_t suffix, uint32_t glob);

/* "deny write ${workspace}/.git except ${workspace}/.git/index". */
void show_path_rule(FILE *stream, const struct sbx_blob *blob,
    const struct sbx_path *rule);

/* The same as a text in the arena. */
const char *shown_rule(struct arena *arena, const struct sbx_blob *blob,
    const struct sbx_path *rule);

/* " on x86_64"; nothing for all of Linux. */
void show_platforms(FILE *stream, uint8_t platforms);

/* "team.sbx:9:5", or "(built in)" for SBX_NO_SOURCE. */
void show_source(FILE *stream, const struct sbx_blob *blob, uint32_t source);

const char *show_source_text(struct arena *arena, const struct sbx_blob *blob,
    uint32_t source);

/* The name of the profile or group that holds the place, or NULL. */
const char *show_via(const struct sbx_blob *blob, uint32_t source);

/* "EPERM", or NULL for a number without a name. */
const char *show_errno(uint16_t error);

/* What a function writes to a stream, as a text in the arena. */
typedef void show_writer(FILE *stream, const void *what);
const char *show_to_text(struct arena *arena, show_writer *write,
    const void *what);

#endif

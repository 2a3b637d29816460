/*
 * A policy as one page of HTML for those who would rather look: the places as a
 * tree, coloured by right, and the other rules below it, each with its line.
 */
#ifndef SBX_PAGE_H
#define SBX_PAGE_H

#include "compiler/base/arena.h"
#include "format/blob.h"

#include <stdio.h>

/* The page needs no other file and runs no script. */
void page_write(FILE *stream, struct arena *arena, const struct sbx_blob *blob);

#endif

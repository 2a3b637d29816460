/*
 * Looks at the root that sbxrun has made for a command and writes down the
 * steps that lead there, for minload.
 */
#ifndef SBX_BENCH_VIEW_H
#define SBX_BENCH_VIEW_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* The path of what a rule is for; the one given is as it was outside.  Ends the
 * program if it is none in the view. */
void view_name(pid_t pid, dev_t device, ino_t inode, char *path, size_t size);

/* Returns how many steps were written for the root of this process.  `words`,
 * unless it is NULL, gets the options of bubblewrap that come to the same, one
 * a line. */
uint32_t view_write(FILE *steps, FILE *words, pid_t pid);

#endif

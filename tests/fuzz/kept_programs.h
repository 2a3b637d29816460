/*
 * Programs that outlive an input.  To emit and try the filters of one policy
 * takes most of the time that it takes to compile, and under a fuzzer's counters
 * half a second; the policies of most inputs have the same filters.  The linker
 * leads programs_get() here.
 */
#ifndef SBX_TEST_KEPT_PROGRAMS_H
#define SBX_TEST_KEPT_PROGRAMS_H

/* Nobody has a program any more: an input begins. */
void kept_programs_begin(void);

#endif

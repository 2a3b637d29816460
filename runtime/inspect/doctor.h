/*
 * sbxrun --doctor: what has to be fixed here, which sbxc tells.
 */
#ifndef SBX_RUN_DOCTOR_H
#define SBX_RUN_DOCTOR_H

#include "runtime/base/arena.h"
#include "runtime/base/options.h"

/* Becomes `sbxc doctor`, the one beside sbxrun; refuses (125) if there is
 * none. */
void doctor_run(const struct options *options, struct arena *arena)
    __attribute__((noreturn));

#endif

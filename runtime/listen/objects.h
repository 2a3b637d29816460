/*
 * System V's objects that the command has had made: shared memory, sets of
 * semaphores, message queues.  The list lies in memory that the supervisor
 * shares with the first process, so that the objects are removed though the
 * supervisor was killed.
 */
#ifndef SBX_RUNTIME_LISTEN_OBJECTS_H
#define SBX_RUNTIME_LISTEN_OBJECTS_H

struct objects;

/* An empty list, before the supervisor forks. */
struct objects *objects_open(void);

/* Removes what is left of them; a list that is NULL has none. */
void objects_remove(struct objects *objects);

#endif

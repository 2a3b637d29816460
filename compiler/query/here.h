/*
 * What the file system of this machine says of a path: where its links lead,
 * and whether something is there.  Nothing is opened but programs, to see what
 * runs them.
 */
#ifndef SBX_HERE_H
#define SBX_HERE_H

#include "compiler/base/arena.h"
#include "format/glob.h"

/* What a path in /proc/self opens, which leads elsewhere for each process. */
enum here_opens {
	HERE_PLACE,      /* what is there, as anywhere else */
	HERE_STREAM,     /* standard input, output or error */
	HERE_DESCRIPTOR, /* what a process has opened itself */
	HERE_PROGRAM,    /* what it runs */
	HERE_NAMESPACE,
};

struct followed {
	struct sbx_place place;      /* what is not there is taken as text */
	VEC(struct sbx_place) links; /* on the way, where they lie */
	VEC(struct sbx_place) left;  /* directories, by '..' */
	bool there;
	bool own; /* in /proc/self, of whoever asks: see here_ask() */
	enum here_opens opens;
};

/* Follows an absolute path as the kernel does: '..' is the directory above the
 * one that was reached. */
struct followed here_follow(struct arena *arena, const char *path);

/*
 * The same for what another process is going to ask, in this directory.
 * /proc/self and /proc/thread-self are kept, and so are the links in them that
 * lead elsewhere there.
 */
struct followed here_ask(struct arena *arena, const char *path);

/* Whether a place, without links on its way, is there. */
bool here_has(struct sbx_place place);

/* Whether it is there and a device, or a socket. */
bool here_is_device(struct sbx_place place);
bool here_is_socket(struct sbx_place place);

/* Whether the file's mode gives this user a right to what is there; `bare`: to
 * one without capabilities, as root is at level full. */
bool here_has_mode(struct sbx_place place, uint8_t right, bool bare);

/* Whether it is there and no directory, or lies below what is none. */
bool here_is_file(struct sbx_place place);

/* The nearest directory at or above a place that is there. */
struct sbx_place here_nearest(struct sbx_place place);

/* Whether a place, or what is there of it, lies in FUSE, where a mask can fall
 * off and the loader lets Landlock deny as well. */
bool here_is_fuse(struct sbx_place place);

/* Whether every user may make files in a directory, as in /var/tmp. */
bool here_is_shared(struct sbx_place place);

/* Whether a file can be executed, as execve(2) judges its kind and mode. */
bool here_runs(const char *path);

/* What the kernel starts to run a program: the dynamic linker of an ELF file,
 * or the interpreter of a script.  NULL if there is none, or no absolute
 * path. */
const char *here_interpreter(struct arena *arena, const char *path);

#endif

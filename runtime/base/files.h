/* Memory, paths and files without a heap. */
#ifndef SBX_RUNTIME_BASE_FILES_H
#define SBX_RUNTIME_BASE_FILES_H

#include "format/model.h"
#include "format/protocol.h"
#include "runtime/base/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* --- arena.c ----------------------------------------------------------- */

enum { ARENA_SIZE = 32 << 20 };

struct arena {
	uint32_t used;
	_Alignas(8) char bytes[ARENA_SIZE];
};

/* Zeroed room for `count` elements of `size` bytes; refuses if there is
 * none. */
void *arena_take(struct arena *arena, size_t count, size_t size);
/* Gives back what was taken since `used` was arena->used. */
void arena_cut(struct arena *arena, uint32_t used);

/* A NUL-terminated copy of a and b joined; refuses when it is longer than
 * SBX_MAX_PATH or there is no room. */
struct sbx_place arena_join(struct arena *arena, struct sbx_place a,
    struct sbx_place b);
struct sbx_place arena_copy(struct arena *arena, struct sbx_place place);

/* --- directory.c ------------------------------------------------------- */

struct directory {
	int fd;       /* open for reading; stays the caller's */
	long len, at; /* of the entries in the buffer; len < 0: an error */
	_Alignas(struct entry) char buffer[4096];
};

void directory_begin(struct directory *directory, int fd);

/* The next entry but "." and ".."; NULL at the end, and after an error, with
 * len < 0 and errno. */
const struct entry *directory_next(struct directory *directory);

/* --- file.c ------------------------------------------------------------ */

/* The file as text, cut at the buffer's end; "" and false if it cannot be
 * read. */
bool file_read(int directory, const char *name, char *text, size_t size);

/* Writes a text; false with errno. */
bool file_write(int directory, const char *name, const char *text);

/* "/proc/self/fd/N", the name of an open descriptor. */
enum { DESCRIPTOR_PATH_SIZE = 32 };
void descriptor_path(char path[DESCRIPTOR_PATH_SIZE], int fd);

/* The caller may have closed 0, 1 or 2.  A descriptor of ours must not take
 * such a number, and is moved; refuses (125) if it cannot be. */
int above_standard(int fd);

/* Waits for the lock of a file, flock(2), for so many milliseconds; false: another
 * process has it, which may have been stopped. */
bool file_lock(int fd, unsigned milliseconds);

/* As many open files as the hard limit permits, for who has one for each of
 * many others. */
void raise_open_files(void);

/* A standard stream that the caller has closed is /dev/null from here on, so that
 * nothing that is opened or received later is taken for it. */
void fill_standard(void);

/* Gives the standard streams and the directory up: whoever waits for the
 * caller's pipes to be closed must not wait for this process. */
void leave_caller(void);

/* Closes all descriptors but these, of which some may be -1. */
void descriptors_keep(const int kept[], size_t count);

/* --- own.c ------------------------------------------------------------- */

/* The home directory of the user's line in /etc/passwd, in `buffer`, or NULL.  A
 * user who has no line there (but in a directory service) has only $HOME. */
enum { PASSWD_LINE = 4096 }; /* the longest that is read */
const char *passwd_home(char *buffer, size_t size);
/* The name in that line. */
const char *passwd_user(char *buffer, size_t size);

struct stat;

/* Whether it is the user's, and nobody else may write it. */
bool own_is_private(const struct stat *status);

/* A directory in another one, O_PATH, made if need be.  Closes the other one.  -1
 * and errno, which is EPERM where others may write it or it is a link. */
int own_enter(int at, const char *name);

/* A directory of the user's state, likewise, above the standard descriptors: where
 * no policy lets a command write or read (SBX_OWN_STATE).  NULL: that itself. */
int own_state(const char *name);

/* --- path.c ------------------------------------------------------------ */

/* A path that names are added to and taken from. */
struct path {
	uint32_t len;
	char text[SBX_MAX_PATH + 1]; /* NUL-terminated */
};

/* The place that an absolute, normal path names; it points into the text. */
struct sbx_place place_of(const char *path);

/* The directory that a place, which is not the root, lies in. */
struct sbx_place place_parent(struct sbx_place at);

/* The length of the longest directory that is above both places. */
uint32_t place_shared(struct sbx_place a, struct sbx_place b);

/* A NUL-terminated place for a system call. */
const char *path_of(struct sbx_place at);

/* Adds a slash and some names; false if the path would be too long. */
bool path_push(struct path *path, const char *names, size_t len);

/* Cuts the path to a length that it had before. */
void path_cut(struct path *path, uint32_t len);

/* --- helper.c ------------------------------------------------------------ */

/*
 * sbxc, which sbxrun starts for what takes heap, texts and the tables of the
 * language.  What it reads may be hostile; so it can write nothing but what it is
 * given open, reaches no network, has no capabilities, and is ended after a
 * while.
 */

/* The sbxc that was installed with this sbxrun: its path, or NULL if that cannot
 * be told; and the program, with O_PATH, or -1 with errno. */
const char *helper_path(struct path *path);
int helper_open(const char *path);

enum { HELPER_POLICY = 3 }; /* where it finds what `policy` is */

struct helper_call {
	int program;
	char *const *words, *const *variables;
	int in, out, err; /* -1: nothing, /dev/null */
	int policy;       /* a descriptor that it gets as well, or -1 */
	int patience;     /* milliseconds */
};

/* Its exit status; -1: it did not run, or not to its end. */
int helper_run(const struct helper_call *call);

/* What helper_run() does before it starts sbxc: this process loses for good all that
 * the paragraph above says, but for its end.  False if that cannot be. */
bool helper_confine(void);

/* The same, but below these places it may change files, directories and links; the
 * first is a stage, whose layer has marks that look like devices. */
bool helper_confine_but(const int places[], size_t count);

/* Bytes in a file without a name; -1 with errno. */
int helper_file(const void *bytes, size_t size);

/* --- sha1.c ------------------------------------------------------------ */

enum { SHA1_SIZE = 20, SHA1_HEX = 40 };

/* As sha256_hex(). */
void sha1_hex(const void *data, size_t size, char hex[SHA1_HEX + 1]);

/* --- sha256.c ---------------------------------------------------------- */

enum { SHA256_SIZE = 32, SHA256_HEX = 64 };

/* The digest of size bytes in lower-case hexadecimal, NUL-terminated. */
void sha256_hex(const void *data, size_t size, char hex[SHA256_HEX + 1]);

/* --- spelling.c -------------------------------------------------------- */

/* Changes the case of a name's letters, those of ASCII; false if it has
 * none. */
bool spelling_swap(char *name, size_t len);

/* Whether a name that exists is found in another spelling too, which the
 * directory does not list. */
bool spelling_folds(int directory, const char *name, size_t len);

/* Whether these are two spellings of one name. */
bool spelling_differs(const char *a, const char *b, size_t len);

/* --- unsteady.c -------------------------------------------------------- */

/* Whether a mount on this place may go; false if its directory is not there. */
bool unsteady_place(struct sbx_place at);

#endif

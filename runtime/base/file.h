/*
 * Small files of /proc and /sys: read and written in one call.
 */
#ifndef SBX_FILE_H
#define SBX_FILE_H

#include <stdbool.h>
#include <stddef.h>

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

#endif

/*
 * File systems in which the kernel forgets a name when looking it up again fails,
 * for whatever reason, a shortage of the server's among them.  What is mounted
 * there then goes as well, in all namespaces, and shows what it hid.
 */
#ifndef SBX_UNSTEADY_H
#define SBX_UNSTEADY_H

#include "format/model.h"

#include <stdbool.h>

/* Whether a mount on this place may go; false if its directory is not there. */
bool unsteady_place(struct sbx_place at);

#endif

/*
 * How a program finds out that it runs in a sandbox of sbx: the filter of every
 * policy answers one call, which does nothing anywhere else, with an errno that
 * the kernel does not give for it.  Variables prove nothing, for whoever wrote a
 * project may have set them.  Only what had our process before could have
 * installed a filter that answers the same.
 *
 *	ioprio_set(SBX_INSIDE_WHICH, 0, 0)	EINVAL, in a sandbox ENOANO
 *
 * A policy that allows or denies all of ioprio_set(2) does not say so.
 */
#ifndef SBX_FORMAT_INSIDE_H
#define SBX_FORMAT_INSIDE_H

enum { SBX_INSIDE_WHICH = 0x736278 };

#define SBX_INSIDE_ERRNO ENOANO

#endif

/*
 * Numbers of system calls that the headers of some libc lack.  From 424 on they
 * are the same on all machines.
 */
#ifndef SBX_NEWER_CALLS_H
#define SBX_NEWER_CALLS_H

#include <sys/syscall.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_removexattrat 466
#endif
/* Machines that are younger than these calls have no number for them. */
#ifndef SYS_chmod
#define SYS_open (-2)
#define SYS_chmod (-2)
#define SYS_chown (-2)
#define SYS_lchown (-2)
#define SYS_utime (-2)
#define SYS_utimes (-2)
#define SYS_futimesat (-2)
#define SYS_creat (-2)
#define SYS_rename (-2)
#define SYS_mkdir (-2)
#define SYS_mknod (-2)
#define SYS_symlink (-2)
#define SYS_link (-2)
#define SYS_rmdir (-2)
#define SYS_unlink (-2)
#define SYS_stat (-2)
#define SYS_lstat (-2)
#define SYS_access (-2)
#define SYS_readlink (-2)
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

#endif

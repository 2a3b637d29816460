"""Mounts a directory on itself with the users of a user namespace:

    idmapped.py DIRECTORY FROM TO COUNT

so that files of user FROM look like those of user TO.
"""
import ctypes, os, struct, subprocess, sys

OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
CLONE, EMPTY, MOVE_EMPTY, IDMAP = 1, 0x1000, 4, 0x100000
libc = ctypes.CDLL(None, use_errno=True)


def call(*words):
    got = libc.syscall(*words)
    if got < 0:
        sys.exit(f"call {words[0]}: {os.strerror(ctypes.get_errno())}")
    return got


place = sys.argv[1].encode()
held = subprocess.Popen(["unshare", "-U", "cat"], stdin=subprocess.PIPE,
    stdout=subprocess.PIPE)
held.stdin.write(b"ready")
held.stdin.flush()
held.stdout.read1()
for kind in "uid_map", "gid_map":
    with open(f"/proc/{held.pid}/{kind}", "w") as file:
        file.write(" ".join(sys.argv[2:5]))
users = os.open(f"/proc/{held.pid}/ns/user", os.O_RDONLY)
tree = call(OPEN_TREE, -100, place, CLONE)
call(MOUNT_SETATTR, tree, b"", EMPTY, struct.pack("QQQQ", IDMAP, 0, 0, users),
    32)
call(MOVE_MOUNT, tree, b"", -100, place, MOVE_EMPTY)
held.stdin.close()
held.wait()

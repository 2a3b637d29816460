#!/usr/bin/env python3
"""Runs a command under sbxrun --explain and under strace(1), and compares.

	explain_oracle.py LOG SBXRUN LEVEL POLICY COMMAND...

What ptrace(2) sees of the command is the truth: a call that fails with an errno
that a policy can be the reason for, at a place where this user could do it
outside, must be told of; and what is told of must have failed so.  A line of
JSON is appended to LOG; the status is the command's.
"""
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

POLICY = {"EACCES", "EPERM", "EROFS", "ENOENT", "ENETUNREACH"}
OWN = ("/proc", "/dev/pts", "/dev/shm", "/dev/fd")
# Without ptrace(2), which strace's own tracing keeps from the command.
CALLS = {"socket", "unshare", "setns", "mount", "umount2", "bpf",
         "keyctl", "perf_event_open", "userfaultfd", "add_key", "request_key",
         "process_vm_readv", "kcmp", "personality"}
AT = {  # the path argument (and the directory before it), what is done there
    "open": (0, "open"), "creat": (0, "create"), "openat": (1, "open"),
    "openat2": (1, "open"), "execve": (0, "exec"), "execveat": (1, "exec"),
    "truncate": (0, "write"), "mkdir": (0, "make"), "mkdirat": (1, "make"),
    "mknod": (0, "make"), "mknodat": (1, "make"), "rmdir": (0, "remove"),
    "symlink": (1, "make"), "symlinkat": (2, "make"), "link": (1, "make"),
    "linkat": (3, "make"), "unlink": (0, "remove"), "unlinkat": (1, "remove"),
    "rename": (0, "remove"), "renameat": (1, "remove"),
    "renameat2": (1, "remove"), "chmod": (0, "change"),
    "fchmodat": (1, "change"), "fchmodat2": (1, "change"),
    "chown": (0, "change"), "lchown": (0, "change"), "fchownat": (1, "change"),
    "utimensat": (1, "change"), "utime": (0, "change"), "utimes": (0, "change"),
    "setxattr": (0, "change"), "lsetxattr": (0, "change"),
    "inotify_add_watch": (1, "read"),
}
LOOKS = {  # at level full alone
    "chdir": (0, "look"), "stat": (0, "look"), "lstat": (0, "look"),
    "newfstatat": (1, "look"), "statx": (1, "look"), "access": (0, "look"),
    "faccessat": (1, "look"), "faccessat2": (1, "look"),
    "readlink": (0, "look"), "readlinkat": (1, "look"), "statfs": (0, "look"),
}
SEEN = ["%file", "%process", "seccomp", "fchdir", "connect"] + sorted(CALLS)
LINE = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+|\?|0x[0-9a-f]+)(?:<([^>]*)>)?"
                  r"(?: (E[A-Z]+))?")
FORK = re.compile(r"^(?:clone|clone3|fork|vfork)\(.*= (\d+)"
                  r"(?: /\* (\d+) in strace's PID NS \*/)?")
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"(\.\.\.)?')


def unescape(text):
    return text.encode("latin-1", "replace").decode("unicode_escape") \
        .encode("latin-1", "replace").decode("utf-8", "replace")


def split(arguments):
    """The arguments of a call, without those in nested brackets."""
    parts, depth, begin, quoted, at = [], 0, 0, False, 0
    while at < len(arguments):
        char = arguments[at]
        if quoted:
            if char == "\\":
                at += 1
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char in "([{<":
            depth += 1
        elif char in ")]}>" and arguments[at - 1] != "=":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(arguments[begin:at].strip())
            begin = at + 1
        at += 1
    parts.append(arguments[begin:].strip())
    return parts


class Trace:
    def __init__(self, directory, full):
        self.full, self.failed, self.calls = full, [], 0
        self.done = set()
        self.refused = set()
        self.lines = {}
        for name in os.listdir(directory):
            pid = int(name.rsplit(".", 1)[1])
            with open(os.path.join(directory, name), errors="replace") as file:
                self.lines[pid] = file.read().split("\n")
        for pid, lines in self.lines.items():
            for number, line in enumerate(lines):
                if line.startswith("seccomp(SECCOMP_SET_MODE_FILTER") and \
                        "NEW_LISTENER" in line:
                    self.follow(pid, number + 1, os.getcwd())

    def follow(self, pid, begin, cwd):
        if pid in self.done:
            return
        self.done.add(pid)
        for line in self.lines.get(pid, [])[begin:]:
            fork = FORK.match(line)
            if fork:
                self.follow(int(fork.group(2) or fork.group(1)), 0, cwd)
                continue
            match = LINE.match(line)
            if not match:
                continue
            self.calls += 1
            name, arguments, result, _, error = match.groups()
            here = re.search(r"AT_FDCWD<([^>]*)>", arguments)
            if here:
                cwd = here.group(1)
            if name == "chdir" and result == "0":
                path = TEXT.search(arguments)
                if path:
                    cwd = os.path.normpath(os.path.join(cwd,
                                           unescape(path.group(1))))
            elif name == "fchdir" and result == "0":
                path = re.search(r"<([^>]*)>", arguments)
                cwd = path.group(1) if path else cwd
            if error in POLICY:
                self.fail(name, split(arguments), error, cwd)

    def fail(self, name, arguments, error, cwd):
        if name in CALLS and error in ("EACCES", "EPERM"):
            self.refused.add(name)
            return
        if name == "connect":
            path = re.search(r'sun_path="([^"]*)"', arguments[1])
            if path and error in ("EACCES", "EPERM", "ENOENT"):
                self.keep("connect", os.path.join(cwd, path.group(1)), error)
            return
        row = AT.get(name) or (LOOKS.get(name) if self.full else None)
        if row is None or row[0] >= len(arguments):
            return
        at, act = row
        path = TEXT.match(arguments[at])
        if not path or path.group(2) or not path.group(1):
            return
        base = cwd
        if at > 0 and name not in ("symlink", "link", "inotify_add_watch"):
            directory = re.search(r"<([^>]*)>", arguments[at - 1])
            base = directory.group(1) if directory else cwd
        if act == "open":
            flags = " ".join(arguments[at + 1:])
            act = ("look" if "O_PATH" in flags else
                   None if "O_TMPFILE" in flags else
                   "make" if "O_CREAT" in flags and "O_EXCL" in flags else
                   "create" if "O_CREAT" in flags else
                   "write" if re.search("O_WRONLY|O_RDWR|O_TRUNC", flags) else
                   "read")
        other = None
        if name.startswith("rename"):
            at += 1 if name == "rename" else 2
            target = TEXT.match(arguments[at])
            directory = re.search(r"<([^>]*)>", arguments[at - 1])
            if target:
                other = os.path.normpath(os.path.join(
                    directory.group(1) if name != "rename" and directory
                    else cwd, unescape(target.group(1))))
        if act and not (act == "look" and not self.full):
            self.keep(act, os.path.join(base, unescape(path.group(1))), error,
                      "O_NOFOLLOW" in " ".join(arguments) or
                      "AT_SYMLINK_NOFOLLOW" in " ".join(arguments) or
                      name in ("lstat", "readlink", "readlinkat"), other)

    def keep(self, act, path, error, nofollow=False, other=None):
        self.failed.append((act, os.path.normpath(path), error, nofollow,
                            other))


def parent_of(path):
    return os.path.dirname(path) or "/"


def resolve(act, path, nofollow):
    if act in ("make", "remove", "replace") or nofollow:
        return os.path.join(os.path.realpath(parent_of(path)),
                            os.path.basename(path))
    return os.path.realpath(path)


def is_younger(path, begin):
    """Whether it was made or changed meanwhile, so that nobody can tell."""
    return os.path.lexists(path) and os.lstat(path).st_ctime >= begin


def works_outside(act, path, begin):
    there = os.path.lexists(path)
    if is_younger(path, begin) or \
            (not there and is_younger(parent_of(path), begin)):
        return False
    makes = os.access(parent_of(path), os.W_OK | os.X_OK)
    if act in ("read", "look", "exec", "write", "change", "remove", "connect") \
            and not there:
        return False
    if act == "make":
        return not there and makes
    if act == "remove":
        return makes
    if act == "look":
        return True
    mode = os.lstat(path).st_mode if there else 0
    if act == "read":
        return os.access(path, os.R_OK)
    if act == "exec":
        return stat.S_ISREG(mode) and os.access(path, os.X_OK)
    if act in ("write", "connect"):
        return not stat.S_ISDIR(mode) and os.access(path, os.W_OK)
    if act == "create":
        return os.access(path, os.W_OK) and not stat.S_ISDIR(mode) if there \
            else makes
    if act == "change":
        return os.geteuid() == 0 or os.lstat(path).st_uid == os.geteuid()
    return False


def is_own(path, full):
    return any(path == own or path.startswith(own + "/") for own in OWN) or \
        (full and (path == "/tmp" or path.startswith("/tmp/")))


def covers(record, path):
    """Whether a record is about a path: itself, its directory, or its kind."""
    known = record["path"]
    if known is None:
        return False
    if known.endswith("/*"):
        return path.startswith(known[:-1])
    if known.endswith("XXXXXX"):
        return path.startswith(known[:-6]) and len(path) == len(known)
    return path == known or parent_of(path) == known


def compare(trace, records, full, begin):
    denied = [record for record in records if record["event"] == "denied"]
    missed, false = [], []
    seen = set()
    for act, path, error, nofollow, other in trace.failed:
        if not full and error in ("ENOENT", "EROFS"):
            continue
        real = resolve(act, path, nofollow)
        if is_own(path, full) or is_own(real, full) or (act, real) in seen:
            continue
        seen.add((act, real))
        # Of a rename one of both places decides.
        if works_outside(act, real, begin) and \
                not is_younger(path, begin) and \
                not any(covers(record, place) for record in denied
                        for place in (real, other or real)):
            missed.append([act, real, error])
    for name in trace.refused:
        if not any(record["right"] == "call" and
                   record["object"].split()[0].split("(")[0] in
                   (name, "number")
                   for record in denied):
            missed.append(["call", name, "EPERM"])
    names = {resolve(act, path, nofollow)
             for act, path, _, nofollow, _ in trace.failed} | \
            {failed[1] for failed in trace.failed} | \
            {failed[4] for failed in trace.failed if failed[4]} | \
            {resolve("make", failed[4], True)
             for failed in trace.failed if failed[4]}
    for record in denied:
        if record["path"] is not None and \
                not any(covers(record, name) for name in names):
            false.append([record["right"], record["path"]])
    return denied, missed, false


def main():
    log, sbxrun, level, policy = sys.argv[1:5]
    full = level == "full"
    work = tempfile.mkdtemp(prefix="sbx-oracle-", dir="/var/tmp")
    os.mkdir(work + "/t")
    report = work + "/report"
    begin = time.time()
    status = subprocess.run(
        ["strace", "-ff", "-y", "-qq", "-s", "4096", "--pidns-translation",
         "-e", "signal=none", "-e", "trace=" + ",".join(SEEN),
         "-o", work + "/t/t", sbxrun, "-l", level,
         "--explain=" + report, policy, "--"] + sys.argv[5:]).returncode
    records = []
    if os.path.exists(report):
        with open(report) as file:
            records = [json.loads(line) for line in file]
    trace = Trace(work + "/t", full)
    denied, missed, false = compare(trace, records, full, begin)
    line = {"command": sys.argv[5:], "level": level, "policy": policy,
            "status": status, "calls": trace.calls,
            "failed": len(trace.failed), "denied": len(denied),
            "told": [[r["right"], r["object"]] for r in denied],
            "missed": missed, "false": false}
    with open(log, "a") as file:
        file.write(json.dumps(line) + "\n")
    shutil.rmtree(work, ignore_errors=True)
    sys.exit(status if status >= 0 else 128 - status)


main()

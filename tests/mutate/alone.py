"""Runs make and tests where a fault of the product can hurt nothing but its copy.

Who has a process namespace of its own can end everything that was started there;
alone.sh says what is seen of the files."""

import os
import re
import resource
import signal
import subprocess
import sys
import threading

from chance import HERE

BUILD_LIMIT = 900  # a fault in sbxc may keep it from ending
MEMORY = 8 << 30   # that one process can write, which a fault may make grow
LARGEST = 512 << 20  # bytes of one file, for the same reason
GRACE = 10         # seconds to clean up, for a test that need not go on
ALONE = ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork",
         "--kill-child", "--mount", "--mount-proc",
         os.path.join(HERE, "alone.sh")]
SHARED = "/tmp", "/var/tmp", "/dev/shm"


def confine():
    # RLIMIT_AS would count what node reserves for WebAssembly, too.
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))


def start(build, command, errors):
    place = os.path.dirname(os.path.dirname(build))
    return subprocess.Popen([*ALONE, place, *command], cwd=build, text=True,
                            errors="replace", stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=errors,
                            start_new_session=True, preexec_fn=confine)


def end(child):
    """Ends it with all that it started."""
    os.killpg(child.pid, signal.SIGKILL)


def must_be_alone(place):
    """What a fault makes of the product may not reach the machine."""
    if any(os.path.realpath(place).startswith(dir + "/") for dir in SHARED):
        sys.exit(f"{place}: builds and tests see an empty {' or '.join(SHARED)}")
    os.makedirs(place, exist_ok=True)
    if subprocess.run([*ALONE, place, "true"], check=False).returncode != 0:
        sys.exit("faults need namespaces of processes and mounts, as root has")


def make(build, *words, limit=BUILD_LIMIT):
    """The status of make, None if it did not end, and what it said."""
    child = start(build, ["make", "-s", *words], subprocess.STDOUT)
    try:
        said, _ = child.communicate(timeout=limit)
        return child.returncode, said
    except subprocess.TimeoutExpired:
        end(child)
        child.communicate()
        return None, f"it did not end in {limit} s"


def ask_to_end(child):
    """Ends a test as tests/lib/run does when it is told to, so that it cleans up:
    a control group, say, outlives a namespace.  It is a child of the shell in
    alone.sh, which is one of unshare's."""
    pid = child.pid
    try:
        for _ in range(2):
            with open(f"/proc/{pid}/task/{pid}/children") as children:
                pid = int(children.read().split()[0])
        os.kill(pid, signal.SIGTERM)
    except (OSError, IndexError):
        end(child)


class Tap:
    """What a test program says, line by line, and its first failure."""

    def __init__(self):
        self.planned, self.seen, self.failure = None, 0, None

    def hear(self, line):
        plan = re.match(r"1\.\.(\d+)", line)
        if plan:
            self.planned = int(plan.group(1))
        self.seen += re.match(r"(not )?ok\b", line) is not None
        if self.failure is None and re.match(r"not ok\b|Bail out!", line):
            self.failure = line.strip()

    def verdict(self, status):
        """What failed, None if nothing did."""
        if self.failure is None and status != 0:
            self.failure = f"it ended with status {status}"
        if self.failure is None and self.planned != self.seen:
            self.failure = f"{self.seen} cases of {self.planned} that it planned"
        return self.failure


def run_test(build, command, limit):
    """The first case that fails, None if none does; nothing is run after it.
    Tests/lib/run ends the test after `limit` seconds, unless a fault ended that."""
    child = start(build, command, subprocess.DEVNULL)
    late = threading.Timer(limit + 2 * GRACE, end, [child])
    late.start()
    tap = Tap()
    for line in child.stdout:
        tap.hear(line)
        if tap.failure is not None:
            ask_to_end(child)
            break
    try:
        child.communicate(timeout=2 * GRACE)
    except subprocess.TimeoutExpired:
        end(child)
        child.communicate()
    late.cancel()
    return tap.verdict(child.returncode)

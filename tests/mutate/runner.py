"""Puts faults into a copy of the product and runs tests on it."""

import filecmp
import hashlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

from table import HERE, TOP

TEST_LIMIT = 180   # seconds for one test program
BUILD_LIMIT = 900  # a fault in sbxc may keep it from ending
MEMORY = 8 << 30   # of one process, which a fault may make grow
LARGEST = 512 << 20 # bytes of one file, for the same reason
# Programs that scripts run, and that have the product linked in.
HELPERS = {"tests/model/reach.sh": ["tests/model/reach"],
           "tests/model/sbpl.sh": ["tests/model/sbpl/questions"],
           "tests/model/syscalls.sh": ["tests/model/syscall_table"],
           "tests/golden/corpus.sh": ["tests/golden/unplaced"],
           "tests/golden/fmt.sh": ["tests/golden/unplaced"],
           "tests/fuzz/replay.sh": ["tests/fuzz/fuzz_" + name for name in (
               "blob", "dns", "http", "learn", "library", "messages", "policy",
               "socks", "tls", "yaml")]}
PRODUCT = ["sbxc", "sbx-trial", "sbxrun", "sbxsh", "sbx-proxy", "libsbx.a"]
# Who has a process namespace of its own can end everything that was started.
ALONE = ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork",
         "--kill-child", "--mount", "--mount-proc",
         os.path.join(HERE, "alone.sh")]
SHARED = "/tmp", "/var/tmp", "/dev/shm"
COMPILES_NOT = re.compile(r"^\S+\.(?:[chy]|def):\d+:.*error:.*", re.M)


def reason(said):
    """The line of what make said that tells most."""
    lines = [line for line in said.splitlines() if re.search(
        "error|Error|assert|fault|Abort", line)]
    return (lines or [said.strip()[-200:]])[0]


def is_script(test):
    return test.endswith((".sh", ".bats"))


def confine():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))


def must_be_alone(place):
    """What a fault makes of the product may not reach the machine."""
    if any(os.path.realpath(place).startswith(dir + "/") for dir in SHARED):
        sys.exit(f"{place}: builds and tests see an empty {' or '.join(SHARED)}")
    os.makedirs(place, exist_ok=True)
    if subprocess.run([*ALONE, place, "true"], check=False).returncode != 0:
        sys.exit("faults need namespaces of processes and mounts, as root has")


def make(build, *words, limit=BUILD_LIMIT):
    """The status of make, None if it did not end, and what it said."""
    place = os.path.dirname(os.path.dirname(build))
    child = subprocess.Popen([*ALONE, place, "make", "-s", *words], cwd=build,
                             text=True, errors="replace",
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True,
                             preexec_fn=confine)
    try:
        said, _ = child.communicate(timeout=limit)
        return child.returncode, said
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return None, f"it did not end in {limit} s"


class Copy:
    """A copy of the sources, built with everything that tests need."""

    def __init__(self, place):
        self.source = os.path.join(place, "source")
        self.build = os.path.join(self.source, "build")
        listed = subprocess.run(
            ["git", "-C", TOP, "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], capture_output=True, check=True).stdout
        for name in listed.decode().split("\0"):
            if name and os.path.exists(os.path.join(TOP, name)):
                self.bring(name)
        if not os.path.exists(os.path.join(self.build, "config.status")):
            self.configure()
        status, said = make(self.build, "-j2", "check", "TESTS=")
        if status != 0:
            sys.exit(said)
        self.product = self.digest()

    def bring(self, name):
        """A source that is there as it should be keeps its time."""
        path, copy = os.path.join(TOP, name), os.path.join(self.source, name)
        if not os.path.exists(copy) or \
                not filecmp.cmp(path, copy, shallow=False):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy(path, copy)

    def configure(self):
        subprocess.run(["autoreconf", "-fi"], cwd=self.source, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.mkdir(self.build)
        # Without -g a program says nothing of the sources but what it does.
        subprocess.run(["../configure", "-q", "CFLAGS=-O2"], cwd=self.build,
                       check=True, stdout=subprocess.DEVNULL)

    def digest(self):
        """What the programs are: two that are equal do the same."""
        digest = hashlib.sha256()
        for name in PRODUCT:
            digest.update(open(os.path.join(self.build, name), "rb").read())
        return digest.digest()

    def build_for(self, tests):
        programs = [program for test in tests for program in
                    (HELPERS.get(test, []) if is_script(test) else [test])]
        # Beside others "all", which is a make of its own, makes things twice.
        status, said = make(self.build, "-j2", "all")
        return (status, said) if status != 0 else \
            make(self.build, "-j2", "sbxrun-test", "sbxsh-test", *programs)

    def failing_case(self, test):
        """The first case of a test program's log that failed."""
        log = os.path.join(self.build,
                           re.sub(r"\.(sh|bats)$", "", test) + ".log")
        text = open(log, errors="replace").read() if os.path.exists(log) else ""
        found = re.search(r"^not ok.*|^Bail out.*|.*Sanitizer.*", text, re.M)
        return found.group(0) if found else "it ended badly"

    def fails(self, test):
        """Whether it fails, and whether it ended by itself."""
        begin = time.monotonic()
        status, _ = make(self.build, "check-TESTS", f"TESTS={test}",
                         f"TEST_LIMIT={TEST_LIMIT}", limit=2 * TEST_LIMIT)
        return status != 0, time.monotonic() - begin < TEST_LIMIT

    def first_failure(self, tests):
        """The first of the tests that fails, and its first case that does.  On a
        busy machine one may fail by itself, so it has to fail twice, unless it
        did not end."""
        for test in tests:
            failed, ended = self.fails(test)
            if failed and (not ended or self.fails(test)[0]):
                return f"{test}: {self.failing_case(test)}"
        return None

    def try_fault(self, fault):
        """What became of the fault: a word, and what there is to say of it."""
        path = os.path.join(self.source, fault.file)
        text = open(path).read()
        try:
            open(path, "w").write(fault.apply(text))
            status, said = self.build_for(fault.tests)
            # A table that sbxc holds against itself may end the build.
            wrong = COMPILES_NOT.search(said) if status else None
            if wrong:
                return "no build", wrong.group(0)
            if status != 0:
                return "noticed", "the build: " + reason(said)
            if self.digest() == self.product:
                return "same code", ""
            found = self.first_failure(fault.tests)
            return ("noticed", found) if found else ("NOT NOTICED", "")
        finally:
            open(path, "w").write(text)

    def must_pass(self, tests):
        """Only tests that pass without a fault can notice one."""
        status, said = self.build_for(tests)
        if status != 0:
            sys.exit(said)
        status, _ = make(self.build, "-k", "-j2", "check-TESTS",
                         f"TESTS={' '.join(tests)}", f"TEST_LIMIT={TEST_LIMIT}",
                         limit=None)
        # Some do not pass beside others on a busy machine.
        for test in tests if status != 0 else []:
            found = self.first_failure([test])
            if found:
                sys.exit(f"without any fault: {found}")


class Run:
    """Faults that are tried, by several hands at a time."""

    def __init__(self, faults, wanted, chosen):
        self.faults, self.wanted = iter(faults), wanted
        self.chosen = chosen  # by chance: what cannot be judged does not count
        self.count = {"noticed": 0, "NOT NOTICED": 0, "explained": 0,
                      "no build": 0, "same code": 0}
        self.begun, self.lock = 0, threading.Lock()

    def take(self):
        with self.lock:
            fault = next(self.faults, None) if self.begun < self.wanted else None
            self.begun += fault is not None
            return fault

    def tell(self, fault, word, text, seconds):
        with self.lock:
            if self.chosen and word in ("no build", "same code"):
                self.begun -= 1
            self.count[word] += 1
            done = sum(self.count.values())
            print(f"{done} {word}: {fault.file}: {fault.name}"
                  f"{': ' if text else ''}{text} ({seconds:.0f} s)", flush=True)
            if self.chosen and word == "NOT NOTICED":
                print(fault.block(), flush=True)

    def work(self, copy):
        while (fault := self.take()) is not None:
            begin = time.monotonic()
            word, text = copy.try_fault(fault)
            if fault.why and word in ("NOT NOTICED", "same code"):
                word, text = "explained", fault.why
            self.tell(fault, word, text, time.monotonic() - begin)

    def score(self):
        """The share that was noticed of those that could be."""
        judged = self.count["noticed"] + self.count["NOT NOTICED"]
        share = self.count["noticed"] / judged if judged else 1
        print(f"{judged} faults, {self.count['noticed']} noticed ({share:.1%}), "
              f"{self.count['explained']} explained, "
              f"{self.count['same code']} make the same programs, "
              f"{self.count['no build']} do not build")
        return share


def run(job, tests, place, jobs):
    """The share of the faults of `job` that is noticed, in copies below `place`;
    `tests` are tried without a fault first."""
    must_be_alone(place)
    copies = [Copy(os.path.join(place, str(hand))) for hand in range(jobs)]
    if tests:
        copies[0].must_pass(tests)
    hands = [threading.Thread(target=job.work, args=(copy,), daemon=True)
             for copy in copies]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join()
    return job.score()

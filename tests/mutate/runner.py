"""Puts faults into a copy of the product and runs tests on it."""

import collections
import filecmp
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

from alone import make, run_test
from chance import TOP

TEST_LIMIT = 300     # seconds that a test program has,
SHORT_LIMIT = 60, 5  # or so many, and so many times what it takes to pass
# Seconds, by room, for a test that was not seen to pass.
UNKNOWN = {"unit": 1, "golden": 4, "cli": 4, "model": 10, "kernel": 20}
PROFILES_LIMIT = 60  # seconds for a moment's work of sbxc
# Programs that scripts run, and that have the product linked in.
HELPERS = {"tests/model/reach.sh": ["tests/model/reach"],
           "tests/model/sbpl.sh": ["tests/model/sbpl/questions"],
           "tests/model/syscalls.sh": ["tests/model/syscall_table"],
           "tests/golden/corpus.sh": ["tests/golden/unplaced"],
           "tests/golden/fmt_all.sh": ["tests/golden/unplaced"],
           "tests/kernel/faults.sh": ["tests/kernel/fault_library"],
           "tests/fuzz/replay.sh": sorted(
               os.path.relpath(path[:-2], TOP) for path in
               glob.glob(os.path.join(TOP, "tests/fuzz/fuzz_*.c")))}
PRODUCT = ["sbxc", "sbx-trial", "sbxrun", "sbxsh", "sbx-proxy", "libsbx.a"]
# The loader as scripts want it that look into it.
OPENED = ["sbxrun-test", "sbxsh-test"]
COMPILES_NOT = re.compile(r"^\S+\.(?:[chy]|def):\d+:.*error:.*", re.M)


def reason(said):
    """The line of what make said that tells most."""
    lines = [line for line in said.splitlines() if re.search(
        "error|Error|assert|fault|Abort", line)]
    return (lines or [said.strip()[-200:]])[0]


def needs(test):
    """What has to be built for a test, beside the product."""
    if not test.endswith((".sh", ".bats")):
        return [test]
    return HELPERS.get(test, []) + OPENED * ("/golden/" not in test)


class Tests:
    """What is known of the tests, to all copies."""

    def __init__(self, place, trusted, ask_all):
        self.file = os.path.join(place, "seconds")
        self.trusted = trusted  # each passes without a fault
        self.ask_all = ask_all  # of a fault that those named do not notice
        self.sound = {}         # whether it does
        self.seconds = {}       # that it took to pass, perhaps in another run
        if os.path.exists(self.file):
            self.seconds = json.load(open(self.file))
        self.asked, self.noticed = collections.Counter(), collections.Counter()

    def limit(self, test):
        base, factor = SHORT_LIMIT
        return min(TEST_LIMIT,
                   int(base + factor * self.seconds.get(test, TEST_LIMIT)))

    def order(self, room, names):
        """Those first that need least time for what they have noticed in the
        same room; without those that do not pass."""

        def price(test):
            chance = (1 + self.noticed[room, test]) / \
                (2 + self.asked[room, test])
            guess = UNKNOWN.get(test.split("/")[1], 10)
            return (self.seconds.get(test, guess) + len(needs(test))) / chance
        return sorted((test for test in names
                       if self.sound.get(test, True)), key=price)

    def may_notice(self, fault, everything):
        """The tests of the room, and then, if wanted, all others but for those
        that only look at the sources."""
        room = os.path.dirname(fault.file)
        yield from self.order(room, fault.tests)
        if self.ask_all:
            others = {test for test in everything
                      if not test.startswith("tests/meta/")}
            yield from self.order(room, sorted(others - set(fault.tests)))

    def passed(self, test, seconds):
        self.seconds[test] = max(seconds, self.seconds.get(test, 0) / 2)
        # Beside others that write, it is put in its place as a whole.
        part = f"{self.file}.{threading.get_ident()}"
        json.dump(dict(self.seconds), open(part, "w"))
        os.replace(part, self.file)

    def tell(self, fault, test, failed):
        room = os.path.dirname(fault.file)
        self.asked[room, test] += 1
        self.noticed[room, test] += failed


class Copy:
    """A copy of the sources, built with everything that tests need."""

    def __init__(self, place, tests):
        self.tests = tests
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
        self.must_make("-j2", "check", "TESTS=")
        self.product = self.digest()
        self.script, self.bats, self.everything = (
            words.split("\n") for words in
            self.must_make("test-commands").rstrip("\n").split("\n\n"))

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

    def must_make(self, *words):
        status, said = make(self.build, *words)
        if status != 0:
            sys.exit(said)
        return said

    def digest(self):
        """What the programs are: two that are equal do the same."""
        digest = hashlib.sha256()
        for name in PRODUCT:
            digest.update(open(os.path.join(self.build, name), "rb").read())
        return digest.digest()

    def command(self, test):
        words = self.bats if test.endswith(".bats") else self.script
        path = os.path.join(self.source if test.endswith((".sh", ".bats"))
                            else self.build, test)
        return [f"TEST_LIMIT={self.tests.limit(test)}"
                if word.startswith("TEST_LIMIT=") else word
                for word in words] + [path]

    def failure(self, test):
        """The first case of a test that fails.  On a busy machine one may fail by
        itself, so it has to fail twice, unless it did not end."""
        status, said = make(self.build, "-j2", *needs(test))
        if status != 0:
            return "it is not built: " + reason(said)
        for _ in range(2):
            begin, limit = time.monotonic(), self.tests.limit(test)
            failed = run_test(self.build, self.command(test), limit)
            took = time.monotonic() - begin
            if failed is None:
                self.tests.passed(test, took)
                return None
            if took >= limit:
                break
        return failed

    def is_sound(self, test):
        """Only a test that passes without a fault can notice one."""
        if self.tests.trusted:
            return True
        if test not in self.tests.sound:
            self.must_make("-j2", "all")
            failed = self.failure(test)
            if failed:
                print(f"not asked any more, without a fault: {test}: {failed}",
                      flush=True)
            self.tests.sound[test] = failed is None
        return self.tests.sound[test]

    def build_product(self):
        """What came of it, in a word, and what there is to say; None if the
        programs are there, and differ."""
        status, said = make(self.build, "-j2", *PRODUCT)
        wrong = COMPILES_NOT.search(said) if status else None
        if wrong:
            return "no build", wrong.group(0)
        if status == 0 and self.digest() == self.product:
            return "same code", ""
        # A table that sbxc holds against itself may end the build.
        if status == 0:
            status, said = make(self.build, "-j2", "all", limit=PROFILES_LIMIT)
        return ("noticed", "the build: " + reason(said)) if status != 0 else None

    def ask(self, fault, passed):
        """What became of the fault, and the test that noticed it; none of
        `passed` does, to which those that do not are added."""
        built = self.build_product()
        if built:
            return *built, None
        for test in self.tests.may_notice(fault, self.everything):
            if test in passed:
                continue
            failed = self.failure(test)
            self.tests.tell(fault, test, failed is not None)
            if failed:
                return "noticed", f"{test}: {failed}", test
            passed.add(test)
        return "NOT NOTICED", "", None

    def try_fault(self, fault):
        """What became of the fault: a word, and what there is to say of it."""
        path = os.path.join(self.source, fault.file)
        text = open(path).read()
        passed = set()
        while True:
            try:
                open(path, "w").write(fault.apply(text))
                word, said, test = self.ask(fault, passed)
            finally:
                open(path, "w").write(text)
            if test is None or self.is_sound(test):
                return word, said


class Run:
    """Faults that are tried, by several hands at a time.  What does not build, or
    makes the same programs, does not count among those that are wanted."""

    def __init__(self, faults, wanted):
        self.faults, self.wanted = iter(faults), wanted
        self.count = {"noticed": 0, "NOT NOTICED": 0,
                      "no build": 0, "same code": 0}
        self.begun, self.lock = 0, threading.Lock()

    def take(self):
        with self.lock:
            fault = next(self.faults, None) if self.begun < self.wanted else None
            self.begun += fault is not None
            return fault

    def tell(self, fault, word, text, seconds):
        with self.lock:
            if word in ("no build", "same code"):
                self.begun -= 1
            self.count[word] += 1
            done = sum(self.count.values())
            print(f"{done} {word}: {fault.file}: {fault.name}"
                  f"{': ' if text else ''}{text} ({seconds:.0f} s)", flush=True)
            if word == "NOT NOTICED":
                print(fault.block(), flush=True)

    def work(self, copy):
        while (fault := self.take()) is not None:
            begin = time.monotonic()
            word, text = copy.try_fault(fault)
            self.tell(fault, word, text, time.monotonic() - begin)

    def score(self):
        """The share that was noticed of those that could be."""
        judged = self.count["noticed"] + self.count["NOT NOTICED"]
        share = self.count["noticed"] / judged if judged else 1
        print(f"{judged} faults, {self.count['noticed']} noticed ({share:.1%}), "
              f"{self.count['same code']} make the same programs, "
              f"{self.count['no build']} do not build")
        return share


def run(job, place, jobs, tests):
    """The share of the faults of `job` that is noticed, in copies below `place`,
    or 0 if a test failed without any."""
    copies = [Copy(os.path.join(place, str(hand)), tests)
              for hand in range(jobs)]
    hands = [threading.Thread(target=job.work, args=(copy,), daemon=True)
             for copy in copies]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join()
    share = job.score()
    return share if all(tests.sound.values()) else 0

#!/usr/bin/env python3
"""Puts faults into the product, one at a time, and says which the tests notice.

    tests/mutate/mutate.py --check               does each fault still apply?
    tests/mutate/mutate.py [OPTION...] BUILD     puts them in, builds, tests

BUILD is a new directory: the sources are copied into it, so that the tree stays
as it is.  Options: --only TEXT (faults whose name or file has it), --sample N
(as many, by chance), --seed S, --file NAME (a table of one's own), --list.

A table (faults/*.txt) has a block for each fault, between empty lines:

    @ FILE             of all faults that follow
    ? TEST...          that are to notice it; of all that follow, until the next
    # NAME             what is wrong with the product then
    - TEXT             what stands in FILE, once; white space may differ
    + TEXT             what takes its place; without it, nothing does
    = WHY              no test can notice it, and that is right

A fault is noticed if a test that is named fails, and passed without the fault.
One that does not compile is an error of the table.  The status is 0 if at least
95% of the faults that are not explained by '=' were noticed.
"""

import argparse
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
WANTED = 0.95
LIMIT = 300  # seconds for one test program
# Programs that scripts run, and that have the product linked in.
HELPERS = {"tests/model/sbpl.sh": ["tests/model/sbpl/questions"]}


class Fault:
    def __init__(self, file, tests, name):
        self.file, self.tests, self.name = file, tests, name
        self.old, self.new, self.why = [], [], None


def read_table(path):
    """The faults of one table."""
    faults, file, tests = [], None, []
    for number, line in enumerate(open(path), 1):
        mark, text = line[:1], line[1:].rstrip("\n")
        text = text[1:] if text.startswith(" ") else text
        if mark == "@":
            file = text
        elif mark == "?":
            tests = text.split()
        elif mark == "#":
            faults.append(Fault(file, tests, text))
        elif mark == "-":
            faults[-1].old.append(text)
        elif mark == "+":
            faults[-1].new.append(text)
        elif mark == "=":
            faults[-1].why = text
        elif mark != "\n":
            sys.exit(f"{path}:{number}: no line begins so")
    return faults


def pattern_of(fault):
    """What finds the old text, whatever lies between its words."""
    words = " ".join(fault.old).split()
    return re.compile(r"\s+".join(re.escape(word) for word in words))


def apply(fault, text):
    """The text with the fault in it, or None if it does not fit once."""
    found = list(pattern_of(fault).finditer(text))
    if len(found) != 1 or not fault.old:
        return None
    begin, end = found[0].span()
    return text[:begin] + "\n".join(fault.new) + text[end:]


def check(faults):
    """Whether each fault fits its file once, and names tests that exist."""
    bad = 0
    for fault in faults:
        path = os.path.join(TOP, fault.file)
        text = open(path).read() if os.path.exists(path) else ""
        lost = [test for test in fault.tests
                if not os.path.exists(os.path.join(TOP, source_of(test)))]
        if apply(fault, text) is None:
            print(f"{fault.file}: {fault.name}: "
                  f"fits {len(pattern_of(fault).findall(text))} times")
            bad += 1
        if lost or not fault.tests:
            print(f"{fault.file}: {fault.name}: no test {' '.join(lost)}")
            bad += 1
    return bad


def source_of(test):
    return test if test.endswith((".sh", ".bats")) else test + ".c"


def make(build, *words):
    return subprocess.run(["make", "-s", *words], cwd=build, text=True,
                          errors="replace", stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def copy_tree(build):
    """The sources below BUILD/source, and built with everything tests need."""
    source = os.path.join(build, "source")
    listed = subprocess.run(
        ["git", "-C", TOP, "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        path = os.path.join(TOP, name)
        if name and os.path.exists(path):
            os.makedirs(os.path.dirname(os.path.join(source, name)),
                        exist_ok=True)
            shutil.copy2(path, os.path.join(source, name))
    subprocess.run(["autoreconf", "-fi"], cwd=source, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.mkdir(os.path.join(source, "build"))
    build = os.path.join(source, "build")
    subprocess.run(["../configure", "-q"], cwd=build, check=True,
                   stdout=subprocess.DEVNULL)
    made = make(build, "-j2", "check", "TESTS=")
    if made.returncode != 0:
        sys.exit(made.stdout)
    return source, build


def failing_case(build, test):
    """The first case of a test program's log that failed."""
    log = os.path.join(build, re.sub(r"\.(sh|bats)$", "", test) + ".log")
    text = open(log, errors="replace").read() if os.path.exists(log) else ""
    found = re.search(r"^not ok.*|^Bail out.*|.*Sanitizer.*", text, re.M)
    return found.group(0) if found else "it ended badly"


def first_failure(build, tests):
    """The first of the tests that fails, and its first case that does."""
    for test in tests:
        run = make(build, "check-TESTS", f"TESTS={test}",
                   f"TEST_LIMIT={LIMIT}")
        if run.returncode != 0:
            return test, failing_case(build, test)
    return None


def programs_of(tests):
    return [program for test in tests for program in
            (HELPERS.get(test, []) if test.endswith((".sh", ".bats"))
             else [test])]


def build_all(build, tests):
    return make(build, "-j2", "all", "sbxrun-test", "sbxsh-test",
                *programs_of(tests))


def try_fault(source, build, fault):
    """What became of the fault: a word, and what there is to say of it."""
    path = os.path.join(source, fault.file)
    text = open(path).read()
    try:
        open(path, "w").write(apply(fault, text))
        made = build_all(build, fault.tests)
        if made.returncode != 0:
            # A table that sbxc holds against itself may end the build.
            found = re.search(r".*error:.*", made.stdout)
            return "no build", found.group(0) if found else made.stdout[-300:]
        found = first_failure(build, fault.tests)
        return ("noticed", f"{found[0]}: {found[1]}") if found else \
            ("NOT NOTICED", "")
    finally:
        open(path, "w").write(text)


def passing(build, faults):
    """Only tests that pass without a fault can notice one."""
    tests = sorted({test for fault in faults for test in fault.tests})
    made = build_all(build, tests)
    if made.returncode != 0:
        sys.exit(made.stdout)
    if make(build, "-k", "-j4", "check-TESTS", f"TESTS={' '.join(tests)}",
            f"TEST_LIMIT={LIMIT}").returncode == 0:
        return
    # Some do not pass beside others on a busy machine.
    for test in tests:
        found = first_failure(build, [test])
        if found and first_failure(build, [test]):
            sys.exit(f"{test} fails without any fault: {found[1]}")


def run(faults, build):
    source, build = copy_tree(build)
    passing(build, faults)
    count = {"noticed": 0, "NOT NOTICED": 0, "no build": 0, "explained": 0}
    for number, fault in enumerate(faults, 1):
        begin = time.monotonic()
        word, text = try_fault(source, build, fault)
        if fault.why and word == "NOT NOTICED":
            word, text = "explained", fault.why
        count[word] += 1
        print(f"{number}/{len(faults)} {word}: {fault.file}: {fault.name}"
              f"{': ' if text else ''}{text}"
              f" ({time.monotonic() - begin:.0f} s)", flush=True)
    judged = count["noticed"] + count["NOT NOTICED"]
    share = count["noticed"] / judged if judged else 1
    print(f"{judged} faults, {count['noticed']} noticed ({share:.1%}), "
          f"{count['explained']} explained, {count['no build']} do not build")
    return share >= WANTED and count["no build"] == 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--file", action="append")
    parser.add_argument("build", nargs="?")
    asked = parser.parse_args()
    tables = asked.file or sorted(glob.glob(os.path.join(HERE, "faults/*.txt")))
    faults = [fault for table in tables for fault in read_table(table)
              if asked.only in fault.file or asked.only in fault.name]
    if asked.sample:
        random.seed(asked.seed)
        faults = random.sample(faults, min(asked.sample, len(faults)))
    if asked.list:
        for fault in faults:
            print(f"{fault.file}: {fault.name}: {' '.join(fault.tests)}")
    if asked.check:
        bad = check(faults)
        print(f"{len(faults)} faults, {bad} errors")
        return 1 if bad else 0
    if asked.build is None:
        return 0 if asked.list else parser.error("say where to build")
    os.makedirs(asked.build)
    return 0 if run(faults, asked.build) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Faults, and the tables that list them."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))


class Fault:
    """`old` stands in `file` once, unless `span` says where it is meant."""

    def __init__(self, file, tests, name):
        self.file, self.tests, self.name = file, tests, name
        self.old, self.new, self.why, self.span = [], [], None, None

    def pattern(self):
        """What finds the old text, whatever lies between its words."""
        words = " ".join(self.old).split()
        return re.compile(r"\s+".join(re.escape(word) for word in words))

    def apply(self, text):
        """The text with the fault in it, or None if it does not fit once."""
        span = self.span
        if span is None:
            found = list(self.pattern().finditer(text))
            if len(found) != 1 or not self.old:
                return None
            span = found[0].span()
        return text[:span[0]] + "\n".join(self.new) + text[span[1]:]

    def block(self):
        """As a table has it."""
        return "\n".join([f"# {self.name}"] + ["- " + line.strip() for line in
                         self.old] + ["+ " + line.strip() for line in self.new])


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


def read_rooms():
    """Which tests notice a fault below a path: `rooms.txt`, the last row first,
    so that a row about a part stands behind that about the whole."""
    rows = [line.split() for line in open(os.path.join(HERE, "rooms.txt"))
            if line.strip() and not line.startswith("#")]
    return [(row[0], row[1:]) for row in reversed(rows)]


def source_of(test):
    return test if test.endswith((".sh", ".bats")) else test + ".c"


def lost_tests(tests):
    return [test for test in tests
            if not os.path.exists(os.path.join(TOP, source_of(test)))]


def check(faults):
    """How many faults do not fit their file once, or name no tests."""
    bad = 0
    for fault in faults:
        path = os.path.join(TOP, fault.file)
        text = open(path).read() if os.path.exists(path) else ""
        if fault.apply(text) is None:
            print(f"{fault.file}: {fault.name}: "
                  f"fits {len(fault.pattern().findall(text))} times")
            bad += 1
        lost = lost_tests(fault.tests)
        if lost or not fault.tests:
            print(f"{fault.file}: {fault.name}: no test {' '.join(lost)}")
            bad += 1
    for path, tests in read_rooms():
        lost = lost_tests(tests)
        if lost or not tests or not os.path.exists(os.path.join(TOP, path)):
            print(f"rooms.txt: {path}: no test {' '.join(lost)}")
            bad += 1
    return bad

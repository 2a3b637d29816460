"""Faults of one line, made of the sources by chance.

An operator finds where in a text it can be put in, and what stands there then.
It sees the text without comments, strings and lines of the preprocessor.  A line
is drawn first and then one of its faults, so that no line counts more than
another because more can go wrong in it.
"""

import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))

HIDDEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\""
                    r"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
                    re.S | re.M)


class Fault:
    """The lines `new` in place of `old`, at `span` of the text of `file`."""

    def __init__(self, file, tests, name):
        self.file, self.tests, self.name = file, tests, name
        self.old, self.new, self.span = [], [], None

    def apply(self, text):
        return text[:self.span[0]] + "\n".join(self.new) + text[self.span[1]:]

    def block(self):
        return "\n".join(["- " + line.strip() for line in self.old] +
                         ["+ " + line.strip() for line in self.new])


def exists(test):
    source = test if test.endswith((".sh", ".bats")) else test + ".c"
    if os.path.exists(os.path.join(TOP, source)):
        return True
    print(f"rooms.txt: {test} is no longer there", file=sys.stderr)
    return False


def read_rooms():
    """Which tests notice a fault in a room: the rows of rooms.txt, the last row
    first, so that a row about a part stands behind that about the whole."""
    rows = [line.split() for line in open(os.path.join(HERE, "rooms.txt"))
            if line.strip() and not line.startswith("#")]
    there = {test: exists(test) for row in rows for test in row[1:]}
    return [(row[0], [test for test in row[1:] if there[test]])
            for row in reversed(rows)]


def code_of(text):
    """The text, of the same length, with blanks for what is not code."""
    def blank(found):
        inside = re.sub(r"[^\n]", " ", found.group(0))
        # What is quoted is still an operand.
        return '"' + inside[1:-1] + '"' if found.group(0)[0] in "\"'" else \
            inside
    return HIDDEN.sub(blank, text)


def end_of(code, at):
    """Behind the parenthesis that closes the one before `at`."""
    depth = 1
    while depth and at < len(code):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        at += 1
    return at


def swap(pattern, pairs):
    """An operator that puts one word in another's place."""
    both = {**pairs, **{new: old for old, new in pairs.items()}}

    def find(code):
        for found in re.finditer(pattern, code):
            word = found.group(1)
            yield found.span(1), both[word], f"{both[word]} for {word}"
    return find


def decide(code):
    """A condition that always holds, or never."""
    for found in re.finditer(r"\b(if|while) \(", code):
        span = found.end(), end_of(code, found.end()) - 1
        for value in "01" if found.group(1) == "if" else "0":
            yield span, value, f"{found.group(1)} ({value})"


def shift(code):
    """A number that is one too high, or too low."""
    for found in re.finditer(r"(?<![\w.])(0x[0-9a-fA-F]+|\d+)(?=[uU]?\b)", code):
        word = found.group(1)
        base = 16 if word.startswith("0x") else \
            8 if word.startswith("0") and len(word) > 1 else 10
        for step in (1, -1):
            value = int(word, base) + step
            if value >= 0:
                text = hex(value) if base == 16 else \
                    f"0{value:o}" if base == 8 else str(value)
                yield found.span(1), text, f"{text} for {word}"


def forget(code):
    """A statement that is a call, left out."""
    for found in re.finditer(r"[;{})]\s*\n\t+((?:\(void\))?\w+\()", code):
        end = end_of(code, found.end())
        if code[end:end + 1] == ";":
            yield (found.start(1), end), "", \
                f"{found.group(1)}) is not called"


def forget_set(code):
    """A statement that sets something, left out."""
    for found in re.finditer(r"[;{})]\s*\n\t+([\w>.\[\]-]+ [|&+-]?= [^;{]*);",
                             code):
        yield found.span(1), "", "nothing is set"


def drop_bit(code):
    """One of the operands of a bit-or, left out."""
    for found in re.finditer(r"[^|](\|\s+\w[\w.>-]*)(?=[\s;),])", code):
        yield found.span(1), "", "a bit is left out"


def drop_row(code):
    """A row of a table, left out."""
    for found in re.finditer(r"^[A-Z_0-9]+\(", code, re.M):
        yield (found.start(), end_of(code, found.end())), "", \
            "a row is left out"


OPERATORS = [
    swap(r" ([<>]=?) ", {"<": "<=", ">": ">="}),
    swap(r" ([=!]=)\s", {"==": "!="}),
    swap(r" (&&|\|\|)\s", {"&&": "||"}),
    swap(r"\b(true|false)\b", {"true": "false"}),
    swap(r" ([+-]) ", {"+": "-"}),
    decide, shift, forget, forget_set, drop_bit,
]


def faults_of(file, tests):
    """What can go wrong in a file: for each line, its faults."""
    text = open(os.path.join(TOP, file)).read()
    code = code_of(text)
    lines = {}
    for operator in OPERATORS + [drop_row] * file.endswith(".def"):
        for span, new, name in operator(code):
            begin = text.rfind("\n", 0, span[0]) + 1
            end = text.find("\n", span[1])
            line = text.count("\n", 0, begin) + 1
            fault = Fault(file, tests, f"line {line}: {name}")
            old = text[begin:end]
            # Other lines keep their numbers.
            new = text[begin:span[0]] + new + \
                "\n" * text.count("\n", *span) + text[span[1]:end]
            fault.old, fault.new = old.split("\n"), new.split("\n")
            fault.span = begin, end
            lines.setdefault(line, []).append(fault)
    return list(lines.values())


def sources(rooms, only):
    """The files with code that the table of rooms knows, below `only`."""
    found = {os.path.relpath(path, TOP) for end in ("c", "def", "y")
             for path in glob.glob(os.path.join(TOP, "**/*." + end),
                                   recursive=True)}
    known = tuple(room for room, _ in rooms)
    return sorted(path for path in found if path.startswith(known) and
                  path.startswith(tuple(only) or ""))


def draw(chance, only):
    """Faults in all lines that can have one, as chance orders them."""
    rooms, lines = read_rooms(), []
    for path in sources(rooms, only):
        tests = next(tests for room, tests in rooms if path.startswith(room))
        lines += faults_of(path, tests)
    chance.shuffle(lines)
    return [chance.choice(line) for line in lines]

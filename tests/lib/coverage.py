"""What `llvm-cov export` says on stdin, for people.

Usage: coverage.py SOURCES BUILD

Prints a line for each room of format/ and runtime/, and one in all: lines and
branches that tests reached.  A branch is one side of a condition.

BUILD/coverage.txt gets a line a file, BUILD/unreached.txt one for each branch that
was not reached.
"""

import json
import os
import sys

SIDES = ("true", "false")


def condition(lines, branch):
    """The words of a condition, with single spaces."""
    first, left, last, right = branch[:4]
    part = lines[first - 1:last]
    part[-1] = part[-1][:right - 1]
    part[0] = part[0][left - 1:]
    return " ".join(" ".join(part).split())


def unreached(entry, lines):
    """Line, side and words of each branch that was never taken.  A macro is
    written out once, and its condition may stand in another file."""
    sides = {}
    for branch in entry["branches"]:
        if branch[6] != 0:
            continue
        for side, count in zip(SIDES, branch[4:6]):
            key = (branch[0], branch[1], side)
            sides.setdefault(key, [condition(lines, branch), 0])[1] += count
    return [(line, side, text)
            for (line, _, side), (text, count) in sorted(sides.items())
            if count == 0]


def show(name, figures, out):
    lines, all_lines, taken, branches = figures
    parts = [f"{lines:6} of {all_lines:6} {share(lines, all_lines):5.1f}%",
             f"{taken:6} of {branches:6} {share(taken, branches):5.1f}%"]
    print(f"{name:30} {'   '.join(parts)}", file=out)


def share(part, of):
    return 100 * part / of if of else 100


def main():
    top = os.path.realpath(sys.argv[1]) + "/"
    rooms, files, left = {}, [], []
    for entry in json.load(sys.stdin)["data"][0]["files"]:
        name = os.path.realpath(entry["filename"])
        if not name.startswith((top + "format/", top + "runtime/")):
            continue
        with open(name) as source:
            lines = source.read().split("\n")
        name = name[len(top):]
        figures = [entry["summary"][kind][part]
                   for kind in ("lines", "branches")
                   for part in ("covered", "count")]
        for line, side, text in unreached(entry, lines):
            left.append(f"{name}:{line}: {side} {text}")
        files.append((name, figures))
        for room in (os.path.dirname(name), name.split("/")[0], "in all"):
            sums = rooms.setdefault(room, [0] * 4)
            rooms[room] = [a + b for a, b in zip(sums, figures)]
    with open(sys.argv[2] + "/coverage.txt", "w") as out:
        for name, figures in sorted(files):
            show(name, figures, out)
    with open(sys.argv[2] + "/unreached.txt", "w") as out:
        print(*left, sep="\n", file=out)
    print(f"{'':30} {'lines':25}branches")
    for name in sorted(rooms, key=lambda name: (name == "in all", name)):
        show(name, rooms[name], sys.stdout)


main()

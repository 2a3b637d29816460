#!/usr/bin/env python3
"""Puts faults into the product, one at a time, and says which the tests notice.

    tests/mutate/mutate.py [OPTION...] COUNT BUILD

makes COUNT faults of one line by chance (chance.py), builds and tests.  BUILD is
a directory: the sources are copied into it, so that the tree stays as it is; that
of an earlier run is brought up to date.  Options: --seed S (others), --only PATH
(in files whose path begins so; may be repeated), --jobs N (as many copies at a
time), --passed (that the tests pass without a fault is known), --all (what the
tests of the room do not notice is asked of all others), --list (only print them).

The tests that are to notice a fault are those of the last row of rooms.txt that
fits its file.  What does not compile, or makes the same programs to the byte, is
drawn again.  A fault that nobody notices is printed: it is a gap, or it changes
nothing that can be seen, which has to be judged by reading.

A fault is noticed if the build fails for another reason than that a source does
not compile, or if a test that is asked fails twice, and passes without it; one
that does not is named and left out.  The status is 0 if there is none, and at
least 95% of the faults were noticed.
"""

import argparse
import itertools
import os
import random
import sys

sys.dont_write_bytecode = True

from alone import must_be_alone  # noqa: E402
from chance import draw  # noqa: E402
from runner import Run, Tests, run  # noqa: E402

WANTED = 0.95


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--passed", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("count", type=int)
    parser.add_argument("build", nargs="?")
    asked = parser.parse_args()
    faults = draw(random.Random(asked.seed), asked.only)
    if asked.list:
        for fault in itertools.islice(faults, asked.count):
            print(f"{fault.file}: {fault.name}: {' '.join(fault.tests)}")
        return 0
    if asked.build is None:
        return parser.error("say where to build")
    place = os.path.abspath(asked.build)
    must_be_alone(place)
    share = run(Run(faults, asked.count), place, asked.jobs,
                Tests(place, asked.passed, asked.all))
    return 0 if share >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Puts faults into the product, one at a time, and says which the tests notice.

    tests/mutate/mutate.py --check               does each fault still apply?
    tests/mutate/mutate.py [OPTION...] BUILD     puts them in, builds, tests

BUILD is a directory: the sources are copied into it, so that the tree stays as
it is; that of an earlier run is brought up to date.  Options: --jobs N (as many
copies at a time), --passed (that the tests pass without a fault is known),
--all (what the tests that are named do not notice is asked of all others),
--list, and of the tables --only TEXT (faults whose name or file has it),
--sample N (as many, by chance), --seed S, --file NAME (a table of one's own).

    tests/mutate/mutate.py --random N [--seed S] [--only PATH]... BUILD

makes N faults of one line by chance (chance.py), in the files whose path begins
with PATH.  The tests that are to notice them are those of the last row of
rooms.txt that fits the file.  What does not compile, or makes the same programs
to the byte, is drawn again.  A fault that nobody notices is printed as a table
has it: it is a gap, or it changes nothing that can be seen, which has to be
judged by reading.

A table (faults/*.txt) has a block for each fault, between empty lines:

    @ FILE             of all faults that follow
    ? TEST...          that are to notice it; of all that follow, until the next
    # NAME             what is wrong with the product then
    - TEXT             what stands in FILE, once; white space may differ
    + TEXT             what takes its place; without it, nothing does
    = WHY              no test can notice it, and that is right

A fault is noticed if the build fails for another reason than that a source does
not compile, or if a test that is asked fails twice, and passes without it; one
that does not is named and left out.  The status is 0 if there is none, at least
95% of the faults that are not explained by '=' were noticed, and those of a table
all build.
"""

import argparse
import glob
import itertools
import os
import random
import sys

sys.dont_write_bytecode = True

from alone import must_be_alone  # noqa: E402
from chance import draw  # noqa: E402
from runner import Run, Tests, run  # noqa: E402
from table import HERE, check, read_table  # noqa: E402

WANTED = 0.95


def listed(asked):
    """The faults of the tables that were asked for."""
    tables = asked.file or sorted(glob.glob(os.path.join(HERE, "faults/*.txt")))
    only = asked.only or [""]
    faults = [fault for table in tables for fault in read_table(table)
              if any(text in fault.file or text in fault.name for text in only)]
    if asked.sample:
        faults = random.Random(asked.seed).sample(
            faults, min(asked.sample, len(faults)))
    return faults


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--random", type=int)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--passed", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--file", action="append")
    parser.add_argument("build", nargs="?")
    asked = parser.parse_args()
    if asked.random:
        faults = draw(random.Random(asked.seed), asked.only)
        wanted = asked.random
    else:
        faults = listed(asked)
        wanted = len(faults)
    if asked.list:
        for fault in itertools.islice(faults, wanted):
            print(f"{fault.file}: {fault.name}: {' '.join(fault.tests)}")
    if asked.check:
        bad = check(faults)
        print(f"{len(faults)} faults, {bad} errors")
        return 1 if bad else 0
    if asked.build is None:
        return 0 if asked.list else parser.error("say where to build")
    job = Run(faults, wanted, asked.random is not None)
    place = os.path.abspath(asked.build)
    must_be_alone(place)
    share = run(job, place, asked.jobs, Tests(place, asked.passed, asked.all))
    whole = asked.random or job.count["no build"] == 0
    return 0 if share >= WANTED and whole else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""usage: film.py SESSION OUT.svg

Types the commands of SESSION at a terminal, and draws what is seen there as an
SVG that moves: no script in it, and still for who wants no motion.

Of SESSION, a line "$ CMD" is typed and run in a directory of its own below the
home; "# TEXT" is shown as a title; "! CMD" is run and not shown; an empty line
clears the screen.  It wants an account where sbx is installed and nothing is set
up: what is in the picture is what the programs said there.
"""
import html
import os
import pty
import re
import subprocess
import sys
import tempfile

COLUMNS, ROWS = 96, 22
CELL_W, CELL_H, MARGIN, BAR = 8.4, 19, 18, 30
TYPED, LINE, RUN, READ = 0.035, 0.10, 0.45, 5.0  # seconds
ESCAPE = re.compile(r"\x1b\[([0-9;]*)m|\x1b\[[0-9;?]*[A-Za-z]|\x1b\\|[\r\x18]")


def run(command, directory):
    """What a command writes to a terminal of that width."""
    main, other = pty.openpty()
    subprocess.run(["stty", "cols", str(COLUMNS), "rows", "50"], stdin=other,
                   check=True)
    child = subprocess.Popen(["bash", "-c", command], cwd=directory,
                             stdin=other, stdout=other, stderr=other,
                             start_new_session=True)
    os.close(other)
    output = b""
    while True:
        try:
            some = os.read(main, 65536)
        except OSError:
            break
        if not some:
            break
        output += some
    child.wait()
    os.close(main)
    return output.decode()


def spans(line):
    """[(class, text)] of a line with the sequences of a terminal."""
    found, style, at = [], "", 0
    for match in ESCAPE.finditer(line):
        found.append((style, line[at:match.start()]))
        at = match.end()
        if match.group(1) is not None:
            codes = match.group(1).split(";")
            style = ("r" if "31" in codes else "g" if "32" in codes else
                     "b" if "1" in codes else "d" if "2" in codes else "")
    found.append((style, line[at:]))
    return [(style, text) for style, text in found if text]


class Film:
    def __init__(self):
        self.time, self.screens, self.screen = 0.4, [], []

    def put(self, parts, typed=False):
        """A line of the screen, from now on."""
        if len(self.screen) == ROWS:
            sys.exit("film.py: more than %d lines on a screen" % ROWS)
        length = sum(len(text) for _, text in parts)
        self.screen.append((self.time, parts, length if typed else 0))
        self.time += TYPED * length + RUN if typed else LINE

    def clear(self):
        if self.screen:
            self.time += READ
            self.screens.append((self.screen, self.time))
            self.screen = []

    def svg(self):
        total = self.time
        width = COLUMNS * CELL_W + 2 * MARGIN
        height = ROWS * CELL_H + BAR + MARGIN
        css, body = [], []

        def shown(name, start, end):
            css.append("@keyframes %s{0%%{opacity:0}%.2f%%{opacity:1}"
                       "%.2f%%{opacity:0}}" %
                       (name, 100 * start / total, 100 * end / total))
            css.append(".%s{animation:%s %.1fs step-end infinite}" %
                       (name, name, total))

        for number, (screen, end) in enumerate(self.screens):
            last = number == len(self.screens) - 1
            body.append('<g class="%s">' % ("last" if last else "gone"))
            for row, (start, parts, typed) in enumerate(screen):
                name = "l%d_%d" % (number, row)
                shown(name, start, end)
                text = "".join(
                    '<tspan%s>%s</tspan>' %
                    (' class="%s"' % style if style else "",
                     html.escape(some)) for style, some in parts)
                y = BAR + (row + 1) * CELL_H
                body.append('<g class="%s"><text x="%d" y="%d" '
                            'xml:space="preserve">%s</text>' %
                            (name, MARGIN, y, text))
                if typed:  # a cover that goes to the right, a letter a step
                    css.append(
                        "@keyframes t%s{0%%,%.2f%%{transform:none}"
                        "%.2f%%,100%%{transform:translateX(%.1fpx)}}"
                        ".t%s{animation:t%s %.1fs steps(%d) infinite}" %
                        (name, 100 * start / total,
                         100 * (start + TYPED * typed) / total,
                         typed * CELL_W, name, name, total, typed))
                    body.append('<rect class="cover t%s" x="%.1f" y="%d" '
                                'width="%.1f" height="%d"/>' %
                                (name, MARGIN + 2 * CELL_W, y - 14,
                                 width, CELL_H))
                body.append("</g>")
            body.append("</g>")
        return """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" \
width="%d" height="%d" role="img" aria-label="A terminal in which an agent's \
script is confined, each denial is named, and one command allows what it needs">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",\
monospace;fill:#d6deeb}
.r{fill:#ff7b72;font-weight:bold}.g{fill:#7ee787}.b{font-weight:bold}
.d{fill:#8b96a8}.p{fill:#7ee787;font-weight:bold}.t{fill:#79c0ff;font-weight:bold}
.cover{fill:#10161f}
%s
@media (prefers-reduced-motion:reduce){*{animation:none!important}\
.gone,.cover{display:none}}
</style>
<clipPath id="c"><rect width="%d" height="%d" rx="10"/></clipPath>
<g clip-path="url(#c)">
<rect width="%d" height="%d" fill="#10161f"/>
<rect width="%d" height="%d" fill="#1b2430"/>
<circle cx="18" cy="11" r="5" fill="#ff5f57"/>\
<circle cx="36" cy="11" r="5" fill="#febc2e"/>\
<circle cx="54" cy="11" r="5" fill="#28c840"/>
%s
</g>
</svg>
""" % (width, height, width, height, "\n".join(css), width, height, width,
            height, width, BAR - 8, "\n".join(body))


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: film.py SESSION OUT.svg")
    film = Film()
    with open(sys.argv[1], encoding="utf-8") as session, \
            tempfile.TemporaryDirectory(dir=os.path.expanduser("~")) as top:
        directory = os.path.join(top, "app")
        os.mkdir(directory)
        for line in session.read().splitlines():
            word, _, rest = line.partition(" ")
            if not line:
                film.clear()
            elif word == "#":
                film.put([("t", "# " + rest)])
            elif word == "!":
                print(run(rest, directory), end="")
            elif word == "$":
                film.put([("p", "$ "), ("b", rest)], typed=True)
                for out in run(rest, directory).replace(top, "~").splitlines():
                    film.put(spans(out.rstrip("\r")))
            else:
                sys.exit("film.py: a line without $, # or !: " + line)
        film.clear()
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write(film.svg())
    print("%s: %.1f s" % (sys.argv[2], film.time))


main()

#!/usr/bin/env python3
"""usage: site.py SOURCES OUT

Makes a site of README.md, the other texts and the manual: pages in HTML that need
no server and no script.  mandoc draws the manual.  Ends with 1 if a link leads to
nothing.
"""
import html
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

NAMES = {"README.md": "index.html"}
FIGURES = {".svg", ".png"}


def page_name(path):
    """What a source is called in the site: docs/a.md is docs-a.html."""
    if path in NAMES:
        return NAMES[path]
    if path.startswith("man/"):
        return path[4:] + ".html"
    return path.removesuffix(".md").replace("/", "-") + ".html"


def slug(text):
    """The name that GitHub gives a heading, too."""
    return re.sub(r"[^\w -]", "", re.sub(r"<[^>]*>", "", text)
                  .lower()).replace(" ", "-")


class Markdown:
    """As much of Markdown as our texts use."""

    def __init__(self, source, pages):
        self.source, self.pages, self.linked = source, pages, set()

    def target(self, link):
        if re.match(r"[a-z]+:|#", link):
            return link
        path, _, anchor = link.partition("#")
        path = posixpath.normpath(posixpath.join(
            posixpath.dirname(self.source), path))
        if path in self.pages:
            path = page_name(path)
        elif pathlib.PurePosixPath(path).suffix in FIGURES:
            path = pathlib.PurePosixPath(path).name
        elif path + "/README.md" in self.pages:
            path = page_name(path + "/README.md")
        else:
            self.linked.add(path)
        return path + ("#" + anchor if anchor else "")

    def inline(self, text):
        codes = []

        def code(match):
            codes.append(f"<code>{html.escape(match[1], False)}</code>")
            return f"\0{len(codes) - 1}\0"
        text = html.escape(re.sub(r"`([^`]+)`", code, text), False)
        text = re.sub(r"!\[([^]]*)\]\(([^)]+)\)", lambda m:
                      f'<img src="{self.target(m[2])}" alt="{m[1]}">', text)
        text = re.sub(r"\[([^]]+)\]\(([^)]+)\)", lambda m:
                      f'<a href="{self.target(m[2])}">{m[1]}</a>', text)
        text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
        text = re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"<em>\1</em>", text)
        return re.sub(r"\0(\d+)\0", lambda m: codes[int(m[1])], text)

    def table(self, lines):
        rows = [[self.inline(cell.strip()) for cell in
                 re.split(r"(?<!\\)\|", line.strip().strip("|"))]
                for line in lines]
        out = ["<div class=table><table><thead><tr>"]
        out += [f"<th>{cell}</th>" for cell in rows[0]]
        out.append("</tr></thead><tbody>")
        for row in rows[2:]:
            out += ["<tr>", *(f"<td>{cell}</td>" for cell in row), "</tr>"]
        return "".join(out) + "</tbody></table></div>"

    def items(self, lines, tag):
        parts = []
        for line in lines:
            mark = re.match(r"(?:[-*]|\d+\.) (.*)", line)
            if mark:
                parts.append([mark[1]])
            else:
                parts[-1].append(line.strip())
        body = "".join(f"<li>{self.inline(' '.join(p))}</li>" for p in parts)
        return f"<{tag}>{body}</{tag}>"

    def block(self, lines):
        first = lines[0]
        if first.startswith("|"):
            return self.table(lines)
        if re.match(r"[-*] ", first):
            return self.items(lines, "ul")
        if re.match(r"\d+\. ", first):
            return self.items(lines, "ol")
        if all(line.startswith("    ") for line in lines):
            return code_block("\n".join(line[4:] for line in lines))
        return f"<p>{self.inline(' '.join(lines))}</p>"

    def convert(self, text):
        out, lines, fence = [], [], None

        def flush():
            if lines:
                out.append(self.block(lines))
                lines.clear()
        for line in text.split("\n"):
            if fence is not None:
                if line.startswith("```"):
                    out.append(code_block("\n".join(fence)))
                    fence = None
                else:
                    fence.append(line)
            elif line.startswith("```"):
                flush()
                fence = []
            elif line.startswith("#"):
                flush()
                level = len(line) - len(line.lstrip("#"))
                head = self.inline(line[level:].strip())
                out.append(f'<h{level} id="{slug(head)}">{head}</h{level}>')
            elif not line.strip():
                flush()
            else:
                # A list may stand below a line of text.
                if (lines and re.match(r"[-*] ", line)
                        and not re.match(r"[-*] ", lines[0])):
                    flush()
                lines.append(line)
        flush()
        return "\n".join(out)


def code_block(text):
    return f"<pre><code>{html.escape(text, False)}</code></pre>"


def manual(path):
    body = subprocess.run(["mandoc", "-Thtml", "-Ofragment,man=%N.%S.html",
                           str(path)], check=True, capture_output=True,
                          text=True).stdout
    # The kernel's and libc's pages are not ours.
    return re.sub(r'<a class="Xr" href="([^"]*)"([^>]*)>(.*?)</a>', lambda m:
                  m[0] if (path.parent / m[1].removesuffix(".html")).exists()
                  else m[3], body)


def describe(path):
    """The line behind the name of a manual page."""
    return re.search(r"^\.Nd (.*)$", path.read_text(), re.M)[1]


def links_of(text):
    return re.findall(r'(?:href|src)="([^"]+)"', text)


def broken(out):
    """Links that lead to no file, or to no place in it."""
    texts = {path.name: path.read_text() for path in out.glob("*.html")}
    for name, text in sorted(texts.items()):
        for link in links_of(text):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = html.unescape(link).partition("#")
            path = path or name
            if not (out / path).exists():
                yield f"{name}: {link}: there is no such file"
            elif anchor and path in texts and \
                    f'id="{anchor}"' not in html.unescape(texts[path]):
                yield f"{name}: {link}: there is no such place"


def copy(source, target):
    """A file of the sources that a text leads to; of a directory, what is in it."""
    if source.is_dir():
        rows = [(p.name, p) for p in sorted(source.iterdir()) if p.is_file()]
        for name, path in rows:
            copy(path, target / name)
        (target / "index.html").write_text("<ul>" + "".join(
            f'<li><a href="{name}">{name}</a></li>' for name, _ in rows) + "</ul>")
    elif source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def main(sources, out):
    out.mkdir(parents=True, exist_ok=True)
    frame = (sources / "docs/site/page.html").read_text()
    pages = {path: None for path in
             ["README.md", "SECURITY.md", "ARCHITECTURE.md", "HACKING.md",
              "LICENSE"] +
             sorted(str(p.relative_to(sources)) for glob in
                    ("docs/**/*.md", "examples/**/README.md", "man/*.[1-9]")
                    for p in sources.glob(glob))}
    for path in pages:
        text = (sources / path).read_text()
        title = pathlib.PurePosixPath(path).name
        if path.startswith("man/"):
            body = '<article class="manual">' + manual(sources / path) + \
                "</article>"
            title = re.sub(r"\.(\d)$", r"(\1)", title)
        elif path == "LICENSE":
            body = f"<article>{code_block(text)}</article>"
        else:
            title = re.search(r"^# (.*)$", text, re.M)[1]
            markdown = Markdown(path, pages)
            body = f"<article>{markdown.convert(text)}</article>"
            for link in sorted(markdown.linked):
                copy(sources / link, out / link)
        (out / page_name(path)).write_text(
            frame.replace("@TITLE@", html.escape(title))
            .replace("@BODY@", body))
    rows = [(p.name, describe(p)) for p in sorted(sources.glob("man/*.[1-9]"))]
    body = "<h1>Manual</h1><dl>" + "".join(
        f'<dt><a href="{name}.html">{name[:-2]}({name[-1]})</a></dt>'
        f"<dd>{html.escape(about)}</dd>" for name, about in rows) + "</dl>"
    (out / "manual.html").write_text(frame.replace("@TITLE@", "Manual")
                                     .replace("@BODY@",
                                              f"<article>{body}</article>"))
    for path in ("docs/site/style.css", "docs/film.svg"):
        shutil.copy(sources / path, out)
    wrong = list(broken(out))
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))

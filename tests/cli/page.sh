#!/bin/sh
# sbxc show --html and diff --html: a page in which every rule stands, that is well
# formed, that needs no other file, and in which no text of a policy becomes an
# element.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin
cat >"$tmp/p.sbx" <<'END'
sbx 1

profile p extends coding {
    about "<script>alert(1)</script> & \"quotes\""
    allow read  "/srv/<img src=x onerror=alert(1)>"
    deny read   ${workspace}/secret  except ${workspace}/secret/not
    prefer deny read  glob "${workspace}/**/*.pem"
    limit processes 77
}
END
cat >"$tmp/read.py" <<'END'
# Prints what is wrong with a page, or with "text" what can be read on it.
import html.parser
import sys


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []
        self.text = []
        self.ids = set()
        self.links = set()

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "img", "link", "iframe", "object"):
            print(f"an element {tag}")
        for name, value in attributes:
            if name.startswith("on") or name == "src":
                print(f"an attribute {name}")
            if name == "id":
                self.ids.add(value)
            if name == "href" and not value.startswith("#"):
                print(f"a link to {value}")
            elif name in ("href", "for"):
                self.links.add(value.lstrip("#"))
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            print(f"{self.getpos()}: </{tag}>")

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.text.append(data)


page = Page()
page.feed(open(sys.argv[1]).read())
page.close()
if page.links - page.ids:
    print(f"links to nothing: {page.links - page.ids}")
if page.open:
    print(f"open: {page.open}")
if sys.argv[2:]:
    print(" ".join("".join(page.text).split()))
END

wrong()
{
	python3 "$tmp/read.py" "$1" 2>&1
}

"$SBXC" show --html "$tmp/p.sbx" >"$tmp/p.html"
tap_is "a policy is drawn" 0 $?
tap_empty "it is well formed, and loads nothing" "$(wrong "$tmp/p.html")"
sed 's/&lt;/</g; s/&gt;/>/g' "$tmp/p.html" >"$tmp/bad.html"
tap_found "the check can fail" "$(wrong "$tmp/bad.html")"
python3 "$tmp/read.py" "$tmp/p.html" text >"$tmp/text"
for text in '<script>alert(1)</script>' 'onerror=alert(1)>' \
    'no access${workspace}/secret except ${workspace}/secret/not' '*.pem' \
    'processes 77' 'p.sbx:5:17' 'servers inside reach each other'; do
	if grep -Fq -e "$text" "$tmp/text"; then
		tap_ok "it says: $text"
	else
		tap_not_ok "it says: $text" "$(cat "$tmp/text")"
	fi
done
tap_is "a line leads to its text" 1 "$(grep -c 'id="s1-5".*&lt;img' "$tmp/p.html")"

cat >"$tmp/all.sbx" <<'END'
sbx 1

profile all extends workspace-write {
    allow network domain "example.com"
    allow network connect 10.1.2.3:443
    allow network host tcp 5432
    allow network publish tcp 8080
    allow network proxy unix ~/run/proxy.sock
    allow socket ~/run/service.sock
    allow env SHOWN_*
    set env SET = value
    watch ${workspace}/later
}
END
"$SBXC" build -o "$tmp/all.bin" "$tmp/all.sbx"
"$SBXC" show --html "$tmp/all.bin" >"$tmp/all.html"
python3 "$tmp/read.py" "$tmp/all.html" text >"$tmp/text"
"$SBXC" dump "$tmp/all.bin" | sed -n 's/  # .*//
    /^\(allow\|deny\|prefer deny\|limit\|set\|watch\) /p' >"$tmp/rules"
tap_empty "the object of each rule stands on the page" "$(sed -E \
    's/^(prefer )?[a-z]+ (read|write|exec|watch|socket|syscalls|env|network [a-z]+) //
     s/^(allow|set|limit|watch) (env )?//; s/^timeout .*/timeout 2 minutes/' \
    "$tmp/rules" | while read -r object; do
	grep -Fq -e "$(echo "$object" | sed 's/^output .*/output 1 MiB/')" \
	    "$tmp/text" || echo "$object"
done)"
"$SBXC" build -o "$tmp/p.bin" "$tmp/p.sbx"
"$SBXC" show --html "$tmp/p.bin" >"$tmp/b.html"
sed '/<.body>/d; s/<[^>]*>//g' "$tmp/b.html" | sed '$d' >"$tmp/b.txt"
tap_empty "a blob gives the same page, without its text" "$(
    sed '/<details class="g"><summary>p.sbx/,$d; s/<[^>]*>//g' "$tmp/p.html" |
    diff - "$tmp/b.txt" 2>&1)"
for profile in workspace-write read-only full-access coding-online agent; do
	"$SBXC" show --html "@$profile" >"$tmp/s.html"
	tap_empty "@$profile" "$(wrong "$tmp/s.html")"
done
# Several profiles are tabs, groups alone their text, and nothing is half a page.
printf '%s\n' 'sbx 1' 'profile one { allow read /a }' \
    'profile two { allow read /b }' 'group g { allow read /c }' >"$tmp/two.sbx"
"$SBXC" show --html "$tmp/two.sbx" >"$tmp/two.html"
tap_empty "two profiles: well formed" "$(wrong "$tmp/two.html")"
tap_is "two tabs" 2 "$(grep -c '<label for=' "$tmp/two.html")"
printf '%s\n' 'sbx 1' 'group g {' '    allow read "/c<b>"' '}' >"$tmp/group.sbx"
"$SBXC" show --html "$tmp/group.sbx" >"$tmp/group.html"
tap_is "groups alone" 0 $?
tap_empty "groups alone: well formed" "$(wrong "$tmp/group.html")"
tap_found "groups alone: their text" "$(grep '/c&lt;b&gt;' "$tmp/group.html")"
sed 's,read /b,red /b,' "$tmp/two.sbx" >"$tmp/half.sbx"
"$SBXC" show --html "$tmp/half.sbx" >"$tmp/half.html" 2>"$tmp/err"
tap_is "a mistake in one of two" 1 $?
tap_empty "no half of a page" "$(cat "$tmp/half.html")"
sed 's,read /b,write "/b<i>",; s/one/three/' "$tmp/two.sbx" >"$tmp/new.sbx"
"$SBXC" diff --html --fail-on widen "$tmp/two.sbx" "$tmp/new.sbx" \
    >"$tmp/d.html"
tap_is "a page of differences" 1 $?
tap_empty "differences: well formed" "$(wrong "$tmp/d.html")"
python3 "$tmp/read.py" "$tmp/d.html" text >"$tmp/text"
for text in 'changes profile one is now three' 'opens read and write /b<i>' \
    'now: allow write "/b<i>" new.sbx:3:27' 'closes read /b'; do
	tap_found "differences: $text" "$(grep -F "$text" "$tmp/text")"
done
"$SBXC" show @coding 2>"$tmp/err"
tap_is "without --html" 125 $?
"$SBXC" show --html "$tmp/none" 2>"$tmp/err"
tap_is "a policy that is not there" 3 $?
tap_done

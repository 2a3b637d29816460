#!/bin/sh
# sbxc show --html: a page in which every rule stands, that is well formed, that
# needs no other file, and in which no text of a policy becomes an element.

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

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "img", "link", "iframe", "object"):
            print(f"an element {tag}")
        for name, value in attributes:
            if name.startswith("on") or name in ("src", "href"):
                print(f"an attribute {name}")
        if tag == "li" and self.open[-1:] != ["ul"]:
            print(f"li in {self.open[-1:]}")
        if tag != "meta":
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
    'secretdeny read except ${workspace}/secret/not' '*.pem' 'processes 77' \
    'p.sbx:5:17' 'network of its own'; do
	if grep -Fq -e "$text" "$tmp/text"; then
		tap_ok "it says: $text"
	else
		tap_not_ok "it says: $text" "$(cat "$tmp/text")"
	fi
done
tap_is "each place has its rule" "$("$SBXC" build -o "$tmp/p.bin" \
    "$tmp/p.sbx" && "$SBXC" dump "$tmp/p.bin" |
    grep -Ec '^(allow|deny|prefer deny) (read|write|exec)')" \
    "$(grep -o '<span class="b [a-z]*">\(allow\|deny\|prefer deny\)' \
    "$tmp/p.html" | wc -l)"
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
    /^[a-z ]* \(read\|write\|exec\) /d
    /^\(allow\|deny\|limit\|set\|watch\) /p' >"$tmp/rules"
tap_is "there are rules of all other kinds" \
    'env limit network set socket watch' "$(
    awk '{ print /^(limit|set|watch)/ ? $1 : $2 }' "$tmp/rules" | sort -u |
	paste -sd ' ')"
tap_empty "each of them stands on the page" "$(while read -r rule; do
	grep -Fq -e "$rule" "$tmp/text" || echo "$rule"
done <"$tmp/rules")"
"$SBXC" show --html "$tmp/p.bin" >"$tmp/b.html"
tap_is "a blob gives the same page" yes \
    "$(cmp -s "$tmp/p.html" "$tmp/b.html" && echo yes)"
for profile in workspace-write read-only full-access coding-online agent; do
	"$SBXC" show --html "@$profile" >"$tmp/s.html"
	tap_empty "@$profile" "$(wrong "$tmp/s.html")"
done
"$SBXC" show @coding 2>"$tmp/err"
tap_is "without --html" 2 $?
"$SBXC" show --html "$tmp/none" 2>"$tmp/err"
tap_is "a policy that is not there" 3 $?
tap_done

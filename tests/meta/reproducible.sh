#!/bin/sh
# The same sources give the same bytes, whoever compiles them, where and how:
# each policy is compiled once plainly, and then once for each way in which two
# machines or two users differ.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin
base=$tmp
# Another user may not reach the checkout.
cp "$SBXC" "$base/sbxc" && cp -R "$srcdir/profiles" "$base/profiles" || exit 99
chmod -R a+rX "$base"
SBXC=$base/sbxc

# --- the policies ----------------------------------------------------------

# One that includes others: beside it, below it, by way of -I, and one of them
# twice.  `include` lines take no part in the bytes, their order even less.
own=$base/own
mkdir -p "$own/parts" "$base/i1" "$base/i2"
cat >"$own/main.sbx" <<'EOF2'
sbx 1
include "beside.sbx"
include "parts/below.sbx"
include "first.sbx"
include "second.sbx"
param data
let piles = { ~/.cache ~/.npm }

profile main extends workspace-write {
    about "many files"
    use beside
    use below
    use first
    use second
    allow write ${piles}
    allow read  ${data} except { ${data}/b ${data}/a }
    deny read   { "${workspace}/with blank" ${workspace}/z ${workspace}/a }
    allow network connect tcp { 8080 443 8000-8010 }
    allow env { ZED AB* LC_* }
    set env PLACE = ${data}/here
    limit processes 100
}
EOF2
cat >"$own/beside.sbx" <<'EOF2'
sbx 1
include "parts/below.sbx"
group beside {
    deny write ${workspace}/.git
    deny syscalls { @mount ptrace }
}
EOF2
cat >"$own/parts/below.sbx" <<'EOF2'
sbx 1
group below {
    allow read { /srv /var/lib }
}
EOF2
for i in first second; do
	printf 'sbx 1\ngroup %s {\n    allow read /%s\n}\n' $i $i
done >"$base/both"
sed -n 1,4p "$base/both" >"$base/i1/first.sbx"
sed -n 5,8p "$base/both" >"$base/i2/second.sbx"
# The same with its includes the other way round; no rule is moved.
mkdir "$base/turned"
cp -R "$own/." "$base/turned"
{
	sed -n 1p "$own/main.sbx"
	sed -n 2,5p "$own/main.sbx" | sort -r
	sed '1,5d' "$own/main.sbx"
} >"$base/turned/main.sbx"

# compile OUT FILE [WRAPPER...]: as a command of its own, so that a variation
# can stand before it.
compile()
{
	compile_out=$1 compile_file=$2
	shift 2
	"$@" "$SBXC" -I "$base/i1" -I "$base/i2" "$compile_file" \
	    -o "$compile_out" 2>>"$base/said"
}

# same NAME: other.bin is what plain.bin is.
same()
{
	tap_empty "$policy: $1" "$(cmp "$base/plain.bin" "$base/other.bin" \
	    2>&1 || tail -n 5 "$base/said")"
	rm -f "$base/other.bin"
	: >"$base/said"
}

vary_environment()
{
	for locale in C POSIX C.UTF-8 $(locale -a 2>/dev/null | head -n 20) \
	    de_DE.UTF-8 tr_TR.UTF-8; do
		compile "$base/other.bin" "$1" env LC_ALL="$locale" \
		    LANGUAGE="$locale"
		same "LC_ALL=$locale"
	done
	for zone in UTC Asia/Kathmandu XXX-14; do
		compile "$base/other.bin" "$1" env TZ=$zone
		same "TZ=$zone"
	done
	compile "$base/other.bin" "$1" env HOME=/nonexistent USER=nobody
	same "another home"
	compile "$base/other.bin" "$1" env -u HOME
	same "no home"
	compile "$base/other.bin" "$1" env -i
	same "no environment"
	compile "$base/other.bin" "$1" env XDG_RUNTIME_DIR=/run/x TMPDIR=/x \
	    SOURCE_DATE_EPOCH=1 TERM=xterm COLUMNS=20
	same "more environment"
	compile "$base/other.bin" "$1" env MALLOC_PERTURB_=165
	same "other bytes in fresh memory"
}

vary_process()
{
	for mask in 000 022 077; do
		(umask $mask && compile "$base/other.bin" "$1")
		same "umask $mask"
	done
	if setarch -R true 2>/dev/null; then
		compile "$base/other.bin" "$1" setarch -R
		same "without address randomisation"
	fi
	for turn in 1 2 3; do
		compile "$base/other.bin" "$1"
		same "once more ($turn)"
	done
	if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
		mkdir -m 777 "$base/open"
		compile "$base/open/out" "$1" setpriv --reuid=65534 \
		    --regid=65534 --clear-groups
		mv "$base/open/out" "$base/other.bin"
		rmdir "$base/open"
		same "another user"
	fi
}

vary_place()
{
	dir=$(dirname "$1") name=$(basename "$1")
	(cd / && compile "$base/other.bin" "$1")
	same "from the root directory"
	(cd "$dir" && compile "$base/other.bin" "$name")
	same "relative"
	(cd "$dir" && compile "$base/other.bin" "./$name")
	same "relative, with a dot"
	(cd "$dir/.." && compile "$base/other.bin" "$(basename "$dir")/$name")
	same "relative, from above"
	ln -s "$dir" "$base/link"
	compile "$base/other.bin" "$base/link/$name"
	same "by way of a link"
	rm "$base/link"
	mkdir "$base/elsewhere"
	cp -R "$dir/." "$base/elsewhere"
	find "$base/elsewhere" -exec touch -t 200001010000 {} +
	compile "$base/other.bin" "$base/elsewhere/$name"
	same "a copy, of another date"
	rm -rf "$base/elsewhere"
	compile "$base/with another name" "$1"
	mv "$base/with another name" "$base/other.bin"
	same "another output"
}

try()
{
	: >"$base/said"
	if ! compile "$base/plain.bin" "$1"; then
		tap_not_ok "$policy compiles" "$(cat "$base/said")"
		return
	fi
	: >"$base/said"
	vary_environment "$1"
	vary_process "$1"
	vary_place "$1"
}

for profile in "$base"/profiles/*.sbx; do
	policy=${profile##*/}
	[ "$policy" = groups.sbx ] || try "$profile"
done

policy=main.sbx
try "$own/main.sbx"
compile "$base/other.bin" "$base/turned/main.sbx"
same "includes in another order"
"$SBXC" -I "$base/i2" -I "$base/i1" "$own/main.sbx" -o "$base/other.bin" \
    2>>"$base/said"
same "-I in another order"
"$SBXC" -I "$base/i1/../i1" -I "$base/nowhere" -I "$base//i2/" \
    "$own/main.sbx" -o "$base/other.bin" 2>>"$base/said"
same "-I spelt otherwise"
(cd "$base/i1" && "$SBXC" -I . -I ../i2 ../own/main.sbx \
    -o "$base/other.bin") 2>>"$base/said"
same "-I relative"
"$SBXC" -I "$base/i1" -I "$base/i2" -D data=/data "$own/main.sbx" \
    -o "$base/other.bin" 2>>"$base/said"
tap_found "the check can fail: a parameter that is given" \
    "$(cmp "$base/plain.bin" "$base/other.bin" 2>/dev/null)"
# Where the rules were written is in the blob, so that this is another policy.
{ sed -n 1,6p "$own/main.sbx"; echo; sed '1,6d' "$own/main.sbx"; } \
    >"$base/turned/main.sbx"
compile "$base/other.bin" "$base/turned/main.sbx"
tap_found "the check can fail: a line more" \
    "$(cmp "$base/plain.bin" "$base/other.bin" 2>/dev/null)"
tap_done

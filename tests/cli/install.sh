#!/bin/sh
# make install DESTDIR: what people and other packages look for is there, works
# from there, and make uninstall leaves nothing.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin
root=$tmp/root

in_build()
{
	make -s -C "$builddir" "$@" DESTDIR="$root" >"$tmp/make" 2>&1
}

in_build install
tap_is "it is installed" "0 " "$? $(grep -i 'error' "$tmp/make")"
prefix=$root$(sed -n 's/^prefix = //p' "$builddir/Makefile")
tap_empty "each file is there" "$(for file in bin/sbxc bin/sbxrun \
    libexec/sbx/sbx-proxy share/man/man1/sbxrun.1 share/man/man7/sbx-agents.7 \
    share/sbx/profiles/coding.bin share/sbx/output.schema.json \
    share/bash-completion/completions/sbxrun share/zsh/site-functions/_sbx \
    share/fish/vendor_completions.d/sbxc.fish \
    share/vim/vimfiles/syntax/sbx.vim share/sbx/apparmor/sbxrun \
    include/sbx.h lib/libsbx.a lib/pkgconfig/sbx.pc; do
	[ -f "$prefix/$file" ] || echo "$file"
done)"
tap_is "the AppArmor profile names the program" 1 \
    "$(grep -c "${prefix#"$root"}/bin/sbxrun" "$prefix/share/sbx/apparmor/sbxrun")"
if grep -q "^SANITIZE = ." "$builddir/Makefile"; then
	tap_skip "pkg-config" "a library with sanitizers is for no program"
elif command -v pkg-config >/dev/null; then
	PKG_CONFIG_PATH=$prefix/lib/pkgconfig
	PKG_CONFIG_SYSROOT_DIR=$root
	export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
	tap_is "pkg-config: the version is that of sbxrun" \
	    "sbxrun $(pkg-config --modversion sbx)" \
	    "$("$prefix/bin/sbxrun" --version)"
	printf '#include <sbx.h>\nint main(void) { return 0; }\n' >"$tmp/p.c"
	# shellcheck disable=SC2046
	cc -o "$tmp/p" "$tmp/p.c" $(pkg-config --cflags --libs sbx) \
	    2>"$tmp/cc" && LD_LIBRARY_PATH=$prefix/lib "$tmp/p" 2>>"$tmp/cc"
	tap_is "pkg-config: a program is built with it" "0 " "$? $(cat "$tmp/cc")"
else
	tap_skip "pkg-config" "it is not installed"
fi
in_build uninstall
tap_empty "uninstall leaves nothing" "$(find "$root" ! -type d)"
tap_done

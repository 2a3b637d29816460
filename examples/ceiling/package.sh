#!/bin/sh
# Makes a Debian package that holds a ceiling: package.sh VERSION OUT.  The ceiling is
# compiled here, and the machines need no compiler; the text is for people, and for
# the lines that sbxrun names.  SBXC is the compiler.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=${1:?usage: package.sh VERSION OUT}
out=${2:?usage: package.sh VERSION OUT}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
umask 022

install -d "$tree/DEBIAN" "$tree/etc/sbx"
install -m 644 "$here/ceiling.sbx" "$here/options" "$tree/etc/sbx"
(cd "$tree/etc/sbx" && "${SBXC:-sbxc}" ceiling.sbx -o ceiling.bin)
chmod 755 "$tree"
chmod 644 "$tree/etc/sbx/ceiling.bin"
# Not conffiles: dpkg puts back what somebody has changed.
cat >"$tree/DEBIAN/control" <<EOF
Package: ourcorp-sbx-ceiling
Version: $version
Architecture: all
Maintainer: Security <security@ourcorp.example>
Depends: sbx
Description: what no policy of sbx goes beyond on our machines
 sbxrun cuts every policy to what this one allows, too.
EOF
dpkg-deb --root-owner-group -b "$tree" \
    "$out/ourcorp-sbx-ceiling_${version}_all.deb"

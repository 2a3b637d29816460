#!/bin/sh
# Builds the Debian packages into a directory: packaging/debian.sh OUT [BUILD].
# BUILD is a configured build directory, whose `make dist` is the source.  Needs
# what `apt-get build-dep` of packaging/debian/control would install.  Where
# lintian is installed, it must have nothing to say.

set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
out=$(realpath "${1:?usage: debian.sh OUT [BUILD]}")
build=$(realpath "${2:-$source/build}")
version=$(sed -n 's/^AC_INIT(\[sbx\], \[\(.*\)\])$/\1/p' "$source/configure.ac")
date=$(git -C "$source" log -1 --format=%cD 2>/dev/null ||
    date -R -r "$source/NEWS")

mkdir -p "$out"
rm -f "$out"/*.deb "$out"/*.changes
make -s -C "$build" dist-gzip >&2
tree=$out/sbx-$version
rm -rf "$tree"
tar -xzf "$build/sbx-$version.tar.gz" -C "$out"
cp "$build/sbx-$version.tar.gz" "$out/sbx_$version.orig.tar.gz"
cp -R "$source/packaging/debian" "$tree/debian"
sed "s/@VERSION@/$version/; s/@DATE@/$date/" "$tree/debian/changelog.in" \
    >"$tree/debian/changelog"
sed 's/^$/./; s/^/ /' "$source/LICENSE" >"$tree/debian/license"
sed -i -e "/@LICENSE@/r $tree/debian/license" -e /@LICENSE@/d \
    "$tree/debian/copyright"
rm "$tree/debian/changelog.in" "$tree/debian/license"
(cd "$tree" && dpkg-buildpackage -us -uc -j"$(nproc)")
rm -rf "$tree"
! command -v lintian >/dev/null || lintian --fail-on error,warning --suppress-tags \
    initial-upload-closes-no-bugs "$out"/*.changes
ls "$out"/*.deb

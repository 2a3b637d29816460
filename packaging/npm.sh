#!/bin/sh
# Builds npm packages into a directory: packaging/npm.sh OUT [BUILD].  As with
# esbuild, a package `sbx` chooses one with programs for the machine; these are
# static, and need nothing of it, but for sbx-proxy, which uses the system's
# resolver: its glibc must be as new as that of this machine.  BUILD is a configured
# build directory.

set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
out=$(realpath "${1:?usage: npm.sh OUT [BUILD]}")
build=$(realpath "${2:-$source/build}")
version=$(sed -n 's/^AC_INIT(\[sbx\], \[\(.*\)\])$/\1/p' "$source/configure.ac")
case $(uname -m) in
x86_64) cpu=x64 ;;
aarch64) cpu=arm64 ;;
*)
	echo "npm.sh: sbx does not run on this machine" >&2
	exit 1
	;;
esac

# manifest DIRECTORY FIELDS
manifest()
{
	printf '{\n  "version": "%s",\n  "license": "MIT",\n%s\n}\n' \
	    "$version" "$2" >"$1/package.json"
}

machine=$out/sbx-linux-$cpu
rm -rf "$out/sbx" "$machine"
mkdir -p "$out/sbx/bin" "$machine/bin" "$machine/profiles"

make -s -C "$build" all >&2
cp "$build"/profiles/*.bin "$machine/profiles"
cp "$build/sbx-proxy" "$machine/bin"
# Where it was built; it wants the OpenSSL 3 of the system.
[ ! -x "$build/sbx-tls" ] || cp "$build/sbx-tls" "$machine/bin"
for program in sbxrun sbxsh; do
	if ldd "$build/$program" >/dev/null 2>&1; then
		echo "npm.sh: $program is not static; install musl-tools" >&2
		exit 1
	fi
	cp "$build/$program" "$machine/bin"
done
# sbxc is a program of the system's libraries; here it takes them along.
make -s -C "$build" sbxc.static EXEEXT=.static AM_LDFLAGS="-static -no-pie" \
    >&2
mv "$build/sbxc.static" "$machine/bin/sbxc"
strip "$machine/bin"/*
cp "$source/LICENSE" "$machine"
manifest "$machine" "  \"name\": \"sbx-linux-$cpu\",
  \"description\": \"sbxc, sbxrun and sbxsh for Linux on $cpu\",
  \"os\": [\"linux\"],
  \"cpu\": [\"$cpu\"]"

for program in sbxc sbxrun sbxsh; do
	cat >"$out/sbx/bin/$program" <<END
#!/usr/bin/env node
require("../run.js")("$program");
END
	chmod 755 "$out/sbx/bin/$program"
done
cp "$source"/packaging/npm/*.[jt]s "$out/sbx"
chmod 755 "$out/sbx/srt.js"
cp "$source/README.md" "$source/LICENSE" "$out/sbx"
manifest "$out/sbx" "  \"name\": \"sbx\",
  \"description\": \"Run commands and agents confined by a compiled policy\",
  \"main\": \"index.js\",
  \"types\": \"index.d.ts\",
  \"engines\": { \"node\": \">=18\" },
  \"exports\": {
    \".\": { \"types\": \"./index.d.ts\", \"default\": \"./index.js\" },
    \"./sandbox-runtime\": { \"types\": \"./sandbox-runtime.d.ts\",
      \"default\": \"./sandbox-runtime.js\" },
    \"./package.json\": \"./package.json\"
  },
  \"bin\": { \"sbxc\": \"bin/sbxc\", \"sbxrun\": \"bin/sbxrun\", \"sbxsh\": \"bin/sbxsh\",
    \"srt\": \"srt.js\" },
  \"optionalDependencies\": {
    \"sbx-linux-x64\": \"$version\",
    \"sbx-linux-arm64\": \"$version\"
  }"
for package in sbx "sbx-linux-$cpu"; do
	(cd "$out" && npm pack --silent "./$package")
done

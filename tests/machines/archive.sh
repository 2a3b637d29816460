# shellcheck shell=bash
# Sourced: packages of several releases of Debian, for several machines, with
# nothing of them known to the system's own apt.  Needs apt-get, apt-cache,
# dpkg-deb and the keys of Debian's archive.

# archive_open DIR SUITE...: an apt whose lists and packages lie in DIR.  The
# lists are those of the last hour, or are fetched.
archive_open()
{
	local suite mirror
	archive=$1
	shift
	mkdir -p "$archive/apt/lists/partial" "$archive/apt/cache/partial" \
	    "$archive/debs" || return 1
	: >"$archive/apt/status"
	mirror=${MIRROR-$(archive_mirror)}
	for suite; do
		echo "deb [arch=amd64,arm64 signed-by=$archive_keys]" \
		    "$mirror $suite main"
	done >"$archive/apt/sources.new"
	archive_settings >"$archive/apt/conf"
	if cmp -s "$archive/apt/sources.new" "$archive/apt/sources.list" &&
	    [ -n "$(find "$archive/apt/fetched" -mmin -60 2>/dev/null)" ]; then
		return
	fi
	mv "$archive/apt/sources.new" "$archive/apt/sources.list"
	# A release that has left the mirror is told when it is asked for.
	archive_apt get -q update >"$archive/apt/log" 2>&1 ||
		grep '^[EW]:' "$archive/apt/log" >&2
	touch "$archive/apt/fetched"
}

archive_keys=/usr/share/keyrings/debian-archive-keyring.gpg

# That which this system uses.
archive_mirror()
{
	local uri
	uri=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null |
	    grep -m 1 '/debian/*$')
	echo "${uri:-http://deb.debian.org/debian}"
}

# The system's proxies stay, its sources and hooks do not.
archive_settings()
{
	cat <<-EOF
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	Dir::State "$archive/apt";
	Dir::State::status "$archive/apt/status";
	Dir::State::Lists "$archive/apt/lists";
	Dir::Cache "$archive/apt/cache";
	Dir::Etc::sourcelist "$archive/apt/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	APT::Architecture "amd64";
	APT::Architectures { "amd64"; "arm64"; };
	APT::Sandbox::User "";
	Acquire::Languages "none";
	Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
	Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
	EOF
}

archive_apt()
{
	local command=apt-$1
	shift
	"$command" -c "$archive/apt/conf" "$@"
}

# archive_newest BEGIN*END: the package of that name with the highest version in
# the name; nothing where there is none.
archive_newest()
{
	local pattern=${1//./\\.}
	archive_apt cache pkgnames "${1%%\**}" |
	    grep -E "^${pattern//\*/.*}(:|\$)" | cut -d : -f 1 | sort -V |
	    tail -n 1
}

# archive_unpack PACKAGE ARCH DIR: with what it holds, once fetched.
archive_unpack()
{
	local file
	file=$(archive_file "$1" "$2")
	if [ -z "$file" ]; then
		(cd "$archive/debs" &&
		    archive_apt get -q download "$1:$2" >/dev/null) || return 1
		file=$(archive_file "$1" "$2")
	fi
	mkdir -p "$3" && dpkg-deb -x "$file" "$3"
}

archive_file()
{
	find "$archive/debs" -name "$1_*_$2.deb" | sort -V | tail -n 1
}

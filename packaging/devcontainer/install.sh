#!/bin/sh
# Installs the package that lies beside this script, in a container of Debian or
# Ubuntu.  The agent is set up by the container's own user when the container is made:
# `sbxc init` tries the policy, and images are built where that is not to be had.
#
# A directory with these files and a package is the Feature; see docs/machines.md.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
package=$(echo "$here"/sbx_*_"$(dpkg --print-architecture)".deb)
export DEBIAN_FRONTEND=noninteractive
if [ ! -f "$package" ]; then
	echo "sbx: there is no package for this machine in $here" >&2
	exit 1
fi
dpkg -i "$package" || {
	apt-get update
	apt-get -y -f install
}
agent=${AGENT:-none}
case $agent in
none) command=: ;;
claude | codex | gemini | opencode) command="sbxc init -y $agent" ;;
*)
	echo "sbx: no agent is called $agent" >&2
	exit 1
	;;
esac
printf '#!/bin/sh\nsbxrun --doctor || :\n%s\n' "$command" \
    >/usr/local/share/sbx-devcontainer
chmod 755 /usr/local/share/sbx-devcontainer

#!/usr/bin/env bash
# usage: network.sh BUILDDIR [ROUNDS [MEGABYTES]]
# How fast bytes come through sbx-proxy, beside the same connection without a
# sandbox, and beside a chain as Claude's sandbox-runtime has it: socat inside,
# which listens at the proxy's port; a socket by path; socat outside; a proxy, by
# node if it is there.
# All in one run, in turn, over loopback; as an ordinary user in a network
# namespace, where an address counts as public.
#
# direct: without a sandbox.  name: an address that the sandbox's resolver gave.
# http: CONNECT to the sandbox's proxy.  socat: the chain.  standard: CONNECT,
# at level standard.

set -euo pipefail
export LC_ALL=C
build=$(cd "$1" && pwd)
rounds=${2:-20}
size=$((${3:-256} * 1000000))
if [ "${SBX_BENCH_INSIDE-}" != yes ]; then
	if [ "$(id -u)" -eq 0 ]; then
		copy=$(mktemp -d /var/tmp/sbx-bench.XXXXXX)
		trap 'rm -rf "$copy"' EXIT
		mkdir "$copy/bench"
		cp "$build/sbxrun" "$build/sbxc" "$build/sbx-proxy" "$0" "$copy"
		cp "$build/bench/stream" "$copy/bench"
		chown -R 1000:1000 "$copy"
		setpriv --reuid=1000 --regid=1000 --clear-groups \
		    env HOME="$copy" "$copy/${0##*/}" "$copy" "${@:2}"
		exit
	fi
	# With processes of its own, so that none of them stays.
	SBX_BENCH_INSIDE=yes exec unshare -Urmnpf --kill-child --mount-proc \
	    "$0" "$@"
fi

# Not below /tmp: that is the scratch directory at level full.
work=$(mktemp -d /var/tmp/sbx-bench.XXXXXX)
end()
{
	# shellcheck disable=SC2046  # numbers
	kill $(jobs -p) 2>/dev/null || true
	rm -rf "$work"
}
trap end EXIT
cd "$work"
ip link set lo up
ip address add 11.22.33.44/32 dev lo
printf '127.0.0.1 localhost\n11.22.33.44 good.example\n' >hosts
echo 'hosts: files dns' >nsswitch.conf
mount --bind hosts /etc/hosts
mount --bind nsswitch.conf /etc/nsswitch.conf
cp "$build/bench/stream" .
cat >policy.sbx <<-POLICY
	sbx 1
	profile bench extends workspace-write {
	    allow exec $work
	    limit timeout none
	    allow network domain good.example:9000
	}
POLICY
"$build/sbxc" policy.sbx -o policy.bin
./stream serve 11.22.33.44 9000 &
until echo 1 | ./stream fetch good.example 9000 >/dev/null 2>&1; do
	sleep 0.1
done

# In a user namespace nobody sees that root owns the way to the policy, so it
# comes through a pipe.
cat >sandbox <<-SANDBOX
	#!/usr/bin/env bash
	level=\$1
	shift
	exec "$build/sbxrun" -l "\$level" <(cat policy.bin) -- \
	    ./stream fetch good.example 9000 "\$@"
SANDBOX
chmod +x sandbox
# As that runtime has it.
node_proxy='require("http").createServer().on("connect", (req, client, head) => {
	const [host, port] = req.url.split(":");
	const server = require("net").connect(+port, host, () => {
		client.write("HTTP/1.1 200 OK\r\n\r\n");
		server.write(head);
		server.pipe(client);
		client.pipe(server);
	});
	server.on("error", () => client.destroy());
	client.on("error", () => server.destroy());
}).listen(3129, "127.0.0.1")'
ways=(direct ./stream fetch good.example 9000
    -- name ./sandbox full
    -- http ./sandbox full 3128
    -- standard ./sandbox standard 3128)
if command -v socat >/dev/null; then
	cat >inside <<-'INSIDE'
		#!/bin/sh
		ip link set lo up
		socat TCP-LISTEN:3128,fork,reuseaddr UNIX-CONNECT:way &
		until echo 1 | ./stream fetch good.example 9000 3128; do
			sleep 0.1
		done >/dev/null 2>&1
		./stream fetch good.example 9000 3128
		kill $!
	INSIDE
	chmod +x inside
	if command -v node >/dev/null; then
		node -e "$node_proxy" &
	else
		./stream proxy 3129 &
	fi
	socat UNIX-LISTEN:way,fork TCP:127.0.0.1:3129 &
	until [ -S way ]; do sleep 0.1; done
	ways+=(-- socat unshare -n ./inside)
else
	echo "socat is not installed: nothing to compare with"
fi
echo "== $((size / 1000000)) MB, $rounds rounds"
./stream compare "$rounds" "$size" "${ways[@]}"
echo "== connect and one byte, $((rounds * 10)) rounds"
./stream compare "$((rounds * 10))" 1 "${ways[@]}"

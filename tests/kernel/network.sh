#!/bin/sh
# The tools that people use, with nothing set for them, as TAP: they reach two
# names that the policy allows, and are refused a third; at level standard those
# that heed the variables about a proxy.  With an outside of its own, in which
# nothing but this machine's loopback is.
#
#	network.sh [TOOL...]
#
# With ENDED=1 the policy looks at requests, so that TLS of these names is ended.
# As this user and, started by root, as an ordinary one.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

names='one.example two.example three.example'

# --- a machine whose outside is itself ----------------------------------------

if [ "${1-}" != outside ]; then
	# Not below /tmp: that is the scratch directory at level full.
	tap_begin /var/tmp
	for program in ip openssl /usr/bin/python3; do
		command -v "$program" >/dev/null && continue
		tap_lacks 'tools' "no $program here"
		tap_done
		exit
	done
	if ! "$SBXRUN" --status --json |
	    grep -q '"hosts":{"available":true'; then
		tap_skip 'tools' 'no sbx-proxy here'
		tap_done
		exit
	fi
	own=-mn
	[ "$(id -u)" = 0 ] || own=-Urmn
	if ! unshare "$own" true 2>/dev/null; then
		tap_skip 'tools' 'no network of its own here'
		tap_done
		exit
	fi
	unshare "$own" sh "$srcdir/tests/kernel/network.sh" outside "$tmp" "$@"
	exit
fi
tmp=$2
shift 2
tools=$*

# The certificates of a machine, which every tool believes, and ours.
certificates()
{
	mkdir -p "$tmp/www"
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=sbx test' \
	    -addext keyUsage=keyCertSign,cRLSign \
	    -keyout "$tmp/ca.key" -out "$tmp/ca.pem" 2>/dev/null &&
	openssl req -newkey rsa:2048 -nodes -subj '/CN=one.example' \
	    -keyout "$tmp/key.pem" -out "$tmp/request.pem" 2>/dev/null || exit 99
	printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth\n' "$(
		echo "$names" | sed 's/\([a-z.]*\)/DNS:\1/g; s/ /,/g')" \
	    >"$tmp/names.ext"
	openssl x509 -req -days 2 -in "$tmp/request.pem" -CA "$tmp/ca.pem" \
	    -CAkey "$tmp/ca.key" -CAcreateserial -extfile "$tmp/names.ext" \
	    -out "$tmp/cert.pem" 2>/dev/null || exit 99
	cat /etc/ssl/certs/ca-certificates.crt "$tmp/ca.pem" \
	    >"$tmp/authorities" 2>/dev/null
	[ ! -e /etc/ssl/certs/ca-certificates.crt ] ||
		mount --bind "$tmp/authorities" \
		    /etc/ssl/certs/ca-certificates.crt || exit 99
}

# Addresses that count as public.
machine()
{
	ip link set lo up || exit 99
	last=44
	echo '127.0.0.1 localhost' >"$tmp/hosts"
	for name in $names; do
		ip address add "11.22.33.$last/32" dev lo || exit 99
		echo "11.22.33.$last $name" >>"$tmp/hosts"
		last=$((last + 1))
	done
	echo 'nameserver 127.0.0.1' >"$tmp/resolv.conf"
	echo 'hosts: files dns' >"$tmp/nsswitch.conf"
	for name in hosts resolv.conf nsswitch.conf; do
		[ ! -e "/etc/$name" ] ||
			mount --bind "$tmp/$name" "/etc/$name" || exit 99
	done
}

# A repository that any server of files can serve.
repository()
{
	git init -q -b main "$tmp/work" &&
	git -C "$tmp/work" -c user.name=a -c user.email=a@b commit -q \
	    --allow-empty -m first &&
	git clone -q --bare "$tmp/work" "$tmp/www/repo.git" &&
	git -C "$tmp/www/repo.git" update-server-info || exit 99
}

serve()
{
	/usr/bin/python3 "$srcdir/tests/kernel/outside.py" "$tmp" \
	    11.22.33.44 11.22.33.45 11.22.33.46 2>"$tmp/outside.err" &
	outside=$!
	servers=$outside
	# shellcheck disable=SC2086  # words
	trap 'kill $servers 2>/dev/null' EXIT
	tries=0
	until [ -e "$tmp/ready" ]; do
		tries=$((tries + 1))
		if [ $tries -gt 1200 ] || ! kill -0 $outside; then
			cat "$tmp/outside.err"
			exit 99
		fi
		sleep 0.1
	done
}

# Servers that speak first, each where a client can tell its name.
serve_files()
{
	command -v rsync >/dev/null || return
	for last in 44 45 46; do
		{
			echo 'use chroot = no'
			echo "address = 11.22.33.$last"
			echo "pid file = $tmp/rsync-$last.pid"
			echo '[files]'
			echo "path = $tmp/rsync-$last"
			[ "$(id -u)" != 0 ] || printf 'uid = 0\ngid = 0\n'
		} >"$tmp/rsync-$last.conf"
		mkdir "$tmp/rsync-$last"
		echo "hello from $(sed -n "s/^11.22.33.$last //p" \
		    "$tmp/hosts")" >"$tmp/rsync-$last/hello"
		rsync --daemon --no-detach --config "$tmp/rsync-$last.conf" \
		    2>"$tmp/rsync.err" &
		servers="$servers $!"
	done
}

serve_shells()
{
	sshd=
	daemon=$(command -v sshd || echo /usr/sbin/sshd)
	[ "$(id -u)" = 0 ] && [ -x "$daemon" ] && command -v ssh >/dev/null ||
		return
	# A directory that it insists on; ours, in this mount namespace.
	[ -d /run/sshd ] || {
		mount -t tmpfs -o mode=755 none /run && mkdir /run/sshd
	} || return
	ssh-keygen -q -t ed25519 -N '' -f "$tmp/host_key" &&
	ssh-keygen -q -t ed25519 -N '' -f "$tmp/key" || return
	cat >"$tmp/sshd.conf" <<-CONF
		HostKey $tmp/host_key
		AuthorizedKeysFile $tmp/key.pub
		StrictModes no
		UsePAM no
		PermitRootLogin yes
		PidFile none
		ListenAddress 11.22.33.44
		ListenAddress 11.22.33.45
		ListenAddress 11.22.33.46
	CONF
	"$daemon" -D -f "$tmp/sshd.conf" -E "$tmp/sshd.err" &
	servers="$servers $!"
	tap_until ssh-keyscan -t ed25519 one.example && sshd=yes
}

# --- the tools ----------------------------------------------------------------

# Each prints what it got: `sh -c SCRIPT - SCHEME HOST`.  What is set there says
# where packages come from and whom to believe, never how to get there.
# shellcheck disable=SC2016,SC2034  # the inner shell's; by name
scripts()
{
	hello='hello from'
	curl='curl -sS "$1://$2/hello"'
	# Programs that insist on IPv6, past the proxy.
	curl6='curl -6 --noproxy "*" -sS "$1://$2/hello"'
	java6='java -Djava.net.preferIPv6Addresses=true \
	    -Djava.net.useSystemProxies=false \
	    -Djavax.net.ssl.trustStore="$TRUST" \
	    -Djavax.net.ssl.trustStorePassword=changeit -cp "$CLASSES" \
	    Get "$1://$2/hello"'
	wget='wget -q -O- "$1://$2/hello"'
	git='rm -rf "got-$2" && git clone -q "$1://$2/repo.git" "got-$2" &&
	    git -C "got-$2" log --format="hello from $2 by a commit: %s"'
	urllib='/usr/bin/python3 -c "
import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1]).read().decode())" "$1://$2/hello"'
	requests='/usr/bin/python3 -c "
import sys, requests
print(requests.get(sys.argv[1]).text)" "$1://$2/hello"'
	httpx='/usr/bin/python3 -c "
import sys, httpx
print(httpx.get(sys.argv[1]).text)" "$1://$2/hello"'
	aiohttp='/usr/bin/python3 -c "
import sys, asyncio, aiohttp
async def get():
    async with aiohttp.ClientSession() as session:
        async with session.get(sys.argv[1]) as answer:
            print(await answer.text())
asyncio.run(get())" "$1://$2/hello"'
	node='node -e "fetch(process.argv[1]).then(a => a.text()).then(
	    text => console.log(text), e => { console.log(e.cause.code);
	    process.exit(1); })" "$1://$2/hello"'
	npm='rm -rf "npm-$2" && mkdir "npm-$2" && cd "npm-$2" &&
	    npm install --no-audit --no-fund --registry "$1://$2/npm/" tiny \
		>/dev/null && echo "hello from $2" && cat node_modules/tiny/hello'
	pip='rm -rf "pip-$2" && /usr/bin/python3 -m pip download -q --no-deps \
	    --no-cache-dir -d "pip-$2" --trusted-host "$2" \
	    --index-url "$1://$2/simple" tiny && echo "hello from $2" &&
	    ls "pip-$2"'
	cargo='rm -rf "cargo-$2" && mkdir -p "cargo-$2/src" "cargo-$2/.cargo" &&
	    cd "cargo-$2" && : >src/lib.rs &&
	    printf "[package]\nname=\"p\"\nversion=\"1.0.0\"\nedition=\"2021\"\n[dependencies]\ntiny=\"1\"\n" >Cargo.toml &&
	    printf "[source.crates-io]\nreplace-with=\"t\"\n[source.t]\nregistry=\"sparse+$1://$2/cargo/\"\n[http]\ncainfo=\"/etc/ssl/certs/ca-certificates.crt\"\n" >.cargo/config.toml &&
	    CARGO_HOME=$PWD/home cargo fetch -q && echo "hello from $2"'
	go='rm -rf "go-$2" && mkdir "go-$2" && cd "go-$2" &&
	    export GOPATH=$PWD/path GOMODCACHE=$PWD/mod GOCACHE=$PWD/cache \
		GOFLAGS=-modcacherw &&
	    go mod init example.test/own 2>/dev/null &&
	    GONOSUMDB="*" GONOSUMCHECK=1 GOFLAGS="-mod=mod -modcacherw" \
	    GOPROXY="$1://$2/go" go mod download -json \
		example.test/tiny@v1.0.0 && echo "hello from $2"'
	java='java -Djavax.net.ssl.trustStore="$TRUST" \
	    -Djavax.net.ssl.trustStorePassword=changeit -cp "$CLASSES" \
	    Get "$1://$2/hello"'
	yarn='rm -rf "yarn-$2" && mkdir "yarn-$2" && cd "yarn-$2" &&
	    echo "{\"name\":\"own\",\"version\":\"1.0.0\"}" >package.json &&
	    if [ "$(yarn --version | cut -d. -f1)" = 1 ]; then
		printf "registry \"%s\"\ncafile \"%s\"\n" \
		    "$1://$2/npm/" "$NODE_EXTRA_CA_CERTS" >.yarnrc &&
		yarn add --cache-folder cache tiny
	    else
		: >yarn.lock &&
		printf "%s: %s\n" npmRegistryServer "$1://$2/npm" \
		    unsafeHttpWhitelist "[$2]" nodeLinker node-modules \
		    globalFolder ./global enableTelemetry false \
		    httpRetry 0 >.yarnrc.yml && yarn add tiny
	    fi >log 2>&1 && echo "hello from $2" || { cat log; false; }'
	pnpm='rm -rf "pnpm-$2" && mkdir "pnpm-$2" && cd "pnpm-$2" &&
	    echo "{\"name\":\"own\",\"version\":\"1.0.0\"}" >package.json &&
	    printf "registry=%s\ncafile=%s\nfetch-retries=0\n" \
		"$1://$2/npm/" "$NODE_EXTRA_CA_CERTS" >.npmrc &&
	    pnpm add --store-dir=$PWD/store tiny >log 2>&1 &&
	    echo "hello from $2" || { cat log; false; }'
	rsync='rsync "rsync://$2/files/hello" "rsync-$2" && cat "rsync-$2"'
	ssh_there='ssh -o StrictHostKeyChecking=no -o BatchMode=yes
	    -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR'
	# shellcheck disable=SC2086  # on one line
	ssh_there=$(echo $ssh_there)
	ssh="$ssh_there"' -i "$KEY" "root@$2" echo hello from "$2"'
	gitssh='rm -rf "ssh-$2" && export GIT_SSH_COMMAND="'"$ssh_there"' -i $KEY" &&
	    git clone -q "root@$2:$REPOSITORY" "ssh-$2" && cd "ssh-$2" &&
	    git -c user.name=a -c user.email=a@b commit -q --allow-empty -m "$2" &&
	    git push -q -f origin "HEAD:refs/heads/from-$2" && echo "hello from $2"'
	chromium='chromium --headless --no-sandbox --disable-gpu \
	    --user-data-dir="$PWD/chromium-$2" --ignore-certificate-errors \
	    --dump-dom "$1://$2/hello" 2>chromium.err | grep -a hello'
}
scripts

# What a tool needs beside its name.
has()
{
	case $1 in
	urllib) [ -x /usr/bin/python3 ] ;;
	requests | httpx | aiohttp)
		/usr/bin/python3 -c "import $1" 2>/dev/null ;;
	pip) /usr/bin/python3 -m pip --version >/dev/null 2>&1 ;;
	# The first with registries that are read over HTTP.
	cargo) command -v cargo && cargo --version | awk '{
		split($2, v, "."); new = v[1] > 1 || v[2] >= 68
	} END { exit !new }' ;;
	curl6) command -v curl && grep -q ' lo$' /proc/net/if_inet6 ;;
	java | java6) command -v java && command -v javac && command -v keytool ;;
	node) node -e 'fetch' 2>/dev/null ;;
	gitssh | ssh) [ -n "$sshd" ] ;;
	# What is called so beside Node may be another program.
	yarn | pnpm) $1 --version >/dev/null 2>&1 ;;
	*) command -v "$1" ;;
	esac >/dev/null
}

# --- each of them ---------------------------------------------------------------

servers=
chmod 755 "$tmp"
mkdir -p "$tmp/bin" "$tmp/www"
install -m 755 "$SBXRUN" "$builddir/sbx-proxy" "$tmp/bin"
[ -z "${ENDED-}" ] || install -m 755 "$builddir/sbx-tls" "$tmp/bin"
certificates
machine
repository
serve
serve_files
serve_shells
SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
NODE_EXTRA_CA_CERTS=$tmp/ca.pem
PIP_CERT=$tmp/authorities
KEY='' REPOSITORY=$tmp/www/repo.git
export NODE_EXTRA_CA_CERTS PIP_CERT SSL_CERT_FILE KEY REPOSITORY

{
	cat <<-POLICY
	sbx 1
	profile tools extends coding {
	    allow network domain {
		"one.example"  "two.example" ${ENDED:+* /**}
	    }
	    allow network domain { "one.example:22"  "two.example:22" }
	    allow network domain { "one.example:873"  "two.example:873" }
	    allow env { NODE_EXTRA_CA_CERTS PIP_CERT SSL_CERT_FILE PYTHONPATH }
	    allow env { TRUST CLASSES KEY REPOSITORY RUSTUP_HOME }
	POLICY
	echo "    allow read { $tmp/ca.pem $tmp/authorities $tmp/java }"
	[ -z "${NETWORK_EXEC-}" ] || echo "    allow exec { $NETWORK_EXEC }"
	echo '}'
} >"$tmp/tools.sbx"
"$SBXC" "$tmp/tools.sbx" -o "$tmp/tools.bin" || exit 99

if has java; then
	mkdir "$tmp/java"
	CLASSES=$tmp/java TRUST=$tmp/java/trust.p12
	export CLASSES TRUST
	cat >"$tmp/java/Get.java" <<-'JAVA'
	import java.net.URI;
	import java.net.http.*;
	public class Get {
		public static void main(String[] a) throws Exception {
			System.out.println(HttpClient.newHttpClient().send(
			    HttpRequest.newBuilder(URI.create(a[0])).build(),
			    HttpResponse.BodyHandlers.ofString()).body());
		}
	}
	JAVA
	keytool -importcert -noprompt -storetype PKCS12 -storepass changeit \
	    -alias sbx -file "$tmp/ca.pem" -keystore "$TRUST" 2>/dev/null &&
	javac -d "$tmp/java" "$tmp/java/Get.java" || exit 99
fi

# there COMMAND...: as the user whose turn it is, in the workspace.
there()
{
	(cd "$home/ws" && tap_as "$uid" env HOME="$home" timeout 120 "$@")
}

# got SCHEME HOST TOOL: what the tool prints in the sandbox.
got()
{
	eval "script=\$$3"
	# shellcheck disable=SC2154  # by eval
	# Through a pipe: in a user namespace nobody knows who owns /var/tmp, and so
	# no policy below it is believed.  The pipe is the user's own: the kernel
	# does not open that of another one again.
	# shellcheck disable=SC2016  # for the inner shell
	there sh -c 'policy=$1; shift; cat "$policy" | "$@"' sh "$tmp/tools.bin" \
	    "$tmp/bin/sbxrun" ${NETWORK_OPTIONS-} -l "$level" /dev/stdin -- \
	    sh -c "$script" - "$1" "$2" 2>&1
}

try()
{
	tool=$1 scheme=$2
	for name in one.example two.example; do
		answer=$(got "$scheme" $name "$tool")
		case $answer in
		*"hello from $name"*) tap_ok "uid $uid, $level: $tool: $scheme://$name" ;;
		*) tap_not_ok "uid $uid, $level: $tool: $scheme://$name" "$answer" ;;
		esac
	done
	: >"$tmp/asked"
	answer=$(got "$scheme" three.example "$tool")
	status=$?
	# Who speaks HTTP with the proxy may take its refusal for a page.
	case $status:$answer in
	*"hello from"*) status=0 ;;
	0:*"no rule allows it"*) status=1 ;;
	esac
	if [ $status -ne 0 ] && [ ! -s "$tmp/asked" ]; then
		tap_ok "uid $uid, $level: $tool: $scheme://three.example is refused"
	else
		tap_not_ok "uid $uid, $level: $tool: $scheme://three.example is refused" \
		    "$answer $(cat "$tmp/asked")"
	fi
	[ -z "${NETWORK_SHOW-}" ] || echo "# $answer"
}

# try_all SCHEMES TOOL...
try_all()
{
	schemes=$1
	shift
	for tool in "$@"; do
		case " ${tools:-$tool} " in
		*" $tool "*) ;;
		*) continue ;;
		esac
		# What root has in the home directory is not there.
		if ! (HOME=$home && export HOME && has "$tool"); then
			tap_lacks "uid $uid, $level: $tool" "no $tool here"
			continue
		fi
		for scheme in $schemes; do
			try "$tool" "$scheme"
		done
	done
}

major()
{
	{ "$1" --version 2>/dev/null || echo 99; } | cut -d. -f1
}

# What takes a proxy from the environment, and what needs level full.
each_level()
{
	web='curl wget git urllib requests httpx npm pip cargo go'
	for level in ${NETWORK_LEVELS:-full standard}; do
		# shellcheck disable=SC2086  # words
		try_all "$both" $web
		try_all rsync rsync
		# Version 2 of yarn wants to know the interfaces, and pnpm 12
		# keeps its locks in /tmp, whatever TMPDIR says.
		tap_short || [ "$level" = full ] || [ "$(major yarn)" != 1 ] ||
			try_all https yarn
		tap_short || [ "$level" = full ] ||
		    [ "$(major pnpm)" -gt 10 ] || try_all https pnpm
		[ "$level" = full ] || continue
		tap_short || try_all https yarn pnpm chromium
		try_all "$both" curl6 aiohttp node java java6
		try_all ssh ssh gitssh
	done
}

users=$(id -u)
[ "$users" != 0 ] || tap_short || ! grep -q ' 4294967295$' /proc/self/uid_map ||
    users="0 $ORDINARY"
both='http https'
for uid in $users; do
	home=$tmp/home-$uid
	mkdir -p "$home/.npm" "$home/.cache" "$home/ws"
	KEY=$home/ws/key
	[ -z "$sshd" ] || install -m 600 "$tmp/key" "$KEY"
	[ "$uid" = "$(id -u)" ] || {
		chown -R "$uid:$uid" "$home"
		! has java || chmod -R a+rX "$tmp/java"
		# One of each sort is enough for a second user, unless asked.
		tools=${tools:-curl git npm rsync gitssh} both=https
	}
	each_level
done
tap_done

#!/bin/sh
# sbxrun --explain beside strace(1), as TAP: no denial is missed, and none is told
# that was not.  At both levels; for an ordinary user, since a superuser could do
# everything outside.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
for program in strace python3; do
	command -v $program >/dev/null && continue
	tap_lacks 'the oracle' "there is no $program"
	tap_done
	exit
done
base=$tmp
tap_programs "$SBXRUN" "$SBXC" "$srcdir/tests/kernel/explain_oracle.py"
policy plain workspace-write
policy tools coding
uid=$ORDINARY
[ "$(id -u)" -eq 0 ] || uid=$(id -u)
home=$base/home ws=$base/home/ws

prepare()
{
	rm -rf "$home"
	mkdir -p "$ws" "$home/.ssh" "$home/data" "$home/tools"
	echo key >"$home/.ssh/id_rsa"
	echo text >"$home/data/file"
	printf '#!/bin/sh\n' >"$home/tools/tool"
	chmod 755 "$home/tools/tool"
	printf '[user]\n\tname = x\n\temail = x@y\n' >"$home/.gitconfig"
	: >"$base/log"
	chmod 666 "$base/log"
	[ "$(id -u)" -ne 0 ] || chown -R "$uid:$uid" "$home"
}

# compared POLICY COMMAND
compared()
{
	prepare
	(cd "$ws" && as "$uid" python3 "$base/explain_oracle.py" "$base/log" \
	    "$sbxrun" "$level" "$base/$1.bin" sh -c "$2") \
	    >"$base/said" 2>&1 </dev/null
	tap_is "$level: $1: $2" 'missed: false:' "$(python3 -c '
import json, sys
for line in open(sys.argv[1]):
    line = json.loads(line)
    print(" ".join(["missed:"] + [str(x) for x in line["missed"]] +
                   ["false:"] + [str(x) for x in line["false"]]))
' "$base/log")"
}

commands()
{
	compared "$1" 'cat ~/.ssh/id_rsa ~/data/file /absent ~/absent'
	compared "$1" 'echo x >~/data/new; rm ~/data/file; mkdir ~/d'
	# shellcheck disable=SC2088  # it is the command's to expand
	compared "$1" '~/tools/tool; mv ~/data/file .; ln -s x ~/data/l'
	compared "$1" 'git init -q r && cd r && git status && echo x >f &&
	    git add f && git commit -qm x'
	compared "$1" 'git config --global a.b c; ls -la ~ ~/data /'
	compared "$1" 'python3 -c "import json, ssl, sqlite3"'
	compared "$1" 'unshare -U true; cd ~/data; cd /tmp; mktemp -d'
	compared "$1" 'find ~ -name x; cp -r /etc/default . ; chmod 600 ~/data'
}

# calls OPTIONS: those by which sbxrun hears of a call of the command.  The policy
# has a listener without --explain, too, but not for what `true` calls.
calls()
{
	prepare
	# shellcheck disable=SC2086  # it may be none
	(cd "$ws" && as "$uid" strace -f -qq -o "$base/log" -e \
	    trace=seccomp,ioctl,process_vm_readv,sendmsg,recvmsg \
	    "$base/sbxrun" $1 -l full "$base/plain.bin" -- true) \
	    >"$base/said" 2>&1 </dev/null
	grep -o -e SECCOMP_IOCTL_NOTIF_RECV -e process_vm_readv "$base/log" |
	    sort -u
}

tap_levels full
if [ -n "$levels" ]; then
	tap_found 'the calls of a listener are seen' \
	    "$(calls --explain | grep process_vm_readv)"
	tap_empty 'without the option there are none' "$(calls '')"
fi
tap_levels standard full
for level in $levels; do
	sbxrun=$base/sbxrun
	commands plain
	commands tools
done
# One that forgets what it has found.
cat >"$base/forgets" <<END
#!/bin/sh
"$base/sbxrun" "\$@"
status=\$?
for word; do
	case \$word in
	--explain=*) : >"\${word#*=}" ;;
	esac
done
exit \$status
END
chmod 755 "$base/forgets"
prepare
(cd "$ws" && as "$uid" python3 "$base/explain_oracle.py" "$base/log" \
    "$base/forgets" standard "$base/plain.bin" cat "$home/data/file") \
    >"$base/said" 2>&1
tap_found 'the check can fail' \
    "$(grep '"missed": \[\["read", ".*/data/file", "EACCES"\]\]' "$base/log")"
tap_done

#!/bin/sh
# sbxc export: the unit of systemd, and what is the policy's in the scripts for
# bubblewrap and Docker, beside what is expected; that systemd reads each line as
# it is meant, and no text of a policy becomes a line of its own.
#
#	tests/golden/export.sh --update	rewrite what is expected

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
here=$srcdir/tests/golden/export
tap_begin
cp "$here"/*.sbx "$tmp"
cd "$tmp" || exit 99

unit()
{
	"$SBXC" export -O systemd --arch x86_64 -w /src/app --home /home/ada \
	    "$@" unit.sbx
}

unit >out 2>&1
tap_is 'what is lost is an error' 1 $?
tap_empty 'and nothing is written' "$(grep Service out)"
unit --lossy >unit.conf 2>unit.err
tap_is 'with --lossy it is written' 0 $?
for file in unit.conf unit.err; do
	[ "${1-}" != --update ] || cp "$file" "$here"
	tap_empty "$file: as it was" "$(diff -u "$here/$file" $file 2>&1)"
done
tap_empty 'each line is a comment, a setting or the section' \
    "$(grep -vE '^(#|[A-Z][A-Za-z]*=|\[Service\]$)' unit.conf)"

# shown TARGET FILE: what is the policy's.  The rest of a script is the same for all
# policies; of Docker's filter, which is long, the first lines, and a sum of what the
# arguments of calls are, which are many.
shown()
{
	case $1 in
	bwrap) sed '/^# shellcheck shell=/,$d' "$2" ;;
	docker) sed '/^filter=/,$d' "$2" ;;
	systemd) cat "$2" ;;
	*) sed -n '1,24p' "$2" ;;
	esac
	case $1 in
	docker | oci-seccomp) grep -E \
	    '"(index|value|valueTwo|op|action|errnoRet)"' "$2" | cksum ;;
	esac
}

# open.sbx has what unit.sbx has not, local.sbx a network of its own; arm.sbx is
# open.sbx on the other machine.
cp open.sbx arm.sbx
for name in unit open arm local all; do
	arch=x86_64
	[ $name != arm ] || arch=aarch64
	for target in bwrap docker oci-seccomp systemd; do
		[ $name.$target != unit.systemd ] || continue
		"$SBXC" export -O $target --lossy --arch $arch -w /src/app \
		    --home /home/ada $name.sbx >out 2>$name.$target.err
		tap_is "$name: $target: with --lossy it is written" 0 $?
		shown $target out >$name.$target
		for file in $name.$target $name.$target.err; do
			[ "${1-}" != --update ] || cp "$file" "$here"
			tap_empty "$file: as it was" \
			    "$(diff -u "$here/$file" "$file" 2>&1)"
		done
	done
done

# loses TARGETS CODE WHY RULE: what no target of the list can say is told of each.
loses()
{
	loses_code=$2 loses_why=$3 loses_rule=$4
	printf 'sbx 1\nprofile one {\n%s\n}\n' "$loses_rule" >one.sbx
	for target in oci-seccomp bwrap docker systemd; do
		"$SBXC" export -O $target --lossy --arch x86_64 -w /src one.sbx \
		    >out 2>err
		case " $1 " in
		*" $target "*) tap_found "$target: $loses_rule" \
		    "$(grep "$loses_why .*$loses_code" err)" ;;
		*) tap_empty "$target: $loses_rule" \
		    "$(grep "$loses_why" err)" ;;
		esac
	done
}
all='oci-seccomp bwrap docker systemd'
narrower='\[SBX1002\]' weaker='\[SBX1001\]'
loses "$all" "$narrower" 'knows no names of hosts,' \
    'allow network domain a.example'
loses "$all" "$narrower" 'has no rules about addresses,' \
    'allow network connect 10.0.0.5:80'
loses "$all" "$narrower" 'starts no proxy,' 'allow network proxy tcp 3128'
loses "$all" "$narrower" 'has no rules about ports,' 'allow network listen tcp 80'
loses "$all" "$narrower" 'cannot tell sockets apart' 'allow socket /run/x'
loses "$all" "$narrower" 'no AF_UNIX socket' 'allow abstract anywhere'
loses "$all" "$weaker" 'so it cannot deny' 'deny spawn'
loses oci-seccomp "$narrower" 'in which network it runs,' \
    'allow network loopback'
loses 'bwrap docker' "$narrower" 'the processes outside' 'allow signal anywhere'
loses "$all" "$weaker" 'nobody is told' 'watch /etc/hosts'
loses oci-seccomp "$weaker" 'does not know variables,' 'allow env PATH'
loses '' "$weaker" 'does not know variables,' 'allow env *'
loses oci-seccomp "$narrower" 'sets no' 'set env CI = 1'
loses bwrap "$weaker" 'would count all' 'limit processes 7'
loses 'bwrap systemd docker' "$weaker" 'nothing counts' 'limit output 1MiB'
loses systemd "$narrower" 'has variables of its' 'allow env PATH'
loses systemd "$weaker" 'takes whole names' 'prefer deny env A_*'
loses '' "$weaker" 'takes whole names' 'deny env A'
loses docker "$weaker" 'stops no container' 'limit timeout 1m'
loses oci-seccomp "$weaker" 'a filter limits' 'limit memory 1GiB'
loses "$all" "$weaker" 'applies no' 'require landlock 1'
# Of a socket systemd asks the family alone; the others ask what the policy does.
wide='whatever their type and protocol: AF_INET AF_INET6'
loses systemd "$weaker" "$wide AF_NETLINK" 'allow network full'
loses systemd "$weaker" "$wide" 'allow network loopback'
loses systemd "$weaker" "$wide AF_NETLINK" 'allow network full
allow syscalls socket'
loses '' "$weaker" 'whatever their type' 'allow exec /usr'
loses '' "$weaker" 'whatever their type' 'allow network connect tcp 443'
loses '' "$weaker" 'whatever their type' 'allow socket /run/x'
# What lies in a place that may be executed is no loss, unless it begins alike.
# shellcheck disable=SC2016 # names of policies
{
	run='from being executed'
	loses '' "$weaker" "$run" 'allow exec /
allow read /srv'
	loses '' "$weaker" "$run" 'allow exec /usr
allow read /usr/share/x'
	loses 'bwrap docker' "$weaker" "$run" 'allow exec /usr
allow read /usrx'
	loses '' "$weaker" 'the scratch directory is new' 'allow exec /usr
deny write ${tmp}'
	loses 'bwrap docker' "$weaker" 'which processes /proc' 'allow read /proc
deny read /proc/self'
}
# A filter sees no paths, which is a loss unless all of them are open.
loses '' "$weaker" 'sees no paths,' 'allow exec /
allow write /'
loses oci-seccomp "$weaker" 'sees no paths,' 'allow exec /
allow write / except /srv'
loses oci-seccomp "$weaker" 'sees no paths,' 'allow exec /
allow write /srv'
# shellcheck disable=SC2016 # names of policies
for rule in 'allow write /
deny read /srv' 'allow exec /srv' 'allow read /' 'allow write ~
allow exec ~' 'allow write ${workspace}' 'allow exec glob "/*"
allow write glob "/*"'; do
	loses oci-seccomp "$weaker" 'sees no paths,' "$rule"
done
loses '' "$weaker" 'sees no paths,' 'allow exec /
allow write /
on aarch64 { deny read /srv }'
# What is for another machine is not told.
loses '' "$weaker" 'nobody is told' 'on aarch64 { watch /etc/hosts }'
tap_is 'rules of one group are told as one' 1 "$(
    printf 'sbx 1\nprofile two {\nuse offline\nset env A = 1\n}\n' >two.sbx
    "$SBXC" export -O oci-seccomp --lossy two.sbx 2>&1 >out |
	grep -c "'set env .* more of 'offline': a filter sets no")"

# writes TARGET PATTERN RULE...: a line that is written for a policy.
writes()
{
	writes_target=$1 writes_line=$2
	shift 2
	{
		printf 'sbx 1\nprofile one {\n'
		printf '%s\n' "$@" '}'
	} >one.sbx
	tap_found "$writes_target: $*: $writes_line" "$(
	    "$SBXC" export -O "$writes_target" --lossy --arch x86_64 \
		-w '/src/a%b' one.sbx 2>err | grep -e "$writes_line")"
}
# shellcheck disable=SC2016 # names of policies
{
	writes bwrap '^scratch=false$' 'allow exec /usr' 'deny read ${tmp}/x'
	writes bwrap '^scratch=true$' 'allow exec /usr' 'allow write ${tmp}'
	writes bwrap 'allow read /srv/a, and 1 more:' \
	    'let s = { /srv/a  /srv/b }' 'allow read ${s}'
	writes systemd '^WorkingDirectory=/src/a%%b$' 'allow read ${workspace}'
}

# What systemd has no way to write is told, and not written.
tab=$(printf '\t') delete=$(printf '\177')
for place in "/src/a${tab}b" "/src/a${delete}b" "/src/a b" '/src/a\b'; do
	# shellcheck disable=SC2016 # names of policies
	printf 'sbx 1\nprofile one {\n%s\n%s\n}\n' \
	    'allow write ${workspace}' 'set env A = ${workspace}' >one.sbx
	"$SBXC" export -O systemd --lossy -w "$place" one.sbx >out 2>err
	tap_empty "no directory to work in: $place" "$(grep WorkingDir out)"
	case $place in
	*[[:cntrl:]]*)
		tap_found "told: $place" "$(grep 'has no such character' err)"
		tap_empty "not written: $place" "$(grep -v '^#' out |
		    grep /src)" ;;
	*)
		tap_empty "not told: $place" "$(grep 'no such character' err)"
		tap_is "written: $place" 2 "$(grep -c '/src/a' out)" ;;
	esac
done
writes systemd '^InaccessiblePaths=-/dev/null$' 'allow exec /usr'
writes systemd '^RestrictAddressFamilies=.* AF_INET6 AF_NETLINK$' \
    'allow network full'

if command -v systemd-analyze >/dev/null; then
	# It says nothing of a unit that it reads whole, but for the machine.
	{
		printf '[Unit]\nDescription=sbx\n'
		cat unit.conf
		printf 'ExecStart=/bin/true\n'
	} >sbx-export.service
	said()
	{
		systemd-analyze verify "$tmp/$1" 2>&1 | grep -F "$1:"
	}
	tap_empty 'systemd reads it without a word' "$(said sbx-export.service)"
	sed 's/^LockPersonality=yes/LockPersonality=perhaps/' \
	    sbx-export.service >sbx-bad.service
	tap_found 'systemd tells a bad line' "$(said sbx-bad.service)"
else
	tap_skip 'systemd reads it without a word' 'no systemd-analyze'
fi
tap_done

#!/bin/sh
# sbxc export: the filter for containers beside what is expected, and what is lost.
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

"$SBXC" export -O oci-seccomp --arch x86_64 unit.sbx >out 2>&1
tap_is 'what is lost is an error' 1 $?
tap_empty 'and nothing is written' "$(grep defaultAction out)"

# open.sbx has what unit.sbx has not, local.sbx a network of its own; arm.sbx is
# open.sbx on the other machine.  Of the filter, which is long, the first lines, and
# a sum of what the arguments of calls are, which are many.
cp open.sbx arm.sbx
for name in unit open arm local all; do
	arch=x86_64
	[ $name != arm ] || arch=aarch64
	"$SBXC" export -O oci-seccomp --lossy --arch $arch $name.sbx >out \
	    2>$name.oci-seccomp.err
	tap_is "$name: with --lossy it is written" 0 $?
	{
		sed -n '1,24p' out
		grep -E '"(index|value|valueTwo|op|action|errnoRet)"' out |
		    cksum
	} >$name.oci-seccomp
	for file in $name.oci-seccomp $name.oci-seccomp.err; do
		[ "${1-}" != --update ] || cp "$file" "$here"
		tap_empty "$file: as it was" \
		    "$(diff -u "$here/$file" "$file" 2>&1)"
	done
done

# loses CODE WHY RULE: a rule that a filter cannot say is reported; with the code
# "none" it is not.
loses()
{
	printf 'sbx 1\nprofile one {\n%s\n}\n' "$3" >one.sbx
	"$SBXC" export -O oci-seccomp --lossy --arch x86_64 one.sbx >out 2>err
	case $1 in
	none) tap_empty "not lost: $3" "$(grep "$2" err)" ;;
	*) tap_found "lost: $3" "$(grep "$2 .*$1" err)" ;;
	esac
}
narrower='\[SBX1002\]' weaker='\[SBX1001\]'
loses "$narrower" 'knows no names of hosts,' \
    'allow network domain a.example'
loses "$narrower" 'has no rules about addresses,' \
    'allow network connect 10.0.0.5:80'
loses "$narrower" 'starts no proxy,' 'allow network proxy tcp 3128'
loses "$narrower" 'has no rules about ports,' 'allow network listen tcp 80'
loses "$narrower" 'cannot tell sockets apart' 'allow socket /run/x'
loses "$narrower" 'no AF_UNIX socket' 'allow abstract anywhere'
loses "$weaker" 'so it cannot deny' 'deny spawn'
loses "$narrower" 'in which network it runs,' \
    'allow network loopback'
loses "$weaker" 'nobody is told' 'watch /etc/hosts'
loses "$weaker" 'does not know variables,' 'allow env PATH'
loses none 'does not know variables,' 'allow env *'
loses "$narrower" 'sets no' 'set env CI = 1'
loses "$weaker" 'a filter limits' 'limit memory 1GiB'
loses "$weaker" 'applies no' 'require landlock 1'
# A filter sees no paths, which is a loss unless all of them are open.
loses none 'sees no paths,' 'allow exec /
allow write /'
loses "$weaker" 'sees no paths,' 'allow exec /
allow write / except /srv'
loses "$weaker" 'sees no paths,' 'allow exec /
allow write /srv'
# shellcheck disable=SC2016 # names of policies
for rule in 'allow write /
deny read /srv' 'allow exec /srv' 'allow read /' 'allow write ~
allow exec ~' 'allow write ${workspace}' 'allow exec glob "/*"
allow write glob "/*"'; do
	loses "$weaker" 'sees no paths,' "$rule"
done
loses none 'sees no paths,' 'allow exec /
allow write /
on aarch64 { deny read /srv }'
# What is for another machine is not told.
loses none 'nobody is told' 'on aarch64 { watch /etc/hosts }'
tap_is 'rules of one group are told as one' 1 "$(
    printf 'sbx 1\nprofile two {\nuse offline\nset env A = 1\n}\n' >two.sbx
    "$SBXC" export -O oci-seccomp --lossy two.sbx 2>&1 >out |
	grep -c "'set env .* more of 'offline': a filter sets no")"

tap_done

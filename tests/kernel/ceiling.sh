#!/bin/sh
# The ceiling of a machine, as TAP, in a mount namespace with an /etc of its own: what
# is wrong with it ends every run; no policy, command line or environment gets more
# than it allows, at levels full and standard.

# The inner shell expands the rest.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

if [ "${CEILING-}" != inside ]; then
	CEILING=inside
	export CEILING
	[ "$(id -u)" -ne 0 ] || exec unshare -m --propagation private sh "$0"
	unshare -Urm true 2>/dev/null || {
		tap_lacks ceiling 'no namespaces for an /etc of its own'
		tap_done
	}
	exec unshare -Urm --propagation private sh "$0"
fi

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
tap_programs "$SBXRUN" "$SBXC" "${builddir:?}/sbx-proxy"
home=$tmp/home
mkdir -p "$tmp/etc" "$home/ws/locked" "$home/other"
cp -r /etc/passwd /etc/group /etc/ld.so.cache /etc/alternatives "$tmp/etc" \
    2>/dev/null
mount -t tmpfs none /etc || exit 99
cp -r "$tmp/etc/." /etc
echo secret >"$home/other/file"
echo text >"$home/ws/locked/file"
user=0
[ "$(awk '{ print $3; exit }' /proc/self/uid_map)" = 1 ] || user=$ORDINARY
chown -R "$user" "$home"
# No variable says where the home is that a ceiling speaks of.
echo "user:x:$user:$user::$home:/bin/sh" >/etc/passwd

# makes NAME STATEMENT...: compiles a profile of these alone, to NAME.bin here.
makes()
{
	printf 'sbx 1\nprofile top {\n' >"$1.sbx"
	name=$1
	shift
	printf '    %s\n' "$@" '}' >>"$name.sbx"
	"$SBXC" build -o "$name.bin" "$name.sbx" 2>"$tmp/err" || {
		cat "$tmp/err"
		exit 99
	}
}

# ceiling STATEMENT...: puts one there.
ceiling()
{
	rm -rf /etc/sbx
	mkdir /etc/sbx
	cd /etc/sbx && makes ceiling "$@"
	cd "$tmp" || exit 99
}

# The same for ceiling_pairs.py.
cat >"$tmp/asked" <<EOF
user=\$1
shift
[ "\$user" -eq \$(id -u) ] || set -- setpriv --reuid="\$user" \\
    --regid="\$user" --clear-groups sh -c 'cat | "\$@"' sh "$tmp/sbxrun" "\$@"
[ "\$user" -ne \$(id -u) ] || set -- "$tmp/sbxrun" "\$@"
exec "\$@"
EOF

# run POLICY ARGUMENT...: as the user, in the workspace.  The policy comes through
# a pipe: where owners are hidden, no directory above a file is trusted.
run()
{
	run_policy=$tmp/$1.bin
	shift
	cd "$home/ws" || exit 99
	as "$user" SECRET=1 OTHER=2 sh -c 'cat "$0" | "$@"' "$run_policy" \
	    "$tmp/sbxrun" "$@" 2>&1
}

# refuses NAME PATTERN: each run ends with one line, and nothing is started.
refuses()
{
	text=$(run wide -l standard /dev/stdin -- echo started)
	status=$?
	if [ $status -eq 125 ] && [ "$(echo "$text" | grep -c .)" -eq 1 ] &&
	    echo "$text" | grep -Eq "$2"; then
		tap_ok "refused: $1"
	else
		tap_not_ok "refused: $1" "$status: $text"
	fi
}

cd "$tmp" || exit 99
makes wide 'allow write /' 'allow write /dev/null' 'allow exec /' 'allow env *' \
    'allow network full' 'limit timeout 60m'
policy everything full-access

# --- the file ---------------------------------------------------------------

ceiling 'allow read /' 'allow exec /usr'
chmod 666 /etc/sbx/ceiling.bin
refuses 'others may write it' "root's"
chmod 644 /etc/sbx/ceiling.bin
chmod 777 /etc/sbx
refuses 'others may write its directory' "root's"
chmod 755 /etc/sbx
cp /etc/sbx/ceiling.bin "$tmp/good"
printf x | dd of=/etc/sbx/ceiling.bin bs=1 seek=99 conv=notrunc 2>/dev/null
refuses 'one byte is another' checksum
: >/etc/sbx/ceiling.bin
refuses 'it is empty' length
cp /etc/sbx/ceiling.sbx /etc/sbx/ceiling.bin
refuses 'it is a text' 'no compiled|not a compiled'
rm /etc/sbx/ceiling.bin
mkdir /etc/sbx/ceiling.bin
refuses 'it is a directory' 'no regular file'
rmdir /etc/sbx/ceiling.bin
mkfifo /etc/sbx/ceiling.bin
refuses 'it is a pipe' 'no regular file'
rm /etc/sbx/ceiling.bin
ln -s "$tmp/good" /etc/sbx/ceiling.bin
refuses 'it is a link' 'cannot be read'
if [ "$user" -ne 0 ]; then
	rm /etc/sbx/ceiling.bin
	cp "$tmp/good" /etc/sbx/ceiling.bin
	chmod 600 /etc/sbx/ceiling.bin
	refuses 'it cannot be read' 'cannot be read'
	chmod 644 /etc/sbx/ceiling.bin
	chown "$user" /etc/sbx/ceiling.bin
	refuses "it is the user's" "root's"
fi

# --- what it leaves ---------------------------------------------------------

question='
t() { "$@" 2>/dev/null; }
t test -r ../other/file && t cat ../other/file && echo other
t test -r /etc/passwd && t cat /etc/passwd >/dev/null && echo passwd
t sh -c "echo x >new" && echo write
t sh -c "echo x >locked/new" && echo locked
t cp /bin/true ./own && t ./own && echo own
t sh -c "echo x >../other/new" && echo outside
echo ${SECRET-} ${OTHER-}'

# answers NAME POLICY WANTED [OPTION...]
answers()
{
	name=$1 which=$2 wanted=$3
	shift 3
	for level in $levels; do
		got=$(run "$which" -l "$level" "$@" /dev/stdin -- sh -c "$question" |
		    grep -v warning: | tr '\n' ' ')
		rm -f "$home/ws/new" "$home/ws/own" "$home/ws/locked/new" \
		    "$home/other/new"
		tap_is "$name, $level" "$wanted " "$got"
	done
}

tap_levels full standard
rm -rf /etc/sbx
answers 'without one' wide 'secret other passwd write locked own outside 1 2'
ceiling 'allow exec /usr' 'allow read /etc/ld.so.cache' 'allow read /bin' \
    'allow write ~/ws/locked' 'allow read ~/ws' 'allow write /dev/null' \
    'allow env *' 'deny env SECRET' 'limit timeout 20m' 'limit open-files 64'
answers 'a policy that is wider' wide 'locked 2'
answers 'rules of the command line' wide 'locked 2' --allow 'read ~' \
    --allow 'env SECRET'
answers 'one that allows everything' everything 'locked 2'
makes narrow 'allow exec /usr' 'allow read /bin' \
    'allow read /etc/ld.so.cache' 'allow write /dev/null' 'allow env *' \
    'allow read ~/ws' 'deny env OTHER'
answers 'one that is narrower' narrow ''
tap_is 'the lower of two limits' 64 \
    "$(run wide /dev/stdin -- sh -c 'ulimit -n')"
for limit in open-files=none open-files=65 timeout=none; do
	text=$(run wide --limit $limit /dev/stdin -- echo started)
	case $text in
	*/etc/sbx/ceiling.sbx:*--limit\ may\ only*) tap_ok "--limit $limit" ;;
	*) tap_not_ok "--limit $limit" "$text" ;;
	esac
done
tap_is 'a limit that is lower' 63 \
    "$(run wide --limit open-files=63 /dev/stdin -- sh -c 'ulimit -n')"

# What the caller chooses.
text=$(run wide -l minimal /dev/stdin -- echo started)
case $text in
*started*) tap_not_ok '-l minimal, where files are not restricted' "$text" ;;
*) tap_ok '-l minimal, where files are not restricted' ;;
esac
ceiling 'allow exec /usr' 'allow read /etc/ld.so.cache' 'allow read /bin' \
    'allow read ~/ws' 'allow read ${runtime}' 'allow write /dev/null'
for level in $levels; do
	got=$(cd "$home/ws" && as "$user" HOME=/ XDG_RUNTIME_DIR=/ sh -c '
	    cat "$0/wide.bin" | "$0/sbxrun" -l "$1" /dev/stdin -- \
	    sh -c "cat $2/other/file $2/ws/locked/file" 2>/dev/null' \
	    "$tmp" "$level" "$home" | grep -v warning:)
	tap_is "HOME and XDG_RUNTIME_DIR are /, $level" text "$got"
done
cp /etc/passwd "$tmp/passwd"
echo "user:x:$user:$user:::/bin/sh" >/etc/passwd
case $(run wide /dev/stdin -- echo started) in
*'this user has no home here'*) tap_ok 'a home without a name, and HOME' ;;
*) tap_not_ok 'a home without a name, and HOME' ;;
esac
cp "$tmp/passwd" /etc/passwd

# A place that is read, and one that may be executed; neither alone is both.
ceiling 'allow exec /usr' 'allow read /etc/ld.so.cache' 'allow read /bin' \
    'allow read ~ except ~/other' 'allow env *' 'allow write /dev/null'
makes some 'allow exec /usr' 'allow read /bin' \
    'allow read /etc/ld.so.cache' 'allow write /dev/null' \
    'allow write ~ except ~/ws/locked' 'allow exec ~/ws'
answers 'two that overlap' some ''
ceiling 'require level full' 'allow read /' 'allow exec /'
text=$(run wide -l standard /dev/stdin -- echo started)
case $text in
*/etc/sbx/ceiling.sbx:3:*'higher level'*) tap_ok 'its level is the least' ;;
*) tap_not_ok 'its level is the least' "$text" ;;
esac

# --- the network ---------------------------------------------------------------

# reaches NAME WANTED: which of two ports of this machine a command may connect to.
ceiling 'allow read /' 'allow exec /' 'allow write /dev/null' \
    'allow network connect tcp 4001-4002'
makes ports 'allow read /' 'allow exec /' 'allow write /dev/null' \
    'allow network connect tcp 4002-4003'
makes none 'allow read /' 'allow exec /' 'allow write /dev/null'
for which in ports wide none everything; do
	case $which in
	none) wanted='13 13 13' ;;
	ports) wanted='13 111 13' ;;
	*) wanted='111 111 13' ;;
	esac
	got=$(run "$which" -l standard /dev/stdin -- perl -MSocket -e '
	for (4001 .. 4003) {
		socket my $s, AF_INET, SOCK_STREAM, 0 or
		    (printf("%d ", $!), next);
		connect $s, sockaddr_in $_, inet_aton "127.0.0.1";
		printf "%d ", $!;
	}')
	tap_is "ports of $which" "$wanted " "$got"
done

# --- options ----------------------------------------------------------------

# told NAME PATTERN ARGUMENT...: such a run is refused, and says so.
told()
{
	name=$1 pattern=$2
	shift 2
	text=$(run wide "$@" /dev/stdin -- echo started)
	case $text in
	*started*) tap_not_ok "$name" "$text" ;;
	*$pattern*) tap_ok "$name" ;;
	*) tap_not_ok "$name" "$text" ;;
	esac
}

ceiling 'allow read /' 'allow exec /' 'allow write /dev/null' 'allow env *'
printf '%s\n' '# ours' 'forbid allow' 'forbid full-access' 'forbid accept-none' \
    "require digest $(sha256sum "$tmp/wide.bin" | cut -c1-64)" \
    >/etc/sbx/options
told '--allow is forbidden' 'options: forbid allow' --allow 'read /'
told '--allow-full-access is forbidden' 'options: forbid full' \
    --allow-full-access
told '--accept=none is forbidden' 'options: forbid accept' --accept=none
tap_is 'a policy of that digest runs' started \
    "$(run wide -l standard /dev/stdin -- echo started)"
case $(run narrow /dev/stdin -- echo started) in
*'none of these'*) tap_ok 'another one does not' ;;
*) tap_not_ok 'another one does not' ;;
esac
echo 'require log' >/etc/sbx/options
told 'a log is required' 'options: require log'
run narrow -l standard --log="$home/log" /dev/stdin -- echo started >/dev/null
case $(cat "$home/log") in
*\"end\"*) tap_ok "with one it runs" ;;
*) tap_not_ok "with one it runs" "$(cat "$home/log")" ;;
esac
ceiling 'allow read /' 'allow exec /' 'allow network domain c.test with secret said'
makes secret 'allow read /' 'allow exec /' \
    'allow network domain c.test with secret said'
mkdir -p "$home/.config/sbx"
echo 'secret said for c.test from command touch ran' >"$home/.config/sbx/secrets"
chmod 600 "$home/.config/sbx/secrets"
chown -R "$user" "$home/.config"
echo 'forbid secret-programs' >/etc/sbx/options
case $(run secret -l standard /dev/stdin -- echo started) in
*started*) tap_not_ok "a secret's program is forbidden" ;;
*'forbids programs'*) tap_ok "a secret's program is forbidden" ;;
*) tap_not_ok "a secret's program is forbidden" ;;
esac
rm -r "$home/.config"
ceiling 'allow read /' 'allow exec /' 'allow write /dev/null' 'allow env *'
echo 'forbid allwo' >/etc/sbx/options
told 'a word that means nothing' 'a line is neither'
echo 'forbid allow' >/etc/sbx/options
chmod 666 /etc/sbx/options
told 'others may write the options' "root's"
rm /etc/sbx/options

# --- what is said -------------------------------------------------------------

# why QUESTION: as the user, of the widest policy.
why()
{
	(cd "$home/ws" && as "$user" "$tmp/sbxc" why "$tmp/wide.bin" "$@")
}

ceiling 'allow read /' 'deny read ~/other' 'allow exec /' 'allow env *' \
    'allow write /dev/null'
case $(why read "$home/other/file"; echo $?) in
denied:*/etc/sbx/ceiling.sbx:4:*'deny read ~/other'*1) tap_ok 'why names its line' ;;
*) tap_not_ok 'why names its line' "$(why read "$home/other/file")" ;;
esac
case $(why write "$home/ws/x"; echo $?) in
*'/etc/sbx/ceiling.bin: no rule'*1) tap_ok 'why names what it lacks' ;;
*) tap_not_ok 'why names what it lacks' "$(why write "$home/ws/x")" ;;
esac
text=$(run narrow -l standard --explain /dev/stdin -- cat ../other/file)
case $text in
*allow*--ask*) tap_not_ok 'explain offers nothing' "$text" ;;
*'the ceiling of this machine does not allow it'*)
	tap_ok 'explain offers nothing'
	;;
*) tap_not_ok 'explain offers nothing' "$text" ;;
esac
case $(run wide -v /dev/stdin -- true) in
*'under /etc/sbx/ceiling.bin'*) tap_ok '-v says that there is one' ;;
*) tap_not_ok '-v says that there is one' ;;
esac

# --- attacks ------------------------------------------------------------------------

# A policy that says of its rules that they are the ceiling's: its flag is 16.
python3 - "$srcdir/tests/lib" "$tmp/wide.bin" "$tmp/crafted.bin" <<'EOF'
import struct
import sys
sys.path.insert(0, sys.argv[1])
from seal import sealed
blob = bytearray(open(sys.argv[2], "rb").read())
meta = next(o for k, _, o, _ in (struct.unpack_from("<4I", blob, 32 + 16 * i)
                                 for i in range(20)) if k == 1)
struct.pack_into("<I", blob, meta + 12, blob[meta + 12] | 16)
open(sys.argv[3], "wb").write(sealed(bytes(blob)))
EOF
case $(run crafted /dev/stdin -- echo started) in
*malformed*) tap_ok 'a policy that was cut is none' ;;
*) tap_not_ok 'a policy that was cut is none' ;;
esac
ceiling 'allow write /' 'allow exec /' 'allow write /dev/null' 'allow env *'
if [ "$user" -eq 0 ]; then
	for level in $levels; do
		got=$(run wide -l "$level" /dev/stdin -- sh -c '{
		    echo x >/etc/sbx/ceiling.bin || rm /etc/sbx/ceiling.bin ||
		    mv /etc/sbx /etc/sby || echo x >/etc/sbx/options ||
		    echo held; } 2>/dev/null' | grep -v warning:)
		tap_is "a command of root's cannot write it, $level" held "$got"
	done
fi
case "$levels" in *full*)
	session()
	{
		run wide -l full --session ceiling-$$ "$@" | grep -v warning:
	}
	tap_is 'a session' first "$(session /dev/stdin -- echo first)"
	ceiling 'allow read /' 'allow exec /' 'allow write /dev/null' 'allow env *'
	case $(session -- echo second) in
	*'another ceiling'*) tap_ok 'not under another ceiling' ;;
	*) tap_not_ok 'not under another ceiling' ;;
	esac
	session --end >/dev/null
	;;
esac

# --- inside --------------------------------------------------------------------

for level in $levels; do
	for rule in 'allow env A' 'deny read /etc/sbx'; do
		ceiling 'allow exec /' 'allow write /dev/null' 'allow env *' \
		    "$rule"
		got=$(run wide -l "$level" /dev/stdin -- sh -c '
		cat "$0/narrow.bin" | "$0/sbxrun" -l standard /dev/stdin -- \
		    sh -c "echo x 2>/dev/null >new || echo held"' "$tmp" |
		    grep -v warning:)
		tap_is "a run in a run, $level, $rule" held "$got"
	done
done

# --- all at once ------------------------------------------------------------------

# One is enough where time is short; a release asks 200 of them.
seed=$(date +%s)
text=$(python3 "$srcdir/tests/kernel/ceiling_pairs.py" \
    "$(tap_rounds 50)" "$seed" "$levels" "$SBXC" "$home" \
    sh "$tmp/asked" "$user" 2>&1) ||
    text="not: seed $seed: $text"
case $text in
*questions) tap_ok "random pairs: $text" ;;
*) tap_not_ok 'random pairs' "$text" ;;
esac

tap_done

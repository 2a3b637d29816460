#!/bin/sh
# sbxc import: what becomes of settings, beside what is expected, and whether it
# keeps what they promise.
#
#	tests/golden/import.sh --update	rewrite what is expected

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
here=$srcdir/tests/golden/import
tap_begin
cp "$here"/*.json "$here"/*.toml "$tmp"
cd "$tmp" || exit 99

# imported CLIENT: its settings, whatever they are written in.
imported()
{
	"$SBXC" import --lossy -I "$1" -o "from-$1.sbx" "$1".[jt]*
}

for client in claude codex llxprt localgpt sandbox-runtime; do
	imported $client >out 2>$client.err
	tap_is "$client: it is imported" 0 $?
	for file in from-$client.sbx from-$client.test.yaml $client.err; do
		[ "${1-}" != --update ] || cp "$file" "$here"
		tap_empty "$file: as it was" "$(diff -u "$here/$file" $file 2>&1)"
	done
	tap_is "$client: the layout is that of fmt" '' \
	    "$("$SBXC" fmt -l from-$client.sbx)"
	"$SBXC" test from-$client.test.yaml >out 2>&1
	tap_is "$client: the policy keeps what the settings promise" 0 $?
	imported $client >out 2>&1
	tap_is "$client: what is there is not overwritten" 2 $?
done
"$SBXC" import -I claude -o no.sbx claude.json >out 2>&1
tap_is 'without --lossy a loss is an error' '1 no' \
    "$? $([ -e no.sbx ] && echo yes || echo no)"

# What nothing is said of is the narrower mode.
echo 'model = "x"' >bare.toml
"$SBXC" import -I codex -o bare.sbx bare.toml >out 2>&1
tap_is 'codex: without a mode nothing is written' '0 0' \
    "$? $(grep -c 'allow write.*workspace' bare.sbx)"

# codex_env WANTED LINE...: what settings of variables become.
codex_env()
{
	wanted=$1
	shift
	{
		echo 'sandbox_mode = "read-only"'
		echo '[shell_environment_policy]'
		printf '%s\n' "$@"
	} >env.toml
	rm -f env.sbx env.test.yaml
	"$SBXC" import --lossy -I codex -o env.sbx env.toml >out 2>&1
	tap_is "codex: variables: $*" "$wanted" \
	    "$(sed -n 's/^ *\(\(allow\|deny\) env .*\)/\1;/p' env.sbx | tr -s ' \n' ' ')"
}
codex_env 'allow env *; '
codex_env 'allow env *; ' 'inherit = "all"'
codex_env 'allow env { HOME LOGNAME PATH SHELL USER TMPDIR TEMP TMP }; ' \
    'inherit = "core"'
codex_env '' 'inherit = "none"'
codex_env 'allow env PATH; ' 'include_only = ["path"]'
codex_env 'allow env LC_*; ' 'inherit = "all"' 'include_only = ["LC_*"]'
codex_env '' 'inherit = "core"' 'include_only = ["PATH"]'
codex_env '' 'include_only = ["A?"]'
codex_env 'deny env X*; deny env x*; allow env *; ' 'exclude = ["x*"]'
codex_env \
    'deny env { *KEY* *SECRET* *TOKEN* *key* *secret* *token* }; allow env *; ' \
    'ignore_default_excludes = false'

{
	echo '[sandbox_workspace_write]'
	echo 'writable_roots = ["/srv/out"]'
	echo 'network_access = true'
} >roots.toml
"$SBXC" import -I codex -o roots.sbx roots.toml >out 2>&1
tap_is 'codex: what is for another mode is told' '1 2' \
    "$? $(grep -c 'roots.toml:[23]:.*which is not set.*SBX1012' out)"

# A case that a weaker policy does not keep is seen.
grep -v '^ *deny read *"${workspace}/secrets"' from-claude.sbx |
    sed 's/profile from-claude/profile weak/' >weak.sbx
sed 's/from-claude.sbx/weak.sbx/' from-claude.test.yaml >weak.test.yaml
tap_found 'a weaker policy fails' "$(
    "$SBXC" test weak.test.yaml >out 2>&1 || echo seen)"
tap_done

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
cp "$here"/*.json "$here"/*.toml "$here/keys" "$tmp"
cd "$tmp" || exit 99

# imported CLIENT: its settings, whatever they are written in.
imported()
{
	"$SBXC" import --lossy --from "$1" -o "from-$1.sbx" "$1".[jt]*
}

for client in claude codex llxprt localgpt sandbox-runtime; do
	imported $client >out 2>$client.err
	tap_is "$client: it is imported" 0 $?
	for file in from-$client.sbx from-$client.test.yaml $client.err; do
		[ "${1-}" != --update ] || cp "$file" "$here"
		tap_empty "$file: as it was" "$(diff -u "$here/$file" $file 2>&1)"
	done
	tap_is "$client: the layout is that of fmt" '' \
	    "$("$SBXC" fmt --list from-$client.sbx)"
	"$SBXC" test from-$client.test.yaml >out 2>&1
	tap_is "$client: the policy keeps what the settings promise" 0 $?
	imported $client >out 2>&1
	tap_is "$client: what is there is not overwritten" 125 $?
done
"$SBXC" import --from claude -o no.sbx claude.json >out 2>&1
tap_is 'without --lossy a loss is an error' '1 no' \
    "$? $([ -e no.sbx ] && echo yes || echo no)"

# What nothing is said of is the narrower mode.
echo 'model = "x"' >bare.toml
"$SBXC" import --from codex -o bare.sbx bare.toml >out 2>&1
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
	"$SBXC" import --lossy --from codex -o env.sbx env.toml >out 2>&1
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
codex_env 'deny env X*; deny env x*; allow env *; ' 'exclude = ["x?"]'
codex_env \
    'deny env { *KEY* *SECRET* *TOKEN* *key* *secret* *token* }; allow env *; ' \
    'ignore_default_excludes = false'

{
	echo '[sandbox_workspace_write]'
	echo 'writable_roots = ["/srv/out"]'
	echo 'network_access = true'
} >roots.toml
"$SBXC" import --from codex -o roots.sbx roots.toml >out 2>&1
tap_is 'codex: what is for another mode is told' '1 2' \
    "$? $(grep -c 'roots.toml:[23]:.*which is not set.*SBX1012' out)"

"$SBXC" import --from codex --lossy -p sbx roots.toml >out 2>&1
tap_is 'a keyword is no name of a profile' \
    "125 sbxc: -p: 'sbx' is no name for a profile" "$? $(head -n 1 out)"

# told CLIENT WANTED LINE...: what settings of few lines become: a line of the
# policy or of the diagnostics, or a part of one; '!' before it: none has it.
told()
{
	told_client=$1 wanted=$2
	shift 2
	case $told_client in
	codex | localgpt) told_file=told.toml ;;
	*) told_file=told.json ;;
	esac
	printf '%s\n' "$@" >$told_file
	rm -f told.sbx told.test.yaml
	"$SBXC" import --lossy --from "$told_client" -o told.sbx $told_file \
	    >out 2>&1
	cat told.sbx told.test.yaml >>out 2>&1
	case $wanted in
	!*) tap_empty "$told_client: $*: no ${wanted#!}" \
	    "$(grep -F -- "${wanted#!}" out)" ;;
	*) tap_found "$told_client: $*: $wanted" \
	    "$(grep -F -- "$wanted" out)" ;;
	esac
}

# claude WANTED LIST RULE: a rule in a list of Claude Code's permissions.
claude()
{
	told claude "$1" "{\"permissions\": {\"$2\": [\"$3\"]}}"
}
# shellcheck disable=SC2016  # ${workspace} is a name of policies
claude_rules()
{
	claude 'allow write "${workspace}/build"' allow 'Edit(build)'
	claude 'deny write  glob "${workspace}/**/keys"' deny 'Edit(keys//)'
	claude 'deny write  "${workspace}/a/keys"' deny 'Edit(a/keys//)'
	claude "'Re(x)': it is about a tool" deny 'Re(x)'
	claude "'Reader(x)': it is about a tool" deny 'Reader(x)'
	claude '!SBX10' allow 'Reader(x)'
	claude "'Edit': the sandbox writes the workspace" deny 'Edit'
	claude "'Read()': nothing runs" deny 'Read()'
	claude "'WebFetch': it is about a tool and no host [SBX1011]" deny WebFetch
	claude "'WebFetch': it names no host that commands might reach [SBX1012]" \
	    allow WebFetch
	claude 'deny network domain a.example' deny 'WebFetch(domain:a.example)'
	claude "nobody is asked in a sandbox: allow it, or deny it [SBX1011]" ask \
	    'Read(~)'
	claude "a glob has no classes and no alternatives [SBX1011]" deny 'Read({a,b})'
	claude "a glob has no escapes [SBX1011]" deny 'Read(a\\b)'
	claude "a path that leads upwards" deny 'Read(../x)'
	claude "a path that leads upwards" deny 'Read(a/..)'
	claude "a path that leads upwards" deny 'Read(a/../b)'
	claude 'deny write  "${workspace}"' deny 'Edit(./**/**)'
	claude 'deny write  "/"' deny 'Edit(//**)'
	claude 'deny write  "${workspace}/a\"b"' deny 'Edit(./a\"b)'
	claude 'deny write  "${workspace}/a\\b"' deny 'Edit(./a\\b)'
	claude '- deny: "write \"${workspace}/it'"'s" deny "Edit(./it's)"
}
claude_rules

# network WANTED KEY HOST, filesystem WANTED PART: of sandbox-runtime.
network()
{
	told sandbox-runtime "$1" "{\"network\": {\"$2\": [\"$3\"]}}"
}
for host in '*' '*:443'; do
	network 'a rule names hosts, and not all of them [SBX1012]' \
	    allowedDomains "$host"
	network 'a rule names hosts, and not all of them [SBX1011]' \
	    deniedDomains "$host"
done
for host in '[::1]:80' ::1 10.0.0.1 10.0.0.1:80; do
	network "an address takes 'network connect" allowedDomains "$host"
done
for host in localhost localhost:3000; do
	network "takes 'network host tcp PORT'" allowedDomains "$host"
done
for host in '*y.example' 'a.*' '*.*.example' a/b; do
	network 'it is not a host name [SBX1012]' allowedDomains "$host"
done
network 'allow network domain *.y.example' allowedDomains '*.y.example'
network 'allow: "domain x.y.example"' allowedDomains '*.y.example'
filesystem()
{
	told sandbox-runtime "$1" "{\"filesystem\": {$2}}"
}
filesystem 'deny read   "/a"  except { "/a/b"  "/a/c" }' \
    '"denyRead": ["/a"], "allowRead": ["/a/b", "/a/c"]'
filesystem '!except' '"denyRead": ["/a"], "allowRead": ["/ab"]'
filesystem '!deny read' '"denyRead": ["/a"], "allowRead": ["/a/b", "/a"]'
# Where the anchors lie is known when the policy runs.
filesystem 'deny read   "~"  except { "${workspace}" }' \
    '"denyRead": ["~/"], "allowRead": ["."]'
filesystem 'deny read   "/srv"  except { "${workspace}/a"  "~/b" }' \
    '"denyRead": ["/srv"], "allowRead": ["./a", "~/b"]'
filesystem 'deny read   "~/.ssh"' '"denyRead": ["~/.ssh"], "allowRead": ["."]'
filesystem '!except' '"denyRead": ["~/.ssh"], "allowRead": ["."]'
filesystem '!except' '"denyRead": ["~/a"], "allowRead": ["/usr"]'
filesystem "the project may lie in '~/'" \
    '"denyRead": ["~/"], "allowWrite": ["."]'
credentials()
{
	told sandbox-runtime "$1" "{\"credentials\": {$2}}"
}
credentials 'deny read   "~/.aws/credentials"' \
    '"files": [{"path": "~/.aws/credentials", "mode": "deny"}]'
credentials '!SBX10' '"envVars": [{"name": "A_KEY", "mode": "deny"}]'
credentials 'deny env A_KEY' '"envVars": [{"name": "A_KEY", "mode": "mask"}]'
credentials 'nobody replaces a placeholder in requests [SBX1012]' \
    '"envVars": [{"name": "A_KEY", "mode": "mask"}]'
credentials 'it is no name of a variable [SBX1011]' \
    '"envVars": [{"name": "A }", "mode": "deny"}]'
credentials 'it names nothing that could be denied [SBX1011]' '"files": ["x"]'
filesystem 'deny read   "/a/b"' '"denyRead": ["//a/././b/."]'
filesystem '!.git/config' '"allowGitConfig": true'
filesystem '.git/config' '"allowGitConfig": "true"'
filesystem 'passes a pattern by here on Linux' '"allowWrite": ["/srv/*"]'
for key in httpProxyPort socksProxyPort; do
	told claude "sandbox.network.$key: a proxy of the user's own" \
	    "{\"sandbox\": {\"network\": {\"$key\": 3128}}}"
done
told claude 'sandbox.filesystem.disabled: a policy that confines no files' \
    '{"sandbox": {"filesystem": {"disabled": true}}}'
told claude '!SBX10' '{"sandbox": {"ripgrep": {"command": "rg"}}}'
told claude 'sandbx: this sbxc does not know' '{"sandbx": {"x": 1}}'
told claude "'g', 'h' [SBX1014]" \
    '{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1}'
told claude "'g', 'h' and 1 more [SBX1014]" \
    '{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}'
# What looks like one about a sandbox is no other setting.
for key in sandbox.enabled mySandbox networkPolicy useSeccomp; do
	told claude "$key: this sbxc does not know" "{\"$key\": true}"
done
told claude '!SBX1011' '{"awsCredentialExport": "x"}'
# TOML can hold what a text in YAML cannot.
told codex 'a path has no control characters' \
    '[sandbox_workspace_write]' 'writable_roots = ["/x\by"]'
told codex 'profile: a profile may choose another sandbox' 'profile = "x"'
told codex 'profiles: each may choose another sandbox' '[profiles.x]' 'a = 1'
told codex "'A?B': it is no pattern" '[shell_environment_policy]' \
    'include_only = ["A?B"]'
for word in true:allow false:!allow; do
	told codex "${word#*:} network domain a.example" \
	    'default_permissions = "t"' '[features]' 'network_proxy = true' \
	    '[permissions.t.network]' "enabled = ${word%:*}" \
	    '[permissions.t.network.domains]' '"a.example" = "allow"'
done
told llxprt 'these settings do not switch the sandbox on' '{"engine": "none"}'
told llxprt 'it is for macOS; on Linux' '{"engine": "sandbox-exec"}'
told llxprt "network 'proxied': a proxy of the user's own" \
    '{"network": "proxied"}'
told llxprt '!network full' '{"network": "off"}'
told llxprt "pids '0': it is no number" '{"resources": {"pids": 0}}'
told localgpt 'limit output      999999999999999999B' '[sandbox]' \
    'max_output_bytes = 999999999999999999'
for number in 1234567890123456789 012 0 '"5"'; do
	told localgpt 'it is no number that a limit takes' '[sandbox]' \
	    "timeout_secs = $number"
done
told localgpt 'limit processes   7' '[sandbox]' 'max_processes = 7'
told localgpt '!limit processes   64' '[sandbox]' 'max_processes = 7'
told localgpt 'there no file is protected' '[sandbox]' 'level = "minimal"'
told localgpt 'allow write "/srv/x"' '[sandbox.allow_paths]' \
    'write = ["/srv/x"]'

# each_key FILE: what is said of each key that a client has, by the list FILE, and
# written for it: a key that is lost from a table is one that nobody knows.
each_key()
{
	while read -r client key; do
		for value in true '{"x": 7}'; do
			case $client in
			codex | localgpt)
				file=key.toml
				echo "$key = $value" | sed 's/"x": 7/"x" = 7/' >$file ;;
			*)
				file=key.json
				awk -v "key=$key" -v "value=$value" 'BEGIN {
					count = split(key, words, ".")
					for (i = count; i > 0; i--)
						value = "{\"" words[i] "\": " value "}"
					print value
				}' >$file ;;
			esac
			echo "$client $key $value"
			rm -f key.sbx key.test.yaml
			"$SBXC" import --lossy --from "$client" -o key.sbx $file \
			    2>&1 | sed -nE 's/^key[^ ]* ((error|warning|note): )/\t\1/p'
			sed -n '/^ *# key\.[jt]/{n;s/^ */\t/p;}' key.sbx
		done
	done <"$1"
}
each_key keys >said-of-keys
[ "${1-}" != --update ] || cp said-of-keys "$here"
tap_empty 'each key is known, and told of' \
    "$(diff -u "$here/said-of-keys" said-of-keys 2>&1)"
sed -n 1p keys | sed 's/$/x/' >unknown-key
tap_found 'one that is not known is told so' \
    "$(each_key unknown-key | grep 'does not know what that means')"

# A case that a weaker policy does not keep is seen.
grep -v '^ *deny read *"${workspace}/secrets"' from-claude.sbx |
    sed 's/profile from-claude/profile weak/' >weak.sbx
sed 's/from-claude.sbx/weak.sbx/' from-claude.test.yaml >weak.test.yaml
tap_found 'a weaker policy fails' "$(
    "$SBXC" test weak.test.yaml >out 2>&1 || echo seen)"
tap_done

# shellcheck shell=sh
# Sourced, after tap.sh, by tests that run sbxrun as several users.

# One who owns nothing else.
# shellcheck disable=SC2034  # it is for those who source this
ORDINARY=65534

# as UID COMMAND...: as that user, with $home and hardly anything else.
as()
{
	as_uid=$1
	shift
	# shellcheck disable=SC2154  # the caller's
	tap_as "$as_uid" env -i PATH="$PATH" HOME="$home" "$@"
}

# policy NAME PARENT [STATEMENT...]: compiles a policy to $tmp/NAME.bin.
policy()
{
	policy_name=$1
	{
		printf 'sbx 1\nprofile %s extends %s {\n' "$1" "$2"
		shift 2
		printf '    %s\n' "$@"
		echo '}'
	} >"$tmp/$policy_name.sbx"
	"$SBXC" "$tmp/$policy_name.sbx" -o "$tmp/$policy_name.bin" || exit 99
}

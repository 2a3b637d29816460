# shellcheck shell=sh
# Sourced, after tap.sh, by tests that run sbxrun as several users.

# One who owns nothing else.
# shellcheck disable=SC2034  # it is for those who source this
ORDINARY=$(tap_user)

# as UID COMMAND...: as that user, with $home and hardly anything else.
as()
{
	as_uid=$1
	shift
	# shellcheck disable=SC2154  # the caller's
	tap_as "$as_uid" env -i PATH="$PATH" HOME="$home" "$@"
}

# shellcheck disable=SC2154  # tap_begin sets $tmp
# policy NAME PARENT [STATEMENT...]: compiles the profile my-NAME to $tmp/NAME.bin.
policy()
{
	policy_name=$1
	{
		printf 'sbx 1\nprofile my-%s extends %s {\n' "$1" "$2"
		shift 2
		[ $# -eq 0 ] || printf '    %s\n' "$@"
		echo '}'
	} >"$tmp/$policy_name.sbx"
	if ! "$SBXC" "$tmp/$policy_name.sbx" -o "$tmp/$policy_name.bin" \
	    2>"$tmp/$policy_name.err"; then
		cat "$tmp/$policy_name.err"
		exit 99
	fi
}

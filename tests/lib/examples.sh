# shellcheck shell=sh
# Sourced by tests that try what the manual shows.

# page_examples FILE DIR: each example of a manual page or of README.md in a file of
# its own, DIR/LINE.KIND; what is of none of these kinds is left out.
#
#	.Bd -literal or ```sbx that begins with "sbx 1"		policy
#	the same after	.\" in a profile			profile
#			.\" in a shell				shell
#			.\" file NAME				file.NAME
page_examples()
{
	rm -rf "$2"
	mkdir "$2"
	awk -v dir="$2" '
	function finish() {
		if (kind == "" && text ~ /^sbx 1\n/)
			kind = "policy"
		if (kind != "")
			printf "%s", text >sprintf("%s/%05d.%s", dir, start, \
			    kind)
		kind = ""
		inside = 0
	}
	/^\.\\" in a profile$/ { kind = "profile"; next }
	/^\.\\" in a shell$/ { kind = "shell"; next }
	/^\.\\" file [a-z.]+$/ { kind = "file." $3; next }
	/^\.Bd -literal/ || /^```sbx$/ {
		inside = 1
		text = ""
		start = NR
		next
	}
	inside && (/^\.Ed/ || /^```$/) { finish(); next }
	inside {
		gsub(/\\&/, "")
		gsub(/\\-/, "-")
		gsub(/\\\(dq/, "\"")
		gsub(/\\e/, "\\")
		text = text $0 "\n"
	}' "$1"
}

# page_policies FILE DIR: those that are whole policies as DIR/LINE.sbx, and what
# stands in a profile as DIR/LINE.profile.
page_policies()
{
	page_examples "$1" "$2"
	for example in "$2"/*; do
		[ -e "$example" ] || continue
		line=${example##*/}
		if [ "$(head -n 1 "$example")" = "sbx 1" ]; then
			mv "$example" "$2/${line%%.*}.sbx"
		elif [ "${example##*.}" != profile ]; then
			rm "$example"
		fi
	done
}

# page_inside FILE: what stands in a profile, as a policy.
page_inside()
{
	echo "sbx 1"
	echo "profile example {"
	cat "$1"
	echo "}"
}

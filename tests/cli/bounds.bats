# How much sbxc takes: as much as it says, and nothing more.

load sbxc

# A policy of N lines, in each of which %d is a number, from 1 on.
lines() {
	local line=$1 count=$2
	printf 'sbx 1\nprofile p {\n'
	awk -v line="$line" -v count="$count" 'BEGIN {
		for (i = 1; i <= count; i++)
			printf line "\n", i, i
	}'
	printf '}\n'
}

# takes BOUND MESSAGE COMMAND...: what the command prints for the bound builds,
# and for one more does not.
takes() {
	local bound=$1 message=$2
	shift 2
	"$@" "$bound" >most.sbx
	"$@" "$((bound + 1))" >more.sbx
	ends 0 "$SBXC" build -p p most.sbx -o most.bin
	refute_complains error
	ends 1 "$SBXC" build -p p more.sbx -o more.bin
	complains "$message"
	[ ! -e more.bin ]
}

@test "rules: as many as a blob holds" {
	takes 32768 "more than 32768 rules" lines "allow read /srv/a%d"
	takes 256 "watches 257 places, the bound is 256" lines "watch /srv/a%d"
	takes 256 "has 257 rules about sockets, the bound is 256" \
	    lines "allow socket /srv/a%d"
	takes 4096 "has 4097 names of hosts" \
	    lines "deny network domain a%d.example"
	takes 1024 "1025 addresses" lines "deny network connect 10.0.0.1:%d"
	takes 59 "more than 59 parameters" \
	    lines 'param a%d
allow read ${a%d}'
	takes 64 "more than 64 ports" lines "allow network host tcp %d00"
}

exceptions() {
	printf 'sbx 1\nprofile p {\nallow read /srv except {\n'
	awk -v count="$1" 'BEGIN {
		for (i = 1; i <= count; i++)
			print "/srv/a" i
	}'
	printf '}\n}\n'
}

@test "exceptions: as many as a blob holds" {
	takes 32768 "32769 exceptions, the bound is 32768" exceptions
}

# A profile with so many parents.
parents() {
	printf 'sbx 1\nprofile p0 {\nallow read /srv\n}\n'
	awk -v count="$1" 'BEGIN {
		for (i = 1; i <= count; i++)
			printf "profile %s extends p%d {\nallow read /srv/%d\n}\n",
			    i < count ? "p" i : "p", i - 1, i
	}'
}

# Groups that use each other, so deep.
groups() {
	printf 'sbx 1\ngroup g0 {\nallow read /srv\n}\n'
	awk -v count="$1" 'BEGIN {
		for (i = 1; i < count; i++)
			printf "group g%d {\nuse g%d\n}\n", i, i - 1
		printf "profile p {\nuse g%d\n}\n", count - 1
	}'
}

# Blocks in each other.
blocks() {
	printf 'sbx 1\nprofile p {\n'
	awk -v count="$1" 'BEGIN {
		for (i = 1; i < count; i++)
			print "on linux {"
		print "allow read /srv"
		for (i = 1; i <= count; i++)
			print "}"
	}'
}

# A profile after N - 1 others.
profiles() {
	printf 'sbx 1\n'
	awk -v count="$1" 'BEGIN {
		for (i = 1; i <= count; i++)
			printf "profile %s {\nallow read /srv\n}\n",
			    i < count ? "p" i : "p"
	}'
}

@test "parents, groups and blocks: as deep as it says" {
	takes 100 "more than 100 parents" parents
	takes 100 "groups in groups more than 100 deep" groups
	takes 16 "blocks are nested more than 16 deep" blocks
}

@test "profiles: 500 in one file" {
	profiles 500 >most.sbx
	ends 0 "$SBXC" check most.sbx
	profiles 501 >more.sbx
	ends 1 "$SBXC" check more.sbx
	complains "more than 500 profiles in one file"
	profiles 500 | sed '/^profile/s/ {/ extends coding {/' >coding.sbx
	ends 0 "$SBXC" check -W no-SBX0304 coding.sbx
}

# N profiles, each of which denies other system calls.
deniers() {
	printf 'sbx 1\n'
	awk -v count="$1" 'BEGIN {
		calls = "chmod chown fchmod lchown umask gettid tkill time " \
		    "getcwd sync"
		n = split(calls, call)
		for (i = 1; i <= count; i++) {
			printf "profile p%d {\ndeny syscalls { sethostname", i
			for (j = 0; j < n; j++)
				if (int(i / 2 ^ j) % 2)
					printf " %s", call[j + 1]
			print " }\n}"
		}
	}'
}

@test "filters: as many as take as long as 32768 rules" {
	deniers 19 >most.sbx
	ends 0 "$SBXC" check most.sbx
	deniers 500 >more.sbx
	ends 1 "$SBXC" check more.sbx
	complains "the filters of the profiles above differ too much"
	refute_complains "more than 500 profiles"
}

# The end of a text, so many letters long.
letters() {
	printf "%0${1}d" 0 | tr 0 a
}

path() {
	local left=$1 text=
	while [ "$left" -gt 100 ]; do
		text="$text/$(letters 99)"
		left=$((left - 100))
	done
	printf 'sbx 1\nprofile p {\nallow read %s/%s\n}\n' "$text" \
	    "$(letters $((left - 1)))"
}

named() {
	printf 'sbx 1\nprofile p {\nparam %s\nallow read ${%s}\n}\n' \
	    "$(letters "$1")" "$(letters "$1")"
}

label() {
	printf 'sbx 1\nprofile p {\nallow network domain %s.example\n}\n' \
	    "$(letters "$1")"
}

parts() {
	printf 'sbx 1\nprofile p {\nallow read glob "/srv/*'
	for _ in $(seq 2 "$1"); do
		printf '/x'
	done
	printf '"\n}\n'
}

pattern() {
	printf 'sbx 1\nprofile p {\nallow read glob "/*%s"\n}\n' \
	    "$(letters $(($1 - 2)))"
}

# A line of so many bytes.
long() {
	printf 'sbx 1\nprofile p {\nallow read /srv #%s\n}\n' \
	    "$(letters $(($1 - 17)))"
}

@test "texts: as long as it says" {
	takes 4095 "is 4096 bytes long, and 4095 is the most" path
	ends 0 "$SBXC" dump -O sbx most.bin
	[ "$(grep -o '/a.*a' <<<"$output" | wc -c)" -eq 4096 ]
	takes 64 "cannot be a name" named
	takes 63 "is not a host name" label
	takes 32 "the pattern has 33 parts, and 32 are the most" parts
	takes 4095 "is 4096 bytes long, and 4095 is the most" pattern
	takes 65535 "the line is 65536 bytes long, and 65535 is the most" long
}

needs() {
	printf 'sbx 1\nprofile p {\nallow read /srv\nrequire landlock %d\n}\n' \
	    "$1"
}

@test "Landlock: as new as it knows" {
	takes 10 "this sbxc knows 1 to 10" needs
	needs 0 >none.sbx
	ends 1 "$SBXC" check none.sbx
	complains "'0' is not a Landlock ABI"
}

@test "includes: as many and as deep as it says" {
	local i
	for i in $(seq 1 17); do
		printf 'sbx 1\ninclude "f%d.sbx"\n' $((i - 1)) >"f$i.sbx"
	done
	printf 'sbx 1\ngroup g {\nallow read /srv\n}\n' >f0.sbx
	deep() {
		printf 'sbx 1\ninclude "f%d.sbx"\nprofile p {\nuse g\n}\n' \
		    $(($1 - 1))
	}
	takes 16 "includes are nested more than 16 deep" deep
	for i in $(seq 1 256); do
		printf 'sbx 1\n' >"w$i.sbx"
	done
	wide() {
		printf 'sbx 1\n'
		seq -f 'include "w%g.sbx"' 1 $(($1 - 1))
		printf 'profile p {\nallow read /srv\n}\n'
	}
	takes 256 "more than 256 files are read" wide
}

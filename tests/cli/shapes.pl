#!/usr/bin/perl
# usage: shapes.pl
#	 shapes.pl SHAPE COUNT
# The names of shapes; or a policy that has one of them COUNT times.  Each is
# made to take long or much memory if anything is looked for by going through
# all of something.  The profile to compile is p, or the first one.

use strict;
use warnings;

my ($shape, $n) = @ARGV;
my $half = int(($n // 0) / 2);

# The lines of a pattern, in which %d is 1, 2 ... up to a count.
sub lines
{
	my ($format, $count) = @_;
	my $holes = () = $format =~ /%d/g;

	return join "", map { sprintf "    $format\n", ($_) x $holes }
	    1 .. $count // $n;
}

sub profile { return join "", "profile p {\n", @_, "}\n" }

# A profile that extends another one.
sub child
{
	my ($parent, @lines) = @_;

	return join "", "profile q {\n$parent}\nprofile p extends q {\n",
	    @lines, "}\n";
}

# One name for many paths.
sub names { return "let all = {\n" . lines("/a/%d", $half) . "}\n" }

# A group that 60 profiles use, each of which extends the one before.
sub again
{
	my ($format) = @_;

	return join "", "group g {\n", lines($format),
	    "}\nprofile p0 { use g }\n",
	    (map { "profile p$_ extends p" . ($_ - 1) . " { use g }\n" }
		1 .. 60),
	    "profile p extends p60 { use g }\n";
}

my @calls = qw(chmod chown mount bpf ptrace kill fork sync);

my %shapes = (
	paths => sub { profile(lines("allow read /a/%d")) },
	denied => sub {
		profile("    allow read /a\n", lines("deny read /a/%d"));
	},
	nested => sub {
		profile(map { "    allow read " . "/d" x (1 + $_ % 99) . "/$_\n" }
			1 .. $n);
	},
	same => sub { profile(lines("allow read /a/b")) },
	exec => sub {
		profile(lines("allow write /a/%d", $half),
			lines("allow exec /a/%d", $half));
	},
	home => sub {
		profile(lines("allow write ~/.a%d", $half),
			lines('deny write ${workspace}/.a%d', $half));
	},
	holes => sub {
		profile("    allow read /a except {\n", lines("/a/%d"),
			"    }\n");
	},
	holes_each => sub { profile(lines("allow read /a/%d except /a/%d/x")) },
	holes_product => sub {
		profile("    allow read {\n", lines("/a/%d", $half),
			"    } except {\n", lines("/a/%d/x", $half), "    }\n");
	},
	holes_anchor => sub {
		profile("    allow read {\n", lines("/a/%d", $half),
			"    } except {\n", lines("~/%d/x", $half), "    }\n");
	},
	globs => sub { profile(lines('allow read glob "/a/*/%d"')) },
	globs_denied => sub {
		profile("    allow read /a\n",
			lines('deny read glob "/a/**/%d*"'));
	},
	ports => sub { profile(lines("allow network connect tcp %d")) },
	ranges => sub {
		profile(map { "    allow network connect tcp $_-"
				. (65535 - $_) . "\n" } 1 .. $n);
	},
	loopback => sub { profile(lines("allow network loopback")) },
	signal => sub { profile(lines("allow signal anywhere")) },
	calls => sub {
		profile(map { "    deny syscalls $calls[$_ % 8]\n" } 1 .. $n);
	},
	env => sub { profile(lines("allow env V_%d")) },
	env_mixed => sub {
		profile(lines("allow env V_%d", $half),
			lines("deny env V_%dA*", $half));
	},
	env_stars => sub {
		profile(map { my $n = $_; "    " . ($n % 2 ? "allow" : "deny")
				. " env " . join("", map {
				($n >> $_ & 1 ? "A" : "B") . "*" } 0 .. 9)
				. "A*\n" } 1 .. $n);
	},
	env_ends => sub { profile(lines("allow env *_%d")) },
	set => sub { profile(lines("set env V_%d = x%d")) },
	set_same => sub { profile(lines("set env V = x%d")) },
	limits => sub { profile(lines("limit timeout %ds")) },
	lets => sub {
		lines("let a%d = /a/%d", $half)
		    . profile(lines('allow read ${a%d}', $half));
	},
	let_chain => sub {
		join "", "let a0 = /a\n",
		    (map { "let a$_ = \${a" . ($_ - 1) . "}\n" } 1 .. $n),
		    profile("    allow read \${a$n}\n");
	},
	let_chain_back => sub {
		join "",
		    (map { "let a$_ = \${a" . ($_ - 1) . "}\n" }
			reverse 1 .. $n),
		    "let a0 = /a\n", profile("    allow read \${a$n}\n");
	},
	let_chain_lists => sub {
		join "", "let a0 = /a\n",
		    (map { "let a$_ = { \${a" . ($_ - 1) . "} /b/$_ }\n" }
			1 .. $n), profile("    allow read \${a$n}\n");
	},
	let_rules => sub { names() . profile(lines('allow read ${all}', $half)) },
	let_holes => sub {
		names() . profile(lines('allow read / except ${all}', $half));
	},
	let_drops => sub {
		names() . child("    allow read \${all}\n",
			lines('drop allow read ${all}', $half));
	},
	let_values => sub {
		names() . profile(lines('set env V%d = ${all}', $half));
	},
	groups => sub {
		lines("group g%d { allow read /a/%d }", $half)
		    . profile(lines("use g%d", $half));
	},
	again => sub { again("allow read /a/%d") },
	again_env => sub { again("allow env V_%d") },
	profiles => sub { lines("profile p%d { allow read /a }") },
	profiles_shipped => sub { lines("profile p%d extends coding { }") },
	profiles_group => sub {
		join "", "group g {\n", lines("allow read /a/%d", $half), "}\n",
		    lines("profile p%d { use g }", $half);
	},
	profiles_calls => sub {
		join "", map {
			my $set = $_;
			"profile p$_ { deny syscalls { write_ "
			    =~ s/write_//r
			    . join(" ", "sethostname",
				map { $calls[$_] } grep { $set >> $_ & 1 } 0 .. 7)
			    . " } }\n"
		} 1 .. $n;
	},
	unknown_names => sub {
		lines("let known%d = /a/%d", $half)
		    . profile(lines('allow read ${unknwn%d}', $half));
	},
	unknown_groups => sub {
		lines("group known%d { allow read /a/%d }", $half)
		    . profile(lines("use unknwn%d", $half));
	},
	unknown_calls => sub { profile(lines("deny syscalls mout%d")) },
	unknown_rights => sub { profile(lines("allow raed%d /a")) },
	unknown_codes => sub {
		profile(lines("allow read /a/%d # sbx: ignore SBX0%d -- x"));
	},
	drops => sub {
		child(lines("allow read /a/%d", $half),
			lines("drop allow read /a/%d", $half));
	},
	drops_near => sub {
		child(lines("allow read /a/%d", $half),
			lines("drop allow write /a/%d", $half));
	},
	drops_same => sub {
		child(lines("allow read /a", $half),
			lines("drop allow read /a", $half));
	},
	drops_ports => sub {
		child(lines("allow network connect tcp %d", $half),
			lines("drop allow network connect tcp %d", $half));
	},
	ignores => sub {
		profile(lines("allow read /a/%d # sbx: ignore SBX0401 -- x"));
	},
	duplicates => sub {
		profile(lines("allow read /a", $half),
			lines("deny read /a", $half));
	},
	addresses => sub {
		profile(map { "    allow network connect 10." . ($_ >> 14) . "."
				. ($_ >> 7 & 127) . "." . ($_ & 127)
				. ":443\n" } 1 .. $n);
	},
	addresses_denied => sub {
		profile("    allow network connect 10.0.0.0/8:443\n",
			map { "    deny network connect 10." . ($_ >> 14) . "."
				. ($_ >> 7 & 127) . "." . ($_ & 127) . "\n" }
			1 .. $n);
	},
	domains => sub {
		profile(lines("allow network domain a%d.example.org"));
	},
	domains_below => sub {
		profile("    allow network domain *.example.org\n",
			lines("deny network domain *.a%d.example.org"));
	},
	domains_ports => sub {
		profile(map { "    allow network domain a$_.example.org:"
				. (1000 + $_ % 60) . "\n" } 1 .. $n);
	},
	published => sub { profile(lines("allow network publish tcp 3000")) },
	sockets_homes => sub {
		profile(lines('allow socket ~/a/%d', $half),
			lines('deny socket ${runtime}/a/%d', $half));
	},
	sockets_paths => sub {
		profile(lines('allow write ~/a/%d', $half),
			lines('allow socket ${workspace}/a/%d', $half));
	},
	watches => sub { profile(lines('watch ${workspace}/a/%d')) },
	globs_both => sub {
		profile(lines('allow write glob "/a/*/%d"', $half),
			lines('deny write glob "/a/%d/*"', $half));
	},
	globs_stars => sub {
		profile(lines('allow read glob "/a/*%d*x*y*z*"'));
	},
	globs_home => sub {
		profile(lines('allow write glob "~/a/*/%d"', $half),
			lines('deny write glob "${workspace}/a/*/%d"', $half));
	},
	globs_holes => sub {
		profile(lines('allow read glob "/a/*/%d" except /a/b/%d'));
	},
	params_denied => sub {
		join "", (map { "param d$_\n" } 1 .. 50),
		    profile("    allow read /a\n",
			map { "    deny read \${d" . (1 + $_ % 50)
				. "}/a/$_\n" } 1 .. $n);
	},
	params_meet => sub {
		join "", (map { "param d$_\n" } 0 .. 57),
		    profile(map { "    allow write \${d" . $_ % 58
				. "}/$_ except \${d" . ($_ + 7) % 58
				. "}/${_}x\n" } 1 .. $n);
	},
	calls_all => sub {
		profile(map { "    allow syscalls $calls[$_ % 8]\n" } 1 .. $n);
	},
	parents => sub {
		join "", "profile p0 { allow read /a }\n",
		    (map { "profile p$_ extends p" . ($_ - 1)
				. " { allow read /a/$_ }\n" } 1 .. 99),
		    "profile p extends p99 {\n", lines("allow read /a/b/%d"),
		    "}\n";
	},
	platforms => sub {
		profile(lines("on x86_64 { allow read /a/%d }", $half),
			lines("on aarch64 { deny read /a/%d }", $half));
	},
);

if (!defined $n) {
	print "$_\n" foreach sort keys %shapes;
	exit;
}
print "sbx 1\n", $shapes{$shape}->();

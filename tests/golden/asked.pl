#!/usr/bin/perl
# usage: asked.pl [-EVERY] SBXC DIRECTORY [PAIR...]
# Pairs of policies, old.sbx and new.sbx in PAIR; without any, changes of one line
# to three policies, made in DIRECTORY, or one in EVERY of them.  Each pair is compared both ways round,
# as text and as JSON, and what `sbxc diff` says is put to `sbxc why`, about both
# policies and with the options that diff prints: the answers must differ, as it
# says.  A line for each that does not, and one at the end with how many were
# asked.

use strict;
use warnings;

my $every = @ARGV && $ARGV[0] =~ /^-(\d+)$/ ? $1 : 1;
shift if $every > 1;
my ($sbxc, $directory, @pairs) = @ARGV;
my %bases = (
	coding => "profile p extends coding {\n",
	shown => "profile p {\n    allow exec /usr\n    allow write ~/w\n"
	    . "    deny read ~/w/.env\n    prefer deny write ~/w/ci\n"
	    . "    allow env LANG\n",
	'workspace-write' => "profile p extends workspace-write {\n",
);
my @changes = (
	'allow read /srv/x',
	'allow write ~/notes',
	'allow exec /opt/x',
	'allow read ~/.netrc',
	'allow write ${tmp}',
	'allow read /',
	'allow read glob "/srv/*.pem"',
	'deny read ${workspace}/.env',
	'deny write ${workspace}/ci',
	'prefer deny write ~/w/x',
	'deny exec ${workspace}/bin',
	'deny read glob "${workspace}/*.pem"',
	'deny read ~ except ~/w',
	'allow write /srv/app',
	'deny write ${workspace}/.git',
	'allow env *',
	'allow env MY_KEY',
	'deny env LANG',
	'set env PATH = ${workspace}/bin',
	'set env FOO = "x"',
	'limit timeout 5m',
	'limit memory 1GiB',
	'limit output none',
	'watch ${workspace}/.vscode',
	'allow network loopback',
	'allow network domain example.org',
	'allow network domain example.org:22',
	'allow network host tcp 8080',
	'allow network connect 10.0.0.0/8:443',
	'allow network connect tcp 443',
	'allow network listen tcp 8080',
	'allow network publish tcp 8080',
	'allow network full',
	'allow socket /run/x.sock',
	'allow socket ${ssh-agent}',
	'deny spawn',
	'allow syscalls ptrace',
	'allow syscalls { @mount  bpf }',
	'deny syscalls @ipc',
	'deny syscalls { chmod  fchmod  fchmodat }',
	'allow syscalls @shared-objects',
	'require level full',
	'require level standard',
	'require landlock 6',
	'on aarch64 { deny syscalls userfaultfd }',
	'use registries',
	'use forges',
	'use agent-claude',
	'use offline',
	'use scratch-caches',
	'drop allow env *',
	'drop limit output',
	'allow everything',
);
my ($asked, $wrong, $turn) = (0, 0, 0);

sub run
{
	open my $pipe, '-|', $sbxc, @_ or die;
	local $/;
	my $text = <$pipe> // '';
	close $pipe;
	return $text;
}

# A parameter may be the other policy's alone.
sub has_param
{
	my ($policy, $name) = @_;
	open my $file, '<', $policy or die;

	return grep /^ *param $name$/, <$file>;
}

# What would happen under one policy: the first word.
sub why
{
	my ($policy, $options, $question) = @_;
	$options =~ s/ ?-D (\w+)=\S+/has_param($policy, $1) ? $& : ''/ge;
	my $answer = run('why', split(' ', $options), $policy,
	    split ' ', $question =~ s/\\?"//gr);

	return $answer =~ /^(\w+):/ ? $1 : 'nothing';
}

# The answers are these, or of two that differ the greater is that of the wider.
sub ask
{
	my ($pair, $how, $options, $question, @want) = @_;
	my %rank = (denied => 0, inside => 1, allowed => 2);
	my @says = map { why($_, $options, $question) } @{$pair}[0, 1];

	$asked++;
	return if @want == 2 && "@want" eq "@says" && $says[0] ne $says[1];
	return if @want == 1 && exists $rank{$says[0]} && exists $rank{$says[1]}
	    && $rank{$says[0]} < $rank{$says[1]};
	$wrong++;
	print "$pair->[2]: $how: why $options P $question: @says, not @want\n";
}

sub ask_json
{
	my ($pair) = @_;
	my %found;

	for (split /\n/, run('diff', '--json', @{$pair}[0, 1])) {
		%found = () if /^      "rule":/;
		$found{$1} = $2 if /^      "(\w+)": "(.*)",?$/;
		next unless /^      "new":/;
		ask($pair, 'json', $found{options} // '', $found{witness},
		    $found{old}, $found{new});
	}
}

# "use registries: domain x and 39 more names", "read, write and exec X" (three
# questions); other findings have nothing to ask, and a parameter that one policy
# alone has is no place in the other.
sub ask_text
{
	my $other = qr/(?:connect|listen|host|publish)(?: tcp)?|syscall|env|socket|domain/;
	my ($pair) = @_;

	for (split /^(?=\S)/m, run('diff', @{$pair}[0, 1])) {
		my ($change, $what) = /^(wider|narrower).*?: (.*)\n/ or next;
		next if $what =~ /the caller's own value/;
		my $ways = $change eq 'wider' ? $pair :
		    [$pair->[1], $pair->[0], $pair->[2]];
		my $options = /ask why with (.*)$/m ? $1 : '--model';

		$what =~ s/^((no longer )?(use|extends)|with(out)? the rules of) [^:]*: //;
		$what =~ s/^network \S*: //;
		$what =~ s/ and \d+ more .*|, \d+ .*|: '.*//;
		my ($words, $object) = $what =~
		    /^((?:(?:read|write|exec)(?:, | and )?)+|$other) (.*)/ or next;
		next if $object =~ /^\$\{data\}/;
		ask($ways, 'text', $options, "$_ $object", 'wider')
		    for split /, | and /, $words;
	}
}

sub policy
{
	my ($name, @lines) = @_;
	open my $file, '>', "$directory/$name" or die;

	print $file "sbx 1\n", @lines, "}\n";
	close $file;
	return "$directory/$name";
}

sub compare
{
	my ($old, $new, $name) = @_;

	for ([$old, $new, "$name, forth"], [$new, $old, "$name, back"]) {
		ask_json($_);
		ask_text($_);
	}
}

compare("$_/old.sbx", "$_/new.sbx", $_) for @pairs;
for my $base (@pairs ? () : sort keys %bases) {
	my $plain = policy("$base.sbx", $bases{$base});

	for my $change (@changes) {
		next if $turn++ % $every;
		my $changed = policy("changed.sbx", $bases{$base},
		    "    $change\n");

		# Some have nothing to drop, or exclude each other.
		compare($plain, $changed, "$base, $change")
		    if !system "$sbxc check -q $changed >/dev/null 2>&1";
	}
}
print "of $asked questions $wrong are answered otherwise\n";

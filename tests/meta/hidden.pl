#!/usr/bin/perl
# usage: hidden.pl [UTF8.C]
# Prints the ranges of what nobody sees, as the rows of the table `hidden` in
# format/utf8.c, from the Unicode of this perl; or, given that file, what is
# missing in its table and what is too much.

use strict;
use warnings;
use Unicode::UCD;

# Neither a control, a blank, a format character nor ignorable, and blank.
my %also = map { $_ => 1 } 0x2800;

sub is_hidden
{
	my ($code) = @_;
	my $c = chr $code;

	return $also{$code} || ($c ne " "
		&& $c =~ /[\p{Cc}\p{Cf}\p{White_Space}\p{Default_Ignorable_Code_Point}]/);
}

my (@table, @ranges, $from);

foreach my $code (0 .. 0x10ffff) {
	next if $code >= 0xd800 && $code <= 0xdfff;
	if (is_hidden($code)) {
		$from //= $code;
		next;
	}
	push @ranges, [$from, $code - 1] if defined $from;
	undef $from;
}

if (!@ARGV) {
	printf "Unicode %s\n", Unicode::UCD::UnicodeVersion();
	printf "\t{ 0x%04x, 0x%04x },\n", @$_ foreach @ranges;
	exit;
}

open my $file, "<", $ARGV[0] or die "$ARGV[0]: $!\n";
while (<$file>) {
	push @table, [hex $1, hex $2]
	    if /^\t\{ 0x([0-9a-f]+), 0x([0-9a-f]+) \}/;
}
sub holds
{
	my ($ranges, $code) = @_;

	return grep { $code >= $_->[0] && $code <= $_->[1] } @$ranges;
}
foreach (@ranges) {
	foreach my $code ($_->[0] .. $_->[1]) {
		printf "U+%04X is missing\n", $code if !holds(\@table, $code);
	}
}
# A later Unicode may have given it a meaning.
foreach (@table) {
	foreach my $code ($_->[0] .. $_->[1]) {
		printf "U+%04X can be seen\n", $code
		    if !holds(\@ranges, $code) && chr($code) !~ /\p{Cn}/;
	}
}

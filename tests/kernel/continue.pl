# Stops and continues a job again and again: continue.pl ROUNDS COMMAND...
#
# The command leads a process group of its own, as a shell's job does.  SIGTSTP
# for the job of sbxrun must stop both, and SIGCONT must reach the command each
# time.  Prints how often it did.
use strict;
use warnings;
use POSIX qw(:sys_wait_h);

my ($rounds, @command) = @ARGV;
my $child = 'setpgrp(0, 0); $SIG{CONT} = sub { syswrite STDOUT, "on\n" };
    syswrite STDOUT, "on\n"; sleep 1 while 1';
pipe(my $reader, my $writer) or die "pipe: $!";
my $pid = fork;
if ($pid == 0) {
	setpgrp(0, 0);
	open STDOUT, '>&', $writer or die "stdout: $!";
	exec @command, 'perl', '-e', $child;
	exit 127;
}
close $writer;

sub on
{
	my $ready = '';
	vec($ready, fileno $reader, 1) = 1;
	return select($ready, undef, undef, 10) &&
	    sysread $reader, my $text, 64;
}

sub stopped
{
	for (1 .. 1000) {
		return 1 if waitpid($pid, WUNTRACED | WNOHANG) == $pid;
		select undef, undef, undef, 0.01;
	}
	return 0;
}

my $good = 0;
on() or $rounds = 0;
for (1 .. $rounds) {
	kill TSTP => -$pid;
	stopped() or last;
	kill CONT => -$pid;
	on() or last;
	$good++;
}
kill KILL => $pid;
print "$good\n";

# Continues a job again and again: continue.pl ROUNDS COMMAND...
#
# The command leads a process group of its own and stops itself, as a shell
# does that is suspended; then what started it stops too.  SIGCONT for that
# job must reach the command each time.  Prints how often it did.
use strict;
use warnings;
use POSIX qw(:sys_wait_h);

my ($rounds, @command) = @ARGV;
my $child = 'setpgrp(0, 0); while (1) { kill STOP => $$; syswrite STDOUT, "on\n"; }';
pipe(my $reader, my $writer) or die "pipe: $!";
my $pid = fork;
if ($pid == 0) {
	setpgrp(0, 0);
	open STDOUT, '>&', $writer or die "stdout: $!";
	exec @command, 'perl', '-e', $child;
	exit 127;
}
close $writer;
my $good = 0;
for (1 .. $rounds) {
	waitpid($pid, WUNTRACED) == $pid or last;
	kill CONT => -$pid;
	my $ready = '';
	vec($ready, fileno $reader, 1) = 1;
	select($ready, undef, undef, 10) and sysread $reader, my $text, 64
	    or last;
	$good++;
}
kill KILL => $pid;
print "$good\n";

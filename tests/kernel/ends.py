"""How a run ends, and what a process group and a terminal see of it, as TAP for
tests/kernel/ends.sh: ends.py SBXRUN POLICY LEVEL."""
import os
import pty
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

SBXRUN, POLICY, LEVEL = sys.argv[1:]
RUN = [SBXRUN, '-l', LEVEL, POLICY, '--']
COUNT = '''
$| = 1;
my $seen = 0;
$SIG{$_} = sub { $seen++ } for qw(INT TERM HUP);
print qq(ready\\n);
select undef, undef, undef, 0.01 while !$seen;
my $end = time + 2;
select undef, undef, undef, 0.1 while time < $end;
print qq($seen\\n);
'''


def say(good, name, got):
    print(f"{'ok' if good else 'not ok'} - {LEVEL}: {name}")
    if not good:
        print(f'# got {got!r}')


def start(*command):
    return subprocess.Popen(RUN + list(command), stdout=subprocess.PIPE,
                            stdin=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL,
                            start_new_session=True, text=True)


def early():
    # As many as fit into a start, which takes some milliseconds.
    for after in range(0, 8000, 100):
        job = start('sleep', '9')
        end = time.monotonic() + after / 1e6
        while time.monotonic() < end:
            pass
        job.terminate()
        try:
            status = job.wait(5)
        except subprocess.TimeoutExpired:
            status = 'none'
            job.kill()
        if status != -signal.SIGTERM:
            say(False, f'SIGTERM {after} us after the start', status)
            return
    say(True, 'SIGTERM at any moment of the start', None)


def runs(mark):
    return subprocess.run(['pgrep', '-f', mark], stdout=subprocess.PIPE,
                          check=False).stdout != b''


def is_gone(mark):
    for _ in range(200):
        if not runs(mark):
            return True
        time.sleep(0.05)
    return False


def once():
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        for whom in 'the group', 'sbxrun':
            job = start('perl', '-e', COUNT)
            job.stdout.readline()
            (os.killpg if whom == 'the group' else os.kill)(job.pid, number)
            got = job.stdout.read().strip()
            job.wait()
            say(got == '1', f'{number.name} for {whom} comes once', got)


def killed(name, script):
    """A harness sends TERM, then KILL, to the group."""
    mark = f'sleep 1{os.getpid()}.{len(name)}{len(LEVEL)}'
    job = start('sh', '-c', f"setsid {mark} & echo ready; "
                + script.replace('SLEEP', mark))
    job.stdout.readline()
    time.sleep(0.2)
    os.killpg(job.pid, signal.SIGTERM)
    time.sleep(0.3)
    try:
        os.killpg(job.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    job.wait()
    gone = is_gone(mark)
    say(gone, f'{name}: nothing is left after the group was killed', mark)
    if not gone:
        subprocess.run(['pkill', '-KILL', '-f', mark], check=False)


class Screen:
    def __init__(self, script):
        self.seen = b''
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM='xterm', PS1='$ ')
            os.execvp('bash', ['bash', '--norc', '--noprofile', '-c', script])

    def until(self, what):
        end = time.time() + 20
        while not re.search(what, self.seen, re.S) and time.time() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.fd, 65536)
                except OSError:
                    break
        found = re.search(what, self.seen, re.S)
        got = self.seen
        self.seen = self.seen[found.end():] if found else b''
        return got if found else None

    def type(self, text):
        time.sleep(0.2)
        os.write(self.fd, text)

    def end(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def scripts():
    """A script starts sbxrun and goes on at the terminal afterwards."""
    run = ' '.join(RUN)
    for shell in 'bash --norc --noprofile -i', 'dash -i':
        screen = Screen(f'{run} {shell}; echo in-$?; '
                        'read -p "name? " x; echo out-$x')
        screen.until(rb'[$#] $')
        screen.type(b'exit 4\n')
        got = screen.until(rb'in-\d+.*name\? ')
        say(got and b'in-4' in got, f'{shell}: its status', got)
        screen.type(b'bob\n')
        got = screen.until(rb'out-bob')
        say(got is not None, f'{shell}: the script reads on', screen.seen)
        screen.end()
    screen = Screen(f'for i in 1 2; do {run} sh -c "echo go; exec sleep 60";'
                    ' echo on; done; echo on')
    screen.until(b'go')
    screen.type(b'\x03')
    got = screen.until(b'on\r')
    say(got is None, '^C ends the script, too', got)
    screen.end()
    screen = Screen(f"{run} sh -c 'echo first; sleep 1; echo last' | "
                    "sh -c 'cat; read x </dev/tty; echo read-$x'")
    screen.until(b'last')
    screen.type(b'bob\n')
    got = screen.until(b'read-bob')
    say(got is not None, 'a pager beside it reads the terminal', screen.seen)
    screen.end()
    screen = Screen(f'{run} perl -e {shlex.quote(COUNT)}; echo end')
    screen.until(b'ready')
    screen.type(b'\x03')
    got = screen.until(rb'\d\r')
    say(got and re.search(rb'1\r', got), '^C comes once', got)
    screen.end()


def seen():
    """What the command did to the terminal hides no line of sbxrun's."""
    run = ' '.join([SBXRUN, '--limit timeout=1s'] + RUN[1:])
    perl = ('use POSIX; syswrite STDOUT, "go\\e]0;x"; '
            'tcflow(1, TCOOFF); sleep 60')
    screen = Screen(f"{run} perl -e '{perl}'; echo end")
    screen.until(b'go')
    got = screen.until(rb'sbxrun: [^\n]*limit timeout')
    say(got and b'\x1b]0;x\x18\x1b\\\x1b[0msbxrun: ' in b'\x1b]0;x'
        + got.split(b'\x1b]0;x')[-1], 'a line is seen after a title', got)
    screen.end()


FILL = '''
use Fcntl; fcntl STDERR, F_SETFL, O_NONBLOCK;
syswrite STDERR, "x" for 1 .. 65536; sleep 60;
'''


def heard():
    """What the command does to stderr keeps no line of sbxrun's from it."""
    for name, script, ends, shared in (
            ('after shutdown(2)', 'shutdown STDERR, 2; sleep 60',
             socket.socketpair(), False),
            ('after shutdown(2) of a socket that is stdin as well',
             'shutdown STDIN, 2; sleep 60', socket.socketpair(), True),
            ('after a pipe was full', FILL, os.pipe(), False)):
        near, far = [end if isinstance(end, int) else end.detach()
                     for end in ends]
        job = subprocess.Popen([SBXRUN, '--limit', 'timeout=1s', '--limit',
                                'output=none'] + RUN[1:]
                               + ['perl', '-e', script],
                               stdin=far if shared else None,
                               stdout=subprocess.DEVNULL, stderr=far)
        os.close(far)
        time.sleep(1.4)
        got = b''
        while part := os.read(near, 65536):
            got += part
        job.wait()
        os.close(near)
        say(b'limit timeout' in got, name + ' a line is heard', got[-200:])


def lines(job, seconds):
    """What it says on stderr in that time."""
    got, end = b'', time.time() + seconds
    while time.time() < end and not got.endswith(b'second\n'):
        if select.select([job.stderr], [], [], 0.05)[0]:
            got += os.read(job.stderr.fileno(), 65536)
    return got


def told():
    """What a command did that ignores TERM, whose sbxrun is killed then."""
    script = """trap '' TERM; mkdir -p .git/hooks; echo >.git/hooks/pre-push
        echo first >&2; sleep 1; echo >.git/hooks/post-merge
        echo second >&2; sleep 60"""
    quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.PIPE}
    shutil.rmtree('.git', True)
    os.mkdir('.git')
    # As a command may make it that may write there.
    os.makedirs(os.path.expanduser('~/.local/state'), exist_ok=True)
    os.chmod(os.path.expanduser('~/.local'), 0o777)
    job = subprocess.Popen(RUN + ['sh', '-c', script], **quiet)
    while b'first' not in job.stderr.readline():
        pass
    job.terminate()
    got = lines(job, 5)
    say(got.count(b'made .git/hooks/pre-push') == 1
        and b'post-merge' not in got, 'told when asked to end', got)
    job.kill()
    job.communicate()
    subprocess.run([SBXRUN, '-l', LEVEL, POLICY[:-4] + '-tmp.bin', '--', 'sh',
                    '-c', 'rm -f /tmp/sbx-*/runs/* /run/user/*/sbx-runs/*'],
                   check=False, stderr=subprocess.DEVNULL)
    got = subprocess.run([SBXRUN, '--doctor', POLICY], check=False,
                         stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE).stderr
    killed_one = (b'sbxrun: a run that was killed, or somebody since, made '
                  + os.getcwd().encode() + b'/.git/hooks/post-merge')
    say(killed_one in got, 'the doctor tells of a killed run, whatever a '
        'command did in /tmp', got)
    got = [subprocess.run(RUN + ['true'], check=False, **quiet).stderr
           for _ in range(2)]
    say(killed_one in got[0] and b'killed' not in got[1],
        'and the next run does', got)


once()
early()
heard()
told()
killed('a command that goes on', "trap '' TERM; SLEEP; SLEEP")
killed('a command that stops its group', "trap '' TERM; kill -STOP 0; SLEEP")
killed('a command that stops itself', 'kill -STOP $$; SLEEP')
scripts()
seen()

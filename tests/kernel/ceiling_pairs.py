#!/usr/bin/env python3
"""Random pairs of a policy and a ceiling: what a command gets is what both allow.

ceiling_pairs.py COUNT SEED LEVELS SBXC HOME COMMAND...  in a namespace where
/etc/sbx may be written.  COMMAND runs what follows as the user.  What is expected
comes of the rules in the plain way, one right at one place after the other.
"""
import os
import random
import shutil
import socket
import subprocess
import sys

BASE = ["allow exec /usr", "allow read /bin", "allow read /lib", "allow read /lib64",
        "allow read /etc/ld.so.cache", "allow write /dev/null"]
DIRS = ["t", "t/a", "t/b", "t/a/x", "t/a/y", "t/b/x"]
FILES = [d + "/f" for d in DIRS]
VARIABLES = ["AB", "AC", "BC"]
PATTERNS = ["A*", "*C", "AB", "B*", "*"]
NAMES = ["a.test", "x.a.test", "y.x.a.test", "b.test"]
HOSTS = ["a.test", "*.a.test", "x.a.test", "*.x.a.test", "b.test", "b.test:8443"]

PROBE = r"""
use Socket;
for (split / /, shift) {
    my $f = $_;
    my $h;
    print open($h, "<", $f) ? 1 : 0;
    print open($h, "+<", $f) ? 1 : 0;
    close $h;
    my $p = fork;
    if (!$p) { open STDERR, ">", "/dev/null"; exec {$f} $f; exit 1 }
    waitpid $p, 0;
    print $? == 0 ? 1 : 0;
}
print defined $ENV{$_} ? 1 : 0 for split / /, shift;
print defined gethostbyname($_) ? 1 : 0 for split / /, shift;
for (split / /, shift) {
    socket my $s, AF_INET, SOCK_STREAM, 0 or print(0), next;
    print connect($s, sockaddr_in($_, inet_aton("127.0.0.1"))) ? 1 : 0;
}
"""


class Policy:
    def __init__(self, chance, ports):
        self.paths, self.env, self.hosts = [], [], []
        self.net = chance.choice(["none", "selected", "selected", "ports", "full"])
        for _ in range(chance.randint(2, 5)):
            place = chance.choice(DIRS + FILES)
            effect = chance.choice(["allow", "allow", "allow", "deny"])
            right = chance.choice(["read", "write", "exec"])
            inner = [d for d in DIRS + FILES if d.startswith(place + "/")]
            but = chance.choice(inner) if inner and chance.random() < 0.3 else None
            self.paths.append((effect, right, place, but))
        for _ in range(chance.randint(1, 3)):
            self.env.append((chance.choice(["allow", "allow", "deny"]),
                             chance.choice(PATTERNS)))
        for _ in range(chance.randint(1, 3)):
            self.hosts.append((chance.choice(["allow", "allow", "deny"]),
                               chance.choice(HOSTS)))
        self.ports = [p for p in ports if chance.random() < 0.6]

    def text(self):
        lines = list(BASE)
        for effect, right, place, but in self.paths:
            lines.append(f"{effect} {right} ~/{place}" +
                         (f" except ~/{but}" if but else ""))
        lines += [f"{e} env {p}" for e, p in self.env]
        if self.net == "selected":
            lines += [f"{e} network domain {h}" for e, h in self.hosts]
            lines += [f"allow network host tcp {p}" for p in self.ports]
        elif self.net == "ports":
            lines += [f"allow network connect tcp {p}" for p in self.ports]
        elif self.net == "full":
            lines += ["allow network full"]
        return "sbx 1\nprofile p {\n" + "\n".join(lines) + "\n}\n"

    def file(self, right, path):
        """Whether the right is given: some allow covers the path, and no deny."""
        gives = {"read": ("read", "write", "exec"), "write": ("write",),
                 "exec": ("exec",)}[right]
        takes = {"read": ("read",), "write": ("read", "write"),
                 "exec": ("read", "exec")}[right]

        def covers(rule):
            inside = lambda at: path == at or path.startswith(at + "/")
            return inside(rule[2]) and not (rule[3] and inside(rule[3]))
        return (any(r[0] == "allow" and r[1] in gives and covers(r) for r in self.paths)
                and not any(r[0] == "deny" and r[1] in takes and covers(r)
                            for r in self.paths))

    def variable(self, name):
        def matches(pattern):
            head, star, tail = pattern.partition("*")
            return (name.startswith(head) and name.endswith(tail)) if star \
                else name == pattern
        found = [e for e, p in self.env if matches(p)]
        return "allow" in found and "deny" not in found

    def name(self, name, port):
        def matches(host):
            host, _, of = host.partition(":")
            return (name.endswith(host[1:]) if host[0] == "*" else name == host), of
        if self.net == "full":
            return True
        if self.net == "ports":
            return port in self.ports
        if self.net != "selected":
            return False
        allowed = False
        for effect, host in self.hosts:
            match, of = matches(host)
            if effect == "deny" and match and of in ("", str(port)):
                return False
            allowed |= effect == "allow" and match and \
                (str(port) == of or (of == "" and port in (80, 443)))
        return allowed

    def port(self, port):
        return self.net == "full" or (self.net != "none" and port in self.ports)


def wanted(pair, ports, asks_names):
    out = ""
    both = lambda ask: "1" if all(ask(p) for p in pair) else "0"
    for file in FILES:
        out += both(lambda p: p.file("read", file))
        # Opened for both.
        out += both(lambda p: p.file("write", file) and p.file("read", file))
        out += both(lambda p: p.file("exec", file))
    for name in VARIABLES:
        out += both(lambda p: p.variable(name))
    for name in NAMES if asks_names else []:
        out += "1" if any(all(p.name(name, port) for p in pair)
                          for port in (80, 443, 8443)) else "0"
    for port in ports:
        out += both(lambda p: p.port(port))
    return out


def build(sbxc, text, path):
    with open(path + ".sbx", "w") as stream:
        stream.write(text)
    return subprocess.run([sbxc, "build", "-o", path, path + ".sbx"],
                          stderr=subprocess.DEVNULL).returncode == 0


def main():
    count, seed, levels, sbxc, home = sys.argv[1:6]
    command, chance = sys.argv[6:], random.Random(int(seed))
    listeners = [socket.create_server(("127.0.0.1", 0), backlog=128) for _ in range(3)]
    ports = [s.getsockname()[1] for s in listeners]
    for directory in DIRS:
        os.makedirs(f"{home}/{directory}", exist_ok=True)
        shutil.copy("/bin/true", f"{home}/{directory}/f")
    subprocess.run(["chown", "-R", "--reference", home, home + "/t"], check=True)
    shutil.rmtree("/etc/sbx", ignore_errors=True)
    os.mkdir("/etc/sbx")
    asked, done = 0, 0
    while done < int(count):
        pair = (Policy(chance, ports), Policy(chance, ports))
        if not (build(sbxc, pair[0].text(), home + "/policy.bin") and
                build(sbxc, pair[1].text(), "/etc/sbx/ceiling.bin")):
            continue
        done += 1
        selected = "selected" in (pair[0].net, pair[1].net) and \
            "none" not in (pair[0].net, pair[1].net)
        for level in levels.split():
            # Level standard holds ports, and looks no names up by itself.
            names = NAMES if selected and level == "full" else []
            with open(home + "/policy.bin", "rb") as policy:
                run = subprocess.run(
                    command + ["-l", level, "/dev/stdin", "--", "/usr/bin/perl", "-e",
                               PROBE, " ".join(f"{home}/{f}" for f in FILES), " ".join(VARIABLES),
                               " ".join(names), " ".join(map(str, ports))],
                    input=policy.read(), capture_output=True, cwd=home,
                    env=dict(os.environ, HOME=home, AB="1", AC="1", BC="1"))
            want = wanted(pair, ports, names)
            got = run.stdout.decode()
            asked += len(want)
            if got != want:
                print(f"{level}: wanted {want}\n     got {got}\n{run.stderr.decode()}")
                print(pair[0].text(), pair[1].text(), sep="\nceiling:\n")
                return 1
        for listener in listeners:
            listener.setblocking(False)
            try:
                while True:
                    listener.accept()[0].close()
            except BlockingIOError:
                pass
    print(f"{done} pairs, {asked} questions")
    return 0


sys.exit(main())

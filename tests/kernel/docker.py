#!/usr/bin/python3
"""docker.py BUNDLE run ARGUMENT...: `docker run`, as far as what `sbxc export -O
docker` writes needs it: the arguments are read by Docker's rules, become the
config.json that Docker would write, and crun runs that in an empty image.
An argument that is not known here is an error."""
import csv
import json
import os
import sys

FLAGS = {"--rm", "--interactive", "--read-only", "--tty"}
# What makes "readonly" hold for all that is mounted below, since Docker 25.
RECURSIVE = {"bind-recursive": "readonly", "bind-propagation": "rprivate"}
ULIMITS = {"fsize", "nofile", "cpu", "core", "stack"}


def fail(text):
    sys.exit("docker.py: " + text)


def arguments(words):
    options, given = {}, list(words)
    while given and given[0] != "--":
        name = given.pop(0)
        if not name.startswith("--"):
            fail("no option: " + name)
        value = True if name in FLAGS else given.pop(0)
        options.setdefault(name, []).append(value)
    return options, given[1:]


def mount(text):
    """One line of comma-separated values."""
    (fields,) = csv.reader([text])
    got = {}
    for field in fields:
        key, _, value = field.partition("=")
        if key in got or value != value.strip():
            fail("a bad mount: " + text)
        got[key] = value
    readonly = got.pop("readonly", None) is not None
    at, kind = got.pop("dst"), got.pop("type")
    if not at.startswith("/") or at == "/" or at.startswith("/proc/"):
        fail("a bad place: " + text)
    if kind == "bind":
        source = got.pop("src")
        if not os.path.lexists(source) or not source.startswith("/"):
            fail("no such source: " + text)
        result = {"source": source, "type": "bind",
                  "options": ["rbind", "rprivate"]}
        if readonly and got == RECURSIVE:
            # Crun 1.8 takes what is to be "rro" for a directory.
            if os.path.isdir(source):
                result["options"].append("rro")
            got = {}
    else:
        result = {"source": "tmpfs", "type": "tmpfs", "options": [
            "noexec", "nosuid", "nodev", "mode=" + got.pop("tmpfs-mode")]}
    if kind not in ("bind", "tmpfs") or got:
        fail("a bad mount: " + text)
    result["destination"] = at
    result["options"].append("ro" if readonly else "rw")
    return result


def mounts(options):
    own = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
         "options": ["nosuid", "mode=755"]},
        {"destination": "/dev/shm", "type": "tmpfs", "source": "shm",
         "options": ["nosuid", "noexec", "nodev", "mode=1777"]}]
    asked = [mount(text) for text in options.pop("--mount", [])]
    places = [each["destination"] for each in asked]
    if len(places) != len(set(places)):
        fail("a place is mounted twice")
    whole = [each for each in own if each["destination"] not in places]
    return sorted(whole + asked, key=lambda each:
                  len(os.path.normpath(each["destination"]).split("/")))


def variables(options):
    got = {"PATH": "/usr/bin:/bin", "HOSTNAME": "c", "HOME": "/"}
    for text in options.pop("--env", []):
        name, equal, value = text.partition("=")
        if equal or name in os.environ:
            got[name] = value if equal else os.environ[name]
    return [name + "=" + value for name, value in got.items()]


def limits(options):
    got = []
    for text in options.pop("--ulimit", []):
        name, value = text.split("=")
        if name not in ULIMITS:
            fail("a bad limit: " + text)
        got.append({"type": "RLIMIT_" + name.upper(), "soft": int(value),
                    "hard": int(value)})
    return got


def single(options, name, default=None):
    values = options.pop(name, [default])
    if len(values) != 1:
        fail("twice: " + name)
    return values[0]


def config(words):
    options, command = arguments(words)
    security = dict(each.partition("=")[::2]
                    for each in options.pop("--security-opt"))
    with open(security.pop("seccomp"), encoding="utf-8") as stream:
        seccomp = json.load(stream)
    user, group = single(options, "--user").split(":")
    spaces = ["mount", "pid", "ipc", "uts", "cgroup"]
    if single(options, "--network") == "none":
        spaces.append("network")
    made = {
        "ociVersion": "1.0.2",
        "root": {"path": "root", "readonly": "--read-only" in options},
        "process": {
            "user": {"uid": int(user), "gid": int(group)},
            "cwd": single(options, "--workdir", "/"),
            "args": [single(options, "--entrypoint")] + command[1:],
            "env": variables(options), "rlimits": limits(options),
            "noNewPrivileges": "no-new-privileges" in security,
            "capabilities": {}},
        "mounts": mounts(options),
        "linux": {"namespaces": [{"type": each} for each in spaces],
                  "seccomp": seccomp}}
    security.pop("no-new-privileges", None)
    if options.pop("--cap-drop", None) != ["ALL"]:
        fail("capabilities stay")
    for name in FLAGS | {"--memory", "--memory-swap", "--pids-limit"}:
        options.pop(name, None)
    if options or security:
        fail("not known: " + " ".join([*options, *security]))
    return made


def main():
    bundle, words = sys.argv[1], sys.argv[2:]
    if words == ["--version"]:
        print("Docker version " + os.environ.get("DOCKER_VERSION", "25.0"))
        return
    if words[0] != "run":
        fail("what?")
    made = config(words[1:])
    os.makedirs(bundle + "/root", exist_ok=True)
    for each in made["mounts"]:
        each.setdefault("options", [])
    with open(bundle + "/config.json", "w", encoding="utf-8") as stream:
        json.dump(made, stream, indent=1)
    os.execvp("unshare", [
        "unshare", "-m", "sh", "-c",
        "mount -t cgroup2 none /sys/fs/cgroup; cd \"$1\" && exec crun "
        "--root \"$1/crun\" --cgroup-manager=disabled run \"$2\"",
        "sh", bundle, "sbx-docker-%d" % os.getpid()])


main()

"""Runs commands confined by a policy.

    with sbx.Sandbox("@coding", workspace="/src/app") as sandbox:
        result = sandbox.run(["npm", "test"], timeout=60)
        for denial in result.denials:
            print(denial["right"], denial["object"], denial["fix"])

Each command is a process of sbxrun, whose records say how it ended and what was
denied; sbxrun(1) says what the options mean.
"""
from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
import math
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

__all__ = ["Command", "Result", "Sandbox", "SandboxError", "why"]

Command = Union[str, Sequence[str]]  # a text is for `sh -c` inside
_REFUSED = 125
_numbers = itertools.count(1)


class SandboxError(Exception):
    """The command was not started; the message says why."""


@dataclasses.dataclass
class Result:
    """How a command ended.

    returncode is the command's own: negative after a signal, as in subprocess;
    126 and 127 where it could not be executed.  denials and changes are records
    of output.schema.json: what was denied, and what was made that runs later.
    """
    args: list
    returncode: int
    stdout: Any
    stderr: Any
    timed_out: bool
    denials: list
    changes: list
    receipt: Optional[dict]

    def check(self) -> "Result":
        """Raises subprocess.CalledProcessError unless the status is 0."""
        if self.returncode != 0:
            raise subprocess.CalledProcessError(self.returncode, self.args,
                                                self.stdout, self.stderr)
        return self


def _program(name: str, workspace) -> str:
    """Found once, and never where a command could put another one in its place,
    which the next run would start unconfined: a PATH often begins with a directory
    of the project."""
    found = shutil.which(name)
    if found is None:
        raise SandboxError(f"{name} was not found; install sbx")
    here = pathlib.Path.cwd()
    top = pathlib.Path(workspace) if workspace is not None else next(
        (at for at in (here, *here.parents) if (at / ".git").exists()), here)
    real = pathlib.Path(found).resolve()
    if top.resolve() in real.parents:
        raise SandboxError(f"{real} lies in the workspace, where a command could "
                           "replace it: install sbx elsewhere")
    return str(real)


def _vector(command: Command) -> list:
    if isinstance(command, str):
        return ["sh", "-c", command]
    words = [os.fspath(word) for word in command]
    if not words:
        raise ValueError("a command has at least one word")
    return words


def _result(args, status, stdout, stderr, text) -> Result:
    records = [json.loads(line) for line in text.decode().splitlines()]
    end = next((record for record in reversed(records)
                if record["event"] == "end"), None)
    # A command may end with 125 as well: only sbxrun's record tells.
    if status == _REFUSED and (end is None or end["exit"] != _REFUSED):
        said = stderr.decode(errors="replace") if isinstance(stderr, bytes) \
            else stderr
        raise SandboxError((said or "sbxrun refused the command").strip())
    if end is not None and end["exit"] is not None and status >= 0:
        status = end["exit"]
    return Result(args, status, stdout, stderr,
                  end is not None and end["timeout"],
                  [r for r in records if r["event"] == "denied"],
                  [r for r in records if r["event"] == "changed"], end)


# What sbxrun starts for each question about a host that no rule is about.
_HELPER = """#!{python}
import socket, sys
with socket.socket(socket.AF_UNIX) as stream:
    stream.connect({path!r})
    stream.sendall(sys.stdin.buffer.read())
    stream.shutdown(socket.SHUT_WR)
    sys.stdout.write(stream.makefile().read())
"""


class _Asker:
    """Hands sbxrun's questions to a function.  The helper lies where no command can
    write, as sbxrun wants of a program that runs outside."""

    def __init__(self, ask: Callable[[dict], str]):
        top = os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".config/sbx/python")
        os.makedirs(top, mode=0o700, exist_ok=True)
        self._ask = ask
        self._place = tempfile.TemporaryDirectory(prefix="ask-", dir=top)
        path, helper = (os.path.join(self._place.name, name)
                        for name in ("s", "ask"))
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(path)
        self._server.listen()
        with open(helper, "w", opener=lambda p, f: os.open(p, f, 0o700)) as file:
            file.write(_HELPER.format(python=sys.executable, path=path))
        self.option = "--ask=" + helper
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                stream = self._server.accept()[0]
            except OSError:
                return
            with stream, stream.makefile("rw") as file:
                try:
                    answer = self._ask(json.loads(file.read()))
                    file.write(f"{answer}\n")
                    file.flush()
                except Exception:  # nobody has allowed it
                    continue

    def close(self) -> None:
        # It wakes who accepts; close() alone does not.
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._place.cleanup()


class Sandbox:
    """A policy and a workspace.

    With session=True all commands share one sandbox, its /tmp and its network,
    until close(); without it each command has a new one.  explain=False records
    no denials, and each system call that names a file costs some 10 microseconds
    less.  ask gets a question about each host that no rule is about, while the
    command waits, and returns one of its "answers"; without it such a host is
    refused.
    """

    def __init__(self, policy: str = "@coding", *,
                 workspace: Optional[str] = None, level: Optional[str] = None,
                 parameters: Optional[Mapping[str, str]] = None,
                 limits: Optional[Mapping[str, str]] = None,
                 allow: Iterable[str] = (), deny: Iterable[str] = (),
                 explain: bool = True, session: bool = False,
                 ask: Optional[Callable[[dict], str]] = None,
                 sbxrun: str = "sbxrun"):
        self._sbxrun, self._explain = _program(sbxrun, workspace), explain
        self._policy = []
        if workspace is not None:
            self._policy += ["-w", os.fspath(workspace)]
        if level is not None:
            self._policy += ["-l", level]
        for name, value in (parameters or {}).items():
            self._policy += ["-D", f"{name}={value}"]
        for name, value in (limits or {}).items():
            self._policy.append(f"--limit={name}={value}")
        self._policy += [f"--allow={rule}" for rule in allow]
        self._policy += [f"--deny={rule}" for rule in deny]
        self._policy.append(os.fspath(policy))
        self._session = None
        self._asker = _Asker(ask) if ask is not None else None
        if session:
            name = f"python-{os.getpid()}-{next(_numbers)}"
            self._control(name, "--with-parent", "--idle=none", *self._policy,
                          "--", "true")
            self._session = name

    def _control(self, name: str, *words: str) -> None:
        ran = subprocess.run([self._sbxrun, "--session", name, *words],
                             stdin=subprocess.DEVNULL, capture_output=True,
                             check=False)
        if ran.returncode != 0:
            raise SandboxError(ran.stderr.decode(errors="replace").strip())

    def close(self) -> None:
        """Ends a session and all that runs in it."""
        if self._asker is not None:
            self._asker.close()
            self._asker = None
        if self._session is not None:
            self._control(self._session, "--end")
            self._session = None

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    async def __aenter__(self) -> "Sandbox":
        return self

    async def __aexit__(self, *_) -> None:
        await asyncio.to_thread(self.close)

    def _words(self, args: list, timeout: Optional[float], record: int) -> list:
        words = [self._sbxrun, f"--status-fd={record}"]
        if self._explain:
            words.append("--explain=quiet")
        if self._asker is not None:
            words.append(self._asker.option)
        if timeout is not None:
            words.append(f"--limit=timeout={math.ceil(timeout)}s")
        words += ["--session", self._session] if self._session else self._policy
        return words + ["--"] + args

    def run(self, command: Command, *, input=None, timeout=None, cwd=None,
            env=None, text: bool = True, check: bool = False,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE) -> Result:
        """Runs a command and waits for it, as subprocess.run() does.

        timeout is in seconds, rounded up: then sbxrun ends all of the command,
        and the result says so.
        """
        args = _vector(command)
        reader, writer = os.pipe()
        parts: list = []

        def read_records():
            with os.fdopen(reader, "rb") as stream:
                parts.append(stream.read())

        try:
            child = subprocess.Popen(
                self._words(args, timeout, writer), cwd=cwd, env=env, text=text,
                errors="replace" if text else None, pass_fds=[writer],
                stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
                stdout=stdout, stderr=stderr)
        except OSError as error:
            os.close(reader)
            raise SandboxError(f"{self._sbxrun}: {error.strerror}") from error
        finally:
            os.close(writer)
        thread = threading.Thread(target=read_records, daemon=True)
        thread.start()
        with child:
            try:
                output, errors = child.communicate(input)
            except BaseException:
                child.terminate()  # sbxrun ends what it has started
                raise
        thread.join()
        result = _result(args, child.returncode, output, errors, parts[0])
        return result.check() if check else result

    async def arun(self, command: Command, *, input: Optional[bytes] = None,
                   timeout=None, cwd=None, env=None) -> Result:
        """The same for asyncio; output is bytes.  Cancelled, it ends the
        command."""
        args = _vector(command)
        reader, writer = os.pipe()
        try:
            child = await asyncio.create_subprocess_exec(
                *self._words(args, timeout, writer), cwd=cwd, env=env,
                pass_fds=[writer], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL if input is None else subprocess.PIPE)
        except OSError as error:
            os.close(reader)
            raise SandboxError(f"{self._sbxrun}: {error.strerror}") from error
        finally:
            os.close(writer)
        stream = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(reader, "rb"))
        try:
            (output, errors), text = await asyncio.gather(
                child.communicate(input), stream.read())
        except BaseException:
            if child.returncode is None:
                child.terminate()
                await child.wait()
            raise
        finally:
            transport.close()
        return _result(args, child.returncode, output, errors, text)


def why(policy: str, *question: str, cwd=None, sbxc: str = "sbxc"):
    """What a policy says of an access, such as "read", "/etc/passwd":
    (whether it is allowed, the text)."""
    ran = subprocess.run([_program(sbxc, cwd), "why", policy, *question], cwd=cwd, text=True,
                         capture_output=True, check=False)
    if not ran.stdout.startswith(("allowed", "denied")):
        raise SandboxError(ran.stderr.strip())
    return ran.stdout.startswith("allowed"), ran.stdout

"""Commands in a sandbox, by libsbx and ctypes.

    with sbx.Sandbox("team.bin", workspace="/src/app") as sandbox:
        print(sandbox.run(["make", "test"]))
"""

import ctypes
import os

_library = ctypes.CDLL(os.environ.get("LIBSBX", "libsbx.so.0"))
_size, _text = ctypes.c_size_t, ctypes.c_char_p
_texts = ctypes.POINTER(ctypes.c_char_p)

UNSUPERVISED, KEEP_SIGNALS, SAME_GROUP, NEW_SESSION, TERMINAL, EXPLAIN = (
    1, 2, 4, 8, 16, 32)


class _Error(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("code", ctypes.c_int),
                ("text", ctypes.c_char * 1024)]


class _Options(ctypes.Structure):
    _fields_ = [("size", _size), ("policy", _text), ("blob", _text),
                ("blob_size", _size), ("workspace", _text), ("level", _text),
                ("parameters", _texts), ("limits", _texts), ("expect", _text),
                ("environment", _texts), ("sbxrun", _text),
                ("flags", ctypes.c_uint), ("stage", _text)]


class _Descriptor(ctypes.Structure):
    _fields_ = [("source", ctypes.c_int), ("to", ctypes.c_int)]


class _Command(ctypes.Structure):
    _fields_ = [("size", _size), ("argv", _texts), ("environment", _texts),
                ("directory", _text),
                ("descriptors", ctypes.POINTER(_Descriptor)),
                ("descriptor_count", _size), ("flags", ctypes.c_uint),
                ("pid", ctypes.POINTER(ctypes.c_int)),
                ("tree", ctypes.POINTER(ctypes.c_int))]


_library.sbx_open.restype = ctypes.c_void_p
_library.sbx_open.argtypes = [ctypes.POINTER(_Options), ctypes.POINTER(_Error)]
_library.sbx_spawn.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Command),
                               ctypes.POINTER(_Error)]
_library.sbx_close.argtypes = [ctypes.c_void_p]
_library.sbx_level.restype = _text
_library.sbx_level.argtypes = [ctypes.c_void_p]


class SandboxError(OSError):
    """What sbx.h calls an error; `kind` is its enum sbx_error_kind."""

    def __init__(self, error):
        super().__init__(error.code, error.text.decode(errors="replace"))
        self.kind = error.kind


def _bytes(text):
    return None if text is None else os.fsencode(os.path.expanduser(text))


def _list(texts):
    if texts is None:
        return None
    return (_text * (len(texts) + 1))(*map(os.fsencode, texts), None)


class Sandbox:
    def __init__(self, policy, workspace=None, level=None, parameters=None,
                 limits=None, sbxrun=None):
        error = _Error()
        options = _Options(
            size=ctypes.sizeof(_Options), policy=_bytes(policy),
            workspace=_bytes(workspace), level=_bytes(level),
            parameters=_list(parameters), limits=_list(limits),
            environment=_list([f"{k}={v}" for k, v in os.environ.items()]),
            sbxrun=_bytes(sbxrun))
        self._sandbox = _library.sbx_open(options, error)
        if not self._sandbox:
            raise SandboxError(error)
        self.level = _library.sbx_level(self._sandbox).decode()

    def spawn(self, argv, env=None, cwd=None, descriptors=(), flags=0):
        """Starts a command; `descriptors` has pairs (ours, its).  Returns a
        descriptor for os.waitid(os.P_PIDFD, ...) and the process's number."""
        error, pid = _Error(), ctypes.c_int()
        wanted = (_Descriptor * len(descriptors))(*descriptors)
        if env is None:
            env = os.environ
        command = _Command(
            size=ctypes.sizeof(_Command), argv=_list(argv),
            environment=_list([f"{k}={v}" for k, v in env.items()]),
            directory=_bytes(cwd), descriptors=wanted,
            descriptor_count=len(wanted), flags=flags,
            pid=ctypes.pointer(pid))
        pidfd = _library.sbx_spawn(self._sandbox, command, error)
        if pidfd < 0:
            raise SandboxError(error)
        return pidfd, pid.value

    def run(self, argv, **more):
        """The exit status of a command, or minus the signal that ended it."""
        pidfd, _ = self.spawn(argv, **more)
        try:
            end = os.waitid(os.P_PIDFD, pidfd, os.WEXITED)
        finally:
            os.close(pidfd)
        if end.si_code == os.CLD_EXITED:
            return end.si_status
        return -end.si_status

    def output(self, argv, **more):
        """What a command writes to its standard output, and its status."""
        ours, its = os.pipe()
        with open(ours, "rb") as stream:
            try:
                pidfd, _ = self.spawn(argv, descriptors=[(its, 1)], **more)
            finally:
                os.close(its)
            text = stream.read()
        end = os.waitid(os.P_PIDFD, pidfd, os.WEXITED)
        os.close(pidfd)
        return text, end.si_status

    def close(self):
        sandbox, self._sandbox = self._sandbox, None
        _library.sbx_close(sandbox)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

"""`fieldmark` commands as forks of one process that has imported what they import.

A command that is started anew spends a second of CPU on imports, and the tests start hundreds. A fork is a
process of its own with its own pid, environment, folder, streams and end; what starts worker processes from
it starts them anew. `FIELDMARK_TEST_EXEC=1` starts every command anew, as a shell does.
"""

from __future__ import annotations

import functools
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIELDMARK = str(Path(sys.executable).with_name("fieldmark"))
MODULES = (
    "fieldmark.launch", "fieldmark.twin", "fieldmark.estimate", "fieldmark.study.carrying_out",
    "fieldmark.evals.report.html", "fieldmark.evals.report.terminal", "fieldmark.exporting.public",
    "fieldmark.sandbox.image", "docker", "jinja2", "openai", "scipy.stats",
    "statsmodels.stats.contingency_tables", "statsmodels.stats.multitest",
)  # fmt: skip
"""What takes longest to import. None of it starts a thread of Python's, which a fork would lose."""
MESSAGE = 1 << 17


class CommandServer:
    """The tests' end. For several threads."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "tests.command_server", str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )
        self._sending = threading.Lock()

    def run(
        self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], timeout: float,
        started: Callable[[int], object],
    ) -> subprocess.CompletedProcess[str]:  # fmt: skip
        """`fieldmark ARGUMENTS`, waited for; `started` is told its pid. TimeoutExpired after killing it."""
        asked = json.dumps({"arguments": [*arguments], "cwd": str(cwd), "env": dict(env)}).encode()
        ours, theirs = socket.socketpair()
        with ours, theirs, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            with self._sending:
                socket.send_fds(self._socket, [asked], [theirs.fileno(), out.fileno(), errors.fileno()])
            theirs.close()
            lines = ours.makefile()
            started(pid := int(lines.readline()))
            ours.settimeout(timeout)
            try:
                code = int(lines.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired([FIELDMARK, *arguments], timeout) from None
            streams = [_text(stream) for stream in (out, errors)]
        return subprocess.CompletedProcess([FIELDMARK, *arguments], code, *streams)

    def close(self) -> None:
        self._socket.close()
        self._process.wait(30)


def run_anew(
    arguments: Sequence[str], cwd: Path, env: Mapping[str, str], timeout: float,
    started: Callable[[int], object],
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """The same, started as a shell does it."""
    command = [FIELDMARK, *arguments]
    with subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        started(process.pid)
        try:
            out, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, errors)


def _text(stream: Any) -> str:
    stream.seek(0)
    text: str = stream.read().decode()
    return text.replace("\r\n", "\n").replace("\r", "\n")  # as subprocess does it


def serve(control: socket.socket) -> Callable[[], object] | None:
    """Fork for each request; in a fork what is left to do, in the server None when the tests are over."""
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is not control:
                pid, reply = key.data
                selector.unregister(key.fd)
                os.close(key.fd)
                _tell(reply, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                reply.close()
                continue
            message, fds, _, _ = socket.recv_fds(control, MESSAGE, 3)
            if not message:
                return None
            if not (pid := os.fork()):
                return functools.partial(_become, json.loads(message), fds[1:])
            reply = socket.socket(fileno=fds[0])
            _tell(reply, pid)
            for stream in fds[1:]:
                os.close(stream)
            selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, reply))


def _tell(reply: socket.socket, number: int) -> None:
    try:
        reply.sendall(f"{number}\n".encode())
    except OSError:  # its test has ended
        return


def _become(asked: dict[str, Any], streams: Sequence[int]) -> None:
    """This fork is now the command, as if the script had been started."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for place, stream in enumerate(streams, 1):
        os.dup2(stream, place)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    main = sys.modules["__main__"]
    main.__file__, main.__spec__ = FIELDMARK, None  # what worker processes begin with
    sys.path[0] = str(Path(FIELDMARK).parent)
    sys.argv = [FIELDMARK, *asked["arguments"]]
    from fieldmark.cli import main as command

    command()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in MODULES:
        importlib.import_module(name)
    gc.freeze()
    if job := serve(socket.socket(fileno=int(sys.argv[1]))):
        job()

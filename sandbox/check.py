"""`fieldmark sandbox check`: proves the sandbox's promises from inside a container made like any other."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from importlib.resources import files
from typing import Any

from fieldmark.needs import Needs
from fieldmark.sandbox import container as spec
from fieldmark.sandbox import goldscan
from fieldmark.sandbox.gateway.sockets import Sockets
from fieldmark.sandbox.reaper import remove

PROBES = {
    "non-root": "non_root",
    "read-only root": "read_only_root",
    "no capabilities": "no_capabilities",
    "no new privileges": "no_new_privileges",
    "seccomp profile": "seccomp_filter",
    "kernel not writable": "kernel_not_writable",
    "no network route": "no_network_route",
    "DNS dead": "dns_dead",
    "gateway reachable": "gateway_reachable",
    "socket directory not writable": "socket_folder_not_writable",
    "no other container's socket": "no_other_socket",
    "pid limit bites": "pid_limit_bites",
    "temporary space bounded": "temporary_space_bounded",
    "open files bounded": "open_files_bounded",
    "Tesseract starts": "tesseract_starts",
    "Chromium starts": "chromium_starts",
    "no secret in the environment": "no_secret_in_environment",
}
"""What is promised → the function of `probe.py` that tests it."""
MEMORY_HOG = "b = bytearray(); [b.extend(bytes(2**26)) for _ in range(64)]"
"""Takes 4 GiB, four times what a container may have."""
PROBE_SECONDS = 120.0
"""The longest that a probe may take. A runtime may hang as a whole where a limit bites."""
HUNG = f"no end within {PROBE_SECONDS:.0f} s"


def run_checks(
    client: Any, image: str, gold: Iterable[str], runtime: str | None = None
) -> Iterator[tuple[str, str | None]]:
    """Each promise and what is wrong with it (None: it holds), in order.

    `gold` are phrases that may stand nowhere in the image; they are looked for from outside it. `runtime` is
    one that the engine knows.
    """
    loop = asyncio.new_event_loop()
    checks = _inside(client, image, Needs(runtime=runtime))
    try:
        while True:
            yield loop.run_until_complete(anext(checks))
    except StopAsyncIteration:
        pass
    finally:
        loop.run_until_complete(checks.aclose())  # type: ignore[attr-defined]
        loop.close()
    yield "no gold in the image", _gold(client, image, gold)


async def _inside(client: Any, image: str, needs: Needs) -> AsyncIterator[tuple[str, str | None]]:
    """Two doors, as for two containers; one container, which must find only its own."""
    sockets = Sockets()
    container = None
    try:
        door, _other = await sockets.open_door(), await sockets.open_door()
        container = await asyncio.to_thread(_start, client, image, door.folder, needs)
        probes = {promise: partial(_probe, client, container, probe) for promise, probe in PROBES.items()}
        probes["memory limit bites"] = partial(_memory, client, container)
        hung: str | None = None
        for promise, probe in probes.items():
            if hung is None:
                found = await asyncio.to_thread(in_time, probe)
                hung = promise if found == HUNG else None
            else:
                found = f"not tried: the container hangs since {hung!r}"
            yield promise, found
    finally:
        if container:
            await asyncio.to_thread(remove, client, container)
        sockets.close()


def in_time(probe: Callable[[], str | None]) -> str | None:
    """What a probe found, or HUNG. A daemon thread: one that never ends does not keep us."""
    answer: Future[str | None] = Future()

    def answering() -> None:
        try:
            answer.set_result(probe())
        except Exception as error:
            answer.set_exception(error)

    threading.Thread(target=answering, daemon=True).start()
    try:
        return answer.result(PROBE_SECONDS)
    except TimeoutError:
        return HUNG


def _start(client: Any, image: str, door: Any, needs: Needs) -> str:
    options = spec.create_options(image, ["sleep", "600"], f"check-{secrets.token_hex(3)}", 600)
    host = client.api.create_host_config(**spec.host_options(door, needs, {}))
    created = client.api.create_container(host_config=host, **options)
    client.api.start(created["Id"])
    return str(created["Id"])


def _probe(client: Any, container: str, name: str) -> str | None:
    source = (files("fieldmark.sandbox") / "probe.py").read_text(encoding="utf-8")
    _, output = _run(client, container, [spec.PYTHON, "-c", source, name])
    return output or None


def _memory(client: Any, container: str) -> str | None:
    code, output = _run(client, container, [spec.PYTHON, "-c", MEMORY_HOG])
    return None if code == 137 or "MemoryError" in output else f"4 GiB could be taken (exit {code})"


def _run(client: Any, container: str, command: list[str]) -> tuple[int, str]:
    made = client.api.exec_create(container, command)
    output = client.api.exec_start(made["Id"]).decode("utf-8", "replace").strip()
    code = client.api.exec_inspect(made["Id"])["ExitCode"]
    return code, output[-300:] if code == 0 else f"exit {code}: {output[-300:]}"


def _gold(client: Any, image: str, phrases: Iterable[str]) -> str | None:
    hits = goldscan.scan(client, image, phrases)
    shown = "; ".join(f"{hit.phrase!r} in the {hit.where} of {hit.path}" for hit in hits[:5])
    return f"{len(hits)} hits: {shown}" if hits else None

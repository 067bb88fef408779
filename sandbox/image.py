"""The sandbox image: its name, whether it is current, how it is built, saved and loaded.

The tag holds a hash of everything the image is made from, so "is it current" is a look-up by name. It is
built in two steps: the runtime (Debian and wheels, minutes) and our own files on top of it (seconds).
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from fieldmark.errors import UsageError
from fieldmark.sandbox import base_image, build_context

if TYPE_CHECKING:
    from docker import DockerClient

REPOSITORY = "fieldmark-sandbox"
RUNTIME = "fieldmark-runtime"
State = Literal["ready", "stale", "missing"]
KINDS = (None, *build_context.EXTRAS)

FREE_BYTES_NEEDED = 6 * 1024**3
KEPT = 4  # images that stay, so that checkouts side by side do not take each other's away
ERROR_LINES = 8  # of a failed build's output that the user is shown
STEP_CHARACTERS = 100  # of a build step that the user is shown
CHUNK_BYTES = 1 << 20


def inputs_hash(extra: str | None = None) -> str:
    """Hex digest of the Dockerfile, the locked requirements, every agent-side file and the base's name."""
    return build_context.fingerprint(base_image.PULLED, extra)


def tag(extra: str | None = None) -> str:
    """The name that the current image has, the one with an extra of `build_context.EXTRAS`."""
    return f"{REPOSITORY}:{inputs_hash(extra)[:12]}"


def runtime_tag(extra: str | None = None) -> str:
    """The name that the current runtime (the image without our own files) has."""
    return f"{RUNTIME}:{build_context.runtime_fingerprint(base_image.PULLED, extra)[:12]}"


def state(client: DockerClient, extra: str | None = None) -> State:
    """`stale` means that only images of other inputs are there."""
    tags = _tags(client, REPOSITORY)
    if tag(extra) in tags:
        return "ready"
    return "stale" if tags - {tag(kind) for kind in KINDS} else "missing"


def require(client: DockerClient, extra: str | None = None) -> str:
    """Id of the current image; UsageError with the remedy when it has to be built first."""
    found = state(client, extra)
    if found != "ready" and extra:
        raise UsageError(f"no sandbox image with {extra}: run `fieldmark sandbox build --with {extra}`")
    if found != "ready":
        raise UsageError(f"sandbox image is {found}: run `fieldmark sandbox build`")
    return str(client.images.get(tag(extra)).id)


def build(client: DockerClient, say: Callable[[str], None], extra: str | None = None) -> str:
    """Id of the current image, built when it is not there. The newest KEPT stay for other checkouts."""
    wanted = tag(extra)
    if wanted not in _tags(client, REPOSITORY):
        with _one_build_at_a_time():
            runtime = _build_runtime(client, say, extra)
            _build_package(client, runtime, wanted, say)
            _remove(client, _outdated(client, wanted), say)
    return str(client.images.get(wanted).id)


def save(client: DockerClient, path: Path, extra: str | None = None) -> None:
    """Write the current image as a tar that `load` (or `docker load`) reads on another machine."""
    image_id = require(client, extra)
    with path.open("wb") as out:
        for chunk in client.images.get(image_id).save(chunk_size=CHUNK_BYTES, named=tag(extra)):
            out.write(chunk)


def load(client: DockerClient, path: Path) -> str:
    """Load what `save` wrote; the id of the image. UsageError when it was made from other inputs."""
    if not path.is_file():
        raise UsageError(f"{path} is not a file: write one with `fieldmark sandbox save`")
    with path.open("rb") as stream:
        names = [name for image in client.images.load(stream) for name in image.tags]
    for kind in KINDS:
        if tag(kind) in names:
            return require(client, kind)
    raise UsageError(f"{path} holds {', '.join(names) or 'no image'}, this version needs {tag()}")


def remove_all(client: DockerClient, say: Callable[[str], None]) -> None:
    """Remove every image of ours that no container uses, the base that we made included."""
    for repository in (REPOSITORY, RUNTIME, base_image.MADE.split(":")[0]):
        _remove(client, _tags(client, repository), say)


def _tags(client: DockerClient, repository: str) -> set[str]:
    prefix = f"{repository}:"
    return {t for image in client.images.list(repository) for t in image.tags if t.startswith(prefix)}


@contextmanager
def _one_build_at_a_time() -> Iterator[None]:
    with (Path(tempfile.gettempdir()) / f"fieldmark-build-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build_runtime(client: DockerClient, say: Callable[[str], None], extra: str | None) -> str:
    wanted = runtime_tag(extra)
    if wanted not in _tags(client, RUNTIME):
        _check_disk(client)
        base_name = base_image.find_base(client, say)
        say("fetching wheels")
        with tempfile.NamedTemporaryFile(suffix=".tar") as packed:
            build_context.write_runtime_context(Path(packed.name), client.info()["Architecture"], extra)
            _run_build(client, packed, wanted, {"BASE": base_name, **build_context.proxy_settings()}, say)
        client.images.prune(filters={"dangling": True, "label": "fieldmark=stage"})
    return wanted


def _build_package(client: DockerClient, runtime: str, wanted: str, say: Callable[[str], None]) -> None:
    with tempfile.NamedTemporaryFile(suffix=".tar") as packed:
        build_context.write_package_context(Path(packed.name))
        _run_build(client, packed, wanted, {"RUNTIME": runtime}, say)


def _check_disk(client: DockerClient) -> None:
    root = Path(client.info().get("DockerRootDir", "/"))
    if root.is_dir() and (free := shutil.disk_usage(root).free) < FREE_BYTES_NEEDED:
        raise UsageError(
            f"{root} has {free / 1024**3:.1f} GB free and the build needs {FREE_BYTES_NEEDED / 1024**3:.0f}: "
            "make room (`docker system prune` removes what no container uses)"
        )


def _run_build(
    client: DockerClient, packed: IO[bytes], wanted: str, args: dict[str, str], say: Callable[[str], None]
) -> None:
    say(f"building {wanted}")
    output = client.api.build(
        fileobj=packed, custom_context=True, tag=wanted, buildargs=args, rm=True, forcerm=True, decode=True
    )
    last: deque[str] = deque(maxlen=ERROR_LINES)
    for message in output:
        if "error" in message:
            raise UsageError(f"building {wanted} failed:\n" + "\n".join([*last, message["error"]]))
        for line in filter(str.strip, message.get("stream", "").splitlines()):
            last.append(line.strip())
            if line.startswith("Step "):
                say(line[:STEP_CHARACTERS])


def _outdated(client: DockerClient, wanted: str) -> set[str]:
    """Runtimes of other inputs, and all images but the newest few: those share most of their layers."""
    images = sorted(client.images.list(REPOSITORY), key=lambda image: image.attrs["Created"], reverse=True)
    newest = {tag for image in images[:KEPT] for tag in image.tags}
    runtimes = {runtime_tag(kind) for kind in KINDS}
    return (_tags(client, REPOSITORY) | _tags(client, RUNTIME)) - newest - runtimes - {wanted}


def _remove(client: DockerClient, names: set[str], say: Callable[[str], None]) -> None:
    from docker.errors import APIError

    for name in sorted(names):
        try:
            client.images.remove(name)
        except APIError:
            say(f"{name} is in use: it stays for now")
        else:
            say(f"removed {name}")

"""The sandbox image: its name, whether it is current, how it is built, saved and loaded.

The tag holds a hash of everything the image is made from, so "is it current" is a look-up by name. It is
built in steps: the runtime (Debian and wheels, minutes), the packages of one agent of others where a variant
has them, and our own files on top (seconds).
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from fieldmark.errors import UsageError
from fieldmark.needs import Kit
from fieldmark.sandbox import base_image, build_context
from fieldmark.sandbox.build_context import PLAIN, Variant

if TYPE_CHECKING:
    from docker import DockerClient

REPOSITORY = "fieldmark-sandbox"
RUNTIME = "fieldmark-runtime"
KIT = "fieldmark-kit"
State = Literal["ready", "stale", "missing"]

FREE_BYTES_NEEDED = 6 * 1024**3
KEPT = 8  # images of a variant that stay, so that checkouts side by side do not take each other's away
LAYERS_KEPT = 4  # of each kind under them
KEPT_SECONDS = 24 * 3600  # a younger one is never removed: another checkout may use it between two runs
ERROR_LINES = 30  # of a failed build's output that the user is shown
STEP_CHARACTERS = 100  # of a build step that the user is shown
CHUNK_BYTES = 1 << 20


def tag(variant: Variant = PLAIN) -> str:
    """The name that the current image of a variant has."""
    return f"{REPOSITORY}:{variant.prefix}{build_context.fingerprint(base_image.PULLED, variant)[:12]}"


def kit_tag(kit: Kit, extra: str | None = None) -> str:
    """The name that the current runtime with a kit has."""
    return f"{KIT}:{kit.name}-{build_context.kit_fingerprint(base_image.PULLED, kit, extra)[:12]}"


def runtime_tag(extra: str | None = None) -> str:
    """The name that the current runtime (the image without our own files) has."""
    return f"{RUNTIME}:{build_context.runtime_fingerprint(base_image.PULLED, extra)[:12]}"


def state(client: DockerClient, variant: Variant = PLAIN) -> State:
    """`stale` means that only images of other inputs are there."""
    tags = _alike(_tags(client, REPOSITORY), variant)
    if tag(variant) in tags:
        return "ready"
    return "stale" if tags else "missing"


def require(client: DockerClient, variant: Variant = PLAIN, agent: str | None = None) -> str:
    """Id of the current image; UsageError with the remedy, naming `agent`, when it must be built first."""
    found = state(client, variant)
    if found != "ready":
        options = f" --with {variant.extra}" if variant.extra else ""
        options += f" --agent {agent or variant.kit.name}" if variant.kit else ""
        what = f" for{options}" if options else ""
        raise UsageError(f"the sandbox image{what} is {found}: run `fieldmark sandbox build{options}`")
    return str(client.images.get(tag(variant)).id)


def build(client: DockerClient, say: Callable[[str], None], variant: Variant = PLAIN) -> str:
    """Id of the current image, built when it is not there. Those of other checkouts stay (`_outdated`)."""
    wanted = tag(variant)
    if wanted not in _tags(client, REPOSITORY):
        with _one_build_at_a_time():
            runtime = _build_runtime(client, say, variant.extra)
            if variant.kit:
                runtime = _build_kit(client, runtime, variant.kit, variant.extra, say)
            _build_package(client, runtime, wanted, say)
            _remove(client, _outdated(client, wanted, variant), say)
    return str(client.images.get(wanted).id)


def save(client: DockerClient, path: Path, variant: Variant = PLAIN) -> None:
    """Write the current image as a tar that `load` (or `docker load`) reads on another machine."""
    image_id = require(client, variant)
    with path.open("wb") as out:
        for chunk in client.images.get(image_id).save(chunk_size=CHUNK_BYTES, named=tag(variant)):
            out.write(chunk)


def load(client: DockerClient, path: Path, variants: Sequence[Variant] = (PLAIN,)) -> str:
    """Load what `save` wrote; the id of the image. UsageError when it is none of these variants, current."""
    if not path.is_file():
        raise UsageError(f"{path} is not a file: write one with `fieldmark sandbox save`")
    with path.open("rb") as stream:
        names = [name for image in client.images.load(stream) for name in image.tags]
    for variant in variants:
        if tag(variant) in names:
            return require(client, variant)
    raise UsageError(f"{path} holds {', '.join(names) or 'no image'}, this version needs {tag()}")


def remove_all(client: DockerClient, say: Callable[[str], None]) -> None:
    """Remove every image of ours that no container uses, the base that we made included."""
    for repository in (REPOSITORY, KIT, RUNTIME, base_image.MADE.split(":")[0]):
        _remove(client, _tags(client, repository), say)


def _tags(client: DockerClient, repository: str) -> set[str]:
    return {tag for image in _images(client, repository) for tag in image["RepoTags"]}


def _images(client: DockerClient, repository: str) -> list[dict[str, Any]]:
    """The images of a repository, each with its tags in it, by one request: the SDK's `images.list` asks
    for every one of them again.
    """
    prefix = f"{repository}:"
    listed = client.api.images(name=repository)
    tagged = [
        {**row, "RepoTags": [t for t in row["RepoTags"] or [] if t.startswith(prefix)]} for row in listed
    ]
    return [row for row in tagged if row["RepoTags"]]


def _alike(tags: set[str], variant: Variant) -> set[str]:
    """Those that are of this variant, whatever their inputs."""
    named = re.compile(rf"[a-z-]+:{re.escape(variant.prefix)}[0-9a-f]{{12}}")
    return {tag for tag in tags if named.fullmatch(tag)}


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


def _build_kit(
    client: DockerClient, runtime: str, kit: Kit, extra: str | None, say: Callable[[str], None]
) -> str:
    wanted = kit_tag(kit, extra)
    if wanted not in _tags(client, KIT):
        _check_disk(client)
        node = build_context.node_packages(client.info()["Architecture"])
        args = {"RUNTIME": runtime, "NAME": kit.name, "NODE": node, **build_context.proxy_settings()}
        with tempfile.NamedTemporaryFile(suffix=".tar") as packed:
            build_context.write_kit_context(Path(packed.name), kit)
            _run_build(client, packed, wanted, args, say)
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


def _outdated(client: DockerClient, wanted: str, variant: Variant) -> set[str]:
    """The old ones of the variant, of its kit, and of the runtimes under them, but for the newest of each.

    What a container uses is not among them: between two containers a run must find its image still.
    """
    images = _beyond(client, REPOSITORY, variant, KEPT)
    kits = _beyond(client, KIT, Variant(kit=variant.kit), LAYERS_KEPT) if variant.kit else []
    runtimes = _beyond(client, RUNTIME, PLAIN, LAYERS_KEPT)
    used = {row["ImageID"] for row in client.api.containers(all=True)}
    spared = {tag for tag in (*images, *kits, *runtimes) if client.images.get(tag).id in used}
    return {*images, *kits, *runtimes} - {wanted, runtime_tag(), runtime_tag(variant.extra)} - spared


def _beyond(client: DockerClient, repository: str, variant: Variant, kept: int) -> list[str]:
    """The tags of a variant beyond its newest `kept`, where they are older than KEPT_SECONDS."""
    images = sorted(_images(client, repository), key=lambda image: image["Created"], reverse=True)
    tags = [(tag, image["Created"]) for image in images for tag in _alike(set(image["RepoTags"]), variant)]
    oldest = time.time() - KEPT_SECONDS
    return [tag for tag, created in tags[kept:] if created < oldest]


def _remove(client: DockerClient, names: set[str], say: Callable[[str], None]) -> None:
    from docker.errors import APIError

    for name in sorted(names):
        try:
            client.images.remove(name)
        except APIError:
            say(f"{name} is in use: it stays for now")
        else:
            say(f"removed {name}")

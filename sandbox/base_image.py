"""A Debian base image where no registry can be reached: made by debootstrap from Debian's own mirror."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fieldmark.errors import UsageError

if TYPE_CHECKING:
    from docker import DockerClient

PULLED = "debian:bookworm-slim"
MADE = "fieldmark-base:bookworm"
SUITE = "bookworm"
SBIN = "/usr/sbin:/sbin"  # not in every user's PATH
# The mirror is debootstrap's own default; its security suite lies beside it.
SOURCES = f"""
read -r _ mirror _ <sources.list
cat >sources.list <<END
deb $mirror {SUITE} main
deb $mirror {SUITE}-updates main
deb $mirror-security {SUITE}-security main
END
"""
STRIPPED = (
    "usr/share/doc",
    "usr/share/man",
    "usr/share/info",
    "usr/share/locale",
    "var/lib/apt/lists",
    "var/cache/apt",
)


def find_base(client: DockerClient, say: Callable[[str], None]) -> str:
    """Name of a Debian 12 image that the engine has: found, else pulled, else made here."""
    from docker.errors import APIError, ImageNotFound

    for name in (PULLED, MADE):
        try:
            client.images.get(name)
            return name
        except ImageNotFound:
            continue
    try:
        say(f"pulling {PULLED}")
        client.images.pull(PULLED)
        return PULLED
    except (APIError, ImageNotFound):
        say(f"no registry answers: making {MADE} with debootstrap (a minute or two)")
        _make(client)
        return MADE


def _make(client: DockerClient) -> None:
    prefix = _root_prefix()
    work = Path(tempfile.mkdtemp(prefix="fieldmark-base-", dir="/var/tmp"))
    root, packed = work / "root", work / "base.tar"
    try:
        # in a mount namespace of its own, so that nothing debootstrap mounts can outlive it
        bootstrap = ["unshare", "--mount", "debootstrap", "--variant=minbase", SUITE, str(root)]
        _run([*prefix, *bootstrap])
        _run([*prefix, "sh", "-c", _strip_script(root)])
        _run([*prefix, "tar", "-C", str(root), "--numeric-owner", "-cf", str(packed), "."])
        client.api.import_image_from_file(str(packed), repository=MADE.split(":")[0], tag=MADE.split(":")[1])
    finally:
        subprocess.run([*prefix, "rm", "-rf", "--one-file-system", str(work)], check=False)


def _root_prefix() -> list[str]:
    needed = f"the sandbox image needs {PULLED}, which no registry delivers; to make it instead"
    if not shutil.which("debootstrap", path=f"{os.environ.get('PATH', '')}:{SBIN}"):
        raise UsageError(f"{needed}, install debootstrap (as root: apt-get install -y debootstrap)")
    if os.geteuid() == 0:
        return []
    if subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0:
        return ["sudo", "-n"]
    raise UsageError(f"{needed}, run this command once as root")


def _strip_script(root: Path) -> str:
    """Shell that takes out documentation, lists and what debootstrap copied from this host."""
    removed = " ".join(f'"{root}/{folder}"/*' for folder in STRIPPED)
    return f'set -e\nrm -rf {removed}\ncd "{root}/etc"\nrm -f resolv.conf hostname\ncd apt\n{SOURCES}'


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        last = " | ".join((done.stdout + done.stderr).strip().splitlines()[-3:])
        raise UsageError(f"making {MADE} failed at `{' '.join(command[:3])}`: {last}")

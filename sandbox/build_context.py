"""What is sent to the engine to build the image: our agent-side files, wheels, the host's fetch settings.

Only what is listed here can enter the image: never `evals/`, `memory/`, `sandbox/`, `skills/` or `tests/`.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import fieldmark
from fieldmark.errors import UsageError
from fieldmark.needs import Kit

PACKAGE = Path(fieldmark.__file__).parent
HERE = Path(__file__).parent
DOCKERFILE = HERE / "Dockerfile"
KIT_DOCKERFILE = HERE / "Dockerfile.kit"
PACKAGE_DOCKERFILE = HERE / "Dockerfile.package"
KITS = HERE / "kits"
FETCH_NODE = KITS / "fetch_node.py"
NODE = KITS / "node.lock"
LOCK = HERE / "requirements.lock"
EXTRAS = ("rapidocr",)
"""What an image may hold beside: packages of `requirements-<extra>.lock`."""
KIT_FILES = ("package-lock.json", "requirements.txt", "warm.py")
"""Of `kits/<name>/`: what fixes its packages to the byte (without, it gets what the indexes have), and a
program that the build runs once in its folder.
"""


@dataclass(frozen=True)
class Variant:
    """What an image holds beside the usual: an extra of EXTRAS, the packages of one agent of others."""

    extra: str | None = None
    kit: Kit | None = None

    @property
    def prefix(self) -> str:
        """What the tags of such images begin with."""
        return "".join(f"{name}-" for name in (self.extra, self.kit and self.kit.name) if name)


PLAIN = Variant()

SHARED_FILES = (
    "__init__.py",
    "py.typed",
    "errors.py",
    "needs.py",
    "chat.py",
    "five_keys.py",
    "task.py",
    "trace.py",
    "client.py",
    "unix_http.py",
    "counting.py",
    "relay.py",
    "plugins.py",
    "toml_file.py",
    "user_cache.py",
    "user_file.py",
    "cli.py",
    "commands/__init__.py",
    "commands/mcp.py",
    "commands/tool.py",
)
AGENT_FOLDERS = ("agents", "tools")
HOST_ONLY = ("tools/vision/",)
"""Folders of theirs that work on the host alone, with packages that the image has not."""
AGENT_SUFFIXES = {".py", ".js", ".md", ".json", ".csv", ".toml"}

DEBIAN_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
PYTHON = "3.11"  # Debian 12's
GLIBC_MINORS = range(36, 16, -1)  # Debian 12 has glibc 2.36; wheels for any older one down to 2.17 run on it


def agent_files() -> dict[str, Path]:
    """Path inside the package -> file on this disk, of everything of ours that enters the image, sorted."""
    files = {name: PACKAGE / name for name in SHARED_FILES}
    missing = [name for name, path in files.items() if not path.is_file()]
    if missing:
        raise UsageError(f"this installation lacks {', '.join(missing)}: install fieldmark again")
    for folder in AGENT_FOLDERS:
        for path in (PACKAGE / folder).rglob("*"):
            name = path.relative_to(PACKAGE).as_posix()
            if name.startswith(HOST_ONLY) or path.suffix not in AGENT_SUFFIXES:
                continue
            if path.is_file() and "__pycache__" not in path.parts:
                files[name] = path
    return dict(sorted(files.items()))


def locks(extra: str | None = None) -> list[Path]:
    """The locked requirements of the image, of one with an extra."""
    return [LOCK, HERE / f"requirements-{extra}.lock"] if extra else [LOCK]


def runtime_fingerprint(base: str, extra: str | None = None) -> str:
    """Hex digest of all that decides what the runtime holds, apart from what Debian serves on the day."""
    return _digest(base, {"Dockerfile": DOCKERFILE, **{path.name: path for path in locks(extra)}})


def kit_fingerprint(base: str, kit: Kit, extra: str | None = None) -> str:
    """Hex digest of all that decides what a runtime with this kit holds."""
    own = {name: hashlib.sha256(content).hexdigest() for name, content in kit_files(kit).items()}
    files = {"Dockerfile.kit": KIT_DOCKERFILE, "fetch_node.py": FETCH_NODE, "node.lock": NODE}
    return _digest(runtime_fingerprint(base, extra) + json.dumps(own), files)


def fingerprint(base: str, variant: Variant = PLAIN) -> str:
    """Hex digest of all that decides what the image holds."""
    files = {"Dockerfile.package": PACKAGE_DOCKERFILE, **agent_files()}
    if variant.kit:
        return _digest(kit_fingerprint(base, variant.kit, variant.extra), files)
    return _digest(runtime_fingerprint(base, variant.extra), files)


def _digest(seed: str, files: dict[str, Path]) -> str:
    digest = hashlib.sha256(seed.encode())
    for name, path in files.items():
        digest.update(f"\0{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}".encode())
    return digest.hexdigest()


def kit_files(kit: Kit) -> dict[str, bytes]:
    """The files that say what a kit is: its packages, and those of `kits/<name>/`."""
    files: dict[str, bytes] = {}
    if kit.npm:
        packages = dict(package.rsplit("@", 1) for package in kit.npm)
        files["package.json"] = json.dumps({"private": True, "dependencies": packages}, indent=2).encode()
    if kit.npm and kit.node:
        files["needs-node"] = b""
    if kit.pip:
        files["requirements.txt"] = "\n".join(kit.pip).encode()
    own = {name: KITS / kit.name / name for name in KIT_FILES}
    kept = {name: path.read_bytes() for name, path in own.items() if path.is_file()}
    fits = all(_locks(kit, name, kept[name].decode()) for name in kept if name != "warm.py")
    return files | (kept if fits else {})


def _locks(kit: Kit, name: str, lock: str) -> bool:
    """Whether a lock is of these very packages: a recipe of the user's may be called as one of ours."""
    if name == "package-lock.json":
        listed: dict[str, str] = json.loads(lock)["packages"][""]["dependencies"]
        return {f"{package}@{version}" for package, version in listed.items()} == set(kit.npm)
    lines = {_plain(line) for line in lock.split()}
    return bool(kit.pip) and {_plain(package) for package in kit.pip} <= lines


def _plain(pinned: str) -> str:
    """`name==version` as packages are compared: without extras, in one spelling."""
    name, _, version = pinned.partition("==")
    return re.sub(r"[-_.]+", "-", name.partition("[")[0]).lower() + f"=={version}"


def write_runtime_context(target: Path, architecture: str, extra: str | None = None) -> None:
    """Write the runtime's build context as a tar; without wheels in it the build asks the index."""
    with tarfile.open(target, "w") as tar, tempfile.TemporaryDirectory() as folder:
        _add(tar, "Dockerfile", DOCKERFILE.read_bytes())
        _add(tar, "requirements.lock", b"\n".join(path.read_bytes() for path in locks(extra)))
        _add(tar, "host/apt.conf", _apt_settings())
        _add(tar, "host/ca.crt", _certificates())
        _add(tar, "wheels/README", b"Wheels of requirements.lock.\n")
        for wheel in _wheels(Path(folder), architecture, extra):
            _add(tar, f"wheels/{wheel.name}", wheel.read_bytes())


def write_kit_context(target: Path, kit: Kit) -> None:
    """Write the build context of a kit as a tar."""
    with tarfile.open(target, "w") as tar:
        _add(tar, "Dockerfile", KIT_DOCKERFILE.read_bytes())
        _add(tar, "fetch_node.py", FETCH_NODE.read_bytes())
        _add(tar, "host/apt.conf", _apt_settings())
        _add(tar, "host/ca.crt", _certificates())
        _add(tar, "host/npmrc", _npm_settings())
        for name, content in kit_files(kit).items():
            _add(tar, f"kit/{name}", content)


def node_packages(architecture: str) -> str:
    """Node.js and npm for an engine's architecture, as `fetch_node.py` takes them."""
    kind = "arm64" if architecture in ("aarch64", "arm64") else "x64"
    lines = NODE.read_text(encoding="utf-8").split()
    return " ".join(line for line in lines if not line.startswith("node-linux-") or f"-{kind}=" in line)


def write_package_context(target: Path) -> None:
    """Write the build context of our own files as a tar."""
    with tarfile.open(target, "w") as tar:
        _add(tar, "Dockerfile", PACKAGE_DOCKERFILE.read_bytes())
        for name, path in agent_files().items():
            _add(tar, f"package/fieldmark/{name}", path.read_bytes())


def proxy_settings() -> dict[str, str]:
    """This host's proxies as build arguments; the engine knows these names and records none of them."""
    names = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
    return {name: os.environ[name] for name in names if name in os.environ}


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    """Owner and time are left out, so that equal content hits the engine's cache."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o644
    tar.addfile(member, io.BytesIO(content))


def _apt_settings() -> bytes:
    """How this host's apt fetches (proxies, certificates), without its hooks; empty where there is no apt."""
    if not shutil.which("apt-config"):
        return b""
    dump = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=False)
    lines = [line for line in dump.stdout.splitlines() if not line.startswith("Acquire::IndexTargets")]
    return "\n".join([*lines, 'Acquire::https::CAInfo "/host/ca.crt";', ""]).encode()


def _certificates() -> bytes:
    """The certificates this host trusts, so that a build behind an inspecting proxy can fetch too."""
    import ssl

    paths = ssl.get_default_verify_paths()
    for name in (os.environ.get("PIP_CERT"), paths.cafile, paths.openssl_cafile, DEBIAN_CERTIFICATES):
        if name and Path(name).is_file():
            return Path(name).read_bytes()
    return b""


def _npm_settings() -> bytes:
    """The registry that this host's npm uses, if it says so; never a token."""
    named = os.environ.get("NPM_CONFIG_REGISTRY")
    npmrc = Path.home() / ".npmrc"
    lines = npmrc.read_text(encoding="utf-8").splitlines() if npmrc.is_file() else []
    kept = [line for line in lines if line.partition("=")[0].strip() == "registry"]
    return "\n".join([*kept, *([f"registry={named}"] if named else []), ""]).encode()


def _wheels(folder: Path, architecture: str, extra: str | None) -> list[Path]:
    """The locked wheels, fetched for the image's Python, not for this one; all or none."""
    command = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "--only-binary", ":all:"]
    command += ["--require-hashes", "-d", str(folder), "--python-version", PYTHON]
    command += [word for path in locks(extra) for word in ("-r", str(path))]
    for platform in [*(f"manylinux_2_{minor}" for minor in GLIBC_MINORS), "manylinux2014"]:
        command += ["--platform", f"{platform}_{architecture}"]
    done = subprocess.run(command, capture_output=True, check=False)
    return sorted(folder.glob("*.whl")) if done.returncode == 0 else []

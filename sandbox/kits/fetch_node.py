"""Runs while an image is built: fetches Node.js and npm as packages of the npm registry into /npm.

Usage: fetch_node.py NPMRC NAME=VERSION=SHA512 …; sha512 in base64, as the registry and lock files write it.
"""

import base64
import hashlib
import io
import os
import pathlib
import re
import ssl
import sys
import tarfile
import urllib.request

REGISTRY = "https://registry.npmjs.org"


def main() -> None:
    npmrc, *packages = sys.argv[1:]
    registry = _registry(npmrc)
    for package in packages:
        name, version, checksum = package.split("=", 2)
        data = _fetch(f"{registry}/{name}/-/{name}-{version}.tgz")
        if hashlib.sha512(data).digest() != base64.b64decode(checksum):
            sys.exit(f"{name} {version} is not the package that was locked")
        _unpack(data, f"/npm/{name}")


def _registry(npmrc: str) -> str:
    """The registry that the building machine uses."""
    settings = pathlib.Path(npmrc).read_text(encoding="utf-8")
    named = re.findall(r"^\s*registry\s*=\s*(\S+)", settings, re.MULTILINE)
    return (named[-1] if named else REGISTRY).rstrip("/")


def _fetch(url: str) -> bytes:
    trusted = ssl.create_default_context(cafile=os.environ.get("NODE_EXTRA_CA_CERTS"))
    with urllib.request.urlopen(url, context=trusted, timeout=300) as reply:
        return bytes(reply.read())


def _unpack(data: bytes, folder: str) -> None:
    """All that stands in `package/` of the archive."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive.getmembers():
            member.name = member.name.partition("/")[2]
            archive.extract(member, folder)


if __name__ == "__main__":
    main()

"""Probes that run INSIDE a sandbox container, each by its name: `python -c SOURCE NAME`.

Standard library only. A probe prints nothing when all is well, else one line that says what is wrong.
"""

from __future__ import annotations

import http.client
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

SOCKET = "/run/fieldmark/gateway.sock"
BROWSER_SOCKET = "/run/fieldmark/browser.sock"


def non_root() -> str | None:
    return "runs as root" if 0 in (os.getuid(), os.geteuid(), os.getgid(), *os.getgroups()) else None


def read_only_root() -> str | None:
    for folder in ("/", "/etc", "/usr", "/opt/fieldmark", "/var", "/root"):
        try:
            Path(folder, ".probe").touch()
        except OSError:
            continue
        return f"{folder} can be written"
    return None


def no_capabilities() -> str | None:
    sets = re.findall(r"^(Cap(?:Inh|Prm|Eff|Bnd|Amb)):\s*(\S+)", Path("/proc/self/status").read_text(), re.M)
    held = [name for name, value in sets if int(value, 16)]
    return f"capability sets not empty: {', '.join(held)}" if held else None


def no_new_privileges() -> str | None:
    on = "NoNewPrivs:\t1" in Path("/proc/self/status").read_text()
    return None if on else "no_new_privs is not set"


def seccomp_filter() -> str | None:
    if "Seccomp:\t2" not in Path("/proc/self/status").read_text():
        return "no seccomp filter"
    try:
        socket.socket(40, socket.SOCK_STREAM).close()  # 40: AF_VSOCK, a road out of a virtual machine
    except OSError:
        return None
    return "AF_VSOCK sockets can be made"


def no_network_route() -> str | None:
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    if names:
        return f"interfaces beside lo: {', '.join(names)}"
    for address in (
        ("1.1.1.1", 53),
        ("172.17.0.1", 22),
        ("169.254.169.254", 80),
        ("2606:4700:4700::1111", 53),
    ):
        try:
            socket.create_connection(address, 2).close()
        except OSError:
            continue
        return f"{address[0]} answers"
    return None


def dns_dead() -> str | None:
    try:
        return f"example.org resolves to {socket.gethostbyname('example.org')}"
    except OSError:
        return None


def gateway_reachable() -> str | None:
    connection = http.client.HTTPConnection("gateway", timeout=5)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(SOCKET)
    connection.request("GET", "/health")
    status = connection.getresponse().status
    return None if status == 200 else f"answered {status}"


def socket_folder_not_writable() -> str | None:
    folder = Path(SOCKET).parent
    for what, attempt in (
        ("a file can be made", lambda: Path(folder, "probe").touch()),
        ("the socket can be removed", Path(SOCKET).unlink),
        ("the socket can be renamed", lambda: Path(SOCKET).rename(f"{SOCKET}.old")),
    ):
        try:
            attempt()
        except OSError:
            continue
        return what
    return None


def no_other_socket() -> str | None:
    found: list[str] = []
    for top in ("/run", "/tmp", "/var", "/home", "/workspace", "/mnt", "/srv"):
        for folder, _, names in os.walk(top):
            found += [str(path) for path in (Path(folder, n) for n in names) if path.is_socket()]
    others = [path for path in found if path not in (SOCKET, BROWSER_SOCKET)]
    return f"other sockets: {', '.join(others)}" if others else None


def pid_limit_bites() -> str | None:
    children: list[subprocess.Popen[bytes]] = []
    try:
        while len(children) < 2000:
            children.append(subprocess.Popen(["sleep", "20"]))
    except OSError:
        return None
    finally:
        for child in children:
            child.kill()
            child.wait()
    return "2000 processes could be started"


def tesseract_starts() -> str | None:
    listed = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, timeout=30).stdout
    missing = {"eng", "chi_sim"} - set(listed.split())
    return f"languages missing: {', '.join(sorted(missing))}" if missing else None


def chromium_starts() -> str | None:
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--user-data-dir=/tmp/probe",
    ]
    page = "data:text/html,<p id=x>alive</p>"
    done = subprocess.run(
        ["chromium", *flags, "--dump-dom", page], capture_output=True, text=True, timeout=90
    )
    return None if "alive" in done.stdout else f"exit {done.returncode}: {done.stderr.strip()[-200:]}"


def no_secret_in_environment() -> str | None:
    secret = re.compile(r"key|token|secret|passw|credential|proxy", re.I)
    own = Path("/proc/self/environ").read_text().split("\0") + Path("/proc/1/environ").read_text().split("\0")
    found = sorted({entry.partition("=")[0] for entry in own if secret.search(entry.partition("=")[0])})
    return f"variables: {', '.join(found)}" if found else None


def main() -> None:
    """Run the probe named in argv[1]; whatever it raises is its problem, in one line."""
    try:
        problem = globals()[sys.argv[1]]()
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    print(problem or "", end="")


if __name__ == "__main__":
    main()

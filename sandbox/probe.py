"""Probes that run INSIDE a sandbox container, each by its name: `python -c SOURCE NAME`.

Standard library only. A probe prints nothing when all is well, else one line that says what is wrong.
"""

from __future__ import annotations

import ctypes
import errno
import http.client
import os
import platform
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

SOCKET = "/run/fieldmark/gateway.sock"
BROWSER_SOCKET = "/run/fieldmark/browser.sock"
_NEW_USER = 0x10000000  # CLONE_NEWUSER
_GET_NO_NEW_PRIVS = 39
_SELF = os.getpid()
_NO_PROCESS = 2**22 + 1  # above the largest process id
CALLS = [
    ("keyctl", (250, 219), (0, -3, 0)),
    ("add_key", (248, 217), (0, 0, 0, 0, 0)),
    ("request_key", (249, 218), (0, 0, 0, 0)),
    ("bpf", (321, 280), (-1, 0, 0)),
    ("io_uring_setup", (425, 425), (0, 0)),
    ("userfaultfd", (323, 282), (-1,)),
    ("vmsplice", (278, 75), (-1, 0, 0, 0)),
    ("ptrace", (101, 117), (16, _NO_PROCESS, 0, 0)),
    ("process_vm_readv", (310, 270), (_SELF, 0, 0, 0, 0, 0)),
    ("process_vm_writev", (311, 271), (_SELF, 0, 0, 0, 0, 0)),
    ("pidfd_getfd", (438, 438), (-1, 0, 0)),
    ("kcmp", (312, 272), (_SELF, _SELF, 1, 0, 0)),
    ("perf_event_open", (298, 241), (0, 0, -1, -1, 0)),
    ("mount", (165, 40), (0, 0, 0, 0, 0)),
    ("setns", (308, 268), (-1, 0)),
    ("open_by_handle_at", (304, 265), (-1, 0, 0)),
    ("unshare of a user namespace", (272, 97), (_NEW_USER,)),
    ("clone into a user namespace", (56, 220), (_NEW_USER | signal.SIGCHLD, 0, 0, 0, 0)),
    ("clone3", (435, 435), (0, 0)),  # its flags cannot be filtered
]
"""Name, its numbers on x86_64 and aarch64, arguments."""
FAMILIES = [("AF_VSOCK", 40), ("AF_PACKET", 17), ("AF_ALG", 38), ("AF_BLUETOOTH", 31)]
"""Kinds of sockets; AF_VSOCK is a road out of a virtual machine."""


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
    """Asked of the kernel: gVisor's /proc/self/status has no line for it."""
    on = ctypes.CDLL(None).prctl(_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
    return None if on == 1 else "no_new_privs is not set"


def seccomp_filter() -> str | None:
    """Each call is made, with arguments that do no harm and that a kernel answers otherwise than a filter."""
    found = [name for name, family in FAMILIES if _can_make(family)]
    found += [name for name, numbers, arguments in CALLS if _passes(numbers, arguments)]
    if found:
        return f"let through: {', '.join(found)}"
    return None if "Seccomp:\t2" in Path("/proc/self/status").read_text() else "no seccomp filter"


def _passes(numbers: tuple[int, int], arguments: tuple[int, ...]) -> bool:
    number = numbers[0 if platform.machine() == "x86_64" else 1]
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(argument) for argument in arguments))
    if result == 0 and os.getpid() != _SELF:
        os._exit(0)  # the child of a clone that was let through
    return result != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS)


def _can_make(family: int) -> bool:
    try:
        socket.socket(family, socket.SOCK_RAW if family == 17 else socket.SOCK_STREAM).close()
    except PermissionError:
        return False
    except OSError:
        return family == 40  # the filter lets it through and the kernel has no such sockets
    return True


def kernel_not_writable() -> str | None:
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/mm/ksm/run"):
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError:
            continue
        return f"{path} can be written"
    readable = [path for path in ("/proc/kcore", "/proc/keys", "/dev/mem") if _has_content(path)]
    return f"can be read: {', '.join(readable)}" if readable else None


def _has_content(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return bool(file.read(1))
    except OSError:
        return False


def temporary_space_bounded() -> str | None:
    for folder, limit in (("/tmp", 256), ("/workspace", 64), ("/home/agent", 64)):
        path = Path(folder, ".probe")
        try:
            with path.open("wb") as file:
                for _ in range(limit + 1):
                    file.write(bytes(2**20))
        except OSError:
            continue
        finally:
            path.unlink(missing_ok=True)
        return f"over {limit} MB can be written to {folder}"
    return None


def open_files_bounded() -> str | None:
    held: list[int] = []
    try:
        while len(held) < 10_000:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        return None
    finally:
        for file in held:
            os.close(file)
    return "10000 files could be opened"


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
    texts = [path.read_text() for path in Path("/proc").glob("[0-9]*/environ") if os.access(path, os.R_OK)]
    names = {entry.partition("=")[0] for text in texts for entry in text.split("\0")}
    found = sorted(name for name in names if secret.search(name))
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

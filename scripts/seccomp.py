"""Write sandbox/seccomp.json: the engine's own default allow-list, less what agents must not have.

Run it as root on a machine whose engine is the oldest we support: it reads the profile that the engine really
applied to a container without capabilities, so nothing is copied by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fieldmark.sandbox import engine, image

TARGET = Path(__file__).parent.parent / "sandbox" / "seccomp.json"
TASKS = "io.containerd.runtime.v2.task/moby"
STATES = ("/var/run/docker/containerd/daemon", "/run/containerd")

REMOVED = set(
    "io_uring_setup io_uring_enter io_uring_register userfaultfd vmsplice add_key request_key keyctl "
    "process_vm_readv process_vm_writev process_madvise ptrace kcmp pidfd_getfd bpf perf_event_open "
    "mount umount umount2 mount_setattr move_mount open_tree fsopen fsconfig fsmount fspick pivot_root "
    "chroot unshare setns modify_ldt fanotify_init fanotify_mark name_to_handle_at open_by_handle_at "
    "socket socketpair socketcall".split()  # these three come back below, by address family
)
# Harmless calls that newer C libraries use and older engines do not know.
ADDED = {"fchmodat2", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue", "cachestat", "mseal"}

UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
FAMILIES = {"socket": (UNIX, INET, INET6, NETLINK), "socketpair": (UNIX,)}


def main() -> None:
    applied = _applied_profile()
    profile = {
        "defaultAction": "SCMP_ACT_ERRNO",
        # no 32-bit personalities: `socketcall` there would pass the family unseen
        "archMap": [
            {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": []},
            {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []},
        ],
        "syscalls": [*_kept(applied["syscalls"]), *_sockets()],
    }
    TARGET.write_text(json.dumps(profile, indent=1) + "\n")


def _applied_profile() -> dict[str, Any]:
    client = engine.connect()
    container = client.containers.run(
        image.require(client), ["sleep", "60"], detach=True, cap_drop=["ALL"], labels={"fieldmark": "seccomp"}
    )
    try:
        paths = [Path(state) / TASKS / str(container.id) / "config.json" for state in STATES]
        spec = json.loads(next(path for path in paths if path.is_file()).read_text())
    finally:
        container.remove(force=True)
    profile: dict[str, Any] = spec["linux"]["seccomp"]
    return profile


def _kept(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = []
    for rule in rules:
        names = set(rule["names"]) - REMOVED
        if not rule.get("args") and rule["action"] == "SCMP_ACT_ALLOW" and len(names) > 1:
            names |= ADDED
        if names:
            kept.append({**rule, "names": sorted(names)})
    return kept


def _sockets() -> list[dict[str, Any]]:
    return [_socket(call, family) for call, families in FAMILIES.items() for family in families]


def _socket(call: str, family: int) -> dict[str, Any]:
    argument = {"index": 0, "value": family, "op": "SCMP_CMP_EQ"}
    return {"names": [call], "action": "SCMP_ACT_ALLOW", "args": [argument]}


if __name__ == "__main__":
    main()

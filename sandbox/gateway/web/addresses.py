"""Which addresses a request may reach: public unicast ones, whatever notation or tunnel hides another."""

from __future__ import annotations

import ipaddress
import re
import socket
from ipaddress import IPv4Address, IPv6Address

Address = IPv4Address | IPv6Address

_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)\.?", re.IGNORECASE)
_METADATA = {"100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"}
"""Addresses of cloud metadata services that do not all lie in a range of their own."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_TRANSLATED = ipaddress.ip_network("::ffff:0:0:0/96")
_UNICAST = ipaddress.ip_network("2000::/3")
"""All of IPv6 that is given out; the rest leads to nobody, or inward."""
_REFUSED = [
    ipaddress.ip_network(text)
    for text in ("100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4",
                 "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "5f00::/16", "fec0::/10")
]  # fmt: skip
"""Carrier-grade NAT, protocol assignments, relays, benchmarks, reserved, Teredo and its like, examples."""


def literal(host: str) -> Address | None:
    """The address that `host` (without brackets) is, or None when it is a name.

    ValueError for the spellings that only some programs take for an address: 2130706433, 0177.0.0.1,
    0x7f.1, 127.1, fe80::1%eth0.
    """
    if ":" in host:
        return ipaddress.IPv6Address(host) if "%" not in host else _odd(host)
    if not _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        return None
    try:
        return ipaddress.IPv4Address(host)
    except ValueError:
        return _odd(host)


def _odd(host: str) -> Address:
    try:
        meant = f", which means {socket.inet_ntoa(socket.inet_aton(host.rstrip('.')))}"
    except OSError:
        meant = ""
    raise ValueError(f"{host} is an odd spelling of an address{meant}")


def trouble(address: Address) -> str | None:
    """Why an address may not be reached, None when it may."""
    if str(address) in _METADATA or str(address).startswith("169.254.169."):
        return "a metadata address"
    hidden = _hidden(address)
    if hidden:
        within = trouble(hidden)
        return f"{within} ({hidden}) in disguise" if within else None
    for test, name in (
        (address.is_loopback, "a loopback address"),
        (address.is_unspecified, "an unspecified address"),
        (address.is_link_local, "a link-local address"),
        (address.is_multicast, "a multicast address"),
        (any(address in network for network in _REFUSED), "a reserved address"),
        (address.is_private, "a private address"),
        (not address.is_global, "a reserved address"),
        (isinstance(address, IPv6Address) and address not in _UNICAST, "a reserved address"),
    ):
        if test:
            return name
    return None


def _hidden(address: Address) -> Address | None:
    """The IPv4 address inside an IPv4-mapped, -compatible, -translated, 6to4 or NAT64 one."""
    if not isinstance(address, IPv6Address):
        return None
    if address.ipv4_mapped or address.sixtofour:
        return address.ipv4_mapped or address.sixtofour
    low = int(address) & 0xFFFFFFFF
    if address in _NAT64 or address in _TRANSLATED or (int(address) >> 32 == 0 and low > 1):
        return IPv4Address(low)
    return None

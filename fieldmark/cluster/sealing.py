"""What only one node may read: Ray carries it, and may log, spill or keep what it carries.

X25519 between a fresh key pair of the sender and that of the receiver, HKDF-SHA256, ChaCha20-Poly1305. It
guards against what is written down, not against somebody who can run code in the cluster.
"""

from __future__ import annotations

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PUBLIC_BYTES = 32
_NONCE = bytes(12)
"""Never twice with one key: each message has a key of its own."""


class Box:
    """The receiver's end: its private key stays in the memory of its process."""

    def __init__(self) -> None:
        self._private = X25519PrivateKey.generate()

    @property
    def public(self) -> bytes:
        """What a sender needs."""
        return _raw(self._private.public_key())

    def open(self, sealed: bytes) -> bytes:
        """cryptography.exceptions.InvalidTag: it was sealed for another box, or altered."""
        sender, message = sealed[:PUBLIC_BYTES], sealed[PUBLIC_BYTES:]
        shared = self._private.exchange(X25519PublicKey.from_public_bytes(sender))
        return ChaCha20Poly1305(_key(shared)).decrypt(_NONCE, message, sender)


def seal(message: bytes, public: bytes) -> bytes:
    """A message that only the box of this public key opens."""
    own = X25519PrivateKey.generate()
    sender = _raw(own.public_key())
    shared = own.exchange(X25519PublicKey.from_public_bytes(public))
    return sender + ChaCha20Poly1305(_key(shared)).encrypt(_NONCE, message, sender)


def _raw(public: X25519PublicKey) -> bytes:
    return public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def _key(shared: bytes) -> bytes:
    return HKDF(hashes.SHA256(), 32, salt=None, info=b"fieldmark brief").derive(shared)

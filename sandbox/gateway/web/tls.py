"""The gateway's own end of TLS: one key and one self-signed certificate a run, never kept."""

from __future__ import annotations

import datetime
import ssl
import tempfile

_LIFETIME = datetime.timedelta(days=30)
_CLOCK_SKEW = datetime.timedelta(hours=1)


def server_context() -> ssl.SSLContext:
    """A context that answers for every host. Only a client told to ignore certificates will accept it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fieldmark gateway")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + _LIFETIME)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    with tempfile.NamedTemporaryFile() as file:  # 0600 and gone at once: the ssl module only reads files
        file.write(certificate.public_bytes(serialization.Encoding.PEM) + private)
        file.flush()
        context.load_cert_chain(file.name)
    return context

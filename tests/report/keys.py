"""Keys to sign with, made on the spot."""

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    pkcs12,
)
from cryptography.x509.oid import NameOID

PASSPHRASE = "correct horse"


def make_key(name="Ada Auditor", organisation="Fair & Co", *, days=365, passphrase=PASSPHRASE):
    """Return a PKCS#12 file with a self-signed certificate, and the certificate (PEM)."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, name),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation),
        ]
    )
    began = datetime.now(UTC) - timedelta(days=400)
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=True,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(began)
        .not_valid_after(began + timedelta(days=400 + days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    closed = BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
    archive = pkcs12.serialize_key_and_certificates(b"key", key, certificate, None, closed)
    return archive, certificate.public_bytes(Encoding.PEM)

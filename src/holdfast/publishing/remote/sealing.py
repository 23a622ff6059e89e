"""Seals a person's private lessons, so that a server stores them without being able to read one.

The key never leaves the person's machines. A sealed lesson's id is a keyed digest, so the server learns neither words
nor projects: only how many there are, roughly how long each is, and when one changed. The same lesson sealed twice
gives the same bytes, so sending again changes nothing.

Source: AES-SIV (RFC 5297), a deterministic authenticated encryption that needs no nonce; keys by HKDF (RFC 5869);
both from the package `cryptography`, which is imported when a key is used, never before.
"""

from __future__ import annotations

from base64 import b32decode, b32encode, b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from holdfast.errors import InvalidValueError, WrongKeyError
from holdfast.lean.texts import dumps, loads

KEY_BYTES = 32
CHECK_BYTES = 3
"""Bytes of the checksum behind a key that people type."""
GROUP = 4
"""Letters of a key that stand together."""
PADDED_TO = 512
"""Bytes: the length of what is sealed is a multiple of this, so that it tells little."""
CHECK = "check"
"""The part of an id whose blob says whether two machines have the same key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """A key, ready for use."""

    _cipher: bytes = field(repr=False)
    _names: bytes = field(repr=False)

    def id_of(self, *parts: str) -> str:
        """Return the id under which the server stores what these parts name: a UUID that tells nothing."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.hmac import HMAC

        mac = HMAC(self._names, SHA256())
        mac.update("\0".join(parts).encode("utf-8", "replace"))
        digits = mac.finalize().hex()
        return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"

    def seal(self, id: str, plain: Mapping[str, Any]) -> str:
        """Return the value as text that only this key opens, and only under that id."""
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV

        content = dumps(dict(plain)).encode("utf-8", "replace")
        content += b" " * (-len(content) % PADDED_TO)
        return b64encode(AESSIV(self._cipher).encrypt(content, [id.encode()])).decode()

    def open(self, id: str, text: str) -> dict[str, Any]:
        """Return the value that was sealed under that id. Raises WrongKeyError if this key did not seal it."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV

        try:
            content = AESSIV(self._cipher).decrypt(b64decode(text, validate=True), [id.encode()])
            plain = loads(content.decode())
        except (InvalidTag, NotBase64, ValueError) as exc:
            raise WrongKeyError(
                "this machine's key does not open what your other machines sealed",
                hint="on a machine where it works: holdfast remote private key; here: holdfast remote private on --key",
            ) from exc
        if not isinstance(plain, dict):
            raise WrongKeyError("a sealed lesson holds no lesson")
        return plain


def make_seal(key: str) -> Seal:
    """Return the seal of a key as people see it. Raises InvalidValueError for one that was mistyped."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    secret = read_key(key)

    def derived(purpose: bytes, length: int) -> bytes:
        return HKDF(algorithm=SHA256(), length=length, salt=None, info=b"holdfast sealed lessons: " + purpose).derive(
            secret
        )

    return Seal(_cipher=derived(b"content", 64), _names=derived(b"names", 32))


def show_key(secret: bytes) -> str:
    """Return 32 random bytes as people copy them: groups of letters and digits, with a checksum at the end."""
    letters = b32encode(secret + _checksum(secret)).decode().rstrip("=")
    return "-".join(letters[start : start + GROUP] for start in range(0, len(letters), GROUP))


def read_key(shown: str) -> bytes:
    """Return the bytes of a key that somebody typed. Raises InvalidValueError, which never repeats it."""
    letters = "".join(shown.split()).replace("-", "").upper()
    try:
        content = b32decode(letters + "=" * (-len(letters) % 8))
    except (NotBase64, ValueError):
        content = b""
    secret, checksum = content[:KEY_BYTES], content[KEY_BYTES:]
    if len(secret) != KEY_BYTES or checksum != _checksum(secret):
        raise InvalidValueError(
            "that is not a key, or a letter of it is wrong",
            hint="it has 14 groups of letters and digits: holdfast remote private key prints it on the other machine",
        )
    return secret


def _checksum(secret: bytes) -> bytes:
    return sha256(b"holdfast key\0" + secret).digest()[:CHECK_BYTES]

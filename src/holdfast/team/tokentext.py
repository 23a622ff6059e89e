"""The text of a token: `hf_`, a letter for its kind, the public id, `_`, the secret, and a checksum.

    hf_pk2wq7a3z1_<43 characters of the secret><8 hexadecimal digits>

The public id is 8 random letters and digits and then the organisation's number, so that a server with many databases
knows where to look. Only the secret is secret. The checksum tells a scanner that it has found one of ours, and spares
the database a question about a mistyped one. `redaction.tables` has the form, too.
"""

from __future__ import annotations

import re
from base64 import b32encode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from zlib import crc32

from holdfast.domain.team import OrganisationId, TokenId, TokenKind

KIND_LETTERS: dict[TokenKind, str] = {"personal": "p", "service": "s", "session": "b"}
INVITATION_LETTER = "i"

_FORM = re.compile(r"hf_([psbi])([a-z2-7]{8})([1-9]\d{0,8})_([\w-]{43})([0-9a-f]{8})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TokenText:
    """A token's parts, without a `repr`, which would show the secret."""

    letter: str
    id: TokenId
    secret: str

    @property
    def organisation(self) -> OrganisationId:
        """The organisation that the public id names, whether it exists or not."""
        return OrganisationId(int(self.id[8:]))

    @property
    def digest(self) -> str:
        """SHA-256 of the secret, hexadecimal. 256 random bits need no slow hash."""
        return sha256(self.secret.encode()).hexdigest()

    def render(self) -> str:
        """Return the whole text."""
        body = f"hf_{self.letter}{self.id}_{self.secret}"
        return body + _checksum(body)


def make(letter: str, organisation: OrganisationId, random_bytes: Callable[[int], bytes]) -> TokenText:
    """Return a new token of that kind of the organisation."""
    public = b32encode(random_bytes(5)).decode().lower()
    secret = urlsafe_b64encode(random_bytes(32)).decode().rstrip("=")
    return TokenText(letter=letter, id=TokenId(f"{public}{organisation}"), secret=secret)


def parse(text: str) -> TokenText | None:
    """Return the parts of a token's text, or None if it is none or mistyped."""
    match = _FORM.fullmatch(text)
    if match is None or _checksum(text[:-8]) != match[5]:
        return None
    return TokenText(letter=match[1], id=TokenId(match[2] + match[3]), secret=match[4])


def _checksum(body: str) -> str:
    return f"{crc32(body.encode()):08x}"

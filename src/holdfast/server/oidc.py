"""Sign-in by an organisation's identity provider: OpenID Connect's code flow with PKCE, by Authlib.

Authlib fetches the provider's description and keys, exchanges the code, and checks the ID token: signature, issuer,
audience, time and nonce. Here it is only decided which of it is insisted on. What fails raises `SignInError`, whose
reason goes into the log and never to the browser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.base_client import BaseApp, OAuth2Mixin, OpenIDMixin
from authlib.integrations.httpx_client import OAuth2Client
from httpx2 import HTTPError
from joserfc.errors import JoseError

from holdfast.errors import HoldfastError
from holdfast.team.signin import IdentityClaims

SCOPES = "openid email profile"
SIGNATURES = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)
"""Algorithms by which only the provider can sign: neither `none` nor those with a shared secret."""
REQUEST_S = 10.0
"""How long the provider may take to answer one request."""
LEEWAY_S = 60
"""How far the provider's clock may be from ours."""


class SignInError(HoldfastError):
    """The provider's answer does not prove who somebody is; the message says why, without any of their data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """Where a browser is sent, and what its return is checked against."""

    url: str
    state: str
    nonce: str
    verifier: str


class Provider:
    """One identity provider, of which this server is a client."""

    def __init__(self, issuer: str, client: str, secret: str, callback: str) -> None:
        self.issuer = issuer.rstrip("/")
        self._callback = callback
        self._client = client
        self._app = _App(
            None, name="holdfast", client_id=client, client_secret=secret or None,
            server_metadata_url=f"{self.issuer}/.well-known/openid-configuration",
            client_kwargs={
                "scope": SCOPES, "code_challenge_method": "S256", "timeout": REQUEST_S, "trust_env": False,
                **({} if secret else {"token_endpoint_auth_method": "none"}),
            },
        )  # fmt: skip

    def depart(self) -> Departure:
        """Return where to send a browser. Raises SignInError if the provider cannot be asked."""
        self._describe()
        try:
            began = self._app.create_authorization_url(self._callback)
        except (AuthlibBaseError, HTTPError, RuntimeError) as exc:
            raise SignInError(f"the provider has no place for sign-in: {type(exc).__name__}") from exc
        return Departure(url=began["url"], state=began["state"], nonce=began["nonce"], verifier=began["code_verifier"])

    def receive(self, code: str, nonce: str, verifier: str) -> IdentityClaims:
        """Return who came back with the code. Raises SignInError unless the provider's signed answer says so."""
        self._describe()
        try:
            token = self._app.fetch_access_token(self._callback, code=code, code_verifier=verifier)
            claims = self._app.parse_id_token(token, nonce, claims_options=self._wanted(), leeway=LEEWAY_S)
            if claims is None:
                raise SignInError("the answer has no ID token")
            return self._identify(dict(claims), token)
        except (AuthlibBaseError, JoseError, HTTPError, ValueError, KeyError, TypeError, RuntimeError) as exc:
            raise SignInError(f"the answer was refused: {type(exc).__name__}") from exc

    def _wanted(self) -> dict[str, Any]:
        return {
            "iss": {"essential": True, "value": self.issuer_named},
            "aud": {"essential": True, "values": [self._client]},
            "sub": {"essential": True},
            "exp": {"essential": True},
            "nonce": {"essential": True},
        }

    @property
    def issuer_named(self) -> str:
        """The issuer as the provider writes it, which may differ by a slash at its end."""
        return str(self._app.server_metadata.get("issuer", ""))

    def _describe(self) -> None:
        """Fetch the provider's description once; refuse one that is another provider's."""
        try:
            described = self._app.load_server_metadata()
        except (HTTPError, ValueError, TypeError) as exc:
            raise SignInError(f"the provider does not answer: {type(exc).__name__}") from exc
        if self.issuer_named.rstrip("/") != self.issuer:
            self._app.server_metadata.clear()
            raise SignInError("the provider's description is of another issuer")
        offered = described.get("id_token_signing_alg_values_supported") or ["RS256"]
        described["id_token_signing_alg_values_supported"] = [name for name in offered if name in SIGNATURES]

    def _identify(self, known: dict[str, Any], token: dict[str, Any]) -> IdentityClaims:
        if "email" not in known and self._app.server_metadata.get("userinfo_endpoint"):
            more = dict(self._app.userinfo(token=token))
            if more.get("sub") != known["sub"]:
                raise SignInError("the provider's two answers are about two people")
            known = {**more, **known}
        return IdentityClaims(
            issuer=self.issuer_named, subject=str(known["sub"]), email=str(known.get("email") or ""),
            email_verified=known.get("email_verified") is True, name=str(known.get("name") or ""),
        )  # fmt: skip


class _App(OAuth2Mixin, OpenIDMixin, BaseApp):  # type: ignore[misc]  # Authlib has no types
    """Authlib's client of one provider, over httpx2."""

    client_cls = OAuth2Client

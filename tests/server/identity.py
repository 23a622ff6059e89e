"""A small identity provider on this machine, which signs really and can be told to be wrong in one way at a time."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

CLIENT, SECRET = "holdfast-server", "keep this"


@cache
def make_key(name: str, number: int) -> RSAKey:
    """A key of that name; each number is another one."""
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig"})


@dataclass
class IdentityProvider:
    """What the provider says, and what it was asked."""

    issuer: str = ""
    subject: str = "person-1"
    claims: dict[str, Any] = field(default_factory=lambda: {"email": "ada@example.org", "email_verified": True})
    """Further claims of the ID token."""
    userinfo: dict[str, Any] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)
    """Claims that are wrong; None leaves one out."""
    algorithm: str = "RS256"
    signs_with_another_key: bool = False
    described_issuer: str = ""
    refuses: bool = False
    key_name: str = "one"
    key: RSAKey = field(default_factory=lambda: make_key("one", 1))
    other_key: RSAKey = field(default_factory=lambda: make_key("one", 2))
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        return {
            "issuer": self.described_issuer or self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser is sent back to: a person has said yes."""
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        if self.refuses:
            return f"{query['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': query['state']})}"
        code = token_urlsafe(16)
        self.codes[code] = query
        answer = {"code": code, "state": query["state"], "iss": self.issuer}
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    def exchange(self, form: dict[str, str], authorization: str) -> dict[str, Any]:
        """The token response for a code, which holds once."""
        query = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        basic = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if query is None or query["code_challenge"] != challenge or authorization != basic:
            return {"error": "invalid_grant"}
        if form["redirect_uri"] != query["redirect_uri"]:
            return {"error": "invalid_grant"}
        access = token_urlsafe(16)
        return {"access_token": access, "token_type": "Bearer", "id_token": self.sign(query["nonce"])}

    def sign(self, nonce: str) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer, "sub": self.subject, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce,
            **self.claims, **self.changed,
        }  # fmt: skip
        claims = {name: value for name, value in claims.items() if value is not None}
        if self.algorithm == "none":
            head, body = (json.dumps(part).encode() for part in ({"alg": "none"}, claims))
            return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (head, body)) + "."
        if self.algorithm == "HS256":  # signed with what everybody knows: the public key
            public = OctKey.import_key(self.key.as_pem(private=False))
            return jwt.encode({"alg": "HS256", "kid": "one"}, claims, public)
        key = self.other_key if self.signs_with_another_key else self.key
        return jwt.encode({"alg": "RS256", "kid": self.key_name}, claims, key)


@contextmanager
def identity_provider() -> Iterator[IdentityProvider]:
    """Run the provider until the block ends."""
    provider = IdentityProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, query = urlsplit(self.path).path, dict(parse_qsl(urlsplit(self.path).query))
            if path == "/authorize":
                self.send_response(302)
                self.send_header("location", provider.authorize(query))
                self.send_header("content-length", "0")
                self.end_headers()
                return
            answers = {
                "/.well-known/openid-configuration": provider.describe(),
                "/jwks": {"keys": [provider.key.as_dict(private=False)]},
                "/userinfo": {"sub": provider.subject, **provider.userinfo},
            }
            self.answer(answers[path])

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            answer = provider.exchange(form, self.headers.get("authorization", ""))
            self.answer(answer, 400 if "error" in answer else 200)

        def answer(self, value: dict[str, Any], status: int = 200) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

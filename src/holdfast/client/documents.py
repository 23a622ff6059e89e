"""What a sync asks of a server: documents of a project, a member's sealed lessons, and who the caller is there.

Every request here may be repeated: documents are joined, and sealed lessons are replaced only where nobody else was
faster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.client.requests import HttpReply, HttpRequest, body, path
from holdfast.client.transport import Transport
from holdfast.errors import ServerError


class DocumentClient:
    """Requests of a sync over one transport. Answers are JSON objects as the server wrote them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def version(self) -> dict[str, Any]:
        """Return what the server says of itself; it asks for no token."""
        return self._get("version")

    def me(self) -> dict[str, Any]:
        """Return the member that the token belongs to, and what it may do."""
        return self._get("me")

    def project(self, project: str) -> dict[str, Any]:
        """Return what the server knows of the project. Raises NotFoundError."""
        return self._get("projects", project)

    def add_project(self, project: str, name: str) -> dict[str, Any]:
        """Make the project known to the server, so that others of the team can link it too."""
        return self._post(path("projects"), id=project, name=name)

    def changes(self, project: str, after: int, limit: int) -> dict[str, Any]:
        """Return `documents` that changed beyond that position, at most `limit`; `after`, to go on from, and `last`."""
        return self._get("projects", project, "documents", after=after, limit=limit)

    def send(self, project: str, documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Send documents and return `results`, what became of each in order."""
        return self._post(path("projects", project, "documents"), documents=list(documents))

    def sealed_changes(self, after: int, limit: int) -> dict[str, Any]:
        """Return the caller's `sealed` lessons that changed after that position, `after` and `last`."""
        return self._get("me", "sealed", after=after, limit=limit)

    def send_sealed(self, sealed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Send sealed lessons, each with the `seq` that it replaces, and return `results` in order."""
        return self._post(path("me", "sealed"), sealed=list(sealed))

    def _get(self, *parts: str, **query: int) -> dict[str, Any]:
        texts = {name: str(value) for name, value in query.items()}
        return self._transport.send(
            HttpRequest(method="GET", path=path(*parts), read=_object, query=texts, is_repeatable=True)
        )

    def _post(self, target: str, **fields: Any) -> dict[str, Any]:
        return self._transport.send(
            HttpRequest(method="POST", path=target, read=_object, body=body(**fields), is_repeatable=True)
        )


def _object(reply: HttpReply) -> dict[str, Any]:
    answer = reply.json()
    if not isinstance(answer, dict):
        raise ServerError("the answer is no JSON object", hint="is this the address of a Holdfast server?")
    return answer

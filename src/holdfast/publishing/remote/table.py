"""The client's side: documents of one project and one server, kept as rows of the local store.

The table is the folder that `publishing.sync` reads and writes: what a pull brings is joined into it, a sync joins it
with memory, and a push sends the rows that differ from what the server has. So a machine that is offline goes on
working, and sends later.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from holdfast.domain.statefamilies import REMOTE_DOCUMENTS, REMOTE_TEXTS
from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.errors import HoldfastError, StaleWriteError
from holdfast.lean.plain import from_plain, to_plain
from holdfast.lean.texts import dumps, loads, short_id
from holdfast.ports.store import Store
from holdfast.publishing.lessonfile import Document, FileProblem, join, parse, path_of, render, tombstone
from holdfast.publishing.syncrecord import owner_of

DIGITS = 16
"""Hexadecimal digits of a text's digest."""
CONFIRMED = "+"
"""Follows the digest of a document that was sent as confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRow:
    """What is known of one document beside its text."""

    id: str
    digest: str
    """Of its text."""
    sent: str = ""
    """The digest that the server has, with CONFIRMED where it knows that this machine vouches for it; else empty."""
    refused: str = ""
    """The digest that the server refused, so that it is not sent again before it changes."""
    reason: str = ""
    """Why."""
    is_accepted: bool = False
    """Whether the server vouches for it."""
    seq: int = 0
    """The position of the version on the server, where that counts (`sealed`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A document that the server does not have like this."""

    path: str
    digest: str
    document: Document
    confirm: bool
    size: int
    """Of its text, in bytes."""
    is_known: bool
    """Whether the server has an earlier version."""


class DocumentTable:
    """The documents that a project has in common with one server."""

    def __init__(self, store: Store, project: ProjectId, channel: str) -> None:
        self._store = store
        self._owner = owner_of(project, channel)
        plain = store.get_rows(REMOTE_DOCUMENTS, self._owner)
        self._rows = {path: from_plain(DocumentRow, loads(text)) for path, text in plain.items()}
        self._paths = {row.id: path for path, row in self._rows.items()}

    # LessonFiles

    def find(self) -> dict[str, str]:
        """Return each document's path with a mark that changes with its text and with what the server says of it."""
        return {path: row.digest + (CONFIRMED if row.is_accepted else "") for path, row in self._rows.items()}

    def read(self, path: str) -> bytes | None:
        """Return the document's text; None where there is none.

        A document whose text was purged is a tombstone: nothing of a purged lesson comes back.
        """
        text = self._texts([path]).get(path)
        return text.encode() if text else None

    def write(self, path: str, content: bytes, before: bytes | None) -> str:
        """Replace the text and return its mark. Raises StaleWriteError if it is not `before` any more."""
        if self.read(path) != before:
            raise StaleWriteError(f"{path} was changed just now", hint="run the command again")
        text = content.decode()
        parsed = parse(path, content, doubted=False)
        if isinstance(parsed, FileProblem):
            raise HoldfastError(f"{path}: {parsed.reason}")
        row = self._rows.get(path) or DocumentRow(id=parsed.document.id, digest="")
        self._set({path: (replace(row, digest=digest_of(text)), text)})
        return self.find()[path]

    # Pull and push

    @property
    def accepted(self) -> frozenset[LessonId]:
        """The documents that the server vouches for."""
        return frozenset(LessonId(row.id) for row in self._rows.values() if row.is_accepted)

    def take(self, documents: Sequence[tuple[Document, bool]]) -> int:
        """Join documents of the server into the table, each with whether it is accepted; return how many differed."""
        texts = self._texts(path for document, _ in documents if (path := self._paths.get(document.id)))
        changes: dict[str, tuple[DocumentRow, str]] = {}
        for document, is_accepted in documents:
            path = self._paths.get(document.id) or self._new_path(document)
            before = changes[path][0] if path in changes else self._rows.get(path)
            text = changes[path][1] if path in changes else texts.get(path, "")
            mine = parse(path, text.encode(), doubted=False) if text else None
            whole = join(mine.document, document) if mine and not isinstance(mine, FileProblem) else document
            after = render(whole)
            row = before or DocumentRow(id=document.id, digest="")
            row = replace(row, digest=digest_of(after), is_accepted=is_accepted)
            if render(document) == after:  # the server has all that is known here
                is_confirmed = row.sent == row.digest + CONFIRMED
                row = replace(row, sent=row.sent if is_confirmed else row.digest)
            if (row, after) != (before, text):
                changes[path] = row, after
        self._set(changes)
        return len(changes)

    def outgoing(self, confirmed: Container[str]) -> Iterator[Outgoing]:
        """Yield what the server does not have yet; `confirmed` are the documents that are active on this machine."""
        due = {
            path: row.id in confirmed
            for path, row in self._rows.items()
            if row.refused != row.digest and not _has(row, row.id in confirmed)
        }
        for some in _in_parts(list(due)):
            for path, text in self._texts(some).items():
                parsed = parse(path, text.encode(), doubted=False)
                if not isinstance(parsed, FileProblem):
                    row = self._rows[path]
                    yield Outgoing(
                        path=path, digest=row.digest, document=parsed.document, confirm=due[path], size=len(text),
                        is_known=bool(row.sent),
                    )  # fmt: skip

    def note_sent(self, sent: Iterable[Outgoing], refusals: Mapping[str, str]) -> None:
        """Remember what the server has by now; `refusals` has the reason for each document that it refused."""
        changes: dict[str, tuple[DocumentRow, str | None]] = {}
        for item in sent:
            row = self._rows[item.path]
            reason = refusals.get(row.id)
            if reason is not None:
                row = replace(row, refused=item.digest, reason=reason)
            else:
                row = replace(row, sent=item.digest + (CONFIRMED if item.confirm else ""), refused="", reason="")
            changes[item.path] = row, None
        self._set(changes)

    def seq_of(self, path: str) -> int:
        """Return the position of the server's version; 0 where it has none."""
        return self._rows[path].seq

    def note_seqs(self, seqs: Mapping[str, int]) -> None:
        """Remember the positions of the server's versions, by document."""
        paths = {self._paths[id]: seq for id, seq in seqs.items()}
        self._set({path: (replace(self._rows[path], seq=seq), None) for path, seq in paths.items()})

    def forget_sent(self) -> None:
        """Forget what the server has: it lost what it had, so everything is compared again."""
        self._set({path: (replace(row, sent=""), None) for path, row in self._rows.items()})

    def _new_path(self, document: Document) -> str:
        words = document.values["insight"]
        path = path_of(document.id, document.values["kind"], words)
        if path in self._rows:
            path = f"{document.id}-{short_id(document.id)}.md"
        self._paths[document.id] = path
        return path

    def _texts(self, paths: Iterable[str]) -> dict[str, str]:
        wanted = [path for path in paths if path in self._rows]  # a text alone is what a killed process left
        texts = self._store.get_rows(REMOTE_TEXTS, self._owner, wanted)
        purged = {path: self._rows[path] for path in wanted if path not in texts}
        for path, row in purged.items():
            texts[path] = render(tombstone(LessonId(row.id), "decision"))
            self._set({path: (replace(row, digest=digest_of(texts[path])), texts[path])})
        return texts

    def _set(self, changes: Mapping[str, tuple[DocumentRow, str | None]]) -> None:
        """Write what is known of the documents, and the texts that are new, in one transaction."""
        texts = {path: text for path, (_, text) in changes.items() if text is not None}
        rows = {path: dumps(to_plain(row)) for path, (row, _) in changes.items()}
        with self._store.changing():
            self._store.set_rows(REMOTE_TEXTS, self._owner, texts)
            self._store.set_rows(REMOTE_DOCUMENTS, self._owner, rows)
        for path, (row, _) in changes.items():
            self._rows[path] = row
            self._paths[row.id] = path


def digest_of(text: str) -> str:
    """Return a few digits that distinguish texts."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:DIGITS]


def _has(row: DocumentRow, is_confirmed: bool) -> bool:
    """Return whether the server has that row as it is."""
    return row.sent == row.digest + CONFIRMED or (row.sent == row.digest and (row.is_accepted or not is_confirmed))


def in_batches(outgoing: Iterable[Outgoing], count: int, size: int) -> Iterator[list[Outgoing]]:
    """Yield the documents in batches of at most that many, and of at most that size together or of one document."""
    batch: list[Outgoing] = []
    for item in outgoing:
        if batch and (len(batch) == count or sum(each.size for each in batch) + item.size > size):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


AT_ONCE = 200
"""Texts that are read together."""


def _in_parts(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(paths), AT_ONCE):
        yield paths[start : start + AT_ONCE]

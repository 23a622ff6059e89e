"""A load of writers that keep a ledger: what the server acknowledged, and under which key it was asked.

A writer repeats a request with the same idempotency key until it is answered, however the server dies in between. At
the end everything in the ledger must be stored, and nothing twice.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx2 as httpx

from tests.server.serving import WAIT_S

PAUSE_S = 0.05
"""Between two tries while the server is away."""
WAITS = frozenset({408, 429, 500, 502, 503, 504, 507})
"""Statuses after which the same request is sent again."""


@dataclass
class Ledger:
    """What was asked and acknowledged. All writers share it."""

    url: str
    key: str
    project: str
    acknowledged: dict[str, str] = field(default_factory=dict)
    """Ids of lessons by their words."""
    refused: list[str] = field(default_factory=list)
    broken: int = 0
    """Requests that got no answer."""
    unready: Counter[int] = field(default_factory=Counter)
    """Answers that asked for another try, by status."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def wait_for(self, count: int) -> None:
        """Wait until so many writes are acknowledged."""
        until = time.monotonic() + WAIT_S
        while len(self.acknowledged) < count:
            assert not self.refused, self.refused[:3]
            assert time.monotonic() < until, (
                f"{len(self.acknowledged)} of {count}, {self.unready}, {self.broken} broken"
            )
            time.sleep(0.01)

    def write(self, writer: int) -> None:
        """Write lessons until the load ends; the last request is repeated until it is answered."""
        headers = {"authorization": f"Bearer {self.key}"}
        number = 0
        with httpx.Client(headers=headers, timeout=WAIT_S) as client:
            while not self._stopped.is_set():
                number += 1
                words = f"Rule {number} of writer {writer}: file{writer}x{number}.py holds value{writer}y{number}"
                self._write_one(client, words)

    def _write_one(self, client: httpx.Client, words: str) -> None:
        url, key = f"{self.url}/v1/projects/{self.project}/lessons", uuid4().hex
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            try:
                answer = client.post(url, json={"insight": words}, headers={"idempotency-key": key})
            except httpx.HTTPError:
                self.broken += 1
                time.sleep(PAUSE_S)
                continue
            if answer.status_code in WAITS:
                self.unready[answer.status_code] += 1
                time.sleep(PAUSE_S)
                continue
            with self._lock:
                if answer.is_success:
                    self.acknowledged[words] = answer.json()["id"]
                else:
                    self.refused.append(f"{answer.status_code} {answer.text[:300]}")
            return
        self.refused.append("never answered")

    @contextmanager
    def load(self, writers: int = 4) -> Iterator[None]:
        """Write with so many clients until the block ends, then wait for their last answers."""
        threads = [threading.Thread(target=self.write, args=(number,)) for number in range(writers)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join(WAIT_S)
        assert not self.refused, self.refused[:3]

    def check(self) -> None:
        """Everything that was acknowledged is stored under its id, and no words are stored twice."""
        stored = list(self.stored())
        by_words = Counter(lesson["insight"] for lesson in stored)
        assert {words: count for words, count in by_words.items() if count > 1} == {}
        ids = {lesson["insight"]: lesson["id"] for lesson in stored}
        missing = {words: id_ for words, id_ in self.acknowledged.items() if ids.get(words) != id_}
        assert missing == {}
        positions = [document["seq"] for document in self.documents()]
        assert sorted(positions) == sorted(set(positions))

    def stored(self) -> Iterator[dict[str, Any]]:
        """Every lesson of the project, as the server lists it."""
        yield from self._pages("lessons?limit=100&state=active,candidate", "items")

    def documents(self) -> list[dict[str, Any]]:
        """Every shared document of the project."""
        answer = self._get(f"{self.url}/v1/projects/{self.project}/documents?after=0&limit=1000")
        documents: list[dict[str, Any]] = answer["documents"]
        return documents

    def _pages(self, path: str, name: str) -> Iterator[dict[str, Any]]:
        cursor = ""
        while True:
            shown = f"&cursor={cursor}" if cursor else ""
            page = self._get(f"{self.url}/v1/projects/{self.project}/{path}{shown}")
            yield from page[name]
            cursor = page["next"]
            if not cursor:
                return

    def _get(self, url: str) -> dict[str, Any]:
        answer = httpx.get(url, headers={"authorization": f"Bearer {self.key}"}, timeout=WAIT_S)
        assert answer.is_success, answer.text
        value: dict[str, Any] = answer.json()
        return value

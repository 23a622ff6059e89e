"""Seeded lessons of one project with realistic words, paths, symbols, errors and commands, from seven templates."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from holdfast.domain.lesson import Anchor, Lesson, Provenance, Scope, Validity
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.lean.texts import uuid7
from holdfast.text.shell import command_target
from holdfast.text.signature import error_signature
from holdfast.text.titles import make_title


def _words(text: str) -> list[str]:
    return text.split()


AREAS = _words(
    "billing login search export cache queue report invoice webhook session ledger catalog shipping refund tenant "
    "audit theme editor upload thumbnail mailer digest quota pricing coupon basket wishlist rating chat presence"
)
PARTS = _words(
    "client parser worker store router view schema policy index gateway scheduler serializer validator adapter factory "
    "repository middleware migration fixture renderer"
)
VERBS = _words("close open flush retry parse merge load emit drain rotate sign verify split batch lock release")
NOUNS = _words(
    "timezone cursor transaction deadlock cents locale webhook signature pagination retry backoff idempotency cookie "
    "header encoding checksum shard replica snapshot rollback fsync semaphore watermark bucket histogram debounce "
    "viewport hydration polyfill bundler sourcemap symlink permission umask entropy nonce certificate handshake"
)
TEMPLATES = (
    "Call {symbol} before the {part} is closed; the {area} {noun} is lost otherwise.",
    "Never {verb} the {area} {part} inside a {noun}: it waits for itself and the {noun2} times out.",
    "The {area} {part} keeps its {noun} in {noun2} units, so compare it after {symbol}.",
    "Use {symbol} instead of building the {noun} by hand; it escapes the {noun2} of {area}.",
    "The {noun} of {area} is generated: edit the {part} template and {verb} it again.",
    "{symbol} returns None while the {noun} is being {verb}ed; check it before the {noun2}.",
    "Tests of {area} fail near midnight because the {part} rounds the {noun} to the local {noun2}.",
)
KINDS = ("decision", "constraint", "convention", "bug_cause", "failed_approach", "fix", "tooling", "preference")
BEGIN = datetime(2025, 6, 1, tzinfo=UTC)


class Words:
    """Seeded choices of one lesson."""

    def __init__(self, rng: random.Random) -> None:
        self.area, self.part, self.verb = rng.choice(AREAS), rng.choice(PARTS), rng.choice(VERBS)
        self.noun, self.noun2 = rng.sample(NOUNS, 2)
        self.number = rng.randrange(400)
        self.symbol = f"{self.verb}{self.area.title()}{self.part.title()}{self.number}"
        self.path = f"src/{self.area}/{self.part}_{self.number % 40}.py"
        self.command = f"pytest tests/{self.area}/test_{self.part}_{self.number % 40}.py"
        self.error = f"{self.part.title()}Error: {self.noun} of {self.area} was not {self.verb}ed"


def make_lesson(n: int, rng: random.Random, project: str) -> tuple[Lesson, Words]:
    words = Words(rng)
    insight = rng.choice(TEMPLATES).format(**vars(words))
    at = BEGIN + timedelta(hours=n * 1.2)
    kind = rng.choice(KINDS)
    fails = kind in ("fix", "bug_cause", "tooling")
    lesson = Lesson(
        id=LessonId(uuid7(int(at.timestamp() * 1000), rng.randbytes(10))),
        kind=kind,  # type: ignore[arg-type]
        title=make_title(insight),
        insight=insight,
        why=f"The {words.noun2} was {words.verb}ed twice when {words.area} was under load." if n % 2 else "",
        how=f"See {words.path} and {words.verb} it first." if n % 3 == 0 else "",
        scope=Scope(project=project),  # type: ignore[arg-type]
        validity=Validity(valid_from=at),
        recorded_at=at,
        anchors=(Anchor(path=words.path, symbol=words.symbol),),
        provenance=Provenance(session=SessionId(f"session-{n // 8}")),
        state="active",
        pinned=n % 997 == 0,
        error_signature=error_signature(words.error) if fails else "",
        command=command_target(words.command) if fails else "",
    )
    return lesson, words

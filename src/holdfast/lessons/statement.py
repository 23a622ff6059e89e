"""Statement: cleans what somebody states as a lesson, and derives the lesson's fields from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.lesson import INSIGHT_LIMIT, Anchor, Evidence, Lesson
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import Trust
from holdfast.errors import InvalidValueError
from holdfast.lessons.anchoring import CodeThen, Subject, parse_named
from holdfast.lessons.lookup import folder_of, in_project
from holdfast.lessons.tuning import NAME_LIMIT, SHORTEST_QUOTE
from holdfast.ports.services import Services
from holdfast.redaction import redact
from holdfast.text.hidden import disguises_word, folded, hides_something, without_hidden
from holdfast.text.orders import is_order
from holdfast.text.titles import fault_of, make_title
from holdfast.text.triggers import united
from holdfast.text.words import duplicate_key

_ADDRESSED = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,20}\b(?:previous|prior|above|earlier|your|system)\b"
    r".{0,20}\b(?:instructions?|prompts?|rules|guidelines|messages|guardrails)\b"
    r"|\b(?:ignore|disregard|forget) (?:all|any) (?:of )?(?:the )?(?:instructions|prompts)\b"
    r"|\byou are now (?:a|an|in \w+ mode)\b|^[ \t]*new instructions?:"
    r"|\b(?:do not|don't|never|without) (?:tell|telling|mention|mentioning|inform|informing|reveal|alert|alerting)"
    r"(?: it| this| any of this)?(?: to)? the user\b"
    r"|<\|?(?:im_start|im_end|system|assistant|endoftext)\|?>|\[/?INST\]|<</?SYS>>"
    r"|^[ \t]*(?:system|assistant)[ \t]*:\s",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_SENT_AWAY = re.compile(
    r"\b(?:curl|wget|iwr|Invoke-WebRequest)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b"
    r"|\bbase64\s+(?:-d|-D|--decode)\b[^\n]{0,60}\|\s*(?:ba|z)?sh\b|\bexfiltrat|\beval\s*\(\s*(?:atob|base64)",
    re.IGNORECASE,
)
_RUN = re.compile(r"[A-Za-z0-9+/]{100,}={0,2}")

TEXTS = ("title", "insight", "why", "how", "topic_key")
LISTS = ("snippets", "tags")
SAID = ("insight", "why", "how", "snippets")
"""Fields whose words a title may use."""
NAMES = ("files", "symbols")
_NAME_SIGNS = str.maketrans("-_/.", "    ")
"""Replaces the signs between words of a name by spaces, because a name can contain a sentence."""


def doubt(trust: Trust, fields: Mapping[str, Any]) -> str:
    """Return why the fields need a person's confirmation, or an empty string; a person's own never do."""
    if trust in ("person", "verified"):
        return ""
    words = [fields.get(name) for name in TEXTS] + [item for name in LISTS for item in fields.get(name, ())]
    names = [item for name in NAMES for item in fields.get(name, ()) if isinstance(item, str)]
    return suspicion("\n".join(word for word in words if isinstance(word, str))) or doubtful_name(names)


def doubtful_name(names: Iterable[str]) -> str:
    """Return why names of files or symbols may not be shown to an agent: one of them is an attack in words."""
    return suspicion("\n".join(name.translate(_NAME_SIGNS) for name in names))


def plain_name(name: str, otherwise: str) -> str:
    """Return a name of a file or symbol that may stand in a sentence of ours; a sentence in disguise is replaced."""
    is_plain = len(name) <= NAME_LIMIT and all(char.isalnum() or char in "._-/:@+#" for char in name)
    return name if is_plain and not is_order(name) and not doubtful_name([name]) else otherwise


def clean(text: str) -> str:
    """Return the text without secrets, private spans, hidden characters and outer blanks."""
    return redact(without_hidden(text)).strip()


def clean_all(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with clean texts and without empty list items. Raises InvalidValueError for a wrong type."""
    done = dict(fields)
    for name in TEXTS:
        if name in done:
            done[name] = clean(_text(name, done[name]))
    for name in LISTS:
        if name in done:
            done[name] = tuple(dict.fromkeys(filter(None, (clean(item) for item in texts(name, done[name])))))
    return done


def with_title(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with a title, derived from the insight when there is none.

    Raises InvalidValueError for an insight that is missing, too long or all private.
    """
    insight = fields["insight"]
    if not insight:
        raise InvalidValueError("a lesson needs an insight: the rule to remember", hint="state it in a sentence")
    if insight == "[private]":
        raise InvalidValueError(
            "the whole insight is private, so nothing of it may be stored",
            hint="remove <private>, or do not store the lesson",
        )
    if not duplicate_key(insight):
        raise InvalidValueError(f"an insight needs words: {insight[:40]!r}", hint="state the rule in a sentence")
    if len(insight) > INSIGHT_LIMIT:
        raise InvalidValueError(
            f"an insight has at most {INSIGHT_LIMIT:,} characters, but this one has {len(insight):,}",
            hint="make it several lessons, or move code into snippets",
        )
    return {**fields, "title": fields.get("title") or _made(insight)}


def _made(insight: str) -> str:
    return make_title(insight)


def said(fields: Mapping[str, Any]) -> str:
    """Return all words that a lesson with those fields says, which its title stands for."""
    return "\n".join([*(fields.get(name) or "" for name in SAID[:-1]), *fields.get("snippets", ())])


def checked_title(title: str, trust: Trust, words: str, quote: str = "") -> str:
    """Return a title that somebody states for the words of a lesson; empty if it is to be made of the insight.

    A person is told what is wrong with it: raises InvalidValueError. An agent's bad title is not used, and neither is
    one that held a secret.
    """
    fault = fault_of(title, f"{words}\n{quote}") if title else ""
    if fault and trust == "person" and "[redacted:" not in title:
        raise InvalidValueError(
            f"not a title: {fault}: {title[:60]!r}",
            hint="say the verdict in at most 12 words, with the lesson's own names, numbers and negations",
        )
    return "" if fault else title


def anchors_of(
    services: Services,
    location: Location,
    files: Sequence[str],
    symbols: Sequence[str],
    words: str = "",
    at: datetime | None = None,
    commit: str = "",
) -> tuple[tuple[Anchor, ...], tuple[str, ...]]:
    """Return anchors, and globs. A file is `path`, `path:LINE` or `path::symbol`; a glob `src/**`.

    Symbols are looked up in the files, then in the project; the lesson's `words` name definitions, too. The anchors are
    to the present code, or to the code of the time or commit at which it was said. Raises InvalidValueError for a file
    outside the project.
    """
    files, symbols = [redact(name) for name in files], [redact(name) for name in symbols]
    globs = tuple(name for name in files if "*" in name or name.endswith("/"))
    cwd = folder_of(location)
    named = [parse_named(services, location, name, cwd) for name in files if name not in globs]
    paths = [in_project(services, location, file.path) for file in named]
    subject = Subject(
        files=tuple(dict.fromkeys(paths)),
        symbols=tuple(dict.fromkeys([*(file.symbol for file in named if file.symbol), *symbols])),
        lines=tuple((path, file.lines) for path, file in zip(paths, named, strict=True) if file.lines),
        words=words,
    )
    code = CodeThen(services, location)
    anchors = code.anchors_at(subject, at, commit) if at else code.anchors(subject, ())
    return anchors, tuple(name + "**" if name.endswith("/") else name for name in globs)


def merged(old: Lesson, new: Lesson) -> dict[str, Any]:
    """Return the fields of `old` that change by a restatement. Existing texts stay, lists are united."""
    gains: dict[str, Any] = {
        name: getattr(new, name) for name in ("why", "how", "topic_key", "revival") if not getattr(old, name)
    }
    for name in ("snippets", "anchors", "globs", "tags"):
        gains[name] = tuple(_united(getattr(old, name), getattr(new, name)))
    gains["when"] = united(old.when, new.when)
    gains["pinned"] = old.pinned or new.pinned
    gains["private"] = old.private or new.private
    gains["confidence"] = max(old.confidence, new.confidence)
    gains["salience"] = max(old.salience, new.salience)
    return {name: value for name, value in gains.items() if value != getattr(old, name)}


def texts(name: str, value: Any) -> tuple[str, ...]:
    """Return a list of texts as a tuple; a single text counts as a list. Raises InvalidValueError for anything else."""
    items = (value,) if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)):
        raise InvalidValueError(f"{name} must be a list of texts")
    return tuple(_text(name, item) for item in items)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidValueError(f"{name} must be a text, not {type(value).__name__}")
    return value


def _united(old: Iterable[Any], new: Iterable[Any]) -> Iterable[Any]:
    return dict.fromkeys((*old, *new)) if not _are_anchors(new) else _united_anchors(old, new)


def _are_anchors(items: Iterable[Any]) -> bool:
    return any(isinstance(item, Anchor) for item in items)


def _united_anchors(old: Iterable[Anchor], new: Iterable[Anchor]) -> Iterable[Anchor]:
    """Return each anchor once; anchors to definitions replace one to their whole file."""
    anchors = {(anchor.path, anchor.symbol): anchor for anchor in old}
    for anchor in new:
        anchors.setdefault((anchor.path, anchor.symbol), anchor)
    precise = {path for path, symbol in anchors if symbol}
    return [anchor for (path, symbol), anchor in anchors.items() if symbol or path not in precise]


# Suspicion: why a text needs a person's confirmation before it is believed


def suspicion(text: str) -> str:
    """Return the reason in a few words, or an empty string for a text that needs no quarantine."""
    if hides_something(text):
        return "hidden characters"
    if disguises_word(text):
        return "letters that look like others"
    plain = folded(without_hidden(text))
    if _ADDRESSED.search(plain):
        return "text that addresses the agent"
    if _SENT_AWAY.search(plain):
        return "a command that runs what it downloads"
    if any(_is_payload(run) for run in _RUN.findall(plain)):
        return "an encoded payload"
    return ""


def _is_payload(run: str) -> bool:
    """Return whether it is a long run of mixed case and digits, and neither a path nor a hash."""
    mixed = run != run.lower() and run != run.upper() and any(c.isdigit() for c in run)
    return mixed and run.count("/") * 20 < len(run)


# Finds the words that a lesson rests on in the events of its session, exactly but for white space


def find_quote(quote: str, events: Iterable[Event]) -> tuple[Event, Evidence]:
    """Return the first event whose text, command or written text holds the quote, and the span there.

    Raises InvalidValueError for a quote that is too short or that no event holds.
    """
    words = quote.split()
    if len(quote) < SHORTEST_QUOTE or not words:
        raise InvalidValueError("the quote is missing or too short")
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    for event in events:
        for text in (event.text, event.command, event.new):
            if match := pattern.search(text):
                return event, Evidence(event=event.id, quote=match.group(), start=match.start(), end=match.end())
    raise InvalidValueError("the quote does not occur in the session")

"""Finds searches and reading that led nowhere, so that later sessions can avoid them.

There are two kinds: several failed searches before the turn found the file that it then edited, and files that were
read, that the agent said are not the place, and that nobody edited. Ordinary reading, a single failed search and a
mistyped pattern are not reported, nor are searches after a turn's first edit, which only make sure that nothing is
left. Which file was read before which is an association (`learning/associations`), not a lesson.
"""

from __future__ import annotations

import re

from holdfast.domain.candidate import Candidate
from holdfast.domain.event import NOTHING_FOUND
from holdfast.lean.records import Frozen
from holdfast.text.signature import command_target
from holdfast.text.window import clip, failed, quote, sentences, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.domain.event import Event

SALIENCE = 0.2
"""Importance, 0 to 1, of what was found: the next search finds it again."""
LEAST_MISSES = 2
"""Different searches in vain that make a walk; one is ordinary."""
SPAN = 60
"""Events between the first search and the edit beyond which the one did not lead to the other."""
PATTERN_LIMIT = 80
"""Characters of a search pattern that is told."""

_SEARCHES = re.compile(r"^(?:cd \S+ && )?(?:(?:e|f|r|a)?grep|git grep|rg|ag|ack|find|fd)\s")
_MORE = re.compile(r"&&|\|\||;|\n|\bxargs\b|-exec\b|-delete\b|\bsed -i|\s-[a-zA-Z]*q\b|(?<![0-9&])>(?!\s*/dev/null|&)")
"""Signs that the line's output is not the search's, or that the line does more than search."""
_NAMED = re.compile(r"-i?(?:name|path|regex)[ =]+(['\"]?)(\S+?)\1(?:\s|$)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_ASIDE = re.compile(
    r"\b(?:is|are|was|were)(?:n't| not) (?:actually )?(?:the (?:right )?(?:place|file|module|one|culprit|cause|problem)"
    r"|where|relevant|related|involved|responsible|affected)\b|\bhas nothing to do with\b"
    r"|\b(?:is|are|was|were) (?:irrelevant|unrelated|a red herring|a dead end|the wrong (?:file|place|module))\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(r"\b(?:if|whether|might|may|could|probably|perhaps|maybe|seems?|unless|not sure)\b", re.IGNORECASE)


class _Search(Frozen):
    """A search, what it looked for, and whether it found nothing."""

    event: Event
    what: str
    vain: bool


class Exploration:
    """Finds what was searched without success, and where it was."""

    id = "exploration/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return candidates of low salience in order, those of failed searches first."""
        return [*_misses(window), *_asides(window)]


def make(options: Mapping[str, str]) -> Exploration:
    """Return the detector; it has no options."""
    return Exploration()


def _misses(window: Sequence[Event]) -> Iterator[Candidate]:
    """Yield a candidate for each turn whose first edit followed several failed searches."""
    begun = 0
    for at, event in enumerate(window):
        if spoken(event):
            begun = at
        elif event.kind == "file_edit" and event.files and begun >= 0:
            made = _miss(window[max(begun, at - SPAN) : at], event)
            begun = -1  # until the next turn
            if made:
                yield made


def _miss(walk: Sequence[Event], edit: Event) -> Candidate | None:
    searches = list(filter(None, map(_search, walk)))
    hits = [search for search in searches if not search.vain]
    there = {name for search in hits for name in _names(search.what)}
    vain = {_names(search.what): search for search in searches if search.vain and not _names(search.what) & there}
    hit = next((search for search in reversed(hits) if edit.files[0] in search.event.files), None)
    known = hit or any(event.tool == "Read" and edit.files[0] in event.files for event in walk)
    if len(vain) < LEAST_MISSES or not known or not edit.old:
        return None
    target, missed = edit.files[0], list(vain.values())[:4]
    shown = ", ".join(f"`{search.what}`" for search in missed)
    found_by = f" Searching for `{hit.what}` finds it." if hit else ""
    commands = [search.event.command for search in missed if search.event.command]
    return Candidate(
        kind="exploration",
        title=clip(f"Not found by {shown}: it is in {target}", 100),
        insight=f"Searches for {shown} find nothing; what they were after is in {target}.{found_by}",
        detector=Exploration.id,
        evidence=(*(quote(search.event) for search in missed), quote(edit)),
        files=(target,),
        command=command_target(commands[-1]) if commands else "",
        confidence=0.5,
        salience=SALIENCE,
    )


def _search(event: Event) -> _Search | None:
    if event.tool in ("Grep", "Glob") and event.kind == "tool_result":
        pattern, _, result = event.text.partition("\n")
        return _named(event, pattern, result == NOTHING_FOUND and not event.files)
    if not event.command or not _SEARCHES.match(event.command) or _MORE.search(_inner(event.command)):
        return None
    missed = failed(event) and event.exit_code == 1
    if event.kind not in ("tool_result", "tool_failure") or (failed(event) and not missed):
        return None
    words = command_target(event.command).split()
    name = _NAMED.search(event.command)
    what = name.group(2) if name else words[2] if words[:2] == ["git", "grep"] and len(words) > 2 else words[1:2]
    return _named(event, what if isinstance(what, str) else "".join(what), not event.text.strip())


def _names(pattern: str) -> frozenset[str]:
    """Return the words that a search looked for. Words that another search found do not count as missed."""
    return frozenset(word.lower() for word in _WORD.findall(pattern))


def _inner(command: str) -> str:
    """Return the command after a leading `cd`, without redirections that silence errors."""
    return re.sub(r"^cd \S+ && ", "", command).replace("2>/dev/null", "").replace("2>&1", "")


def _named(event: Event, what: str, vain: bool) -> _Search | None:
    """Return the search if its pattern is meaningful, otherwise None."""
    what = " ".join(what.split())
    telling = 3 <= len(what) <= PATTERN_LIMIT and sum(map(str.isalpha, what)) >= 3 and "`" not in what
    return _Search(event=event, what=what, vain=vain) if telling else None


def _asides(window: Sequence[Event]) -> Iterator[Candidate]:
    """Yield a candidate for each file that was read and set aside, if another file was edited later in the turn."""
    edited = {file for event in window if event.kind == "file_edit" for file in event.files}
    read: dict[str, Event] = {}
    yielded: set[str] = set()
    for at, event in enumerate(window):
        if event.tool == "Read" and event.kind == "tool_result":
            read.update((file, event) for file in event.files if file not in edited)
        elif event.kind == "reply" and not event.agent and read:
            for sentence, start in sentences(event.text[:4_000]):
                file = _set_aside(sentence, read)
                place = _next_edited(window, at)
                if file and place and file not in yielded:
                    yielded.add(file)
                    yield _aside(event, sentence, start, file, place)


def _set_aside(sentence: str, read: Mapping[str, Event]) -> str:
    """Return the single file that the sentence rules out; empty if there is none or there are several."""
    match = _ASIDE.search(sentence)
    if not match or len(sentence) > 300 or sentence.endswith("?") or _DOUBT.search(sentence):
        return ""
    words = {word.strip("`'\"()[],;:*").rstrip(".") for word in sentence[: match.start()].split()}
    named = [file for file in read if file in words or file.rpartition("/")[2] in words]
    return named[0] if len(named) == 1 else ""


def _next_edited(window: Sequence[Event], at: int) -> str:
    """Return the file edited next in the same turn."""
    for event in window[at + 1 : at + 1 + SPAN]:
        if spoken(event):
            break
        if event.kind == "file_edit" and event.files:
            return event.files[0]
    return ""


def _aside(event: Event, sentence: str, start: int, file: str, place: str) -> Candidate:
    statement = clip(sentence, 280)
    return Candidate(
        kind="exploration",
        title=clip(f"{file} was not the place; {place} was", 100),
        insight=f"{statement} It was looked into and left alone; the change was made in {place}.",
        detector=Exploration.id,
        evidence=(quote(event, sentence, start),),
        files=(file,),
        confidence=0.5,
        salience=SALIENCE,
    )

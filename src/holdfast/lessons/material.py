"""Material: the texts that a session has read. A rule with their words comes from them, whoever repeats it.

An agent that read a file repeats it in every session, so repetition proves nothing, and neither does a tool call that
stores the words in the memory.

Words can be changed on the way. `tells` finds a rule whose words are known only from what others wrote: a page, a
ticket, a paste, a document. `is_translated` finds a reply to a text in another language, which no words can trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from holdfast.domain.event import MEMORY_TOOL, Event
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import EventId
from holdfast.lessons.statement import plain_name
from holdfast.lessons.tuning import (
    COVERAGE,
    FILE_BYTES,
    FILES_READ,
    LEAST_TERMS,
    LINE_LIMIT,
    OTHERS_LEAST,
    OTHERS_SHARE,
    PERSONS_LEAST,
    PERSONS_SHARE,
    RECENT_EVENTS,
    SPAN_LINES,
)
from holdfast.ports.services import Services, learned_position
from holdfast.ports.store import EventFilter
from holdfast.ranking.relevance import stems_of
from holdfast.text.hidden import folded, without_hidden
from holdfast.text.orders import installed_in
from holdfast.text.window import failed, not_typed, refused, typed
from holdfast.text.words import word_set

LEAST_WORDS = 2
"""Different function words from which a language is named."""
FOREIGN_LETTERS = 0.25
"""Share of letters beyond the Latin script from which a text is not in a language of that script."""
NOT_LATIN = "not latin"
"""What is named for every other script."""

_FUNCTION_WORDS = {
    "en": word_set("the and is are was were of to that this it with for be by not or from has have on as at an which"),
    "de": word_set(
        "der die das und ist sind wird werden nicht ein eine mit auf für von zu im den dem des sich auch bitte sonst"
        " oder nur bei muss müssen jede jedem jeder"
    ),
    "fr": word_set(
        "le la les et est sont des du un une dans pour par avec ne pas sur sans qui que au aux leur doivent doit sinon"
        " ou toutes tous"
    ),
    "es": word_set("el los las y es son una un del para por con no se que en al debe deben sin todas todos siempre"),
    "it": word_set("il lo gli e è sono una un del della per con non si che di al deve devono senza tutti sempre"),
    "pt": word_set("o os as e é são uma um do da para por com não se que em ao deve devem sem todos sempre"),
    "nl": word_set("de het en is zijn een van voor met niet te op aan dat die moet moeten worden wordt altijd of"),
}

OWN_COMMAND = "holdfast "
ALWAYS_READ = (
    "README.md", "README", "README.rst", "README.txt", "AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md",
    "CONTRIBUTING.md", "CONVENTIONS.md", "SECURITY.md", ".cursorrules", ".windsurfrules", ".clinerules", "AGENT.md",
    ".github/copilot-instructions.md", ".claude/CLAUDE.md", "DEVELOPMENT.md", "HACKING.md", "CHANGELOG.md", "NOTES.md",
    "TODO.md", "package.json", "Makefile", "pyproject.toml",
)  # fmt: skip
"""Files that hosts put into an agent's context, or that agents read first, without an event that says so."""

_PROSE = (".md", ".mdx", ".rst", ".txt", ".adoc", ".html")
_VENDORED = ("node_modules/", "site-packages/", "vendor/")
_CORRESPONDENCE = re.compile(r"\b(?:gh|glab)\s+(?:issue|pr|mr|api|release|search)\b(?!\s+diff)|\b(?:curl|wget)\b")
"""Commands that print what people wrote elsewhere."""


class Material:
    """The texts that some events brought into a session, loaded once."""

    def __init__(self, services: Services, location: Location, events: Iterable[Event]) -> None:
        self._services = services
        self._location = location
        self._events = list(events)
        self._pieces: list[tuple[int, str, frozenset[str]]] | None = None
        self._others: list[tuple[str, frozenset[str]]] | None = None
        self._loaded: list[tuple[int, str, str]] | None = None

    def holds(self, rule: str, written_in: EventId | None = None) -> str:
        """Return the name of a file or tool with the rule's words; empty when nothing that was read contains them.

        For a rule that was written in an event of the session, only texts read before it count, because a commit's own
        words come back from `git log`.
        """
        wanted = _stems(rule)
        if len(wanted) < LEAST_TERMS:
            return ""
        if self._pieces is None:
            self._pieces = [(at, name, piece) for at, name, text in self._all() for piece in _pieces(text)]
        least = COVERAGE * len(wanted)
        places = {event.id: at for at, event in enumerate(self._events)} if written_in else {}
        end = places.get(written_in, len(self._events)) if written_in else len(self._events)
        return next((name for at, name, piece in self._pieces if at < end and len(wanted & piece) >= least), "")

    def tells(self, rule: str, failure: EventId | None = None) -> str:
        """Return the name of what others wrote that alone has several of the rule's words; empty for none.

        A word that a person typed, or that the session's commands, edits or code have, is not theirs alone. With a
        failure, that command's message counts as others', too.
        """
        if self._others is None or failure:
            others = self._only_others(failure)
            self._others = self._others if failure else others
        else:
            others = self._others
        wanted = _stems(rule)
        least = max(OTHERS_LEAST, OTHERS_SHARE * len(wanted))
        return next((name for name, stems in others if len(wanted & stems) >= least), "")

    def is_translated(self, reply: EventId) -> bool:
        """Return whether the reply follows, in its turn, a text in another language than the agent's."""
        at = next((at for at, event in enumerate(self._events) if event.id == reply), 0)
        begin = max((n for n, event in enumerate(self._events[:at]) if event.kind == "prompt"), default=0)
        own = language_of("\n".join(event.text for event in self._events if event.kind == "reply"))
        read = (language_of(text) for place, _, text in self._all() if begin < place < at)
        return any(language not in ("", own) for language in read)

    def untried(self, words: str) -> str:
        """Return what the words install though no person named it and no command that ended well did; empty for none.

        Whoever wrote it, a name that looks like a known package's is not a lesson of the work.
        """
        names = installed_in(words)
        if not names:
            return ""
        ran = [event.command for event in self._events if event.command and not failed(event)]
        known = "\n".join((*ran, *(typed(event) for event in self._events if event.kind == "prompt")))
        return next((name for name in names if name not in known), "")

    def _all(self) -> list[tuple[int, str, str]]:
        if self._loaded is None:
            self._loaded = list(self._texts())
        return self._loaded

    def _only_others(self, failure: EventId | None) -> list[tuple[str, frozenset[str]]]:
        """Return (name, stems) of what others wrote, without the stems of what persons typed and of the work."""
        acts = ((event.command, event.old, event.new, *event.files) for event in self._events)
        own = set(_stems("\n".join(text for texts in acts for text in texts)))
        own |= _stems("\n".join(typed(event) for event in self._events if event.kind == "prompt"))
        others: list[tuple[str, frozenset[str]]] = []
        for at, name, text in self._all():
            if at >= 0 and (_is_others(self._events[at], name) or self._events[at].id == failure):
                others.append((name, _stems(text)))
            else:
                own |= _stems(text)
        return [(name, stems - own) for name, stems in others]

    def _texts(self) -> Iterator[tuple[int, str, str]]:
        """Yield (position, name, text) of tool output, failures, pasted text, replaced text and files read."""
        files: dict[str, int] = {}
        persons = [event.text for event in self._events if event.kind == "prompt" and event.trust == "person"]
        for at, event in enumerate(self._events):
            if event.command.startswith(OWN_COMMAND):
                continue  # it prints lessons, and memory is no evidence for or against itself
            if event.tool == MEMORY_TOOL:
                continue  # the agent's own words
            if event.kind in ("tool_result", "tool_failure") and event.trust != "person":
                yield at, event.tool or "a tool", _without_refusal(event, persons)
                for path in event.files:
                    files.setdefault(path, at)
            elif event.kind == "file_edit":
                yield at, (event.files or ("a file",))[0], event.old
            elif event.kind == "prompt":
                yield at, "pasted text", not_typed(event)
        read = list(files)[-FILES_READ:]
        for path in dict.fromkeys((*read, *ALWAYS_READ)):
            content = self._services.workspace.read(self._location, path)
            if content:
                yield files.get(path, -1), path, self._as_found(path, content[:FILE_BYTES].decode("utf-8", "replace"))

    def _as_found(self, path: str, content: str) -> str:
        """Return the file without the lines that these events wrote into it."""
        edits = [event for event in self._events if event.kind == "file_edit" and path in event.files]
        own = {line.strip() for edit in edits for line in edit.new.splitlines()}
        own -= {line.strip() for edit in edits for line in edit.old.splitlines()}
        return "\n".join(line for line in content.splitlines() if line.strip() not in own) if own else content


def is_about(quotes: Iterable[str], rule: str) -> bool:
    """Return whether the quotes are about what the rule says, by the telling words that they share."""
    wanted = _stems(rule)
    shared = len(wanted & _stems("\n".join(quotes)))
    return shared >= PERSONS_LEAST or shared >= PERSONS_SHARE * len(wanted)


def repeated_in(read: Material, texts: Iterable[str]) -> str:
    """Return why a lesson with those texts must wait: they repeat what was read; empty if they do not."""
    where = next((name for text in texts if text and (name := read.holds(text))), "")
    return f"its words stand in {plain_name(where, 'a text that was read')}" if where else ""


def recent_events(services: Services, location: Location) -> list[Event]:
    """Return the events of the current sessions in this project, as well as the store can tell."""
    learned = learned_position(services.store)
    where = EventFilter(project=location.project.id, after=max(0, learned - RECENT_EVENTS))
    return [event for _, event in services.store.find_events(where)]


def _is_others(event: Event, name: str) -> bool:
    """Return whether the text of that name is what people wrote elsewhere: a page, a ticket, a paste, a document."""
    if name in event.files:
        return name.endswith(_PROSE) or any(folder in name for folder in _VENDORED)
    if event.kind in ("prompt", "file_edit"):
        return event.kind == "prompt"
    return not event.files and (not event.command or bool(_CORRESPONDENCE.search(event.command)))


def _without_refusal(event: Event, persons: Iterable[str]) -> str:
    """Return a tool's text; for a refused call without the user's words at its end, which are also a prompt."""
    if not refused(event):
        return event.text
    return next((event.text.removesuffix(words) for words in persons if event.text.endswith(words)), event.text)


def _pieces(text: str) -> Iterator[frozenset[str]]:
    """Yield the stems of each few adjacent lines of the text; a long line is split into sentences."""
    whole = (line for line in text.splitlines() if line.strip())
    lines = [_stems(part) for line in whole for part in (line.split(". ") if len(line) > LINE_LIMIT else (line,))]
    for at in range(len(lines)):
        yield frozenset().union(*lines[at : at + SPAN_LINES])


def _stems(text: str) -> frozenset[str]:
    return stems_of(folded(without_hidden(text)))


# Guesses the language of a text by its function words or its script, to tell whether two texts can be compared


def language_of(text: str) -> str:
    """Return a short name of the text's language; empty if it cannot be told, as for code."""
    letters = [char for char in text if char.isalpha()]
    if sum(ord(char) > 0x24F for char in letters) > FOREIGN_LETTERS * len(letters):
        return NOT_LATIN
    words = {word.strip(".,;:!?()[]\"'`*") for word in text.lower().split()}
    counts = sorted(((len(words & known), name) for name, known in _FUNCTION_WORDS.items()), reverse=True)
    (most, name), (next_most, _) = counts[:2]
    return name if most >= LEAST_WORDS and most > next_most else ""

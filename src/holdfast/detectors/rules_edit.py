"""Finds the rules that an agent added to a rules file (CLAUDE.md, AGENTS.md, .cursor/rules, ...).

Only text that the edit added counts; of several edits of one passage, the last. Each find names the file as its origin,
as an import of that file does, so that a host that reads the file does not get its rules a second time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from holdfast.detectors._writing import (
    FILES_LIMIT,
    TextPiece,
    alike,
    best,
    evidence_of,
    fits,
    is_status,
    joined,
    leans,
    name_kind,
    names_cause,
    read_pieces,
    states_duty,
    without_lead,
    worth_of,
)
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.text.mentions import files_named, symbols_named
from holdfast.text.window import capital

MOST = 6
"""Lessons of one file, the likeliest: a first description of a code base has dozens of statements."""

_RULES_FILE = re.compile(
    r"(?:^|/)(?:CLAUDE(?:\.local)?\.md|AGENTS?\.md|GEMINI\.md|CONVENTIONS\.md|CONTRIBUTING\.md|\.cursorrules|\.windsurfrules"
    r"|\.clinerules|\.goosehints|copilot-instructions\.md|[^/]+\.instructions\.md)$"
    r"|(?:^|/)(?:\.cursor/rules|\.claude/rules|\.windsurf/rules|\.devin/rules|\.clinerules|\.roo/rules[\w-]*"
    r"|\.continue/rules|\.kiro/steering|\.junie|\.amazonq/rules)/[^\n]+\.(?:md|mdc)$",
    re.IGNORECASE,
)
_NO_RULE = re.compile(
    r"(?:example|e\.g\.|for example|see also|usage)\b|`[^`]{1,80}` - "
    r"|[\w-]{2,30}: (?:always|never|only|not)? ?(?:added|used|set|required)\b",
    re.IGNORECASE,
)
"""An example, or an entry of a list of names."""


class RulesEdit:
    """Finds the rules that edits of rules files state."""

    id = "rules_edit/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return the likeliest new rules of each file, in the order they were written."""
        by_file: dict[str, list[Candidate]] = {}
        for event in window:
            if event.kind == "file_edit" and event.files and not event.agent and _RULES_FILE.search(event.files[0]):
                known = by_file.setdefault(event.files[0], [])
                for candidate in _rules(event, window):
                    known[:] = [other for other in known if not alike(other.insight, candidate.insight)]
                    known.append(candidate)
        return [candidate for candidates in by_file.values() for candidate in best(candidates, MOST)]


def make(options: Mapping[str, str]) -> RulesEdit:
    """Return the detector; it has no options."""
    return RulesEdit()


def _rules(event: Event, window: Sequence[Event]) -> Iterator[Candidate]:
    old = " ".join(event.old.split())
    for piece in read_pieces(event.new):
        written = event.new[piece.start : piece.end]
        if " ".join(written.split()) in old or not (states_duty(piece.text) or names_cause(piece.text)):
            continue
        insight = _worded(piece)
        if not fits(insight) or leans(insight) or is_status(piece.text) or _NO_RULE.match(piece.text):
            continue
        section = " > ".join(piece.above)
        yield Candidate(
            kind=name_kind(piece.text, "convention"),
            insight=capital(insight),
            detector=RulesEdit.id,
            evidence=(evidence_of(event, event.new, piece.start, piece.end),),
            files=tuple(files_named(piece.text, window))[:FILES_LIMIT],
            symbols=symbols_named(piece.text),
            trust="agent",
            confidence=worth_of("rules", insight),
            origin=f"{event.files[0].replace('#', '%23')}#{section}",
            salience=0.6,
            calibrated=True,
            written=True,
        )


def _worded(piece: TextPiece) -> str:
    """Return the rule, after its heading or item if it depends on that."""
    text = without_lead(piece.text)
    return joined(piece.above[-1], text) if piece.above and leans(text) else text

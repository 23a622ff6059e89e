"""Finds approaches that this session tried and undid, with the reason that somebody gave.

Undoing is recognised by the inverse edit, by a Write that restores the old text, and by git commands that discard
changes. Not reported: an edit that comes back later (a test of the test), removed debugging output, a popped stash, and
git commands that discard none of the session's edits.
"""

from __future__ import annotations

import re

from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence
from holdfast.lean.records import Frozen
from holdfast.text.attempts import split_line
from holdfast.text.causes import stated_cause
from holdfast.text.leaning import dangles, opening
from holdfast.text.window import capital, change_snippet, clip, failed, quote, sentences, speaker_trust, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEAST = 12
"""Characters an undone edit must have changed: smaller ones are slips."""
SPAN = 200
"""Events between doing and undoing beyond which the reason cannot be told."""
TOGETHER = 8
"""Events between two undoings of one approach."""
LEAST_WORDS, REASON_LIMIT = 6, 240
"""Words and characters of a reason that can stand alone."""
TELLING, TRIED_LIMIT = 12, 100
"""Characters of the line that shows what was tried."""
WORTH_OF_USERS, WORTH_OF_AGENTS = 0.6, 0.4
"""Estimated share of finds worth keeping (read by eye, five repositories), by who gave the reason."""
AFTER = 4
"""Events from the undoing on, itself included, in which the agent may say why."""

_DEBUGGING = re.compile(
    r"^[ \t]*(?:\+[ \t]*)?(?:print\(|console\.(?:log|debug)|fmt\.(?:Print|Fprint)|t\.Log"
    r"|log\.(?:Print|Debug)|debugger\b|dbg!"
    r"|breakpoint\(\)|import pdb|pdb\.|System\.out\.|puts |var_dump|eprintln!|logger\.debug)",
    re.MULTILINE,
)
_EXPERIMENT = re.compile(
    r"\btemporar(?:y|ily)\b|\bsanity[- ]check\b|\bmutation\b|\bbisect\b|\bput (?:it|that) back\b|\bfor debugging\b"
    r"|\bdebug (?:output|logging|print)s?\b"
    r"|\bto (?:verify|confirm|prove|check|see|make sure)\b.{0,50}\b(?:fails?|fires?|catch(?:es)?|breaks?|goes red)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:no|nope|wait|hmm+|actually|ok(?:ay)?|well|sorry|please|but|and|so|I (?:think|believe|guess|feel))\b"
    r"[\s,.!:;-]*)+",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"\s*(?://|#|\*|/\*|<!--|--\s)")
_AGAINST = re.compile(
    r"\b(?:not|never|no longer|\w+n't|better|instead|wrong|because|since|given|rather than|must|breaks?|too \w+)\b",
    re.IGNORECASE,
)
_LEANING = opening("yes|let's|let us|can|could|what|why|how|you|if")
_ORDERING = re.compile(
    r"\b(?:undo|revert|roll(?:ed)? back|back out|go back|put back|option \d|for now|you|your)\b", re.IGNORECASE
)


class _Undone(Frozen):
    """Edits that were undone: which, where the undoing begins and by which event."""

    edits: tuple[tuple[int, Event], ...]
    at: int
    by: Event
    words: str


class RevertedWork:
    """Finds approaches that were tried and undone."""

    id = "reverted_work/2"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return one candidate for each undone approach, in order."""
        return [made for undone in _grouped(window, _find(window)) if (made := _candidate(window, undone))]


def make(options: Mapping[str, str]) -> RevertedWork:
    """Return the detector; it has no options."""
    return RevertedWork()


def _grouped(window: Sequence[Event], approaches: Sequence[_Undone]) -> list[_Undone]:
    """Return the undone edits grouped into approaches: edits undone close together, with no prompt in between."""
    groups: list[_Undone] = []
    for undone in approaches:
        last = groups[-1] if groups else None
        if last and undone.at - last.at <= TOGETHER and not any(map(spoken, window[last.at : undone.at])):
            edits = tuple(sorted((*last.edits, *undone.edits), key=lambda pair: pair[0]))
            groups[-1] = _Undone(edits=edits, at=undone.at, by=undone.by, words=last.words)
        else:
            groups.append(undone)
    return groups


def _find(window: Sequence[Event]) -> list[_Undone]:
    approaches: list[_Undone] = []
    pending: list[tuple[int, Event]] = []
    stashed: list[tuple[int, Event]] = []
    last = _last_edits(window)
    for at, event in enumerate(window):
        if event.kind == "file_edit" and event.files:
            inverse = _inverse(pending, event)
            if inverse:
                pending.remove(inverse)
                if not _comes_back(inverse[1], at, last):
                    approaches.append(_Undone(edits=(inverse,), at=at, by=event, words="an edit put the old text back"))
            else:
                pending.append((at, event))
        elif event.kind == "commit":
            pending = []
        elif event.command and event.kind == "tool_result" and not failed(event):
            for words in _git_words(event.command):
                thrown, pending, stashed = _git_step(words, pending, stashed)
                pairs = tuple(pair for pair in thrown if not _comes_back(pair[1], at, last))
                if pairs:
                    approaches.append(_Undone(edits=pairs, at=at, by=event, words=f"`git {clip(' '.join(words), 80)}`"))
    return approaches


def _key(event: Event) -> tuple[str, int]:
    return event.files[0], hash((event.old.strip(), event.new.strip()))


def _last_edits(window: Sequence[Event]) -> dict[tuple[str, int], int]:
    return {_key(event): at for at, event in enumerate(window) if event.kind == "file_edit" and event.files}


def _comes_back(edit: Event, at: int, last: Mapping[tuple[str, int], int]) -> bool:
    """Return whether the same edit is made again after it was undone."""
    return last.get(_key(edit), -1) > at


def _inverse(pending: Sequence[tuple[int, Event]], event: Event) -> tuple[int, Event] | None:
    """Return the newest pending edit that this one undoes, or None."""
    for at, earlier in reversed(pending[-60:]):
        if earlier.files[0] != event.files[0] or not earlier.old:
            continue
        undone = event.new.strip() == earlier.old.strip() and event.old.strip() == earlier.new.strip()
        rewritten = event.tool == "Write" and event.new == earlier.old and earlier.tool == "Write"
        if undone or rewritten:
            return at, earlier
    return None


def _git_words(command: str) -> list[list[str]]:
    """Return the words after `git` of each git command on the line, without git's own options."""
    commands = []
    for step in split_line(command):
        words = step.text.split()
        if not words or words[0] != "git":
            continue
        words = words[1:]
        while words and words[0].startswith("-"):
            words = words[2:] if words[0] in ("-C", "-c") else words[1:]
        words = [word.strip("'\"") for word in words if not word.startswith(("2>", ">"))]
        if words:
            commands.append(words)
    return commands


Pairs = list[tuple[int, Event]]


def _git_step(words: list[str], pending: Pairs, stashed: Pairs) -> tuple[Pairs, Pairs, Pairs]:
    """Return what a git command discards, the edits that remain, and the edits in the stash."""
    verb, rest = words[0], words[1:]
    if verb == "commit":
        return [], [], stashed
    if verb == "stash":
        return _stash(rest, pending, stashed)
    if verb == "reset" and "--hard" in rest:
        return pending, [], stashed
    paths = _restored(verb, rest)
    thrown = [pair for pair in pending if _is_under(pair[1].files[0], paths)]
    return thrown, [pair for pair in pending if pair not in thrown], stashed


def _stash(rest: list[str], pending: Pairs, stashed: Pairs) -> tuple[Pairs, Pairs, Pairs]:
    verb = rest[0] if rest and not rest[0].startswith("-") else "push"
    if verb in ("push", "save"):
        return [], [], pending
    if verb in ("pop", "apply"):
        return [], [*stashed, *pending], []
    return (stashed, pending, []) if verb in ("drop", "clear") else ([], pending, stashed)


def _restored(verb: str, rest: list[str]) -> list[str]:
    """Return paths whose working copy a `git checkout` or `git restore` overwrites; empty for any other command."""
    if verb == "restore":
        staged_only = ("--staged" in rest or "-S" in rest) and not ("--worktree" in rest or "-W" in rest)
        return [] if staged_only else [word for word in rest if not word.startswith("-")]
    if verb != "checkout" or {"-b", "-B"} & set(rest):
        return []
    if "--" in rest:
        return rest[rest.index("--") + 1 :]
    return [word for word in rest if word == "." or "." in word.rpartition("/")[2]]  # a file, not a branch


def _is_under(file: str, paths: Sequence[str]) -> bool:
    for path in paths:
        name = path.removeprefix("./").rstrip("/")
        if name in (".", "", ":/") or file == name or file.startswith(name + "/") or file.endswith("/" + name):
            return True
    return False


def _candidate(window: Sequence[Event], undone: _Undone) -> Candidate | None:
    edits = [edit for _, edit in undone.edits if _matters(edit)]
    first = undone.edits[0][0]
    if not edits or undone.at - undone.edits[-1][0] > SPAN:
        return None
    span = window[max(first - 2, 0) : undone.at + AFTER]
    if any(_EXPERIMENT.search(event.text[:2_000]) for event in span if event.kind == "reply"):
        return None
    about = "\n".join(f"{edit.files[0]} {edit.old} {edit.new}" for edit in edits)
    reason = _reason(window, first, undone.at, about)
    if reason is None:
        return None
    why, evidence, worth = reason
    files = tuple(dict.fromkeys(edit.files[0] for edit in edits))
    tried = _tried(edits)
    if not tried:
        return None
    where = " and ".join(f"`{file}`" for file in files[:2])
    return Candidate(
        kind="failed_approach",
        title=clip(why, 100),
        insight=f"{why.rstrip('.')}. Tried in {where} and taken back: `{tried}`.",
        detector=RevertedWork.id,
        evidence=(evidence, *(quote(edit) for edit in edits[-3:]), quote(undone.by)),
        snippets=(change_snippet(edits[-1]),),
        files=files,
        structured=True,
        confidence=worth,
    )


def _tried(edits: Sequence[Event]) -> str:
    """Return the longest line that the undone edits added."""
    added = {
        line.strip()
        for edit in edits
        for line in edit.new.splitlines()
        if line.strip() not in edit.old
        and "`" not in line
        and not _COMMENT.match(line)
        and TELLING <= len(line.strip()) <= TRIED_LIMIT
    }
    return max(sorted(added), key=len, default="")


def _matters(edit: Event) -> bool:
    changed = edit.new.strip() or edit.old.strip()
    return len(changed) >= LEAST and not _DEBUGGING.search(change_snippet(edit))


def _reason(window: Sequence[Event], first: int, at: int, about: str) -> tuple[str, Evidence, float] | None:
    """Return why it was undone, the evidence and the worth: the user's words, or the agent's stated cause."""
    for event in reversed(window[first + 1 : at]):
        for sentence, start in sentences(spoken(event)):
            reason = _LEAD.sub("", sentence).strip()
            if _is_reason(reason) and speaker_trust(event.text, start) == "person":
                return capital(reason), quote(event, sentence, start), WORTH_OF_USERS
        if spoken(event):
            break  # earlier prompts are about something else
    cause = stated_cause(window, first, min(at + AFTER, len(window)), about)
    return (*cause, WORTH_OF_AGENTS) if cause else None


def _is_reason(sentence: str) -> bool:
    """Return whether the sentence says what is wrong with something, and stands alone."""
    words = sentence.split()
    fits = len(words) >= LEAST_WORDS and len(sentence) <= REASON_LIMIT and not sentence.endswith(("?", ":"))
    leans = _LEANING.match(sentence) or dangles(sentence) or _ORDERING.search(sentence)
    return fits and bool(_AGAINST.search(sentence)) and not leans

"""Reverted work: edits of this session that were undone, with the reason when somebody gave one.

Found by the inverse edit, by a Write that restores what stood there, and by git commands that throw changes away.
Quiet: an edit that comes back later (a test of the test), debugging output that is removed, a stash that is popped,
and git commands that find nothing of ours to throw away.
"""

from __future__ import annotations

import re

from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.frozen import Frozen
from holdfast.domain.lesson import Evidence
from holdfast.domain.window import change_snippet, clip, explanation, failed, quote, sentences, spoken, unmasked
from holdfast.ranking.attempts import split_line
from holdfast.ranking.signature import error_signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEAST = 12
"""Characters an undone edit must have changed: smaller ones are slips."""
SPAN = 200
"""Events between doing and undoing beyond which the reason cannot be told."""
TOGETHER = 8
"""Events between two undoings of one approach."""
AFTER = 4
"""Events behind the undoing in which the agent may say why."""

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
_WAIT = re.compile(r"\b(?:undo|revert|roll(?:ed)? back|back out|restore|go back|put back)\b", re.IGNORECASE)


class _Undone(Frozen):
    """Edits that were taken back: which, where the taking back begins and by which event."""

    edits: tuple[tuple[int, Event], ...]
    at: int
    by: Event
    words: str


class RevertedWork:
    """Finds approaches that were tried and taken back."""

    id = "reverted_work/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """One candidate for each approach taken back, in order."""
        return [made for undone in _grouped(window, _find(window)) if (made := _candidate(window, undone))]


def make(options: Mapping[str, str]) -> RevertedWork:
    """The detector; it has no options."""
    return RevertedWork()


def _grouped(window: Sequence[Event], found: Sequence[_Undone]) -> list[_Undone]:
    """Edits taken back in one go are one approach: nobody spoke in between."""
    groups: list[_Undone] = []
    for undone in found:
        last = groups[-1] if groups else None
        if last and undone.at - last.at <= TOGETHER and not any(map(spoken, window[last.at : undone.at])):
            edits = tuple(sorted((*last.edits, *undone.edits), key=lambda pair: pair[0]))
            groups[-1] = _Undone(edits=edits, at=undone.at, by=undone.by, words=last.words)
        else:
            groups.append(undone)
    return groups


def _find(window: Sequence[Event]) -> list[_Undone]:
    found: list[_Undone] = []
    pending: list[tuple[int, Event]] = []
    stashed: list[tuple[int, Event]] = []
    last = _last_edits(window)
    for at, event in enumerate(window):
        if event.kind == "file_edit" and event.files:
            inverse = _inverse(pending, event)
            if inverse:
                pending.remove(inverse)
                if not _comes_back(inverse[1], at, last):
                    found.append(_Undone(edits=(inverse,), at=at, by=event, words="an edit put the old text back"))
            else:
                pending.append((at, event))
        elif event.kind == "commit":
            pending = []
        elif event.command and event.kind == "tool_result" and not failed(event):
            for words in _git_words(event.command):
                thrown, pending, stashed = _git_step(words, pending, stashed)
                kept = tuple(pair for pair in thrown if not _comes_back(pair[1], at, last))
                if kept:
                    found.append(_Undone(edits=kept, at=at, by=event, words=f"`git {clip(' '.join(words), 80)}`"))
    return found


def _key(event: Event) -> tuple[str, int]:
    return event.files[0], hash((event.old.strip(), event.new.strip()))


def _last_edits(window: Sequence[Event]) -> dict[tuple[str, int], int]:
    return {_key(event): at for at, event in enumerate(window) if event.kind == "file_edit" and event.files}


def _comes_back(edit: Event, at: int, last: Mapping[tuple[str, int], int]) -> bool:
    """The same edit is made again after it was undone."""
    return last.get(_key(edit), -1) > at


def _inverse(pending: Sequence[tuple[int, Event]], event: Event) -> tuple[int, Event] | None:
    """The edit that this one takes back, newest first."""
    for at, earlier in reversed(pending[-60:]):
        if earlier.files[0] != event.files[0] or not earlier.old:
            continue
        undone = event.new.strip() == earlier.old.strip() and event.old.strip() == earlier.new.strip()
        rewritten = event.tool == "Write" and event.new == earlier.old and earlier.tool == "Write"
        if undone or rewritten:
            return at, earlier
    return None


def _git_words(command: str) -> list[list[str]]:
    """The words behind `git` of each git command on the line, without git's own options."""
    found = []
    for step in split_line(command):
        words = step.text.split()
        if not words or words[0] != "git":
            continue
        words = words[1:]
        while words and words[0].startswith("-"):
            words = words[2:] if words[0] in ("-C", "-c") else words[1:]
        words = [word.strip("'\"") for word in words if not word.startswith(("2>", ">"))]
        if words:
            found.append(words)
    return found


Pairs = list[tuple[int, Event]]


def _git_step(words: list[str], pending: Pairs, stashed: Pairs) -> tuple[Pairs, Pairs, Pairs]:
    """What a git command throws away, what stays to be thrown away, and what lies in the stash."""
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
    """Paths whose working copy a `git checkout` or `git restore` overwrites; empty for any other command."""
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
    reason = _reason(window, first, undone.at)
    if reason is None:
        return None
    why, evidence, confidence = reason
    files = tuple(dict.fromkeys(edit.files[0] for edit in edits))
    shown = ", ".join(files[:3]) + (" and others" if len(files) > 3 else "")
    tried = change_snippet(edits[-1])
    return Candidate(
        kind="failed_approach",
        title=clip(f"Taken back in {shown}: {why}", 100),
        insight=f"A change of {shown} was tried and taken back ({undone.words}): {clip(why, 240)}",
        detector=RevertedWork.id,
        evidence=(*(quote(edit) for edit in edits[-3:]), quote(undone.by), evidence),
        why=clip(why, 400),
        snippets=(tried,) if tried else (),
        files=files,
        confidence=confidence,
    )


def _matters(edit: Event) -> bool:
    changed = edit.new.strip() or edit.old.strip()
    return len(changed) >= LEAST and not _DEBUGGING.search(change_snippet(edit))


def _reason(window: Sequence[Event], first: int, at: int) -> tuple[str, Evidence, float] | None:
    """Why it was taken back, the words that say so and how sure: the user's, the agent's, or a failure in between."""
    for event in reversed(window[first + 1 : at]):
        said = unmasked(spoken(event)).strip()
        if said and (_WAIT.search(said) or len(said) < 400) and not said.endswith("?"):
            sentence, start = next(sentences(event.text), (said, -1))
            return clip(sentence if _is_telling(sentence) else said, 300), quote(event, sentence, start), 0.6
    cause = explanation(window, first, min(at + AFTER, len(window)))
    if cause:
        return cause.quote, cause, 0.55
    for event in reversed(window[first + 1 : at]):
        signature = error_signature(event.text) if failed(event) else ""
        if signature:
            return f"it led to {signature}", quote(event), 0.4
    return None


def _is_telling(sentence: str) -> bool:
    return len(sentence.split()) >= 4

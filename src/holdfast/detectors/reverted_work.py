"""Finds approaches that this session tried and undid, with the reason that somebody gave.

Undoing is recognised by the inverse edit, by a Write that restores the old text, and by git commands that discard
changes or revert a commit of the session. Not reported: an edit that comes back later (a test of the test), removed
debugging output, a popped stash, and git commands that discard none of the session's edits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from holdfast.detectors._shared.causes import stated_cause
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence
from holdfast.domain.vocabulary import Trust
from holdfast.text.shell import simple_commands
from holdfast.text.window import (
    capital,
    change_snippet,
    clip,
    dangles,
    failed,
    opening,
    quote,
    sentences,
    speaker_trust,
    spoken,
)

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
WORTH_OF_USERS, WORTH_OF_AGENTS, WORTH_OF_CAUSES = 0.8, 0.7, 0.4
"""Estimated share of finds worth keeping, by who gave the reason: the user, the agent that says why it takes the work
back, and a cause that the agent stated at that time."""
AFTER = 4
"""Events from the undoing on, itself included, in which the agent may say why."""
REPLY_LIMIT = 4_000
"""Characters of a reply in which the agent may say why."""
LEAST_REASON = 3
"""Words of a reason beside the words that ask for the undoing or report it."""
COMMITS_KEPT = 10
"""Commits of the session that a revert may undo, the newest."""

_DEBUGGING = re.compile(
    r"^[ \t]*(?:\+[ \t]*)?(?:print\(|console\.(?:log|debug)|fmt\.(?:Print|Fprint)|t\.Log|log\.(?:Print|Debug)"
    r"|debugger\b|dbg!|breakpoint\(\)|import pdb|pdb\.|System\.out\.|puts |var_dump|eprintln!|logger\.debug)",
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
_UNDOING = (
    r"(?:undo(?:ing|ne)?|revert(?:s|ed|ing)?|(?:roll|rolled|rolling|back|backed|backing|take|took|taking|put|putting|go"
    r"|going|change|changed|changing)(?: (?:it|this|that|them|everything|the \w+|my \w+))? (?:back|out)|(?:drop|dropped"
    r"|throw away|threw away|get rid of|remove|removed|discard|discarded)(?= (?:it|this|that|them|the|my)\b))"
)
_REASON_AFTER = re.compile(
    rf"(?:[^,.;:?\u2014]{{0,25}}[,.:]\s*)?[^,.;:?\u2014]{{0,60}}\b{_UNDOING}\b[^,.;:?\u2014]{{0,40}}?"
    r"(?:[,.;:\u2014]+\s*|\s-+\s|\s+(?=because|since|as\b|so that))(?:(?:because|since|as)\s+)?(?P<reason>.{8,})",
    re.IGNORECASE,
)
_REASON_BEFORE = re.compile(
    rf"(?P<reason>.{{8,}}?)(?:[,.;:\u2014]+|\s-+\s|\s(?=so\b))\s*(?:(?:so|and|then|please|pls|just|let's|let me"
    rf"|I(?:'ll| will|'m|'ve| am| have)?|we(?:'ll| should)?|better|to|will|must)\s+){{0,4}}{_UNDOING}\b"
    r"[^,;:?]{0,40}$",
    re.IGNORECASE,
)
_NO_REASON = re.compile(
    r"\?|\b(?:for now|first|instead of this|later|let's|let me|I want|I'd like|try|start over|option|plan|approach"
    r"|the (?:old|previous|original) (?:version|state|one)|you|your|look at|can we|please|thanks)\b"
    r"|\b(?:I|we)(?:'re|'m|'ll| are| am| will)\b|^(?:it|that) was (?:actually |really )?(?:the|a|an|my|just|only)\b"
    r"|\b(?:not|n't) (?:the (?:problem|cause|issue)|needed|necessary)\b",
    re.IGNORECASE,
)
"""Words of what is to be done next, which say nothing against what was tried."""
_SHA = re.compile(r"^\[[^\]\n]*?\b([0-9a-f]{7,40})\]", re.MULTILINE)
"""The line in which git tells the commit that it made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Undone:
    """Edits that were undone: which, where the undoing begins and by which event."""

    edits: tuple[tuple[int, Event], ...]
    at: int
    by: Event
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reason:
    """Why something was undone."""

    words: str
    evidence: Evidence
    trust: Trust
    worth: float
    stands_alone: bool
    """The words can be understood without what was tried."""


class RevertedWork:
    """Finds approaches that were tried and undone."""

    id = "reverted_work/3"

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
    state = _Work()
    last = {_key(event): at for at, event in enumerate(window) if event.kind == "file_edit" and event.files}
    for at, event in enumerate(window):
        if event.kind == "file_edit" and event.files:
            inverse = _inverse(state.pending, event)
            if inverse:
                state.pending.remove(inverse)
                if not _comes_back(inverse[1], at, last):
                    approaches.append(_Undone(edits=(inverse,), at=at, by=event, words="an edit put the old text back"))
            else:
                state.pending.append((at, event))
        elif event.kind == "commit":
            state.commit("")
        elif event.command and event.kind == "tool_result" and not failed(event):
            for words in _git_words(event.command):
                thrown = state.take_step(words, event.text)
                pairs = tuple(pair for pair in thrown if not _comes_back(pair[1], at, last))
                if pairs:
                    approaches.append(_Undone(edits=pairs, at=at, by=event, words=f"`git {clip(' '.join(words), 80)}`"))
    return approaches


def _key(event: Event) -> tuple[str, int]:
    return event.files[0], hash((event.old.strip(), event.new.strip()))


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
    for _, *words in (words for words in simple_commands(command) if words[0] == "git"):
        while words and words[0].startswith("-"):
            words = words[2:] if words[0] in ("-C", "-c") else words[1:]
        if words:
            commands.append(words)
    return commands


Pairs = list[tuple[int, Event]]


class _Work:
    """The session's edits: not committed yet, in the stash, and in its commits."""

    def __init__(self) -> None:
        self.pending: Pairs = []
        self._stashed: Pairs = []
        self._commits: list[tuple[str, Pairs]] = []

    def commit(self, output: str) -> None:
        """Put what is pending into a commit; `output` is what git printed."""
        sha = _SHA.search(output)
        if self.pending:
            self._commits = [*self._commits, ("", self.pending)][-COMMITS_KEPT:]
        if sha and self._commits and not self._commits[-1][0]:
            self._commits[-1] = (sha[1], self._commits[-1][1])
        self.pending = []

    def take_step(self, words: list[str], output: str) -> Pairs:
        """Do what the git command did to the edits; return those that it discarded."""
        verb, rest = words[0], words[1:]
        if verb == "commit":
            self.commit(output)
            return []
        if verb == "revert":
            return self._revert([word for word in rest if not word.startswith("-")])
        if verb == "stash":
            return self._stash(rest)
        if verb == "reset":
            return self._reset(rest)
        paths = _restored(verb, rest)
        thrown = [pair for pair in self.pending if _is_under(pair[1].files[0], paths)]
        self.pending = [pair for pair in self.pending if pair not in thrown]
        return thrown

    def _revert(self, names: list[str]) -> Pairs:
        """Take back the named commits of the session: by their distance from HEAD, or by the id that git told."""
        thrown: Pairs = []
        for name in names:
            back = _steps_back(name)
            at = len(self._commits) - 1 - back if back >= 0 else -1
            for number, (sha, pairs) in enumerate(self._commits):
                if number == at or (sha and (name.startswith(sha) or sha.startswith(name))):
                    thrown += pairs
        return thrown

    def _reset(self, rest: list[str]) -> Pairs:
        """Take the last commits back; without `--hard` their edits are pending again."""
        back = max((_steps_back(word) for word in rest), default=-1)
        taken = self._commits[len(self._commits) - back :] if 0 < back <= len(self._commits) else []
        self._commits = self._commits[: len(self._commits) - len(taken)]
        edits = [pair for _, pairs in taken for pair in pairs] + self.pending
        self.pending = [] if "--hard" in rest else edits
        return edits if "--hard" in rest else []

    def _stash(self, rest: list[str]) -> Pairs:
        verb = rest[0] if rest and not rest[0].startswith("-") else "push"
        thrown: Pairs = []
        if verb in ("push", "save"):
            self.pending, self._stashed = [], self.pending
        elif verb in ("pop", "apply"):
            self.pending, self._stashed = [*self._stashed, *self.pending], []
        elif verb in ("drop", "clear"):
            thrown, self._stashed = self._stashed, []
        return thrown


def _steps_back(name: str) -> int:
    """Return how many commits before the last one the name means: 0 for HEAD, 2 for HEAD~2; -1 for another name."""
    if not name.startswith(("HEAD", "@")) or name.startswith("@{"):
        return -1
    rest = name.removeprefix("HEAD").removeprefix("@")
    if set(rest) <= {"^"}:
        return len(rest)
    return int(rest[1:] or 1) if rest.startswith("~") and rest[1:].isdigit() | (rest == "~") else -1


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
    files = tuple(dict.fromkeys(edit.files[0] for edit in edits))
    tried = _tried(edits)
    if not tried:
        return None
    where = " and ".join(f"`{file}`" for file in files[:2])
    return Candidate(
        kind="failed_approach",
        title=clip(reason.words if reason.stands_alone else f"Tried and taken back: `{tried}`", 100),
        insight=_insight(reason, f"ried in {where} and taken back: `{tried}`."),
        detector=RevertedWork.id,
        evidence=(reason.evidence, *(quote(edit) for edit in edits[-3:]), quote(undone.by)),
        snippets=(change_snippet(edits[-1]),),
        files=files,
        trust=reason.trust,
        structured=True,
        confidence=reason.worth,
    )


def _insight(reason: _Reason, what: str) -> str:
    if reason.stands_alone:
        return f"{reason.words.rstrip('.')}. T{what}"
    by = "The user" if reason.trust == "person" else "The agent"
    return f"T{what} {by} said why: {reason.words.rstrip('.')}."


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


def _reason(window: Sequence[Event], first: int, at: int, about: str) -> _Reason | None:
    """Return why it was undone: the user's words, or the agent's own beside the undoing, or a cause that it stated."""
    for event in reversed(window[first + 1 : at]):
        for sentence, start in _with_next(spoken(event)):
            reason = _LEAD.sub("", sentence).strip()
            beside = _beside_undoing(reason)
            if (_is_reason(reason) or beside) and speaker_trust(event.text, start) == "person":
                return _made(beside or reason, quote(event, sentence, start), "person", WORTH_OF_USERS)
        if spoken(event):
            break  # earlier prompts are about something else
    for event in window[max(first + 1, at - AFTER) : at + AFTER]:
        replies = _with_next(event.text[:REPLY_LIMIT]) if event.kind == "reply" and not event.agent else ()
        for sentence, start in replies:
            if beside := _beside_undoing(sentence):
                return _made(beside, quote(event, sentence, start), "verified", WORTH_OF_AGENTS)
    cause = stated_cause(window, first, min(at + AFTER, len(window)), about)
    if cause is None:
        return None
    return _Reason(
        words=cause[0], evidence=cause[1], trust="agent", worth=WORTH_OF_CAUSES, stands_alone=True
    )  # fmt: skip


def _made(words: str, evidence: Evidence, trust: Trust, worth: float) -> _Reason:
    alone = len(words.split()) >= LEAST_WORDS and not _LEANING.match(words) and not dangles(words)
    return _Reason(words=capital(words), evidence=evidence, trust=trust, worth=worth, stands_alone=alone)


def _with_next(text: str) -> Iterator[tuple[str, int]]:
    """Yield each sentence, and each that undoes something with its neighbour: "Revert that. It is too slow."."""
    spans = list(sentences(text))
    for number, (sentence, start) in enumerate(spans):
        yield sentence, start
        if number + 1 < len(spans):
            after, at = spans[number + 1]
            if "\n\n" not in text[start:at]:
                yield text[start : at + len(after)], start


def _beside_undoing(sentence: str) -> str:
    """Return the reason that a sentence gives beside asking for the undoing or reporting it; empty if none."""
    match = _REASON_AFTER.match(sentence) or _REASON_BEFORE.match(sentence)
    reason = _LEAD.sub("", match["reason"].strip(" .!,;:-\u2014")) if match else ""
    fits = len(reason.split()) >= LEAST_REASON and len(reason) <= REASON_LIMIT
    return reason if fits and not _NO_REASON.search(reason) else ""


def _is_reason(sentence: str) -> bool:
    """Return whether the sentence says what is wrong with something, and stands alone."""
    words = sentence.split()
    fits = len(words) >= LEAST_WORDS and len(sentence) <= REASON_LIMIT and not sentence.endswith(("?", ":"))
    leans = _LEANING.match(sentence) or dangles(sentence) or _ORDERING.search(sentence)
    return fits and bool(_AGAINST.search(sentence)) and not leans

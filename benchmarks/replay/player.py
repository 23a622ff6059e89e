"""Plays sessions one after another: the order matters, for a session is told what the ones before it taught."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.replay.catalog import Catalog, GoldLesson, Session
from benchmarks.replay.firings import Firing, firings
from benchmarks.replay.record import Delivery, Played, Record
from benchmarks.replay.repository import Repository, WorkTree
from benchmarks.replay.shipped import Shipped, open_shipped, tokens_of

TRIGGER_LIMIT = 1_500
"""Characters of a payload that are kept beside what was delivered for it."""
HOME = re.compile(r'"cwd": ?"/(?:Users|home)/([^/"]+)')
TIDIED_EVERY = 10
"""Sessions after which the code is indexed again, where no hook is played."""
NOBODY = "somebody"
"""Who works in a session whose transcript names no home."""


def play(
    catalog: Catalog,
    repository: Repository,
    scratch: Path,
    *,
    with_gold: bool = False,
    earlier: Catalog | None = None,
    answers: Mapping[int, str] | None = None,
    tidied: Mapping[int, dict[str, Any]] | None = None,
    progress: Callable[[str], None] = print,
) -> Record:
    """Replay the catalog's sessions; `with_gold` puts each session's gold into memory instead of learning from it.

    `earlier`: sessions before those, whose gold is put into memory first. `answers`: by session, what a
    model once answered when it was asked for the lessons. `tidied`: by session, what a model once proposed to merge and
    retire after it.
    Raises MissingSetError when the repository lacks a transcript.
    """
    tree = repository.clone(scratch / "clone")
    home, record = scratch / "home", Record()
    home.mkdir()
    if catalog.sessions:
        tree.check_out_before(catalog.sessions[0].began_at)
    with open_shipped(home, tree.folder) as shipped:
        player = _Player(shipped, tree, scratch, record)
        if earlier is not None and with_gold:
            for session in earlier.sessions:
                player.go_to(session)
                transcript = repository.transcript(session.blob)
                tree.work_as(person_of(transcript))
                gold = [lesson for lesson in earlier.gold if lesson.session == session.number]
                player.teach(session, gold, branches_of(transcript))
        transcripts = _with_next(repository.transcript(session.blob) for session in catalog.sessions)
        for session, (transcript, following) in zip(catalog.sessions, transcripts, strict=True):
            tree.work_as(person_of(transcript))
            if not record.sessions:
                player.tidy()
            player.play(session, transcript)
            if with_gold:
                player.settle(session)
                gold = [lesson for lesson in catalog.gold if lesson.session == session.number]
                player.teach(session, gold, branches_of(transcript))
            else:
                player.learn(session)
                player.distil(session, (answers or {}).get(session.number, ""))
                if steps := (tidied or {}).get(session.number):
                    progress(shipped.consolidate(steps))
            tree.work_as(person_of(following or ""))
            player.tidy()
            progress(str(record.sessions[-1]))
        record.lessons, record.complaints = shipped.lessons(), shipped.complaints()
        record.outcomes = shipped.outcomes()
    return record


@contextmanager
def learnt(
    catalog: Catalog,
    repository: Repository,
    folder: Path,
    answers: Mapping[int, str],
    progress: Callable[[str], None] = print,
) -> Iterator[Shipped]:
    """The product after it has learnt from the catalog's sessions, without a hook; a folder that has one is reused.

    `answers` are as for `play`. Raises MissingSetError when the repository lacks a transcript.
    """
    home, clone = folder / "home", folder / "clone"
    if home.is_dir():
        with open_shipped(home, clone) as shipped:
            yield shipped
        return
    tree = repository.clone(clone)
    home.mkdir(parents=True)
    with open_shipped(home, clone) as shipped:
        player = _Player(shipped, tree, folder, Record())
        for session in catalog.sessions:
            transcript = repository.transcript(session.blob)
            tree.work_as(person_of(transcript))
            player.read(session, transcript)
            player.distil(session, answers.get(session.number, ""))
            if session.number % TIDIED_EVERY == 0:
                player.tidy()
            progress(f"learnt from session {session.number}")
        player.tidy()
        yield shipped


def moment_of(firing: Firing, prompts: int) -> str:
    """Which of `record.MOMENTS` a hook is; `prompts`: how many there were with this one."""
    match firing.name:
        case "SessionStart":
            return "after a compaction" if firing.fields.get("source") == "compact" else "start"
        case "UserPromptSubmit":
            return "first prompt" if prompts <= 1 else "later prompt"
        case "PreToolUse":
            return "before a command" if "command" in firing.fields.get("tool_input", {}) else "before a file"
        case "PostToolUse":
            return "after a call"
        case "PostToolUseFailure":
            return "after a failure"
    return "at the end"


def person_of(transcript: str) -> str:
    """Who worked in the session: the name of the home that most of its lines are in."""
    homes = Counter(HOME.findall(transcript)).most_common(1)
    return homes[0][0] if homes else NOBODY


def branches_of(transcript: str) -> list[str]:
    """The branch of each line of a transcript; that of the line before where it does not tell."""
    branches, branch = [], ""
    for line in transcript.splitlines():
        with suppress(ValueError, AttributeError):
            branch = json.loads(line).get("gitBranch") or branch
        branches.append(branch)
    return branches


def _with_next(transcripts: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Each with the one after it; only two are held at a time."""
    before: str | None = None
    for transcript in transcripts:
        if before is not None:
            yield before, transcript
        before = transcript
    if before is not None:
        yield before, None


class _Player:
    def __init__(self, shipped: Shipped, tree: WorkTree, scratch: Path, record: Record) -> None:
        self._shipped = shipped
        self._tree = tree
        self._scratch = scratch
        self._record = record
        self._prompts = 0

    def go_to(self, session: Session) -> None:
        """Set the clock and the code to the session's beginning."""
        self._shipped.clock.move_to(session.began_at)
        self._tree.check_out_before(session.began_at)

    def play(self, session: Session, transcript: str) -> None:
        """Fire the session's hooks at the code of its day, the transcript growing as the host wrote it."""
        self.go_to(session)
        lines = _moved(transcript, str(self._tree.folder)).splitlines(keepends=True)
        times_ms: list[float] = []
        written, branch, began, self._prompts = 0, "", time.process_time(), 0
        with self._file(session).open("w", encoding="utf-8") as stream:
            for firing in firings(lines):
                upto = firing.line + firing.is_written
                stream.writelines(lines[written:upto])
                stream.flush()
                written = max(written, upto)
                if firing.branch != branch:
                    branch = firing.branch
                    self._tree.name_branch(branch)
                times_ms.append(self._fire(session, firing))
            stream.writelines(lines[written:])
        times_ms.sort()
        cpu_s = round(time.process_time() - began, 2)
        p95_ms = round(times_ms[int(0.95 * (len(times_ms) - 1))], 1)
        self._record.sessions.append(Played(session.number, session.id, self._prompts, len(times_ms), cpu_s, p95_ms))

    def read(self, session: Session, transcript: str) -> None:
        """Learn from the session at the code of its day, without playing its hooks."""
        self.go_to(session)
        branches = [branch for branch in branches_of(transcript) if branch]
        if branches:
            self._tree.name_branch(branches[-1])
        self._file(session).write_text(_moved(transcript, str(self._tree.folder)), encoding="utf-8")
        self.learn(session)

    def learn(self, session: Session) -> None:
        """Do what the learner does when the session has ended."""
        file = self._file(session)
        self._shipped.learn(session.id, str(file))
        file.unlink()

    def distil(self, session: Session, answer: str) -> None:
        """Do what the learner does with a model that answers so; nothing without an answer."""
        if answer:
            self._shipped.distil(session.id, answer)

    def settle(self, session: Session) -> None:
        """Read the session's transcript and judge what it was told, as the learner does; nothing is learnt."""
        file = self._file(session)
        self._shipped.settle(session.id, str(file))
        file.unlink()

    def teach(self, session: Session, gold: list[GoldLesson], branches: Sequence[str]) -> None:
        """State the session's gold lessons by hand; `branches` is that of each of its lines."""
        for lesson in gold:
            branch = branches[lesson.event] if 0 <= lesson.event < len(branches) else ""
            self._record.taught[lesson.id] = self._shipped.teach(lesson, session.id, branch)

    def tidy(self) -> None:
        """Do what the learner does besides learning, on the machine of whoever works next."""
        self._shipped.tidy()
        self._shipped.prepare_brief()

    def _fire(self, session: Session, firing: Firing) -> float:
        """Answer the hook and keep what it handed over; the processor time it took, in milliseconds."""
        self._shipped.clock.move_to(firing.at)
        payload = {
            "session_id": session.id, "transcript_path": str(self._file(session)), "cwd": str(self._tree.folder),
            "hook_event_name": firing.name, "permission_mode": "default", **firing.fields,
        }  # fmt: skip
        asked_at, began = self._shipped.clock.now(), time.process_time()
        text = self._shipped.answer(payload)
        took_ms = 1000 * (time.process_time() - began)
        self._prompts += firing.name == "UserPromptSubmit"
        if text:
            lines = self._shipped.lines_told(session.id, asked_at)
            trigger = {key: value for key, value in firing.fields.items() if key != "tool_response"}
            at = self._shipped.clock.now().isoformat()
            self._record.deliveries.append(
                Delivery(
                    session.number, firing.line, session.id, at, firing.name, json.dumps(trigger)[:TRIGGER_LIMIT],
                    text, lines, moment=moment_of(firing, self._prompts), tokens=tokens_of(text),
                )
            )  # fmt: skip
        return took_ms

    def _file(self, session: Session) -> Path:
        return self._scratch / f"{session.id}.jsonl"


def _moved(transcript: str, folder: str) -> str:
    """The transcript as if its session had worked in that folder."""
    for line in transcript.splitlines():
        try:
            cwd = json.loads(line).get("cwd")
        except (ValueError, AttributeError):
            continue
        if cwd:
            return transcript.replace(json.dumps(cwd)[1:-1], folder)
    return transcript

"""Decisions that only a past talk holds (SDE-bench): are they told, complete and current, when the bug is reported?

    python -m benchmarks.sdebench --data DIR [--prompts DIR] [--answers DIR] [--json FILE]

`DIR/sdebench` holds tasks and decoys. Each talk is a session of its own among the decoys, the amended talk later; the
learner works after each. Then each bug report is the first prompt of a new session. A task is *complete* when every
decisive value of its policy stands in the lines that its talk taught, within 3,000 tokens of the start and the first
prompt. What is decisive is read from the policy's text: see `decisive`.
`--prompts` writes, and does nothing else, the product's own question to a model about each talk that has no answer yet;
a reader answers NAME.md with NAME.json in the folder of `--answers`. Write once more afterwards: an amended talk is
asked about when the talk before it has been answered.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if not __package__:  # started as `python benchmarks/sdebench.py`
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.recall.cases import MissingSetError, hashes_of, require
from benchmarks.replay.report import render
from benchmarks.replay.scoring import fraction, share
from benchmarks.replay.shipped import Shipped, open_shipped, tokens_of
from benchmarks.replay.talk import Handed, Talk, make_project, words_told

SEED = 5
BUDGET_TOKENS = 3_000
SHARE_OF_WORDS = 0.6
"""Share of a policy's words that must be told where it has fewer than two values."""
SHARE_SUPERSEDED = 0.5
"""Share of the words after `superseding` that make a line of the older talk the superseded rule."""
TOLD_STATES = ("active",)
NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
EMPHASIS = "only up except before after original lower upper not never and or all must"
"""Words in capitals that are no names."""
COMMON = (
    "the a an and or of to in is it for on with that this be as are not by from at was per then when them they their "
    "than its only all any each never always even but into if has have must post amendment amended exactly"
)
TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*|\d+[A-Za-z]*")
NOTES = re.compile(
    r"\[[0-9a-f]{4,}\b[^\]]*\]|^(?:- )?[0-9a-f]{4,}(?: [a-z]+)?:"
    r"|\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b"
)
"""What a delivered line says besides a lesson's words: its id and its date."""
UNIT = re.compile(r"(\d+)(?:s|ms|m|h|d|min|kb|mb|gb)?", re.IGNORECASE)
SUPERSEDING = re.compile(r"supersed(?:ing|es?)\s+([^.:;,]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Task:
    name: str
    bug: str
    policy: str
    module: str
    talks: tuple[tuple[tuple[str, str], ...], ...]
    """Each talk's turns: role and text; a later one amends the one before."""

    @property
    def is_amended(self) -> bool:
        return len(self.talks) > 1

    @property
    def text(self) -> str:
        return "\n".join(text for talk in self.talks for _, text in talk)


@dataclass(frozen=True)
class Decisive:
    """What has to be told: every one of the values, and that share of the words."""

    values: frozenset[str]
    words: frozenset[str]

    def missing_in(self, text: str) -> list[str]:
        """Values that the text lacks; with few values also the words, if too few of them are there."""
        there, stems = tokens(text), {stem(word) for word in tokens(text)}
        missing = sorted(self.values - there)
        if len(self.values) < 2 and len(self.words & stems) < SHARE_OF_WORDS * len(self.words):
            missing += sorted(self.words - stems)
        return missing


@dataclass
class Told:
    """What a task's session was told, and the lessons of its talks."""

    own: list[tuple[str, str]] = field(default_factory=list)
    """(session, words) of each line that its talks taught."""
    lines: int = 0
    decoys: int = 0
    tokens: int = 0


def decisive(policy: str, talk: str) -> Decisive:
    """Numbers, names (identifiers, capitals, both sides of an arrow, members of a set) and words of the policy.

    Where there are values, words in parentheses explain them and do not count. What the talk itself does not say cannot
    be learnt from it and is left out.
    """
    policy = policy.replace("(post-amendment)", " ")
    names = {side.lower() for pair in re.findall(r"([\w.]+)->([\w.]+)", policy) for side in pair}
    for group in re.findall(r"\{([^}]*)\}|['\"`](\w+)['\"`]", policy):
        names |= {word.lower() for part in group for word in TOKEN.findall(part)}
    for word in TOKEN.findall(policy):
        is_capital = len(word) > 1 and word.isupper() and word.isalpha() and word.lower() not in EMPHASIS.split()
        if is_capital or "_" in word or re.search(r"[a-z][A-Z]", word) or re.search(r"[A-Za-z]\d|\d[A-Za-z]{2}", word):
            names.add(word.lower())
    numbers = {number(word) for word in TOKEN.findall(policy) if word[0].isdigit()} - {""}
    there = tokens(talk)
    stems = {stem(word) for word in there}
    values = (names | numbers) & there
    plain = re.sub(r"\([^)]*\)", " ", policy) if values else policy
    words = {stem(word) for word in re.findall(r"[A-Za-z]{4,}", plain) if word.lower() not in COMMON.split()}
    return Decisive(frozenset(values), frozenset(words & stems))


def tokens(text: str) -> set[str]:
    """The words, names and numbers of a text; a number word is its number, a number with a unit the number."""
    pieces = set()
    for word in TOKEN.findall(text):
        low = word.lower()
        pieces |= {low, *low.split(".")}
        if value := number(low):
            pieces.add(value)
    return pieces


def number(word: str) -> str:
    """The number that a word is; empty for none."""
    low = word.lower()
    if low in NUMBERS.split():
        return str(NUMBERS.split().index(low))
    match = UNIT.fullmatch(low)
    return match.group(1) if match else ""


def stem(word: str) -> str:
    """A crude stem: equal for the forms of most words."""
    low = word.lower()
    return re.sub(r"(?:ing|ed|es|s|ly)$", "", low).rstrip("e") if len(low) > 4 else low.rstrip("e")


def superseded(talk: Iterable[tuple[str, str]]) -> list[frozenset[str]]:
    """What an amending talk says it supersedes, as stems."""
    phrases = (match.group(1) for _, text in talk for match in SUPERSEDING.finditer(text))
    stems = [frozenset(stem(word) for word in tokens(phrase) if word not in COMMON.split()) for phrase in phrases]
    return [words for words in stems if len(words) > 1]


def says_superseded(line: str, phrases: Iterable[frozenset[str]]) -> bool:
    stems = {stem(word) for word in tokens(line)}
    return any(len(words & stems) >= SHARE_SUPERSEDED * len(words) for words in phrases)


def within(handed: Iterable[Handed], budget: int) -> tuple[str, int]:
    """The lines of what was handed over, in order, that fit the budget, and the tokens of all."""
    rows = [line for part in handed for line in part.text.splitlines()]
    fitting: list[str] = []
    used = 0
    for row in rows:
        used += tokens_of(row)
        if used <= budget:
            fitting.append(row)
    return "\n".join(fitting), used


def score(tasks: Iterable[Task], outcomes: Mapping[str, Told], stored: Mapping[str, str]) -> dict[str, Any]:
    """The table; `stored`: by talk's session, the words of the lessons that were learnt from it."""
    rows: dict[str, Any] = {}
    complete, reached, could, newest, decoys, lines, sizes = [], [], [], [], 0, 0, []
    for task in tasks:
        wanted = decisive(task.policy, task.text)
        own = outcomes[task.name].own
        missing = wanted.missing_in("\n".join(words for _, words in own))
        reached.append(bool(own))
        could.append(not wanted.missing_in("\n".join(stored.get(name, "") for name in sessions_of(task))))
        row: dict[str, Any] = {"lines": len(own), "missing": " ".join(missing) or "nothing"}
        if task.is_amended:
            phrases = superseded(task.talks[-1])
            old = [words for session, words in own if session == sessions_of(task)[0]]
            is_clean = not any(says_superseded(words, phrases) for words in old)
            newest.append(not missing and is_clean)
            row["superseded rule told"] = "no" if is_clean else "yes"
        complete.append(not missing)
        rows[task.name] = row
        decoys, lines = decoys + outcomes[task.name].decoys, lines + outcomes[task.name].lines
        sizes.append(outcomes[task.name].tokens)
    return {
        "all decisive values told": share(complete),
        "amended: the newest rule told and not the superseded one": share(newest),
        "a line of the talk told": share(reached),
        "all decisive values in lessons of the talk": share(could),
        "lines of decoys": fraction(decoys, lines),
        "tokens a session": {"mean": round(sum(sizes) / max(1, len(sizes)), 1), "most": max(sizes, default=0)},
        "tasks": rows,
    }


def sessions_of(task: Task) -> list[str]:
    return [f"{task.name}-{number}" for number in range(len(task.talks))]


def load(folder: Path) -> tuple[list[Task], list[tuple[tuple[str, str], ...]], dict[str, str]]:
    """Tasks, decoys, and the files' hashes; raises MissingSetError naming a file that is not there."""
    tasks_file, decoys_file = require(folder, "tasks_dev.json", "decoys.json")
    tasks = []
    for row in json.loads(tasks_file.read_text("utf-8")):
        talks = row["conversations"] if isinstance(row["conversations"][0], list) else [row["conversations"]]
        turns = tuple(tuple((turn["role"], turn["text"]) for turn in talk) for talk in talks)
        tasks.append(Task(row["task_id"], row["bug_report"], row["policy"], row["module"], turns))
    rows = json.loads(decoys_file.read_text("utf-8"))
    decoys = [tuple((turn["role"], turn["text"]) for turn in row["turns"]) for row in rows]
    return tasks, decoys, hashes_of([tasks_file, decoys_file])


def in_order(tasks: Iterable[Task], decoys: Iterable[tuple[tuple[str, str], ...]]) -> list[tuple[str, Any]]:
    """The sessions: talks and decoys mixed by the seed, amending talks at the end."""
    first = [(sessions_of(task)[0], task.talks[0]) for task in tasks]
    first += [(f"decoy-{number:03d}", talk) for number, talk in enumerate(decoys)]
    random.Random(SEED).shuffle(first)
    later = [(name, talk) for task in tasks for name, talk in zip(sessions_of(task)[1:], task.talks[1:], strict=True)]
    return first + later


def converse(talk: Talk, session: str, turns: tuple[tuple[str, str], ...]) -> None:
    """Play one talk as a session."""
    talk.begin(session)
    for number, (role, text) in enumerate(turns):
        if role == "user":
            talk.say(text)
        else:
            following = turns[number + 1][0] if number + 1 < len(turns) else "user"
            talk.reply(text, ends_turn=following == "user")
    talk.end()


def ask(talk: Talk, task: Task, origin: Mapping[str, str]) -> Told:
    """What a new session with the bug report as its first prompt is told; `origin`: by lesson, its session."""
    handed = [talk.begin(f"bug-{task.name}"), talk.say(task.bug)]
    text, used = within(handed, BUDGET_TOKENS)
    ids = [lesson for part in handed for lesson in part.ids]
    own = sessions_of(task)
    outcome = Told(tokens=used)
    for lesson, words in words_told(text, ids):
        session = origin.get(lesson, "")
        outcome.lines += 1
        outcome.decoys += session.startswith("decoy-")
        if session in own:
            outcome.own.append((session, NOTES.sub("", words)))
    return outcome


def play(
    tasks: list[Task], decoys: list[tuple[tuple[str, str], ...]], scratch: Path, answers: Path | None,
    prompts: Path | None,
) -> dict[str, Any]:  # fmt: skip
    files = {task.module: f'"""{Path(task.module).stem}"""\n' for task in tasks}
    make_project(scratch / "project", {"README.md": "# A library\n", **files})
    (scratch / "home").mkdir()
    with open_shipped(scratch / "home", scratch / "project") as shipped:
        talk = Talk(shipped, scratch)
        questions = 0
        for session, turns in in_order(tasks, decoys):
            converse(talk, session, turns)
            questions += _distil(shipped, session, answers, prompts)
        if prompts:
            return {"prompts written": questions, "complaints": shipped.complaints()}
        lessons = shipped.lessons()
        origin = {lesson["id"]: str(lesson["session"]) for lesson in lessons}
        outcomes = {task.name: ask(talk, task, origin) for task in tasks}
        figures = score(tasks, outcomes, stored_words(lessons))
        states = [lesson["state"] for lesson in lessons]
        counts = {state: states.count(state) for state in dict.fromkeys(sorted(states))}
        return figures | {"lessons": counts, "complaints": shipped.complaints()}


def stored_words(lessons: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """By session, the words of the lessons from it that may be told."""
    words: dict[str, str] = {}
    for lesson in lessons:
        if lesson["state"] in TOLD_STATES:
            text = "\n".join((lesson["title"], lesson["insight"], lesson["why"], lesson["how"]))
            words[lesson["session"]] = f"{words.get(lesson['session'], '')}\n{text}"
    return words


def _distil(shipped: Shipped, session: str, answers: Path | None, prompts: Path | None) -> int:
    """Learn from a model's recorded answer about the session, or write the question; how many were written."""
    recorded = answers / f"{session}.json" if answers else None
    if recorded is not None and recorded.is_file():
        shipped.distil(session, recorded.read_text("utf-8"))
        shipped.prepare_brief()
        return 0
    before = session.removesuffix("-1") + "-0" if session.endswith("-1") else ""
    if prompts is None or (before and not (answers and (answers / f"{before}.json").is_file())):
        return 0
    prompts.mkdir(parents=True, exist_ok=True)
    (prompts / f"{session}.md").write_text(shipped.question(session), "utf-8")
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sdebench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder that holds sdebench/")
    parser.add_argument("--answers", type=Path, help="folder of a model's answers, one for each talk")
    parser.add_argument("--prompts", type=Path, help="write the questions to a model there, and score nothing")
    parser.add_argument("--decoys", type=int, default=10_000, help="most decoys")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    try:
        tasks, decoys, sha256 = load(options.data / "sdebench")
    except MissingSetError as exc:
        print(exc, file=sys.stderr)
        return 1
    mode = "with a model's words" if options.answers else "without a model"
    with tempfile.TemporaryDirectory() as scratch:
        figures = play(tasks, decoys[: options.decoys], Path(scratch), options.answers, options.prompts)
    print(render({"mode": mode, **figures}))
    if options.json:
        options.json.write_text(json.dumps({"mode": mode, **figures, "sha256": sha256}, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""DevMemBench (MIT): small questions over clean sessions; is a turn of the right session among the first five?

    python -m benchmarks.recall.devmembench --data DIR [--embedder NAME] [--json FILE]

The sessions are recorded as a host's hooks record them, prompt by prompt and reply by reply, and the questions are
asked with `recall --sessions`. Nothing is learnt: the set holds talk without files, commands or failures. Beside it:
FTS5 over the single messages and over prompts with their replies. A question without an answer (abstention) has no
right session; reported is for how many of them nothing is shown.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.recall.arena import Arena
from benchmarks.recall.baselines import FullText
from benchmarks.recall.cases import Ask, Corpus, Item, MissingSetError, hashes_of, require

from holdfast.domain.event import Event, spoken_prefix
from holdfast.domain.vocabulary import EventId, EventKind, ProjectId, SessionId
from holdfast.recall.sessions import find_turns

DEPTH = 5
HOST = "claude-code"
ABSTENTION = "abstention"
KINDS: dict[str, EventKind] = {"user": "prompt", "assistant": "reply"}

Session = dict[str, Any]
Ranking = Callable[[str], Sequence[str]]


def measure(folder: Path, scratch: Path, embedder: str = "") -> dict[str, Any]:
    """Hits by kind of question, of the product and of two baselines."""
    files = require(folder / "devmembench", "sessions.json", "questions.json")
    sessions, questions = (json.loads(file.read_text("utf-8")) for file in files)
    with Arena(scratch, Corpus("devmembench", (), ()), embedder) as arena:
        project = arena.location.project.id
        arena.services.store.append_events([event for session in sessions for event in events_of(session, project)])

        def shipped(text: str) -> Sequence[str]:
            return [
                turn.session for turn in find_turns(arena.services, arena.query(Ask("", text, frozenset(), "")), DEPTH)
            ]

        systems: dict[str, Ranking] = {
            "holdfast": shipped,
            "FTS5 porter, messages": by_words(sessions, 1),
            "FTS5 porter, prompts with replies": by_words(sessions, 2),
        }
        hits = {name: hits_of(questions, ranking) for name, ranking in systems.items()}
    counts = Counter(question["questionType"] for question in questions)
    return {"sha256": hashes_of(files), "asked": dict(counts), "hits": hits}


def events_of(session: Session, project: ProjectId) -> Iterator[Event]:
    """The events that hooks would have recorded, a minute apart."""
    began_at = datetime.fromisoformat(session["metadata"]["date"]).replace(tzinfo=UTC)
    for n, message in enumerate(session["messages"]):
        kind, text = KINDS[message["role"]], message["content"]
        yield Event(
            id=EventId(f"{session['sessionId']}-{n}"), session=SessionId(session["sessionId"]), host=HOST, kind=kind,
            at=began_at + timedelta(minutes=n), key=f"{spoken_prefix(kind)}{n}", project=project, text=text,
            text_length=len(text),
        )  # fmt: skip


def by_words(sessions: Sequence[Session], together: int) -> Ranking:
    """A ranking of sessions by FTS5 over so many messages at a time."""
    items: list[Item] = []
    for session in sessions:
        messages = [message["content"] for message in session["messages"]]
        texts = ["\n".join(messages[at : at + together]) for at in range(0, len(messages), together)]
        items += [Item(name=f"{session['sessionId']}:{n}", insight=text) for n, text in enumerate(texts)]
    full_text = FullText()
    full_text.add(items)
    return lambda text: [name.partition(":")[0] for name in full_text.rank(text, DEPTH)]


def hits_of(questions: Sequence[dict[str, Any]], ranking: Ranking) -> dict[str, int]:
    """Questions by kind with a right session among the first five; of abstentions those that are shown nothing."""
    hits: Counter[str] = Counter()
    for question in questions:
        shown, kind = ranking(question["question"]), question["questionType"]
        is_right = not shown if kind == ABSTENTION else not set(shown).isdisjoint(question["haystackSessionIds"])
        hits[kind] += is_right
    return {kind: hits[kind] for kind in dict.fromkeys(question["questionType"] for question in questions)}


def print_table(results: dict[str, Any]) -> None:
    """Hits by kind, a column for each system."""
    systems = results["hits"]
    print("hit@5".ljust(26), "of".rjust(4), *(name.rjust(len(name) + 2) for name in systems))
    for kind, count in results["asked"].items():
        label = f"{kind} (nothing shown)" if kind == ABSTENTION else kind
        row = (str(hits[kind]).rjust(len(name) + 2) for name, hits in systems.items())
        print(label.ljust(26), str(count).rjust(4), *row)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall.devmembench", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    parser.add_argument("--embedder", default="", help="name of an embedder, or none")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            results = measure(arguments.data, Path(scratch), arguments.embedder)
    except MissingSetError as exc:
        print(exc, file=sys.stderr)
        return 1
    print_table(results)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

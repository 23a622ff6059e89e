"""The replay on a tiny made-up catalog: what a transcript fires, what is scored, and that it plays for real."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from benchmarks.replay.catalog import Catalog, GoldLesson, Need, Session, load_catalog
from benchmarks.replay.firings import Firing, firings
from benchmarks.replay.player import play
from benchmarks.replay.record import Delivery, Played, Record
from benchmarks.replay.repository import Repository
from benchmarks.replay.scoring import score

from holdfast import wiring

DAY = datetime(2026, 1, 5, 12, tzinfo=UTC)
IDS = {name: f"00000000-0000-7000-8000-0000{number:08x}" for number, name in enumerate("abcd", 1)}


def lesson(name: str, insight: str, *, session: str = "s0", state: str = "active", kind: str = "constraint") -> Any:
    return {
        "id": IDS[name], "session": session, "state": state, "kind": kind, "title": "", "insight": insight, "why": "",
        "how": "", "quote": [], "files": [], "trust": "agent", "confidence": 0.5, "detector": "", "command": "",
    }  # fmt: skip


def gold(name: str, quote: str, *, session: int = 0, kind: str = "constraint", grade: int = 3) -> GoldLesson:
    return GoldLesson(name, session, 4, kind, grade, f"nothing like {quote[::-1]}", quote)


HOOKS = {
    "start": "SessionStart",
    "after a compaction": "SessionStart",
    "first prompt": "UserPromptSubmit",
    "before a file": "PreToolUse",
}


def delivery(session: int, event: int, *names: str, moment: str = "first prompt") -> Delivery:
    text = "\n".join(f"- [{IDS[name][-8:]}] text" for name in names) or "State of task main"
    hook = HOOKS[moment]
    lines = [[IDS[name]] for name in names]
    return Delivery(session, event, f"s{session}", "", hook, "{}", text, lines, moment=moment, tokens=10 * len(names))


def played(session: int, prompts: int = 2) -> Played:
    return Played(session, f"s{session}", prompts, 10, 0.1, 1.0)


def catalog(gold_lessons: list[GoldLesson], needs: list[Need], sessions: int = 2) -> Catalog:
    return Catalog(
        tuple(Session(number, f"s{number}", "", DAY) for number in range(sessions)),
        tuple(gold_lessons),
        tuple(needs),
        {},
    )


RULE = "never open the ledger while the exporter still runs"
CAUSE = "the parser drops every second header because the buffer is shared"


def test_a_lesson_of_the_same_session_with_most_words_of_the_quote_counts_as_gold() -> None:
    lessons = [
        lesson("a", "Never open the ledger while the exporter runs."),
        lesson("b", "Never open the ledger while the exporter runs.", session="s1"),
        lesson("c", "The tests pass.", state="candidate"),
        lesson("d", "The parser drops every second header; the buffer is shared.", state="candidate", kind="fix"),
    ]
    figures = score(
        Record(lessons=lessons, sessions=[played(0), played(1)]),
        catalog([gold("L1", RULE), gold("L2", CAUSE, kind="bug_cause", grade=2)], []),
    )
    capture = figures["capture"]
    assert capture["active"]["gold lessons"] == {"count": 1, "of": 2, "share": 0.5}
    assert capture["active"]["recall of grade >= 3"] == {"count": 1, "of": 1, "share": 1.0}
    assert capture["active"]["recall of grade >= 2"] == {"count": 1, "of": 2, "share": 0.5}
    assert capture["all"]["recall of grade >= 2"] == {"count": 2, "of": 2, "share": 1.0}
    assert (capture["inbox"], capture["inbox_per_session"]) == (2, 1.0)


def test_a_lesson_of_few_words_counts_as_gold_only_with_four_of_the_quote() -> None:
    few = score(Record(lessons=[lesson("a", "Open the ledger.")]), catalog([gold("L1", RULE)], []))
    enough = score(Record(lessons=[lesson("a", "Never open the ledger.")]), catalog([gold("L1", RULE)], []))
    assert few["capture"]["active"]["gold lessons"]["count"] == 0
    assert enough["capture"]["active"]["gold lessons"]["count"] == 1


@pytest.mark.parametrize(
    ("event", "in_time", "at_any_time"), [(9, 1, 1), (10, 1, 1), (12, 1, 1), (13, 0, 1), (-1, 1, 1)]
)
def test_a_need_is_met_in_time_at_its_event_or_before_with_two_events_of_grace(
    event: int, in_time: int, at_any_time: int
) -> None:
    record = Record(deliveries=[delivery(1, event, "a")], lessons=[lesson("a", "")], taught={"L1": IDS["a"]})
    need = Need(1, 10, "before_file", 3, frozenset({"L1", "L9"}))
    met = score(record, catalog([gold("L1", RULE)], [need]))["needs"]
    assert met["strength >= 3"]["in time"]["count"] == in_time
    assert met["strength >= 3"]["at any time"]["count"] == at_any_time
    assert met["moment before_file"]["in time"]["of"] == 1


def test_a_lesson_shown_in_another_session_meets_no_need() -> None:
    record = Record(deliveries=[delivery(0, 1, "a")], lessons=[lesson("a", "")], taught={"L1": IDS["a"]})
    needs = score(record, catalog([gold("L1", RULE)], [Need(1, 10, "prompt", 2, frozenset({"L1"}))]))["needs"]
    assert needs["strength >= 2"]["at any time"] == {"count": 0, "of": 1, "share": 0.0}
    assert needs["strength >= 3"]["in time"]["of"] == 0


def test_what_is_shown_is_counted_by_lesson_by_prompt_and_by_need() -> None:
    record = Record(
        deliveries=[delivery(1, 0, "a", "b"), delivery(1, 5, "b", moment="before a file"), delivery(0, 2)],
        sessions=[played(0), played(1)],
        lessons=[lesson("a", ""), lesson("b", "")],
        taught={"L1": IDS["a"], "L2": IDS["b"]},
    )
    golds = [gold("L1", RULE), gold("L2", CAUSE, grade=1)]
    figures = score(record, catalog(golds, [Need(1, 10, "prompt", 2, frozenset({"L1"}))]))["delivery"]
    assert (figures["shown"], figures["shown_per_session"]) == (3, 1.5)
    assert figures["gold lessons"] == {"count": 1, "of": 3, "share": 0.333}
    assert figures["deliveries without a lesson"] == 1
    assert figures["prompts that got a lesson"] == {"count": 1, "of": 4, "share": 0.25}
    assert figures["needed by the session"] == {"count": 1, "of": 3, "share": 0.333}
    assert figures["needed by moment"]["before a file"] == {"count": 0, "of": 1, "share": 0.0}


def test_a_context_begins_anew_after_a_compaction() -> None:
    told_again = delivery(1, 5, "a", "b", moment="after a compaction")
    record = Record(deliveries=[delivery(1, -1, "a", moment="start"), told_again], sessions=[played(1)])
    size = score(record, catalog([], []))["size"]
    assert size["tokens a session"]["most"] == 30
    assert size["tokens between compactions"] == {"mean": 15, "median": 15.0, "most": 20}


def user(text: Any, **row: Any) -> dict[str, Any]:
    return {"type": "user", "timestamp": "2026-01-05T12:00:00Z", "message": {"role": "user", "content": text}, **row}


def agent(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": list(blocks)}}


def call(number: int, tool: str, **tool_input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"t{number}", "name": tool, "input": tool_input}


def result(number: int, text: str, **block: Any) -> dict[str, Any]:
    return user([{"type": "tool_result", "tool_use_id": f"t{number}", "content": text, **block}])


def fired(*rows: dict[str, Any]) -> list[Firing]:
    return list(firings([json.dumps(row) for row in rows]))


def test_a_transcript_fires_the_hooks_of_its_host_in_their_order() -> None:
    hooks = fired(
        user("mend it", gitBranch="feature"),
        agent({"type": "text", "text": "I look."}, call(1, "Bash", command="make")),
        result(1, "boom", is_error=True),
        agent(call(2, "Read", file_path="a.py")),
        user([{"type": "tool_result", "tool_use_id": "t2", "content": "x"}], toolUseResult={"file": {}}),
        agent({"type": "text", "text": "Done."}),
        user([{"type": "text", "text": "thanks"}, {"type": "text", "text": "<ide_opened_file>a</ide_opened_file>"}]),
    )
    assert [(hook.line, hook.name) for hook in hooks] == [
        (-1, "SessionStart"), (0, "UserPromptSubmit"), (1, "PreToolUse"), (2, "PostToolUseFailure"),
        (3, "PreToolUse"), (4, "PostToolUse"), (6, "Stop"), (6, "UserPromptSubmit"), (6, "SessionEnd"),
    ]  # fmt: skip
    assert {hook.branch for hook in hooks} == {"feature"}
    assert hooks[3].fields["error"] == "boom"
    assert hooks[5].fields["tool_response"] == {"file": {}}
    assert hooks[6].fields["last_assistant_message"] == "Done."
    assert hooks[7].fields["prompt"] == "thanks"


def git(folder: Path, *arguments: str, text: str = "") -> str:
    environment = {**os.environ, "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    command = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, env=environment).stdout


@pytest.fixture
def data_set(tmp_path: Path) -> Path:
    """A folder with `replay/`: two sessions about one file, what the first taught, and what the second needs."""
    folder = tmp_path / "data" / "replay"
    (folder / "gold").mkdir(parents=True)
    repository = folder / "repo"
    git(tmp_path, "init", "-q", "-b", "main", str(repository))
    (repository / "ledger.py").write_text("def post(entry):\n    return entry\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "Begin")
    first = [
        user("Remember that the ledger must be closed before the exporter runs.", cwd="/home/ada/shop"),
        agent(call(1, "Read", file_path="/home/ada/shop/ledger.py")),
        result(1, "def post"),
        agent({"type": "text", "text": "Noted."}),
        user("thanks"),
        agent({"type": "text", "text": "You are welcome."}),
    ]
    second = [
        user("mend the export", cwd="/home/ada/shop"),
        agent(call(2, "Edit", file_path="/home/ada/shop/ledger.py", old_string="return entry", new_string="return 1")),
        result(2, "ok"),
    ]
    rows = []
    for number, session in enumerate((first, second)):
        text = "".join(json.dumps(row | {"sessionId": f"s{number}"}) + "\n" for row in session)
        blob = git(repository, "hash-object", "-w", "--stdin", text=text).strip()
        rows.append({"n": number, "sid": f"s{number}", "blob": blob, "ts": f"2026-01-0{5 + number}T12:00:00.000Z"})
    (folder / "catalog.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rule = "Close the ledger before the exporter runs."
    labelled = {
        "id": "L1", "s": 0, "e": 0, "kind": "constraint", "grade": 3, "lesson": rule,
        "quote": "the ledger must be closed before the exporter runs", "files": ["ledger.py", "gone.py"],
    }  # fmt: skip
    (folder / "gold" / "numbered.json").write_text(json.dumps([labelled]))
    need = {"s": 1, "e": 1, "moment": "before_file", "strength": 3, "lessons": ["L1"]}
    (folder / "gold" / "pass2_000.jsonl").write_text(json.dumps(need) + "\n")
    return folder


@pytest.mark.parametrize("with_gold", [False, True])
def test_what_the_first_session_taught_is_shown_to_the_second_before_the_file(
    data_set: Path, tmp_path: Path, with_gold: bool
) -> None:
    scratch, environment, clock = tmp_path / "scratch", dict(os.environ), wiring.SystemClock
    scratch.mkdir()
    sessions = load_catalog(data_set)
    record = play(sessions, Repository(data_set / "repo"), scratch, with_gold=with_gold, progress=lambda line: None)
    figures = score(record, sessions)
    assert record.complaints == {}
    assert [session.prompts for session in record.sessions] == [2, 1]
    met = figures["needs"]["strength >= 3"]["in time"]
    assert met == ({"count": 1, "of": 1, "share": 1.0} if with_gold else met)
    assert ("capture" in figures) != with_gold
    assert (dict(os.environ), wiring.SystemClock) == (environment, clock)

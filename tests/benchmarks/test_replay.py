"""The replay on a tiny made-up catalog: what a transcript fires, what is scored, and that it plays for real."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from benchmarks.recall.cases import MissingSetError
from benchmarks.replay.catalog import Catalog, GoldLesson, Need, Session, load_catalog
from benchmarks.replay.firings import Firing, firings
from benchmarks.replay.player import NOBODY, branches_of, person_of, play
from benchmarks.replay.record import Delivery, Played, Record, load, save
from benchmarks.replay.report import render
from benchmarks.replay.repository import Repository
from benchmarks.replay.sample import draw
from benchmarks.replay.scoring import score

from holdfast import bootstrap

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


def test_kinds_are_compared_by_family() -> None:
    lessons = [lesson("a", RULE, kind="preference"), lesson("b", CAUSE, kind="tooling")]
    golds = [gold("L1", RULE, kind="decision"), gold("L2", CAUSE, kind="bug_cause")]
    kinds = score(Record(lessons=lessons), catalog(golds, []))["kinds"]["active"]
    assert kinds["same family"] == {"count": 1, "of": 2, "share": 0.5}
    assert kinds["gold as lesson"] == {"cause as how-to": 1, "rule as rule": 1}


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


def test_tokens_and_lines_are_counted_a_session_from_the_first_one_with_needs() -> None:
    record = Record(
        deliveries=[delivery(0, -1, "a", "b", "c"), delivery(1, -1, "a", "b", moment="start"), delivery(1, 3, "c")],
        sessions=[played(0), played(1), played(2)],
        lessons=[lesson(name, "") for name in "abc"],
    )
    size = score(record, catalog([gold("L1", RULE)], [Need(1, 9, "prompt", 2, frozenset({"L1"}))], 3))["size"]
    assert size["tokens a session"] == {"mean": 15, "median": 15.0, "most": 30}
    assert size["tokens between compactions"] == {"mean": 15, "median": 15.0, "most": 30}
    assert size["lines a session"] == {"mean": 1.5, "median": 1.5, "most": 3}
    assert size["start"] == {"deliveries": 1, "lines a session": 1.0, "tokens a session": 10.0, "most tokens": 20}
    assert size["first prompt"]["lines a session"] == 0.5


def test_a_context_begins_anew_after_a_compaction() -> None:
    told_again = delivery(1, 5, "a", "b", moment="after a compaction")
    record = Record(deliveries=[delivery(1, -1, "a", moment="start"), told_again], sessions=[played(1)])
    size = score(record, catalog([], []))["size"]
    assert size["tokens a session"]["most"] == 30
    assert size["tokens between compactions"] == {"mean": 15, "median": 15.0, "most": 20}


def test_what_the_brief_alone_meets_is_what_the_start_told() -> None:
    record = Record(
        deliveries=[delivery(1, -1, "a", moment="start"), delivery(1, 3, "b")],
        lessons=[lesson("a", ""), lesson("b", "")],
        taught={"L1": IDS["a"], "L2": IDS["b"]},
    )
    needs = [Need(1, 9, "prompt", 2, frozenset({name})) for name in ("L1", "L2")]
    figures = score(record, catalog([gold("L1", RULE), gold("L2", CAUSE)], needs))
    assert figures["needs"]["strength >= 2"]["in time"]["count"] == 2
    assert figures["needs by the brief alone"]["strength >= 2"]["count"] == 1


def test_gold_that_became_one_lesson_is_met_by_it() -> None:
    record = Record(
        deliveries=[delivery(1, 1, "a")], lessons=[lesson("a", "")], taught={"L1": IDS["a"], "L2": IDS["a"]}
    )
    needs = [Need(1, 9, "prompt", 2, frozenset({name})) for name in ("L1", "L2", "L3")]
    met = score(record, catalog([gold("L1", RULE), gold("L2", CAUSE)], needs))["needs"]["strength >= 2"]["in time"]
    assert met == {"count": 2, "of": 3, "share": 0.667}


def test_a_need_could_be_met_when_memory_holds_one_of_its_lessons() -> None:
    record = Record(
        deliveries=[delivery(1, 1, "a")],
        lessons=[lesson("a", RULE), lesson("b", CAUSE, state="candidate"), lesson("c", RULE, state="forgotten")],
    )
    needs = [Need(1, 9, "prompt", 2, frozenset({name})) for name in ("L1", "L2", "L3")]
    figures = score(record, catalog([gold("L1", RULE), gold("L2", CAUSE), gold("L3", "words of nobody")], needs))
    assert figures["needs that memory could meet"]["strength >= 2"] == {"count": 1, "of": 2, "share": 0.5}


def test_a_persons_home_and_the_branch_of_each_line_are_read_from_a_transcript() -> None:
    rows = [{"cwd": "/home/ada/shop"}, {"cwd": "/Users/ada/shop", "gitBranch": "fix"}, {"cwd": "/home/bo/shop"}, {}]
    text = "\n".join([*map(json.dumps, rows), "no object"])
    assert person_of(text) == "ada"
    assert branches_of(text) == ["", "fix", "fix", "fix", "fix"]
    assert person_of("") == NOBODY


def test_figures_are_one_table() -> None:
    table = render({"mode": "x", "needs": {"a": {"in time": {"count": 1, "of": 2, "share": 0.5}}, "size": {"most": 3}}})
    rows = ["|  | mode | x |", "| needs, a | in time | 1 of 2 = 0.500 |", "| needs | size | most 3 |"]
    assert table.splitlines()[2:] == rows


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


def test_what_the_host_put_in_the_users_place_fires_no_prompt() -> None:
    hooks = fired(
        user("<command-name>/clear</command-name>"),
        user("[Request interrupted by user]"),
        user("Caveat", isMeta=True),
        user("This session is being continued", isCompactSummary=True),
        user("from a sub-agent", isSidechain=True),
    )
    assert [hook.name for hook in hooks] == ["SessionStart", "SessionEnd"]


def test_a_compaction_fires_a_hook_before_and_a_start_after() -> None:
    hooks = fired(user("go on"), {"type": "system", "subtype": "compact_boundary"})
    assert [hook.name for hook in hooks[2:4]] == ["PreCompact", "SessionStart"]
    assert hooks[3].fields == {"source": "compact"}


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
    scratch, environment, clock = tmp_path / "scratch", dict(os.environ), bootstrap.SystemClock
    scratch.mkdir()
    sessions = load_catalog(data_set)
    record = play(sessions, Repository(data_set / "repo"), scratch, with_gold=with_gold, progress=lambda line: None)
    figures = score(record, sessions)
    assert record.complaints == {}
    assert [session.prompts for session in record.sessions] == [2, 1]
    met = figures["needs"]["strength >= 3"]["in time"]
    assert met == ({"count": 1, "of": 1, "share": 1.0} if with_gold else met)
    assert ("capture" in figures) != with_gold
    assert (dict(os.environ), bootstrap.SystemClock) == (environment, clock)


def test_a_gold_lesson_enters_memory_with_its_title_as_one_of_its_session(data_set: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    sessions = load_catalog(data_set, {"L1": "Close the ledger before the exporter runs"})
    record = play(sessions, Repository(data_set / "repo"), scratch, with_gold=True, progress=lambda line: None)
    (taught,) = record.lessons
    assert (taught["title"], taught["session"]) == ("Close the ledger before the exporter runs", "s0")
    assert (taught["state"], taught["trust"]) == ("active", "person")
    assert record.taught == {"L1": taught["id"]}


def test_a_title_of_the_gold_wins_over_that_of_the_file(data_set: Path) -> None:
    file = data_set / "gold" / "numbered.json"
    file.write_text(json.dumps([json.loads(file.read_text())[0] | {"title": "Close it first"}]))
    assert [lesson.title for lesson in load_catalog(data_set, {"L1": "another"}).gold] == ["Close it first"]


def test_a_recorded_answer_about_a_session_becomes_lessons_of_it(data_set: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    quote = "the ledger must be closed before the exporter runs"
    stated = {"lesson": "Sum the ledger twice.", "kind": "convention", "quote": quote, "line": 0}
    answers = {0: json.dumps({"lessons": [stated, stated | {"lesson": "Not so.", "quote": "words of nobody at all"}]})}
    sessions, repository = load_catalog(data_set), Repository(data_set / "repo")
    record = play(sessions, repository, scratch, answers=answers, progress=lambda line: None)
    distilled = [lesson["insight"] for lesson in record.lessons if lesson["detector"].startswith("distil")]
    assert (distilled, record.complaints) == (["Sum the ledger twice."], {})


def test_a_window_of_a_catalog_has_its_gold_and_needs_alone(data_set: Path) -> None:
    window = load_catalog(data_set).window(1, 5)
    assert [session.number for session in window.sessions] == [1]
    assert (window.gold, len(window.needs)) == ((), 1)


def test_a_repository_without_the_transcript_is_named(data_set: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingSetError, match="has no transcript"):
        Repository(data_set / "repo").transcript("0" * 40)
    with pytest.raises(MissingSetError, match="cannot be cloned"):
        Repository(tmp_path / "none").clone(tmp_path / "clone")


def test_a_kept_record_is_read_back_and_sampled_the_same_for_the_same_seed(tmp_path: Path) -> None:
    lessons = [lesson(name, f"insight {name}") for name in IDS]
    record = Record([delivery(0, 1, "a")], [played(0)], lessons, {"L1": IDS["a"]}, {"hook": 1})
    save(record, tmp_path)
    assert load(tmp_path) == record
    drawn = draw(record, 2, 5, "active", seed=3)
    assert drawn == draw(load(tmp_path), 2, 5, "active", seed=3)
    assert drawn.startswith("2 of 4 active lessons")
    assert "session 0, line 1, UserPromptSubmit" in drawn

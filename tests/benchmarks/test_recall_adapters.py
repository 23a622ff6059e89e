"""Adapters on tiny made-up files: what becomes of each record, and that the runner scores them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.recall import locomo, precision, project_history, transcripts
from benchmarks.recall.baselines import FullText, Vectors, reciprocal_rank_fusion
from benchmarks.recall.cases import Ask, Corpus, Item, MissingSetError, Trial, split_long
from benchmarks.recall.report import told
from benchmarks.recall.trials import SHIPPED, Options, run


def write(file: Path, content: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = file.suffix == ".jsonl"
    file.write_text("\n".join(map(json.dumps, content)) if lines else json.dumps(content), encoding="utf-8")


def test_locomo_makes_a_lesson_of_every_turn_and_asks_for_turns_and_sessions(tmp_path: Path) -> None:
    dialogue = [
        {"speaker": "Ada", "dia_id": "D1:1", "text": "I sail."},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice!", "blip_caption": "a boat"},
    ]
    conversation = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": dialogue, "speaker_a": "Ada"}
    questions = [
        {"question": "What does Ada do?", "evidence": ["D1:1; D1:02"], "category": 4},
        {"question": "Lost?", "evidence": ["D9:9"], "category": 5},
        {"question": "Malformed?", "evidence": ["D:"], "category": 1},
    ]
    write(tmp_path / "locomo" / "locomo_dev4.json", [{"conversation": conversation, "qa": questions}])
    turns, sessions = locomo.load(tmp_path, 1)
    (corpus,) = turns.corpora
    assert [item.insight for item in corpus.items] == [
        "Ada: I sail. (08 May 2023)", "Bo: Nice! [shares a boat] (08 May 2023)",
    ]  # fmt: skip
    assert [(ask.variant, set(ask.gold)) for ask in corpus.asks] == [("turn", {"D1:1", "D1:2"}), ("session", {"D1"})]
    assert sessions.corpora[0].items[0].insight == "Ada: I sail.\nBo: Nice! [shares a boat]"
    assert len(turns.hashes["locomo_dev4.json"]) == 64


def test_transcripts_are_asked_with_and_without_files(tmp_path: Path) -> None:
    home = tmp_path / "transcripts" / "dev"
    label = {
        "id": "a", "repo": "r", "session": "s", "gist": "Mix it.", "category": "bug_root_cause",
        "files": ["src/a.py", "mix"], "evidence": [{"quote": "mix"}],
    }  # fmt: skip
    query = {
        "qid": "q", "repo": "r", "query": "stir?", "relevant": ["a"], "paths": ["src/a.py"], "difficulty": "no_overlap",
    }  # fmt: skip
    write(home / "labels.jsonl", [label])
    write(home / "queries.jsonl", [query])
    plain, full = transcripts.load(tmp_path, 1)
    assert plain.corpora[0].items[0].anchors == ()
    assert full.corpora[0].items[0].anchors == (("src/a.py", ""), ("src/a.py", "mix"))
    assert full.corpora[0].items[0].kind == "bug_cause"
    assert [ask.paths for ask in full.corpora[0].asks] == [(), ("src/a.py",)]


def test_a_commit_is_known_to_later_questions_only(tmp_path: Path) -> None:
    commits = [
        {"id": "b", "pos": 7, "t": 200, "text": "Second\n\nWhy so.", "files": ["x.py"], "syms": ["x.py::f"]},
        {"id": "a", "pos": 3, "t": 100, "text": "First", "files": [], "syms": []},
    ]
    query = {
        "qid": "q", "kind": "prior", "pos": 7, "t": 150, "title": "t", "task": "t. u", "files": ["x.py", "y.py"],
        "syms": ["x.py::f"], "gold": [1],
    }  # fmt: skip
    write(tmp_path / "project_history" / "tiny.json", {"memories": commits, "queries": [query]})
    (trial,) = project_history.load(tmp_path, 1)
    (corpus,) = trial.corpora
    assert [item.title for item in corpus.items] == ["First", "Second"]
    assert corpus.items[1].why == "Why so."
    assert corpus.items[1].anchors == (("x.py", ""), ("x.py", "f"))
    assert {ask.known for ask in corpus.asks} == {1}
    assert {ask.gold for ask in corpus.asks} == {frozenset({"3-a"})}
    file_ask = next(ask for ask in corpus.asks if ask.variant == "title + one file")
    assert len(file_ask.paths) == 1
    assert file_ask.symbols == (("f",) if file_ask.paths == ("x.py",) else ())
    assert project_history.load(tmp_path, 1)[0].corpora == trial.corpora


@pytest.mark.parametrize("adapter", [locomo, transcripts, project_history])
def test_a_set_that_is_not_there_is_told(adapter: Any, tmp_path: Path) -> None:
    with pytest.raises(MissingSetError, match="nothing is downloaded"):
        adapter.load(tmp_path, 1)


def belief(name: str, **over: Any) -> dict[str, Any]:
    plain = {
        "_id": name, "user_id": "test-user", "type": "preference", "canonical_name": name, "aliases": [],
        "content": f"Content of {name}.", "why_it_matters": "It does.", "scope": ["domain:code"],
        "epistemic_status": "active", "confidence": 0.9, "pinned": False, "resolved_at": None,
        "created_at": "2026-09-01T00:00:00Z",
    }  # fmt: skip
    return {**plain, **over}


def test_precision_routes_pins_and_scopes_and_judges_each_case(tmp_path: Path) -> None:
    beliefs = [
        belief("walrus"),
        belief("heron", pinned=True),
        belief("manners", scope=["user:universal"], pinned=True, content="Be direct."),
        belief("novel", scope=["domain:writing"]),
        belief("doubt", type="open_question", pinned=True, epistemic_status="exploratory"),
        belief("gone", epistemic_status="superseded"),
    ]
    expect = {
        "personaPrelude": {"nonEmpty": True, "contains": ["direct"]},
        "pinnedFacts": {"mustInclude": ["heron"], "mustExclude": ["doubt"]},
        "openQuestions": {"mustInclude": ["doubt"]},
        "relevantBeliefs": {"shouldOnlyInclude": ["walrus"]},
    }
    right = {
        "caseId": "1",
        "category": "c",
        "scope": ["domain:code"],
        "query": "walrus, gone, novel?",
        "expect": expect,
    }
    wrong = {**right, "caseId": "2", "query": "   "}
    write(tmp_path / "precision" / "beliefs.seed.json", beliefs)
    write(tmp_path / "precision" / "retrieval.cases.json", [right, wrong])
    scratch = tmp_path / "scratch"
    shipped = precision.measure(tmp_path, scratch)["systems"]["holdfast"]
    assert (shipped["passed"], shipped["cases"]) == (1, 2)
    assert shipped["failed"] == {"2": ["relevantBeliefs are [], not ['walrus']"]}


def test_the_runner_scores_the_shipped_path_and_the_baselines(tmp_path: Path) -> None:
    items = (Item("a", "Walruses sink boats in winter."), Item("b", "Herons nest on the crane."))
    asks = (
        Ask("q1", "which boats do walruses sink", frozenset({"a"}), "plain"),
        Ask("q2", "where do herons nest", frozenset({"b"}), "plain"),
        Ask("q0", "where do herons nest", frozenset({"b"}), "early", known=1),
    )
    trial = Trial("tiny", (Corpus("one", items, asks),), {})
    results = told(trial, run(trial, Options(embedder="none"), tmp_path), seed=1)
    plain, early = results["variants"]["plain"], results["variants"]["early"]
    for system in (SHIPPED, "FTS5 porter alone"):
        assert plain["systems"][system]["all"]["recall@1"]["mean"] == 1
        assert early["systems"][system]["all"]["recall@10"]["mean"] == 0
    assert results["false_delivery"]["everyday"]["prompt"] == 0
    assert plain["tokens"]["file"] > plain["tokens"]["whole"] > 0


def test_baselines_rank_by_words_by_angle_and_by_both() -> None:
    words = FullText()
    words.add([Item("a", "tides rise"), Item("b", "boats")])
    assert words.rank('rising "tides" OR', 5) == ["a"]
    assert words.rank("?!", 5) == []
    vectors = Vectors(lambda texts: [(1.0, 0.0) if "tides" in text else (0.0, 1.0) for text in texts])
    vectors.add([Item("a", "tides rise"), Item("b", "boats")])
    assert vectors.rank("boats", 2) == ["b", "a"]
    assert reciprocal_rank_fusion([["a", "b"], ["b", "c"]])[0] == "b"


def test_a_long_text_keeps_all_of_it() -> None:
    head, rest = split_long("x" * 9_001)
    assert (len(head), [len(part) for part in rest]) == (4000, [4000, 1001])

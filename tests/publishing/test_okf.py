"""Bundles of the Open Knowledge Format: what an export says, and that an import gives the same lessons back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import Memory
from holdfast.backfill.importing import ConceptLines, own_concepts
from holdfast.domain.lesson import Anchor, Evidence, Lesson, Provenance, Triggers, Validity
from holdfast.errors import InvalidValueError
from holdfast.publishing.okf import Bundling, read_concept

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    folder = tmp_path / "harbour"
    folder.mkdir()
    with Memory(str(folder)) as opened:
        yield opened


def bundle(memory: Memory, **how: Any) -> dict[str, str]:
    """Return the files of the memory's bundle by path."""
    return dict(memory.export_okf(Bundling(**how)))


def concepts(files: dict[str, str]) -> dict[str, str]:
    """Return the files that are concepts."""
    return {path: text for path, text in files.items() if path.rpartition("/")[2] not in ("index.md", "log.md")}


def front_of(text: str) -> dict[str, Any]:
    """Return a concept's front matter, as any reader of YAML has it."""
    return dict(yaml.safe_load(text.split("\n---\n", 1)[0].removeprefix("---\n")))


def imported(memory: Memory, files: dict[str, str], folder: Path, *, accept: bool = True) -> None:
    """Write the files and import them."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8", "replace"))
    lines = ConceptLines(own_concepts(str(folder)))
    report = memory.import_lessons(lines, accept=accept, origin=folder.name)
    assert not report.failed, (report.failed, lines.reasons)


def plain(lesson: Lesson) -> Lesson:
    """Return the lesson without what a bundle leaves out, and without its project."""
    source = replace(lesson.provenance, session="", evidence=())
    return replace(lesson, provenance=source, sessions_seen=(), scope=replace(lesson.scope, project="p"))  # type: ignore[arg-type]


TEXT = st.text(st.sampled_from("ab `#\\[]<>*:\n-'\"|&é"), max_size=40) | st.sampled_from(
    ["# Why", "\\# How", "text\n# Why\nmore", "```\n# Examples\n```", "a\n\n\nb", "---", "a: b", "no", "[^quote-1]: x"]
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_lesson_comes_back_from_a_bundle_as_it_was(memory: Memory, tmp_path: Path, data: st.DataObject) -> None:
    words = {name: data.draw(TEXT, label=name) for name in ("why", "how")}
    rule = f"Rule {memory.services.clock.new_id()} about {data.draw(TEXT, label='insight')}"
    made = memory.remember(rule, tags=data.draw(st.lists(st.sampled_from(["net", "a b", "2", "yes"]))), **words)
    snippets = data.draw(st.lists(TEXT.filter(str.strip), max_size=2, unique=True))
    if snippets:
        made = memory.revise(made.id, snippets=snippets)
    files = {path: text for path, text in concepts(bundle(memory)).items() if path.endswith(f"-{made.id[-8:]}.md")}
    (text,) = files.values()
    stated = json.loads(read_concept(text))
    (before,) = (json.loads(line) for line in memory.export_lessons() if json.loads(line)["id"] == made.id)
    source = {key: value for key, value in before.pop("provenance", {}).items() if key not in ("session", "evidence")}
    before.pop("seal", None)
    assert stated == before | ({"provenance": source} if source else {})
    memory.forget(made.id)


def test_a_bundle_gives_the_same_lessons_to_another_home(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = memory.remember("Calls time out after 5 s", kind="decision")
    memory.revise(old.id, insight="Calls time out after 9 s", why="slow gateway", how="set it in client.py")
    made = memory.remember("Retries are capped at 3", kind="constraint", tags=["net"])
    lesson = replace(
        made,
        anchors=(Anchor(path="src/client.py", symbol="retry", blob="git1:00"),),
        when=Triggers(literals=("retry(",), standing=True),
        provenance=Provenance(host="claude-code", author="sonnet-5", detector="distil/3", person_name="Ada L"),
        validity=Validity(valid_from=made.recorded_at, valid_to=made.recorded_at + timedelta(days=365)),
        recorded_at=made.recorded_at + timedelta(microseconds=1),
    )
    memory.services.store.put([lesson], {lesson.id: made.recorded_at})
    files = bundle(memory, states=("active", "superseded"))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "other"))
    with Memory(str(tmp_path / "harbour")) as other:
        imported(other, files, tmp_path / "bundle")
        ours = {lesson.id: plain(lesson) for lesson in memory.lessons(states=("active", "superseded"))}
        assert {lesson.id: plain(lesson) for lesson in other.lessons(states=("active", "superseded"))} == ours
        assert bundle(other, states=("active", "superseded")).keys() == files.keys()


def test_every_file_conforms(memory: Memory) -> None:
    memory.remember("Retries are capped at 3", why="the gateway bans us")
    memory.remember("Ask before you deploy", trust="agent", kind="convention")
    memory.forget(memory.remember("Gone").id)
    files = bundle(memory)
    for path, text in concepts(files).items():
        front = front_of(text)
        assert isinstance(front["type"], str)
        assert front["type"]
        assert front["status"] == "stable"
        assert datetime.fromisoformat(front["generated"]["at"]).utcoffset() is not None
        assert front["generated"]["by"].startswith("human:") or "/" in front["generated"]["by"]
        assert all(entry["by"] and datetime.fromisoformat(entry["at"]) for entry in front.get("verified", []))
        assert path in {link for link in links(files["log.md"])}
    indexes = {path: text for path, text in files.items() if path.endswith("index.md")}
    assert yaml.safe_load(indexes.pop("index.md").split("---")[1]) == {"okf_version": "0.2"}
    assert all(text.startswith("# ") for text in indexes.values())
    assert "Gone" not in "".join(files.values())
    days = [line.removeprefix("## ") for line in files["log.md"].split("\n") if line.startswith("## ")]
    assert days == sorted(days, reverse=True)


def links(text: str) -> list[str]:
    """Return the targets of links from the bundle's root."""
    return [part.partition(")")[0] for part in text.split("](/")[1:]]


def test_the_same_memory_gives_the_same_bytes(memory: Memory) -> None:
    memory.remember("Retries are capped at 3")
    memory.remember("Ask before you deploy")
    assert bundle(memory) == bundle(memory)


def test_a_person_who_accepts_is_a_verifier(memory: Memory) -> None:
    lesson = memory.remember("Ask before you deploy", trust="repository", kind="convention")
    if lesson.state != "candidate":
        lesson = memory.revise(lesson.id, trust="repository", why="x")
    memory.services.store.put(
        [replace(lesson, state="candidate", recorded_at=lesson.recorded_at + timedelta(microseconds=1))],
        {lesson.id: lesson.recorded_at},
    )
    assert front_of(*concepts(bundle(memory, states=("candidate",))).values())["status"] == "draft"
    memory.accept(lesson.id, author="Ada Lovelace")
    (entry,) = front_of(*concepts(bundle(memory)).values())["verified"]
    assert entry["by"] == "human:Ada-Lovelace"


def test_what_is_private_or_the_persons_own_or_said_in_a_session_is_not_in_it(memory: Memory) -> None:
    memory.remember("My editor is vi", scope="user", kind="preference")
    memory.remember("The staging password lives in the blue book", private=True)
    made = memory.remember("Retries are capped at 3")
    source = Provenance(session="s1", host="codex", evidence=(Evidence(event="e1", quote="never above three"),))  # type: ignore[arg-type]
    after = replace(made, provenance=source, recorded_at=made.recorded_at + timedelta(microseconds=1))
    memory.services.store.put([after], {made.id: made.recorded_at})
    text = "".join(bundle(memory).values())
    assert "Retries" in text
    assert not any(words in text for words in ("editor", "password", "never above three", "s1"))
    with_quotes = "".join(bundle(memory, with_quotes=True).values())
    assert "never above three" in with_quotes
    assert not any(words in with_quotes for words in ("editor", "password"))


def test_an_edited_concept_waits_or_revises_if_a_person_vouches(memory: Memory, tmp_path: Path) -> None:
    lesson = memory.remember("Retries are capped at 3")
    files = {path: text.replace("capped at 3", "capped at 5") for path, text in bundle(memory).items()}
    imported(memory, files, tmp_path / "bundle", accept=False)
    assert memory.get(lesson.id).insight == "Retries are capped at 3"
    assert [waiting.insight for waiting in memory.inbox()] == ["Retries are capped at 5"]
    imported(memory, files, tmp_path / "bundle")
    assert memory.get(lesson.id).insight == "Retries are capped at 5"


@pytest.mark.parametrize(("status", "state"), [("deprecated", "retired"), ("draft", "candidate")])
def test_an_edited_status_counts(memory: Memory, tmp_path: Path, status: str, state: str) -> None:
    (text,) = concepts(_with_one(memory)).values()
    stated = json.loads(read_concept(text.replace("status: stable", f"status: {status}")))
    assert stated["state"] == state
    assert "created_at" not in stated


def _with_one(memory: Memory) -> dict[str, str]:
    memory.remember("Retries are capped at 3")
    return bundle(memory)


def test_stale_after_is_the_end_of_its_validity(memory: Memory) -> None:
    made = memory.remember("Retries are capped at 3")
    until = datetime(2099, 1, 2, tzinfo=UTC)
    after = replace(
        made, validity=replace(made.validity, valid_to=until), recorded_at=made.recorded_at + timedelta(microseconds=1)
    )
    memory.services.store.put([after], {made.id: made.recorded_at})
    (text,) = concepts(bundle(memory)).values()
    assert datetime.fromisoformat(front_of(text)["stale_after"]) == until
    assert json.loads(read_concept(text))["valid_to"] == front_of(text)["stale_after"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no front matter", "no front matter"),
        ("---\ntype: Fix\n---\nx", "did not export"),
        ("---\ntype: [\nholdfast:\n  id: 1\n---\n", "not YAML"),
        ("---\nholdfast: &a\n  id: *a\n---\n", "aliases"),
        ("---\n- a\n---\n", "no keys"),
    ],
)
def test_a_concept_that_cannot_be_read_says_why(text: str, reason: str) -> None:
    with pytest.raises(InvalidValueError, match=reason):
        read_concept(text)


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    for tried in (text, f"---\nholdfast:\n  {text}\n---\n{text}"):
        with suppress(InvalidValueError):
            assert isinstance(json.loads(read_concept(tried)), dict)

"""The page of one lesson, and what a person does from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Evidence, Provenance
from holdfast.testing.builders import make_delivery, make_event, make_lesson, make_outcome
from tests.codebase import Codebase

from .site import Site, open_site, words_of

RULE = "Rows are kept by key; a second put of the same key replaces the row."


@pytest.fixture
def code(home: Path, tmp_path: Path) -> Codebase:
    return Codebase(tmp_path / "harbour")


@pytest.fixture
def memory(code: Codebase) -> Iterator[Memory]:
    with Memory(str(code.folder)) as opened:
        yield opened


@pytest.fixture
def site(memory: Memory) -> Iterator[Site]:
    with open_site(memory) as opened:
        yield opened


def said(site: Site, path: str, fields: dict[str, str] | None = None) -> str:
    """What the page says to which an action leads."""
    response = site.post(path, fields)
    assert response.status_code == 303, response.text
    return site.text(response.headers["location"])


def undo_fields(html: str) -> dict[str, str]:
    """The hidden fields of the form that undoes the last action, in the notice."""
    notice = html.partition('id="notice"')[2].partition("</div>")[0]
    return dict(re.findall(r'name="(change|withdraw)" value="([^"]*)"', notice))


# What the page says


def test_the_verdict_comes_first_then_the_code_then_and_now(site: Site, memory: Memory, code: Codebase) -> None:
    lesson = memory.remember(RULE, files=["src/store.py::Store.put"], why="callers rely on it")
    assert "Fresh. The code is as it was when this was recorded." in site.text(f"lessons/{lesson.id}")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows.setdefault(key, value)")
    code.commit("Keep the first row")
    html = site.html(f"lessons/{lesson.id}")
    text = words_of(html)
    assert "Code changed. src/store.py:Store.put: body changed" in text
    assert "“Keep the first row”. Does it still hold?" in text
    assert text.index("Code changed") < text.index("then and now") < text.index("What was said")
    assert '<tr class="removed">' in html
    assert '<tr class="added">' in html
    assert "Why: callers rely on it" in text


def test_the_page_is_json_at_the_same_address(site: Site, memory: Memory) -> None:
    lesson = memory.remember(RULE, files=["src/store.py::Store.put"])
    plain = site.json(f"lessons/{lesson.id}")
    assert plain["story"]["lesson"]["id"] == lesson.id
    assert plain["story"]["verdict"]["word"] == "Fresh"
    assert plain["story"]["code"]["sides"][0]["rows"][0]["new"] == 4
    assert plain["actions"][:2] == ["confirm", "flag"]
    assert site.get(f"lessons/{lesson.id}.json", accept="*/*").json() == site.json(f"lessons/{lesson.id}")


def test_a_quote_is_marked_within_its_conversation(site: Site, memory: Memory) -> None:
    project = memory.location.project.id
    prompt = make_event(project=project, text="Never mock the clock, it hides midnight.", key="prompt:1")
    reply = make_event(project=project, kind="reply", text="I removed the mock.", key="reply:1")
    memory.services.store.append_events([prompt, reply])
    evidence = Evidence(event=prompt.id, quote="Never mock the clock")
    source = Provenance(session=prompt.session, host="own", detector="explicit/1", evidence=(evidence,))
    lesson = make_lesson(project=project, insight="Never mock the clock in tests.", provenance=source, trust="person")
    memory.services.store.put([lesson], {})
    html = site.html(f"lessons/{lesson.id}")
    assert "<mark>Never mock the clock</mark>, it hides midnight." in html
    assert "I removed the mock." in html


def test_a_text_that_looks_like_a_page_stays_text(site: Site, memory: Memory) -> None:
    lesson = memory.remember(
        "Escape <script>alert(1)</script> and {{7*7}}", why="`<b>` is code", files=["src/store.py"]
    )
    html = site.html(f"lessons/{lesson.id}")
    assert "<script>alert" not in html
    assert "{{7*7}}" in html
    assert "<code>&lt;b&gt;</code> is code" in html


def test_lists_are_cut_with_a_link_to_all_and_the_page_stays_small(site: Site, memory: Memory, code: Codebase) -> None:
    """A rule of 4,000 characters, a definition of 400 lines, 200 deliveries in 100 sessions, 50 versions."""
    body = "\n".join(f"        self.rows[{number}] = 'a value that takes some room {number}'" for number in range(400))
    code.write("src/large.py", f"class Large:\n    def fill(self):\n{body}\n")
    code.commit("Add it")
    lesson = memory.remember("Fill in order. " + "It matters. " * 330, files=["src/large.py::Large.fill"])
    for number in range(49):
        memory.edit(lesson.id, commands=[f"make step-{number}"])
    project = memory.location.project.id
    deliveries = [
        make_delivery(lesson=lesson.id, project=project, session=f"session-{number % 100}", trigger="x" * 200)
        for number in range(200)
    ]
    judged = [
        make_outcome(lesson=lesson.id, project=project, session=f"session-{n}", judge="own/1") for n in range(100)
    ]
    memory.services.store.record([*deliveries, *judged])
    text = code.folder.joinpath("src/large.py").read_text()
    code.folder.joinpath("src/large.py").write_text(text.replace("some room", "much room"))
    html = site.html(f"lessons/{lesson.id}")
    assets = [site.get(address).content for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', html)]
    assert len(assets) >= 3
    assert len(html.encode()) + sum(map(len, assets)) < 60_000
    words = words_of(html)
    assert "92 more sessions" in words
    assert "46 more versions" in words
    assert len(site.json(f"lessons/{lesson.id}?whole=told")["story"]["sessions"]) == 100
    assert len(site.json(f"lessons/{lesson.id}?whole=history")["story"]["editions"]) == 50
    assert len(site.json(f"lessons/{lesson.id}?whole=code")["story"]["code"]["sides"][0]["rows"]) > 800
    assert site.get(f"lessons/{lesson.id}?whole=everything").status_code == 400


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("retired", "Retired. It was retired on"),
        ("forgotten", "Forgotten. It was forgotten on"),
        ("superseded", "has taken its place"),
        ("quarantined", "Suspicious. Its text speaks to the agent"),
        ("candidate", "It is unconfirmed"),
    ],
)
def test_a_lesson_that_is_not_in_use_says_why(site: Site, memory: Memory, state: str, words: str) -> None:
    lesson = memory.remember(RULE, trust="tool" if state == "candidate" else "person")
    if state == "retired":
        memory.retire(lesson.id, "numpy>=3")
        words = f"{words} "
    elif state == "forgotten":
        memory.forget(lesson.id)
    elif state == "superseded":
        memory.revise(lesson.id, insight="Rows are never replaced.")
    elif state == "quarantined":
        hidden = make_lesson(project=memory.location.project.id, state="quarantined")
        memory.services.store.put([hidden], {})
        lesson = hidden
    assert words in site.text(f"lessons/{lesson.id}")


def test_a_purged_lesson_is_not_there(site: Site, memory: Memory) -> None:
    lesson = memory.remember(RULE)
    memory.purge(lesson.id)
    for path in (f"lessons/{lesson.id}", f"lessons/{lesson.id}/edit", "lessons/deadbeef"):
        assert site.get(path).status_code == 404


def test_lessons_against_it_and_a_waiting_revision_are_named(site: Site, memory: Memory) -> None:
    lesson = memory.remember("Times are UTC in every interface.")
    memory.revise(lesson.id, insight="Times are local in every interface.", trust="agent", author="agent")
    assert "A revision of it waits: Times are local in every interface" in site.text(f"lessons/{lesson.id}")


# What a person does


def test_confirming_anchors_it_anew_and_undo_takes_exactly_that_back(
    site: Site, memory: Memory, code: Codebase
) -> None:
    lesson = memory.remember(RULE, files=["src/store.py::Store.put"])
    code.edit("src/store.py", "self.rows[key] = value", "self.rows.setdefault(key, value)")
    page = site.post(f"lessons/{lesson.id}/confirm", {"back": site.address(f"lessons/{lesson.id}")})
    html = site.html(page.headers["location"])
    assert "Confirmed: Rows are kept by key" in words_of(html)
    assert "Fresh." in words_of(html)
    memory.remember("Times are UTC")
    fields = undo_fields(html)
    assert "Undone. It is as before" in said(site, "undo", fields | {"back": site.address(f"lessons/{lesson.id}")})
    assert "Code changed." in site.text(f"lessons/{lesson.id}")
    assert "Times are UTC" in {each.title for each in memory.lessons()}


def test_the_last_change_can_be_undone_later_from_the_page(site: Site, memory: Memory) -> None:
    lesson = memory.remember(RULE)
    said(site, f"lessons/{lesson.id}/retire", {"revive_when": "numpy>=3"})
    html = site.html(f"lessons/{lesson.id}")
    assert "Undo “retired”" in words_of(html)
    change = re.search(
        r'name="change" value="([^"]+)"', html.partition("Undo “")[0].rpartition('data-action="undo"')[2]
    )
    assert change is not None
    said(site, "undo", {"change": change[1]})
    assert memory.get(lesson.id).state == "active"
    assert "Undo “" not in site.text(f"lessons/{lesson.id}")


def test_a_flag_is_shown_and_taken_back(site: Site, memory: Memory) -> None:
    lesson = memory.remember(RULE)
    back = {"back": site.address(f"lessons/{lesson.id}")}
    page = site.post(f"lessons/{lesson.id}/flag", back | {"reason": "stale", "note": "setdefault since March"})
    html = site.html(page.headers["location"])
    assert "Flagged as stale" in words_of(html)
    assert ": setdefault since March" in words_of(html)
    assert "Taken back what you said of it" in said(site, "undo", back | undo_fields(html))
    assert memory.flags(lesson.id) == []
    assert site.post(f"lessons/{lesson.id}/flag", {"reason": "ugly"}).status_code == 400


def test_a_forgotten_and_a_retired_lesson_are_restored(site: Site, memory: Memory) -> None:
    lesson = memory.remember(RULE)
    said(site, f"lessons/{lesson.id}/forget")
    html = site.html(f"lessons/{lesson.id}")
    assert "A forgotten lesson" in words_of(html)
    change = re.search(r'name="change" value="([^"]+)"', html.partition("/restore")[2])
    assert change is not None
    assert "Restored" in said(site, f"lessons/{lesson.id}/restore", {"change": change[1]})
    assert memory.get(lesson.id).insight == RULE
    memory.retire(lesson.id)
    said(site, f"lessons/{lesson.id}/restore")
    assert memory.get(lesson.id).state == "active"


def test_confirming_a_waiting_lesson_accepts_it(site: Site, memory: Memory) -> None:
    lesson = memory.remember(RULE, trust="tool")
    said(site, f"lessons/{lesson.id}/confirm")
    assert memory.get(lesson.id).state == "active"


# Editing


def form(site: Site, ref: str) -> dict[str, str]:
    """The fields of the page for editing, as a browser would send them unchanged."""
    plain = site.json(f"lessons/{ref}/edit")["form"]
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in plain.items() if value}


def test_changed_words_make_a_successor_and_nothing_changed_makes_nothing(site: Site, memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3.", kind="constraint")
    fields = form(site, lesson.id)
    assert "Nothing was changed" in said(site, f"lessons/{lesson.id}/edit", fields)
    text = said(
        site,
        f"lessons/{lesson.id}/edit",
        fields | {"insight": "Retries are capped at 5.\r\nNot more.", "title": "", "commands": "make retry\r\n\r\n"},
    )
    assert "Saved: Retries are capped at 5" in text
    [new] = memory.lessons()
    assert (new.insight, new.when.commands, new.links[0].target) == (
        "Retries are capped at 5.\nNot more.",
        ("make retry",),
        lesson.id,
    )
    assert "replaced Retries are capped at 3" in site.text(f"lessons/{new.id}")


def test_a_title_that_still_fits_stays_and_one_that_does_not_is_made_anew(site: Site, memory: Memory) -> None:
    lesson = memory.remember(
        "Retries to the carrier are capped at 3.", title="Retries are capped at 3", kind="constraint"
    )
    said(
        site,
        f"lessons/{lesson.id}/edit",
        form(site, lesson.id) | {"insight": "Retries to the carrier are capped at 3 a minute."},
    )
    [new] = memory.lessons()
    assert new.title == "Retries are capped at 3"
    said(site, f"lessons/{new.id}/edit", form(site, new.id) | {"insight": "Retries to the carrier are capped at 5."})
    assert "5" in memory.lessons()[0].title


def test_only_conditions_change_the_lesson_itself(site: Site, memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3.")
    fields = form(site, lesson.id)
    fields.pop("standing", "")
    said(site, f"lessons/{lesson.id}/edit", fields | {"literals": "range(RETRIES"})
    now = memory.get(lesson.id)
    assert (now.state, now.when.literals, now.when.standing) == ("active", ("range(RETRIES",), False)


def test_what_cannot_be_saved_comes_back_with_what_was_typed(site: Site, memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3.")
    answer = site.post(f"lessons/{lesson.id}/edit", form(site, lesson.id) | {"why": "my long reason", "literals": "x"})
    assert answer.status_code == 422
    assert "Occurs in almost any text" in words_of(answer.text) or "almost any text" in words_of(answer.text)
    assert "my long reason" in answer.text
    assert memory.get(lesson.id).why == ""


def test_a_change_by_somebody_else_meanwhile_is_shown_beside_and_nothing_is_lost(site: Site, memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3.", why="the gateway bans us")
    fields = form(site, lesson.id)
    theirs = memory.revise(lesson.id, insight="Retries are capped at 4.")
    mine = fields | {"insight": "Retries are capped at 5.", "title": ""}
    answer = site.post(f"lessons/{lesson.id}/edit", mine)
    assert answer.status_code == 409
    text = words_of(answer.text)
    assert "Somebody changed this lesson while you were writing." in text
    assert "Retries are capped at 4." in text
    assert "Retries are capped at 5." in answer.text
    assert "autofocus" not in answer.text, "the message stays in sight"
    again = re.search(r'name="version" value="([^"]+)"', answer.text)
    assert again is not None
    assert f"/lessons/{theirs.id}/edit" in answer.text
    said(site, f"lessons/{theirs.id}/edit", mine | {"version": again[1]})
    [now] = memory.lessons()
    assert (now.insight, now.why) == ("Retries are capped at 5.", "the gateway bans us")


# Deciding a contradiction


def test_a_contradiction_is_decided_on_the_page_and_undone(site: Site, memory: Memory) -> None:
    lesson = memory.remember("The dev server listens on port 8080.", trust="agent")
    other = memory.remember("The dev server listens on port 9090.", trust="agent")
    html = site.html(f"lessons/{lesson.id}")
    assert "Contradicted. One that waits says otherwise. Which one holds?" in words_of(html)
    back = {"back": site.address(f"lessons/{lesson.id}")}
    page = site.post("review/settle", back | {"lesson": lesson.id, "over": other.id})
    html = site.html(page.headers["location"])
    assert "Kept: The dev server listens on port 8080" in words_of(html)
    assert memory.get(other.id).state == "superseded"
    said(site, "undo", back | undo_fields(html))
    assert "Contradicted." in site.text(f"lessons/{lesson.id}")
    said(site, "review/keep-both", back | {"lesson": lesson.id, "other": other.id})
    assert "Contradicted." not in site.text(f"lessons/{lesson.id}")


def test_who_edits_a_replaced_lesson_edits_the_one_in_force(site: Site, memory: Memory) -> None:
    old = memory.remember("Retries are capped at 3.")
    new = memory.revise(
        memory.revise(old.id, insight="Retries are capped at 4.").id, insight="Retries are capped at 5."
    )
    assert site.json(f"lessons/{old.id}/edit")["lesson"]["id"] == new.id
    assert f"/lessons/{new.id}/edit" in site.html(f"lessons/{old.id}/edit")


def test_a_replaced_lesson_is_shown_as_replaced_beside_its_successor(site: Site, memory: Memory) -> None:
    old = memory.remember("Retries are capped at 3.")
    new = memory.revise(old.id, insight="Retries are capped at 5.")
    [related] = site.json(f"lessons/{new.id}")["story"]["related"]
    assert (related["relation"], related["state"]) == ("replaced", "superseded")

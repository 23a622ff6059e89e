"""The pages as files: relative links, no form, no script, and nothing that is not for others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser

from holdfast import Memory
from holdfast.domain.lesson import Evidence, Provenance
from holdfast.errors import HoldfastError
from holdfast.pages import staticsite
from holdfast.pages.staticsite import Publishing, make_site
from tests.browser import tab
from tests.demomemory import DemoMemory, make_demo
from tests.pages.site import words_of
from tests.surfaces.terminal import run

SECRETS = {
    "private": "The staging password is written in the blue notebook",
    "own": "I want every answer in at most three short sentences",
    "waiting": "Somebody says that the tax service may be called twice",
    "branch": "The half finished lookup of depots is off for now",
    "quote": "well I told you yesterday that the clock is wrong again",
}
"""Words that are on no site, by why."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoMemory:
    made = make_demo(tmp_path_factory.mktemp("site"))
    with made.open() as memory:
        memory.remember(SECRETS["private"], private=True)
        memory.remember(SECRETS["own"], scope="user", kind="preference")
        memory.remember(SECRETS["waiting"], trust="tool")
        staged = memory.remember(SECRETS["branch"])
        quoted = memory.remember("Seed the clock before <script>alert(1)</script> login tests")
        source = Provenance(session="s-1", host="codex", evidence=(Evidence(event="e-1", quote=SECRETS["quote"]),))  # type: ignore[arg-type]
        for before, after in (
            (staged, replace(staged, scope=replace(staged.scope, branch="depots"))),
            (quoted, replace(quoted, provenance=source)),
        ):
            changed = replace(after, recorded_at=before.recorded_at + timedelta(microseconds=1))
            memory.services.store.put([changed], {before.id: before.recorded_at})
    return made


@pytest.fixture
def memory(demo: DemoMemory) -> Iterator[Memory]:
    with demo.open() as opened:
        yield opened


def files_of(memory: Memory, **how: bool) -> dict[str, str]:
    """Return the pages of the site by path."""
    made = make_site(memory, Publishing(**how))
    return {path: content.decode() for path, content in made if path.endswith(".html")}


def test_what_is_not_for_others_is_on_no_page(memory: Memory) -> None:
    pages = files_of(memory)
    text = "\n".join(words_of(page) for page in pages.values())
    assert "Seed the clock before" in text
    assert not [why for why, words in SECRETS.items() if words in text]
    prompts = {event.text for _, event in _events(memory) if event.kind == "prompt" and len(event.text) > 25}
    lessons = "\n".join(lesson.insight for lesson in memory.lessons())
    assert prompts
    assert not [prompt for prompt in prompts if prompt in text and prompt not in lessons]


def _events(memory: Memory) -> list[tuple[int, object]]:
    from holdfast.ports.store import EventFilter

    return list(memory.services.store.find_events(EventFilter(project=memory.location.project.id, limit=10_000)))


def test_what_sessions_said_is_there_if_it_is_asked_for(memory: Memory) -> None:
    with_sessions = files_of(memory, with_sessions=True)
    text = "\n".join(words_of(page) for page in with_sessions.values())
    assert SECRETS["quote"] in text
    assert not [why for why in ("private", "own", "waiting", "branch") if SECRETS[why] in text]
    assert len(with_sessions) > len(files_of(memory))


def test_pages_have_relative_links_and_no_form_and_no_script(memory: Memory) -> None:
    files = dict(make_site(memory, Publishing()))
    for path, content in files.items():
        if not path.endswith(".html"):
            continue
        html = content.decode()
        assert not re.search(r"<(form|script|button|input|dialog)\b", html), path
        assert not re.search(r"""(?:href|src|action)=["'](?:/|https?:|javascript:|//)""", html), path
        for link in re.findall(r'(?:href|src)="([^"#]+)', html):
            target = (Path("/") / path).parent / unquote(link.partition("?")[0])
            assert str(Path(re.sub(r"[^/]+/\.\./", "", str(target)))).lstrip("/") in files, (path, link)
    assert ".nojekyll" in files
    assert {path for path in files if path.startswith("static/")} >= {path for path in files if path.endswith(".css")}


def test_the_words_of_a_private_lesson_are_left_out_of_what_sessions_said(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staticsite, "_hidden_words", lambda memory, lessons: [SECRETS["quote"]])
    text = "\n".join(words_of(page) for page in files_of(memory, with_sessions=True).values())
    assert SECRETS["quote"] not in text
    assert "[private]" in text


def test_private_and_own_lessons_are_what_no_page_may_hold(memory: Memory) -> None:
    words = staticsite._hidden_words(memory, [])
    assert {SECRETS["private"], SECRETS["own"]} <= set(words)
    assert not {SECRETS["waiting"], SECRETS["branch"]} & set(words), "these are left out, and are no secret"


def test_the_same_memory_gives_the_same_bytes(memory: Memory) -> None:
    assert dict(make_site(memory, Publishing())) == dict(make_site(memory, Publishing()))


def test_many_lessons_are_listed_by_folder_on_pages_of_their_own(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staticsite, "LIST_ROWS", 3)
    pages = files_of(memory)
    lists = [path for path in pages if path.startswith("lists/")]
    assert len(lists) > 3
    listed = {name for path in lists for name in re.findall(r'href="\.\./lessons/([^"]+)\.html"', pages[path])}
    assert listed == {path[8:-5] for path in pages if path.startswith("lessons/")}


def test_what_is_linked_and_gone_has_a_page_that_says_so(memory: Memory) -> None:
    lesson = memory.remember("Depots are numbered from one", files=["gone.py", "README.md"])
    site = staticsite._Site(memory, Publishing(), [lesson])
    path = site._addresses.path_of("map", {"area": "no/such/folder"})
    pages = dict(site.pages())
    assert "no folder no/such/folder" in words_of(pages[path])
    memory.forget(lesson.id)


def test_a_page_that_would_tell_a_hidden_lesson_is_never_written(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staticsite, "_hidden_words", lambda memory, lessons: ["Seed the clock before"])
    with pytest.raises(HoldfastError, match="would hold the words of a lesson that is not for others"):
        files_of(memory)


def test_the_command_writes_a_folder_and_says_where_to_look(demo: DemoMemory, tmp_path: Path) -> None:
    answer = run("-C", str(demo.work_tree), "export", "--format", "html", str(tmp_path / "out"))
    if answer.exit_code == 2:  # -C belongs to the command
        answer = run("export", "-C", str(demo.work_tree), "--format", "html", str(tmp_path / "out"))
    assert answer.exit_code == 0, answer.output
    assert "index.html" in answer.stderr
    assert (tmp_path / "out" / "index.html").exists()
    refused = run("export", "-C", str(demo.work_tree), "--format", "okf", str(tmp_path / "out"))
    assert refused.exit_code == 1
    assert "did not write" in refused.stderr


@pytest.mark.parametrize(("width", "is_dark"), [(360, True), (1024, False), (1920, False)])
def test_a_browser_opens_the_files_and_asks_for_nothing_else(
    memory: Memory, tmp_path: Path, browser: Browser, width: int, is_dark: bool
) -> None:
    for path, content in make_site(memory, Publishing()):
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    lesson = sorted((tmp_path / "lessons").iterdir())[0]
    with tab(browser, width=width, dark=is_dark, script=False) as opened:
        for page in (tmp_path / "index.html", tmp_path / "search.html", tmp_path / "map.html", lesson):
            opened.page.goto(page.as_uri())
            assert opened.page.locator("h1").count() == 1
            assert not opened.is_too_wide(), page
        opened.page.goto((tmp_path / "index.html").as_uri())
        opened.page.click("nav >> text=Lessons")
        opened.page.click(".row a >> nth=0")
        assert "/lessons/" in opened.page.url
        assert not opened.trouble

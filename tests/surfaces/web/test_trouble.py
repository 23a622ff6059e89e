"""What goes wrong is a page with words and a hint, and JSON for programs: locked, full, another schema, unknown."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.errors import (
    HoldfastError,
    IllegalTransitionError,
    LessonNotFoundError,
    NotFoundError,
    RateLimitedError,
    SchemaTooNewError,
    SchemaTooOldError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from holdfast.pages.addresses import fill
from holdfast.pages.table import PAGES
from holdfast.surfaces.web.trouble import KINDS, error_data
from tests.codebase import Codebase
from tests.pages.site import Site, open_site

pytestmark = pytest.mark.needs_file("a lock on a file, and a limit on its size")


@pytest.fixture
def impatient(home: Path, tmp_path: Path) -> Iterator[Site]:
    """The pages of a memory that waits for no other process."""
    with (
        Memory(str(Codebase(tmp_path / "harbour").folder), brief=True, wait_s=0.1) as memory,
        open_site(memory) as site,
    ):
        yield site


def test_a_page_is_read_while_another_process_writes_and_a_change_says_so(impatient: Site, home: Path) -> None:
    lesson = impatient.memory.remember("Retries are capped at three.")
    with closing(sqlite3.connect(home / "memory.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "Retries are capped at three" in impatient.text()
        answer = impatient.post(f"lessons/{lesson.id}/retire")
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "2"
        assert "The memory is busy" in answer.text
        assert "Nothing was lost" in answer.text
        problem = impatient.post(f"lessons/{lesson.id}/retire", accept="application/json")
        assert (problem.status_code, problem.json()["is_passing"]) == (503, True)
        other.execute("ROLLBACK")
    assert impatient.post(f"lessons/{lesson.id}/retire").status_code == 303
    assert impatient.memory.get(lesson.id).state == "retired"


NO_ROOM = """
import json, os, resource, sys
from holdfast import Memory
from tests.pages.site import open_site
folder, lesson = sys.argv[1:]
with Memory(folder, brief=True) as memory, open_site(memory) as site:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    page, change = site.get(), site.post(f"lessons/{lesson}/retire")
    os.write(1, json.dumps([page.status_code, change.status_code, change.text]).encode())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_full_disk_is_named_and_pages_are_still_read(home: Path, tmp_path: Path) -> None:
    folder = str(Codebase(tmp_path / "harbour").folder)
    with Memory(folder) as memory:
        lesson = memory.remember("Retries are capped at three.")
    here = {**os.environ, "PYTHONPATH": os.getcwd()}
    ran = subprocess.run([sys.executable, "-c", NO_ROOM, folder, lesson.id], capture_output=True, env=here, check=False)
    assert ran.returncode == 0, ran.stderr
    page, change, text = json.loads(ran.stdout)
    assert (page, change) == (200, 507), text
    assert "The disk is full" in text
    assert "Nothing was written" in text


def test_a_memory_of_a_newer_holdfast_is_refused_in_words(home: Path, tmp_path: Path) -> None:
    folder = str(Codebase(tmp_path / "harbour").folder)
    with Memory(folder) as memory:
        memory.remember("Retries are capped at three.")
    with closing(sqlite3.connect(home / "memory.db")) as sql:
        sql.execute("PRAGMA user_version = 9999")
        sql.commit()
    command = [sys.executable, "-m", "holdfast", "ui", "-C", folder, "--no-open"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 1
    assert "error:" in ran.stderr
    assert "hint:" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    "kind", [kind for kind, _ in KINDS if kind is not HoldfastError], ids=lambda kind: kind.__name__
)
def test_every_error_has_a_heading_and_something_to_do_or_its_own_words(kind: type[Exception]) -> None:
    error = next(known for cls, known in KINDS if cls is kind)
    assert error.title[0].isupper()
    assert not error.title.endswith(".")
    assert 400 <= error.status < 600
    assert error.is_passing <= (error.status in (429, 503))


@pytest.mark.parametrize(
    ("error", "status", "is_passing", "command"),
    [
        (StoreLockedError("/home/ada/memory.db is locked"), 503, True, ""),
        (StoreUnavailableError("db.internal:5432 refuses"), 503, True, ""),
        (SchemaTooOldError("/home/ada/memory.db has schema 3"), 503, False, "holdfast status"),
        (SchemaTooNewError("/home/ada/memory.db has schema 99"), 503, False, "pip install --upgrade holdfast-memory"),
        (StoreFullError("/home/ada is full"), 507, False, ""),
        (StoreReadOnlyError("/home/ada cannot be written"), 503, False, "holdfast doctor"),
        (StoreCorruptError("/home/ada/memory.db is damaged"), 500, False, "holdfast doctor"),
        (StoreError("/home/ada/memory.db"), 503, False, "holdfast doctor"),
        (LessonNotFoundError("no lesson zz12"), 404, False, ""),
        (RateLimitedError("too many", retry_after_s=7), 429, True, ""),
        (ZeroDivisionError("secret words"), 500, False, "holdfast doctor --report"),
    ],
)
def test_errors_say_what_to_do_and_a_server_names_no_file(
    error: Exception, status: int, is_passing: bool, command: str
) -> None:
    own, served = error_data(error, is_served=False), error_data(error, is_served=True)
    assert (own.status, own.is_passing, own.command) == (status, is_passing, command)
    assert served.command == ""
    assert "/home/ada" not in served.detail + served.hint
    assert "db.internal" not in served.detail
    assert "secret" not in own.detail + served.detail
    if isinstance(error, StoreError) and command == "":
        assert own.hint


def test_an_unknown_lesson_is_a_page(site: Site) -> None:
    answer = site.get("lessons/00000000-0000-7000-8000-000000000000")
    assert answer.status_code == 404
    assert "There is no such lesson" in answer.text
    assert site.get("lessons/zzzz").status_code == 404


def test_every_page_answers_while_the_code_index_is_written(impatient: Site, home: Path) -> None:
    memory, root = impatient.memory, Path(impatient.memory.folder)
    lesson = memory.remember("Stores keep a value.", files=["src/store.py"], symbols=["Store.put"])
    memory.verify()
    (root / "src/store.py").write_text((root / "src/store.py").read_text("utf-8").replace("put", "place"), "utf-8")
    (index,) = (home / "index").glob("*.db")
    with closing(sqlite3.connect(index, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for row in PAGES:
            names = set(re.findall(r"\{(\w+)\}", row.path))
            if names <= {"project", "lesson"} and not row.is_served_only:
                values = {"project": impatient.project, "lesson": lesson.id}
                answer = impatient.get(fill(row.path, {name: values[name] for name in names})[0])
                assert answer.status_code in (200, 303), f"{row.name}: {answer.text}"
        other.execute("ROLLBACK")


def test_a_command_as_a_hint_is_shown_as_a_command_to_whoever_has_a_command_line() -> None:
    error = NotFoundError("no session zz", hint="holdfast sessions")
    assert error_data(error, is_served=False).hint == "On the command line: `holdfast sessions`."
    assert error_data(error, is_served=True).hint == ""
    known = LessonNotFoundError("no lesson zz", hint="holdfast list --state all")
    assert error_data(known, is_served=False).hint.startswith("Search for its words")


def test_a_state_has_the_word_that_the_pages_have_for_it() -> None:
    error = IllegalTransitionError("lesson 373d495e does not wait for review: it is superseded")
    assert error_data(error, is_served=False).detail == "Lesson 373d495e does not wait for review: it is replaced."


def test_a_form_that_fails_has_a_link_to_its_page(site: Site, memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3")
    memory.forget(lesson.id)
    page = site.address(f"lessons/{lesson.id}")
    answer = site.post(f"lessons/{lesson.id}/confirm", referer=f"http://127.0.0.1{page}")
    assert answer.status_code == 409
    assert f'<a href="{page}">Back to the page</a>' in answer.text
    assert "Holdfast show" not in answer.text

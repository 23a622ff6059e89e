"""Files of no language: known only as a whole, and judged as a whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.codeindex.source import outline
from holdfast.domain.lesson import Anchor
from holdfast.rendering.verdicts import verdict_words
from tests.codeindex.mutations import Ground, environment

FILES = {
    "Dockerfile": "FROM debian:12\nRUN apt-get update\n",
    ".github/workflows/ci.yml": "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n",
    "docs/howto.md": "# How to\n\nRun `make check`.\n",
    "db/schema.sql": "CREATE TABLE orders (\n  id integer PRIMARY KEY\n);\n",
    "Makefile": "check:\n\tpytest\n",
    "config.toml": "[server]\nport = 80\n",
    "NOTES": "text without an end to its name\n",
    "image.png": "\x89PNG\r\n\x00\x01",
}


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    for name in [name for name in os.environ if name.startswith("GIT_") and "CONFIG" not in name]:
        monkeypatch.delenv(name)
    (tmp_path / "ground").mkdir()
    ground = Ground(tmp_path / "ground")
    ground.write(FILES)
    ground.commit()
    return ground


def words(ground: Ground, anchors: list[Anchor]) -> list[str]:
    """Each anchor's state, and why, in words."""
    verdicts = map(ground.verdict, anchors)
    return [f"{verdict.freshness}: {verdict_words(verdict)}" for verdict in verdicts]


@pytest.mark.parametrize("path", FILES)
def test_a_file_of_no_language_has_an_outline_without_symbols(path: str) -> None:
    outlined = outline(path, FILES[path].encode("latin-1"))
    assert (outlined.language, outlined.symbols, outlined.note) == ("", (), "")
    assert outlined.blob.startswith("git1:")


def test_a_lesson_on_such_a_file_is_about_the_whole_of_it(ground: Ground) -> None:
    for path in FILES:
        anchors = ground.code.anchors(ground.location, path, ["check"], (1, 2))
        assert [(anchor.path, anchor.symbol) for anchor in anchors] == [(path, "")]
        assert ground.verdict(anchors[0]).freshness == "fresh"


def test_any_change_makes_it_drift_until_it_is_taken_back(ground: Ground) -> None:
    anchors = [ground.anchor(path) for path in FILES]
    ground.write({path: text + "more\n" for path, text in FILES.items()})
    assert words(ground, anchors) == [f"drifted: {path} changed since" for path in FILES]
    ground.write(FILES)
    assert words(ground, anchors) == ["fresh: "] * len(FILES)


def test_a_committed_rename_is_followed(ground: Ground) -> None:
    anchors = [ground.anchor(path) for path in FILES]
    for path in FILES:
        ground.git("mv", path, f"{path}.moved")
    ground.commit()
    assert words(ground, anchors) == [f"moved: moved to {path}.moved" for path in FILES]


def test_a_file_that_is_gone_leaves_an_orphan(ground: Ground) -> None:
    anchors = [ground.anchor(path) for path in FILES]
    ground.write(dict.fromkeys(FILES))
    assert words(ground, anchors) == [f"orphaned: {path} is gone" for path in FILES]


def test_a_folder_in_its_place_is_not_judged(ground: Ground) -> None:
    anchor = ground.anchor("Makefile")
    ground.write({"Makefile": None, "Makefile/part.mk": "check:\n"})
    assert ground.verdict(anchor).freshness == "unverified"


def test_a_source_file_as_a_whole_is_fresh_while_only_comments_change(ground: Ground) -> None:
    ground.write({"bin/run.sh": "run() {\n  echo 1 # one\n}\n"})
    ground.commit()
    anchor = ground.anchor("bin/run.sh")
    ground.write({"bin/run.sh": "# runs\nrun() {\n    echo 1\n}\n"})
    assert ground.verdict(anchor).freshness == "fresh"
    ground.write({"bin/run.sh": "run() {\n  echo 2\n}\n"})
    assert ground.verdict(anchor).freshness == "drifted"

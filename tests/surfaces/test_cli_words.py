"""What people read names no ids of ours and says which value is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast import Memory, plugins
from holdfast.domain.lesson import Provenance
from holdfast.errors import InvalidValueError
from holdfast.rendering.origins import FINDERS, found_by
from holdfast.testing.builders import make_lesson
from tests.surfaces.terminal import run, told


@pytest.fixture(autouse=True)
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder we are in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_detector_has_words() -> None:
    assert set(plugins.builtin_names("detectors")) <= set(FINDERS)
    assert found_by("their_detector/3") == "their detector"


def test_show_and_why_name_the_detector_in_words(project: Path) -> None:
    with Memory(str(project)) as memory:
        lesson = replace(
            make_lesson(project=memory.location.project.id, topic_key="import:315e4d6a"),
            provenance=Provenance(detector="fail_fix/1"),
        )
        memory.services.store.put([lesson], {})
    shown = told("show", lesson.id)
    assert "a failure and its fix" in shown
    assert "learnt from a failure and its fix" in told("why", lesson.id)
    for text in (shown, told("why", lesson.id)):
        assert "fail_fix/1" not in text
        assert "import:" not in text


def test_an_embedder_without_its_model_says_what_to_type() -> None:
    assert "hint: add model=VALUE to the command" in run("embedder", "use", "ollama").stderr


def test_the_sdk_refuses_what_is_no_text_in_words(project: Path) -> None:
    with Memory(str(project)) as memory:
        with pytest.raises(InvalidValueError, match="text must be a text, not NoneType"):
            memory.recall(None)  # type: ignore[arg-type]
        with pytest.raises(InvalidValueError, match="id must be a text"):
            memory.get(None)  # type: ignore[arg-type]
        assert repr(memory) == f"Memory({str(project)!r})"

from __future__ import annotations

import importlib.util
import os
import py_compile
import sys
from pathlib import Path

import pytest

from holdfast.surfaces.hooks import finder

OURS = "holdfast.made_up"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    finder.install()
    assert sys.meta_path[0] is finder.Finder
    return tmp_path


def compiled(folder: Path, text: str, mode: py_compile.PycInvalidationMode) -> Path:
    source = folder / "made_up.py"
    source.write_text(text)
    py_compile.compile(str(source), invalidation_mode=mode, doraise=True)
    return source


def test_a_compiled_module_is_found_and_run(folder: Path) -> None:
    source = compiled(folder, "kept = __name__\n", py_compile.PycInvalidationMode.TIMESTAMP)
    spec = finder.Finder.find_spec(OURS, [str(folder)])
    assert (spec.origin, spec.name) == (str(source), OURS)
    module = type(sys)(OURS)
    module.__spec__ = spec
    finder.Finder.exec_module(module)
    assert module.kept == OURS


def test_a_module_larger_than_one_read_is_found_whole(folder: Path) -> None:
    text = "long = " + repr("x" * (2 * finder.PART)) + "\nkept = 1\n"
    source = compiled(folder, text, py_compile.PycInvalidationMode.TIMESTAMP)
    spec = finder.Finder.find_spec(OURS, [str(folder)])
    assert spec.cached == importlib.util.cache_from_source(str(source))
    module = type(sys)(OURS)
    module.__spec__ = spec
    finder.Finder.exec_module(module)
    assert (len(module.long), module.kept) == (2 * finder.PART, 1)


def test_a_package_is_found_with_its_folder(folder: Path) -> None:
    (folder / "made_up").mkdir()
    (folder / "made_up" / "__init__.py").write_text("")
    py_compile.compile(str(folder / "made_up" / "__init__.py"), doraise=True,
                       invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)  # fmt: skip
    spec = finder.Finder.find_spec(OURS, [str(folder)])
    assert spec.submodule_search_locations == [str(folder / "made_up")]


def test_a_source_changed_since_is_left_to_the_usual_finder(folder: Path) -> None:
    source = compiled(folder, "kept = 1\n", py_compile.PycInvalidationMode.TIMESTAMP)
    source.write_text("kept = 22\n")
    assert finder.Finder.find_spec(OURS, [str(folder)]) is None
    compiled(folder, "kept = 1\n", py_compile.PycInvalidationMode.TIMESTAMP)
    os.utime(source, (1, 1))
    assert finder.Finder.find_spec(OURS, [str(folder)]) is None


def test_what_is_not_compiled_by_time_and_size_is_left_to_the_usual_finder(folder: Path) -> None:
    (folder / "made_up.py").write_text("kept = 1\n")
    assert finder.Finder.find_spec(OURS, [str(folder)]) is None
    compiled(folder, "kept = 1\n", py_compile.PycInvalidationMode.CHECKED_HASH)
    assert finder.Finder.find_spec(OURS, [str(folder)]) is None


def test_a_compiled_file_that_was_cut_off_is_left_to_the_usual_finder(folder: Path) -> None:
    compiled(folder, "kept = 1\n", py_compile.PycInvalidationMode.TIMESTAMP)
    (cut,) = (folder / "__pycache__").iterdir()
    cut.write_bytes(cut.read_bytes()[:7])
    assert finder.Finder.find_spec(OURS, [str(folder)]) is None


def test_modules_of_others_are_none_of_its_business(folder: Path) -> None:
    assert finder.Finder.find_spec("json", None) is None
    assert finder.Finder.find_spec("other.module", [str(folder)]) is None
    assert finder.Finder.find_spec("holdfast", None) is None

"""The examples of the Python pages run as they stand."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "sdk.md"


def test_the_examples_of_the_python_page_print_what_it_says(
    home: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ledger.parent)
    examples = doctest.DocTestParser().get_doctest(
        PAGE.read_text(encoding="utf-8").replace("```", ""), {}, PAGE.name, str(PAGE), 0
    )
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    outcome = runner.run(examples, out=printed.append)
    assert outcome.attempted > 10
    assert not outcome.failed, "".join(printed)


def test_the_example_of_the_readme_runs(home: Path, ledger: Path) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    code = block.replace("path/to/repository", str(ledger))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=180)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Amounts are whole cents, never floats" in done.stdout


def test_every_public_name_is_there_and_another_home_is_another_memory(tmp_path: Path, ledger: Path) -> None:
    assert all(hasattr(holdfast, name) for name in holdfast.__all__)
    with holdfast.open_memory(str(ledger), home=str(tmp_path / "first")) as memory:
        memory.remember("Amounts are whole cents")
    with holdfast.open_memory(str(ledger), home=str(tmp_path / "second")) as memory:
        assert memory.lessons() == []
    with holdfast.open_memory(str(ledger), home=str(tmp_path / "first")) as memory:
        assert [lesson.insight for lesson in memory.lessons()] == ["Amounts are whole cents"]

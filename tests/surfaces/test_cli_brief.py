"""`holdfast brief`: what an agent is told here, printed as a hook delivers it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from tests.surfaces.terminal import run, told, told_json

TAG = "Release tags are cut from stable."
QUESTION = "How do I cut a release tag?"


@pytest.fixture(autouse=True)
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "harbour"
    folder.mkdir()
    (folder / "tides.py").write_text("HIGH = 4\n")
    monkeypatch.chdir(folder)
    return folder


def remember_all() -> None:
    with Memory(".") as memory:
        memory.remember(TAG)
        memory.remember("High water is kept in centimetres.", kind="constraint", files=["tides.py"])
        gauge = memory.remember("Start the tide gauge first.", kind="fix")
        memory.edit(gauge.id, commands=["make tides"])
        memory.save_checkpoint("chart the basin", session=SessionId("before"))


def delivered(project: Path, *calls: HookCall) -> list[str]:
    """Return what hooks deliver at those calls of one session."""
    with Memory(str(project)) as memory:
        return [memory.inject(call).text for call in calls]


def test_the_brief_is_what_hooks_deliver_and_nothing_is_logged(project: Path) -> None:
    remember_all()
    printed = told("brief", "--prompt", QUESTION, "--file", "tides.py", "--command", "make tides")
    with Memory(str(project)) as memory:
        assert memory.log() == []
    start = HookCall(host="", name="Hook", session=SessionId("s1"), cwd=str(project), moment="session_start")
    texts = delivered(
        project,
        start,
        replace(start, moment="prompt", prompt=QUESTION),
        replace(start, moment="before_file", paths=("tides.py",)),
        replace(start, moment="before_command", command="make tides"),
    )
    assert printed == "".join(f"{text}\n" for text in texts if text)
    assert "goal: chart the basin" in texts[0]
    assert TAG in texts[0]


def test_a_folder_about_which_nothing_is_known_is_reported_nothing() -> None:
    result = run("brief")
    assert (result.stdout, result.exit_code) == ("", 0)
    assert result.stderr == "start: 0 lines, 0 tokens\nNothing is told.\n"


def test_why_says_what_each_line_is_worth_and_what_was_left_out() -> None:
    with Memory(".") as memory:
        for number in range(200):
            memory.remember(f"Basin{number} of captain{number} wants chart{number}.", kind="decision")
    lines = told("brief", "--why").splitlines()
    assert lines[lines.index("</holdfast-memory>") + 1].startswith("  1  ")
    left_out = next(line for line in lines if line.startswith("left out, best first ("))
    assert int(left_out.partition("(")[2].split()[0]) > 10
    assert "title of the brief" in lines[-1]


def test_json_has_each_moment_with_its_text_and_entries() -> None:
    remember_all()
    moments = told_json("brief", "--prompt", "what is the capital of Portugal?")["moments"]
    assert [moment["moment"] for moment in moments] == ["session_start", "prompt"]
    assert len(moments[0]["entries"]) == 3
    assert moments[0]["text"].startswith("<holdfast-memory>\n")
    assert (moments[1]["text"], moments[1]["items"]) == ("", [])


def test_the_prompt_is_read_from_stdin_and_an_unknown_host_is_named() -> None:
    with Memory(".") as memory:
        memory.remember(TAG, kind="decision")
        told_json("brief")
        for number in range(150):
            memory.remember(f"Basin{number} of captain{number} wants chart{number}.", kind="decision")
    assert TAG in told("brief", "--prompt", "-", typed=QUESTION.encode())
    unknown = run("brief", "--for", "nowhere")
    assert unknown.exit_code == 1
    assert "nowhere" in unknown.stderr
    assert run("brief", "--prompt", "a\0b'\"; --", "--file", "../../etc/passwd").exit_code == 0

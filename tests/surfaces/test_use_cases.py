"""What the command line does can be called without it: by the SDK, by another surface."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.backfill.importing import ImportRequest, ImportRun
from holdfast.backfill.loading import SessionLocations
from holdfast.backfill.run import TranscriptRun, load_hosts
from holdfast.bootstrap import Memory
from holdfast.errors import InvalidValueError, PluginNotFoundError
from holdfast.installing.rulesync import RulesRequest, open_rules_planner
from holdfast.installing.setup import Removal, Setup
from holdfast.settings import load_settings
from tests.hosts.golden import ROOT as GOLDEN
from tests.surfaces.test_backfill import Machine


@pytest.fixture
def machine(home: Path) -> Machine:
    return Machine(home.parent)


def test_transcripts_are_read_without_the_command_line(machine: Machine) -> None:
    machine.transcript("one", "first", "second")
    with Memory(str(machine.shop)) as memory:
        run = TranscriptRun(load_hosts(load_settings()), SessionLocations(memory))
        assert run.everywhere(str(machine.home), str(machine.shop))
    assert (run.total().files, run.total().sessions) == (1, 1)
    assert sorted(machine.prompts()) == ["first", "second"]


def test_a_guess_at_the_host_is_shown_to_the_caller(machine: Machine) -> None:
    golden = GOLDEN / "copilot_cli" / "transcript_of_a_session" / "transcript.jsonl"
    file = machine.home / "moved.jsonl"
    file.write_text(golden.read_text("utf-8").replace('"producer": "copilot-agent", ', ""), "utf-8")
    guesses: list[tuple[str, str]] = []
    with Memory(str(machine.shop)) as memory:
        run = TranscriptRun(load_hosts(load_settings()), SessionLocations(memory, str(machine.shop)))
        assert run.at([str(file)], str(machine.home), lambda path, host: guesses.append((path, host)))
    assert guesses == [(str(file), "copilot-cli")]


def test_other_tools_files_are_imported_without_the_command_line(machine: Machine) -> None:
    (machine.shop / "AGENTS.md").write_text("# Rules\n\n- Use the real database in tests\n", "utf-8")
    read: list[None] = []
    with Memory(str(machine.shop)) as memory:
        outcome = ImportRun(memory, ImportRequest(os.path.join(machine.shop, "AGENTS.md"))).run(
            on_read=lambda: read.append(None)
        )
    assert [step.verb for step in outcome.steps] == ["added"]
    assert (len(read), outcome.failed) == (1, ())


def test_an_import_of_nothing_is_refused_before_it_runs(machine: Machine) -> None:
    with Memory(str(machine.shop)) as memory, pytest.raises(InvalidValueError, match="can be imported"):
        ImportRun(memory, ImportRequest(str(machine.shop)))


def test_rules_files_are_written_and_taken_back_without_the_command_line(machine: Machine) -> None:
    file = machine.shop / "AGENTS.md"
    with Memory(str(machine.shop)) as memory:
        memory.remember("Amounts are whole cents", kind="constraint")
        with open_rules_planner(memory) as planner:
            plan = planner.apply(planner.plan(RulesRequest(hosts=("codex",))))
        assert (plan.problems, "Amounts are whole cents" in file.read_text("utf-8")) == ((), True)
        with open_rules_planner(memory) as planner:
            planner.apply(planner.plan_removal(()))
    assert not file.exists()


def test_a_host_is_set_up_and_taken_back_without_the_command_line(machine: Machine) -> None:
    settings = load_settings()
    (machine.home / ".claude").mkdir()
    setup = Setup(settings)
    assert ([host_setup.host for host_setup in setup.host_setups], setup.is_needed) == (["claude-code"], True)
    setup.apply()
    file = machine.home / ".claude" / "settings.json"
    assert "holdfast-launch" in file.read_text("utf-8")
    assert not Setup(settings).is_needed
    Removal(settings).apply()
    assert not file.exists()


def test_an_unknown_host_is_refused_before_anything_is_written(machine: Machine) -> None:
    with pytest.raises(PluginNotFoundError):
        Setup(load_settings(), ["emacs"])
    assert not list(machine.home.glob(".holdfast/bin/*"))

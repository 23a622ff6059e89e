"""`holdfast setup` on a terminal: a larger embedder is offered, and nothing is downloaded without a yes."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from holdfast.installing import pulling
from holdfast.settings import load_settings
from holdfast.surfaces.cli import setup as _firstrun
from holdfast.surfaces.cli.frame import Call

NOWHERE = "http://127.0.0.1:9"


def offer(folder: Path, answer: str) -> str:
    """What a person sees who is offered the embedder and says that."""

    call = Call()
    call.folder = str(folder)

    @click.command()
    def command() -> None:
        _firstrun._offer_embedder(call, load_settings())

    done = CliRunner().invoke(command, input=answer)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fastembed")
    import_module("holdfast.surfaces.cli.embedder")  # its option --hub keeps the address that it is imported with
    monkeypatch.setattr(pulling, "HUB", NOWHERE)


def test_enter_downloads_nothing(home: Path, tmp_path: Path) -> None:
    output = offer(tmp_path, "\n")
    assert "91 MB" in output
    assert "[y/N]" in output
    assert "nothing is downloaded" in output
    assert not (home / "models").exists()


def test_a_download_that_fails_leaves_the_embedder_as_it_is(home: Path, tmp_path: Path) -> None:
    before = load_settings().embedder
    assert "the embedder was not changed" in offer(tmp_path, "y\n")
    assert load_settings().embedder == before


def test_who_chose_an_embedder_is_not_prompted(home: Path, tmp_path: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('[embedder]\nname = "none"\n')
    assert offer(tmp_path, "y\n") == ""

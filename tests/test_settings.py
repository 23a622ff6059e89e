"""Settings: variables over the config file over defaults, and errors that name the file and the key."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from holdfast.domain.moments import CHANNELS
from holdfast.errors import InvalidValueError
from holdfast.settings import Settings, load_settings, socket_folder


def load(home: Path, text: str | None = None, **env: str) -> Settings:
    if text is not None:
        (home / "config.toml").write_text(text)
    return load_settings({"HOLDFAST_HOME": str(home), "HOME": str(home), **env})


def test_nothing_needs_to_be_configured(tmp_path: Path) -> None:
    settings = load_settings({"HOME": str(tmp_path)})
    assert settings.home == str(tmp_path / ".holdfast")
    assert settings.database_path == str(tmp_path / ".holdfast" / "memory.db")
    assert settings.capture
    assert settings.deliver == CHANNELS


def test_without_any_home_the_error_says_what_to_set() -> None:
    with pytest.raises(InvalidValueError) as raised:
        load_settings({})
    assert "HOLDFAST_HOME" in raised.value.hint


def test_one_switch_stops_everything(tmp_path: Path) -> None:
    settings = load(tmp_path, HOLDFAST_OFF="1")
    assert not settings.capture
    assert settings.deliver == ()


def test_a_delivery_can_be_switched_off(tmp_path: Path) -> None:
    settings = load(tmp_path, "[deliver]\nprompt = false\n")
    assert "prompt" not in settings.deliver
    assert "before_file" in settings.deliver


@pytest.mark.parametrize("text", ["capture = 1", 'retention_days = "many"', "[deliver]\nprompt = 0", "ignore = 3"])
def test_a_value_of_the_wrong_type_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidValueError, match=str(tmp_path / "config.toml")):
        load(tmp_path, text)


@pytest.mark.parametrize("text", ["capture = ", "[", "a = 1\na = 2"])
def test_a_file_that_is_not_toml_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidValueError, match=r"config\.toml"):
        load(tmp_path, text)


def test_one_delivery_in_twenty_is_withheld_unless_the_file_or_the_variable_says_otherwise(tmp_path: Path) -> None:
    assert load(tmp_path).holdout == 0.05
    assert load(tmp_path, "[outcomes]\nholdout = 0").holdout == 0
    assert load(tmp_path, "[outcomes]\nholdout = 0.1", HOLDFAST_HOLDOUT="0.2").holdout == 0.2


@pytest.mark.parametrize("text", ["[outcomes]\nholdout = 0.6", "[outcomes]\nholdout = -1", '[outcomes]\nholdout = "x"'])
def test_a_hold_out_of_more_than_half_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidValueError, match="holdout"):
        load(tmp_path, text)
    with pytest.raises(InvalidValueError, match="HOLDFAST_HOLDOUT"):
        load(tmp_path, "", HOLDFAST_HOLDOUT="many")


def test_a_key_in_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="key"):
        load(tmp_path, '[embedder]\nname = "ollama"\napi_key = "abc"')


def test_the_file_is_parsed_once_for_each_of_its_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(tmp_path, "retention_days = 7").retention_days == 7
    monkeypatch.setitem(sys.modules, "tomllib", None)  # importing it now fails
    assert load(tmp_path).retention_days == 7
    monkeypatch.undo()
    assert load(tmp_path, "retention_days = 1234").retention_days == 1234


def test_a_damaged_copy_is_not_believed(tmp_path: Path) -> None:
    load(tmp_path, "retention_days = 7")
    (tmp_path / "run" / "config.json").write_text("{")
    assert load(tmp_path).retention_days == 7


def test_a_file_with_a_date_works_though_it_cannot_be_copied(tmp_path: Path) -> None:
    assert load(tmp_path, "retention_days = 7\nsince = 2026-01-01").retention_days == 7


@pytest.mark.parametrize(("share", "is_taken"), [("0", True), ("0.5", True), ("0.501", False), ("-0.001", False)])
def test_at_most_half_of_the_lessons_are_withheld(tmp_path: Path, share: str, is_taken: bool) -> None:
    """`settings.MOST_HOLDOUT`; what `settings.DEFAULT_HOLDOUT` is, is tested above."""
    if is_taken:
        assert load(tmp_path, HOLDFAST_HOLDOUT=share).holdout == float(share)
    else:
        with pytest.raises(InvalidValueError, match=r"between 0 and 0\.5"):
            load(tmp_path, HOLDFAST_HOLDOUT=share)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no private sockets")
def test_a_socket_lies_in_the_run_folder_while_its_path_has_at_most_85_bytes() -> None:
    """`settings.SOCKET_FOLDER_LIMIT`."""
    assert socket_folder("/" + "x" * 84) == "/" + "x" * 84
    assert socket_folder("/" + "x" * 85).startswith(f"/tmp/holdfast-{os.getuid()}-")
    assert socket_folder("/" + "ä" * 43).startswith(f"/tmp/holdfast-{os.getuid()}-")

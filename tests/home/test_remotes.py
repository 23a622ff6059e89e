"""The file of servers and links: private to the user, written whole, never printed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.home.remotes import (
    FILE,
    ProjectLink,
    Remote,
    Remotes,
    change_remotes,
    load_remotes,
    name_of,
    normalise_url,
)

TOKEN = "hf_p_12345678_secret"
REMOTE = Remote(name="memory.example.com", url="https://memory.example.com", token=TOKEN)
HARBOUR = ProjectId("g1-harbour")


def test_what_is_written_is_read_back_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    assert load_remotes(str(tmp_path)) == Remotes()
    link = ProjectLink(project=HARBOUR, remote=REMOTE.name, chosen_only=True)
    change_remotes(str(tmp_path), lambda remotes: remotes.with_remote(REMOTE).with_link(link))
    remotes = load_remotes(str(tmp_path))
    assert remotes == Remotes(remotes=(REMOTE,), links=(link,))
    assert remotes.remote_of(HARBOUR) == REMOTE
    assert remotes.remote_of(ProjectId("g1-other")) is None
    if os.name == "posix":
        assert stat.S_IMODE(os.stat(tmp_path / FILE).st_mode) == 0o600
    assert TOKEN not in repr(remotes)


def test_logging_out_takes_the_links_along(tmp_path: Path) -> None:
    other = Remote(name="other", url="https://other.example.com", token="hf_other")
    link = ProjectLink(project=HARBOUR, remote=REMOTE.name)
    remotes = Remotes().with_remote(REMOTE).with_remote(other).with_link(link).without_remote(REMOTE.name)
    assert remotes == Remotes(remotes=(other,))


def test_a_server_is_found_by_its_name_or_address_and_the_only_one_without(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="no server is known here"):
        Remotes().named("")
    single = Remotes().with_remote(REMOTE)
    assert (
        single.named("") == single.named("memory.example.com") == single.named("https://memory.example.com") == REMOTE
    )
    two = single.with_remote(Remote(name="other", url="https://other.example.com"))
    with pytest.raises(InvalidValueError, match="several servers"):
        two.named("")
    with pytest.raises(InvalidValueError, match="no server 'x'"):
        two.named("x")


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("https://memory.example.com/", "https://memory.example.com"),
        ("memory.example.com", "https://memory.example.com"),
        ("memory.example.com:8443/team/", "https://memory.example.com:8443/team"),
        ("localhost:7700", "http://localhost:7700"),
        ("http://127.0.0.1:7700/v1", "http://127.0.0.1:7700"),
        ("http://[::1]:7700", "http://[::1]:7700"),
    ],
)
def test_an_address_is_completed(typed: str, stored: str) -> None:
    assert normalise_url(typed) == stored
    assert name_of(stored) == stored.split("://")[1].partition("/")[0]


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "ftp://memory.example.com",
        "https://user:word@host",
        "http://memory.example.com",
        "https://a:b",
        "https://h?x=1",
    ],
)
def test_an_address_that_is_none_or_would_send_the_token_in_the_clear_is_refused(typed: str) -> None:
    with pytest.raises(InvalidValueError):
        normalise_url(typed)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"version": 9}', '{"version": 1}', '{"version": 1, "remotes": [1], "links": []}']
)
def test_a_damaged_file_is_an_error_and_stays(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(HoldfastError, match="cannot be read"):
        load_remotes(str(tmp_path))
    with pytest.raises(HoldfastError, match="cannot be read"):
        change_remotes(str(tmp_path), lambda remotes: remotes)
    assert (tmp_path / FILE).read_text() == content

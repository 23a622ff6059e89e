"""Which paths fit a glob, and which are never captured."""

from __future__ import annotations

import pytest

from holdfast.text.globs import fits, glob_matches, is_ignored, mentions_secrets


@pytest.mark.parametrize(
    "path",
    [".env", "a/.env", "a/.env.local", "prod.env", "keys/id_rsa", "x/.ssh/config", "a/b/server.pem", "credentials"],
)
def test_files_made_to_hold_secrets_are_ignored(path: str) -> None:
    assert is_ignored(path, ())


@pytest.mark.parametrize(
    "path", [".env.example", "src/env.py", "id_rsa.pub", "src/key.py", "src/credentials.py", "a.md"]
)
def test_files_that_only_sound_like_it_are_not(path: str) -> None:
    assert not is_ignored(path, ())


@pytest.mark.parametrize(
    ("path", "glob", "answer"),
    [
        ("a/b/c.py", "*.py", True), ("a/b/c.py", "b", True), ("a/b/c.py", "a/*.py", False), ("a/b/c.py", "a/**", True),
        ("a/b/c.py", "a/**/c.py", True), ("a/c.py", "a/**/c.py", True), ("vendor/x/y.js", "vendor/", True),
        ("x/vendor/y.js", "/vendor", False), ("x/vendor/y.js", "vendor", True), ("x/vendor/y.js", "**/vendor/**", True),
        ("dist/a.js", "dist/*", True), ("a", "**", True), ("dist", "dist/**", False), ("a/b", "", False),
        ("ab.py", "a?.py", True), ("abc.py", "a?.py", False), ("a.tar.gz", "*.gz", True), ("x/y", "/", False),
    ],
)  # fmt: skip
def test_globs_mean_what_people_expect(path: str, glob: str, answer: bool) -> None:
    assert fits(path, glob) is answer


@pytest.mark.parametrize(
    ("glob", "path", "answer"),
    [
        ("*.py", "a/b/c.py", True), ("c.py", "a/c.py", True), ("b", "a/b/c.py", False), ("a/*.py", "a/b/c.py", False),
        ("a/*.py", "a/c.py", True), ("a/**", "a/b/c.py", True), ("a/**", "a", True), ("a/**/", "a/b", True),
        ("a/**/c.py", "a/c.py", True), ("a/**/c.py", "a/x/y/c.py", True), ("a/**/c.py", "a/x/y/d.py", False),
        ("**/c.py", "c.py", True), ("a/b", "a/b/c.py", False), ("a?.py", "x/ab.py", True), ("a?.py", "abc.py", False),
        ("**", "a/b", True), ("a/**/b/**", "a/x/b", True),
    ],
)  # fmt: skip
def test_a_lessons_glob_fits_a_path_as_a_whole(glob: str, path: str, answer: bool) -> None:
    assert glob_matches(glob, path) is answer


def test_a_hostile_glob_ends() -> None:
    assert not glob_matches("**/a/" * 20 + "b", "a/" * 60 + "c")
    assert not fits("a" * 2_000, "*a" * 40 + "b")
    assert not fits("a/" * 200 + "c", "**/a/" * 20 + "b")


@pytest.mark.parametrize(
    "command", ["cat .env", "source .env; x", "docker run --env-file=.env.prod x", "cat ~/.ssh/id_rsa"]
)
def test_a_command_that_names_a_file_of_secrets_is_known(command: str) -> None:
    assert mentions_secrets(command)


@pytest.mark.parametrize(
    "command", ["pytest tests/test_env.py", "cp .env.example x", "", "git commit -m 'credentials'"]
)
def test_other_commands_are_not(command: str) -> None:
    assert not mentions_secrets(command)

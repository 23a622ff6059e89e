"""The commands that hosts are given, by the rules of each system's shells."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from holdfast.hosts.sdk.programs import ENTRY, LAUNCHER, bare_path, hook_command, hook_words, shell_line
from holdfast.installing.launcher import launcher_text


def no_short_names(path: str) -> str:
    raise AssertionError(f"{path} needs no other name")


@pytest.mark.parametrize(
    "path",
    [
        "C:\\Users\\ada\\.venv\\Scripts\\python.exe",
        "C:\\Users\\José\\AppData\\Local\\uv\\tools\\holdfast\\Scripts\\python.exe",
        "D:\\dev_tools\\py-3.12\\python.exe",
    ],
)
def test_on_windows_a_plain_path_is_one_word_in_every_shell(path: str) -> None:
    word = bare_path(path, no_short_names)
    assert word == path.replace("\\", "/")
    assert shell_line([word, "-I", "-S"], windows=True) == f"{word} -I -S"
    assert shlex.split(f"{word} -I -S") == [word, "-I", "-S"]  # Git Bash; the others do not split otherwise


@pytest.mark.parametrize("path", ["C:\\Program Files (x86)\\Py\\python.exe", "C:\\Users\\Ada & Bo\\py\\python.exe"])
def test_on_windows_a_path_with_blanks_goes_by_its_short_name(path: str) -> None:
    word = bare_path(path, lambda path: "C:\\PROGRA~2\\Py\\python.exe")
    assert shell_line([word], windows=True) == "C:/PROGRA~2/Py/python.exe"


def test_on_windows_a_path_without_a_short_name_is_quoted() -> None:
    word = bare_path("C:\\Program Files\\python.exe", lambda path: path)
    assert shell_line([word, "-I"], windows=True) == '"C:/Program Files/python.exe" -I'


def test_our_hook_is_known_again_in_the_command_of_every_system() -> None:
    windows = bare_path("C:\\Users\\ada\\Lib\\site-packages\\holdfast", no_short_names)
    assert LAUNCHER in hook_command(("/usr/bin/python3", "/opt/holdfast", "/home/a b/bin/holdfast-launch"), "codex")
    launcher = "C:\\Users\\ada\\.holdfast\\bin\\holdfast-launch.cmd"
    command = hook_command(("C:/python.exe", windows, launcher), "codex", windows=True)
    assert command == "C:/Users/ada/.holdfast/bin/holdfast-launch.cmd codex"
    assert LAUNCHER in command
    assert ENTRY in " ".join(hook_words(("C:/python.exe", windows, launcher), "codex", windows=True))


def test_the_launcher_on_windows_quotes_what_cmd_would_read() -> None:
    lines = launcher_text("C:\\my py\\python.exe", "D:\\100% ours\\holdfast", windows=True).splitlines()
    assert lines[0] == "@echo off"
    assert lines[-2:] == [
        '"C:\\my py\\python.exe" -I -S "D:\\100%% ours\\holdfast/surfaces/hooks/entry.py" %* 2>nul', "exit /b 0",
    ]  # fmt: skip


def test_a_command_runs_in_a_posix_shell_whatever_the_folder_is_called() -> None:
    words = ["-I", '/opt/it\'s "ours" & yours/$HOME/holdfast', "codex", "--plain"]
    printed = shell_line([sys.executable, "-c", "import sys; print(sys.argv[1:])", *words], windows=False)
    ran = subprocess.run(["/bin/sh", "-c", printed], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == repr(words)

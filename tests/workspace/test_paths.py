"""Paths by the rules of each system, on whatever system the tests run."""

from __future__ import annotations

import ntpath
import posixpath
from types import ModuleType

import pytest

from holdfast.lean.texts import file_of, file_url, has_drive
from holdfast.text.named import clues_in
from holdfast.workspace.paths import inside, native, project_roots
from tests.workspace.conftest import Ground


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        ("C:\\Users\\ada\\shop", "C:\\Users\\ada\\shop"),
        ("c:/Users/ada/shop", "c:/Users/ada/shop"),
        ("/c:/Users/ada/shop", "c:/Users/ada/shop"),
        ("/C:\\Users\\ada", "C:\\Users\\ada"),
        ("/c/Users/ada/shop", "c:/Users/ada/shop"),
        ("/d", "d:/"),
        ("\\\\?\\C:\\Users\\ada\\" + "deep\\" * 60 + "a.py", "C:\\Users\\ada\\" + "deep\\" * 60 + "a.py"),
        ("\\\\?\\UNC\\server\\share\\a.py", "\\\\server\\share\\a.py"),
        ("\\\\server\\share\\a.py", "\\\\server\\share\\a.py"),
        ("/mnt/c/Users/ada", "/mnt/c/Users/ada"),
        ("/home/ada/shop", "/home/ada/shop"),
        ("src\\cart.py", "src\\cart.py"),
        ("", ""),
    ],
)
def test_what_hosts_send_on_windows_becomes_a_path_of_windows(sent: str, written: str) -> None:
    assert native(sent, ntpath) == written


@pytest.mark.parametrize("sent", ["C:\\Users\\ada", "c:/Users/ada", "\\\\?\\C:\\Users"])
def test_a_windows_path_names_nothing_elsewhere(sent: str) -> None:
    assert native(sent, posixpath) == ""


@pytest.mark.parametrize("sent", ["/c/Users/ada", "/c:/odd", "/mnt/c/Users/ada", "a\\b.py", "src/cart.py", ""])
def test_every_other_path_stays_as_it_is_elsewhere(sent: str) -> None:
    assert native(sent, posixpath) == sent


@pytest.mark.parametrize(
    ("root", "path", "expected"),
    [
        ("C:\\Users\\ada\\shop", "C:\\Users\\ada\\shop\\src\\cart.py", "src/cart.py"),
        ("C:\\Users\\ada\\shop", "c:\\users\\Ada\\SHOP\\src\\Cart.py", "src/Cart.py"),
        ("C:\\Users\\ada\\shop", "C:\\Users\\ada\\shop-old\\cart.py", ""),
        ("C:\\Users\\ada\\shop", "C:\\Users\\ada\\shop", ""),
        ("C:\\Users\\ada\\shop", "D:\\Users\\ada\\shop\\cart.py", ""),
        ("C:\\", "C:\\cart.py", "cart.py"),
        ("\\\\server\\share\\shop", "\\\\SERVER\\share\\shop\\cart.py", "cart.py"),
        ("C:\\Users\\ada\\OneDrive - Acme\\Dokumente\\shop", "C:\\Users\\ada\\Documents\\shop\\cart.py", ""),
    ],
)
def test_what_is_inside_on_windows(root: str, path: str, expected: str) -> None:
    assert inside(root, path, ntpath, folds=True) == expected


def test_letters_may_differ_in_the_way_to_a_project_on_macos_and_nowhere_else() -> None:
    assert inside("/Users/ada/Shop", "/users/Ada/shop/cart.py", posixpath, folds=True) == "cart.py"
    assert inside("/Users/ada/Shop", "/users/Ada/shop/cart.py", posixpath, folds=False) == ""


@pytest.mark.parametrize(
    ("flavour", "folder", "roots"),
    [
        (posixpath, "/home/ada/work/shop", ["/home/ada/work/shop", "/home/ada/work"]),
        (posixpath, "/Users/ada/shop", ["/Users/ada/shop"]),
        (posixpath, "/home/ada", ["/home/ada"]),
        (posixpath, "/srv/team/shop", ["/srv/team/shop", "/srv/team"]),
        (posixpath, "/", ["/"]),
        (ntpath, "C:\\Users\\ada\\work\\shop", ["C:\\Users\\ada\\work\\shop", "C:\\Users\\ada\\work"]),
        (ntpath, "C:\\Users\\ada", ["C:\\Users\\ada"]),
        (ntpath, "D:\\work\\shop", ["D:\\work\\shop"]),
        (ntpath, "D:\\", ["D:\\"]),
        (ntpath, "\\\\server\\share\\team\\shop", ["\\\\server\\share\\team\\shop"]),
    ],
)
def test_no_home_and_nothing_at_the_top_swallows_the_projects_below(
    flavour: ModuleType, folder: str, roots: list[str]
) -> None:
    assert list(project_roots(folder, flavour)) == roots


@pytest.mark.parametrize("path", ["/home/ada/.holdfast/memory.db", "/home/ada lovelace/ü/memory.db"])
def test_a_stores_url_holds_its_path(path: str) -> None:
    assert file_url(path) == "sqlite://" + path
    assert file_of(file_url(path)) == path


def test_a_stores_url_holds_a_windows_path_with_forward_slashes() -> None:
    url = file_url("C:\\Users\\ada\\OneDrive - Acme\\memory.db")
    assert url == "sqlite:///C:/Users/ada/OneDrive - Acme/memory.db"
    assert file_of(url) == "C:/Users/ada/OneDrive - Acme/memory.db"
    assert file_of("postgresql://localhost/x") == ""


@pytest.mark.parametrize(
    ("text", "expected"), [("C:\\a", True), ("z:/", True), ("C:", False), ("a:b", False), ("", False)]
)
def test_a_drive_is_a_letter_a_colon_and_a_slash(text: str, expected: bool) -> None:
    assert has_drive(text) is expected


def test_a_prompt_names_a_file_by_its_windows_path() -> None:
    assert clues_in("what about C:\\shop\\src\\cart.py:12?").paths == ("C:\\shop\\src\\cart.py",)


def test_a_path_of_another_system_is_outside(ground: Ground) -> None:
    made = ground.repository("made")
    location = ground.workspace.locate(str(made))
    assert ground.workspace.relative(location, "C:\\shop\\a.py", str(made)) == ""
    assert ground.workspace.relative(location, "a.py", "C:\\shop") == ""

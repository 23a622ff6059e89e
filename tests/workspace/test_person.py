"""Who works in a folder, as git's configuration tells."""

from __future__ import annotations

from holdfast.domain.project import Person
from tests.workspace.conftest import Ground


def person(ground: Ground, name: str) -> Person:
    return ground.workspace.person(ground.workspace.locate(str(ground.folder / name)))


def test_a_person_is_known_by_the_mail_address_whatever_its_case(ground: Ground) -> None:
    for folder, mail in (("one", "Ada@Example.com"), ("two", "ada@example.com"), ("three", "bob@example.com")):
        ground.git(ground.repository(folder), "config", "user.email", mail)
        ground.git(ground.folder / folder, "config", "user.name", "Ada  Lovelace")
    ada, same, bob = (person(ground, folder) for folder in ("one", "two", "three"))
    assert ada == same
    assert ada.id != bob.id
    assert ada.name == "Ada Lovelace"
    assert "ada" not in ada.id
    assert len(ada.id) == 16


def test_nobody_is_known_where_git_is_not_there(ground: Ground, monkeypatch: object) -> None:
    ground.repository("one")
    location = ground.workspace.locate(str(ground.folder / "one"))
    monkeypatch.setenv("PATH", "")  # type: ignore[attr-defined]
    assert ground.workspace.person(location) == Person()

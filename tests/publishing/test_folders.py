"""Folders in few groups."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.publishing.rules import common_folder, group_folders

names = st.lists(st.sampled_from("abc"), max_size=4).map("/".join)


def group(folders: list[str], most: int = 10, budget: int = 100) -> dict[str, list[str]]:
    groups = group_folders(folders, [1] * len(folders), most, budget)
    return {name: [folders[at] for at in members] for name, members in groups}


def test_the_common_folder_is_the_deepest_that_holds_all() -> None:
    assert common_folder(["src/app/ui", "src/app"]) == "src/app"
    assert common_folder(["src/app", "src/apple"]) == "src"
    assert common_folder(["src", ""]) == ""
    assert common_folder([]) == ""


def test_a_group_is_named_by_what_its_members_share_and_the_root_is_in_none() -> None:
    assert group(["src/app/a", "src/app/b", "docs", ""]) == {"docs": ["docs"], "src/app": ["src/app/a", "src/app/b"]}


def test_a_group_over_the_budget_is_parted_while_there_is_room() -> None:
    folders = ["src", "src/a", "src/a", "src/b/c"]
    assert group(folders, budget=3) == {"src": ["src"], "src/a": ["src/a"] * 2, "src/b/c": ["src/b/c"]}
    assert group(folders, most=2, budget=3) == {"src": folders}


def test_of_too_many_the_largest_stay() -> None:
    assert group(["a", "b", "b", "c", "c", "c"], most=2) == {"b": ["b"] * 2, "c": ["c"] * 3}


@given(st.lists(names, max_size=30), st.integers(1, 12), st.integers(0, 10))
def test_every_member_is_below_its_group_and_in_one_only(folders: list[str], most: int, budget: int) -> None:
    groups = group_folders(folders, [1] * len(folders), most, budget)
    members = [at for _, inside in groups for at in inside]
    assert len(groups) <= most
    assert len(members) == len(set(members))
    assert all(f"{folders[at]}/".startswith(f"{name}/") for name, inside in groups for at in inside)
    assert all(folders[at] for at in members)
    if len({folder.partition("/")[0] for folder in folders if folder}) <= most:
        assert set(members) == {at for at, folder in enumerate(folders) if folder}

"""Groups the folders of lessons, to decide which rules files with a scope of paths there are."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Group = tuple[str, tuple[int, ...]]


def common_folder(folders: Iterable[str]) -> str:
    """Return the deepest folder that contains them all, with forward slashes; empty for the root."""
    common: list[str] | None = None
    for folder in folders:
        names = folder.split("/") if folder else []
        if common is None:
            common = names
        alike = (at for at, (name, other) in enumerate(zip(common, names, strict=False)) if name != other)
        common = common[: next(alike, min(len(common), len(names)))]
    return "/".join(common or ())


def group_folders(folders: Sequence[str], costs: Sequence[int], most: int, budget: int) -> list[Group]:
    """Return at most `most` folders, by name, each with the positions of its members in `folders`, without the root.

    There is one group a top folder, named by the deepest folder that contains all of it. A group that costs more than
    the budget is split by its sub-folders while there is room. If there are too many, those with most members stay.
    """
    groups = _parted("", [at for at, folder in enumerate(folders) if folder], folders)
    while parted := _part_dearest(groups, folders, costs, most, budget):
        groups = parted
    return sorted(sorted(groups, key=lambda group: (-len(group[1]), group[0]))[:most])


def _part_dearest(
    groups: list[Group], folders: Sequence[str], costs: Sequence[int], most: int, budget: int
) -> list[Group]:
    """Return the groups with the most expensive divisible one split; empty if there is none."""
    priced = sorted((-sum(costs[at] for at in members), name, members) for name, members in groups)
    for cost, name, members in priced:
        parts = _parted(name, members, folders)
        if -cost > budget and len(parts) > 1 and len(groups) - 1 + len(parts) <= most:
            return [group for group in groups if group[0] != name] + parts
    return []


def _parted(above: str, members: Iterable[int], folders: Sequence[str]) -> list[Group]:
    """Return the members by their folder below `above`; those in `above` itself are one group."""
    skipped = len(above) + 1 if above else 0
    inside_of: dict[str, list[int]] = {}
    for at in members:
        inside_of.setdefault(folders[at][skipped:].partition("/")[0], []).append(at)
    return [(common_folder(folders[at] for at in inside), tuple(inside)) for inside in inside_of.values()]

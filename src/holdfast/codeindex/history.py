"""Learns from git's history which files are edited together, and finds the files linked to a file.

Every commit of 2 to 30 files adds a weight to each pair of its files; the weight decreases with the number of files and
with age. A file's pair with itself gets the same, so pair over self is the share of the file's commits in which the
other was edited too. Ages count from a fixed day: sums stay comparable when later commits are added, and only ratios
are ever read.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holdfast.codeindex.walk import iter_records
from holdfast.domain.symbol import Neighbour
from holdfast.ports.codeindex import IndexStore

RELATION = "edited_together"
MOST_FILES = 30
"""A commit that touches more is a sweep (a reformat, a rename, a release) and says nothing about its pairs."""

MOST_COMMITS = 20_000
"""Newest commits that are read."""
MOST_PAIRS = 400_000
"""Pairs of files that are kept in one project; twice as many are counted before the lightest are dropped."""
PARTNERS_KEPT = 40
"""Pairs kept of each file, heaviest first."""

HALF_LIFE_S = 180 * 86_400.0
"""Chosen, as the square root below, on older parts of histories."""
EPOCH_S = 1_577_836_800
"""2020: where a commit's weight is one."""

PRIOR_COMMITS = 1.0
"""Commits of today that every file is taken to have had alone: one edit together is no certainty."""

READ_BEFORE = "read_before"
PARTNERS = 30
"""Files edited together with a file, and files read before it, that are looked at: the heaviest."""
FAINT = 0.02
"""Least weight of a link that is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFiles:
    """A commit's id, its time in seconds since 1970, its files under present names, and whether it renamed any."""

    id: str
    at_s: int
    files: tuple[str, ...] = ()
    renames: bool = False


def learn_history(store: IndexStore, root: str) -> bool:
    """Bring the pairs up to HEAD; return False if there is nothing new, no git or no history.

    New commits are added. After a rename, or if history was rewritten, all commits are read again.
    """
    try:
        head = next(iter_records(root, ["rev-parse", "-q", "--verify", "HEAD"]), "").strip()
        kept_upto = store.pairs_upto(RELATION)
        upto = kept_upto.partition("@")[0]
        if not head or upto == head or (upto and _is_ancestor(root, head, upto)):
            return False
        if upto and _is_ancestor(root, upto, head):
            new = list(iter_commits(root, f"{upto}..{head}"))
            if not any(commit.renames for commit in new):
                newest = max((commit.at_s for commit in new), default=_newest(store))
                return store.add_pairs(RELATION, weigh(new), kept_upto, f"{head}@{newest}")
        commits = list(iter_commits(root, head))
    except OSError:
        return False
    newest = max((commit.at_s for commit in commits), default=EPOCH_S)
    store.put_pairs(RELATION, heaviest(weigh(commits)), f"{head}@{newest}")
    return True


def iter_commits(root: str, revisions: str) -> Iterator[CommitFiles]:
    """Yield commits without merges, newest first; files renamed since carry their present names.

    Only renames without an edit are recognised: trees alone show them, even in a clone without old contents.
    """
    arguments = ["log", "-z", "--no-merges", "-M100%", "--name-status", "--format=%x01%H %ct", "--no-show-signature"]
    names: dict[str, str] = {}
    fields: list[str] = []
    for record in iter_records(root, [*arguments, f"--max-count={MOST_COMMITS}", revisions, "--"]):
        if record.startswith("\x01") and fields:
            yield _commit(fields, names)
            fields = []
        fields.append(record)
    if fields:
        yield _commit(fields, names)


def _commit(fields: list[str], names: dict[str, str]) -> CommitFiles:
    """Return a commit from its head and changes (`M`, path; `R100`, old path, new path); add renames to `names`."""
    number, _, at = fields[0][1:].partition(" ")
    files: dict[str, None] = {}
    renames = []
    rest = iter(fields[1:])
    for field in rest:
        status, path = field.lstrip("\n"), next(rest, "")
        if status.startswith(("R", "C")):
            new = next(rest, "")
            if status.startswith("R"):
                renames.append((path, new))
            path = new
        if path:
            files[names.get(path, path)] = None
    for old, new in renames:  # older commits use its old name
        names[old] = names.get(new, new)
    return CommitFiles(id=number, at_s=int(at or 0), files=tuple(files), renames=bool(renames))


def weigh(commits: Iterable[CommitFiles]) -> dict[tuple[str, str], float]:
    """Return the weight of each pair of files, and of each file with itself."""
    weights: dict[tuple[str, str], float] = {}
    for commit in commits:
        size = len(commit.files)
        if not 0 < size <= MOST_FILES:
            continue
        weight = age_weight(commit.at_s) / math.sqrt(size)
        files = sorted(commit.files)
        for at, file in enumerate(files):
            for other in files[at:]:
                weights[file, other] = weights.get((file, other), 0.0) + weight
        if len(weights) > 2 * MOST_PAIRS:
            weights = heaviest(weights)
    return weights


def heaviest(pairs: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Return each file's pair with itself, and pairs that are among the heaviest of one of their files."""
    partners: dict[str, int] = {}
    strongest: dict[tuple[str, str], float] = {}
    for pair in sorted(pairs, key=lambda pair: (-pairs[pair], pair)):
        first, second = pair
        if first == second or min(partners.get(first, 0), partners.get(second, 0)) < PARTNERS_KEPT:
            strongest[pair] = pairs[pair]
            for file in {first, second} if first != second else ():
                partners[file] = partners.get(file, 0) + 1
        if len(strongest) >= MOST_PAIRS:
            break
    return strongest


def age_weight(at_s: float) -> float:
    """Return the weight of a commit of that time, relative to one of 2020; it doubles every half-life."""
    return float(2.0 ** ((at_s - EPOCH_S) / HALF_LIFE_S))


def together(store: IndexStore, path: str) -> list[tuple[str, float]]:
    """Return files edited together with the file, and the share of its commits with them: in (0, 1), best first."""
    pairs = store.pairs(RELATION, path)
    own = dict(pairs).get(path, 0.0)
    prior = PRIOR_COMMITS * age_weight(_newest(store)) / math.sqrt(2)
    return [(other, weight / (own + prior)) for other, weight in pairs if other != path]


def neighbours(store: IndexStore, root: str, path: str, limit: int = 40) -> list[Neighbour]:
    """Return existing files linked to the file, closest first, each once for every relation; at most `limit`.

    A weight is in (0, 1) and says how likely a file matters for work on the other. It orders the links and is not a
    measured probability.
    """
    partners = [("edited_together", other, min(1.0, share)) for other, share in together(store, path)[:PARTNERS]]
    reads = store.pairs(READ_BEFORE, path)[:PARTNERS]
    partners += [(READ_BEFORE, other, times / (times + 2)) for other, times in reads]
    linked = [
        Neighbour(path=other, relation=relation, weight=weight)
        for relation, other, weight in partners
        if other != path and weight >= FAINT and os.path.isfile(os.path.join(root, other))
    ]
    return sorted(linked, key=lambda neighbour: (-neighbour.weight, neighbour.path, neighbour.relation))[:limit]


def _newest(store: IndexStore) -> int:
    at = store.pairs_upto(RELATION).partition("@")[2]
    return int(at) if at.isdecimal() else EPOCH_S


def _is_ancestor(root: str, commit: str, other: str) -> bool:
    try:
        return list(iter_records(root, ["merge-base", "--is-ancestor", commit, other])) == []
    except OSError:
        return False

from __future__ import annotations

import math

import pytest

from holdfast.codeindex import history
from holdfast.codeindex.history import HALF_LIFE_S, RELATION, heaviest, iter_commits, learn_history, together, weigh
from holdfast.stores.sqlite.indexfile import SqliteIndex
from tests.codeindex.conftest import WorkTree


def edit(tree: WorkTree, *paths: str) -> str:
    """Commit a change of those files."""
    return tree.commit({path: "#" * tree.commits + path for path in paths})


def learn(index: SqliteIndex, tree: WorkTree) -> bool:
    return learn_history(index, str(tree.root))


def others(index: SqliteIndex, path: str) -> list[str]:
    return [other for other, _ in together(index, path)]


def test_files_of_one_commit_are_edited_together(index: SqliteIndex, repository: WorkTree) -> None:
    for _ in range(3):
        edit(repository, "a.py", "b.py")
    edit(repository, "a.py", "c.py")
    assert learn(index, repository)
    shares = dict(together(index, "a.py"))
    assert list(shares) == ["b.py", "c.py"]
    assert 0.5 < shares["b.py"] < 0.75
    assert dict(together(index, "b.py"))["a.py"] > shares["b.py"]
    assert together(index, "never.py") == []


def test_one_edit_together_is_no_certainty(index: SqliteIndex, repository: WorkTree) -> None:
    edit(repository, "a.py", "b.py")
    learn(index, repository)
    assert together(index, "a.py")[0][1] == pytest.approx(0.5, abs=0.01)


def test_new_commits_are_added_and_the_rest_is_not_read_again(
    index: SqliteIndex, repository: WorkTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(repository, "a.py", "b.py")
    learn(index, repository)
    assert not learn(index, repository)
    edit(repository, "a.py", "c.py")
    edit(repository, "a.py", "c.py")
    spans: list[str] = []

    def counted(root: str, revisions: str) -> list[history.CommitFiles]:
        spans.append(revisions)
        return list(iter_commits(root, revisions))

    monkeypatch.setattr(history, "iter_commits", counted)
    assert learn(index, repository)
    assert len(spans) == 1
    assert ".." in spans[0]
    grown = index.pairs(RELATION, "a.py")
    index.clear("")
    learn(index, repository)
    whole = index.pairs(RELATION, "a.py")
    assert [path for path, _ in grown] == [path for path, _ in whole]
    assert [weight for _, weight in grown] == pytest.approx([weight for _, weight in whole])


def test_a_renamed_file_keeps_its_partners(index: SqliteIndex, repository: WorkTree) -> None:
    edit(repository, "a.py", "b.py")
    learn(index, repository)
    repository.git("mv", "a.py", "new.py")
    repository.commit()
    assert learn(index, repository)
    assert others(index, "new.py") == ["b.py"]
    assert others(index, "a.py") == []


def test_a_rewritten_history_is_read_anew(index: SqliteIndex, repository: WorkTree) -> None:
    edit(repository, "x.py")
    edit(repository, "a.py", "b.py")
    learn(index, repository)
    repository.git("reset", "-q", "--hard", "HEAD~1")
    assert not learn(index, repository)  # an older commit has nothing to add
    edit(repository, "a.py", "c.py")
    assert learn(index, repository)
    assert others(index, "a.py") == ["c.py"]


def test_sweeping_commits_say_nothing(index: SqliteIndex, repository: WorkTree) -> None:
    edit(repository, *(f"f{n}.py" for n in range(31)))
    learn(index, repository)
    assert others(index, "f1.py") == []


def test_recent_edits_count_more_and_big_commits_less() -> None:
    def commit(at_s: float, *files: str) -> history.CommitFiles:
        return history.CommitFiles(id="x", at_s=int(at_s), files=files)

    weights = weigh([commit(HALF_LIFE_S, "a", "b"), commit(0, "a", "c"), commit(0, *"defghijk")])
    assert weights["a", "b"] == pytest.approx(2 * weights["a", "c"])
    assert weights["d", "e"] == pytest.approx(weights["a", "c"] / 2)
    assert weights["a", "a"] == pytest.approx(weights["a", "b"] + weights["a", "c"])


def test_only_the_heaviest_pairs_of_a_file_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PARTNERS_KEPT", 2)
    pairs = {("hub", f"f{n}"): float(n) for n in range(5)} | {("hub", "hub"): 9.0} | {
        (f"f{n}", f"g{n}{m}"): 10.0 for n in range(5) for m in range(2)
    }  # fmt: skip
    strongest = heaviest(pairs)
    assert {pair for pair in strongest if "hub" in pair} == {("hub", "hub"), ("hub", "f4"), ("hub", "f3")}


def test_without_git_or_commits_there_is_nothing_to_learn(index: SqliteIndex, tree: WorkTree) -> None:
    assert not learn(index, tree)
    tree.git("init", "-q")
    assert not learn(index, tree)


def test_odd_file_names_and_merges_are_read(index: SqliteIndex, repository: WorkTree) -> None:
    edit(repository, "a b.py", "ü\n.py")
    repository.git("checkout", "-q", "-b", "side")
    edit(repository, "side.py")
    repository.git("checkout", "-q", "main")
    edit(repository, "main.py")
    repository.git("merge", "-q", "--no-edit", "side")
    commits = list(iter_commits(str(repository.root), "HEAD"))
    assert sorted(commit.files for commit in commits) == [("a b.py", "ü\n.py"), ("main.py",), ("side.py",)]
    assert all(math.isclose(commit.at_s, 1_750_000_000, rel_tol=1e-3) for commit in commits)
    learn(index, repository)
    assert others(index, "a b.py") == ["ü\n.py"]

"""The rules of freshness beyond the mutation matrix: branches, missing git, odd files, versions, caching."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.codeindex.local import LocalCodeIndex
from holdfast.domain.lesson import Anchor
from holdfast.rendering.verdicts import verdict_words
from tests.codeindex.mutations import Ground, environment

BIG = "def f(a):\n    total = 0\n    for one in a:\n        total += one * one\n    return total / len(a)\n"
SMALL = "def close(self):\n    self.open = False\n"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """A repository with one committed file, `a.py`, which defines `f`."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "ground").mkdir()
    ground = Ground(tmp_path / "ground")
    ground.write({"a.py": BIG, "notes.txt": "one\ntwo\n"})
    ground.commit()
    return ground


def state_and_words(ground: Ground, anchor: Anchor) -> tuple[str, str]:
    verdict = ground.verdict(anchor)
    return verdict.freshness, verdict_words(verdict)


def test_a_file_as_it_was_is_fresh_without_loading_the_parser(shop: Ground) -> None:
    verdict = shop.verdict(shop.anchor("a.py", "f"))
    assert (verdict.freshness, verdict_words(verdict)) == ("fresh", "")


def test_what_was_recorded_on_another_branch_is_unverified_where_it_does_not_match(shop: Ground) -> None:
    shop.git("checkout", "-q", "-b", "feature")
    shop.write({"a.py": BIG.replace("one * one", "one ** 3")})
    shop.commit()
    anchor = shop.anchor("a.py", "f")
    shop.git("checkout", "-q", "main")
    freshness, words = state_and_words(shop, anchor)
    assert freshness == "unverified"
    assert "another branch (feature)" in words
    shop.git("checkout", "-q", "feature")
    assert state_and_words(shop, anchor)[0] == "fresh"


def test_what_matches_is_fresh_on_any_branch(shop: Ground) -> None:
    shop.git("checkout", "-q", "-b", "feature")
    shop.write({"b.py": SMALL})
    shop.commit()
    anchor = shop.anchor("a.py", "f")
    shop.git("checkout", "-q", "main")
    shop.write({"a.py": "# why\n" + BIG})
    assert state_and_words(shop, anchor) == ("fresh", "")


def test_a_text_of_this_branch_is_judged_here_though_git_does_not_know_its_commit(shop: Ground) -> None:
    anchor = replace(shop.anchor("a.py", "f"), commit="1234567890" * 4)
    shop.write({"a.py": BIG.replace("one * one", "one")})
    assert state_and_words(shop, anchor) == ("drifted", "body changed (2 of 28 tokens)")


def test_a_text_that_this_branch_never_had_and_a_commit_that_git_does_not_know_leave_it_unverified(
    shop: Ground,
) -> None:
    shop.write({"a.py": BIG.replace("one * one", "one")})
    anchor = replace(shop.anchor("a.py", "f"), commit="1234567890" * 4)
    shop.write({"a.py": BIG.replace("one * one", "two")})
    freshness, words = state_and_words(shop, anchor)
    assert freshness == "unverified"
    assert "does not know commit 1234567890" in words


def test_without_git_what_changed_is_still_reported(tmp_path: Path, shop: Ground) -> None:
    (tmp_path / "plain").mkdir()
    plain = Ground.__new__(Ground)
    plain.__dict__.update({**shop.__dict__, "folder": tmp_path / "plain"})
    plain.write({"a.py": BIG})
    anchor = plain.anchor("a.py", "f")
    assert anchor.commit == ""
    plain.write({"a.py": BIG.replace("one * one", "one")})
    assert state_and_words(plain, anchor) == ("drifted", "body changed")
    plain.write({"a.py": "x = 1\n", "b.py": BIG})
    assert state_and_words(plain, anchor) == ("moved", "moved to b.py")
    plain.write({"b.py": None})
    assert state_and_words(plain, anchor) == ("orphaned", "f is gone from a.py")


def test_a_repository_whose_git_folder_is_gone_leaves_it_unverified(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    (shop.folder / ".git").rename(shop.folder / "gone")
    shop.write({"a.py": BIG.replace("one * one", "one")})
    assert state_and_words(shop, anchor)[0] == "unverified"


def test_a_detached_head_is_like_a_branch(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    shop.write({"a.py": BIG.replace("one * one", "one")})
    shop.commit()
    shop.git("checkout", "-q", "--detach")
    assert state_and_words(shop, anchor) == ("drifted", "body changed (2 of 28 tokens)")


def test_in_a_shallow_clone_what_does_not_match_is_unverified(shop: Ground, tmp_path: Path) -> None:
    anchor = shop.anchor("a.py", "f")
    shop.write({"a.py": BIG.replace("one * one", "one")})
    shop.commit()
    shop.git("clone", "-q", "--depth", "1", f"file://{shop.folder}", str(tmp_path / "shallow"))
    location = shop.workspace.locate(str(tmp_path / "shallow"))
    assert shop.code.verdict(location, anchor).freshness == "unverified"


def test_a_folder_in_the_files_place_leaves_it_unverified(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    (shop.folder / "a.py").unlink()
    (shop.folder / "a.py").mkdir()
    freshness, words = state_and_words(shop, anchor)
    assert (freshness, words) == ("unverified", "a.py cannot be read as a file")


def test_a_file_grown_too_large_leaves_it_unverified(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    (shop.folder / "a.py").write_text(BIG + "x = 1\n" * 200_000)
    assert state_and_words(shop, anchor)[0] == "unverified"
    (shop.folder / "a.py").write_bytes(b"# " + b"x" * 10_000_000)
    assert state_and_words(shop, anchor)[0] == "unverified"


def test_a_fingerprint_of_another_version_is_never_called_changed(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    older = replace(anchor, signature_hash="s0:1.1", body_hash="b0:1.1")
    assert state_and_words(shop, older) == ("fresh", "")
    shop.write({"a.py": BIG.replace("one * one", "one")})
    assert state_and_words(shop, older) == ("unverified", "its fingerprint is of another version")


def test_odd_fingerprints_and_paths_never_raise(shop: Ground) -> None:
    shop.write({"a.py": BIG.replace("one * one", "one")})
    anchor = shop.anchor("a.py", "f")
    odd = [
        replace(anchor, blob="", body_hash="b1:"),
        replace(anchor, blob="git9:0", commit="HEAD; rm -rf"),
        replace(anchor, path="../../etc/passwd", blob="x"),
        replace(anchor, path="a\0b", blob="x"),
        replace(anchor, path="", blob="x"),
        replace(anchor, symbol="f#99", blob="", body_hash="b1:x.y"),
        Anchor(path="missing.py"),
        Anchor(path="notes.txt", symbol="f", body_hash="b1:x.y", signature_hash="s1:x.y"),
    ]
    for odd_anchor in odd:
        assert shop.verdict(odd_anchor).freshness in ("fresh", "drifted", "changed", "orphaned", "unverified")


def test_a_file_anchor_is_fresh_when_only_comments_or_layout_differ(shop: Ground) -> None:
    anchor = shop.anchor("a.py")
    shop.write({"a.py": "# why\n\n" + BIG})
    assert state_and_words(shop, anchor) == ("fresh", "comments or layout only")
    shop.write({"a.py": BIG + "x = 1\n"})
    assert state_and_words(shop, anchor) == ("drifted", "a.py changed since")


def test_a_file_of_no_language_is_judged_as_a_whole(shop: Ground) -> None:
    anchor = shop.anchor("notes.txt")
    shop.write({"notes.txt": "one\n"})
    assert state_and_words(shop, anchor) == ("drifted", "notes.txt changed since")
    shop.write({"notes.txt": None})
    assert state_and_words(shop, anchor) == ("orphaned", "notes.txt is gone")


def test_a_file_anchor_follows_gits_renames(shop: Ground) -> None:
    anchor = shop.anchor("notes.txt")
    shop.git("mv", "notes.txt", "docs.txt")
    shop.commit()
    shop.git("mv", "docs.txt", "words.txt")
    shop.commit()
    verdict = shop.verdict(anchor)
    assert (verdict.freshness, verdict_words(verdict), verdict.anchor.path) == (
        "moved",
        "moved to words.txt",
        "words.txt",
    )


def test_a_trail_goes_on_through_several_commits(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    shop.write({"a.py": "x = 1\n", "b.py": BIG.replace("one * one", "one ** 2")})
    shop.commit()
    shop.write({"b.py": BIG.replace("one * one", "one ** 2").replace("def f", "def mean")})
    shop.commit()
    shop.write({"b.py": None, "c.py": BIG.replace("one * one", "one ** 3").replace("def f", "def mean")})
    shop.commit()
    verdict = shop.verdict(anchor)
    assert (verdict.freshness, verdict.anchor.path, verdict.anchor.symbol) == ("drifted", "c.py", "mean")
    assert verdict_words(verdict) == "renamed to mean, moved to c.py; body changed (2 of 28 tokens)"


def test_the_commit_that_deleted_it_is_named(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    shop.write({"a.py": "x = 1\n"})
    commit = shop.commit()
    shop.write({"a.py": "x = 2\n"})
    shop.commit()
    assert state_and_words(shop, anchor) == ("orphaned", f"f deleted in commit {commit[:10]}")


def test_a_new_namesake_is_not_taken_for_what_was_deleted_before(shop: Ground) -> None:
    shop.write({"b.py": "class A:\n    " + SMALL.replace("\n    ", "\n        ")})
    shop.commit()
    anchor = shop.anchor("b.py", "A.close")
    shop.write({"b.py": "class A:\n    x = 1\n"})
    shop.commit()
    shop.write({"c.py": "class B:\n    " + SMALL.replace("\n    ", "\n        ")})
    shop.commit()
    assert state_and_words(shop, anchor)[0] == "orphaned"


def test_a_copy_that_was_there_before_is_not_what_moved(shop: Ground) -> None:
    shop.write({"b.py": BIG})
    shop.commit()
    anchor = shop.anchor("a.py", "f")
    shop.write({"a.py": "x = 1\n"})
    shop.commit()
    assert state_and_words(shop, anchor)[0] == "orphaned"


def test_two_places_that_fit_are_not_guessed_between(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    shop.write({"a.py": "x = 1\n", "b.py": BIG, "c.py": BIG})
    assert state_and_words(shop, anchor)[0] == "orphaned"


def test_the_second_verdict_is_the_stored_one(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    shop.write({"a.py": BIG.replace("one * one", "one")})
    first = shop.verdict(anchor)
    again = LocalCodeIndex(_NoReading(shop), lambda location: shop.store, None)  # type: ignore[arg-type]
    assert again.verdict(shop.location, anchor) == first


def test_a_stored_verdict_is_not_used_when_the_file_it_was_followed_to_changed(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    shop.write({"a.py": "x = 1\n", "b.py": BIG})
    shop.commit()
    assert state_and_words(shop, anchor)[0] == "moved"
    assert state_and_words(shop, anchor)[0] == "moved"
    shop.write({"b.py": BIG.replace("one * one", "one")})
    assert state_and_words(shop, anchor)[0] == "drifted"


def test_what_is_gone_in_the_work_tree_is_looked_for_again(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    shop.write({"a.py": "x = 1\n"})
    assert state_and_words(shop, anchor) == ("orphaned", "f deleted in the work tree")
    shop.write({"b.py": BIG})
    assert state_and_words(shop, anchor) == ("moved", "moved to b.py")


def test_the_anchor_is_reported_as_it_would_be_written_now(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    shop.write({"a.py": "x = 1\n\n\n" + BIG.replace("def f(a)", "def f(a, b)")})
    assert shop.verdict(anchor).anchor == replace(shop.anchor("a.py", "f"), commit=anchor.commit)


class _NoReading:
    """A workspace that tells blobs and nothing else: what a kept verdict may cost."""

    def __init__(self, ground: Ground) -> None:
        self.blob = ground.workspace.blob


def test_members_that_move_with_their_type_are_not_called_deleted(shop: Ground) -> None:
    short = "class Error:\n    def kind(self):\n        return self._kind\n"
    shop.write({f"{name}/error.py": short for name in ("one", "two", "three")})
    shop.commit()
    anchor = shop.anchor("two/error.py", "Error.kind")
    for name in ("one", "two", "three"):
        shop.git("mv", name, f"lib_{name}")
    shop.commit()
    assert state_and_words(shop, anchor) == ("moved", "moved to lib_two/error.py")


INIT = """(Exception):
    def __init__(self, response, request, options):
        super().__init__(response, request)
        self.response = response
        self.request = request
        self.options = options
"""


def test_a_namesake_is_preferred_to_an_equal_body_of_another_name(shop: Ground) -> None:
    other = "class Other:\n    x = 1\n"
    shop.write({"errors.py": f"class HTTPError{INIT}\n\n{other}"})
    shop.commit()
    anchor = shop.anchor("errors.py", "HTTPError.__init__")
    changed = INIT.replace("self.options = options", "self.options = dict(options)")
    shop.write({"errors.py": other, "core.py": f"class HTTPError{changed}\n\nclass MaxRedirectsError{INIT}"})
    shop.commit()
    freshness, words = state_and_words(shop, anchor)
    assert (freshness, words.startswith("moved to core.py"), "MaxRedirects" in words) == ("drifted", True, False)


OVERLOADS = (
    "def raises(kind): ...\n\ndef raises(kind, match): ...\n\ndef raises(kind, match=None):\n    return [kind, match]\n"
)


def test_definitions_of_one_name_are_one_anchor(shop: Ground) -> None:
    shop.write({"a.py": OVERLOADS})
    shop.commit()
    anchor = shop.anchor("a.py", "raises")
    assert (anchor.symbol, anchor.symbol_kind) == ("raises", "group")
    shop.write({"a.py": "# why\n" + OVERLOADS.replace("[kind, match]", "[kind, match,]")})
    assert state_and_words(shop, anchor) == ("fresh", "")
    shop.write({"a.py": OVERLOADS.replace("[kind, match]", "[match]")})
    assert state_and_words(shop, anchor) == ("drifted", "definition 3 of 3: body changed (2 of 16 tokens)")
    shop.write({"a.py": OVERLOADS.replace("(kind, match)", "(kind, match, check)")})
    assert state_and_words(shop, anchor)[0] == "changed"
    assert "definition 2 of 3: signature: check added" in state_and_words(shop, anchor)[1]
    shop.write({"a.py": OVERLOADS + "\ndef raises(a, b, c):\n    return a\n"})
    assert state_and_words(shop, anchor) == ("changed", "1 definition added")
    shop.write({"a.py": OVERLOADS.partition("\n\n")[2]})
    assert state_and_words(shop, anchor) == ("changed", "1 definition removed")


def test_a_group_is_followed_to_another_file(shop: Ground) -> None:
    shop.write({"a.py": BIG + OVERLOADS})
    shop.commit()
    anchor = shop.anchor("a.py", "raises")
    shop.write({"a.py": BIG, "b.py": OVERLOADS})
    assert state_and_words(shop, anchor) == ("moved", "moved to b.py")
    shop.commit()
    assert state_and_words(shop, anchor) == ("moved", "moved to b.py")


def test_a_numbered_anchor_is_judged_by_the_definition_it_meant(shop: Ground) -> None:
    shop.write({"a.py": OVERLOADS})
    shop.commit()
    anchor = shop.anchor("a.py", "raises#3")
    assert anchor.symbol_kind == "function"
    shop.write({"a.py": OVERLOADS.replace("(kind, match)", "(kind, match, check)")})
    assert state_and_words(shop, anchor) == ("fresh", "")


def test_a_definition_that_becomes_one_of_several_stays_what_it_was(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    shop.write({"a.py": "def f(): ...\n\n" + BIG})
    assert state_and_words(shop, anchor) == ("fresh", "")


def test_one_name_for_another_is_reported_as_such(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    shop.write({"a.py": BIG.replace("total", "result")})
    verdict = shop.verdict(anchor)
    assert (verdict.freshness, verdict_words(verdict)) == ("drifted", "body changed (total is result throughout)")
    assert verdict.share < 0.05


def test_modifiers_are_named_and_are_no_decorators(shop: Ground) -> None:
    shop.write({"A.java": "class A {\n  public void t() { run(1); }\n}\n"})
    shop.commit()
    anchor = shop.anchor("A.java", "A.t")
    shop.write({"A.java": "class A {\n  @Test public void t() { run(1); }\n}\n"})
    assert state_and_words(shop, anchor) == ("changed", "signature: decorator added")
    shop.write({"A.java": "class A {\n  private static void t() { run(1); }\n}\n"})
    assert state_and_words(shop, anchor) == ("changed", "signature: private added, static added, public removed")


def test_what_a_merge_removed_is_not_called_deleted_in_the_work_tree(shop: Ground) -> None:
    anchor = shop.anchor("a.py", "f")
    shop.git("checkout", "-q", "-b", "side")
    shop.write({"b.py": SMALL})
    shop.commit()
    shop.git("checkout", "-q", "main")
    shop.git("merge", "-q", "--no-commit", "--no-ff", "side")
    shop.write({"a.py": "x = 1\n"})
    shop.commit("merge")
    freshness, words = state_and_words(shop, anchor)
    assert freshness == "orphaned"
    assert "work tree" not in words
    shop.git("reset", "-q", "--hard", "HEAD^")
    shop.write({"a.py": "x = 1\n"})
    assert state_and_words(shop, anchor)[1] == "f deleted in the work tree"


ABOVE = "def above(left, right):\n    return left if left > right else right\n"
BELOW = "def below(left, right):\n    return left if left < right else right\n"
RUNS = """def test_runs_twice():
    ground = make_ground(rows=3)
    run = start(ground)
    try:
        run.go(ground)
        run.go(ground)
    except Stopped:
        fail("stopped")
"""
REWRITTEN = """def test_a_second_time_is_refused():
    ground = make_ground(rows=3)
    run = start(ground)
    run.go(ground)
    with raises(Refused) as refusal:
        run.go(ground)
    assert refusal.value.hint == "once"
"""


def test_what_takes_its_place_under_another_name_is_followed_though_much_of_it_changed(shop: Ground) -> None:
    shop.write({"b.py": "\n\n".join((ABOVE, RUNS, BELOW))})
    shop.commit()
    anchor = shop.anchor("b.py", "test_runs_twice")
    shop.write({"b.py": "\n\n".join((ABOVE, REWRITTEN, BELOW))})
    shop.commit()
    verdict = shop.verdict(anchor)
    assert (verdict.freshness, verdict.anchor.symbol) == ("drifted", "test_a_second_time_is_refused")


def test_of_several_in_one_place_the_first_is_what_the_first_became_classes_aside(shop: Ground) -> None:
    twice, other = RUNS.replace("rows=3", "rows=4"), REWRITTEN.replace("rows=3", "rows=4")
    shop.write({"b.py": "\n\n".join((ABOVE, RUNS, twice.replace("_twice", "_often"), BELOW))})
    shop.commit()
    anchors = [shop.anchor("b.py", name) for name in ("test_runs_twice", "test_runs_often")]
    kinds = "class Refused(Exception):\n    hint = 'once'\n"
    shop.write({"b.py": "\n\n".join((ABOVE, kinds, REWRITTEN, other.replace("second", "fourth"), BELOW))})
    shop.commit()
    symbols = [shop.verdict(anchor).anchor.symbol for anchor in anchors]
    assert symbols == ["test_a_second_time_is_refused", "test_a_fourth_time_is_refused"]


def test_what_appears_elsewhere_in_the_file_needs_more_in_common(shop: Ground) -> None:
    shop.write({"b.py": "\n\n".join((ABOVE, RUNS, BELOW))})
    shop.commit()
    anchor = shop.anchor("b.py", "test_runs_twice")
    shop.write({"b.py": "\n\n".join((ABOVE, BELOW, REWRITTEN))})
    shop.commit()
    assert state_and_words(shop, anchor)[0] == "orphaned"


def test_what_takes_its_place_and_has_little_in_common_is_not_followed(shop: Ground) -> None:
    shop.write({"b.py": "\n\n".join((ABOVE, RUNS, BELOW))})
    shop.commit()
    anchor = shop.anchor("b.py", "test_runs_twice")
    shop.write({"b.py": "\n\n".join((ABOVE, "def total(rows):\n    return sum(len(row) for row in rows)\n", BELOW))})
    shop.commit()
    assert state_and_words(shop, anchor)[0] == "orphaned"


def test_the_same_text_in_its_place_comes_before_a_namesake_of_other_text(shop: Ground) -> None:
    options = "class {}:\n    def read(self, path):\n        self.path = path\n        return open(path).read()\n"
    shop.write({"b.py": "\n\n".join((ABOVE, options.format("Options"), BELOW))})
    shop.commit()
    anchor = shop.anchor("b.py", "Options")
    shop.write({
        "b.py": "\n\n".join((ABOVE, options.format("LegacyOptions"), BELOW)),
        "c.py": "class Options:\n    def merge(self, other):\n        return {**self.values, **other.values}\n",
    })  # fmt: skip
    shop.commit()
    assert state_and_words(shop, anchor) == ("moved", "renamed to LegacyOptions")


def test_a_namesake_of_the_same_text_comes_before_what_took_its_place(shop: Ground) -> None:
    shop.write({"b.py": "\n\n".join((ABOVE, RUNS, BELOW))})
    shop.commit()
    anchor = shop.anchor("b.py", "test_runs_twice")
    alike = RUNS.replace("test_runs_twice", "test_goes_twice").replace("rows=3", "rows=5")
    shop.write({"b.py": "\n\n".join((ABOVE, alike, BELOW)), "c.py": RUNS})
    shop.commit()
    assert state_and_words(shop, anchor) == ("moved", "moved to c.py")


def test_a_class_that_became_an_alias_and_came_back_is_another_one(shop: Ground) -> None:
    shop.write({"b.py": "class Late(Exception):\n    '''Too late.'''\n", "d.py": SMALL})
    shop.commit()
    anchor = shop.anchor("b.py", "Late")
    shop.write({"b.py": None, "c.py": "class Late(Exception):\n    '''Too late.'''\n"})
    shop.commit()
    shop.write({"c.py": "import core\n\nLate = core.Late\n"})
    alias = shop.commit()
    shop.write({"c.py": "class Late(TransportError):\n    '''It took too long.'''\n"})
    shop.commit()
    assert state_and_words(shop, anchor) == ("orphaned", f"Late deleted in commit {alias[:10]}")


def test_a_file_that_came_and_went_on_a_merged_branch_is_followed(shop: Ground) -> None:
    shop.git("checkout", "-q", "-b", "side")
    shop.write({"b.py": f"class Wrapping:\n    {SMALL.replace(chr(10) + '    ', chr(10) + '        ')}"})
    shop.commit()
    anchor = shop.anchor("b.py", "Wrapping.close")
    shop.git("mv", "b.py", "c.py")
    shop.write({"c.py": f"class Delegating:\n    {SMALL.replace(chr(10) + '    ', chr(10) + '        ')}"})
    shop.commit()
    shop.git("checkout", "-q", "main")
    shop.write({"notes.txt": "three\n"})
    shop.commit()
    shop.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    verdict = shop.verdict(anchor)
    assert (verdict.freshness, verdict.anchor.path, verdict.anchor.symbol) == ("moved", "c.py", "Delegating.close")

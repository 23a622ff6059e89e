"""Which sentences of a commit are finds, in whose words, and which commits are left out."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast.domain.project import Commit
from holdfast.learning.commitfinds import CommitFind, find_all, is_routine, mended, subject_files
from tests.learning.test_git_history import CAUSE, NOW, commit

MUST = (
    "The readings of a harbour must be kept in `pairs_list` so that `json_dumps` sees each port in the order of days."
)
PLAIN = "The sky over the harbour was blue on the day on which somebody looked at it for the first time in May."
INSTEAD = "Days are kept in `pairs_list` instead of a mapping, for each of the harbours and all of their many ports."
OTHERWISE = "Days are kept in `pairs_list` because otherwise each of the harbours and their ports has days out of line."
BROKE = "Days are kept in `pairs_list` instead of a mapping, which broke each of the harbours and all of their ports."


def finds(body: str, subject: str = "Keep readings as pairs", **fields: object) -> list[CommitFind]:
    return find_all([commit(f"{subject}\n\n{body}", **fields)])  # type: ignore[arg-type]


def quotes(body: str, subject: str = "Keep readings as pairs") -> list[str]:
    return [find.quote for find in finds(body, subject)]


# Commits that say nothing


def test_a_routine_commit_gives_no_find() -> None:
    assert len(find_all([commit(CAUSE)])) == 1
    assert find_all([commit(CAUSE, author="renovate[bot]")]) == []
    assert is_routine(commit(f"Merge branch x\n\n{MUST}"))
    assert is_routine(commit(f"chore(deps): bump x\n\n{MUST}"))
    assert is_routine(commit(f"fix(tides): typo in a word\n\n{MUST}"))
    assert not is_routine(commit(f"fix(tides): a word\n\n{MUST}"))


def test_a_commit_that_was_reverted_later_says_nothing() -> None:
    revert = commit(f"Undo it\n\nThis reverts commit {'a' * 40}.", id="b" * 40)
    other = commit(CAUSE, id="d" * 40)
    assert [find.commit.id for find in find_all([revert, commit(CAUSE, id="a" * 40), other])] == ["d" * 40]


def test_finds_are_sorted_by_their_worth_then_the_newest_then_the_id() -> None:
    weak, strong = f"Keep it here\n\nAdd it so that {PLAIN[4:]}", f"Keep it here\n\n{MUST}"
    commits = [
        commit(weak, id="a"),
        commit(strong, id="b", at=NOW - timedelta(days=2)),
        commit(strong, id="d", at=NOW - timedelta(days=1)),
        commit(strong, id="c", at=NOW - timedelta(days=1)),
    ]
    assert [find.commit.id for find in find_all(commits)] == ["c", "d", "b", "a"]


# Sentences


@pytest.mark.parametrize(
    ("body", "quote"),
    [
        ("Maybe the readings must be kept in `pairs_list` so that each port is seen in the order of its days.", ""),
        ("Maybe the readings are kept in `pairs_list` because each port is seen in the order of its own days.", "same"),
        ("These are the readings of a harbour that must be in `pairs_list` so that each is seen in order:", ""),
        (PLAIN, ""),
    ],
)
def test_guesses_without_a_because_and_what_leads_to_a_list_are_left_out(body: str, quote: str) -> None:
    assert quotes(body) == ([body] if quote else [])


@pytest.mark.parametrize(
    ("first", "second", "is_second"),
    [
        (INSTEAD, OTHERWISE, True),
        (OTHERWISE, INSTEAD, False),
        (INSTEAD, BROKE, True),
        (INSTEAD, INSTEAD.replace("pairs", "ports"), False),
    ],
)
def test_of_several_reasons_the_strongest_is_delivered_then_one_with_a_harm_then_the_first(
    first: str, second: str, is_second: bool
) -> None:
    assert quotes(f"{first} {PLAIN} {second}") == [second if is_second else first]


def sized(start: str, length: int) -> str:
    """A sentence of that length."""
    return start + " " + "x" * (length - len(start) - 2) + "."


@pytest.mark.parametrize(
    ("reason", "takes_before"),
    [
        (sized("So `pairs_list` must be kept because", 79), True),
        (sized("Days `pairs_list` must be kept because", 79), True),
        (sized("Days `pairs_list` must be kept because", 80), False),
        (sized("As a result `pairs_list` must be kept because", 120), True),
    ],
)
def test_a_sentence_that_is_short_or_leans_on_another_takes_the_one_before_along(
    reason: str, takes_before: bool
) -> None:
    assert quotes(f"{PLAIN} {reason}") == [f"{PLAIN} {reason}" if takes_before else reason]


@pytest.mark.parametrize(("length", "takes_both"), [(420, True), (421, False)])
def test_the_sentence_before_is_left_out_where_both_are_too_long(length: int, takes_both: bool) -> None:
    reason = sized("As a result `pairs_list` must be kept because", 200)
    before = sized("Tides", length - 201)
    assert quotes(f"{before} {reason}") == [f"{before} {reason}" if takes_both else reason]


@pytest.mark.parametrize(
    ("behind", "is_taken"),
    [
        ("Every reader must keep it.", True),
        ("Readers get pairs rather than a mapping.", True),
        ("It turned out well.", True),
        ("Readers like it.", False),
        (sized("Every reader must keep it", 315 - len(MUST) - 1), True),
        (sized("Every reader must keep it", 316 - len(MUST) - 1), False),
    ],
)
def test_a_cause_a_reason_or_a_rule_behind_is_taken_along_up_to_three_quarters_of_the_length(
    behind: str, is_taken: bool
) -> None:
    assert quotes(f"{MUST} {behind}") == [f"{MUST} {behind}" if is_taken else MUST]


def test_markdown_and_a_label_in_front_are_left_out() -> None:
    assert quotes(f"**Root cause**: {MUST.replace('harbour', '[harbour](http://x)')}") == [MUST]


# What a sentence is worth


def test_a_worth_is_never_below_nothing() -> None:
    weak = "Add the readings in this commit instead of a mapping, rather than others."
    [find] = finds(weak, "docs: update stuff", at=NOW)
    assert find.worth == 0.0
    newest = commit("Something else that says nothing of why it was done at all", id="n", at=NOW + timedelta(days=1460))
    [aged] = find_all([newest, commit(f"docs: update stuff\n\n{weak}")])
    assert aged.worth == 0.0


# Reverts

WHY = "It deadlocks when two harbours call `load_tide` at once."


@pytest.mark.parametrize(
    ("subject", "reverted", "title"),
    [
        ('Revert "feat: share one lock (#4)"', "", "Reverted: Share one lock"),
        ("Undo the sharing", "a" * 40, "Reverted: Share the lock"),
        ('Revert "feat: share one lock (#4)"', "a" * 40, "Reverted: Share one lock"),
        ("Reverts the shared lock", "", "Reverted: the shared lock"),
        ("Reverts the shared lock", "e" * 40, "Reverted: the shared lock"),
    ],
)
def test_a_revert_is_named_by_its_quote_then_by_what_it_reverts_then_by_itself(
    subject: str, reverted: str, title: str
) -> None:
    names = f"This reverts commit {reverted}.\n\n" if reverted else ""
    others = [commit("feat: share the lock", id="a" * 40), commit("feat: another", id="c0" * 20)]
    [find] = find_all([commit(f"{subject}\n\n{names}{WHY}", id="f" * 40), *others])
    assert (find.title, find.source, find.kind) == (title, "revert", "failed_approach")


def test_a_revert_of_nothing_that_has_a_name_is_left_out() -> None:
    assert find_all([commit(f"revert: (#12)\n\n{WHY}")]) == []


@pytest.mark.parametrize(
    ("why", "is_found"),
    [
        ("It deadlocks on every one, yes", True),
        ("It deadlocks on every one, so", False),
        (sized("It deadlocks", 420), True),
        (sized("It deadlocks", 421), False),
        ("It deadlocks when two harbours call it, as these say:", False),
        ("It was chosen to avoid the second of the two.", True),
        ("It led to a second one of each of the two.", True),
        ("It was not liked by each of the two of us.", False),
    ],
)
def test_a_revert_says_why_by_a_cause_a_reason_or_a_harm_in_thirty_characters(why: str, is_found: bool) -> None:
    assert bool(finds(why, 'Revert "share one lock"')) is is_found


def test_the_first_reason_of_a_revert_counts_and_a_revert_within_a_squash_is_no_revert() -> None:
    [find] = finds(f"Nothing.\n\n{WHY}\n\nIt also crashes for each of the readers.", 'Revert "share one lock"')
    assert find.quote == WHY
    squashed = finds(f"* revert: drop the pairs\n\n{MUST}", "Work on the ports of harbours")
    assert [(each.source, each.quote) for each in squashed] == [("reason", MUST)]
    first = finds(f"{WHY}\n\n* feat: more\n\n{MUST}", 'Revert "share one lock"')
    assert sorted(each.source for each in first) == ["reason", "revert"]


# Fixes of fixes


def test_code_goes_before_tests_and_tests_before_documents() -> None:
    names = ["docs/tests/a.md", "tests/a.json", "CHANGELOG.txt", "x_test.go", "a.spec.ts", "src/attest.py", "b.py"]
    assert subject_files(names) == ("src/attest.py", "b.py", "x_test.go", "a.spec.ts")
    assert subject_files(["README.md", "tests/a.md", "b.txt"]) == ("README.md", "tests/a.md", "b.txt")


class Lines:
    """The lines of commits: a fix removes what each other commit adds."""

    def __init__(self, fix: str = "f" * 40) -> None:
        self.fix = fix
        self.asked: list[tuple[str, str]] = []

    def __call__(self, id: str, path: str) -> tuple[frozenset[str], frozenset[str]]:
        self.asked.append((id, path))
        line = frozenset({"return tide"})
        return (line, frozenset()) if id == self.fix else (frozenset(), line)


def mending(subject: str, age: timedelta, message: str = CAUSE) -> CommitFind:
    fix, earlier = commit(message, id="f" * 40), commit(subject, id="b" * 40, at=NOW - age)
    return find_all([fix, earlier], Lines())[0]


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(0), "the same day"),
        (timedelta(hours=23), "the same day"),
        (timedelta(days=1), "1 day before"),
        (timedelta(days=2), "2 days before"),
    ],
)
def test_a_fix_says_how_long_before_it_what_it_mends_was_written(age: timedelta, words: str) -> None:
    find = mending("feat: cache the tides", age)
    assert find.source == "mended"
    assert find.insight.endswith(f" (It fixes “Cache the tides” of {words}.)")


@pytest.mark.parametrize("subject", ["Update stuff", "Address review feedback of the tides", "fix:  (#1)"])
def test_a_subject_that_says_nothing_is_not_named_as_mended(subject: str) -> None:
    find = mending(subject, timedelta(days=1))
    assert find.source == "mended"
    assert "It fixes" not in find.insight


def test_a_mended_cause_is_worth_a_twentieth_more_up_to_the_limit() -> None:
    [alone] = find_all([commit(CAUSE)])
    assert mending("feat: cache the tides", timedelta(days=1)).worth == round(alone.worth + 0.05, 3)
    strong = (
        "fix: key\n\nThe root cause was that `a_key` must have the port, because `b_key` and `c_key` crash otherwise, "
        "so that all is lost."
    )
    [best] = find_all([commit(strong, id="f" * 40)])
    assert best.worth > 0.7
    assert mending("feat: cache", timedelta(days=1), strong).worth == round(min(0.95, best.worth + 0.05), 3)


def test_git_is_queried_for_the_lines_of_causes_that_follow_another_commit_of_the_file_alone() -> None:
    lines = Lines()
    reason = commit(f"Keep it as pairs\n\n{MUST}", id="f" * 40)
    earlier = commit("feat: cache the tides of the day", id="b" * 40, at=NOW - timedelta(days=1))
    assert [find.source for find in find_all([reason, earlier], lines)] == ["reason"]
    assert lines.asked == []
    elsewhere = commit("feat: cache", id="b" * 40, at=NOW - timedelta(days=1), files=("other.py",))
    assert dict(mended([commit(CAUSE, id="f" * 40), elsewhere], lines, {"f" * 40})) == {}
    assert lines.asked == []


@pytest.mark.parametrize(("files", "is_mended"), [(30, True), (31, False)])
def test_a_sweep_over_files_is_no_cause_of_a_later_fix(files: int, is_mended: bool) -> None:
    names = ("src/tides.py", *(f"{n}.py" for n in range(files - 1)))
    sweep = commit("feat: sweep", id="b" * 40, at=NOW - timedelta(days=1), files=names)
    fix = commit(CAUSE, id="f" * 40)
    assert dict(mended([fix, sweep], Lines(), {fix.id})) == ({fix.id: sweep} if is_mended else {})


def test_the_newest_of_the_commits_that_share_a_line_is_the_one_that_is_mended() -> None:
    older: Commit = commit("a", id="a" * 40, at=NOW - timedelta(days=3))
    newer: Commit = commit("b", id="b" * 40, at=NOW - timedelta(days=2))
    fix = commit(CAUSE, id="f" * 40)
    assert dict(mended([fix, newer, older], Lines(), {fix.id})) == {fix.id: newer}

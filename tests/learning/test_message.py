"""What is read of a commit's message: its statements, their subjects, and the author's own lines below them."""

from __future__ import annotations

import pytest

from holdfast.learning.commitmessage import MessagePart, quoted_subject, read_message


def below(*lines: str) -> tuple[str, ...]:
    """The paragraphs that are read of those lines below a subject."""
    [part] = read_message("\n".join(("Subject", "", *lines)))
    return part.paragraphs


def subjects(message: str) -> list[str]:
    return [part.subject for part in read_message(message)]


@pytest.mark.parametrize("message", ["", " \n\t\r\n "])
def test_an_empty_message_has_no_statement(message: str) -> None:
    assert read_message(message) == ()


def test_a_message_of_one_line_is_one_statement_without_paragraphs() -> None:
    assert read_message("Keep it\r") == (
        MessagePart(subject="Keep it", type="", paragraphs=(), reverts="", is_revert=False),
    )


# Statements of a squashed pull request


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("\n\n* fix: one\n\n* feat: two", ["Subject", "One", "Two"]),
        ("\n* fix: one\n\n* feat: two", ["Subject", "One", "Two"]),
        ("\n\nWords.\n* one\n\n* two", ["Subject"]),
        ("\n\n* one\n* two", ["Subject"]),
        ("\n\n- one\n\n- two", ["Subject"]),
        ("\n\n* one\n\n  * nested", ["Subject", "One"]),
    ],
)
def test_starred_lines_are_commits_where_each_stands_behind_an_empty_line(body: str, parts: list[str]) -> None:
    assert subjects("Subject" + body) == parts


def test_each_commit_of_a_squash_has_the_paragraphs_below_it() -> None:
    first, second, third = read_message("Subject\n\nAll.\n\n* fix: one\n\nOf one.\n\n* two\n\nOf two.\n- More.")
    assert (first.paragraphs, second.paragraphs, third.paragraphs) == (("All.",), ("Of one.",), ("Of two.", "More."))
    assert (first.type, second.type, third.type) == ("", "fix", "")


def test_the_commit_that_a_message_reverts_is_its_first_statements() -> None:
    reverting = f"This reverts commit {'a1' * 10}."
    assert read_message(f"Undo it\n\n{reverting}") == (
        MessagePart(subject="Undo it", type="", paragraphs=(), reverts="a1" * 10, is_revert=True),
    )
    first, second, third = read_message(f"Undo it\n\n{reverting}\n\n* one\n\nWords.\n\n* two\n\nWords.")
    assert (first.reverts, first.is_revert) == ("a1" * 10, True)
    assert (second.reverts, second.is_revert, third.reverts, third.is_revert) == ("", False, "", False)


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("Keep the lock (#3)\n\n* fix: keep the lock\n\nIt was dropped.", [("Keep the lock", ("It was dropped.",))]),
        (
            "Keep the lock (#3)\n\nWhy.\n\n* keep the lock\n\nIt was dropped.",
            [("Keep the lock", ("Why.",)), ("Keep the lock", ("It was dropped.",))],
        ),
        (
            "Keep the lock (#3)\n\n* keep the port\n\nIt was dropped.",
            [("Keep the lock", ()), ("Keep the port", ("It was dropped.",))],
        ),
        ("Keep the lock\n\n* keep the lock", [("Keep the lock", ())]),
    ],
)
def test_a_subject_that_its_only_commit_repeats_is_delivered_once(
    message: str, parts: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert [(part.subject, part.paragraphs) for part in read_message(message)] == parts


# Lines


@pytest.mark.parametrize("fence", ["```", "~~~", "  ```python"])
def test_fenced_lines_are_left_out_and_what_follows_is_read(fence: str) -> None:
    closing = "~~~" if fence == "~~~" else "```"
    assert below("Before.", fence, "code = 1", "", "more", closing, "After.", fence, "x", closing) == (
        "Before.", "After.",
    )  # fmt: skip


def test_a_section_of_a_template_is_left_out_up_to_the_next_heading() -> None:
    assert below("## Test plan", "Ran it.", "", "All green.", "## Why", "It broke.") == ("It broke.",)
    assert below("**Checklist**:", "Ran it.", "Summary:", "It broke.") == ("It broke.",)


@pytest.mark.parametrize(
    "line",
    [
        "- [x] done", "Fixes #12", "Signed-off-by: Ada <a@b.c>", "https://example.com/x", "> quoted", "| a | b |",
        "$ make", "    code()", "\tcode()", "-------", "diff --git a/x b/x", "  at Foo.bar(x.java:1)",
        "Generated with care", "bumps left-pad from 1.0 to 1.1",
        "\t- code in a list", "         - nine blanks before it", "- Generated with care",
    ],
)  # fmt: skip
def test_what_is_not_the_authors_prose_is_left_out_and_parts_paragraphs(line: str) -> None:
    assert below("One", line, "two") == ("One", "two")


def test_paragraphs_end_at_an_empty_line_or_a_bullet_and_are_joined_to_one_line() -> None:
    assert below("One  line", "goes on", "", "", "Two", "- three", "  goes on", "4. four") == (
        "One line goes on", "Two", "three goes on", "four",
    )  # fmt: skip


# Subjects


@pytest.mark.parametrize(
    ("message", "subject", "kind"),
    [
        ("fix: keep it", "Keep it", "fix"),
        ("FIX(Tides)!: keep it", "Tides: keep it", "fix"),
        ("fix(tides): keep the Tides", "Keep the Tides", "fix"),
        ("Cache: keep it", "Cache: keep it", ""),
        ("cache(tides): keep it", "Cache(tides): keep it", ""),
        (f"fix({'s' * 30}): keep it", f"{'s' * 30}: keep it", "fix"),
        (f"fix({'s' * 31}): keep it", "Keep it", "fix"),
        ("fix(cache): (#12)", "cache", "fix"),
        ("Keep it. (#12) [AB-1]", "Keep it", ""),
        ("AB-12: keep it", "Keep it", ""),
    ],
)
def test_a_subject_loses_type_and_number_and_keeps_a_scope_that_adds_a_word(
    message: str, subject: str, kind: str
) -> None:
    [part] = read_message(message)
    assert (part.subject, part.type) == (subject, kind)


@pytest.mark.parametrize(
    ("message", "is_revert"),
    [
        ("revert!: keep it", True),
        ("Reverts the lock", True),
        ("revert: feat: keep it", True),
        ("Reverting", False),
        ("Keep it\n\nThis partially reverts commit abcdef1.", True),
        ("Keep the revert", False),
        ("fix: keep it", False),
    ],
)
def test_a_revert_says_so_in_its_type_its_subject_or_its_body(message: str, is_revert: bool) -> None:
    assert [part.is_revert for part in read_message(message)] == [is_revert]


@pytest.mark.parametrize(
    ("subject", "quoted"),
    [('Revert "feat(cli): add a flag (#4)"', "cli: add a flag"), ("Revert “Keep it”", "Keep it"), ("Revert it", "")],
)
def test_a_revert_names_the_subject_that_it_quotes(subject: str, quoted: str) -> None:
    assert quoted_subject(subject) == quoted

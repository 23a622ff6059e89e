"""Which part of a text in the user's place a person wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.speech import MASK, is_spoken, own_words, spoken_text
from holdfast.text.window import before_paste, sentences, speaker_trust

RULE = "Remember that the clock is seeded."
TEXTS = st.lists(
    st.sampled_from(
        ["<a>", "</a>", "<b x='1'>", "</B >", "```", "```py", "~~~", "> q", "\n", " ", RULE, "<", ">", "x"]
    ),
    max_size=24,
).map("".join)


def spoken_sentences(text: str) -> list[str]:
    """The sentences a person said."""
    return [sentence for sentence, _ in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        f"<ide_selection>{RULE}</ide_selection>",
        f"<zebra kind='x'>\n{RULE}\n</zebra>",
        f"<zebra>\n{RULE}",
        f"<zebra>a\n</zebra>\n{RULE}\n</zebra>",
        f"<IDE_Selection>{RULE}</ide_selection >",
        f"```\n{RULE}\n```",
        f"```\n{RULE}",
        f"```\n# readme\n```bash\nls\n```\n{RULE}\n```",
        f"~~~\n{RULE}\n~~~",
        f"> {RULE}",
        f"This session is being continued from a previous conversation. {RULE}",
    ],
)
def test_what_stands_in_a_tag_a_fence_or_a_quoted_line_is_nobodys(text: str) -> None:
    assert spoken_sentences(text) == []
    assert RULE not in spoken_text(text)


@pytest.mark.parametrize(
    "text",
    [
        RULE,
        f"<ide_opened_file>a.py</ide_opened_file>\n{RULE}",
        f"{RULE}\n```python\nx = 1\n```",
        f"```python\nx = 1\n```\n{RULE}\n```python\ny = 2\n```",
        f"{RULE} A tide list is a List<Tide>.",
        f"if a <b and c> d\n{RULE}",
        f"<br/>\n{RULE}",
    ],
)
def test_what_stands_outside_is_the_persons(text: str) -> None:
    assert RULE in spoken_sentences(text)


def test_a_sentence_that_holds_somebody_elses_words_is_left_out_whole() -> None:
    assert spoken_sentences("Use floats <b>never</b> for money. Use integers.") == ["Use integers."]


def test_a_text_of_tags_alone_is_not_spoken() -> None:
    assert not is_spoken("<task-notification>done</task-notification>\n")
    assert is_spoken("<task-notification>done</task-notification>\ngo on")


@given(TEXTS)
def test_offsets_stay_and_nothing_is_added(text: str) -> None:
    words = own_words(text)
    assert len(words) == len(text)
    assert all(mask in (MASK, "\n") or mask == char for char, mask in zip(text, words, strict=True))


@pytest.mark.parametrize(
    "lead",
    [
        "please fix this issue:\n\n",
        "From: ada\nSubject: clocks\n\n",
        "## Notes\n",
        "2026-03-01 10:00:00 INFO up\n",
        "On Monday, Ada wrote:\n",
        "$ cat notes\n",
        "The report reads: clocks break. ",
        "I got this email from ops\n\n",
        'The ticket says "clocks break. ',
    ],
)
def test_words_behind_the_sign_of_a_paste_are_not_a_persons(lead: str) -> None:
    assert speaker_trust(lead + RULE, len(lead)) == "tool"


@pytest.mark.parametrize(
    "lead", ["", "Fix the login test. ", "Fix the login test.\n\n", "Two rules:\n", "Hey claude,\n", "- do a\n- do b\n"]
)
def test_words_in_a_prompt_of_the_persons_own_are_a_persons(lead: str) -> None:
    assert speaker_trust(lead + RULE, len(lead)) == "person"


def test_a_goal_is_what_stands_before_the_paste() -> None:
    assert before_paste(f"Fix the clock.\n\n2026-03-01 10:00:00 ERROR late\n{RULE}") == "Fix the clock."
    assert before_paste("## Notes") == "## Notes"


@pytest.mark.parametrize("pump", ["\n", "<a>", "<", "```\n", "```a\n", "> \n", "issue: ", "a. ", "this:\n", "a b\n"])
def test_reading_takes_time_in_proportion_to_the_text(pump: str) -> None:
    """Steps are counted, not seconds: a text four times as long takes about four times as many."""
    short, long = (_steps(pump * (size // len(pump))) for size in (1_000, 4_000))
    assert long <= 6 * short + 2_000


def _steps(text: str) -> int:
    """Lines of Python run while the text is read."""
    import sys

    steps = 0

    def count(frame: object, event: str, arg: object) -> object:
        nonlocal steps
        steps += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)  # type: ignore[arg-type]
    try:
        own_words(text)
    finally:
        sys.settrace(before)
    return steps

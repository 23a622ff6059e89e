"""Rules files in units: nothing lost, nothing cut that must stay whole, an address for each."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.embedders.static import StaticEmbedder
from holdfast.errors import InvalidValueError
from holdfast.publishing.units import (
    PART_TOKENS,
    Unit,
    choose_units,
    default_budget,
    find_units,
    parse_units,
    question_about,
)

RULES = dedent(
    """\
    ---
    name: harbour
    ---
    Read this first.

    # Harbour

    A tide table.

    ## Commands

    ### Testing

    Run `pytest -q`. Slow tests need `--slow`.

    ```bash
    # not a heading
    pytest -q
    ```

    ### Building

    Run make.

    ## Style

    | rule | why |
    |---|---|
    | metres | the charts |

    Commands
    --------

    Again.
    """
)


def addresses(text: str) -> list[str]:
    return [unit.address for unit in parse_units(text)]


def test_every_heading_with_a_text_of_its_own_is_a_unit_under_the_one_title() -> None:
    assert addresses(RULES) == [
        "front-matter", "preamble", "harbour", "commands/testing", "commands/building", "style", "commands-2",
    ]  # fmt: skip


def test_a_unit_knows_its_headings_lines_tokens_and_first_sentence() -> None:
    unit = parse_units(RULES)[3]
    assert (unit.headings, unit.first, unit.last) == (("Commands", "Testing"), 12, 19)
    assert unit.contract == "Run pytest -q"
    assert unit.text.startswith("### Testing\n")
    assert unit.text.endswith("pytest -q\n```")
    assert unit.tokens > 0


def test_line_ends_a_byte_order_mark_and_nul_change_no_address() -> None:
    for text in ("\ufeff" + RULES, RULES.replace("\n", "\r\n"), RULES.replace("\n", "\r"), RULES + "\0"):
        assert addresses(text) == addresses(RULES)


def test_a_fence_that_is_never_closed_runs_to_the_end() -> None:
    assert addresses("# A\n\n```\n# b\n\n## c\n") == ["a"]


def test_a_blank_file_has_no_units() -> None:
    assert parse_units("") == parse_units(" \n\n\t\n") == ()


def test_front_matter_that_is_never_closed_is_text() -> None:
    assert addresses("---\nname: x\n\nhello\n")[0] == "preamble"


def test_a_long_section_is_cut_between_items_and_its_code_and_tables_are_not() -> None:
    items = "\n".join(f"- rule number {n} is about the tides and about the moon above them" for n in range(60))
    code = "```\n" + "\n".join(f"line({n})" for n in range(200)) + "\n```"
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| row {n} | cell |" for n in range(100))
    units = parse_units(f"# Long\n\n{items}\n\n{code}\n\n{table}\n")
    assert len(units) > 4
    assert [unit.address for unit in units] == [f"long:{n}" for n in range(1, len(units) + 1)]
    whole = [unit for unit in units if unit.tokens > PART_TOKENS]
    assert [unit.text in (code, table) for unit in whole] == [True, True]


def test_a_line_that_leads_in_a_block_stays_with_it() -> None:
    filler = "\n\n".join("The moon pulls the water, and the water rises, twice a day." for _ in range(20))
    units = parse_units(f"# A\n\n{filler}\n\nRun this:\n\n```\nmake\n```\n")
    assert any("Run this:\n\n```\nmake" in unit.text for unit in units)


def test_a_link_in_a_heading_counts_by_its_text() -> None:
    assert addresses("# [See also](https://example.org/a/b)\n\nx\n") == ["see-also"]


def test_an_address_finds_its_unit_and_all_below_and_an_unknown_one_the_nearest() -> None:
    units = parse_units(RULES)
    assert [unit.address for unit in find_units(units, "commands")] == ["commands/testing", "commands/building"]
    assert [unit.address for unit in find_units(units, "commands/testing/")] == ["commands/testing"]
    with pytest.raises(InvalidValueError, match="no unit 'test'") as raised:
        find_units(units, "test")
    assert "commands/testing" in raised.value.hint


def chosen(question: str, budget: int = 1000) -> list[str]:
    return [unit.address for unit in choose_units(parse_units(RULES), question, budget).units]


def test_the_section_asked_for_is_chosen_and_never_the_front_matter() -> None:
    assert chosen("how do I run the slow tests", parse_units(RULES)[3].tokens) == ["commands/testing"]
    assert "front-matter" not in chosen("harbour name")
    assert chosen("quaternions") == chosen("") == chosen("?!") == []


def test_the_budget_holds_and_a_section_too_long_for_it_is_named() -> None:
    units = parse_units(RULES)
    choice = choose_units(units, "slow pytest", 10)
    assert choice.tokens <= 10
    assert choice.too_long == units[3]


def test_work_on_a_file_asks_for_its_names_and_its_language() -> None:
    assert question_about("src/app/login.py") == "src/app/login.py python"
    assert question_about("Makefile") == "Makefile"


def test_a_small_file_is_given_whole_and_a_long_one_in_part() -> None:
    unit = parse_units("# A\n\n" + "moon " * 200)[0]
    assert default_budget([unit]) >= unit.tokens
    assert default_budget([unit] * 100) == 40 * unit.tokens


markdown = st.lists(
    st.sampled_from(["# A", "## A", "## B", "#### C", "text", "- item", "  - deeper", "```", "> quote", "| a |",
                     "|---|", "<!-- x", "-->", "", "    code", "1. one", "[x]: y", "\t", "é漢"]),
    max_size=40,
).map("\n".join)  # fmt: skip


@given(markdown)
@settings(max_examples=300)
def test_no_line_is_lost_or_told_twice_and_addresses_differ(text: str) -> None:
    units = parse_units(text)
    numbers = [number for unit in units for number in range(unit.first, unit.last + 1)]
    assert len(numbers) == len(set(numbers))
    lines = text.split("\n")
    lost = [line for number, line in enumerate(lines, 1) if line.strip() and number not in numbers]
    assert all(line.startswith("#") for line in lost), lost
    assert len({unit.address for unit in units}) == len(units)
    assert all(matches(unit, lines) for unit in units)


def matches(unit: Unit, lines: list[str]) -> bool:
    return unit.text == "\n".join(lines[unit.first - 1 : unit.last])


def test_an_embedder_finds_a_section_without_a_word_of_the_question() -> None:
    units = parse_units("# A\n\n## Pictures\n\nSave every photo as PNG.\n\n## Money\n\nCharge the credit card.\n")
    question = "store an image"
    assert choose_units(units, question, 1000).units == ()
    choice = choose_units(units, question, units[0].tokens, StaticEmbedder())
    assert [unit.address for unit in choice.units] == ["pictures"]
    assert choose_units(units, "", 1000, StaticEmbedder()).units == ()
    assert choose_units((), question, 1000, StaticEmbedder()).units == ()

"""Rules files fall into parts that stand alone, keep what they are for, and lose what is no rule."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.backfill.importing import find_sources
from holdfast.errors import InvalidValueError
from holdfast.ports.plugins import Passage
from tests.importers.conftest import Read, Write, insights, reasons

RULES = """# CLAUDE.md

This file provides guidance to Claude Code (claude.ai/code) when working with code in this repository.

## Commands

- `make test` runs all tests and takes four minutes
- `make lint` checks style, types and the import contracts

## Testing

Use the real database in tests. Mocks hid two migrations that
failed in production.

Why: the migrations are half of the logic.

Never:

- write to the user's home in a test
- sleep to wait for a thread

<!-- holdfast:begin rules -->
- A rule that memory wrote itself and must not read again
<!-- holdfast:end -->

## Layout

```
src/   the code
```

1. Write the migration
2. Run it twice
"""


def test_each_section_gives_its_parts_with_headings_reasons_and_kinds(read: Read, write: Write) -> None:
    parts = read(write("CLAUDE.md", RULES))
    assert insights(parts) == [
        "`make test` runs all tests and takes four minutes",
        "`make lint` checks style, types and the import contracts",
        "Use the real database in tests. Mocks hid two migrations that failed in production.",
        "Never: write to the user's home in a test",
        "Never: sleep to wait for a thread",
        "Layout:\n1. Write the migration\n2. Run it twice",
    ]
    passages = [part for part in parts if isinstance(part, Passage)]
    assert [part.section for part in passages[:3]] == ["CLAUDE.md > Commands"] * 2 + ["CLAUDE.md > Testing"]
    assert (passages[0].kind, passages[3].kind) == ("tooling", "constraint")
    assert passages[2].why == "the migrations are half of the logic."
    assert passages[2].title.startswith("Testing: Use the real database")
    assert {(part.trust, part.scope, part.path_prefix) for part in passages} == {("repository", "project", "")}
    assert len(reasons(parts)) == 1
    assert reasons(parts)[0].startswith("boilerplate: This file provides guidance")


def test_code_goes_with_the_words_before_it(read: Read, write: Write) -> None:
    (part,) = read(write("AGENTS.md", "Format before every commit:\n\n```sh\nmake format\n```\n"))
    assert isinstance(part, Passage)
    assert (part.insight, part.snippets) == ("Format before every commit:", ("make format",))


def test_boilerplate_goes_and_the_paragraph_after_it_stays(read: Read, write: Write) -> None:
    text = "You are an expert in Python and FastAPI.\n\nHandlers return problem documents.\n"
    assert insights(read(write(".cursorrules", text))) == ["Handlers return problem documents."]


def test_short_items_and_steps_stay_one_list(read: Read, write: Write) -> None:
    parts = read(write("AGENTS.md", "# Stack\n\n- Python\n- uv\n- ruff for style\n"))
    assert insights(parts) == ["Stack:\n- Python\n- uv\n- ruff for style"]


def test_a_long_section_becomes_several_and_loses_no_word(read: Read, write: Write) -> None:
    words = [f"word{n}" for n in range(900)]
    parts = read(write("AGENTS.md", "# Long\n\n" + " ".join(words)))
    assert len(parts) > 2
    assert " ".join(insights(parts)).split() == words


@pytest.mark.parametrize(
    ("name", "front", "globs"),
    [
        (".cursor/rules/api.mdc", "description: API\nglobs: src/api/**/*.ts, *.tsx\nalwaysApply: false", 2),
        (".cursor/rules/star.mdc", "globs: *.py\nalwaysApply: false", 1),
        (".cursor/rules/all.mdc", "globs:\nalwaysApply: true", 0),
        (".github/instructions/py.instructions.md", 'applyTo: "src/**/*.py,tests/**/*.{py,pyi}"', 2),
        (".github/copilot-instructions.md", "", 0),
        (".windsurf/rules/db.md", "trigger: glob\nglobs: db/**/*.sql", 1),
        (".devin/rules/db.md", "trigger: always_on", 0),
        (".clinerules/web.md", 'paths:\n  - "web/**"\n  - "shared/**"', 2),
        (".claude/rules/web.md", 'paths: ["web/**/*.ts"]', 1),
        (".roo/rules-code/web.md", "", 0),
        (".continue/rules/web.md", 'name: web\nglobs: ["web/**/*.ts", "web/**/*.css"]', 2),
        (".kiro/steering/web.md", 'inclusion: fileMatch\nfileMatchPattern: "web/**/*.ts"', 1),
        (".junie/guidelines.md", "", 0),
        (".cursorrules", "", 0),
        (".windsurfrules", "", 0),
        (".clinerules", "", 0),
        ("GEMINI.md", "", 0),
        ("CONVENTIONS.md", "", 0),
    ],
)
def test_every_rules_file_is_known_by_its_place_and_keeps_its_globs(
    name: str, front: str, globs: int, read: Read, write: Write, project: Path
) -> None:
    write(
        name, (f"---\n{front}\n---\n" if front else "") + "- Keep handlers free of queries\n- Name files by feature\n"
    )
    parts = read(project)
    assert insights(parts) == ["Keep handlers free of queries", "Name files by feature"]
    assert all(isinstance(part, Passage) and len(part.globs) == globs for part in parts)


def test_rules_of_a_part_of_the_project_hold_there(read: Read, write: Write, project: Path) -> None:
    write("packages/api/AGENTS.md", "- Handlers return problem documents\n- Errors carry a code of ours\n")
    write(
        "packages/web/.cursor/rules/a.mdc", "---\nglobs: ./src/**/*.ts,*.css\n---\nNo default exports in components\n"
    )
    api, _, web = (part for part in read(project) if isinstance(part, Passage))
    assert api.path_prefix == "packages/api"
    assert (web.path_prefix, web.globs) == ("packages/web", ("packages/web/src/**/*.ts", "packages/web/**/*.css"))


def test_rules_in_the_home_are_the_persons_own_and_others_there_are_not(read: Read, write: Write) -> None:
    rule = "Answer in short sentences\n"
    (own,) = read(write("~/.claude/CLAUDE.md", rule))
    assert isinstance(own, Passage)
    assert (own.scope, own.trust) == ("user", "person")
    for name in (
        "~/code/elsewhere/CLAUDE.md",
        "~/.oh-my-shell/CLAUDE.md",
        "~/.claude/plugins/x/CLAUDE.md",
        "~/.config/nvim/CLAUDE.md",
        "~/.claude/kit/CLAUDE.md",
    ):
        (other,) = read(write(name, rule))
        assert isinstance(other, Passage)
        assert (other.scope, other.trust) == ("project", "repository")


def test_odd_bytes_and_line_ends_are_read_and_binaries_refused(read: Read, write: Write, project: Path) -> None:
    path = write("AGENTS.md", "")
    assert read(path) == []
    path.write_bytes(
        b"\xef\xbb\xbf---\r\nglobs: '*.py'\r\n---\r\n\r\n"
        b"- Keep \xff lines short here\r\n- Keep the names long as well\r\n"
    )
    first, _ = read(path)
    assert isinstance(first, Passage)
    assert (first.insight, first.globs) == ("Keep \ufffd lines short here", ("*.py",))
    path.write_bytes(b"\x7fELF\0\0\0")
    with pytest.raises(InvalidValueError, match="not a text file"):
        read(path)
    path.write_bytes(b"x" * 500_001)
    with pytest.raises(InvalidValueError, match="larger than"):
        read(path)


def test_deep_nesting_and_half_a_managed_block_do_no_harm(read: Read, write: Write) -> None:
    assert read(write("AGENTS.md", "- " * 3_000 + "x\n" + ">" * 3_000 + "\n")) is not None
    parts = read(write("AGENTS.md", "Keep the port stable\n\n<!-- holdfast:begin v1 -->\n- not this\n"))
    assert insights(parts) == ["Keep the port stable"]


def test_front_matter_with_an_alias_bomb_is_text_only(read: Read, write: Write) -> None:
    bomb = "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]"
    assert insights(read(write("AGENTS.md", f"---\n{bomb}\n---\nKeep the port stable\n"))) == ["Keep the port stable"]


def test_a_walk_leaves_out_dependencies_links_and_loops(read: Read, write: Write, project: Path) -> None:
    write("AGENTS.md", "Keep the port stable\n")
    write("node_modules/x/AGENTS.md", "Somebody else's rule for agents\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    (project / "loop").symlink_to(project)
    search = find_sources(str(project), str(project), "")
    assert [source.source.label for source in search.found] == ["AGENTS.md"]
    assert [label for label, _ in search.skipped] == ["CLAUDE.md"]


def test_a_name_that_is_not_utf_8_can_be_shown(read: Read, project: Path) -> None:
    folder = os.fsdecode(b"\xff")
    (project / folder).mkdir()
    (project / folder / "AGENTS.md").write_text("Keep the port stable\n")
    (chosen,) = find_sources(str(project), str(project), "").found
    assert chosen.source.label == "\ufffd/AGENTS.md"
    assert insights(read(project)) == ["Keep the port stable"]


def test_a_file_of_another_name_is_read_when_somebody_points_at_it(read: Read, write: Write, project: Path) -> None:
    path = write("docs/rules.md", "Keep the port stable\n")
    assert insights(read(path)) == ["Keep the port stable"]
    assert find_sources(str(project), str(project), "").found == ()
    with pytest.raises(InvalidValueError, match=r"the format of .* is not known") as raised:
        read(write("picture.png", "x"))
    assert "rules" in raised.value.hint

"""Renders docs/reference/cli.md from the commands' help texts.

python scripts/render_cli_docs.py            writes the file
python scripts/render_cli_docs.py --check    exit with 1 if it is not up to date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

import click

from holdfast.domain.lesson import Lesson
from holdfast.lean.plain import field_names
from holdfast.surfaces.cli.frame import INTERRUPTED
from holdfast.surfaces.cli.main import EXIT_BUG, EXIT_FAILED, EXIT_USAGE, cli

DERIVED = ("short_id", "memory_type", "files", "symbols")
TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "cli.md"
WIDTH = 100

HEAD = f"""# The command line

This page is made from the commands' own help by `scripts/render_cli_docs.py`; edit the help, not this file.

**Output.** The result goes to stdout, messages for you go to stderr. On a terminal, Holdfast uses colour unless
`NO_COLOR` is set; tables have headings, columns are cut to fit, and long texts are wrapped. In a pipe, each row is one
line, its cells are separated by tabs and not cut, and there are no headings. With `--json`, an error is one JSON object
on stderr with the keys `error`, `hint` and `exit_code`. Otherwise an error is a line `error: …`, usually followed by a
line `hint: …` that says what to type next.

**Exit codes.** 0: success. {EXIT_FAILED}: the command failed, or failed in part (`import`, `doctor`). {EXIT_USAGE}: the
command line was wrong. {INTERRUPTED}: interrupted. {EXIT_BUG}: a bug in Holdfast.

**Ids** are printed as their last eight characters. A command accepts any ending of at least four characters that
identifies one lesson.

**`--json`** prints one JSON document. Its keys are a contract: keys are added, but never changed or removed.

| command | keys |
|---|---|
| `recall` | `items`, `near`: `rank`, `score`, `freshness`, `caveat`, `why`, `lesson`; `nearest`, `more`, `tokens`, … |
| `list`, `review` | `lessons`; `list` also `more` |
| `show` | a lesson, `changes`, `deliveries`, `outcomes` |
| `verify` | `counts`, `lessons` (`freshness`, `caveat`, `followed`, `anchors`, …), `change`, `indexed` |
| `why` | `lesson`, `anchors` (`freshness`, `words`, `now_at`, `commit`, …), `standing`, `factors`, `changes`, … |
| `diff` | `id`, `short_id`, `anchors` (`anchor`, `freshness`, `words`, `now_at`, `then`, `now`, `diff`, `note`) |
| `remember`, `revise`, `confirm` | a lesson |
| `forget` | `forgotten` or `purged`: `id`, `short_id`, `erased` (rows by table) |
| `undo` | `undone` and `change`: log records |
| `feedback` | the outcome |
| `checkpoint` | the checkpoint; `list`: `checkpoints`, `more` |
| `log` | `deliveries`, or `changes` |
| `import` | `added`, `revised`, `unchanged`, `failed` (`line`, `reason`), `ignored_keys`, `mended_lines` |
| `watch` | one document a line: `at`, `before`, `freshness`, `caveat`, `lesson` |
| `status` | `project`, `store`, `lessons`, `inbox`, `checkpoint`, `capture`, `deliver`, `embedder`, `heartbeat` |
| `check` | `file`, `passed`, `failed`, `checks` (`name`, `line`, `passed`, `failures`, `delivered`, …), `mistakes` |
| `backup` | `file`, `bytes`, `format`, `holdfast`, `made`, `lessons`, `versions`, `events`, `files` |
| `restore` | `dry_run`, `backup` (as above), `replaced_lessons`, `kept_in`, `placed`, `left` |
| `doctor` | `version`, `sound`, `findings` (`status`, `name`, `what`, `mend`) |

{fill("A lesson's keys are " + ", ".join(f"`{name}`" for name in (*field_names(Lesson), *DERIVED)) + ".", WIDTH + 10)}
A lesson that was checked against the code also has `freshness` and `caveat`. Log records and nested objects leave out
keys with default values. `why` of a recalled lesson holds `words`, `shares` (`lane`, `rank`, `raw`, `share`) and
`multipliers` (`name`, `factor`): the score is the sum of the shares times the product of the factors.
"""


def main() -> int:
    """Write the file, or with --check return 1 if it is not up to date, else 0."""
    wanted = render()
    if "--check" in sys.argv[1:]:
        current = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
        return 0 if current == wanted else 1
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(wanted, encoding="utf-8")
    return 0


def render() -> str:
    """Return the whole file's text."""
    parts = [HEAD]
    for path, command, ctx in iter_commands():
        parts.append(f"## {path}\n\n```text\n{command.get_help(ctx).rstrip()}\n```\n")
    return "\n".join(parts)


def iter_commands() -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield every command with its full name and a context to render it in, groups before their commands."""
    yield from _iter_below(cli, _render_ctx(cli, None, "holdfast"))


def _iter_below(command: click.Command, ctx: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
    yield ctx.command_path, command, ctx
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            assert below is not None
            yield from _iter_below(below, _render_ctx(below, ctx, name))


def _render_ctx(command: click.Command, above: click.Context | None, name: str) -> click.Context:
    return click.Context(command, above, name, **{**command.context_settings, "terminal_width": WIDTH})


if __name__ == "__main__":
    sys.exit(main())

"""Ten everyday rules, one session apart: what a newcomer tries in minute five.

    python -m benchmarks.everyday [--json FILE]

The first session types ten rules; the learner works. Then each rule has a new session: its start, a prompt that it
fits, and the call that it is about. A rule counts as stored when a lesson has its words, whatever its state, and as
told at the first moment at which such a lesson was handed to the agent. Nothing is asserted, no data is needed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if not __package__:  # started as `python benchmarks/everyday.py`
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.replay.shipped import open_shipped, tokens_of
from benchmarks.replay.talk import Handed, Talk, make_project, words_told

FILES = {
    "README.md": "# A shop\n",
    "package.json": '{"name": "shop"}\n',
    "src/checkout.py": "def checkout(basket, customer_id):\n    return basket\n",
    "src/generated/api.py": "def get_orders():\n    return []  # fecth all orders\n",
    "tests/test_checkout.py": "def test_checkout():\n    assert True\n",
}


@dataclass(frozen=True)
class Rule:
    """What the user says, words by which its lesson is known, and what a later session does that it fits."""

    text: str
    words: tuple[str, ...]
    prompt: str
    command: str = ""
    file: str = ""


RULES = (
    Rule("remember that we never deploy on Fridays", ("deploy", "friday"), "please deploy to production on friday",
         command="make deploy"),
    Rule("always use pnpm in this repo, never npm", ("pnpm",), "add lodash to the dependencies",
         command="npm install lodash"),
    Rule("No, the tests need a running redis, start it with make redis first", ("redis",), "run the tests",
         command="pytest"),
    Rule("From now on write commit messages in the imperative mood", ("commit", "imperative"),
         "commit what we have so far", command="git commit -m 'added x'"),
    Rule("remember: the customer id is never logged", ("customer", "log"), "add logging to the checkout",
         file="src/checkout.py"),
    Rule("please don't edit files under src/generated, they are overwritten by make generate", ("generated",),
         "fix the typo in src/generated/api.py", file="src/generated/api.py"),
    Rule("our staging database is called blue-heron", ("blue-heron",), "connect to the staging database",
         command="psql staging"),
    Rule("we decided to use Postgres instead of MySQL because of jsonb", ("postgres",),
         "write the migration for the orders table", file="migrations/001_orders.sql"),
    Rule("I want you to always run make lint before you say that you are done", ("make lint",),
         "implement the parser", file="src/parser.py"),
    Rule("never add new dependencies without asking me", ("dependenc",), "parse the dates in the report",
         command="pip install python-dateutil"),
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.everyday", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        figures = measure(RULES, Path(scratch))
    print(table(figures))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return 0


def measure(rules: Sequence[Rule], scratch: Path) -> dict[str, Any]:
    """What became of each rule; `scratch` is an empty folder."""
    make_project(scratch / "shop", FILES)
    (scratch / "home").mkdir()
    with open_shipped(scratch / "home", scratch / "shop") as shipped:
        talk = Talk(shipped, scratch)
        talk.begin("teaching")
        for rule in rules:
            talk.say(rule.text)
            talk.reply("Understood.")
        talk.end()
        lessons = shipped.lessons()
        rows = [
            follow(rule, talk, f"rule-{number}", lessons, Path(shipped.folder)) for number, rule in enumerate(rules)
        ]
        return {
            "stored": sum(row["stored"] != "no" for row in rows),
            "told": sum(row["told at"] != "never" for row in rows),
            "rules": rows,
            "complaints": shipped.complaints(),
        }


def follow(rule: Rule, talk: Talk, session: str, lessons: Sequence[Mapping[str, Any]], folder: Path) -> dict[str, Any]:
    """Play the rule's session; when it was told first, and in which words."""
    own = [lesson for lesson in lessons if holds(rule, lesson)]
    moments = [("start", talk.begin(session)), ("prompt", talk.say(rule.prompt))]
    if rule.command:
        moments.append(("command", talk.call("Bash", {"command": rule.command})[0]))
    if rule.file:
        fields = {"file_path": str(folder / rule.file)}
        moments.append(("reading the file", talk.call("Read", fields)[0]))
        fields |= {"old_string": "return", "new_string": "yield"}
        moments.append(("editing the file", talk.call("Edit", fields)[0]))
    ids = {lesson["id"] for lesson in own}
    first = next(((name, handed) for name, handed in moments if ids & set(handed.ids)), None)
    return {
        "rule": rule.text,
        "stored": ", ".join(dict.fromkeys(lesson["state"] for lesson in own)) or "no",
        "told at": first[0] if first else "never",
        "words": line_of(first[1], ids) if first else "",
        "lines": sum(len(handed.lines) for _, handed in moments),
        "tokens": sum(tokens_of(handed.text) for _, handed in moments),
    }


def holds(rule: Rule, lesson: Mapping[str, Any]) -> bool:
    """Whether the lesson has the words of the rule, of itself or in its quote."""
    text = " ".join((lesson["title"], lesson["insight"], lesson["how"], *lesson["quote"])).lower()
    return lesson["state"] != "forgotten" and all(word in text for word in rule.words)


def line_of(handed: Handed, ids: Iterable[str]) -> str:
    """The line that told one of the lessons."""
    wanted = set(ids)
    return next((words for lesson, words in words_told(handed.text, handed.ids) if lesson in wanted), "")


def table(figures: Mapping[str, Any]) -> str:
    """The result in Markdown."""
    columns = ("rule", "stored", "told at", "words", "lines", "tokens")
    rows = [" | ".join(str(row[name]).replace("|", "\\|") for name in columns) for row in figures["rules"]]
    head = [f"stored {figures['stored']} of {len(rows)}, told {figures['told']}", "", f"| {' | '.join(columns)} |"]
    return "\n".join([*head, "|" + "---|" * len(columns), *(f"| {row} |" for row in rows)])


if __name__ == "__main__":
    sys.exit(main())

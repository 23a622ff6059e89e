"""A memory that looks like one in use: eight weeks of work of three people on a small code base, played through the
real hooks with a clock of its own. For tests of pages, for screenshots, and to look at:

    python -m tests.demomemory FOLDER      # then: HOLDFAST_HOME=FOLDER/home holdfast -C FOLDER/parcel ui

The commands of the sessions are really run, the lessons' code really changes, and what is learnt is learnt by the
product; only the code, the words of people and the rules that they state are written here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from textwrap import dedent
from typing import Any

from holdfast import Memory
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.texts import uuid7
from holdfast.settings import load_settings
from holdfast.testing.builders import FixedClock

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))

from player import Player, Step  # type: ignore[import-not-found]

from tests.codebase import Codebase

DAYS = 56
DATES = ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")
PEOPLE = {"Ada": "ada@example.com", "Ben": "ben@example.com", "Chidi": "chidi@example.com"}

FILES = {
    "README.md": "# Parcel\n\nRates, labels and tracking of parcels.\n",
    "AGENTS.md": "# Rules\n\n- Run `python -m unittest` before you commit.\n",
    "parcel/__init__.py": "",
    "parcel/rates.py": '''
        """What a parcel costs."""

        BASE_CENTS = 390


        def rate_for(grams, zone):
            """Return the price in cents."""
            steps = -(-grams // 500)
            return BASE_CENTS + steps * zone_cents(zone)


        def zone_cents(zone):
            return {"near": 40, "far": 95}[zone]
    ''',
    "parcel/labels.py": '''
        """Labels as the printer wants them."""


        def label_text(name, street, code):
            """Return the three lines of a label."""
            return "\\n".join([name.upper(), street, code])
    ''',
    "parcel/tracking/__init__.py": "",
    "parcel/tracking/client.py": '''
        """Asks the carrier where a parcel is."""

        RETRIES = 3


        class CarrierClient:
            """One carrier's interface."""

            def __init__(self, fetch):
                self.fetch = fetch

            def status(self, number):
                """Return the newest status; raise LookupError for an unknown number."""
                for attempt in range(RETRIES):
                    answer = self.fetch(f"/parcels/{number}")
                    if answer.get("state") != "busy":
                        return answer["state"]
                raise LookupError(number)
    ''',
    "parcel/tracking/events.py": '''
        """Events of a parcel, oldest first."""

        from datetime import datetime


        def parse_event(row):
            """Return (time, place) of a carrier's row."""
            return datetime.fromisoformat(row["at"]), row["place"]


        def sort_events(rows):
            return sorted(map(parse_event, rows))
    ''',
    "parcel/api/__init__.py": "",
    "parcel/api/handlers.py": '''
        """Handlers of the web interface."""

        from parcel.rates import rate_for


        def get_rate(query):
            """Answer GET /rate."""
            return {"cents": rate_for(int(query["grams"]), query["zone"])}


        def post_label(body):
            """Answer POST /label."""
            return {"label": body["name"]}
    ''',
    "parcel/store/orders.sql": "CREATE TABLE orders (id TEXT PRIMARY KEY, placed_at TEXT NOT NULL, cents INTEGER NOT NULL);\n",
    "parcel/store/orders.py": '''
        """Orders in SQLite."""


        class OrderStore:
            """Rows of the table `orders`."""

            def __init__(self, connection):
                self.connection = connection

            def add(self, order):
                """Store an order once."""
                self.connection.execute("INSERT OR IGNORE INTO orders VALUES (?, ?, ?)", order)

            def total(self):
                return self.connection.execute("SELECT sum(cents) FROM orders").fetchone()[0]
    ''',
    "tests/__init__.py": "",
    "tests/test_rates.py": """
        import unittest

        from parcel.rates import rate_for


        class RateTest(unittest.TestCase):
            def test_near(self):
                self.assertEqual(rate_for(500, "near"), 430)

            def test_two_steps(self):
                self.assertEqual(rate_for(501, "near"), 470)
    """,
    "tests/test_tracking.py": """
        import unittest

        from parcel.tracking.client import CarrierClient


        class TrackingTest(unittest.TestCase):
            def test_waits_for_a_busy_carrier(self):
                answers = [{"state": "busy"}, {"state": "on the way"}]
                self.assertEqual(CarrierClient(lambda path: answers.pop(0)).status("1"), "on the way")
    """,
}


QUESTIONS = (
    "Which zones are there?",
    "Rename zone_cents to cents_of_zone? Tell me first who calls it.",
    "Why is the label upper case?",
    "Read the tests of tracking and say what is missing.",
    "Is OrderStore.total right for an empty table?",
    "Explain the retry loop.",
    "Who decides that a time without an offset is UTC?",
    "What does the carrier answer for an unknown number?",
    "List the handlers.",
    "Does anything still use floats?",
    "What would a zone for islands touch?",
    "Check the README against the code.",
)
"""What people ask in short sessions."""


class DemoClock(FixedClock):
    """A clock whose ids are as mixed as real ones, and the same in every run."""

    def __init__(self, at: datetime) -> None:
        super().__init__(at)
        self._bytes = Random(7)

    def new_id(self) -> str:
        """Return a new UUID version 7."""
        return uuid7(int(self.at.timestamp() * 1000), self._bytes.randbytes(10))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A lesson that somebody states, so many days before the end."""

    day: int
    who: str
    insight: str
    kind: str = "convention"
    title: str = ""
    why: str = ""
    how: str = ""
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    more: Mapping[str, Any] | None = None


AGENT = {"trust": "agent"}
WAITS = {"trust": "repository"}
"""Of a rule that only the repository says: it waits for a person."""

RULES = (
    Rule(day=55, who="Ada", kind="convention", insight="Money is whole cents in an int; never a float, not even in tests.",
         why="Rounding of floats lost a cent in the invoices of May.", files=("parcel/rates.py",), tags=("money",)),
    Rule(day=54, who="Ada", kind="tooling", insight="Run `python -m unittest` from the root; the tests import `parcel` from there."),
    Rule(day=53, who="Ben", kind="constraint", title="Carrier calls: three tries at most",
         insight="CarrierClient.status asks at most 3 times: the carrier blocks our address for an hour after the fourth.",
         why="We were blocked twice in one week.", files=("parcel/tracking/client.py",), symbols=("CarrierClient.status",),
         tags=("carrier",)),
    Rule(day=50, who="Ben", kind="bug_cause", insight="rate_for rounds up to the next 500 g with -(-grams // 500); do not use math.ceil on a float, which is wrong from 2**53.",
         files=("parcel/rates.py",), symbols=("rate_for",), tags=("money",)),
    Rule(day=47, who="Chidi", kind="decision", insight="Orders stay in SQLite; PostgreSQL was tried and dropped, because one writer is enough and the backup is one file.",
         why="10 orders a minute at the most.", files=("parcel/store/orders.py",), symbols=("OrderStore",), tags=("storage",)),
    Rule(day=45, who="Chidi", kind="constraint", insight="Do not touch migrations that are released; add a new one.", files=("parcel/store/orders.sql",), tags=("storage",)),
    Rule(day=41, who="Ada", kind="preference", insight="Commit messages are imperative and say why in the body."),
    Rule(day=38, who="Ben", kind="failed_approach", insight="Caching carrier statuses for five minutes was tried and taken back: support saw parcels in two places.",
         files=("parcel/tracking/client.py",), tags=("carrier",)),
    Rule(day=33, who="Ada", kind="constraint", insight="Label lines are at most 35 characters; the printer cuts the rest without an error.",
         files=("parcel/labels.py",), symbols=("label_text",), tags=("printer",)),
    Rule(day=30, who="Chidi", kind="convention", insight="Times are UTC with an offset in every interface; `datetime.fromisoformat` on a text without one is a fault.",
         files=("parcel/tracking/events.py",), symbols=("parse_event",), tags=("time",)),
    Rule(day=24, who="Ben", kind="decision", insight="Handlers check their input themselves and answer 400 with the name of the field; no schema library.",
         files=("parcel/api/handlers.py",), tags=("api",)),
    Rule(day=22, who="Ben", kind="convention", insight="A handler is named after its method and path: get_rate, post_label.", files=("parcel/api/handlers.py",), tags=("api",)),
    Rule(day=17, who="Chidi", kind="constraint", insight="Retries to the carrier are capped at 5.", files=("parcel/tracking/client.py",), symbols=("CarrierClient.status",), tags=("carrier",)),
    Rule(day=12, who="Ada", kind="bug_cause", insight="`INSERT OR IGNORE` hides an order with a wrong price; compare the row when the id is there already.",
         files=("parcel/store/orders.py",), symbols=("OrderStore.add",), tags=("storage", "money")),
    Rule(day=9, who="Ada", kind="preference", insight="Answer in British English.", more={"scope": "user"}),
    Rule(day=6, who="Chidi", kind="convention", insight="Zones are words (`near`, `far`), never numbers: the carrier renumbers them every January.",
         files=("parcel/rates.py",), symbols=("zone_cents",), tags=("carrier",)),
    Rule(day=36, who="Ben", insight="Tests of the carrier never open a connection; pass a function as `fetch`.", files=("tests/test_tracking.py",), more=WAITS),
    Rule(day=28, who="Chidi", kind="bug_cause", insight="sort_events fails when one time has an offset and another has none.",
         files=("parcel/tracking/events.py",), symbols=("sort_events",), more=WAITS),
    Rule(day=19, who="Ben", kind="tooling", insight="`python -m unittest -k abroad` runs the tests of one zone.", more=AGENT),
    Rule(day=15, who="Ada", kind="decision", insight="The label's code stays a text, because Dutch codes have letters.", files=("parcel/labels.py",), symbols=("label_text",), more=WAITS),
    Rule(day=11, who="Chidi", insight="New handlers go to parcel/api/handlers.py, one function each.", files=("parcel/api/handlers.py",), tags=("api",), more=WAITS),
    Rule(day=8, who="Ben", kind="constraint", insight="POST /labels takes at most 100 items.", files=("parcel/api/handlers.py",), tags=("api",), more=AGENT),
    Rule(day=5, who="Ada", kind="convention", insight="Times are local in every interface; people read them on labels.", files=("parcel/tracking/events.py",), tags=("time",)),
    Rule(day=4, who="Chidi", kind="convention", insight="A handler never answers 400; it raises KeyError and the server answers 500.", files=("parcel/api/handlers.py",), tags=("api",), more=WAITS),
    Rule(day=26, who="Ada", kind="tooling", insight="Install the tools with pip, from requirements-dev.txt.", tags=("tools",)),
    Rule(day=10, who="Chidi", kind="tooling", insight="Install the tools with uv.", why="pip took a minute in every run of the tests.", tags=("tools",)),
    Rule(day=21, who="Ben", insight="Store the price of an order as integer cents in the orders table, never as a float.", files=("parcel/store/orders.py",), tags=("money",), more=AGENT),
    Rule(day=14, who="Ada", insight="The price of an order stays integer cents everywhere in the orders table and never becomes a float.", tags=("money",), more=AGENT),
    Rule(day=13, who="Ada", kind="constraint", insight="Never write the orders table from two processes at once; the backup copies one file.",
         files=("parcel/store/orders.py",), tags=("storage",), more=AGENT),
    Rule(day=2, who="Ben", kind="convention", insight="Log the parcel's number, never the name or street of a customer.", tags=("privacy",)),
)  # fmt: skip

EXPRESS: Step = {
    "edit": "parcel/rates.py",
    "old": '    return {"near": 40, "far": 95}[zone]\n',
    "new": '    return {"near": 40, "far": 95, "abroad": 240}[zone]\n',
}
WRONG_TEST: Step = {
    "edit": "tests/test_rates.py",
    "old": "    def test_two_steps(self):\n",
    "new": '    def test_abroad(self):\n        self.assertEqual(rate_for(500, "abroad"), 640)\n\n    def test_two_steps(self):\n',
}
RIGHT_TEST: Step = {"edit": "tests/test_rates.py", "old": "640)", "new": "630)"}
TESTS: Step = {"bash": "python -m unittest discover -s tests -t ."}
ONE_TEST: Step = {"bash": "python -m unittest tests/test_tracking.py"}
_LOST = '\n    def test_lost(self):\n        client = CarrierClient(lambda path: {"state": %r})\n        self.assertEqual(client.status("1"), "lost")\n'
LOST_TEST: Step = {
    "edit": "tests/test_tracking.py",
    "old": '"on the way")\n',
    "new": '"on the way")\n' + _LOST % "gone",
}
FOUND_TEST: Step = {"edit": "tests/test_tracking.py", "old": _LOST % "gone", "new": _LOST % "missing"}
LOST_AGAIN: Step = {"edit": "tests/test_tracking.py", "old": _LOST % "missing", "new": _LOST % "gone"}

STORIES: tuple[tuple[int, str, str, tuple[Step, ...]], ...] = (
    (52, "Ada", "main", (
        {"prompt": "How is the price of a parcel computed? I want to add parcels to other countries."},
        {"read": "parcel/rates.py"}, {"reply": "By steps of 500 g and a price of the zone, in `rate_for`."},
    )),
    (44, "Ben", "main", (
        {"prompt": "Why does the client ask the carrier three times?"},
        {"read": "parcel/tracking/client.py"}, TESTS, {"reply": "A busy carrier answers `busy`; more than three tries get us blocked."},
    )),
    (20, "Chidi", "abroad", (
        {"prompt": "Add a zone `abroad` for 2.40 a step, with a test."},
        {"read": "parcel/rates.py"}, EXPRESS, WRONG_TEST, TESTS,
        {"prompt": "No, don't compute the expected price by hand: 390 and one step of 240 are 630. Always derive expected cents from BASE_CENTS in a comment."},
        RIGHT_TEST, TESTS, {"bash": "git commit -qam 'Add the zone abroad'"}, {"reply": "The zone is there, and its test passes."},
    )),
    (16, "Ben", "main", (
        {"prompt": "Cover a parcel that is lost in the tests of tracking."},
        {"read": "tests/test_tracking.py"}, LOST_TEST, ONE_TEST, FOUND_TEST, ONE_TEST, LOST_AGAIN, ONE_TEST,
        {"bash": "git checkout -q tests/test_tracking.py"}, ONE_TEST,
        {"reply": "The carrier has no state for it yet; the test is out again."},
    )),
    (13, "Ada", "main", (
        {"prompt": "The tracking page fails for parcels of the new carrier: their times have no offset. Mend parse_event."},
        {"read": "parcel/tracking/events.py"},
        {"bash": "python -c \"from parcel.tracking.events import sort_events; print(sort_events([{'at': '2026-01-01T10:00:00+00:00', 'place': 'A'}, {'at': '2026-01-01T09:00:00', 'place': 'B'}]))\""},
        {"edit": "parcel/tracking/events.py", "old": 'return datetime.fromisoformat(row["at"]), row["place"]',
         "new": 'return datetime.fromisoformat(row["at"] + "Z"), row["place"]'},
        {"bash": "python -c \"from parcel.tracking.events import sort_events; print(sort_events([{'at': '2026-01-01T10:00:00+00:00', 'place': 'A'}, {'at': '2026-01-01T09:00:00', 'place': 'B'}]))\""},
        {"edit": "parcel/tracking/events.py", "old": 'datetime.fromisoformat(row["at"] + "Z")', "new": 'read_time(row["at"])'},
        {"edit": "parcel/tracking/events.py", "old": "from datetime import datetime\n",
         "new": "from datetime import UTC, datetime\n\n\ndef read_time(text):\n    at = datetime.fromisoformat(text)\n    return at if at.tzinfo else at.replace(tzinfo=UTC)\n"},
        {"bash": "python -c \"from parcel.tracking.events import sort_events; print(sort_events([{'at': '2026-01-01T10:00:00+00:00', 'place': 'A'}, {'at': '2026-01-01T09:00:00', 'place': 'B'}]))\""},
        {"prompt": "Good. From now on every time that we read without an offset counts as UTC, and only read_time may decide that."},
        {"bash": "git commit -qam 'Read times without an offset as UTC'"}, {"reply": "Done: `read_time` decides."},
    )),
    (7, "Ben", "bulk", (
        {"prompt": "Start on bulk labels: POST /labels takes a list."},
        {"read": "parcel/api/handlers.py"},
        {"edit": "parcel/api/handlers.py", "old": "def post_label(body):\n",
         "new": 'def post_labels(body):\n    """Answer POST /labels."""\n    return [post_label(item) for item in body["items"]]\n\n\ndef post_label(body):\n'},
        {"bash": "python -c \"from parcel.api.handlers import post_labels; print(post_labels([{'name': 'A'}]))\""},
        {"bash": "python -c \"from parcel.api.handlers import post_labels; print(post_labels({'items': [{'nam': 'A'}]}))\""},
        {"prompt": "We use 400 with the field's name for that, not a KeyError. Leave it for tomorrow."},
        {"reply": "Noted: a missing field has to answer 400. It fails with KeyError for now."},
    )),
    (3, "Ada", "main", (
        {"prompt": "Refactor the order store: add must compare the row when the id is there already."},
        {"read": "parcel/store/orders.py"},
        {"edit": "parcel/store/orders.py", "old": '        self.connection.execute("INSERT OR IGNORE INTO orders VALUES (?, ?, ?)", order)\n',
         "new": '        self.connection.execute("INSERT INTO orders VALUES (?, ?, ?) ON CONFLICT DO NOTHING", order)\n'},
        TESTS, {"prompt": "Remember: never delete an order; mark it as cancelled instead."}, {"reply": "Noted."},
    )),
    (1, "Chidi", "bulk", (
        {"prompt": "What is left to do for bulk labels?"}, {"read": "parcel/api/handlers.py"},
        {"bash": "python -c \"from parcel.api.handlers import post_labels; print(post_labels({'items': [{'nam': 'A'}]}))\""},
        {"reply": "A missing field still fails with KeyError: 'name'."},
    )),
)  # fmt: skip


class DemoMemory:
    """The demo: `home` is its HOLDFAST_HOME, `work_tree` the code base. It is made below `folder`, which must be new."""

    def __init__(self, folder: Path, end: datetime | None = None) -> None:
        self.home, self.work_tree = folder / "home", folder / "parcel"
        self._clock = DemoClock((end or datetime.now(UTC)) - timedelta(days=DAYS))
        self._began = self._clock.at
        self.code = Codebase(self.work_tree)
        self.code.git("rm", "-rq", "src")
        for name, text in FILES.items():
            self.code.write(name, dedent(text).lstrip("\n"))
        self.code.commit("Begin", at=self._clock.at)

    @contextmanager
    def open(self) -> Iterator[Memory]:
        """Open the memory of the work tree, by the clock of the demo."""
        environment = {**os.environ, "HOLDFAST_HOME": str(self.home), "HOLDFAST_HOLDOUT": "0.2"}
        with Memory(str(self.work_tree), settings=load_settings(environment)) as memory:
            yield memory.with_services(replace(memory.services, clock=self._clock))

    def play(self) -> None:
        """Play the eight weeks."""
        steps: list[tuple[int, Rule | tuple[str, str, tuple[Step, ...]]]] = [(rule.day, rule) for rule in RULES]
        steps += [(day, (who, branch, story)) for day, who, branch, story in STORIES]
        steps += [(DAYS - 2 - 2 * number, _asked(number)) for number in range(24)]
        with self.open() as memory:
            for day, what in sorted(steps, key=lambda step: -step[0]):
                self._clock.at = max(self._clock.at, self._began + timedelta(days=DAYS - day, hours=9))
                if isinstance(what, Rule):
                    self.state(memory, what)
                else:
                    self.session(memory, *what)
            self._afterwards(memory)

    def state(self, memory: Memory, rule: Rule) -> Lesson:
        """Have somebody state a rule."""
        self._become(rule.who)
        self._clock.advance(60)
        return memory.remember(
            rule.insight, kind=rule.kind, title=rule.title, why=rule.why, how=rule.how, files=rule.files,
            symbols=rule.symbols, tags=rule.tags, author=rule.who, **rule.more or {},
        )  # type: ignore[arg-type]  # fmt: skip

    def session(self, memory: Memory, who: str, branch: str, steps: tuple[Step, ...]) -> None:
        """Play a session of somebody on a branch through the hooks, learn from it, and merge what it committed."""
        self._become(who)
        known = self.code.git("branch", "--list", branch)
        self.code.git("checkout", "-q", *([] if known else ["-b"]), branch)
        here = memory.at(str(self.work_tree))
        session = self._clock.new_id()
        player = Player(session, str(self.work_tree))
        os.environ |= {name: self._clock.at.isoformat() for name in DATES}  # of commits that a story makes
        for payload in (*player.start(), *player.play(list(steps)), *player.end()):
            self._clock.advance(40)
            here.answer_hook("claude-code", payload)
        for name in DATES:
            del os.environ[name]
        here.learn(SessionId(session))
        here.settle_pending()
        here.prepare_brief(SessionId(session))
        if branch != "main" and "git commit" in str(steps):
            self.code.git("checkout", "-q", "main")
            self.code.git("merge", "-q", "--ff-only", branch)
        elif self.code.git("status", "--porcelain"):
            self.code.commit(f"Work on {branch}", at=self._clock.at)

    def _afterwards(self, memory: Memory) -> None:
        """Judge some lessons, and move code on under others."""
        by_words = {lesson.insight: lesson for lesson in memory.lessons()}
        memory.confirm(next(lesson.id for words, lesson in by_words.items() if words.startswith("Label lines")))
        memory.forget(next(lesson.id for words, lesson in by_words.items() if words.startswith("A handler is named")))
        retries = next(lesson.id for words, lesson in by_words.items() if words.startswith("Retries"))
        memory.revise(retries, insight="Retries to the carrier are capped at 4 since the last release.", trust="agent")
        client = self.work_tree / "parcel/tracking/client.py"
        client.write_text(client.read_text().replace("range(RETRIES)", "range(RETRIES + 1)"))
        self.code.git("mv", "parcel/labels.py", "parcel/api/labels.py")
        self.code.commit("Ask the carrier once more; labels belong to the interface", at=self._clock.at)
        self.code.git("config", "user.name", "Ada")
        memory.at(str(self.work_tree)).follow_moves()

    def _become(self, who: str) -> None:
        self.code.git("config", "user.name", who)
        self.code.git("config", "user.email", PEOPLE[who])


def _asked(number: int) -> tuple[str, str, tuple[Step, ...]]:
    """Return a short session of somebody: a question, a file that is read, an answer."""
    paths = ("parcel/rates.py", "parcel/store/orders.py", "parcel/tracking/client.py", "parcel/api/handlers.py")
    prompt = QUESTIONS[number % len(QUESTIONS)]
    steps: tuple[Step, ...] = ({"prompt": prompt}, {"read": paths[number % len(paths)]}, {"reply": "Read; see above."})
    return list(PEOPLE)[number % 3], "main", steps if number % 4 else (*steps[:2], TESTS, steps[2])


def make_demo(folder: Path, end: datetime | None = None) -> DemoMemory:
    """Make the demo below a new folder, its last day being `end`, by default now."""
    demo = DemoMemory(folder, end)
    demo.play()
    return demo


if __name__ == "__main__":
    made = make_demo(Path(sys.argv[1]).absolute())
    print(f"HOLDFAST_HOME={made.home} holdfast -C {made.work_tree} ui")

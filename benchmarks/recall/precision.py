"""PrecisionMemBench: beliefs with scopes, aliases, pins and successors; what must come back, and nothing else.

A domain is a project, what is universal is the user's own; each user has a memory of their own. A belief is a lesson:
its canonical name is the topic key, its aliases are tags, a resolved question is retired, a superseded belief
superseded, an inferred one a candidate; a relation links to its participants. A case is answered by two calls of the
shipped path a scope: the general question for what is pinned (the user's own is the prelude, explorations are open
questions, the rest facts), and the case's question as a prompt for what is relevant. `shouldOnlyInclude` is taken as
exactly these, in any order. A budget counts facts before what is relevant.

A third of the cases, every third from the first, is what cut-offs may be tuned on; they are reported apart.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.recall.arena import NO_BUDGET, Standing, make_id, told_apart
from benchmarks.recall.baselines import FullText
from benchmarks.recall.cases import Item, hashes_of, headline, require

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson, Link, Scope, Validity
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import LessonId
from holdfast.ports.services import Services
from holdfast.recall import ask as asking
from holdfast.recall.question import question
from holdfast.settings import load_settings

UNIVERSAL = "user:universal"
KINDS = {"preference": "preference", "decision": "decision", "open_question": "exploration"}
STATES = {"superseded": "superseded", "inferred": "candidate"}
LIMIT = 12
"""Most relevant lessons of one answer where the case gives no budget."""
TUNED_ON = 3
"""Every so many cases may be looked at when cut-offs are set."""
AT = datetime(2026, 11, 1, tzinfo=UTC)
"""When the questions are asked: after every belief."""
STANDING = 50
"""Most pinned lessons that are asked for."""

Belief = dict[str, Any]
Case = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What came back, by section."""

    prelude: str = ""
    facts: frozenset[str] = frozenset()
    open_questions: frozenset[str] = frozenset()
    relevant: frozenset[str] = frozenset()


def measure(folder: Path, scratch: Path) -> dict[str, Any]:
    """Cases passed by the shipped path and by two baselines, in the whole, by category, tuned on and not."""
    files = require(folder / "precision", "beliefs.seed.json", "retrieval.cases.json")
    beliefs, cases = (json.loads(file.read_text("utf-8")) for file in files)
    with ExitStack() as stack:
        users = Users(stack, scratch, beliefs)
        systems: dict[str, Callable[[Case], Answer]] = {
            "holdfast": lambda case: users.answer(case),
            "FTS5 porter, scope and state": lambda case: by_words(users, beliefs, case, _everything),
            "FTS5 porter, names and aliases": lambda case: by_words(users, beliefs, case, _names),
        }
        failures = {name: failures_of(cases, system) for name, system in systems.items()}
    return {"sha256": hashes_of(files), "systems": {name: _summary(cases, failed) for name, failed in failures.items()}}


def failures_of(cases: Iterable[Case], system: Callable[[Case], Answer]) -> dict[str, list[str]]:
    """What is wrong with the answer to each case, in words; empty for one that passes."""
    return {case["caseId"]: list(judge(case["expect"], system(case))) for case in cases}


def judge(expect: Mapping[str, Any], answer: Answer) -> Iterator[str]:
    """Every expectation the answer misses."""
    sections = {
        "pinnedFacts": answer.facts, "openQuestions": answer.open_questions, "relevantBeliefs": answer.relevant,
    }  # fmt: skip
    for name, answered in sections.items():
        wanted = expect.get(name, {})
        if not answered.issuperset(wanted.get("mustInclude", ())):
            yield f"{name} lack {sorted(set(wanted['mustInclude']) - answered)}"
        if answered.intersection(wanted.get("mustExclude", ())):
            yield f"{name} hold {sorted(answered.intersection(wanted['mustExclude']))}"
        if "shouldOnlyInclude" in wanted and answered != set(wanted["shouldOnlyInclude"]):
            yield f"{name} are {sorted(answered)}, not {sorted(wanted['shouldOnlyInclude'])}"
    yield from _judge_prelude(expect.get("personaPrelude", {}), answer.prelude)


def _judge_prelude(wanted: Mapping[str, Any], text: str) -> Iterator[str]:
    if wanted.get("nonEmpty") and not text:
        yield "the prelude is empty"
    if wanted.get("isNull") and text:
        yield "there is a prelude"
    yield from (f"the prelude lacks {word}" for word in wanted.get("contains", ()) if word not in text)
    yield from (f"the prelude has {word}" for word in wanted.get("mustNotContain", ()) if word in text)


class Users:
    """A memory for each user with one project a domain, stored when first asked for."""

    def __init__(self, stack: ExitStack, folder: Path, beliefs: list[Belief]) -> None:
        self._stack, self._folder, self._beliefs = stack, folder, beliefs
        self._memories: dict[tuple[str, str], Memory] = {}
        self._stored: set[str] = set()
        self._rules: dict[str, Counter[tuple[str, ...]]] = {}
        self.ids = {belief["_id"]: make_id(n, _item(belief)) for n, belief in enumerate(beliefs, start=1)}
        self.names = {id_: name for name, id_ in self.ids.items()}
        self.beliefs = {belief["_id"]: belief for belief in beliefs}

    def answer(self, case: Case) -> Answer:
        """The case answered by the shipped path."""
        standing = self.standing(case)
        if not case["query"].strip():
            return standing
        names: dict[str, None] = {}
        for scope in case["scope"]:
            services, location = self._asked_at(case, scope)
            query = question(services, location, case["query"])
            briefing = asking.ask(services, location, query, limit=LIMIT, budget_tokens=NO_BUDGET, moment="prompt")
            names.update(dict.fromkeys(self.names[item.lesson.id] for item in briefing.items))
        return self.routed(case, standing, names)

    def routed(self, case: Case, standing: Answer, names: Iterable[str]) -> Answer:
        """The standing answer with what was found and is in none of its sections, within the case's budget."""
        most = case.get("budget", {}).get("maxBeliefs", LIMIT + len(standing.facts))
        candidates = [
            name for name in names if not self.beliefs[name]["pinned"] and self.beliefs[name]["scope"] != [UNIVERSAL]
        ]
        relevant = frozenset(candidates[: max(0, most - len(standing.facts))])
        return Answer(standing.prelude, standing.facts, standing.open_questions, relevant)

    def standing(self, case: Case) -> Answer:
        """What is pinned in the case's scopes, by section."""
        prelude = ""
        facts: set[str] = set()
        questions: set[str] = set()
        for scope in case["scope"]:
            services, location = self._asked_at(case, scope)
            briefing = asking.ask(
                services, location, question(services, location), limit=STANDING, budget_tokens=NO_BUDGET
            )
            for lesson in (item.lesson for item in briefing.items):
                if lesson.scope.level == "user":
                    prelude += lesson.insight + "\n"
                elif lesson.pinned:
                    (questions if lesson.kind == "exploration" else facts).add(self.names[lesson.id])
        return Answer(prelude, frozenset(facts), frozenset(questions))

    def _asked_at(self, case: Case, scope: str) -> tuple[Services, Location]:
        memory = self._memory(case.get("userId", "test-user"), scope)
        return replace(memory.services, clock=Standing(AT)), memory.location

    def _memory(self, user: str, scope: str) -> Memory:
        if (user, scope) not in self._memories:
            project = self._folder / user / scope.replace(":", "-")
            project.mkdir(parents=True)
            subprocess.run(["git", "init", "-q", "-b", "main"], cwd=project, check=True)
            home = str(self._folder / user)
            settings = load_settings({"HOME": home, "HOLDFAST_HOME": home + "/home", "HOLDFAST_HOLDOUT": "0"})
            made = self._stack.enter_context(Memory(str(project), settings=settings))
            self._memories[user, scope] = made
            self._store(made, user, scope)
        return self._memories[user, scope]

    def _store(self, memory: Memory, user: str, scope: str) -> None:
        wanted = [
            belief
            for belief in self._beliefs
            if belief["user_id"] == user
            and (user not in self._stored if UNIVERSAL in belief["scope"] else scope in belief["scope"])
        ]
        self._stored.add(user)
        rules = self._rules.setdefault(user, Counter())
        lessons = told_apart([lesson_of(belief, memory.location.project.id, self.ids) for belief in wanted], rules)
        memory.services.store.put(lessons, dict.fromkeys(lesson.id for lesson in lessons))


def lesson_of(belief: Belief, project: str, ids: Mapping[str, LessonId]) -> Lesson:
    """The belief as a lesson of that project, or of the user when it is universal."""
    own = UNIVERSAL in belief["scope"]
    at = datetime.fromisoformat(belief["created_at"])
    state = "retired" if belief["resolved_at"] else STATES.get(belief["epistemic_status"], "active")
    return Lesson(
        id=ids[belief["_id"]],
        kind=KINDS.get(belief["type"], "convention"),  # type: ignore[arg-type]
        title=headline(belief["content"]),
        insight=belief["content"],
        why=belief["why_it_matters"],
        scope=Scope(level="user" if own else "project", project="" if own else project),  # type: ignore[arg-type]
        validity=Validity(valid_from=at),
        recorded_at=at,
        tags=tuple(belief["aliases"]),
        topic_key=belief["canonical_name"],
        state=state,  # type: ignore[arg-type]
        pinned=belief["pinned"],
        confidence=belief["confidence"],
        links=tuple(
            Link(kind="relates_to", target=ids[name]) for name in belief.get("participants", ()) if name in ids
        ),
    )


def by_words(users: Users, beliefs: list[Belief], case: Case, text_of: Callable[[Belief], str]) -> Answer:
    """The same sections with relevance by plain full text over the scope's current beliefs: every hit counts."""
    user = case.get("userId", "test-user")
    items = [
        Item(belief["_id"], text_of(belief))
        for belief in beliefs
        if belief["user_id"] == user
        and set(belief["scope"]) & {*case["scope"], UNIVERSAL}
        and belief["epistemic_status"] not in STATES
        and not belief["resolved_at"]
    ]
    words = FullText()
    words.add(items)
    return users.routed(case, users.standing(case), words.rank(case["query"], LIMIT))


def _everything(belief: Belief) -> str:
    return f"{_names(belief)} {belief['content']} {belief['why_it_matters']}"


def _names(belief: Belief) -> str:
    return " ".join((belief["canonical_name"].replace("_", " "), *belief["aliases"]))


def _item(belief: Belief) -> Item:
    return Item(belief["_id"], belief["content"], at=datetime.fromisoformat(belief["created_at"]))


def _summary(cases: list[Case], failures: Mapping[str, list[str]]) -> dict[str, Any]:
    tuned = [case["caseId"] for case in cases[::TUNED_ON]]
    by_category: dict[str, list[bool]] = {}
    for case in cases:
        by_category.setdefault(case["category"], []).append(not failures[case["caseId"]])
    passed = [name for name, wrong in failures.items() if not wrong]
    return {
        "passed": len(passed),
        "cases": len(cases),
        "passed_tuned_on": len(set(passed) & set(tuned)),
        "cases_tuned_on": len(tuned),
        "by_category": {name: [sum(passes), len(passes)] for name, passes in sorted(by_category.items())},
        "failed": {name: wrong for name, wrong in failures.items() if wrong},
    }


def print_table(results: dict[str, Any]) -> None:
    """Cases passed by each system, by category, and which fail."""
    print(f"\nprecision: {'':24}{'passed':>8}{'of':>4}{'tuned on':>10}{'of':>4}")
    for name, summary in results["systems"].items():
        tuned = f"{summary['passed_tuned_on']:>10}{summary['cases_tuned_on']:>4}"
        print(f"{name:35}{summary['passed']:>8}{summary['cases']:>4}{tuned}")
    shipped = results["systems"]["holdfast"]
    for name, (passed, count) in shipped["by_category"].items():
        print(f"  {name:40}{passed:>3}{count:>4}")
    for name, wrong in shipped["failed"].items():
        print(f"  fails {name}: {'; '.join(wrong)}")

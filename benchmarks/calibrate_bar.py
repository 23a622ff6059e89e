"""How the delivery bar was set: what passes for questions to their own repository's lessons and to another's.

    python benchmarks/calibrate_bar.py --data DIR [--embedder NAME --embedder-option KEY=VALUE ...] [--json FILE]

DIR holds `transcripts/dev/{labels,queries}.jsonl`: gists are the lessons, queries the prompts. A prompt put to the
lessons of another repository should give nothing; so should everyday prompts that are about no lesson. Also printed is
recall_at_3, in the whole and for questions that share words with their lesson. Columns "said" are prompts that people
really typed, to their own repository's lessons and to others'. Lessons are the gists alone: no path, no quote.
With an embedder the two bars are also tried with other least cosines ("meaning").
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from holdfast.bootstrap import Memory
from holdfast.domain.frozen import replace
from holdfast.domain.ids import uuid7
from holdfast.domain.lesson import Lesson, Scope, Validity, title_of
from holdfast.domain.vocabulary import LessonId
from holdfast.ranking.bar import ASKED, PUSHED, Bar, passes
from holdfast.service.embed import embed_pending
from holdfast.service.recall import PARTICULAR, Found, draw, question, weigh_up, with_vector
from holdfast.settings import load_settings

AT = datetime(2026, 1, 1, tzinfo=UTC)
EVERYDAY_PROMPTS = """
what does this function do
thanks, that looks good, please continue
write a haiku about autumn leaves
can you make the button blue and a bit larger
translate the readme into Spanish
add a dark theme to the settings page
what is the capital of Portugal
please commit this and open a pull request
yes, go ahead
explain how merge sort works
why is the build red
bump the version to 2.1.0 and update the changelog
rename the variable total to amount in the invoice template
summarise what you changed so far
the tests fail, fix them
how do I center a div
add type hints to the helpers
set up a cron job that mails me the sales figures on Mondays
is there a better name for this class
draw the architecture as a mermaid diagram
""".strip().splitlines()
"""Prompts about nothing in particular: none of them should be given a lesson."""


def load(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def labelled(by_repository: dict[str, list[dict[str, object]]]) -> Iterable[tuple[str, dict[str, object]]]:
    return ((name, label) for name, labels in by_repository.items() for label in labels)


def load_prompts(folder: Path, repositories: dict[str, str]) -> Iterable[tuple[str, str]]:
    """What people really typed in the sessions: repository and prompt."""
    for session, repository in repositories.items():
        for turn in load(folder / "sessions" / f"{session}.jsonl"):
            if turn["role"] == "user" and turn["kind"] == "text":
                yield repository, str(turn["text"])


def make_lesson(n: int, label: dict[str, object], project: str) -> Lesson:
    gist = str(label["gist"])
    kinds = {"bug_root_cause": "bug_cause"}
    return Lesson(
        id=LessonId(uuid7(n, n.to_bytes(10, "big"))),
        kind=kinds.get(str(label["category"]), label["category"]),  # type: ignore[arg-type]
        title=title_of(gist),
        insight=gist,
        scope=Scope(project=project),  # type: ignore[arg-type]
        validity=Validity(valid_from=AT),
        recorded_at=AT,
        state="active",
    )


class Repository:
    """A scratch project with one repository's lessons."""

    def __init__(
        self, folder: Path, labels: Iterable[dict[str, object]], embedder: str, options: list[tuple[str, str]]
    ) -> None:
        folder.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        settings = load_settings({"HOME": str(folder), "HOLDFAST_HOME": str(folder / "home")})
        settings = replace(settings, embedder=embedder, embedder_options=tuple(options))
        self.memory = Memory(str(folder), settings=settings, cold=not embedder)
        project = self.memory.place.project.id
        made = {str(label["id"]): make_lesson(n, label, project) for n, label in enumerate(labels, start=1)}
        self.memory.parts.store.put(list(made.values()), {lesson.id: None for lesson in made.values()})
        embed_pending(self.memory.parts)
        self.names = {lesson.id: name for name, lesson in made.items()}

    def best(self, text: str) -> list[Found]:
        """The weighed candidates, best first, before the bar."""
        parts, place = self.memory.parts, self.memory.place
        query, _ = with_vector(parts, question(parts, place, text))
        drawn = draw(parts, query, PARTICULAR)
        return [found for _, found in weigh_up(parts, place, drawn.found)]


def passing(found: Iterable[Found], bar: Bar) -> list[Found]:
    return [one for one in found if passes(one.shares, one.fit, bar)]


def bar_of(strength: float, coverage: float, short_strength: float, short_coverage: float, strong: float) -> Bar:
    return Bar(
        strength=strength,
        coverage=coverage,
        short_strength=short_strength,
        short_coverage=short_coverage,
        strong=strong,
    )


OTHERS = (
    (0.9, 0.1, 0.3, 0.1, 1.5), (0.9, 0.15, 0.6, 0.25, 2), (0.9, 0.2, 0.9, 0.3, 3),
    (1.2, 0.2, 0.9, 0.35, 3.5), (1.5, 0.2, 0.9, 0.4, 3.5), (1.5, 0.25, 0.9, 0.5, 4), (2, 0.3, 1.2, 0.5, 4),
)  # fmt: skip
BARS = {"none": bar_of(0, 0, 0, 0, 0), "PUSHED": PUSHED, "ASKED": ASKED, **{str(o): bar_of(*o) for o in OTHERS}}
MEANINGS = {
    f"{name}, meaning {least}": replace(bar, meaning=least)
    for name, bar in (("PUSHED", PUSHED), ("ASKED", ASKED))
    for least in (0.38, 0.42, 0.46, 0.5, 0.54)
}


def share(hits: Iterable[bool]) -> float:
    held = list(hits)
    return sum(held) / len(held) if held else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", default="")
    parser.add_argument("--embedder-option", nargs="+", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folder = options.data / "transcripts" / "dev"
    by_repository = defaultdict(list)
    for label in load(folder / "labels.jsonl"):
        by_repository[label["repo"]].append(label)
    queries = load(folder / "queries.jsonl")
    pairs = [(key, value) for key, _, value in (pair.partition("=") for pair in options.embedder_option)]
    with tempfile.TemporaryDirectory() as scratch:
        repositories = {
            name: Repository(Path(scratch) / str(n), labels, options.embedder, pairs)
            for n, (name, labels) in enumerate(by_repository.items())
        }
        own = [(query, repositories[query["repo"]].best(str(query["query"]))) for query in queries]
        foreign = [
            repository.best(str(query["query"]))
            for query in queries
            for name, repository in repositories.items()
            if name != query["repo"] and len(repository.names) >= 8
        ]
        everyday = [r.best(prompt) for prompt in EVERYDAY_PROMPTS for r in repositories.values() if len(r.names) >= 8]

        said: dict[bool, list[list[Found]]] = {True: [], False: []}
        for home, prompt in load_prompts(folder, {str(x["session"]): name for name, x in labelled(by_repository)}):
            for name, repository in repositories.items():
                if len(repository.names) >= 8:
                    said[name == home].append(repository.best(prompt))

        def recall(pairs: list[tuple[dict[str, object], list[Found]]], bar: Bar) -> float:
            names = {name: repository.names for name, repository in repositories.items()}
            return share(
                any(names[query["repo"]][one.lesson.id] in query["relevant"] for one in passing(found, bar)[:3])
                for query, found in pairs
            )

        def row(bar: Bar) -> dict[str, float]:
            return {
                "recall_at_3": recall(own, bar),
                "recall_at_3, words shared": recall(overlapping, bar),
                "own: any": share(bool(passing(found, bar)) for _, found in own),
                "foreign: any": share(bool(passing(found, bar)) for found in foreign),
                "everyday: any": share(bool(passing(found, bar)) for found in everyday),
                "said, own: any": share(bool(passing(found, bar)) for found in said[True]),
                "said, foreign: any": share(bool(passing(found, bar)) for found in said[False]),
            }

        overlapping = [pair for pair in own if pair[0]["difficulty"] == "some_overlap"]
        bars = BARS | (MEANINGS if options.embedder else {})
        results = {name: row(bar) for name, bar in bars.items()}
        for repository in repositories.values():
            repository.memory.close()
    print(f"{'bar':44}" + "".join(f"{name:>27}" for name in results["none"]))
    for name, figures in results.items():
        print(f"{name:44}" + "".join(f"{figure:27.3f}" for figure in figures.values()))
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()

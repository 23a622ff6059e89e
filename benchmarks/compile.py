"""Rules files by section: how often the needed section is delivered, and for how many tokens.

    python benchmarks/compile.py --data DIR [--tasks FILE] [--each 3] [--seed 1] [--json FILE]

DIR (or its folder `rules-files`) holds one folder a repository, named `owner+name`, with its CLAUDE.md, AGENTS.md,
SKILL.md, .cursorrules, *.mdc, … at their paths. Files under 600 tokens and copies are left out. Kinds of questions:

- task: written by us as a developer would ask, for sections drawn at random, before their ranking was looked at;
- known item: two to six words drawn from a section with its headings, each with chance 0.3 from the whole file instead
  (Azzopardi & de Rijke, SIGIR 2006);
- sentence: a section's first sentence, which is taken out of the section first; its heading stays;
- heading: a section's heading, which is taken out first. Nothing else may be shared: a stress test.

A section is delivered when all of it that the question was made from is. Repositories of DEVELOPMENT were looked at
when the defaults were chosen; the others were not, but for task questions. Intervals: bootstrap over files, 95 %.
Baselines within the same budget: words alone, the head of the file, and sections drawn at random.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import NamedTuple

from holdfast.bootstrap import load_embedder
from holdfast.lean.records import replace
from holdfast.ports.embedder import Embedder
from holdfast.publishing.units import FRONT_MATTER, Unit, choose_units, default_budget, parse_units
from holdfast.rendering.budget import count_tokens
from holdfast.text.words import terms

HERE = Path(__file__).resolve().parent
DEVELOPMENT = frozenset({
    "anthropics+skills", "openai+skills", "obra+superpowers", "vercel-labs+agent-skills", "steipete+agent-rules",
    "colinhacks+zod", "shadcn-ui+ui", "prometheus+prometheus", "fastapi+fastapi",
})  # fmt: skip
LEAST_TOKENS, LEAST_UNITS = 600, 4
NOISE = 0.3
SHARES = (0.2, 0.4, 0.6)
SIZES = {"600 to 1,499": (0, 1500), "1,500 to 3,999": (1500, 4000), "4,000 and more": (4000, 10**9)}
KINDS = ("task", "known item", "sentence", "heading")


class Remembering:
    """The embedder that `holdfast compile` uses, asked once for each text."""

    def __init__(self) -> None:
        self._made = load_embedder("static", {})
        self._kept: dict[str, list[float]] = {}
        self.id, self.dimension = self._made.id, self._made.dimension

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector a text, in order."""
        new = [text for text in dict.fromkeys(texts) if text not in self._kept]
        self._kept.update(zip(new, self._made.embed_documents(new), strict=True) if new else ())
        return [self._kept[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return self.embed_documents([text])[0]


EMBEDDER = Remembering()


class File(NamedTuple):
    repository: str
    path: str
    tokens: int
    units: tuple[Unit, ...]


class Question(NamedTuple):
    kind: str
    text: str
    units: tuple[Unit, ...]
    """The file's units with what was held out taken away."""
    needed: frozenset[int]


class Answer(NamedTuple):
    file: File
    kind: str
    recall: float
    tokens: int


Chooser = Callable[[Question, File, Random], set[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tasks", type=Path, default=HERE / "compile_tasks.tsv")
    parser.add_argument("--each", type=int, default=3, help="questions of a kind for each file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folder = options.data / "rules-files"
    files = load_files(folder if folder.is_dir() else options.data)
    parts = {
        "development": [file for file in files if file.repository in DEVELOPMENT],
        "held out": [file for file in files if file.repository not in DEVELOPMENT],
    }
    result = {
        name: measure(part_files, load_tasks(options.tasks, part_files), options.each, options.seed)
        for name, part_files in parts.items()
    }
    show(result)
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def load_files(folder: Path) -> list[File]:
    seen: set[str] = set()
    files = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        text = path.read_bytes().decode("utf-8", "replace")
        tokens, units = count_tokens(text), parse_units(text)
        if text not in seen and tokens >= LEAST_TOKENS and len(units) >= LEAST_UNITS:
            repository, *names = path.relative_to(folder).parts
            files.append(File(repository, "/".join(names), tokens, units))
        seen.add(text)
    return files


def load_tasks(path: Path, files: Sequence[File]) -> list[tuple[File, Question]]:
    by_name = {(file.repository.replace("+", "/"), file.path): file for file in files}
    tasks = []
    for line in path.read_text(encoding="utf-8").splitlines():
        repository, name, address, text = line.split("\t")
        file = by_name.get((repository, name))
        if file:
            needed = frozenset(at for at, unit in enumerate(file.units) if unit.address == address)
            if not needed:
                raise SystemExit(f"{path}: {repository}/{name} has no unit {address}")
            tasks.append((file, Question("task", text, file.units, needed)))
    return tasks


def measure(files: Sequence[File], tasks: Sequence[tuple[File, Question]], each: int, seed: int) -> dict[str, object]:
    pairs = [*tasks, *((file, question) for file in files for question in questions(file, each, seed))]
    answers = answer(pairs, by_default, seed)
    return {
        "files": len(files),
        "repositories": sorted({file.repository for file in files}),
        "median_file_tokens": median(file.tokens for file in files),
        "kinds": {kind: summary([a for a in answers if a.kind == kind], seed) for kind in KINDS},
        "sizes": {name: by_size(answers, *span, seed) for name, span in SIZES.items()},
        "shares": {str(share): recalls(answer(pairs, within(share), seed)) for share in SHARES},
        "baselines": {
            "words alone": recalls(answer(pairs, by_words, seed)),
            "head of the file": recalls(answer(pairs, head, seed)),
            "sections at random": recalls(answer(pairs, at_random, seed)),
        },
    }


def questions(file: File, each: int, seed: int) -> Iterator[Question]:
    random = Random(f"{seed} {file.repository} {file.path}")
    for make in (known_items, sentences, headings):
        made = list(make(file.units, random))
        yield from random.sample(made, min(each, len(made)))


def known_items(units: tuple[Unit, ...], random: Random) -> Iterator[Question]:
    everywhere = [word for unit in units for word in terms(unit.text)]
    for at, unit in enumerate(units):
        words = [word for word in terms("\n".join([*unit.headings, unit.text])) if word.isalpha()]
        if len(words) >= 8 and unit.address != FRONT_MATTER:
            count = random.randint(2, 6)
            drawn = [random.choice(everywhere if random.random() < NOISE else words) for _ in range(count)]
            yield Question("known item", " ".join(drawn), units, frozenset([at]))


def sentences(units: tuple[Unit, ...], random: Random) -> Iterator[Question]:
    for at, unit in enumerate(units):
        sentence = unit.contract.rstrip("…")
        plain = unit.text.replace("**", "").replace("`", "")
        rest = plain.replace(sentence, "", 1)
        if len(terms(sentence)) >= 4 and rest != plain and len(terms(rest)) >= 5 and unit.address != FRONT_MATTER:
            held_out = replace(unit, text=rest)
            yield Question("sentence", sentence, (*units[:at], held_out, *units[at + 1 :]), frozenset([at]))


def headings(units: tuple[Unit, ...], random: Random) -> Iterator[Question]:
    sections: dict[str, list[int]] = {}
    for at, unit in enumerate(units):
        sections.setdefault(unit.address.partition(":")[0], []).append(at)
    for places in sections.values():
        first = units[places[0]]
        if first.headings and terms(first.headings[-1]):
            held_out = {at: replace(units[at], headings=units[at].headings[:-1]) for at in places}
            without = first.text.split("\n", 1)[-1]
            held_out[places[0]] = replace(held_out[places[0]], text=without)
            shown_units = tuple(held_out.get(at, unit) for at, unit in enumerate(units))
            yield Question("heading", first.headings[-1], shown_units, frozenset(places))


def by_default(question: Question, file: File, random: Random) -> set[int]:
    return chosen(question, default_budget(file.units))


def by_words(question: Question, file: File, random: Random) -> set[int]:
    return chosen(question, default_budget(file.units), None)


def within(share: float) -> Chooser:
    return lambda question, file, random: chosen(question, int(share * file.tokens))


def chosen(question: Question, budget: int, embedder: Embedder | None = EMBEDDER) -> set[int]:
    taken = {unit.address for unit in choose_units(question.units, question.text, budget, embedder).units}
    return {at for at, unit in enumerate(question.units) if unit.address in taken}


def head(question: Question, file: File, random: Random) -> set[int]:
    return fill(file, range(len(file.units)))


def at_random(question: Question, file: File, random: Random) -> set[int]:
    return fill(file, random.sample(range(len(file.units)), len(file.units)))


def fill(file: File, order: Sequence[int]) -> set[int]:
    budget, taken = default_budget(file.units), set()
    for at in order:
        budget -= file.units[at].tokens
        if budget < 0:
            break
        taken.add(at)
    return taken


def answer(pairs: Sequence[tuple[File, Question]], choose: Chooser, seed: int) -> list[Answer]:
    random = Random(seed)
    answers = []
    for file, question in pairs:
        taken = choose(question, file, random)
        recall = len(question.needed & taken) / len(question.needed)
        cost = sum(file.units[at].tokens + label_tokens(file, file.units[at]) for at in taken)
        answers.append(Answer(file, question.kind, recall, cost))
    return answers


def label_tokens(file: File, unit: Unit) -> int:
    """What the line above a delivered section costs."""
    above = " > ".join(unit.headings[:-1])
    return count_tokens(f"[{file.path.rpartition('/')[2]}#{unit.address} under {above}]")


def recalls(answers: Sequence[Answer]) -> dict[str, float]:
    return {kind: round(mean(a.recall for a in answers if a.kind == kind), 3) for kind in KINDS if has(answers, kind)}


def has(answers: Sequence[Answer], kind: str) -> bool:
    return any(a.kind == kind for a in answers)


def by_size(answers: Sequence[Answer], least: int, below: int, seed: int) -> dict[str, object]:
    answers_of_size = [a for a in answers if least <= a.file.tokens < below]
    return {kind: summary([a for a in answers_of_size if a.kind == kind], seed) for kind in KINDS}


def summary(answers: Sequence[Answer], seed: int) -> dict[str, object]:
    if not answers:
        return {"questions": 0}
    return {
        "questions": len(answers),
        "recall": round(mean(a.recall for a in answers), 3),
        "recall_95": interval(answers, seed),
        "median_tokens": median(a.tokens for a in answers),
        "median_file_tokens": median(a.file.tokens for a in answers),
        "median_share": round(median(a.tokens / a.file.tokens for a in answers), 3),
        "share_of_all": round(sum(a.tokens for a in answers) / sum(a.file.tokens for a in answers), 3),
    }


def interval(answers: Sequence[Answer], seed: int, draws: int = 1000) -> list[float]:
    """2.5th and 97.5th percentile of the mean recall over files drawn with replacement."""
    random = Random(seed)
    by_file: dict[tuple[str, str], list[float]] = {}
    for a in answers:
        by_file.setdefault((a.file.repository, a.file.path), []).append(a.recall)
    sums = [(sum(values), len(values)) for values in by_file.values()]
    means = []
    for _ in range(draws):
        drawn = random.choices(sums, k=len(sums))
        means.append(sum(total for total, _ in drawn) / sum(count for _, count in drawn))
    means.sort()
    return [round(means[int(draws * at)], 3) for at in (0.025, 0.975)]


def show(result: dict[str, dict[str, object]]) -> None:
    for part, figures in result.items():
        print(f"\n{part}: {figures['files']} files, median {figures['median_file_tokens']:,} tokens")
        for kind, row in figures["kinds"].items():  # type: ignore[attr-defined]
            print(f"  {kind:12}", row)
        for name in ("sizes", "shares", "baselines"):
            for label, row in figures[name].items():  # type: ignore[attr-defined]
                print(f"  {label:20}", row)


if __name__ == "__main__":
    main()

"""Does an agent act on what it is told?

    python -m benchmarks.uptake write --data DIR --out DIR [--repository PATH] [--record DIR] [--count 28] [--titles]
    python -m benchmarks.uptake judge --out DIR
    python -m benchmarks.uptake score --out DIR [--json FILE]

`write` replays the sessions with the gold in memory (or takes the record that `benchmarks.replay --gold --keep` wrote),
draws needs whose lesson had been told at the start or at a prompt, and writes the situation of each to OUT/CONDITION/
NN.md: with nothing told (none), with the product's own texts (brief), with that lesson alone (one), with what the same
product tells from another project's lessons (placebo), and with --titles with the titles of what was told. Fresh
readers answer NN.md with NN.out.md beside it. `judge` then writes OUT/judge/NN.md, the answers without their condition,
in random order; a judge who knows nothing else answers with NN.json. `score` prints the table. No model is asked here.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.recall.cases import MissingSetError
from benchmarks.replay.catalog import load_catalog, load_titles
from benchmarks.replay.player import play
from benchmarks.replay.record import Record, load, save
from benchmarks.replay.report import render as render_table
from benchmarks.replay.repository import Repository
from benchmarks.replay.scoring import taught_matches
from benchmarks.replay.shipped import tokens_of
from benchmarks.uptake.conditions import (
    CONDITIONS,
    brief_text,
    draw,
    eligible,
    gold_in,
    handed_before,
    list_text,
    load_other_project,
    placebo_texts,
)
from benchmarks.uptake.situations import before, render
from benchmarks.uptake.verdicts import AnswerError, blind_file, read_answer, shuffled, table


def main() -> int:
    options = _options()
    steps = {"write": write, "judge": judge, "score": score}
    try:
        return steps[options.step](options)
    except (MissingSetError, AnswerError, OSError) as exc:
        print(exc, file=sys.stderr)
        return 1


def write(options: argparse.Namespace) -> int:
    folder = options.data / "replay"
    catalog = load_catalog(folder, load_titles())
    repository = Repository((options.repository or folder / "repo").resolve())
    other_project = load_other_project(options.data)
    record = load(options.record) if options.record else _replay(catalog, repository, options.out / "record")
    matches, gold = taught_matches(record.taught), {lesson.id: lesson for lesson in catalog.gold}
    titles = {
        name: next((row["title"] for row in record.lessons if row["id"] == lesson), gold[name].title)
        for name, lesson in record.taught.items()
    }
    reached = eligible(catalog.needs, record, matches)
    needs = draw(reached, options.count, options.seed)
    blobs = {session.number: session.blob for session in catalog.sessions}
    pasts = [before(need, repository.transcript(blobs[need.session])) for need in needs]
    with tempfile.TemporaryDirectory() as scratch:
        prompts = [[event.text for event in past if event.what == "USER"] for past in pasts]
        foreign = placebo_texts(other_project, prompts, Path(scratch))
    cases = []
    for number, (need, past, placebo) in enumerate(zip(needs, pasts, foreign, strict=True)):
        handed = handed_before(record, need)
        was_told = gold_in(handed, matches)
        best = max((name for name in was_told if name in need.lessons), key=lambda name: gold[name].grade)
        notes = {
            "none": "", "brief": brief_text(handed), "one": list_text([gold[best].lesson]), "placebo": placebo,
            **({"titles": list_text(titles[name] for name in was_told)} if options.titles else {}),
        }  # fmt: skip
        for condition, text in notes.items():
            file = options.out / condition / f"{number:02d}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(render(number, need, past, text), "utf-8")
        cases.append({
            "case": number, "session": need.session, "event": need.event, "moment": need.moment,
            "strength": need.strength, "because": need.because, "told": len(was_told),
            "lessons": [gold[name].lesson for name in sorted(need.lessons)],
            "tokens": {condition: tokens_of(text) for condition, text in notes.items()},
        })  # fmt: skip
    _write_json(options.out / "key.json", cases)
    useful = sum(need.strength >= 2 for need in catalog.needs)
    print(f"{len(cases)} situations in {options.out}; told at a start or prompt: {len(reached)} of {useful} needs")
    return 0


def judge(options: argparse.Namespace) -> int:
    cases = _read_json(options.out / "key.json")
    conditions = [name for name in CONDITIONS if list((options.out / name).glob("*.out.md"))]
    orders = {}
    (options.out / "judge").mkdir(exist_ok=True)
    for case in cases:
        number = case["case"]
        order = shuffled(conditions, number, options.seed)
        responses = [(options.out / name / f"{number:02d}.out.md").read_text("utf-8") for name in order]
        (options.out / "judge" / f"{number:02d}.md").write_text(blind_file(case, responses), "utf-8")
        orders[str(number)] = order
    _write_json(options.out / "arms.json", orders)
    print(f"{len(cases)} cases of {', '.join(conditions)} in {options.out / 'judge'}")
    return 0


def score(options: argparse.Namespace) -> int:
    orders = _read_json(options.out / "arms.json")
    verdicts = {}
    for number, order in orders.items():
        file = options.out / "judge" / f"{int(number):02d}.json"
        verdicts[int(number)] = read_answer(_read_json(file), order, int(number))
    figures = table(verdicts, CONDITIONS)
    print(render_table(figures))
    names = [name for name in CONDITIONS if name in figures]
    print("\n| case | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 1))
    for number, case in sorted(verdicts.items()):
        cells = [f"{case[name][0]}" + (f" (wasted {case[name][1]})" if case[name][1] else "") for name in names]
        print(f"| {number:02d} | " + " | ".join(cells) + " |")
    if options.json:
        _write_json(options.json, figures | {"by case": verdicts})
    return 0


def _replay(catalog: Any, repository: Repository, folder: Path) -> Record:
    """Play all sessions with the gold in memory, and keep what happened for another time."""
    with tempfile.TemporaryDirectory() as scratch:
        record = play(
            catalog, repository, Path(scratch), with_gold=True, progress=lambda line: print(line, file=sys.stderr)
        )
    save(record, folder)
    return record


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except ValueError as exc:
        raise AnswerError(f"{file} is no JSON: {exc}") from exc


def _write_json(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value, indent=1) + "\n", "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.uptake", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("write", "judge", "score"))
    parser.add_argument("--data", type=Path, help="folder that holds replay/ and transcripts/ (write)")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--repository", type=Path, help="the bare repository; DIR/replay/repo without it")
    parser.add_argument("--record", type=Path, help="what `benchmarks.replay --gold --keep` wrote")
    parser.add_argument("--count", type=int, default=28)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--titles", action="store_true", help="a condition with the titles alone, too")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.step == "write" and options.data is None:
        parser.error("write needs --data")
    return options


if __name__ == "__main__":
    sys.exit(main())

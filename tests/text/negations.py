"""Some thousand sentences with negations: every shape of a rule with every negation, program and ending."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, product

NEGATIONS = (
    "should not", "shouldn't", "must not", "mustn't", "should never", "must never", "do not", "don't", "cannot",
    "can't", "may not", "will never", "won't", "no longer",
)  # fmt: skip
ACTS = (
    "log the customer_id",
    "touch the default ssh config",
    "retry on 409",
    "import package cli from `strategy`",
    "write files outside of build/",
    "use `print` in handlers",
    "commit generated files",
    "read settings.ts twice",
    "change the order of the 3 steps",
    "call paths.RepoRoot() in a loop",
    "store secrets in .env",
    "pass --force to git",
)
SHAPES = (
    "we {negation} {act}",
    "We {negation} {act} in this project.",
    "ok, so I think we {negation} {act}",
    "No, we {negation} {act}, because the reviewers always find it.",
    "note that workers {negation} {act} after a restart",
    "I'm sure that the hooks {negation} {act}, which nobody expects at first",
    "2. the server {negation} {act}",
    "The exporter, which runs at night and reads everything that the day has left in the queue, {negation} {act}.",
    "please remember: tests {negation} {act} unless the flag is set",
    "when the queue is full, workers {negation} {act}",
    "workers {negation} {act}, so the queue is read again by the leader (see the notes of the meeting), and then sent",
    "we {negation} {act}; the old way is still described in the docs for readers of version 2",
)
TWICE = (
    "we never {act} and do not {other}",
    "never {act}, not even when a person asks; {other} instead",
    "{act} only where it is not {other}",
    "neither {act} nor {other}",
    "if it does not work, do not {act} but {other}",
    "use `uv`, not pip, and never {act}",
    "we don't {act} without a test, except on Fridays, when we {other}",
)


def sentences() -> Iterator[str]:
    """Yield each sentence once."""
    for shape, negation, act in product(SHAPES, NEGATIONS, ACTS):
        yield shape.format(negation=negation, act=act)
    others = cycle(ACTS[5:] + ACTS[:5])
    for shape, act in product(TWICE, ACTS):
        yield shape.format(act=act, other=next(others))

"""The numbers that taking prompts apart goes by, each at its boundary."""

from __future__ import annotations

from holdfast.text import prompts
from holdfast.text.prompts import read_prompt
from tests.boundaries import Boundary, each

OUTPUT = "warning: the clock drifts\n"
SURE_OUTPUT = "ERROR the clock drifts\n"
OTHER = "some plain words\n"
SAID = "I think that you should look at the clock\n"


def parts_of(text: str) -> list[str]:
    return [part.kind for part in read_prompt(text).parts]


def review_of(size: int, sentence: str = "The `clock` and the `login` drift apart near midnight") -> str:
    """A reviewer's paragraph of that many characters."""
    return f"{sentence} {'as it does ' * 40}"[: size - 1].rstrip().ljust(size - 1, "x") + "."


def introduced(end: int) -> list[str]:
    """What is taken for pasted behind an introduction whose colon is its character of that number."""
    introduction = "We got feedback " + "on it " * 60
    return parts_of(f"{introduction[: end - 2]}x: {review_of(200)}")


def quoted(end: int) -> list[str]:
    """What is taken for pasted in quotes behind an introduction, whose first letter is the one of that number."""
    introduction = "We got feedback " + "on it " * 60
    return parts_of(f'{introduction[: end - 3]} "{review_of(200)}"')


LIMITS = [
    Boundary(prompts, "OUTPUT_RUN", 3, 2, lambda n: parts_of(SAID + OUTPUT * n), ["output"], []),
    Boundary(prompts, "SURE_RUN", 2, 1, lambda n: parts_of(SAID + SURE_OUTPUT * n), ["output"], []),
    Boundary(prompts, "GAP", 2, 3, lambda n: parts_of(OUTPUT * 2 + OTHER * n + OUTPUT * 2), ["output"], []),
    Boundary(
        prompts, "LINE_LENGTH", 1_000, 1_001,
        lambda n: parts_of(("x" * (n - 10) + " " * 10 + "\n") * 3), ["output"], [],
    ),
    Boundary(
        prompts, "LONG_PASTE", 20, 19,
        lambda n: parts_of(OUTPUT * 3 + SAID + OUTPUT * (n - 3)), ["output"], ["output", "output"],
    ),
    Boundary(prompts, "REVIEW_LENGTH", 160, 159, lambda n: parts_of(review_of(n)), ["review"], []),
    Boundary(
        prompts, "LONG_REVIEW", 300, 299,
        lambda n: parts_of(review_of(n, "The clock should also be seeded")), ["review"], [],
    ),
    Boundary(
        prompts, "REVIEW_NAMES", 2, 1,
        lambda n: parts_of(review_of(200, f"The {'`clock` ' * n}drift apart near midnight")), ["review"], [],
    ),
    Boundary(prompts, "LEAD_LENGTH", 220, 221, introduced, ["review"], []),
    Boundary(prompts, "LEAD_LENGTH", 220, 221, quoted, ["review"], []),
]  # fmt: skip


@each(LIMITS)
def test_a_number_decides_where_it_says(boundary: Boundary) -> None:
    boundary.check()

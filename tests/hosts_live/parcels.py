"""The repository the hosts work in, and what the model does for which prompt."""

from __future__ import annotations

from typing import Any

FILES = {
    "parcel/__init__.py": "",
    "parcel/price.py": '''"""What a parcel costs, in cents."""

BANDS = ((2_000, 549), (5_000, 749))


def fee_for(weight_g):
    """The fee of the first band that a weight fits."""
    for limit_g, fee in BANDS:
        if weight_g < limit_g:
            return fee
    raise ValueError(f"too heavy: {weight_g} g")
''',
    "parcel/label.py": '''"""Labels for the warehouse printer."""

from parcel.price import fee_for


def render_label(name, city, weight_g):
    """Name, city, weight and fee, a line each."""
    return "\\n".join([name, city, f"{weight_g} g", f"{fee_for(weight_g)} ct"])
''',
    "tests/__init__.py": "",
    "tests/test_price.py": """import unittest

from parcel.label import render_label
from parcel.price import fee_for


class PriceTest(unittest.TestCase):
    def test_a_parcel_at_the_limit_is_in_the_band(self):
        self.assertEqual(fee_for(2_000), 549)

    def test_a_label_has_four_lines(self):
        self.assertEqual(render_label("Ada", "Turin", 300).count("\\n"), 3)
""",
}

TESTS = "python3 -m unittest discover -s tests -t ."
MISSING = "python3 -m pytest -q"

REPAIR = "A parcel of exactly 2000 g is charged the 5 kg fee. Please find the cause and mend it."
CORRECTION = "No, don't use floats for weights in this package. Weights are whole grams everywhere."
REMEMBER = "Remember that the warehouse printer reads our labels: never change the order of the lines of render_label."
UNRELATED = "What is the capital of Portugal?"
BAND = "Add a band for parcels up to 10 kg in parcel/price.py, with weights as in the other bands."
LABEL = "Put the postcode on the label that render_label makes."
BREAK = "Let fee_for compare strictly again, and run the tests."
MEND = "No, that was right before. Take it back."

WRONG = "        if weight_g < limit_g:\n"
FLOATS = "        if weight_g / 1000.0 <= limit_g / 1000.0:\n"
RIGHT = "        if weight_g <= limit_g:\n"
ASKED = "what did this session teach"
"""Words of the question at the end of real work."""
CAUSE = (
    "The root cause was that `fee_for` in parcel/price.py compared with `<`, "
    "so a parcel at the limit fell into the next band."
)
REPAIRED = f"{CAUSE}\n\nWe decided to keep all bands in one tuple because the web shop reads it."


STATED = (
    {"insight": "`fee_for` in parcel/price.py compares with `<=`: a parcel at the limit belongs to the lower band.",
     "title": "`fee_for` compares with `<=`: a parcel at the limit belongs to the lower band",
     "quote": "so a parcel at the limit fell into the next band", "files": ["parcel/price.py::fee_for"],
     "kind": "bug_cause"},
    {"insight": "All bands stay in the one tuple BANDS, because the web shop reads it.",
     "quote": "We decided to keep all bands in one tuple because the web shop reads it.",
     "files": ["parcel/price.py"], "kind": "decision"},
)  # fmt: skip
"""What the agent states of the repair when it is asked."""


def _edit(file: str, old: str, new: str) -> dict[str, Any]:
    return {"do": "edit", "file": file, "old": old, "new": new}


def _shell(command: str) -> dict[str, Any]:
    return {"do": "shell", "cmd": command}


def _read(file: str) -> dict[str, Any]:
    return {"do": "read", "file": file}


def _say(text: str) -> dict[str, Any]:
    return {"do": "text", "text": text}


TURNS: list[dict[str, Any]] = [
    {
        "match": "is charged the 5 kg fee",
        "steps": [
            _shell(MISSING),
            _shell(TESTS),
            _read("parcel/price.py"),
            _edit("parcel/price.py", WRONG, FLOATS),
            _shell(TESTS),
            _say(REPAIRED),
        ],
    },
    {
        "match": "don't use floats for weights",
        "steps": [
            _edit("parcel/price.py", FLOATS, RIGHT),
            _shell(TESTS),
            _say("Weights are whole grams again and both tests pass."),
        ],
    },
    {"match": "Remember that the warehouse printer", "steps": [_say("Noted.")]},
    {"match": "capital of Portugal", "steps": [_say("Lisbon.")]},
    {
        "match": "Add a band for parcels up to 10 kg",
        "steps": [
            _read("parcel/price.py"),
            _edit("parcel/price.py", "BANDS = ((2_000, 549), (5_000, 749))\n",
                  "BANDS = ((2_000, 549), (5_000, 749), (10_000, 1_049))\n"),
            _shell(TESTS),
            {"do": "mcp", "tool": "recall", "args": {"query": "lines of the warehouse label"}},
            _say("The band is there and the tests pass."),
        ],
    },
    {
        "match": "Put the postcode on the label",
        "steps": [
            _read("parcel/label.py"),
            _edit("parcel/label.py", 'name, city, f"', 'name, f"{city}", f"'),
            _say("Done."),
        ],
    },
    {
        "match": "Let fee_for compare strictly again",
        "steps": [_edit("parcel/price.py", RIGHT, WRONG), _shell(TESTS), _say("One test fails now.")],
    },
    {
        "match": "Take it back",
        "steps": [_edit("parcel/price.py", WRONG, RIGHT), _shell(TESTS), _say("Both tests pass again.")],
    },
    {
        "match": ASKED,
        "steps": [{"do": "mcp", "tool": "remember", "args": {"lessons": list(STATED)}}, _say(REPAIRED)],
    },
]  # fmt: skip

REFUSAL: list[dict[str, Any]] = [
    *(turn for turn in TURNS if turn["match"] != ASKED), {"match": ASKED, "steps": [_say("One test fails now.")]}
]  # fmt: skip
"""The same model, which states nothing when it is asked."""

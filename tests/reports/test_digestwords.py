"""A model's paragraph about a digest says nothing that the digest does not say."""

from __future__ import annotations

import pytest

from holdfast import Memory
from holdfast.errors import ModelError
from holdfast.ports.plugins import Completion
from holdfast.reports.digestwords import check_words, say_in_words

TEXT = "harbour, 25 May to 1 June 2026\n3 learnt\nLearnt (3)\n  1f0c9a2b  Retries are capped at `MAX` (Ada)"


class StandIn:
    """A model that answers what it was made with, and keeps the prompt."""

    id = "stand-in"

    def __init__(self, answer: str) -> None:
        self.answer, self.prompt = answer, ""

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        self.prompt = prompt
        if not self.answer:
            raise ModelError("no answer")
        return Completion(text=self.answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Three rules came in.",
        "Of 3 rules one caps retries (1f0c9a2b).",
        "Ada capped retries at `MAX` between 25 May and 1 June 2026.",
        'The rule "Retries are capped" is new.',
    ],
)
def test_what_the_digest_says_is_kept(answer: str) -> None:
    words = check_words(answer, TEXT, "m")
    assert (words.text, words.dropped) == (answer, ())


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("There were 4 rules.", "the number 4"),
        ("See 99999999 for more.", "the id 99999999"),
        ("See deadbee1 for more.", "the id deadbee1"),
        ("Retries are capped at `MIN`.", "the words 'MIN'"),
        ('It says "never retry".', "the words 'never retry'"),
        ("It took 1.5 days.", "the number 1.5"),
    ],
)
def test_what_it_does_not_say_is_dropped_with_the_reason(answer: str, why: str) -> None:
    words = check_words(answer, TEXT, "m")
    assert words.text == ""
    assert why in words.dropped[0]


def test_one_wrong_sentence_does_not_take_the_others_along() -> None:
    words = check_words("Retries are capped.  There were 17 rules. See 1f0c9a2b.", TEXT, "m")
    assert words.text == "Retries are capped. See 1f0c9a2b."
    assert len(words.dropped) == 1


def test_the_model_gets_no_private_lesson_and_no_secret(memory: Memory) -> None:
    since = memory.services.clock.now()
    private = memory.remember("The harbour master owes me ten.", private=True)
    since = memory.services.clock.now()
    memory.revise(private.id, insight="The harbour closes at ten.", title="Harbour closes at ten", private=False)
    memory.remember("Ferries leave from pier two.")
    model = StandIn("Ferries leave.")
    words = say_in_words(memory.digest(since=since), model)
    assert words.text == "Ferries leave."
    assert "Ferries leave from pier two" in model.prompt
    assert "owes" not in model.prompt
    assert "1 learnt" in model.prompt
    assert "Harbour closes at ten" in model.prompt


def test_a_model_that_does_not_answer_is_an_error(memory: Memory) -> None:
    since = memory.services.clock.now()
    memory.remember("Ferries leave from pier two.")
    with pytest.raises(ModelError):
        say_in_words(memory.digest(since=since), StandIn(""))

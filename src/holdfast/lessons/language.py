"""Guesses the language of a text by its function words or its script, to tell whether two texts can be compared.

Words that were translated share no stems with their source, so a comparison by words says nothing about them.
"""

from __future__ import annotations

from holdfast.text.words import word_set

LEAST_WORDS = 2
"""Different function words from which a language is named."""
FOREIGN_LETTERS = 0.25
"""Share of letters beyond the Latin script from which a text is not in a language of that script."""
NOT_LATIN = "not latin"
"""What is named for every other script."""

_FUNCTION_WORDS = {
    "en": word_set("the and is are was were of to that this it with for be by not or from has have on as at an which"),
    "de": word_set(
        "der die das und ist sind wird werden nicht ein eine mit auf für von zu im den dem des sich auch bitte sonst"
        " oder nur bei muss müssen jede jedem jeder"
    ),
    "fr": word_set(
        "le la les et est sont des du un une dans pour par avec ne pas sur sans qui que au aux leur doivent doit sinon"
        " ou toutes tous"
    ),
    "es": word_set("el los las y es son una un del para por con no se que en al debe deben sin todas todos siempre"),
    "it": word_set("il lo gli e è sono una un del della per con non si che di al deve devono senza tutti sempre"),
    "pt": word_set("o os as e é são uma um do da para por com não se que em ao deve devem sem todos sempre"),
    "nl": word_set("de het en is zijn een van voor met niet te op aan dat die moet moeten worden wordt altijd of"),
}


def language_of(text: str) -> str:
    """Return a short name of the text's language; empty if it cannot be told, as for code."""
    letters = [char for char in text if char.isalpha()]
    if sum(ord(char) > 0x24F for char in letters) > FOREIGN_LETTERS * len(letters):
        return NOT_LATIN
    words = {word.strip(".,;:!?()[]\"'`*") for word in text.lower().split()}
    counts = sorted(((len(words & known), name) for name, known in _FUNCTION_WORDS.items()), reverse=True)
    (most, name), (next_most, _) = counts[:2]
    return name if most >= LEAST_WORDS and most > next_most else ""

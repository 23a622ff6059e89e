"""English verbs as far as titles need them: which words can be a statement's verb, and which are nouns as well.

The verbs of work on software and the commonest others; forms follow from the base. A verb that is missing makes a short
title look like a topic, so that it is made anew of the lesson's words.
"""

from __future__ import annotations

from holdfast.text.words import word_set

_REGULAR = word_set(
    """
    accept act add affect allow answer appear append apply ask assume attach belong block bump cache call carry
    cause change check clean clear close compare compute configure confirm consider contain copy count cover crash
    create decide declare decode define delegate delete deploy derive describe detect determine differ disable
    document enable encode end ensure equal escape exclude exist exit expect explain export expose extend extract
    fail fetch fill filter fix follow generate group guard handle identify ignore import include inherit inject
    install invoke join land leak limit link list load lock look maintain mark match mention merge mirror mock
    move name note open order own pair parse pass pick place point post prefix present prevent print produce
    propagate prove provide pull push quote receive record reference refresh refuse register reject rely remain
    remove rename render repeat replace reply report require resolve restore resume retry return reuse revert
    review save search see seed select separate serve share show sign simulate sort stage start stay support
    suppress switch sync target test tie touch track treat trigger truncate trust try turn update use validate
    verify wait walk want warn watch wire work yield
    """
)
_IRREGULAR = word_set(
    """
    accumulate aim amend avoid become begin bind bite bring build cap catch choose come commit consult cut depend
    discuss distinguish do drift drop embed emit error fall find flag forbid format get give go grow hang happen
    hardcode hide hit hold hook keep know lack lay lead leave let lie lint live log lose make map mean monitor
    need omit overwrite pin poll prefer put query raise read rebase rebuild refer represent request reset rest
    rewrite run say scan send set ship sit skip slice slow speed split squash stand stop strip stub swallow tag
    take tell think thread throw time transfer upload view win wrap write
    """
)
"""Verbs whose past form is among the others."""
_OTHERS = word_set(
    """
    always am are aren't be been began bound breaks broke broken brought built calling came can can't cannot
    capped caught chose committed could couldn't did didn't differentiate doesn't don't dropped embedded emitted
    fell flagged forbidden formatted found gave grew had hard-code has hasn't have haven't held hung initialise
    initialize is isn't kept led left logged lost made mapped may meant might must mustn't never not omitted
    pinned ran rebuilt recompute referred remember rerun said sat saw scanned scope sent shall shipped should
    shouldn't shown skipped speak stopped stored stores stripped tagged told tolerate took total translate unify
    unwrap using visit was wasn't went were weren't will won't would wouldn't wrapped written wrote zero
    """
)


def _third(base: str) -> str:
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


def _past(base: str) -> str:
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + ("d" if base.endswith("e") else "ed")


VERBS = (
    _REGULAR
    | _IRREGULAR
    | _OTHERS
    | {_third(base) for base in _REGULAR | _IRREGULAR}
    | {_past(base) for base in _REGULAR}
)
"""Forms that can be a statement's verb."""
NOUNS_TOO = word_set(
    """
    act acts allowed answer answers backups block blocked blocks broken build builds built bump bumps cache cached
    caches call calls cap caps cause causes change changes check checks clean close commit commits copies copy
    cover covers crash crashes cut cuts deploy deploys document documents embedded end ends error errors exit
    exits expected export exports filter filters fix fixed fixes flag flags format formats generated group grouped
    groups guard guards handle hang hook hooks import imports input install known land lands lead left limit
    limited limits link linked links lint lints list lists lives load loads lock locked locks log logs look looks
    map maps mark marks match matches mean means merge merged merges mirror mirrors missing mock mocks monitor
    monitors name named names need needs nested note notes open order orders output own pair paired pairs pin pins
    place places point points post posts prefix prefixes present print prints pull push put queries query quote
    quotes read reads record records reference references release releases replies reply report reports request
    requests required reset resets resumes retries retry return returns review reviews run runs save scan scans
    scope scopes search seed seeds separate set sets share shared shares show shows sign signed signs slice slices
    slow sorted speed stage staged stages start starts stay stop stops stub stubs support supported switch
    switches sync tag tagged tags target targets test tested tests thread threads time times total track tracks
    trigger triggers trust try turn turns update updates use used uses view views wait waits walk warn watch work
    works written zero
    """
)
"""Those that are nouns or attributes as well: the next word decides."""
AFTER_VERB = word_set(
    """
    a after again against all always an and any as at because before both by correctly each early every everything
    everywhere first for four from here if in instead into it its late never no none not nothing on once one only
    or our over per rather so than that the their them there these this those three through to twice two under
    until via when while with without your
    """
)
"""Words before which such a form is a verb."""
ORDERS = word_set("call clear keep put run save set stop trust try use")
"""Forms that are hardly nouns at a title's beginning."""
INSIDE = word_set("need needs run runs use uses")
"""The same inside a title."""
COMPOUNDS = word_set("book case cases file files order script scripts site sites time times up")
"""Nouns before which these are no verbs."""

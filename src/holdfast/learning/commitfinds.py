"""Finds useful statements in a repository's commits: reasons, reverts, and fixes of fixes.

The functions are pure. They propose sentences in which an author gives a reason, the cause of a defect, or what did not
work; never a mere description of the change. The kind of find and its wording give the probability that an engineer
would keep it; docs/explanation/git-history.md says how the numbers were measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from holdfast.domain.project import Commit
from holdfast.domain.vocabulary import LessonKind
from holdfast.learning.commitmessage import MessagePart, quoted_subject, read_message
from holdfast.learning.tuning import (
    AGED,
    COMMIT_FILES_KEPT,
    LEAST_LINE,
    LONGEST_REASON,
    MENDED_LOOKED_AT,
    MENDS_WITHIN,
    SAME_LINES,
    SHORTEST_REASON,
    SOURCE_WORTH,
    SWEEP,
)
from holdfast.text.window import opening

Lines = Callable[[str, str], tuple[frozenset[str], frozenset[str]]]


_BOT = re.compile(
    r"\[bot\]|\b(?:dependabot|renovate|greenkeeper|semantic-release|release-please|github-actions|snyk-bot"
    r"|pre-commit-ci|allcontributors|crowdin|weblate|imgbot|codecov|mergify|copybara)\b",
    re.IGNORECASE,
)
_ROUTINE = re.compile(
    r"(?:release|bump|prepare (?:for )?(?:next|release)|version|v?\d+\.\d+|merge\b|changelog|update (?:dependenc"
    r"|changelog|lock|readme|translations?)|chore\(release|chore\(deps|wip\b|initial commit|squash|typo|format|lint"
    r"|apply suggestions)",
    re.IGNORECASE,
)
_ABOUT_REVIEW = re.compile(
    r"(?:address|apply|resolve)\w* (?:\w+ ){0,3}(?:review|feedback|comments?|suggestions?|findings)", re.IGNORECASE
)

_VAGUE = re.compile(
    r"(?:updat(?:e|es|ed)|chang(?:e|es)|improv(?:e|es)|minor|misc|various|small|cleanups?|fix(?:es)?"
    r"|tweaks?) (?:\S+ ?){0,2}$",
    re.IGNORECASE,
)
"""A subject that does not say what was done."""

_CAUSE = re.compile(
    r"\broot cause\b|\b(?:was|were|is|are|been|which) caused by\b|\bthe (?:bug|problem|issue|culprit|cause"
    r"|reason)\b.{0,40}\b(?:was|is|were)\b|\bturn(?:s|ed) out\b|\bbecause\b|\bdue to\b|\bcaus(?:es|ed|ing)\b"
    r"|\bleads? to\b|\bled to\b|\bresult(?:s|ed|ing) in\b|\bso (?:it|they|the|a|an|no|every)\b.{3,60}\b(?:never|always"
    r"|fail|lost|stale|wrong|silently)",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\bbecause\b|\bso that\b|\binstead of\b|\brather than\b|\bto avoid\b|\bto prevent\b|\botherwise\b"
    r"|\bsince\b(?! v?\d)|\bin order to\b|\bthe other option\b|\bwithout (?:this|it|that)\b|\bon purpose\b|\bdeliberate"
    r"|\bintentional|\bprevents?\b|\bavoids?\b|\btrade-?off\b|\bnot worth\b|\bdoes not work\b|\bdoesn't work\b",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"\broot cause\b|\bbecause\b|\bturn(?:s|ed) out\b|\botherwise\b|\bwithout (?:this|it|that)\b|\bon purpose\b"
    r"|\bdeliberate|\bintentional|\bthe other option\b|\bcaused by\b|\bso that\b|\bdoes(?: not|n't) work\b|\bdue to\b",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:must(?: not)?|cannot|can't|never|always|only (?:when|if|after|before|in|on|works?)|do not|don't|required?"
    r"|requires|needs? to|has to|have to|not allowed|unsupported|does(?: not|n't) support)\b",
    re.IGNORECASE,
)
_HARM = re.compile(
    r"\b(?:panic|crash|deadlock|race|leak|hang|hung|stale|silently|corrupt|lost|loses|overwrit|truncat|out of memory"
    r"|oom|timeout|time out|fails?|failed|failure|breaks?|broke|broken|wrong|incorrect|regress|flaky|infinite|duplicate"
    r"|slow|ignored|missing|swallow|nil|null|undefined)\w*",
    re.IGNORECASE,
)
_DOING = re.compile(
    r"(?:also |then |and )?(?:this (?:commit|pr|patch|change|pull request)\b|add(?:s|ed)?\b|updat(?:e|es|ed)\b"
    r"|remov(?:e|es|ed)\b|renam(?:e|es|ed)\b|mov(?:e|es|ed)\b|refactor|introduc|implement|extract|replac(?:e|es|ed)\b"
    r"|includ(?:e|es)\b|creat|bump|tests?\b|cover|verif|document|clean|tidy|fold|wire|rewrite|convert|migrat)",
    re.IGNORECASE,
)
"""Openings of sentences that only say what was done."""
_PASSING = re.compile(
    r"\bcurrently fails\b|\bfailing test\b|\bTDD\b|\bvalidated via\b|\bbenchmark\w*\b.{0,60}\bop\b|\bin this (?:branch"
    r"|pr|commit)\b|\bparent branch\b|\bthis pr\b|\bthis session\b|\bfollow[- ]up\b|\bBREAKING CHANGE\b"
    r"|\bpre-existing\b|\btests? (?:pass|verif)",
    re.IGNORECASE,
)
"""Words about what held only while the commit was made."""
_FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'll|me|my|maybe|hopefully|not sure|let me know|hmm|todo)\b", re.IGNORECASE
)
_NAME = re.compile(r"`[^`\n]+`|\b\w+[a-z][A-Z]\w*|\b\w+_\w+|\b\w+\.\w{2,}\b|\b\w+\(\)|--[a-z][\w-]+|\b[A-Z]{2,}\w*")
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)[\"')`]*\s+(?=[A-Z`\"(\[])")
_LEAN = opening(
    r"here|there|as a result|such|without (?:it|this|that|them)|including (?:it|them)|since (?:then|pr\b)",
    "the (?:former|latter|fix|change|bug|issue|problem)",
)
_LEANS_INSIDE = re.compile(
    r"\b(?:the same (?:problem|issue|suite|scenario|way|reason|bug)|that (?:first|second|last)|the (?:former"
    r"|latter|user brief)|as (?:before|above)|above|(?:first|second|third) (?:fallback|one))\b",
    re.IGNORECASE,
)
"""Words that refer to a missing sentence."""
_MEND = re.compile(r"\b(?:fix(?:e[sd])?|bug|regression|hotfix|broke|broken|repair|correct|mend)\b", re.IGNORECASE)
_BOLD = re.compile(r"\*\*|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)")
_LABEL = re.compile(
    r"(?:fix(?:ed|es)?(?: \d)?|root cause|cause|reason|why|problem|issue|note|bug|background|motivation|changed"
    r"|added)\s*:\s+(?=\S)",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\([^)\s]{0,400}\)")
_DOCUMENT = re.compile(
    r"\.(?:md|rst|txt|lock|sum|svg|png|jpg|snap|json|csv|pot?|adoc)$|(?:^|/)(?:CHANGELOG|LICENSE)|(?:^|/)\.changeset/"
)
"""Files that say less about what a commit is about than the others."""
_TEST_FILE = re.compile(r"(?:^|[/_.-])tests?(?:[/_.-]|$)|_test\.|\.spec\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFind:
    """A sentence of a commit that may be a lesson."""

    kind: LessonKind
    title: str
    insight: str
    quote: str
    """The author's words behind it, on one line."""
    commit: Commit
    worth: float
    """Probability, 0 to 1, that an engineer of the project would keep it."""
    source: str
    """The kind of find: `reason`, `cause`, `revert` or `mended`."""
    files: tuple[str, ...] = ()


def find_all(commits: Sequence[Commit], lines: Lines | None = None) -> list[CommitFind]:
    """Return the commits' finds, best first, at most two a commit; `commits` are newest first.

    `lines` returns the lines that a commit removed from and added to a file; without it, fixes of fixes are not found.
    """
    spoken = [commit for commit in commits if not is_routine(commit)]
    by_id = {commit.id: commit for commit in commits}
    undone = {id for commit in spoken for part in read_message(commit.message)[:1] if (id := part.reverts)}
    newest = max((commit.at for commit in commits), default=None)
    finds: list[CommitFind] = []
    for commit in spoken:
        if any(commit.id.startswith(id) for id in undone):
            continue  # a later commit reverted it
        own = sorted(_finds_in(commit, by_id), key=lambda find: -find.worth)[:2]
        finds += [_aged(find, (newest - commit.at).days) for find in own] if newest else own
    if lines is not None:
        finds = _with_mended(finds, commits, lines)
    return sorted(finds, key=lambda find: (-find.worth, -find.commit.at.timestamp(), find.commit.id))


def _aged(find: CommitFind, days: int) -> CommitFind:
    """Return the find with less worth the older it is, since code changes."""
    less = next((less for least, less in AGED if days >= least), 0.0)
    return replace(find, worth=_probability(find.worth - less)) if less else find


def is_routine(commit: Commit) -> bool:
    """Return whether a program wrote the commit, or it is a release, a merge or other routine without a statement."""
    if _BOT.search(commit.author) or _BOT.search(commit.email):
        return True
    subject = re.sub(r"^\w+(?:\([^)]*\))?!?:\s*", "", commit.subject)
    return (
        bool(_ROUTINE.match(subject)) or bool(_ROUTINE.match(commit.subject)) or len(commit.message) < SHORTEST_REASON
    )


def _finds_in(commit: Commit, by_id: dict[str, Commit]) -> Iterator[CommitFind]:
    parts = read_message(commit.message)
    if len(commit.files) > SWEEP:
        return
    for part in parts:
        if part.is_revert and part is parts[0]:
            yield from _revert(commit, part, by_id)
            continue
        if part.type in ("docs", "doc", "style", "test", "tests", "chore", "ci", "release", "deps"):
            weight = -0.12
        else:
            weight = 0.0
        for at, paragraph in enumerate(part.paragraphs):
            quote = _passage(paragraph)
            if quote:
                leans = 0.2 if at and _LEAN.match(quote) else 0.1 if _LEANS_INSIDE.search(quote) else 0.0
                yield _reason(commit, part, quote, weight - leans - 0.02 * (len(parts) > 4))


def _passage(paragraph: str) -> str:
    """Return the sentences of a paragraph that give a reason, if they are whole and short enough; otherwise empty."""
    text = _plain(paragraph)
    if _FIRST_PERSON.search(text) and not re.search(r"\bbecause\b", text):
        return ""
    sentences = _SENTENCE.split(text)
    marked = [at for at, s in enumerate(sentences) if _CAUSE.search(s) or _REASON.search(s)]
    if not marked or text.endswith(":"):
        return ""
    best = max(marked, key=lambda at: (len(_STRONG.findall(sentences[at])), bool(_HARM.search(sentences[at])), -at))
    start, end = best, best + 1
    if start and (_LEAN.match(sentences[start]) or len(sentences[start]) < 80):
        start -= 1
    while end < len(sentences) and len(" ".join(sentences[start : end + 1])) <= LONGEST_REASON * 0.75:
        if not (_CAUSE.search(sentences[end]) or _REASON.search(sentences[end]) or _RULE.search(sentences[end])):
            break
        end += 1
    quote = " ".join(sentences[start:end])
    if len(quote) > LONGEST_REASON:
        quote = " ".join(sentences[best:end])
    return quote if SHORTEST_REASON <= len(quote) <= LONGEST_REASON else ""


def _plain(paragraph: str) -> str:
    """Return the paragraph without markdown and without a label such as `Root cause:` or `**Fixed**:` in front."""
    text = _LINK.sub(r"\1", paragraph).replace("\\`", "`")
    return _LABEL.sub("", _BOLD.sub("", text).strip()).strip()


def _reason(commit: Commit, part: MessagePart, quote: str, weight: float) -> CommitFind:
    is_fix = part.type in ("fix", "bugfix", "hotfix") or bool(_MEND.search(part.subject))
    cause = bool(_CAUSE.search(quote)) and (is_fix or bool(_HARM.search(quote)))
    source = "cause" if cause else "reason"
    if _VAGUE.match(part.subject):
        weight -= 0.15
    if _ABOUT_REVIEW.search(part.subject) or _ABOUT_REVIEW.search(quote):
        weight -= 0.1
    worth = SOURCE_WORTH[source] + weight + _wording(quote)
    kind: LessonKind = "bug_cause" if cause else "constraint" if _RULE.search(quote) else "decision"
    title = part.subject or commit.subject
    return _find(commit, kind, source, title, quote, worth)


def _wording(quote: str) -> float:
    """Return what the wording adds to or takes from the probability."""
    strong = min(2, len(_STRONG.findall(quote)))
    names = min(3, len(_NAME.findall(quote)))
    score = 0.08 * strong + 0.04 * names + 0.05 * bool(_HARM.search(quote)) + 0.06 * bool(_RULE.search(quote))
    if not names:
        score -= 0.1
    if _DOING.match(quote):
        score -= 0.15
    if not strong and not _HARM.search(quote) and not _RULE.search(quote):
        score -= 0.1  # "instead of" alone says what was done, not why
    if _PASSING.search(quote):
        score -= 0.25
    if len(quote) < 90:
        score -= 0.08
    return score


def _find(commit: Commit, kind: LessonKind, source: str, title: str, quote: str, worth: float) -> CommitFind:
    insight = f"{title.rstrip('.:;')}: {quote}" if title else quote
    return CommitFind(
        kind=kind, title=title, insight=insight, quote=quote, commit=commit, worth=_probability(worth),
        source=source, files=subject_files(commit.files),
    )  # fmt: skip


def _probability(worth: float) -> float:
    """The worth within 0 and 0.95, without the noise of the last digits."""
    return round(max(0.0, min(0.95, worth)), 3)


def subject_files(files: Sequence[str]) -> tuple[str, ...]:
    """Return the files that a commit is most likely about: code, then tests, then documents and data."""

    def rank(name: str) -> tuple[bool, bool]:
        is_document = bool(_DOCUMENT.search(name))
        return is_document, not is_document and bool(_TEST_FILE.search(name))

    return tuple(sorted(files, key=rank)[:COMMIT_FILES_KEPT])


def _revert(commit: Commit, part: MessagePart, by_id: dict[str, Commit]) -> Iterator[CommitFind]:
    """Yield what was tried and reverted, and why; nothing for a revert without a reason."""
    why = next((quote for text in part.paragraphs if (quote := _why(text))), "")
    if not why:
        return
    reverted = next((known for id, known in by_id.items() if part.reverts and id.startswith(part.reverts)), None)
    tried = quoted_subject(commit.subject) or (read_message(reverted.message)[0].subject if reverted else "")
    tried = tried or re.sub(r"^revert(?:s|ed|ing)?[:\s]+", "", part.subject, flags=re.IGNORECASE)
    if not tried:
        return
    find = _find(commit, "failed_approach", "revert", f"Reverted: {tried}", why, SOURCE_WORTH["revert"] + _wording(why))
    yield find


def _why(paragraph: str) -> str:
    """Return the paragraph if it gives a reason or a harm, not only an issue's number; otherwise empty."""
    text = _plain(paragraph)
    is_readable = len(text) >= 30 and len(text) <= LONGEST_REASON and not text.endswith(":")
    return text if is_readable and (_CAUSE.search(text) or _REASON.search(text) or _HARM.search(text)) else ""


# Fixes of fixes


def _with_mended(finds: list[CommitFind], commits: Sequence[Commit], lines: Lines) -> list[CommitFind]:
    """Return the finds; causes that fix a recent commit gain worth and name that commit."""
    mended_by = dict(mended(commits, lines, {find.commit.id for find in finds if find.kind == "bug_cause"}))
    done: list[CommitFind] = []
    for find in finds:
        earlier = mended_by.get(find.commit.id) if find.kind == "bug_cause" else None
        if earlier is None:
            done.append(find)
            continue
        subject = read_message(earlier.message)[0].subject
        days = (find.commit.at - earlier.at).days
        when = "the same day" if days == 0 else f"{days} day{'s' if days > 1 else ''} before"
        is_plain = not (_VAGUE.match(subject) or _ABOUT_REVIEW.search(subject)) and subject
        insight = f"{find.insight} (It fixes “{subject}” of {when}.)" if is_plain else find.insight
        worth = _probability(find.worth + SOURCE_WORTH["mended"] - SOURCE_WORTH["cause"] + 0.05)
        done.append(replace(find, insight=insight, worth=worth, source="mended"))
    return done


def mended(commits: Sequence[Commit], lines: Lines, fixes: set[str]) -> Iterator[tuple[str, Commit]]:
    """Yield (id of a fix, the commit it fixes).

    A fix removes or changes lines that another commit added at most `MENDS_WITHIN` before.
    """
    by_file: dict[str, list[Commit]] = {}
    for commit in reversed(commits):  # oldest first
        near = commit.files if len(commit.files) <= SWEEP else ()
        if commit.id in fixes and (earlier := _mended_by(commit, by_file, lines)) is not None:
            yield commit.id, earlier
        for file in near:
            by_file.setdefault(file, []).append(commit)


def _mended_by(fix: Commit, by_file: dict[str, list[Commit]], lines: Lines) -> Commit | None:
    for file in subject_files(fix.files):
        recent = [c for c in by_file.get(file, ())[-MENDED_LOOKED_AT:] if timedelta(0) <= fix.at - c.at <= MENDS_WITHIN]
        if not recent:
            continue
        removed = {line for line in lines(fix.id, file)[0] if len(line) >= LEAST_LINE}
        for earlier in reversed(recent):
            if len(removed & lines(earlier.id, file)[1]) >= SAME_LINES:
                return earlier
    return None

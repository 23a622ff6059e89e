"""Passages: turns what an importer read into a draft lesson. Its state follows from who says it."""

from __future__ import annotations

from hashlib import sha256

from holdfast.curation.tuning import CONFIDENCE, PASSAGE_KEY_DIGITS, SAID_SALIENCE, SALIENCE
from holdfast.domain.lesson import Lesson, Provenance, Scope, Validity
from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.errors import InvalidValueError
from holdfast.lean.records import replace
from holdfast.lessons.statement import anchors_of, clean, clean_all, with_title
from holdfast.lessons.suspicion import suspicion
from holdfast.text.titles import kept_title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.lesson import Anchor
    from holdfast.domain.project import Location
    from holdfast.domain.vocabulary import State
    from holdfast.ports.importer import Passage
    from holdfast.ports.services import Services

KEY = "import:"
"""Prefix of the topic keys of imported lessons; a digest of the source's name and of the words follows."""


def origin_of(label: str, section: str) -> str:
    """Return a passage's origin for provenance: `CLAUDE.md#Testing > Fixtures`."""
    return clean(f"{label.replace('#', '%23')}#{section}")


def draft_of(services: Services, location: Location, passage: Passage, label: str, importer: str) -> Lesson:
    """Return the lesson that the passage states, not anchored yet, in the state it has if nobody vouches for it.

    Raises InvalidValueError with the reason when it cannot be a lesson.
    """
    stated = {name: getattr(passage, name) for name in ("insight", "why", "how", "snippets", "tags")}
    fields = clean_all({**stated, "title": passage.title})
    fields = with_title({**fields, "title": kept_title(fields["title"], fields["insight"])})
    now = services.clock.now()
    own = passage.scope == "user"
    return Lesson(
        id=LessonId(services.clock.new_id()),
        kind=passage.kind or passage.usual_kind,
        scope=Scope(
            level=passage.scope,
            project=ProjectId("") if own else location.project.id,
            path_prefix="" if own else passage.path_prefix,
        ),
        validity=_validity(passage, now),
        recorded_at=now,
        globs=() if own else passage.globs,
        topic_key=_key(label, passage.state, fields),
        provenance=Provenance(
            detector=importer, origin=origin_of(label, passage.section), author=clean(passage.author)
        ),
        trust=passage.trust,
        confidence=CONFIDENCE[passage.trust] if passage.confidence is None else passage.confidence,
        salience=SALIENCE if passage.trust == "person" else SAID_SALIENCE,
        state=_state(passage),
        **fields,
    )


def anchored(services: Services, location: Location, draft: Lesson, passage: Passage) -> Lesson:
    """Return the draft anchored to those of the passage's files that the project has, as they were when it was said."""
    files = [name for name in passage.files if _is_here(services, location, name)] if passage.scope != "user" else []
    if not files:
        return draft
    words = "\n".join((draft.title, draft.insight, draft.why, draft.how))
    anchors_and_globs: tuple[tuple[Anchor, ...], tuple[str, ...]]
    try:
        here = replace(location, prefix="")
        anchors_and_globs = anchors_of(services, here, files, (), words, passage.said_at, passage.commit)
    except InvalidValueError:
        return draft  # one of the names is no path
    return replace(draft, anchors=anchors_and_globs[0], globs=(*draft.globs, *anchors_and_globs[1]))


def _state(passage: Passage) -> State:
    """Return quarantined for suspicious words, else the source's state; active only for a person's own lesson."""
    words = (passage.title, passage.insight, passage.why, passage.how, *passage.snippets, *passage.tags)
    if suspicion("\n".join(words)):
        return "quarantined"
    if passage.state == "active" and passage.trust != "person":
        return "candidate"
    return passage.state


def _validity(passage: Passage, now: datetime) -> Validity:
    """Return a validity from when it was said, if known; it ends now for a passage that no longer holds."""
    begun = min(passage.said_at, now) if passage.said_at else now
    ends = passage.state in ("superseded", "retired") and begun < now
    return Validity(valid_from=begun, valid_to=now if ends else None)


def _key(label: str, state: State, fields: dict[str, object]) -> str:
    words = "\0".join([label, state, *(" ".join(str(fields[name]).split()) for name in ("insight", "why", "how"))])
    return KEY + sha256(words.encode("utf-8", "replace")).hexdigest()[:PASSAGE_KEY_DIGITS]


def _is_here(services: Services, location: Location, name: str) -> bool:
    path = services.workspace.relative(location, name, location.root)
    return bool(path) and services.workspace.exists(location, path)

"""The six tools: what each takes and gives, what it does to the world, and the call on Memory behind it.

Hosts hand a model either a result's text or its structured content. Both hold the same: what is stored is only in
`text`, fenced; the other fields are ids, numbers and words of closed sets. The schemas are the models' own, without
the titles and empty defaults a model would pay for (`tests/surfaces/test_mcp.py` holds all under 1,500 tokens).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from mcp_types import Tool, ToolAnnotations
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from holdfast.domain.kinds import KIND_PROFILES
from holdfast.surfaces.mcp import render
from holdfast.surfaces.mcp.callers import Caller

if TYPE_CHECKING:
    from holdfast.domain.vocabulary import LessonKind as Kind
else:
    Kind = Literal[tuple(kind for kind, profile in KIND_PROFILES.items() if profile.is_stated_by_agents)]

UNFOUND = "The quote is not in what this session is known to have said; the lesson is kept without it."


def _as_list(value: object) -> object:
    """A list that came as a text: some clients send JSON in a string, some models a single name."""
    if not isinstance(value, str):
        return value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return [value]
    return parsed if isinstance(parsed, list) else [value]


Texts = Annotated[list[str], BeforeValidator(_as_list)]


class Recall(BaseModel):
    """What to look for."""

    query: Annotated[str, Field(description="Question, error, command or names")]
    files: Texts = []
    limit: Annotated[int, Field(ge=1, le=20)] = 5


class Expand(BaseModel):
    """Which lesson to show."""

    id: Annotated[str, Field(description="Its id, or the id's end")]


class Remember(BaseModel):
    """A lesson the agent states. An argument that is misspelt is refused: its words would be lost unseen."""

    model_config = ConfigDict(extra="forbid")

    insight: Annotated[str, Field(description="The rule, standing alone")]
    quote: Annotated[str, Field(description="Exact words it rests on")] = ""
    files: Texts = []
    symbols: Texts = []
    kind: Kind = "convention"
    why: str = ""
    how: Annotated[str, Field(description="What to do instead")] = ""
    topic: Annotated[str, Field(description="Key; the same one revises")] = ""


class Revise(BaseModel):
    """A lesson's successor; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    id: str
    insight: Annotated[str, Field(description="The rule now")]
    why: str = ""
    files: Texts = []
    kind: str = ""  # not Kind: its values stand in the schema of remember already, and Memory checks them


class Checkpoint(BaseModel):
    """A task's state; without a goal, the question for it."""

    goal: Annotated[str, Field(description="Empty: read the checkpoint")] = ""
    done: Texts = []
    next: Texts = []
    questions: Texts = []
    files: Texts = []


class Feedback(BaseModel):
    """What became of a lesson."""

    id: str
    verdict: Literal["heeded", "helped", "hurt"]
    note: str = ""


class Answer(BaseModel):
    """What every tool gives: the text a model reads."""

    text: str


class Recalled(Answer):
    """The ids of what was found, best first, and how many more there are."""

    lessons: list[str]
    more: int


class Expanded(Answer):
    """One lesson."""

    id: str
    state: str
    freshness: str


class Kept(Answer):
    """The lesson that is kept now."""

    id: str
    state: str


class Named(Answer):
    """What the text is about, by its id; empty for a checkpoint that is not there."""

    id: str


class MemoryTool(NamedTuple):
    """One tool. `does`: its description for models."""

    name: str
    title: str
    does: str
    takes: type[BaseModel]
    gives: type[Answer]
    run: Callable[[Caller, Any], Answer]
    writes: bool = True

    def declare(self) -> Tool:
        """The tool as clients list it."""
        hints = ToolAnnotations(
            title=self.title,
            read_only_hint=not self.writes,
            destructive_hint=False,
            idempotent_hint=not self.writes,
            open_world_hint=False,
        )
        return Tool(
            name=self.name,
            description=self.does,
            input_schema=self.input_schema(),
            output_schema=self.gives.model_json_schema(schema_generator=PlainSchema, mode="serialization"),
            annotations=hints,
        )

    def input_schema(self) -> dict[str, Any]:
        """What it takes, as JSON Schema 2020-12."""
        return self.takes.model_json_schema(schema_generator=PlainSchema)


class PlainSchema(GenerateJsonSchema):
    """A model's schema without titles, and without defaults that say nothing."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never: a title repeats the field's name."""
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """The model's object, without its name."""
        return {
            key: value for key, value in super().model_schema(schema).items() if key not in ("title", "description")
        }

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """The field, with its default where that is not simply nothing."""
        definition = super().default_schema(schema)
        return (
            definition
            if definition.get("default")
            else {key: value for key, value in definition.items() if key != "default"}
        )


def _recall(caller: Caller, arguments: Recall) -> Recalled:
    """Ask, and log what was shown, unless nobody waits for it: a hook of the session does not show it again."""
    briefing = caller.memory.recall(arguments.query, paths=arguments.files, limit=arguments.limit)
    if not caller.gone.is_set():
        caller.memory.note_recall(briefing, caller.call("recall", arguments.query))
    return Recalled(
        text=render.briefing(briefing), lessons=[item.lesson.id for item in briefing.items], more=briefing.more
    )


def _expand(caller: Caller, arguments: Expand) -> Expanded:
    """The lesson in full, judged by the code as it is now."""
    lesson = caller.own(arguments.id)
    judged = caller.memory.verdicts([lesson])[0]
    return Expanded(text=render.lesson(lesson, judged), id=lesson.id, state=lesson.state, freshness=judged[0])


def _remember(caller: Caller, arguments: Remember) -> Kept:
    lesson = caller.memory.remember(
        arguments.insight,
        kind=arguments.kind,
        why=arguments.why,
        how=arguments.how,
        files=arguments.files,
        symbols=arguments.symbols,
        topic_key=arguments.topic,
        quote=arguments.quote,
        author="agent",
        trust="agent",
    )
    unfound = arguments.quote.strip() and not lesson.provenance.evidence
    lines = [render.kept(lesson), *render.rivals(caller.memory.rivals(lesson)), *([UNFOUND] if unfound else [])]
    return Kept(text="\n".join(lines), id=lesson.id, state=lesson.state)


def _revise(caller: Caller, arguments: Revise) -> Kept:
    stated: dict[str, Any] = {"why": arguments.why, "files": arguments.files, "kind": arguments.kind}
    changes = {"insight": arguments.insight, **{name: value for name, value in stated.items() if value}}
    lesson = caller.memory.revise(caller.own(arguments.id).id, author="agent", trust="agent", **changes)
    lines = [render.kept(lesson), *render.rivals(caller.memory.rivals(lesson))]
    return Kept(text="\n".join(lines), id=lesson.id, state=lesson.state)


def _checkpoint(caller: Caller, arguments: Checkpoint) -> Named:
    if not arguments.goal.strip():
        checkpoint = caller.memory.checkpoint()
    else:
        state = {
            "done": arguments.done,
            "next": arguments.next,
            "open_questions": arguments.questions,
            "files": arguments.files,
        }
        checkpoint = caller.memory.save_checkpoint(arguments.goal, **state)
    return Named(text=render.checkpoint(checkpoint), id=checkpoint.id if checkpoint else "")


def _feedback(caller: Caller, arguments: Feedback) -> Named:
    outcome = caller.memory.feedback(caller.own(arguments.id).id, arguments.verdict, arguments.note, judge="agent")
    return Named(text=render.judged(outcome), id=outcome.lesson)


TOOLS = (
    MemoryTool(
        "recall", "Recall lessons", "Lessons of earlier sessions on the query, checked against the code.",
        Recall, Recalled, _recall, writes=False,
    ),
    MemoryTool(
        "expand", "Expand a lesson", "A lesson in full, with its evidence.",
        Expand, Expanded, _expand, writes=False,
    ),
    MemoryTool(
        "remember", "Remember a lesson", "Keep one thing the next session should know.",
        Remember, Kept, _remember,
    ),
    MemoryTool(
        "revise", "Revise a lesson",
        "Replace a lesson that is wrong now.",
        Revise, Kept, _revise,
    ),
    MemoryTool(
        "checkpoint", "Checkpoint a task",
        "A long task's working state, restored after compaction and in the next session.",
        Checkpoint, Named, _checkpoint,
    ),
    MemoryTool(
        "feedback", "Judge a lesson", "Say what became of a lesson.",
        Feedback, Named, _feedback,
    ),
)  # fmt: skip
"""In the order clients list them."""

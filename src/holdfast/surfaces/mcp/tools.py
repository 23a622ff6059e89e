"""The six MCP tools: their arguments, results, annotations and the calls on Memory behind them.

Some hosts give a model the text of a result, others its structured content. Stored text is therefore only in the field
`text`, fenced; the other fields are ids, numbers and words of closed sets. The schemas come from the pydantic models,
without titles and defaults, which would cost tokens (a test keeps all of them under 1,500 tokens).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from mcp_types import Tool, ToolAnnotations
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from holdfast.curation.checkpoint import answer_text
from holdfast.domain.kinds import KIND_PROFILES
from holdfast.surfaces.mcp import render
from holdfast.surfaces.mcp.callers import Caller

if TYPE_CHECKING:
    from holdfast.domain.vocabulary import LessonKind as Kind
else:
    Kind = Literal[tuple(kind for kind, profile in KIND_PROFILES.items() if profile.is_stated_by_agents)]

ANSWERED_TOKENS = 600
"""Tokens of the states that answer where a task was left off."""

MOST_STATED = 12
"""Lessons of one call of `remember`."""


def _as_list(value: object) -> object:
    """Return the list in a string: some clients send JSON in a string, and some models send a single item."""
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, str):
        return value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return [value]
    return parsed if isinstance(parsed, list) else [value]


Texts = Annotated[list[str], BeforeValidator(_as_list)]


class Recall(BaseModel):
    """Arguments of `recall`. With `sessions`, only what was said in earlier sessions is searched."""

    query: Annotated[str, Field(description="Question; empty: the brief")] = ""
    files: Texts = []
    limit: Annotated[int, Field(ge=1, le=20)] = 5
    sessions: bool = False


class Expand(BaseModel):
    """Arguments of `expand`."""

    id: Annotated[str, Field(description="Id or its end")]


class Statement(BaseModel):
    """One lesson of `remember`. An unknown argument is refused, because the text of a misspelt one would be lost."""

    model_config = ConfigDict(extra="forbid")

    insight: Annotated[str, Field(description="A rule that stands alone")]
    title: Annotated[str, Field(description="Verdict, 12 words")] = ""
    quote: str = ""  # the instructions say what it is
    files: Texts = []
    symbols: Texts = []
    kind: Kind = "convention"
    why: str = ""
    how: str = ""
    topic: Annotated[str, Field(description="Key; same key revises")] = ""


class Remember(BaseModel):
    """Arguments of `remember`: a list of lessons, or the fields of one alone."""

    lessons: Annotated[list[Statement], BeforeValidator(_as_list)]

    @model_validator(mode="before")
    @classmethod
    def take_one(cls, arguments: Any) -> Any:
        """Return the arguments of one lesson as a list of one; a call with both forms is refused."""
        if not isinstance(arguments, dict) or "lessons" not in arguments:
            return {"lessons": [arguments]}
        if other := sorted(arguments.keys() - {"lessons"}):
            raise ValueError(f"{', '.join(other)}: belongs into each of the lessons")
        return arguments

    @field_validator("lessons")
    @classmethod
    def check_number(cls, lessons: list[Statement]) -> list[Statement]:
        """Refuse a call with no lesson or too many; the schema does not say it, which would cost tokens."""
        if not 0 < len(lessons) <= MOST_STATED:
            raise ValueError(f"give 1 to {MOST_STATED} lessons, not {len(lessons)}")
        return lessons


class Revise(BaseModel):
    """Arguments of `revise`. Fields that are left out keep the old lesson's values."""

    model_config = ConfigDict(extra="forbid")

    id: str
    insight: Annotated[str, Field(description="The rule now")]
    why: str = ""
    files: Texts = []
    kind: str = ""  # not Kind: its values are already in the schema of remember, and Memory checks them


class Checkpoint(BaseModel):
    """Arguments of `checkpoint`. Without a goal, the tool reads the checkpoint."""

    goal: Annotated[str, Field(description="Empty: read the checkpoint")] = ""
    done: Texts = []
    next: Texts = []
    questions: Texts = []
    files: Texts = []


class Feedback(BaseModel):
    """Arguments of `feedback`."""

    id: str
    verdict: Literal["heeded", "helped", "hurt"]
    note: str = ""


class Answer(BaseModel):
    """What every tool returns: the text that a model reads."""

    text: str


class Recalled(Answer):
    """The ids of the lessons found, best first, and how many more there are."""

    lessons: list[str]
    more: int


class Expanded(Answer):
    """One lesson."""

    id: str
    state: str
    freshness: str


class Kept(Answer):
    """The lesson that was saved."""

    id: str
    state: str


class Named(Answer):
    """The id of what the text is about; empty if there is no checkpoint."""

    id: str


class MemoryTool(NamedTuple):
    """One tool. `does` is its description for models."""

    name: str
    title: str
    does: str
    takes: type[BaseModel]
    gives: type[Answer]
    run: Callable[[Caller, Any], Answer]
    writes: bool = True

    def declare(self) -> Tool:
        """Return the tool as clients list it."""
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
        """Return the schema of its arguments, as JSON Schema 2020-12, without references: some hosts ignore them."""
        schema = self.takes.model_json_schema(schema_generator=PlainSchema)
        definitions = schema.pop("$defs", {})
        for described in schema.get("properties", {}).values():
            if "$ref" in described.get("items", {}):
                described["items"] = definitions[described["items"]["$ref"].rpartition("/")[2]]
        return schema


class PlainSchema(GenerateJsonSchema):
    """Makes a model's schema without titles and defaults."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return False, because a title repeats the field's name."""
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the model's schema without its title and description."""
        return {
            key: value for key, value in super().model_schema(schema).items() if key not in ("title", "description")
        }

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Return the field's schema without its default."""
        return {key: value for key, value in super().default_schema(schema).items() if key != "default"}


def _recall(caller: Caller, arguments: Recall) -> Recalled:
    """Recall, and log what was shown, so that a hook of the session does not show it again.

    Without a question the answer is the brief. Nothing is logged if the client no longer waits for the answer.
    """
    if not (arguments.query.strip() or arguments.files):
        briefing = caller.memory.brief()[0]
    else:
        briefing = caller.memory.recall(
            arguments.query, paths=arguments.files, limit=arguments.limit, sessions=arguments.sessions
        )
    if not caller.gone.is_set():
        caller.memory.note_recall(briefing, caller.call("recall", arguments.query))
    here = caller.memory
    state = answer_text(here.services, here.location, arguments.query, ANSWERED_TOKENS, caller.session)
    text = render.state(state, briefing) if state else render.briefing(briefing)
    shown: list[str] = [*(item.lesson.id for item in briefing.items), *(entry.id for entry in briefing.entries)]
    return Recalled(text=text, lessons=shown, more=briefing.more)


def _expand(caller: Caller, arguments: Expand) -> Expanded:
    """Return the lesson in full, with its freshness against the current code."""
    lesson = caller.own(arguments.id)
    judged = caller.memory.verdicts([lesson])[0]
    return Expanded(text=render.lesson(lesson, judged), id=lesson.id, state=lesson.state, freshness=judged[0])


def _remember(caller: Caller, arguments: Remember) -> Kept:
    """Store the lessons and say of each what became of it. One that is refused alone is the caller's error."""
    statements = [
        {**statement.model_dump(exclude={"topic"}), "topic_key": statement.topic} for statement in arguments.lessons
    ]
    outcomes = caller.memory.state(statements, session=caller.session)
    if len(outcomes) == 1 and outcomes[0].refusal is not None:
        raise outcomes[0].refusal
    first = next((outcome.lesson for outcome in outcomes if outcome.lesson is not None), None)
    return Kept(text=render.stated(outcomes), id=first.id if first else "", state=first.state if first else "refused")


def _revise(caller: Caller, arguments: Revise) -> Kept:
    stated: dict[str, Any] = {"why": arguments.why, "files": arguments.files, "kind": arguments.kind}
    # What the old words said to do may contradict the new ones.
    changes = {"insight": arguments.insight, "how": "", **{name: value for name, value in stated.items() if value}}
    lesson = caller.memory.revise(caller.own(arguments.id).id, author="agent", trust="agent", **changes)
    lines = [render.kept(lesson), *render.rivals(caller.memory.rivals(lesson))]
    return Kept(text="\n".join(lines), id=lesson.id, state=lesson.state)


def _checkpoint(caller: Caller, arguments: Checkpoint) -> Named:
    if not arguments.goal.strip():
        checkpoint = caller.memory.checkpoint()
    else:
        checkpoint = caller.memory.save_checkpoint(
            arguments.goal,
            session=caller.session,
            done=arguments.done,
            next=arguments.next,
            open_questions=arguments.questions,
            files=arguments.files,
        )
    return Named(text=render.checkpoint(checkpoint), id=checkpoint.id if checkpoint else "")


def _feedback(caller: Caller, arguments: Feedback) -> Named:
    outcome = caller.memory.feedback(caller.own(arguments.id).id, arguments.verdict, arguments.note, judge="agent")
    return Named(text=render.judged(outcome), id=outcome.lesson)


TOOLS = (
    MemoryTool(
        "recall", "Recall lessons", "Find lessons of earlier sessions, or what was said there.",
        Recall, Recalled, _recall, writes=False,
    ),
    MemoryTool(
        "expand", "Expand a lesson", "Show a lesson in full, with its evidence.",
        Expand, Expanded, _expand, writes=False,
    ),
    MemoryTool(
        "remember", "Remember lessons", "Save lessons for later sessions.",
        Remember, Kept, _remember,
    ),
    MemoryTool(
        "revise", "Revise a lesson",
        "Replace a lesson that is wrong now.",
        Revise, Kept, _revise,
    ),
    MemoryTool(
        "checkpoint", "Checkpoint a task",
        "Save a long task's state, restored after compaction and in the next session.",
        Checkpoint, Named, _checkpoint,
    ),
    MemoryTool(
        "feedback", "Judge a lesson", "Say if a lesson helped.",
        Feedback, Named, _feedback,
    ),
)  # fmt: skip
"""The tools, in the order in which clients list them."""

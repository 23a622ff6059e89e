"""View: everything that a page may ask, for the person who looks at it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from holdfast.bootstrap import Memory
from holdfast.client.client import Client
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Person
from holdfast.domain.team import Role, Verb
from holdfast.pages.addresses import Addresses

NOBODY = Person()
Door = Memory | Client
"""Where changes go: the memory itself over a person's own file; on a server REST with the browser's token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectLine:
    """A project that the reader may see."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a page is made from."""

    now: datetime
    addresses: Addresses
    opened: Memory | None = None
    of: ProjectLine | None = None
    way: Door | None = None
    projects: tuple[ProjectLine, ...] = ()
    """Every project that the reader may see, by name."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """The values of the path's parameters, decoded; `project` is among them."""
    verbs: frozenset[Verb] = frozenset()
    role: Role = "admin"
    """The reader's role on a server; over their own file everything is theirs."""
    person: Person = NOBODY
    sees: Callable[[Lesson], bool] = lambda lesson: True
    """Whether the reader may see that lesson: on a server, others' proposals are hidden from most members."""
    sight: Callable[[], Hashable] = lambda: ""
    """What stands for the lessons that `sees` takes: what is kept of a page is shown to readers with an equal one."""
    last_look: datetime | None = None
    """When this browser looked at the project's home page before; None: never."""
    is_served: bool = False
    """Whether this is a server, which has no work tree: verdicts on the code are then `unverified`."""
    url: str = ""
    """The address of the server, as people outside of it have it; empty where there is no server."""
    is_static: bool = False
    """Whether the page becomes a file: no forms, no search box."""

    @property
    def memory(self) -> Memory:
        """The memory of the page's project. Only pages below `/p/{project}` have one."""
        if self.opened is None:
            raise AssertionError("this page is of no project")
        return self.opened

    @property
    def project(self) -> ProjectLine:
        """The page's project. Only pages below `/p/{project}` have one."""
        if self.of is None:
            raise AssertionError("this page is of no project")
        return self.of

    @property
    def door(self) -> Door:
        """Where changes go."""
        if self.way is None:
            raise AssertionError("this view changes nothing")
        return self.way

    def may(self, verb: Verb) -> bool:
        """Return whether the reader may do that here; a page that becomes a file lets nobody do anything but read."""
        return verb in self.verbs and (verb == "read" or not self.is_static)

    def visible(self, lessons: Iterable[Lesson]) -> list[Lesson]:
        """Return those of the lessons that the reader may see. Every list of lessons on a page goes through it."""
        return [lesson for lesson in lessons if self.sees(lesson)]

    def link(self, name: str, /, **values: object) -> str:
        """Return the address of a page: values of its path's parameters, and the rest as its query."""
        return self.addresses.link(name, self._with_project(values))

    def action(self, name: str, /, **values: object) -> str:
        """Return the address to which the form of that action is sent."""
        return self.addresses.action(name, self._with_project(values))

    def _with_project(self, values: Mapping[str, object]) -> dict[str, object]:
        return ({"project": self.of.id} if self.of else {}) | dict(values)

"""The ports a use case may call, wired by bootstrap."""

from __future__ import annotations

from holdfast.domain.statefamilies import LEARNED_POSITION
from holdfast.errors import InvalidValueError
from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.domain.project import Place
    from holdfast.domain.vocabulary import Moment
    from holdfast.ports.clock import Clock
    from holdfast.ports.codeindex import CodeIndex
    from holdfast.ports.detector import Detector
    from holdfast.ports.embedder import Embedder
    from holdfast.ports.host import Host
    from holdfast.ports.lessonfiles import LessonFiles
    from holdfast.ports.store import Store
    from holdfast.ports.workspace import Workspace


def no_codeindex() -> CodeIndex | None:
    """Nothing: freshness then goes by whole files."""
    return None


def no_former(embedder_id: str) -> Embedder | None:
    """Nothing: no embedder came before the configured one."""
    return None


def no_key(make: bool) -> bytes:
    """Nothing: exported lines are then not sealed, and none is known again."""
    return b""


def no_lesson_files(place: Place) -> LessonFiles:
    """Nothing: raises, since only a bootstrapped memory has files."""
    raise InvalidValueError(f"no lesson files in {place.root}")


def learned_position(store: Store) -> int:
    """The position up to which events were learnt from; 0, so all are looked at again, where the mark is damaged."""
    position = store.get_state(LEARNED_POSITION)
    return int(position) if position.isascii() and position.isdigit() else 0


class Parts(Frozen):
    """Everything a use case works with. Callables load what a hook would not want to pay for."""

    store: Store
    workspace: Workspace
    clock: Clock
    host: Callable[[str], Host]
    """The host adapter of that name; raises PluginNotFoundError."""
    detectors: Callable[[], Sequence[Detector]]
    embedder: Callable[[], Embedder | None]
    """The configured embedder, made on first use; None without one or where it would be too slow (a cold hook)."""
    codeindex: Callable[[], CodeIndex | None] = no_codeindex
    """The structure of the code, made on first use; None where there is none."""
    former: Callable[[str], Embedder | None] = no_former
    """The embedder of that id that was configured before; None when it is another, or cannot be made any more."""
    export_key: Callable[[bool], bytes] = no_key
    """This home's key for sealing exports, made when asked to and there is none; empty without one."""
    lesson_files: Callable[[Place], LessonFiles] = no_lesson_files
    """The folder of a work tree in which shared lessons are files."""
    hasty: bool = False
    """A host waits for a process that just began: only few lessons are looked at closely."""
    capture: bool = True
    deliver: tuple[Moment, ...] = ()
    wrap_up: bool = False
    """The agent is asked once a session, after real work, to note what it learnt: only where the user wants it."""
    ignore: tuple[str, ...] = ()
    retention_days: int = 90
    holdout: float = 0.0
    """Share of deliveries that are withheld at random, to learn what happens without them."""

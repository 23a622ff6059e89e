"""Wrap-up: asks the agent, once a session and only after real work, to note what the next session should know.

It costs the user a turn of the agent, so it is off by default.
"""

from __future__ import annotations

from holdfast.domain.statefamilies import WRAPPED_UP
from holdfast.lean.texts import dumps
from holdfast.ports.filters import EventFilter
from holdfast.recall.tuning import LEAST_FILES, LEAST_PROMPTS, WRAPUP_EVENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.hookcall import HookCall
    from holdfast.domain.project import Location
    from holdfast.domain.vocabulary import SessionId
    from holdfast.ports.services import Services

REQUEST = (
    "Before you finish: did the user state a rule or correct you in this session, or did a cause take work to find? "
    "If so, call Holdfast's tool `remember` for each, at most three: one rule that stands alone, its files, and as "
    "quote the exact words behind it. If not, finish without a word about this. You are asked once a session."
)


def ask_to_wrap_up(services: Services, location: Location, call: HookCall) -> str:
    """Return the answer that makes the agent go on once; empty if it should not be asked or was asked already."""
    profile = services.host(call.host).profile
    if call.name != profile.stop_hook or not profile.stop_reply or call.agent or not call.session:
        return ""
    if services.store.get_state(WRAPPED_UP, call.session) or not _is_real_work(services, location, call.session):
        return ""
    return profile.stop_reply.replace("{reason}", dumps(REQUEST))


def note_asked(services: Services, session: SessionId) -> None:
    """Record that the agent of the session was asked."""
    services.store.set_state(WRAPPED_UP, session, "yes")


def _is_real_work(services: Services, location: Location, session: SessionId) -> bool:
    where = EventFilter(project=location.project.id, session=session, limit=WRAPUP_EVENTS)
    events = [event for _, event in services.store.find_events(where)]
    prompts = sum(event.kind == "prompt" for event in events)
    files = {path for event in events if event.kind == "file_edit" for path in event.files}
    return prompts >= LEAST_PROMPTS and len(files) >= LEAST_FILES

"""Before the agent calls its work done."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.recall.moments.context import MomentContext


def before_end(context: MomentContext) -> Briefing:
    """Deliver nothing yet."""
    return Briefing(moment=context.moment)

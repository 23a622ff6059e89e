"""The message of the last action: a cookie holds it until the next page shows it, once."""

from __future__ import annotations

import json
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

from holdfast.lean.texts import dumps
from holdfast.pages.page import ActionAnswer, UndoStep
from holdfast.pages.pagejson import page_json
from holdfast.pages.view import View

NOTICE = "holdfast-notice"
KEPT_S = 60
LONGEST = 3_000
"""Characters of the cookie; browsers keep 4,096. A longer message is not shown."""


class Notices:
    """Gives a message to the next page of the same browser."""

    def __init__(self, *, is_https: bool) -> None:
        self._is_https = is_https
        self._name = f"__Host-{NOTICE}" if is_https else NOTICE

    def write(self, response: Response, answer: ActionAnswer) -> None:
        """Have the browser keep what an action did."""
        text = quote(dumps(page_json(ActionAnswer(message=answer.message, undo=answer.undo))), safe="")
        if len(text) <= LONGEST:
            response.set_cookie(
                self._name, text, max_age=KEPT_S, path="/", secure=self._is_https, httponly=True, samesite="strict"
            )

    def read(self, request: Request, view: View) -> ActionAnswer | None:
        """Return what the last action did; None for nothing, and for a cookie that is not ours."""
        try:
            plain = json.loads(unquote(request.cookies[self._name]))
            undo = plain["undo"]
            step = UndoStep(name=undo["name"], parameters=undo["parameters"], fields=undo["fields"]) if undo else None
            if step is not None:
                view.action(step.name, **step.parameters)  # raises KeyError for an action that there is not
            return ActionAnswer(message=str(plain["message"]), undo=step)
        except (KeyError, TypeError, ValueError):
            return None

    def clear(self, request: Request, response: Response) -> None:
        """Have the browser forget it: it was shown."""
        if self._name in request.cookies:
            response.delete_cookie(self._name, path="/", secure=self._is_https, httponly=True, samesite="strict")

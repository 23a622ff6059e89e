"""Hosts whose hooks are functions of a plug-in in JavaScript: our plug-in's file, and the answers it reads. Lean."""

from __future__ import annotations

import os

from holdfast.hosts._shared.hooks import within_limit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.briefing import Briefing
    from holdfast.ports.host import OwnFile

PLACEHOLDER = '["@PROGRAM@"]'


def render_context(briefing: Briefing) -> str:
    """`{"context": text}`, or `{}` when there is nothing to say."""
    if not briefing.text:
        return "{}"
    from holdfast.lean.texts import dumps

    return dumps({"context": within_limit(briefing.text)})


def plugin_file(file: str, host: str, module: str, command: Sequence[str]) -> OwnFile:
    """The plug-in beside that host's module, with the shared half before it and our hook program's words in it."""
    import json

    from holdfast.hosts._shared.programs import OUR_MARKS, hook_words
    from holdfast.ports.host import OwnFile

    words = json.dumps(hook_words(command, host), ensure_ascii=False)
    shared = os.path.join(os.path.dirname(__file__), "ask.js")
    text = "".join(map(_read, (shared, os.path.join(os.path.dirname(module), "plugin.js"))))
    return OwnFile(file=file, text=text.replace(PLACEHOLDER, words), **OUR_MARKS)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()

"""Makes our JavaScript plug-in's file, for hosts whose hooks are functions of a plug-in, and its answers. Lean."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from holdfast.domain.briefing import Briefing
from holdfast.hosts.sdk.hooks import within_limit
from holdfast.hosts.sdk.programs import OUR_MARKS, hook_words
from holdfast.lean.texts import dumps
from holdfast.ports.host import OwnFile

PLACEHOLDER = '["@PROGRAM@"]'


def render_context(briefing: Briefing) -> str:
    """Return `{"context": text}`, or `{}` if there is nothing to say."""
    if not briefing.text:
        return "{}"
    return dumps({"context": within_limit(briefing.text)})


def plugin_file(file: str, host: str, module: str, command: Sequence[str]) -> OwnFile:
    """Return the plug-in beside that host's module, after the shared half, with our hook program's words inserted."""
    words = json.dumps(hook_words(command, host), ensure_ascii=False)
    shared = os.path.join(os.path.dirname(__file__), "ask.js")
    text = "".join(map(_read, (shared, os.path.join(os.path.dirname(module), "plugin.js"))))
    return OwnFile(file=file, text=text.replace(PLACEHOLDER, words), **OUR_MARKS)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()

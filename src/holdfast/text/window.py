"""Reads a session's events for detectors: speakers, failures, beginnings of turns, sentences.

Nothing here judges words of tool output. The few texts compared are fixed openings that a host itself writes, and they
are compared at the start of a text, never inside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence
from holdfast.domain.vocabulary import Trust
from holdfast.text.speech import INTERRUPT, MASK, own_words

QUOTE_LIMIT = 400
"""Characters of evidence quoted for one event."""
_REFUSALS = (
    "The user doesn't want to", "The user does not want to", "User rejected", INTERRUPT, "<tool_use_error>",
    "Permission for this action", "Permission to use", "Working directory ", "Cancelled: ", "Sibling tool call",
    "File has not been read yet", "File has been modified since", "File has been unexpectedly modified",
    "String to replace not found", "InputValidationError", "Claude requested permissions",
)  # fmt: skip
"""Openings of failures that say that the host or the user stopped the tool. The tool itself did not fail."""
ASSENT = re.compile(
    r"\W*(?:yes|yep|yeah|exactly|right|correct|agreed|perfect|great|good|sounds good|ok(?:ay)?|sure|that's (?:the rule"
    r"|right|it)|do (?:it|that)|go ahead|please do|let's do (?:it|that|this)|lgtm)\b",
    re.IGNORECASE,
)
"""Beginning of an answer that agrees to what was said before it."""
_SAID = "the user said:"
_STATUS = re.compile(r"Exit code (\d{1,3})\b")
_SENTENCE = re.compile(r"[^\s.!?\n](?:[^.!?\n]|[.!?](?=[\w`'\"/)]))*[.!?]*")
_PASTED = re.compile(
    # beginnings of lines in mails, reports, logs and headings
    r"^[ \t]*(?:(?:From|To|Cc|Subject|Date|Sent|Reply-To|Author|Commit|Title|Labels?|Assignee|Reporter|Reported by"
    r"|Status|Priority|Severity|Environment|Steps to reproduce|Expected(?: \w+)?|Actual(?: \w+)?|Description|Summary"
    r"|Describe the bug|To reproduce)[ \t]*:|#{1,6} \S|\*\*[^*\n]{1,60}\*\*:?[ \t]*$|={3,}|-{3,}"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d\b|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL|TRACE)\b[\]: ]"
    r"|Traceback \(|at \S{1,200}\(|File \"|[\w.]{1,80}(?:Error|Exception):|On [^\n]{5,100} wrote:|(?:@[\w-]{1,40}"
    r"|[A-Z][\w.-]{1,30}(?: [A-Z][\w.-]{1,30})?) (?:commented|wrote|said|opened|reported|replied|\[?\d{1,2}:\d\d)"
    r"|(?:https?://\S+|#\d+|[A-Z]{2,10}-\d+)[ \t]*$|(?:remote|stderr|stdout|fatal|error|warning"
    r"|npm ERR!)[: ][^\n]{0,200}$|[$%\u276f\u279c] \w|\[[^\]\n]{1,200}\][ \t]*$|<{2,}[ \t]*\w+[ \t]*$|<!--|-{5}BEGIN"
    r"|(?:\S+ ){0,6}(?:https?://\S+|#\d+|[A-Z]{2,10}-\d+)[ \t]*$)"
    # a line without a full stop that names what follows it
    r"|^(?![^\n]{0,60}\b(?:remember|keep in mind|don't forget|note|rules?|from now on|always|never)\b)(?:[^\n.?!]"
    r"|[.?!](?=\S)){0,200}\b(?:issue|ticket|e?-?mail|message|comment|reviewer|output|thread|chat|article|readme|snippet"
    r"|pasted?|says|said|wrote|writes|\w+\.(?:md|txt|log|rst))\b(?:[^\n.?!]|[.?!](?=\S)){0,100}\n"
    # a line that leads in to what others wrote
    r"|^(?![^\n]{0,60}\b(?:remember|keep in mind|don't forget|note|rules?|from now on)\b)[^\n]{0,200}"
    r"\b(?:issue|ticket|e?-?mail|message|comment|review|logs?|output|error|failure|report|bug|thread|chat|slack|page"
    r"|article|docs?|documentation|readme|snippet|pasted?|following|below|this|these|here(?:'s| is| are)|says|said"
    r"|saying|wrote|writes|reads|got|gets|sent|quote|from|see)\b[^\n]{0,100}:[ \t]*$"
    # the same within a line, if more than one sentence follows
    r"|\b(?:issue|ticket|e?-?mail|message|comment|review|log|output|report|thread|chat|page|article|docs?|documentation"
    r"|readme|says|said|wrote|writes|reads|text|body|quote)\b[^\n:]{0,40}:[ \t]+(?=[^\n]{0,400}[.!?] )",
    re.MULTILINE | re.IGNORECASE,
)
"""Marks that other people's words begin here, pasted into a prompt unchanged."""
_REMARK = re.compile(
    r"\bI(?:'d|'m)?\b(?: \w+)? (?:would|think|guess|meant?|want|don't|wonder\w*|see|just|like|prefer|expect|know)\b"
    r"|\bI'd\b|\b(?:can|could|should|shall|do|don't)(?:n't)? (?:we|you|I)\b|\blet's\b|\?\W*$|^\W*(?:yeah|please|hm+)\b",
    re.MULTILINE,
)
"""Turns by which a person talks to the agent about what stands above."""
_SIGNED = re.compile(
    r"^[ \t]*(?:Best|Kind regards|Best regards|Regards|Cheers|Sincerely|Yours|BR|Greetings),?(?: \w+)?[ \t]*$",
    re.MULTILINE,
)
"""Ends of mails."""
_TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testdata|e2e)/|(?:^|/)test_[^/]*$|[._-](?:test|spec)s?\.\w+$"
)
PRONOUNS = "it|its|it's|this|that|that's|these|those|they|they're|them|he|she|his|her|their"
CONNECTIVES = (
    "which|so|but|and|also|then|therefore|thus|hence|because|both|neither|same|now|instead(?! of)|otherwise|however"
    "|additionally|similarly"
)
_DANGLING = re.compile(r"\b(?:it|them|this|that|these|those|one)[\s`*]*(?:[.,;:()\u2014-]|$)", re.IGNORECASE)


def spoken(event: Event) -> str:
    """Return the prompt with `MASK` for all that no person typed; empty for other events and if nothing remains."""
    if event.kind != "prompt" or event.agent or event.trust in ("tool", "repository"):
        return ""
    words = own_words(event.text)
    return words if words.replace(MASK, "").strip() else ""


def said_on_refusal(event: Event) -> str:
    """Return what a person typed when refusing a call of a tool; empty if this event is none, or without words."""
    if event.agent or not refused(event):
        return ""
    return event.text.partition(_SAID)[2].partition("\n\nNote: ")[0].strip()


def unmasked(words: str) -> str:
    """Return the words without what no person typed, to measure or show them."""
    return words.replace(MASK, "")


def before_paste(words: str) -> str:
    """Return the words before a pasted part; all words if none, or all, look pasted."""
    pasted = _PASTED.search(words)
    return (words[: pasted.start()].strip() or words) if pasted else words


def speaker_trust(words: str, start: int) -> Trust:
    """Return `person` for a person's words at that position of a prompt; `tool` for pasted or quoted ones."""
    pasted = _PASTED.search(words)
    line = words[words.rfind("\n", 0, start) + 1 : start]
    if (pasted and pasted.start() < start) or line.startswith(("    ", "\t")) or _SIGNED.search(words, start):
        return "tool"
    paragraph = words[words.rfind("\n\n", 0, start) + 1 : start]
    quoted = paragraph.count('"') % 2 or paragraph.count("\u201c") > paragraph.count("\u201d")
    return "tool" if quoted else "person"


def is_typed(event: Event, start: int, end: int) -> bool:
    """Return whether a person typed that span of the event's text; a pasted or quoted text is not theirs.

    What stands below a paste counts if it is the prompt's last paragraph and talks to the agent.
    """
    words = spoken(event)
    if not words or MASK in words[start:end]:
        return False
    return speaker_trust(words, start) == "person" or start >= _remark_at(words)


def _remark_at(words: str) -> int:
    """Return where the remark below a paste begins; the length of the words if there is none."""
    at = words.rstrip().rfind("\n\n") + 2
    return at if at > 1 and _REMARK.search(words, at) and not _PASTED.search(words, at) else len(words)


def typed(event: Event) -> str:
    """Return the part of a prompt that a person typed, with `MASK` for what stands among it."""
    words = spoken(event)
    pasted = _PASTED.search(words)
    if not pasted and not _SIGNED.search(words):
        return words
    remark = _remark_at(words)
    begin = pasted.start() if pasted and not _SIGNED.search(words) else 0
    return words[:begin] + MASK * (remark - begin) + words[remark:]


def not_typed(event: Event) -> str:
    """Return the parts of a prompt that no person typed, with blanks for the others; empty for an agent's prompt."""
    own = event.text if event.agent else typed(event) or MASK * len(event.text)
    if MASK not in own:
        return ""
    return "".join(c if mask == MASK or c == "\n" else " " for c, mask in zip(event.text, own, strict=True))


def interrupted(event: Event) -> bool:
    """Return whether the user stopped the agent here."""
    return event.kind in ("prompt", "tool_failure") and event.text.lstrip().startswith(INTERRUPT)


def refused(event: Event) -> bool:
    """Return whether the user or the host stopped the tool, so that nothing was learnt about the command."""
    return event.kind == "tool_failure" and event.text.lstrip().startswith(_REFUSALS)


def failed(event: Event) -> bool:
    """Return whether the host or the exit status says that the tool itself failed."""
    if event.kind == "tool_failure":
        return not refused(event)
    return event.kind == "tool_result" and event.exit_code is not None and event.exit_code != 0


def ended_well(event: Event) -> bool:
    """Return whether the tool returned without a failure; False for a command without a known exit status."""
    return event.kind == "tool_result" and (event.exit_code == 0 or (event.exit_code is None and not event.command))


def status(event: Event) -> int | None:
    """Return the exit status, from the record or from the line a host puts in front of a failure's output."""
    if event.exit_code is not None:
        return event.exit_code
    match = _STATUS.match(event.text) if event.kind == "tool_failure" else None
    return int(match.group(1)) if match else None


def is_test_file(path: str) -> bool:
    """Return whether the path looks like a test by folder or name, as common test runners find them."""
    return bool(_TEST_FILE.search(path))


def sentences(text: str) -> Iterator[tuple[str, int]]:
    """Yield (sentence, start) of prose, with offsets into `text`.

    Text in tags, fences, quotes and tables is left out, and so is a sentence that holds some of it: without that part
    it may say the opposite.
    """
    for line_start, line in _lines(own_words(text)):
        if line.lstrip().startswith("|"):
            continue
        for match in _SENTENCE.finditer(line):
            if MASK not in match.group():
                yield match.group().strip(), line_start + match.start()


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, line.rstrip("\r\n")
        start += len(line)


def quote(event: Event, span: str = "", start: int = -1) -> Evidence:
    """Return evidence for that span of the event's text (default: its beginning), without a quote if it is absent."""
    if not span:
        start, span = 0, event.text
    span = span[:QUOTE_LIMIT]
    if start < 0:
        start = event.text.find(span)
    if start < 0 or not span:
        return Evidence(event=event.id, quote="")
    return Evidence(event=event.id, quote=span, start=start, end=start + len(span))


def clip(text: str, limit: int) -> str:
    """Return the text cut at a word within so many characters, with an ellipsis if something was cut."""
    text = text.strip()
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[limit // 2 :] else head) + "…"


def capital(rule: str) -> str:
    """Return the rule with a capital first letter, unless the first word is an identifier."""
    first = rule.split(" ", 1)[0].rstrip(",.;:").replace("'", "")
    plain = first.isalpha() and (len(first) == 1 or first[1:].islower())
    return rule[:1].upper() + rule[1:] if plain else rule


def edits_between(window: Sequence[Event], first: int, last: int) -> list[Event]:
    """Return the file edits strictly between two positions of the window."""
    return [event for event in window[first + 1 : last] if event.kind == "file_edit" and event.files]


def change_snippet(edit: Event, limit: int = 320) -> str:
    """Return the edit as a few `-`/`+` lines: only lines that differ, within so many characters."""
    old, new = edit.old.splitlines(), edit.new.splitlines()
    gone, come = set(old) - set(new), set(new) - set(old)
    lines = [f"- {line.strip()}" for line in old if line in gone and line.strip()]
    lines += [f"+ {line.strip()}" for line in new if line in come and line.strip()]
    shown: list[str] = []
    for line in lines:
        if sum(map(len, shown)) + len(line) > limit:
            break
        shown.append(line)
    if not shown and lines:
        shown = [clip(lines[0], limit)]
    return "\n".join(shown)


def opening(*more: str) -> re.Pattern[str]:
    """Return a pattern that matches a pronoun, a connective or one of the expressions `more` at the beginning."""
    return re.compile(rf"(?:{'|'.join((PRONOUNS, CONNECTIVES, *more))})\b", re.IGNORECASE)


def dangles(sentence: str) -> bool:
    """Return whether a clause of the sentence ends in a pronoun: "the test depends on it."."""
    return bool(_DANGLING.search(sentence))

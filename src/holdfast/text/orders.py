"""Recognises orders: text that tells its reader what to do, or that does harm if it is wrong.

Examples are where to send something, what to run from the network, and where credentials are. An agent may propose such
a lesson, but a person decides about it. A tool's message that gives orders does not describe a failure, so nothing is
learnt from it.
"""

from __future__ import annotations

import re

from holdfast.text.hidden import folded, without_hidden

_TOP_LEVEL = (
    "com|net|org|io|dev|app|ai|co|cloud|xyz|info|biz|me|tech|online|site|top|shop|link|live|ru|cn|uk|de|fr|eu|us|in|br"
    "|jp|nl|ch|at|tv|gg|ly|to|cc|page|run|pro|tk|example|test|invalid|internal|corp|intranet|onion"
)
_NETWORK = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://(?!(?:localhost|127\.0\.0\.1|0\.0\.0\.0)\b)\S|\bwww\.\w|\b\w[\w.+-]{0,64}@[\w-]+\.\w"
    r"|\b(?!127\.0\.0\.1\b|0\.0\.0\.0\b)\d{1,3}(?:\.\d{1,3}){3}\b(?![.\d])"
    rf"|(?<![\w/@.`'\"(-])(?:[a-z0-9][a-z0-9-]{{0,62}}\.)+(?:{_TOP_LEVEL})\b(?![\w(]|\.\w|-\w)",
    re.IGNORECASE,
)
"""An address, a host or a mailbox, except this machine's own."""
_PIPED = re.compile(
    r"\|\s*(?:sudo\s+)?(?:env\s+)?(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|perl|ruby|node|iex|pwsh|powershell)\b"
    r"|\b(?:ba|z|da)?sh\s+(?:-c\s+)?[\"']?[<$]\(|\beval\s+[\"'$`]|\b(?:curl|wget|iwr|Invoke-WebRequest)\b"
    r"|\bnc\s+-|\bscp\s|\bssh\s+\S+@",
    re.IGNORECASE,
)
_SENDS = re.compile(
    r"\b(?:send|upload|post|push|copy|e?mail|leak|forward|share|publish|paste|submit|transmit|report)\w*\b[^.\n]{0,80}"
    r"(?:\.env\b|\b(?:credentials?|secrets?|private keys?|passwords?|api keys?|tokens?|id_rsa|\.ssh|\.aws|\.netrc)\b)",
    re.IGNORECASE,
)
_SAFEGUARD = re.compile(
    r"--(?:no-verify|insecure|no-check-certificate|disable-\w|allow-\w*unsafe|privileged|trusted-host|no-sandbox)"
    r"|verify=False|\bchmod\s+(?:-R\s+)?0?777\b|\brm\s+-\w*[rf]\w*[rf]|\bsudo\s+\w|\bgit\s+push\s[^\n]*(?:--force|-f)\b"
    r"|\b(?:(?:disable|skip|bypass|turn(?:ed)? off|ignore|remove|weaken)\b[^.;:,\n]{0,40}|without\b[^.;:,\n]{0,16})"
    r"\b(?:auth\w*|tls|ssl|certificates?|signatures?|signing|verification|security|firewall|sandbox|permissions?"
    r"|reviews?|approvals?|audit|safety|checks?|hooks?|encryption|validation|2fa|mfa)\b",
    re.IGNORECASE,
)
_CREDENTIAL = re.compile(
    r"(?<![\w.])\.(?:env|netrc|npmrc|pypirc|ssh|aws|kube|gnupg|pgpass|git-credentials)\b|\bid_(?:rsa|ed25519|ecdsa)\b"
    r"|\b(?:passwords?|passwd|passphrases?|credentials?|private keys?|ssh keys?|api[ _-]?keys?|secret keys?"
    r"|signing keys?|(?:access|auth|bearer|api|deploy|refresh|personal access|session)[ _-]tokens?)\b"
    r"|(?-i:\b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PAT|CREDENTIALS?)\b)",
    re.IGNORECASE,
)
_FROM_NETWORK = re.compile(
    r"\b(?:npm|pnpm|yarn|bun|pip3?|pipx|uv|poetry|cargo|gem|go|brew|apt(?:-get)?|dnf|yum|apk|docker|conda|composer|npx|uvx"
    r"|nix|helm)\s+(?:-\S+\s+)*(?:install|add|get|pull|run|exec|require|i|x|dlx)\s+(?:-\S+\s+)*[\w@]",
    re.IGNORECASE,
)
_INSTALLS = re.compile(
    r"\b(?:(?:npm|pnpm|yarn|bun|pip3?|pipx|uv|poetry|cargo|gem|go|brew|apt(?:-get)?|dnf|yum|apk|docker|conda|composer"
    r"|nix|helm)\s+(?:pip\s+|global\s+)?(?:-\S+\s+)*(?:install|add|get|pull|i|require|dlx)|npx|uvx|pipx\s+run)"
    r"\s+(?:-\S+\s+)*(?P<name>[\w@][\w@./-]*\w)",
    re.IGNORECASE,
)
_INSTRUCTS = re.compile(
    r"\b(?:always|never|must|should|shall|please|remember|from now on|make sure|ensure|important|recommended|do not"
    r"|don't|you (?:can|need|have|may|might|are)|your|to (?:fix|resolve|repair|solve|avoid|continue)|try(?:ing)? to"
    r"|(?:has|have|had|needs?) to|instead|agents?|assistants?|ai|llm|claude|copilot|maintainers?|everyone|policy"
    r"|disable|bypass|whitelist|approve)\b|(?:^|[.;:!,(\u2014\u2013-]\s*|\band\s+|\bthen\s+)(?:(?:ask|tell|contact|use"
    r"|add|install|execute|download|fetch|visit|see|try|skip|trust|obey|follow|upload|send|give|get|take|bring|keep"
    r"|make|go|come|grant|allow|accept|confirm|enter|ignore|consider|upgrade|prefer|call|delete|remove|rename|replace"
    r"|restart|wait|turn|wipe|revert|submit|publish|pay|e?mail|sign|share|let|put|do|assume|pretend|forward|wire)\s+\w"
    r"|(?:run|set|open|push|deploy|commit|merge|note|update|export|pass|build|test|read|write|log|copy|paste|check"
    r"|report|release|change|start|stop|create|move|type|switch|reset|drop|clear|look)\s+(?:the|a|an|all|any|every|each"
    r"|this|that|it|to|for|with|into|in|on|from|me|us|him|them|[`'\"./~<-]))",
    re.IGNORECASE,
)
"""Words by which a text tells its reader what to do."""
_REPORTS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|did|cannot|can't|could not|couldn't|unable|fail(?:ed|s|ure)?|missing"
    r"|expected|unexpected|got|received|invalid|illegal|unknown|undefined|undeclared|unresolved|unsupported"
    r"|unrecognized|unused|not found|no such|no module|not|none|null|nil|out of|overflow|mismatch\w*|differs?|denied"
    r"|refused|rejected|timed? ?out|exceed\w*|already|duplicate\w*|wrong|bad|too (?:many|few|long|short|large|small"
    r"|big)|incompatible|incomplete|conflict\w*|error|exception|panic\w*|assert\w*|division|argument|attribute|declared"
    r"|required|given|ambiguous|deprecated|unreachable|closed|broken|corrupt\w*|lost|empty|reset|aborted|killed|crashed"
    r"|violat\w*|protected)\b|[=!<>]=|->|!=",
    re.IGNORECASE,
)
"""Words by which a message says what went wrong."""
_PROSE = re.compile(r"\b[a-z]{2,}(?: [a-z]{1,20}){3,}", re.IGNORECASE)
"""Four words in a row: a sentence, or part of one."""
_ORDERS = frozenset({
    "always", "never", "must", "run", "use", "upload", "send", "disable", "skip", "bypass", "ignore", "please",
    "remember", "you", "your", "dont", "not", "before", "deploy", "push", "install", "approve", "trust", "only",
    "should", "execute", "commit", "merge", "delete", "everyone", "agent", "agents", "assistant", "policy",
})  # fmt: skip
LONG_NAME = 4
"""Words from which a name can be a sentence."""


def reservation(text: str) -> str:
    """Return why a person must confirm this text, in a few words; empty if an agent's word is enough."""
    plain = folded(text)
    if _PIPED.search(plain):
        return "it runs what comes over the network or through a pipe"
    if _NETWORK.search(plain):
        return "it names a host or an address"
    if _CREDENTIAL.search(plain) or _SENDS.search(plain):
        return "it names a credential"
    if _SAFEGUARD.search(plain):
        return "it takes a safeguard away"
    return ""


def harm(text: str) -> str:
    """Return the harm that an agent following the text would do to its user, in a few words; empty for none known."""
    plain = folded(text)
    if _PIPED.search(plain):
        return "a command that runs what it is fed"
    return "credentials sent away" if _SENDS.search(plain) else ""


def instructs(text: str) -> bool:
    """Return whether a tool's text tells its reader what to do, instead of only reporting what went wrong."""
    plain = folded(without_hidden(text))
    message = plain.partition(": ")[2] or plain
    chats = _PROSE.search(message) is not None and not _REPORTS.search(message)
    return chats or bool(_INSTRUCTS.search(plain)) or bool(reservation(text))


def is_order(name: str) -> bool:
    """Return whether an identifier is a sentence that gives an order, such as the name of a hostile test."""
    words = "".join(c.lower() if c.isalnum() else " " for c in folded(without_hidden(name))).split()
    telling = [word for word in words if word not in ("test", "tests", "it", "spec", "py", "js", "ts")]
    return len(telling) >= LONG_NAME and bool(_ORDERS & set(telling))


def fetches(command: str) -> bool:
    """Return whether the command loads code from the network."""
    return bool(_FROM_NETWORK.search(command) or reservation(command))


def installed_in(text: str) -> tuple[str, ...]:
    """Return the names of what the commands in the text install or run from a package index, in order."""
    return tuple(dict.fromkeys(match["name"] for match in _INSTALLS.finditer(folded(text))))

"""Suspicion: why a text may not be believed without a person.

`suspicion` finds attacks: text that addresses the agent, hides characters or carries a payload; it is quarantined.
`reservation` finds what may be right but does harm when it is not: where to send something, what to run from the
network, where credentials lie. An agent may propose it; a person decides.

Source of the patterns: the published attacks on agents' memories and the OWASP notes on prompt injection.
"""

from __future__ import annotations

import re

from holdfast.domain.hidden import folded, hides_something, without_hidden

_ADDRESSED = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,20}\b(?:previous|prior|above|earlier|your|system)\b"
    r".{0,20}\b(?:instructions?|prompts?|rules|guidelines|messages|guardrails)\b"
    r"|\b(?:ignore|disregard|forget) (?:all|any) (?:of )?(?:the )?(?:instructions|prompts)\b"
    r"|\byou are now (?:a|an|in \w+ mode)\b|^\s*new instructions?:"
    r"|\b(?:do not|don't|never|without) (?:tell|telling|mention|mentioning|inform|informing|reveal|alert|alerting)"
    r"(?: it| this| any of this)?(?: to)? the user\b"
    r"|<\|?(?:im_start|im_end|system|assistant|endoftext)\|?>|\[/?INST\]|<</?SYS>>|^\s*(?:system|assistant)\s*:\s",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_SENT_AWAY = re.compile(
    r"\b(?:curl|wget|iwr|Invoke-WebRequest)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b"
    r"|\bbase64\s+(?:-d|-D|--decode)\b[^\n]{0,60}\|\s*(?:ba|z)?sh\b|\bexfiltrat|\beval\s*\(\s*(?:atob|base64)",
    re.IGNORECASE,
)
_RUN = re.compile(r"[A-Za-z0-9+/]{100,}={0,2}")
_SENDS = re.compile(
    r"\b(?:send|upload|post|push|copy|e?mail|leak|forward|share|publish|paste|submit|transmit|report)\w*\b[^.\n]{0,80}"
    r"(?:\.env\b|\b(?:credentials?|secrets?|private keys?|passwords?|api keys?|tokens?|id_rsa|\.ssh|\.aws|\.netrc)\b)",
    re.IGNORECASE,
)
_TOP_LEVEL = (
    "com|net|org|io|dev|app|ai|co|cloud|xyz|info|biz|me|tech|online|site|top|shop|link|live|ru|cn|uk|de|fr|eu|us|in|br"
    "|jp|nl|ch|at|tv|gg|ly|to|cc|page|run|pro|tk|example|test|invalid|internal|corp|intranet|onion"
)
_NETWORK = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://(?!(?:localhost|127\.0\.0\.1|0\.0\.0\.0)\b)\S|\bwww\.\w|\b\w[\w.+-]*@[\w-]+\.\w"
    r"|\b(?!127\.0\.0\.1\b|0\.0\.0\.0\b)\d{1,3}(?:\.\d{1,3}){3}\b(?![.\d])"
    rf"|(?<![\w/@.`'\"(-])(?:[a-z0-9][a-z0-9-]{{0,62}}\.)+(?:{_TOP_LEVEL})\b(?![\w(.]|-\w)",
    re.IGNORECASE,
)
"""An address, a host or a mailbox; this machine's own is none."""
_PIPED = re.compile(
    r"\|\s*(?:sudo\s+)?(?:env\s+)?(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|perl|ruby|node|iex|pwsh|powershell)\b"
    r"|\b(?:ba|z|da)?sh\s+(?:-c\s+)?[\"']?[<$]\(|\beval\s+[\"'$`]|\b(?:curl|wget|iwr|Invoke-WebRequest)\b"
    r"|\bnc\s+-|\bscp\s|\bssh\s+\S+@",
    re.IGNORECASE,
)
_CREDENTIAL = re.compile(
    r"(?<![\w.])\.(?:env|netrc|npmrc|pypirc|ssh|aws|kube|gnupg|pgpass|git-credentials)\b|\bid_(?:rsa|ed25519|ecdsa)\b"
    r"|\b(?:passwords?|passwd|passphrases?|credentials?|private keys?|ssh keys?|api[ _-]?keys?|secret keys?|signing keys?"
    r"|(?:access|auth|bearer|api|deploy|refresh|personal access|session)[ _-]tokens?)\b"
    r"|\b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PAT|CREDENTIALS?)\b",
    re.IGNORECASE,
)
_FROM_NETWORK = re.compile(
    r"\b(?:npm|pnpm|yarn|bun|pip3?|pipx|uv|poetry|cargo|gem|go|brew|apt(?:-get)?|dnf|yum|apk|docker|conda|composer|npx|uvx"
    r"|nix|helm)\s+(?:-\S+\s+)*(?:install|add|get|pull|run|exec|require|i|x|dlx)\s+(?:-\S+\s+)*[\w@]",
    re.IGNORECASE,
)
_INSTRUCTS = re.compile(
    r"\b(?:always|never|must(?: not)?|should|shall|please|you|your|remember|from now on|make sure|ensure|instead|note"
    r"|important|recommended|required to|tell|ask|reply|agents?|assistants?|models?|llm|ai|claude|copilot|developers?"
    r"|users?|maintainers?|everyone|policy|do not|don't|disable|skip|bypass|approved?|trust|to (?:fix|resolve|repair|solve)"
    r"|run|use|set|add|install|execute|call|download|fetch|visit|open|see|try)\b",
    re.IGNORECASE,
)
"""Words by which a text tells its reader what to do."""


def suspicion(text: str) -> str:
    """The reason in a few words, or an empty string for a text that needs no quarantine."""
    if hides_something(text):
        return "hidden characters"
    plain = folded(without_hidden(text))
    if _ADDRESSED.search(plain):
        return "text that addresses the agent"
    if _SENT_AWAY.search(plain):
        return "a command that runs what it downloads"
    if _SENDS.search(plain):
        return "credentials sent away"
    if any(_is_payload(run) for run in _RUN.findall(plain)):
        return "an encoded payload"
    return ""


def reservation(text: str) -> str:
    """Why an agent's word is not enough for this text, in a few words; empty when it is."""
    plain = folded(text)
    if _PIPED.search(plain):
        return "it runs what comes over the network or through a pipe"
    if _NETWORK.search(plain):
        return "it names a host or an address"
    if _CREDENTIAL.search(plain):
        return "it names a credential"
    return ""


def instructs(text: str) -> bool:
    """Whether a tool's text tells its reader what to do, and does not only report what went wrong."""
    plain = folded(without_hidden(text)).replace("_", " ").replace("-", " ")
    return bool(_INSTRUCTS.search(plain) or reservation(text) or suspicion(text))


def fetches(command: str) -> bool:
    """Whether the command brings code from the network."""
    return bool(_FROM_NETWORK.search(command) or reservation(command))


def _is_payload(run: str) -> bool:
    """A long run of mixed case and digits; a path or a hash is not one."""
    mixed = run != run.lower() and run != run.upper() and any(c.isdigit() for c in run)
    return mixed and run.count("/") * 20 < len(run)

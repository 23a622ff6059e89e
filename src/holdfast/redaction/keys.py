"""Finds secrets by their own form: keys with an issuer's prefix, tokens, key blocks, random or encoded words.

Each scanner yields (start, end, rule), and looks at a bounded number of characters at each position.
"""

from __future__ import annotations

from holdfast.redaction.alphabets import ALNUM, BASE64, DIGITS, DOTTED, HEX, UPPER, WIDE, WORD
from holdfast.redaction.hints import BEGIN, END, PLAIN_KEYS, PRIVATE
from holdfast.redaction.values import SPAN, decoded, has_digit, is_opaque, is_random, run, starts_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.redaction.values import Span

KEYS: tuple[tuple[str, str, str, int, str], ...] = (
    ("aws", "AKIA", UPPER + DIGITS, 16, "b"),
    ("aws", "ASIA", UPPER + DIGITS, 16, "b"),
    ("aws", "ABIA", UPPER + DIGITS, 16, "b"),
    ("aws", "ACCA", UPPER + DIGITS, 16, "b"),
    ("aws", "ABSK", BASE64, 80, "b"),
    ("aws", "IQoJb3JpZ2lu", BASE64, 60, ""),
    ("aws", "FwoGZXIvYXdz", BASE64, 60, ""),
    ("github", "ghp_", WORD, 30, ""),
    ("github", "gho_", WORD, 30, ""),
    ("github", "ghu_", WORD, 30, ""),
    ("github", "ghs_", DOTTED, 30, ""),
    ("github", "ghr_", WORD, 30, ""),
    ("github", "github_pat_", WORD, 30, ""),
    ("gitlab", "glpat-", DOTTED, 20, ""),
    ("gitlab", "gldt-", DOTTED, 20, ""),
    ("gitlab", "glrt-", DOTTED, 20, ""),
    ("gitlab", "glcbt-", DOTTED, 20, ""),
    ("gitlab", "glptt-", DOTTED, 20, ""),
    ("gitlab", "glsoat-", DOTTED, 20, ""),
    ("gitlab", "glagent-", DOTTED, 20, ""),
    ("anthropic", "sk-ant-", WORD, 20, "d"),
    ("openai", "sk-proj-", WORD, 32, "d"),
    ("openai", "sk-svcacct-", WORD, 32, "d"),
    ("openai", "sk-admin-", WORD, 32, "d"),
    ("openrouter", "sk-or-v1-", HEX, 32, ""),
    ("openai", "sk-", ALNUM, 32, "bd"),
    ("google", "AIza", WORD, 35, "b"),
    ("google", "GOCSPX-", WORD, 24, ""),
    ("google", "ya29.", WORD, 30, ""),
    ("slack", "xoxb-", WORD, 20, "d"),
    ("slack", "xoxp-", WORD, 20, "d"),
    ("slack", "xoxa-", WORD, 8, "bd"),
    ("slack", "xoxr-", WORD, 8, "bd"),
    ("slack", "xoxs-", WORD, 20, "d"),
    ("slack", "xoxe-", WORD, 20, "d"),
    ("slack", "xoxe.", DOTTED, 20, "d"),
    ("slack", "xoxc-", WORD, 20, "d"),
    ("slack", "xoxd-", WIDE, 20, "d"),
    ("slack", "xapp-", WORD, 20, "d"),
    ("slack", "hooks.slack.com/services/", ALNUM + "/", 30, ""),
    ("discord", "discord.com/api/webhooks/", WORD + "/", 60, ""),
    ("discord", "discordapp.com/api/webhooks/", WORD + "/", 60, ""),
    ("stripe", "sk_live_", ALNUM, 10, ""),
    ("stripe", "sk_test_", ALNUM, 10, "d"),
    ("stripe", "rk_live_", ALNUM, 10, ""),
    ("stripe", "rk_test_", ALNUM, 10, "d"),
    ("stripe", "whsec_", BASE64, 24, "d"),
    ("npm", "npm_", ALNUM, 30, "bd"),
    ("pypi", "pypi-AgE", WORD, 40, ""),
    ("digitalocean", "dop_v1_", HEX, 40, ""),
    ("digitalocean", "doo_v1_", HEX, 40, ""),
    ("digitalocean", "dor_v1_", HEX, 40, ""),
    ("twilio", "SK", HEX, 32, "bde"),
    ("mailgun", "key-", HEX, 32, "bde"),
    ("shopify", "shpat_", HEX, 32, ""),
    ("shopify", "shpca_", HEX, 32, ""),
    ("shopify", "shppa_", HEX, 32, ""),
    ("shopify", "shpss_", HEX, 32, ""),
    ("square", "sq0atp-", WORD, 22, ""),
    ("square", "sq0csp-", WORD, 40, ""),
    ("databricks", "dapi", HEX, 32, "b"),
    ("docker", "dckr_pat_", WORD, 20, ""),
    ("doppler", "dp.pt.", ALNUM, 30, "b"),
    ("doppler", "dp.st.", DOTTED, 30, "b"),
    ("linear", "lin_api_", ALNUM, 30, ""),
    ("notion", "ntn_", ALNUM, 40, "b"),
    ("figma", "figd_", WORD, 30, ""),
    ("grafana", "glsa_", WORD, 30, ""),
    ("grafana", "glc_", BASE64, 40, "b"),
    ("vault", "hvs.", WORD, 20, "b"),
    ("vault", "hvb.", WORD, 20, "b"),
    ("terraform", ".atlasv1.", WORD + "=", 40, "l"),
    ("planetscale", "pscale_tkn_", DOTTED + "=", 20, ""),
    ("planetscale", "pscale_pw_", DOTTED + "=", 20, ""),
    ("postman", "PMAK-", WORD, 40, ""),
    ("newrelic", "NRAK-", ALNUM, 20, ""),
    ("sentry", "sntrys_", WIDE, 40, ""),
    ("sentry", "sntryu_", HEX, 40, ""),
    ("supabase", "sbp_", HEX, 32, "b"),
    ("supabase", "sb_secret_", WORD, 20, "b"),
    ("groq", "gsk_", ALNUM, 40, "b"),
    ("xai", "xai-", ALNUM, 40, "b"),
    ("perplexity", "pplx-", ALNUM, 32, ""),
    ("replicate", "r8_", ALNUM, 32, "b"),
    ("langsmith", "lsv2_", WORD, 32, "d"),
    ("tavily", "tvly-", WORD, 20, "d"),
    ("rubygems", "rubygems_", HEX, 40, ""),
    ("atlassian", "ATATT3", WIDE, 40, ""),
    ("atlassian", "ATCTT3", WIDE, 40, ""),
    ("bitbucket", "ATBB", ALNUM, 28, "bd"),
    ("age", "AGE-SECRET-KEY-1", UPPER + DIGITS, 40, ""),
    ("fly", "fm2_", BASE64, 40, "b"),
    ("jwt", "eyJhbGciOi", DOTTED, 10, ""),
    ("pem", "LS0tLS1CRUdJTiBQUklWQVRF", BASE64, 20, ""),
    ("pem", "LS0tLS1CRUdJTiBSU0Eg", BASE64, 20, ""),
    ("pem", "LS0tLS1CRUdJTiBFQyBQ", BASE64, 20, ""),
    ("pem", "LS0tLS1CRUdJTiBPUEVOU1NI", BASE64, 20, ""),
    ("onepass", "A3-", UPPER + DIGITS + "-", 32, "bd"),
    ("onepass", "ops_eyJ", WIDE, 60, "b"),
    ("adobe", "p8e-", ALNUM, 32, "bd"),
    ("alibaba", "LTAI", ALNUM, 16, "bd"),
    ("amazon", "amzn.mws.", WORD, 30, "b"),
    ("artifactory", "AKCp", ALNUM, 60, "bd"),
    ("artifactory", "cmVmd", ALNUM, 55, "bd"),
    ("authress", ".acc_", WIDE, 40, "ld"),
    ("authress", ".acc-", WIDE, 40, "ld"),
    ("aws", "A3T", UPPER + DIGITS, 17, "be"),
    ("aws", "bedrock-api-key-", BASE64, 20, ""),
    ("azure", "Q~", DOTTED + "~", 31, "l"),
    ("buildkite", "bkua_", HEX, 40, "b"),
    ("cerebras", "csk-", ALNUM, 40, "bd"),
    ("circleci", "CCIPAT_", WORD, 40, "b"),
    ("clickhouse", "4b1d", ALNUM, 38, "be"),
    ("clojars", "CLOJARS_", ALNUM, 40, ""),
    ("cloudflare", "v1.0-", HEX + "-", 120, "b"),
    ("contentful", "CFPAT-", WORD, 40, "b"),
    ("doppler", "dp.ct.", ALNUM, 30, "b"),
    ("doppler", "dp.sa.", ALNUM, 30, "b"),
    ("doppler", "dp.scim.", ALNUM, 30, "b"),
    ("doppler", "dp.audit.", ALNUM, 30, "b"),
    ("dropbox", "sl.", WORD + "=", 120, "br"),
    ("dynatrace", "dt0c01.", DOTTED, 60, ""),
    ("dynatrace", "dt0s01.", DOTTED, 60, ""),
    ("easypost", "EZAK", ALNUM, 50, "bd"),
    ("easypost", "EZTK", ALNUM, 50, "bd"),
    ("facebook", "EAA", ALNUM, 90, "bd"),
    ("firebase", ":APA91b", WORD, 100, "l"),
    ("flutterwave", "FLWSECK", ALNUM + "-_", 12, "d"),
    ("flutterwave", "FLWPUBK", ALNUM + "-_", 12, "d"),
    ("fly", "fo1_", WORD, 40, "bd"),
    ("fly", "fm1a_", BASE64, 60, "b"),
    ("fly", "fm1r_", BASE64, 60, "b"),
    ("frameio", "fio-u-", WORD + "=", 60, ""),
    ("gitlab", "glffct-", WORD, 20, ""),
    ("gitlab", "glft-", WORD, 20, ""),
    ("gitlab", "glimt-", WORD, 20, ""),
    ("gitlab", "gloas-", WORD, 40, ""),
    ("gitlab", "glwt-", WORD, 20, ""),
    ("gitlab", "GR1348941", WORD, 20, ""),
    ("google", "1//0", WORD, 40, "bd"),
    ("grafana", "eyJrIjoi", BASE64, 60, ""),
    ("heroku", "HRKU-", WORD, 50, "b"),
    ("infracost", "ico-", ALNUM, 32, "bde"),
    ("intra42", "s-s4t2", WORD, 60, "b"),
    ("jina", "jina_", ALNUM, 50, "bd"),
    ("mapbox", "sk.eyJ", DOTTED, 60, "b"),
    ("maxmind", "_mmk", ALNUM, 0, "l"),
    ("microsoft", ".webhook.office.com/webhookb2/", WIDE + "@", 60, ""),
    ("netlify", "nfp_", ALNUM, 36, "bd"),
    ("newrelic", "NRII-", WORD, 30, "b"),
    ("newrelic", "NRJS-", HEX, 19, "b"),
    ("notion", "secret_", ALNUM, 43, "bder"),
    ("nuget", "oy2", DIGITS + UPPER.lower(), 43, "be"),
    ("nvidia", "nvapi-", WORD, 60, "b"),
    ("octopus", "API-", UPPER + DIGITS, 25, "bd"),
    ("openshift", "sha256~", WORD, 40, ""),
    ("planetscale", "pscale_oauth_", DOTTED + "=", 20, ""),
    ("posthog", "phx_", ALNUM, 40, "b"),
    ("prefect", "pnu_", ALNUM, 36, "b"),
    ("prefect", "pnb_", ALNUM, 36, "b"),
    ("pulumi", "pul-", HEX, 40, "b"),
    ("readme", "rdme_", ALNUM, 60, ""),
    ("render", "rnd_", ALNUM, 30, "bdr"),
    ("resend", "re_", ALNUM + "_", 30, "bdr"),
    ("scalingo", "tk-us-", WORD, 48, "b"),
    ("sendinblue", "xkeysib-", ALNUM + "-", 60, ""),
    ("sendinblue", "xsmtpsib-", ALNUM + "-", 60, ""),
    ("settlemint", "sm_aat_", ALNUM, 16, "b"),
    ("settlemint", "sm_pat_", ALNUM, 16, "b"),
    ("settlemint", "sm_sat_", ALNUM, 16, "b"),
    ("shippo", "shippo_live_", HEX, 40, ""),
    ("shippo", "shippo_test_", HEX, 40, ""),
    ("slack", "xoxo-", WORD, 20, "d"),
    ("slack", "hooks.slack.com/workflows/", ALNUM + "/+", 30, ""),
    ("slack", "hooks.slack.com/triggers/", ALNUM + "/+", 30, ""),
    ("sonar", "squ_", ALNUM, 40, "b"),
    ("sonar", "sqp_", ALNUM, 40, "b"),
    ("sonar", "sqa_", ALNUM, 40, "b"),
    ("sourcegraph", "sgp_", ALNUM + "_", 40, "b"),
    ("square", "EAAA", WORD, 22, "bdr"),
    ("stripe", "sk_prod_", ALNUM, 10, ""),
    ("stripe", "rk_prod_", ALNUM, 10, ""),
    ("tailscale", "tskey-", WORD, 20, "bd"),
    ("telegram", ":AA", WORD, 33, "l"),
    ("trello", "ATTA", HEX, 60, "b"),
    ("typeform", "tfp_", DOTTED + "=", 50, "b"),
    ("vault", "s.", ALNUM, 24, "bder"),
    ("yandex", "AQVN", WORD, 35, "bd"),
    ("yandex", "t1.", DOTTED + "=", 90, "b"),
)  # fmt: skip
"""(rule, prefix, alphabet of what follows, least characters that follow, flags). Case matters.

Flags: `b` no letter or digit stands before the prefix; `d` what follows holds a digit; `e` exactly that many characters
follow; `l` the prefix stands inside a key, and the key begins to the left of it;
`r` what follows looks random.
Sources: the issuers' documentation of their key formats; base64 of the openings of PEM blocks and JSON.
"""

_BY_STEM: dict[str, list[tuple[str, str, str, int, str]]] = {}
for _kind in KEYS:
    _BY_STEM.setdefault(_kind[1][:2], []).append(_kind)
"""The keys by the two characters they begin with: most texts have few of these."""

CRYPTS = ("$2a$", "$2b$", "$2y$", "$6$", "$5$", "$y$", "$argon2", "{SSHA}", "{SSHA512}", "pbkdf2_sha256$")
"""Beginnings of hashes of passwords, which can be guessed at leisure."""

PUBLIC = (
    "AAAA", "sha1-", "sha256-", "sha384-", "sha512-", "_ZN", "_RN", "ssh-", "urn-", "MII",
    "toolu_", "srvtoolu_", "msg_", "req_", "call_", "resp_", "chatcmpl-",
)  # fmt: skip
"""Beginnings of long random-looking words that everybody may see: SSH public keys, certificates, integrity hashes,
symbols of compilers, ids of model requests."""

PUBLIC_BEFORE = ("h1:", "r1:", "base64,", "SHA256:", "sha256:", "sha512:", "MD5:", "integrity=")
"""Texts right before such a word that say the same."""

HASH_MARKS = ("sha512-", "sha384-", "sha256-")
"""Texts a line or two before that make it the rest of a wrapped integrity hash."""

PEM_BODIES = ("b3BlbnNzaC1rZXktdjE", "MC4CAQAwBQYDK2V", "MHcCAQEE", "MIGHAgEAMB", "MIGkAgEBBD", "MIG2AgEAMB")
"""What the first line of a private key begins with: OpenSSH, Ed25519, and three forms of elliptic curves."""
RSA_MARKS = ("IBAAKC", "IBADANBgkqhkiG9w0BAQE")
"""What follows an RSA private key's length, a few characters into its first line: its version is 0."""

_PARTS_ONLY = bytes(32 if code in b".~" else code for code in range(256))
"""Blanks for the signs that join the parts of a chain of random words."""


# Keys with a prefix of their own


def find_keys(text: str, words: Sequence[str]) -> Iterator[Span]:
    """Find keys with their issuer's prefix."""
    long = " ".join(words)
    for stem, kinds in _BY_STEM.items() if long else ():
        if stem in long:
            for rule, prefix, alphabet, least, flags in kinds:
                if prefix in long:
                    yield from _find_key(text, rule, prefix, (alphabet, least, flags))
    for rule, prefix, alphabet, least, flags in PLAIN_KEYS:
        if prefix in text:
            yield from _find_key(text, rule, prefix, (alphabet, least, flags))
    if "$" in text or "{SSHA" in text:
        for prefix in CRYPTS:
            yield from _find_key(text, "value", prefix, (ALNUM + "./$+,=", 24, ""))


def _find_key(text: str, rule: str, prefix: str, shape: tuple[str, int, str]) -> Iterator[Span]:
    alphabet, least, flags = shape
    at = text.find(prefix)
    while at >= 0:
        begin = at + len(prefix)
        # tested first: it is cheap, and if it fails the following characters may hold the prefix again
        if "b" in flags and not starts_word(text, at):
            at = text.find(prefix, begin)
            continue
        size = run(text, begin, alphabet)
        while size and size % SPAN == 0 and (more := run(text, begin + size, alphabet)):
            size += more  # to the end of the run: the rest would be found again and again
        left = run(text[max(0, at - 128) : at][::-1], 0, DOTTED, 128) if "l" in flags else 0
        wrapped = _wrapped(text, begin + size, alphabet, least - size)
        if size + wrapped >= least and _fits(text, begin, size, flags, left) and (size == least or "e" not in flags):
            yield at - left, begin + size + wrapped, rule
        # a run that is too short or too plain stays so from any later prefix in it
        at = text.find(prefix, begin + size)


def _fits(text: str, begin: int, size: int, flags: str, left: int) -> bool:
    if "l" in flags and left < 3 + 33 * (not size):
        return False
    core = text[begin : begin + size]
    return ("d" not in flags or has_digit(core)) and ("r" not in flags or is_opaque(core))


def _wrapped(text: str, end: int, alphabet: str, wanting: int) -> int:
    """Return how far a key continues on the next line, where a narrow terminal broke it; 0 if it does not."""
    if wanting <= 0 or text[end : end + 1] not in ("\n", "\r"):
        return 0
    gap = run(text, end, "\r\n \t", 40)
    size = run(text, end + gap, alphabet)
    return gap + size if size >= wanting and has_digit(text[end + gap : end + gap + size]) else 0


def find_jwts(text: str) -> Iterator[Span]:
    """Find JSON web tokens, whole or cut: `eyJ`, a header, a dot, more of it."""
    at = text.find("eyJ")
    while at >= 0:
        size = run(text, at, DOTTED)
        if size >= 24 and "." in text[at : at + size].rstrip("."):
            yield at, at + size, "jwt"
        at = text.find("eyJ", at + size)


# Blocks


def find_private(text: str, low: str) -> Iterator[Span]:
    """Find `<private>` spans with everything nested in them. An unclosed span reaches to the end of the text."""
    at = low.find(PRIVATE)
    while at >= 0:
        end = _private_end(low, at)
        yield at, end, ""
        at = low.find(PRIVATE, end)


def _private_end(low: str, at: int) -> int:
    depth, here = 1, at + 9
    while depth:
        close = low.find("</private>", here)
        if close < 0:
            return len(low)
        inner = low.count(PRIVATE, here, close)
        depth, here = depth + inner - 1, close + 10
    return here


def find_pem(text: str) -> Iterator[Span]:
    r"""Find private key blocks to their end mark or, if cut off, as far as lines (or `\n` pieces) look like a body."""
    at, close = text.find(BEGIN), 0
    while at >= 0:
        head = text.find("-----", at + len(BEGIN), at + 80)
        following = text.find(BEGIN, at + len(BEGIN))
        if head < 0 or "PRIVATE KEY" not in text[at:head]:
            at = following
            continue
        if 0 <= close < head:
            close = text.find(
                END, head
            )  # kept for the next heads, so that a text of heads without ends is searched once
        end = _pem_end(text, head + 5, close, following)
        if end > head + 5:
            yield at, end, "pem"
        at = following if end <= following or following < 0 else text.find(BEGIN, end)


def _pem_end(text: str, body: int, close: int, following: int) -> int:
    if body + 24 < close < body + 4 * SPAN and not body <= following < close:
        mark = text.find("-----", close + len(END), close + 80)
        return mark + 5 if mark >= 0 else close + len(END)
    return _pem_body(text, body)


def _pem_body(text: str, start: int) -> int:
    """Return where a block without an end mark ends: after its last line of base64; `start` if there is none."""
    here = end = start
    for _ in range(400):
        line = _line_end(text, here)
        piece = text[here:line].strip(" \t\r\"'0123456789→|>:,\\")
        is_body = bool(piece) and run(piece, 0, BASE64) == len(piece)
        if is_body and (len(piece) >= 16 or end == here - 1 or end == here - 2):
            end = line
        elif piece and ": " not in piece[:24]:  # neither a blank line nor a header such as `Proc-Type: 4,ENCRYPTED`
            return end
        if line >= len(text) or (is_body and len(piece) < 16):
            return end
        here = line + (2 if text.startswith("\\n", line) else 1)
    return end


def _line_end(text: str, here: int) -> int:
    line = text.find("\n", here, here + SPAN)
    line = line if line >= 0 else min(len(text), here + SPAN)
    written = text.find("\\n", here, line)
    return written if written >= 0 else line


def find_pem_parts(text: str, words: Sequence[str]) -> Iterator[Span]:
    """Find private key blocks without a head: known first lines, text before an end mark, a middle."""
    first = next((word for word in words if word.startswith(PEM_BODIES) or _opens_rsa(word)), "")
    if first:
        for word in words:
            if word.startswith(PEM_BODIES) or _opens_rsa(word):
                at = text.find(word)
                yield at, max(at + len(word), _pem_body(text, at)), "pem"
    at = text.find(END)
    while at >= 0:
        mark = text.find("-----", at + len(END), at + 80)
        if mark >= 0 and "PRIVATE KEY" in text[at:mark]:
            begin = _body_begin(text, at)
            if begin < at:
                yield begin, mark + 5, "pem"
        at = text.find(END, at + len(END))
    yield from _middles(text, words)


def _opens_rsa(word: str) -> bool:
    return word.startswith("MI") and word[4:30].find("IBA") >= 0 and any(mark in word[4:36] for mark in RSA_MARKS)


def _body_begin(text: str, at: int) -> int:
    """Return where the base64 lines that end at `at` begin, at most 400 of them; `at` if there are none."""
    end = at
    for _ in range(400):
        stop = end - 1 if text[end - 1 : end] == "\n" else end - 2 if text[end - 2 : end] == "\\n" else -1
        if stop <= 0:
            return end
        start = max(text.rfind("\n", max(0, stop - 200), stop) + 1, text.rfind("\\n", max(0, stop - 200), stop) + 2, 0)
        start = start if start > 1 else 0
        line = text[start:stop].strip(" \t\r\"'+→|>")
        if not line or len(line) > 80 or run(line, 0, BASE64) != len(line):
            return end
        end = start
    return end


def _middles(text: str, words: Sequence[str]) -> Iterator[Span]:
    """Find three base64 lines in a row, all 64 or all 70 wide, as key blocks are wrapped, without a public head."""
    wide = [word for word in words if len(word) in (64, 70) and has_digit(word) and not word.islower()]
    if len(wide) < 3:
        return
    here = 0
    for word in wide:
        at = text.find(word, here)
        if at < 0:
            continue
        here = at + len(word)
        end, lines = here, 1
        while True:
            gap = run(text, end, "\r\n \t", 24)
            size = run(text, end + gap, BASE64, 80)
            if not gap or size != len(word):
                break
            end, lines = end + gap + size, lines + 1
        lead = text[max(0, at - 200) : at]
        if lines >= 3 and not any(mark in lead for mark in ("CERTIFICATE", "PUBLIC", "MESSAGE", "SIGNATURE", "base64")):
            yield at, end, "pem"
        here = end


# Words


def find_words(text: str, low: str, words: Sequence[str], again: Callable[[str], str]) -> Iterator[Span]:
    """Find long words that are secrets by their form, by the name before them, or by what they decode to."""
    here = 0
    for word in words:
        if not has_digit(word):
            continue
        at = text.find(word, here)
        if at < 0:
            continue  # the word holds a character that latin-1 lacks
        here = at + len(word)
        yield from _judge_word(text, low, at, word, again)


def _judge_word(text: str, low: str, at: int, word: str, again: Callable[[str], str]) -> Iterator[Span]:
    dotted = "." in word
    if dotted and len(word) >= 50 and _is_chain(word):
        yield at, at + len(word), "random"
        return
    if text[at - 1 : at] in ("|", "%") and 27 <= len(word) <= 42:
        digits = run(text[max(0, at - 18) : at - 1][::-1], 0, DIGITS)
        if digits in (15, 16):  # a Facebook app and its secret
            yield at - 1 - digits, at + len(word), "facebook"
            return
    if len(word) >= 20 and _hides(text, at, word, again):
        yield at, at + len(word) + run(text, at + len(word), "=", 2), "value"
        return
    begin = at
    for part in (
        word.encode("latin-1", "replace").translate(_PARTS_ONLY).decode("latin-1").split() if dotted else (word,)
    ):
        begin = text.find(part, begin)
        end = begin + len(part)
        if 32 <= len(part) <= 512 and is_random(part) and not _is_public(text, begin, end):
            yield begin, end, "random"
        begin = end
    back = _announced(text, low, at, word) if text[at - 1 : at] in _JOINED else -1
    if back >= 0:
        end = at + len(word)
        yield at - back, end + run(text, end, WIDE, 200), "value"


def _is_chain(word: str) -> bool:
    """Return whether the word is parts joined by dots, at least two of them random, as tokens of many issuers are."""
    random = [part for part in word.split(".") if len(part) >= 14 and "/" not in part[:1] and is_opaque(part)]
    return len(random) >= 2 and sum(map(len, random)) * 4 >= len(word) * 3


def _hides(text: str, at: int, word: str, again: Callable[[str], str]) -> bool:
    """Return whether the word is base64 or hexadecimal of a text that holds a secret."""
    if not word.lower().strip(HEX):
        if len(word) % 2 or len(word) < 32:
            return False
        plain = bytes.fromhex(word)
    else:
        if "." in word or "~" in word:
            return False
        plain = decoded(word)
    if len(plain) < 12 or not plain.isascii() or any(code < 32 and code not in (9, 10, 13) for code in plain):
        return False
    shown = plain.decode("ascii")
    lead = text[max(0, at - 24) : at].lower()
    if "auth" in lead and ":" in shown[1:-1] and " " not in shown:
        return True
    return again(shown) != shown


def _is_public(text: str, at: int, end: int) -> bool:
    if text.startswith(PUBLIC, at) or text[max(0, at - 10) : at].endswith(PUBLIC_BEFORE):
        return True
    lead = text[max(0, at - 96) : at]
    if any(mark in lead for mark in HASH_MARKS):
        return True
    return _is_wrapped(text, at, end) or _is_encoded_text(text[at:end])


def _is_wrapped(text: str, at: int, end: int) -> bool:
    """Return whether it is a line of a wrapped blob: a neighbouring line is as long and has no space either."""
    size = end - at
    if size < 60:
        return False
    after, before = text[end + 1 : end + 1 + size], text[max(0, at - 1 - size) : max(0, at - 1)]
    return any(len(line) == size and not line.lstrip(BASE64) for line in (after, before))


def _is_encoded_text(word: str) -> bool:
    """Return whether it is base64 of plain text. The caller has already searched that text for secrets."""
    plain = decoded(word)
    return bool(plain) and plain.isascii() and all(code >= 32 or code in (9, 10, 13) for code in plain)


# Words announced by a vendor's name or a word such as `key`

VENDORS = (
    "adafruit", "adobe", "adyen", "airtable", "alchemy", "algolia", "alibaba", "aliyun", "amplitude", "anthropic",
    "appdynamics", "artifactory", "asana", "atlassian", "auth0", "beamer", "binance", "bitbucket", "bitfinex", "bitly",
    "bittrex", "braintree", "brevo", "bugsnag", "clearbit", "clickup", "clojars", "cloudflare", "cloudinary",
    "codecov", "cohere", "coinbase", "confluence", "confluent", "contentful", "contribsys", "coveralls", "datadog",
    "dnkey", "discord", "docusign", "doppler", "drone", "dropbox", "dynatrace", "elevenlabs", "etherscan", "etsy",
    "facebook", "fastly", "finicity", "finnhub", "firebase", "flickr", "flutterwave", "foursquare", "freshbooks",
    "freshdesk", "gemini", "giphy", "gitter", "gocardless", "grafana", "harness", "heroku", "honeycomb", "hubspot",
    "infura", "instagram", "intercom", "jfrog", "jira", "klaviyo", "kraken", "kucoin", "launchdarkly", "linear",
    "linkedin", "linked_in", "linked-in", "lob", "looker", "mailchimp", "mailgun", "mailjet", "mandrill", "mapbox",
    "mattermost", "maxmind", "meraki", "messagebird", "message_bird", "message-bird", "mistral", "mixpanel", "moralis",
    "netlify", "newrelic", "new-relic", "new_relic", "nexmo", "nytimes", "newyorktimes", "new-york-times", "okta",
    "openai", "openweather", "opsgenie", "optimizely", "pagerduty", "paypal", "paystack", "pinecone", "plaid",
    "posthog", "postmark", "privateai", "private_ai", "private-ai", "pusher", "rapidapi", "razorpay", "recaptcha",
    "rollbar", "salesforce", "sendbird", "sendgrid", "sentry", "shippo", "shodan", "shopify", "slack", "snyk", "sonar",
    "soundcloud", "sourcegraph", "spotify", "square", "statuspage", "strava", "stripe", "sumo", "telegr", "tiktok",
    "trello", "travis", "twilio", "twitch", "twitter", "typeform", "vonage", "wakatime", "weatherapi", "xendit",
    "yandex", "zendesk", "zoom",
)  # fmt: skip
"""Services whose keys have no recognisable format, spelled as they are in variable names."""

_VENDORS_BY_HEAD: dict[str, list[str]] = {}
for _vendor in VENDORS:
    _VENDORS_BY_HEAD.setdefault(_vendor[:3], []).append(_vendor)

ANNOUNCING = ("key", "secret", "token", "auth", "cred", "passw", "seed", "salt", "hmac", "session", "webhook", "access")
"""Parts of any name that say the same of a longer value."""

HARMLESS = (
    "hash", "digest", "checksum", "commit", "revision", "etag", "fingerprint", "integrity", "cache", "public",
    "idempot", "primary", "foreign", "keyring", "version", "branch", "request", "correlation", "monkey", "keyboard",
    "keyword", "turkey", "author", "tokeniz", "tokens", "accessib", "release", "build", "image", "message", "filename",
)  # fmt: skip
"""What parts of names begin or end with that give a random value a harmless meaning."""

HARMLESS_PARTS = frozenset(
    (
        "sha", "sha1", "sha256", "rev", "ref", "pub", "sort", "partition", "keyid", "tree", "parent", "blob", "slug",
        "path", "file", "dir", "uri", "url", "trace", "span", "uuid", "guid", "event", "run", "tool", "test", "session",
        "sessionid", "head", "base", "node", "oid", "md5",
    )
)  # fmt: skip
"""Whole parts of names that do."""

_NAME = ALNUM + "_-. \t'\"`[]"
_JOINED = frozenset("=:>,|?(\"'` \t\\")
_TURNS = "=:>,|?(\"'` \t\\"


def _announced(text: str, low: str, at: int, word: str) -> int:
    """Return how many characters before the word its opaque value begins, if a name on the line announces it; else -1.

    A vendor's name announces any opaque value; `…key`, `…token` and similar names only a long one that is no hash.
    """
    lead = low[max(0, at - 120) : at]
    lead = lead[lead.rfind("\n") + 1 :]
    if text[at + len(word) : at + len(word) + 1] == "(" or lead.endswith(PUBLIC_BEFORE):
        return -1
    back = 0
    for _ in range(3):
        stem = lead.rstrip(_TURNS)
        joint = lead[len(stem) :]
        if not any(mark in joint for mark in "=:>,|(") or len(joint) > 16:
            return -1
        name = stem[len(stem.rstrip(_NAME)) :][-80:]
        if _names_vendor(text[at - back - len(joint) - len(name) : at], name):
            opaque = text[at - back : at] + word
            short = len(opaque) < 20 and not opaque.lower().strip(HEX)  # as versions and states are written
            if _is_harmless(name) or (short and not any(part in name for part in ANNOUNCING)):
                return -1
            return back if is_opaque(opaque, named=True) else -1
        if any(part in name for part in ANNOUNCING) and ("=" in joint or ":" in joint):
            return (
                back
                if not _is_harmless(name) and not name.rstrip("\"'` ").endswith("id") and _is_long_key(word)
                else -1
            )
        size = len(name) - len(name.rstrip(WORD))
        if not 0 < size < 14 or (joint != "=" and not (joint == ":" and name.isdigit())):
            return -1  # the sign is part of the value itself
        lead, back = stem[:-size], back + size + 1
    return -1


def _names_vendor(written: str, name: str) -> bool:
    """Return whether the name holds a vendor's in one case: `algoliaKey`, `ALGOLIA_KEY`; not `pusher` in `pushErr`."""
    for at in range(len(name) - 2):
        for vendor in _VENDORS_BY_HEAD.get(name[at : at + 3], ()):
            if not name.startswith(vendor, at):
                continue
            exact, before = written[at : at + len(vendor)], written[at - 1 : at] if at else ""
            if vendor == "lob" and before in ("g", "G", "b", "B"):
                continue  # `global`, `blob`
            if exact.islower() or exact.isupper() or exact[1:].islower():
                return True
    return False


def _is_harmless(name: str) -> bool:
    own = name.rstrip("\"'` ")
    own = own[max(own.rfind(" "), own.rfind('"'), own.rfind("'")) + 1 :]
    parts = own.replace("_", " ").replace("-", " ").replace(".", " ").split()
    return any(part in HARMLESS_PARTS or part.startswith(HARMLESS) or part.endswith(HARMLESS) for part in parts)


def _is_long_key(word: str) -> bool:
    core = word.rstrip("=")
    if not core.lower().strip(HEX + "-"):
        return len(core) >= 32 and "-" not in core and len(core) != 40
    return len(core) >= 16 and "/" not in core and "." not in core and is_opaque(word)

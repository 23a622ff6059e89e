"""The redaction rules as data: which texts begin a key, which names announce one, which values are none.

Rule names appear in the stored text (`[redacted:<rule>]`) and hold none of the announcing names themselves.
"""

from __future__ import annotations

DIGITS = "0123456789"
HEX = DIGITS + "abcdefABCDEF"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALNUM = DIGITS + UPPER + UPPER.lower()
WORD = ALNUM + "_-"
DOTTED = WORD + "."
BASE64 = ALNUM + "+/="
WIDE = DOTTED + "+/=~%"

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
    ("slack", "xoxa-", WORD, 20, "d"),
    ("slack", "xoxr-", WORD, 20, "d"),
    ("slack", "xoxs-", WORD, 20, "d"),
    ("slack", "xoxe-", WORD, 20, "d"),
    ("slack", "xoxe.", DOTTED, 20, "d"),
    ("slack", "xoxc-", WORD, 20, "d"),
    ("slack", "xoxd-", WIDE, 20, "d"),
    ("slack", "xapp-", WORD, 30, "d"),
    ("slack", "hooks.slack.com/services/", ALNUM + "/", 30, ""),
    ("discord", "discord.com/api/webhooks/", WORD + "/", 60, ""),
    ("discord", "discordapp.com/api/webhooks/", WORD + "/", 60, ""),
    ("stripe", "sk_live_", ALNUM, 16, ""),
    ("stripe", "sk_test_", ALNUM, 16, "d"),
    ("stripe", "rk_live_", ALNUM, 16, ""),
    ("stripe", "rk_test_", ALNUM, 16, "d"),
    ("stripe", "whsec_", BASE64, 24, "d"),
    ("npm", "npm_", ALNUM, 30, "bd"),
    ("pypi", "pypi-AgE", WORD, 40, ""),
    ("huggingface", "hf_", ALNUM, 30, "b"),
    ("huggingface", "api_org_", ALNUM, 30, "bd"),
    ("digitalocean", "dop_v1_", HEX, 40, ""),
    ("digitalocean", "doo_v1_", HEX, 40, ""),
    ("digitalocean", "dor_v1_", HEX, 40, ""),
    ("sendgrid", "SG.", DOTTED, 50, "bd"),
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
    ("terraform", ".atlasv1.", WORD, 40, ""),
    ("planetscale", "pscale_tkn_", DOTTED, 20, ""),
    ("planetscale", "pscale_pw_", DOTTED, 20, ""),
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
)  # fmt: skip
"""(rule, prefix, alphabet of what follows, least characters that follow, flags). Case matters.

Flags: `b` the prefix begins a word; `d` what follows holds a digit; `e` exactly that many characters follow.
Sources: the issuers' documentation of their key formats; base64 of the openings of PEM blocks and JSON.
"""

KEY_LENGTH = 16
"""No key above has fewer characters, prefix included."""

SPAN = 4_096
"""Most characters looked at after a prefix or a name: longer than any key, so that the work is bounded."""

STRONG, MEDIUM, WEAK = 3, 2, 1

NAMES: tuple[tuple[str, int], ...] = (
    ("password", STRONG),
    ("passwd", STRONG),
    ("passphrase", STRONG),
    ("mnemonic", STRONG),
    ("pwd", STRONG),
    ("_pass", STRONG),
    ("secret", MEDIUM),
    ("credential", MEDIUM),
    ("apikey", MEDIUM),
    ("api_key", MEDIUM),
    ("api-key", MEDIUM),
    ("accesskey", MEDIUM),
    ("access_key", MEDIUM),
    ("access-key", MEDIUM),
    ("accountkey", MEDIUM),
    ("account_key", MEDIUM),
    ("authkey", MEDIUM),
    ("auth_key", MEDIUM),
    ("encryption_key", MEDIUM),
    ("encryptionkey", MEDIUM),
    ("signing_key", MEDIUM),
    ("signingkey", MEDIUM),
    ("master_key", MEDIUM),
    ("private_key", MEDIUM),
    ("privatekey", MEDIUM),
    ("service_key", MEDIUM),
    ("subscription-key", MEDIUM),
    ("token", WEAK),
    ("_auth", WEAK),
    ("sig=", WEAK),
    ("signature=", WEAK),
)
"""(lower-case part of a name, how surely its value is secret). See `redact_values.is_secret` for what each asks."""

SPOKEN = ("passphrase", "mnemonic")
"""Names whose values may be words with spaces."""

ABOUT = (
    "algorithm", "attempts", "budget", "class", "column", "count", "description", "error", "expires", "expiry",
    "field", "file", "filename", "form", "format", "header", "help", "hint", "id", "index", "input", "label",
    "length", "limit", "max", "message", "min", "name", "names", "param", "path", "pattern", "placeholder",
    "policy", "prefix", "prompt", "ref", "regex", "reset", "rule", "rules", "size", "strategy", "text", "title",
    "ttl", "type", "uri", "url", "usage", "used", "validator", "validators", "version", "view",
)  # fmt: skip
"""Last parts of names that speak about a secret without holding it, e.g. `token_count`, `secretName`."""

PLACEHOLDERS = frozenset(
    (
        "changeit", "changeme", "default", "disabled", "dummy", "empty", "enabled", "example", "fake", "false",
        "foobar", "guest", "hidden", "hunter2?", "insert", "invalid", "masked", "missing", "mock", "mypassword",
        "mysecret", "nil", "none", "null", "optional", "passwd", "password", "placeholder", "postgres", "pass",
        "redacted", "removed", "replaceme", "required", "root", "sample", "secret", "string", "test", "testing",
        "token", "true", "undefined", "unset", "user", "value", "your", "yourpassword", "todo", "number", "boolean",
        "object", "str", "bool", "int", "bytes", "admin", "anything", "something", "wrong", "correct",
    )
)  # fmt: skip
"""Values, lower-case and without separators, that stand for a secret."""

STAND_INS = (
    "example", "placeholder", "changeme", "change-me", "change_me", "your-", "your_", "yourpass", "redacted",
    "replace-me", "replace_me", "xxxx", "****", "....", "••••", "…", "dummy", "insert-", "<", "todo",
)  # fmt: skip
"""Texts that make a value a stand-in wherever they occur in it."""

PUBLIC = (
    "AAAA", "sha1-", "sha256-", "sha384-", "sha512-", "_ZN", "_RN", "ssh-", "urn-", "MII",
    "toolu_", "srvtoolu_", "msg_", "req_", "call_", "resp_", "chatcmpl-",
)  # fmt: skip
"""Beginnings of long random-looking words that everybody may see: SSH public keys, certificates, integrity hashes,
symbols of compilers, ids of model requests."""

PUBLIC_BEFORE = ("h1:", "base64,", "SHA256:", "sha256:", "sha512:", "MD5:", "integrity=")
"""Texts right before such a word that say the same."""

HASH_MARKS = ("sha512-", "sha384-", "sha256-")
"""Texts a line or two before that make it the rest of a wrapped integrity hash."""

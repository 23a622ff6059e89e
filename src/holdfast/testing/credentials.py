"""Made-up credentials of every format that redaction knows, and texts that only look like one.

Nothing here is a credential: each is drawn from a seed when asked for, and its prefix is put together then, so that
no file of ours holds a string that a scanner of repositories would stop at.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from random import Random

DIGITS = "0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALNUM = DIGITS + UPPER + UPPER.lower()
HEX = DIGITS + "abcdef"
URL64 = ALNUM + "-_"
BASE64 = ALNUM + "+/"

PREFIXED: tuple[tuple[str, tuple[str, str], str, int, str], ...] = (
    ("AWS access key", ("AK", "IA"), UPPER + "234567", 16, ""),
    ("AWS temporary key", ("AS", "IA"), UPPER + "234567", 16, ""),
    ("GitHub personal", ("gh", "p_"), ALNUM, 36, ""),
    ("GitHub OAuth", ("gh", "o_"), ALNUM, 36, ""),
    ("GitHub user", ("gh", "u_"), ALNUM, 36, ""),
    ("GitHub server", ("gh", "s_"), ALNUM, 36, ""),
    ("GitHub refresh", ("gh", "r_"), ALNUM, 76, ""),
    ("GitHub fine-grained", ("github", "_pat_"), ALNUM, 82, ""),
    ("GitLab personal", ("gl", "pat-"), URL64, 20, ""),
    ("GitLab runner", ("gl", "rt-"), URL64, 20, ""),
    ("Anthropic", ("sk-", "ant-api03-"), URL64, 93, "AA"),
    ("OpenAI", ("s", "k-"), ALNUM, 48, ""),
    ("OpenAI project", ("sk-", "proj-"), URL64, 120, ""),
    ("OpenRouter", ("sk-or", "-v1-"), HEX, 64, ""),
    ("Google", ("AI", "za"), URL64, 35, ""),
    ("Google OAuth secret", ("GOC", "SPX-"), URL64, 28, ""),
    ("Slack bot", ("xo", "xb-"), DIGITS, 12, "-4711471147110-aB3dE5fG7hJ9kL1mN3pQ5rS7"),
    ("Slack user", ("xo", "xp-"), DIGITS, 12, "-4711471147110-0a1b2c3d4e5f60718293a4b5c6d7e8f9"),
    ("Stripe secret", ("sk_", "live_"), ALNUM, 24, ""),
    ("Stripe restricted", ("rk_", "live_"), ALNUM, 24, ""),
    ("Stripe webhook", ("wh", "sec_"), ALNUM, 32, ""),
    ("npm", ("np", "m_"), ALNUM, 36, ""),
    ("PyPI", ("pypi-", "AgEIcHlwaS5vcmc"), URL64, 120, ""),
    ("Hugging Face", ("h", "f_"), ALNUM, 34, ""),
    ("DigitalOcean", ("dop", "_v1_"), HEX, 64, ""),
    ("SendGrid", ("S", "G."), URL64, 22, ".aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9f"),
    ("Twilio", ("S", "K"), HEX, 32, ""),
    ("Shopify", ("shp", "at_"), HEX, 32, ""),
    ("Databricks", ("da", "pi"), HEX, 32, ""),
    ("Docker", ("dckr", "_pat_"), URL64, 27, ""),
    ("Linear", ("lin", "_api_"), ALNUM, 40, ""),
    ("Grafana", ("gl", "sa_"), ALNUM, 32, "_0a1b2c3d"),
    ("Vault", ("hv", "s."), URL64, 90, ""),
    ("Postman", ("PM", "AK-"), HEX, 24, "-0a1b2c3d4e5f60718293a4b5c6d7e8f9ab"),
    ("Groq", ("gs", "k_"), ALNUM, 52, ""),
    ("Atlassian", ("ATA", "TT3"), URL64, 180, "=0A1B2C3D"),
    ("age", ("AGE-SECRET", "-KEY-1"), UPPER + "234567", 58, ""),
    ("JSON web token", ("ey", "JhbGciOiJIUzI1NiJ9.eyJ"), URL64, 60, ".aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9f"),
    ("random word of 48", ("", ""), ALNUM, 48, ""),
    ("random word of 40", ("", ""), ALNUM, 40, ""),
    ("random word of 32", ("", ""), ALNUM, 32, ""),
)
"""(format, its prefix in two halves, alphabet, characters, tail)."""

CARRIERS: tuple[str, ...] = (
    "{}", "the key is {} and works", "KEY={}\n", "export X='{}'", '{{"x": "{}", "y": 1}}', "x: {}\r\ny: 2",
    'run("{}")', "a\\n{}\\nb", '{{\\"x\\":\\"{}\\"}}', "https://h.example.org/?k={}&n=1", "- `{}`,", "({})",
    "a%3D{}%26b", "key\t{}\tend", "+KEY={}", "<k>{}</k>",
)  # fmt: skip
"""Texts a key is found in; two braces stand for one."""

ASSIGNED: tuple[tuple[str, str, Callable[[Random], str]], ...] = (
    ("password in code", 'password = "{}"', lambda r: draw(r, ALNUM, 12) + "7"),
    ("password in JSON", '{{"user": "ann", "password": "{}"}}', lambda r: draw(r, ALNUM + "!#%", 14) + "7"),
    ("password in escaped JSON", '{{\\"password\\": \\"{}\\"}}', lambda r: draw(r, ALNUM, 14) + "7"),
    ("password in YAML", "db:\n  password: {}\n  port: 5432", lambda r: draw(r, ALNUM, 12) + "7"),
    ("password in .env", "DB_PASSWORD={}\nDEBUG=1", lambda r: draw(r, ALNUM, 10)),
    ("password in a log", "connecting user=ann password={} host=db", lambda r: draw(r, ALNUM, 10) + "7"),
    ("password as a flag", "mysqladmin --password {} status", lambda r: draw(r, ALNUM, 10) + "7"),
    ("password in XML", "<password>{}</password>", lambda r: draw(r, ALNUM, 10) + "7"),
    ("password in .netrc", "machine api.example.org login ann password {}", lambda r: draw(r, ALNUM, 10) + "7"),
    ("password in a DSN", "Server=db;User Id=sa;Password={};Encrypt=yes", lambda r: draw(r, ALNUM, 10) + "7"),
    ("passphrase", 'passphrase: "{}"', lambda r: "correct horse battery " + draw(r, ALNUM, 6)),
    ("secret key", "SECRET_KEY = '{}'", lambda r: draw(r, ALNUM + "!@#^&*(-_=+)", 50) + "a7"),
    ("client secret", "client_secret: {}", lambda r: draw(r, ALNUM, 30) + "7"),
    ("API key in code", 'api_key: str = "{}"', lambda r: draw(r, HEX, 32) + "a7"),
    ("API key in a header", "x-api-key: {}", lambda r: draw(r, ALNUM, 30) + "7"),
    ("API key in a subscript", 'os.environ["API_KEY"] = "{}"', lambda r: draw(r, ALNUM, 30) + "7"),
    ("token in JSON", '{{"access_token":"{}","expires_in":3600}}', lambda r: draw(r, URL64, 40) + "a7"),
    ("token in a query", "GET /x?token={}&page=2", lambda r: draw(r, ALNUM, 32) + "7"),
    ("AWS secret", "aws_secret_access_key = {}", lambda r: draw(r, BASE64, 38) + "a7"),
    ("Azure account key", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};E=y",
     lambda r: draw(r, BASE64, 86) + "=="),
    ("Azure signature", "https://x.example.org/c?sv=2024-01-01&sig={}", lambda r: draw(r, ALNUM, 43) + "7%3D"),
    ("login in a URL", "postgresql://ann:{}@db.example.org:5432/app", lambda r: draw(r, ALNUM, 12)),
    ("login in a git remote", "origin  https://ann:{}@git.example.org/a/b.git (push)", lambda r: draw(r, ALNUM, 20)),
    ("login for curl", "curl -s -u ann:{} https://api.example.org", lambda r: draw(r, ALNUM, 12)),
    ("bearer", "Authorization: Bearer {}", lambda r: draw(r, ALNUM, 32) + "7"),
    ("bearer for curl", "curl -H 'authorization: bearer {}' https://x", lambda r: draw(r, ALNUM, 32) + "7"),
    ("basic", "Authorization: Basic {}", lambda r: b64encode(b"ann:" + draw(r, ALNUM, 14).encode()).decode()),
    ("scheme of its own", '"Authorization": "ApiKey {}"', lambda r: draw(r, ALNUM, 24) + "7"),
    ("cookie", "Cookie: sid={}; theme=dark", lambda r: draw(r, ALNUM, 24)),
    ("set cookie", "set-cookie: session={}; Path=/; HttpOnly", lambda r: draw(r, URL64, 24)),
)  # fmt: skip
"""(format, the text with a place for the secret, how it is drawn)."""

LOOK_ALIKES: tuple[str, ...] = (
    "commit 3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "id: 019ab7c2-7d1e-7c33-8f52-0d5f6a7b8c9d",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
    "example.org/x v1.2.3 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl ann@host",
    "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8 (RSA)",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "aGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0IG9mIGJhc2U2NA==",
    "password = changeme", 'password="<your password>"', "PASSWORD=${DB_PASSWORD}", "password: '********'",
    "password = getpass.getpass()", "def login(user, password: str = None) -> Token:",
    'raise ValueError("password must not be empty")', "self.password = password",
    "password=form.cleaned_data['password']",
    '"password": "string"', "<label>Password:</label>", "password_field_name = 'new_password'",
    "token = tokens[index]", "max_tokens: 16384", "token_type: bearer", '"tokenizer": "acme-labs/all-MiniLM-L6-v2"',
    "for token in self.lexer.tokens(source_text_without_comments):", "csrf_token = get_token(request)",
    "secretName: my-app-secret-2024", "secrets: inherit", "SECRET_KEY = os.environ['SECRET_KEY']",
    "api_key=api_key", "apiKey: process.env.API_KEY", "PWD=/home/ann/projects/app2", "OLDPWD=/srv/app1",
    "src/holdfast/service/VeryLongFolderName2/AnotherLongName3/Component4.tsx",
    "/usr/lib/python3.11/site-packages/numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so",
    "shouldReturnHttp404WhenUserIsNotFoundInDatabaseV2", "TEST_CASE_NAME_WITH_MANY_WORDS_AND_2_NUMBERS_42",
    "_ZN4core3fmt9Formatter15debug_lower_hex17h0a1b2c3d4e5f6071E", "task-management-for-distributed-teams-2024",
    "sk-learn-compatible-estimator", "https://github.com/acme/web/blob/main/README.md#L10-L20",
    "https://user@example.org/path", "git@github.com:acme/web.git", "redis://localhost:6379/0",
    "Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "the Bearer scheme is described in RFC 6750",
    "basic authentication is off", "cookie: a small piece of data", "document.cookie", "accept-cookie-banner=true",
    "postgres://user:password@localhost/db", "0x52908400098527886E0F7030069857D2E4169EE7",
    "if '-----BEGIN PRIVATE KEY-----' in text:\n    return True", "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\n",
    "AKIA is how access keys begin", "hf_hub_download(repo_id='acme/model-v2-large-uncased')",
    "npm_config_registry=https://registry.example.org/", "npm_package_dependencies_typescript_version",
)  # fmt: skip
"""Texts that redaction leaves alone."""


def draw(random: Random, alphabet: str, size: int) -> str:
    """That many characters, the first of them a letter or a digit and at least one of them a digit where there are."""
    word = "".join(random.choice(alphabet) for _ in range(size))
    edges = [char for char in alphabet if char.isalnum()]
    return random.choice(edges) + word[1:-1] + random.choice([char for char in edges if char in "234567"] or edges)


def iter_keys(seed: int, each: int) -> Iterator[tuple[str, str, str]]:
    """(format, text, the key in it) of every format with a prefix, `each` of them, in changing texts."""
    random = Random(seed)
    for name, halves, alphabet, size, tail in PREFIXED:
        for turn in range(each):
            key = "".join(halves) + draw(random, alphabet, size) + tail
            yield name, CARRIERS[turn % len(CARRIERS)].format(key), key


def iter_assigned(seed: int, each: int) -> Iterator[tuple[str, str, str]]:
    """(format, text, the secret in it) of every way a name or a header announces one, `each` of them."""
    random = Random(seed)
    for name, text, make in ASSIGNED:
        for _ in range(each):
            secret = make(random)
            yield name, text.format(secret), secret


def make_pem(seed: int, kind: str = "RSA ", lines: int = 20, newline: str = "\n") -> str:
    """A private key block of that kind and number of lines."""
    random = Random(seed)
    body = ["".join(random.choice(BASE64) for _ in range(64)) for _ in range(lines)]
    mark = kind + "PRIVATE" + " KEY-----"
    return newline.join(["-----" + "BEGIN " + mark, *body, "-----" + "END " + mark])

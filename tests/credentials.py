"""Made-up credentials of every format that redaction knows, and texts that only look like one.

Nothing here is a real credential. Each is drawn from a seed at run time, and its prefix is put together at run time,
so that no file of ours contains a string that a repository scanner would report.
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
"""Texts that contain a key; doubled braces stand for single ones."""

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
"""(format, the text with a place for the secret, how the secret is drawn)."""

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
    "if '-----BEGIN PRIVATE KEY-----' in text:\n    return True",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\n",
    "AKIA is how access keys begin", "hf_hub_download(repo_id='acme/model-v2-large-uncased')",
    "npm_config_registry=https://registry.example.org/", "npm_package_dependencies_typescript_version",
)  # fmt: skip
"""Texts that redaction must not change."""


def draw(random: Random, alphabet: str, size: int) -> str:
    """Return that many characters; the first is a letter or digit, the last a digit if the alphabet has digits."""
    word = "".join(random.choice(alphabet) for _ in range(size))
    edges = [char for char in alphabet if char.isalnum()]
    return random.choice(edges) + word[1:-1] + random.choice([char for char in edges if char in "234567"] or edges)


def iter_keys(seed: int, each: int) -> Iterator[tuple[str, str, str]]:
    """Yield (format, text, the key in it) for every format with a prefix, `each` times, in varying texts."""
    random = Random(seed)
    for name, halves, alphabet, size, tail in PREFIXED:
        for turn in range(each):
            key = "".join(halves) + draw(random, alphabet, size) + tail
            yield name, CARRIERS[turn % len(CARRIERS)].format(key), key


def iter_assigned(seed: int, each: int) -> Iterator[tuple[str, str, str]]:
    """Yield (format, text, the secret in it) for every name or header that announces one, `each` times."""
    random = Random(seed)
    for name, text, make in ASSIGNED:
        for _ in range(each):
            secret = make(random)
            yield name, text.format(secret), secret


def make_pem(seed: int, kind: str = "RSA ", lines: int = 20, newline: str = "\n") -> str:
    """Return a private key block of that kind and number of lines."""
    random = Random(seed)
    body = ["".join(random.choice(BASE64) for _ in range(64)) for _ in range(lines)]
    mark = kind + "PRIVATE" + " KEY-----"
    return newline.join(["-----" + "BEGIN " + mark, *body, "-----" + "END " + mark])


FORMS: tuple[tuple[str, str], ...] = (
    # headers, cookies, queries
    ("header", "X-Api-Key: {t}"), ("header", "Authorization: Token {t}"), ("header", "curl -H 'X-Auth-Token: {t}' u"),
    ("header", "Cookie: sessionid={t}; a=b"), ("header", "GET /v1?api_key={t}&page=2"),
    ("header", "?access_token={t}"),
    ("header", "Proxy-Authorization: Bearer {t}"), ("header", "X-Vault-Token: {t}"), ("header", "PRIVATE-TOKEN: {t}"),
    # URLs
    ("url", "postgres://app:{p}@db.internal:5432/app"), ("url", "redis://:{p}@cache:6379/0"),
    ("url", "amqp://u:{p}@mq/vhost"), ("url", "https://{t}@git.acme.dev/a/b.git"),
    ("url", "smtp://a%40b.c:{p}@mail:587"),
    ("url", "mongodb+srv://u:{p}@c0.acme.net/x"), ("url", "https://{h}@o1.ingest.sentry.io/42"),
    # environment
    ("environment", "DB_PASSWORD={p}"), ("environment", "export DB_PASS='{p}'"), ("environment", "SMTP_PW={p}"),
    ("environment", "GITHUB_PAT={t}"), ("environment", "APP_SALT={t}"), ("environment", "ADMIN_CREDS={p}"),
    ("environment", "JWT_KEY={t}"), ("environment", "APP_KEY=base64:{t}"), ("environment", "set -x DB_PASSWORD {p}"),
    ("environment", "SECRET_KEY_BASE={h}{h}"), ("environment", "setx API_TOKEN {t}"),
    ("environment", "ENV DB_PASSWORD {p}"),
    ("environment", "ARG NPM_TOKEN={t}"), ("environment", "$env:DB_PASSWORD = '{p}'"),
    ("environment", "DB_PASSWORD {p}"),
    ("environment", "REDIS_AUTH={p}"), ("environment", "ENCRYPTION_KEY={h}"),
    ("environment", "PGPASSWORD={p} psql -h db"),
    # JSON, YAML, TOML, SQL, code
    ("code", '{{"pw": "{p}"}}'), ("code", '{{"auth": {{"user": "ann", "pass": "{p}"}}}}'),
    ("code", "passwords: ['{p}', 'x']"),
    ("code", "password:\n  {p}\n"), ("code", "password: |\n  {p}\nport: 1"), ("code", "secret: >-\n  {t}\nport: 1"),
    ("code", "passwords:\n  - {p}\n  - other\n"), ("code", "- name: DB_PASSWORD\n  value: {p}\n"),
    ("code", '{{"name": "DB_PASSWORD", "value": "{p}"}}'), ("code", '<add key="Password" value="{p}" />'),
    ("code", 'variable "db_password" {{\n  default = "{p}"\n}}'), ("code", "auth=('ann', '{p}')"),
    ("code", "CREATE USER ann IDENTIFIED BY '{p}';"), ("code", "ALTER ROLE ann WITH PASSWORD '{p}';"),
    ("code", "SET PASSWORD = PASSWORD('{p}');"), ("code", "define('DB_PASSWORD', '{p}');"),
    ("code", 'props.setProperty("password", "{p}");'), ("code", '#define DB_PASSWORD "{p}"'),
    ("code", 'var password string = "{p}"'), ("code", "password := \"{p}\""), ("code", "dbPass = '{p}'"),
    ("code", "conn.setPassword(\"{p}\")"), ("code", 'password = "{p1}" + "{p2}"'), ("code", "db.password={p}"),
    ("code", "<password>{p}</password>"), ("code", "spring.datasource.password={p}"), ("code", "password => '{p}',"),
    ("code", "requirepass {p}"), ("code", "psk=\"{p}\""), ("code", "login ann password {p}"),
    ("code", "secret_token: '{t}'"),
    ("code", "token = '{t}'"), ("code", "signing_key: {h}"), ("code", "val apiKey = \"{h}\""),
    ("code", "'client-secret': '{t}'"),
    ("code", "CREATE USER 'a'@'%' IDENTIFIED WITH mysql_native_password BY '{p}';"), ("code", "password = '''{p}'''"),
    # command flags
    ("flag", "mysql -u root -p{p} app"), ("flag", "mysql -u root -p {p}"),
    ("flag", "mysqldump -uroot -p'{p}' app > a.sql"),
    ("flag", "sshpass -p {p} ssh ann@host"), ("flag", "sshpass -p '{p}' ssh ann@host"),
    ("flag", "docker login -u ann -p {p} r.io"),
    ("flag", "podman login -u ann -p {p}"), ("flag", "redis-cli -h db -a {p} ping"),
    ("flag", "mongosh -u ann -p {p} db"),
    ("flag", "ldapsearch -D cn=a -w {p} -b dc=x"), ("flag", "zip -P {p} a.zip b"), ("flag", "unzip -P {p} a.zip"),
    ("flag", "7z x -p{p} a.7z"), ("flag", "openssl enc -aes-256-cbc -pass pass:{p} -in a"),
    ("flag", "openssl rsa -passin pass:{p}"),
    ("flag", "openssl enc -d -k {p} -in a"), ("flag", "vault login {t}"), ("flag", "echo {p} | sudo -S apt update"),
    ("flag", "echo '{p}' | docker login --password-stdin"), ("flag", "aws configure set aws_secret_access_key {t}"),
    ("flag", "npm config set //packages.example.org/:_authToken {t}"), ("flag", "smbclient //h/s -U ann%{p}"),
    ("flag", "tool --token {p}"), ("flag", "tool --token={p}"), ("flag", "tool --api-key {p}"),
    ("flag", "tool --key {t}"),
    ("flag", "tool --password {p}"), ("flag", "tool -password {p}"), ("flag", "tool --secret={p}"),
    ("flag", "tool --pass {p}"),
    ("flag", "htpasswd -b .htpasswd ann {p}"), ("flag", "sqlcmd -S h -U sa -P {p}"),
    ("flag", "keytool -list -storepass {p}"),
    ("flag", "gpg --batch --passphrase {p} -d a.gpg"), ("flag", "ssh-keygen -t ed25519 -N {p} -f k"),
    ("flag", "curl -u ann:{p} https://h"), ("flag", "curl -u 'ann:{p}' https://h"),
    ("flag", "wget --password={p} https://h"),
    ("flag", "rabbitmqctl add_user ann {p}"), ("flag", "twine upload -u a -p {p} dist/*"),
    ("flag", "helm registry login -u a -p {p} r.io"),
    ("flag", "oc login --token={t}"), ("flag", "az login --service-principal -u a -p {p} --tenant t"),
    ("flag", "snmpwalk -v3 -A {p} -u a h"), ("flag", "echo 'ann:{p}' | chpasswd"), ("flag", "net user ann {p} /add"),
    ("flag", "mosquitto_pub -u a -P {p} -t x"), ("flag", "cqlsh -u a -p {p} h"), ("flag", "rdesktop -u a -p {p} h"),
    ("flag", "xfreerdp /u:a /p:{p} /v:h"), ("flag", "ansible-playbook s.yml -e 'ansible_password={p}'"),
    ("flag", "gh auth login --with-token <<< {t}"), ("flag", "psql 'host=db password={p}'"),
    ("flag", "kubectl create secret generic s --from-literal=password={p}"),
    ("flag", "http -a ann:{p} GET h"), ("flag", "bash -c \"mysql -uroot -p{p}\""),
    ("flag", "skopeo copy --src-creds ann:{p} a b"),
    ("flag", "lftp -u ann,{p} h"), ("flag", "wpa_passphrase home {p}"), ("flag", "influx -username a -password {p}"),
    # Kubernetes, Docker
    ("manifest", "kind: Secret\nmetadata:\n  name: x\nstringData:\n  conn: {p}\n"),
    ("manifest", "kind: Secret\ndata:\n  password: {b}\n"),
    ("manifest", "kind: Secret\ndata:\n  conn: {b}\ntype: Opaque\n"),
    ("manifest", '{{"auths": {{"r.io": {{"auth": "{ub}"}}}}}}'), ("manifest", "DATABASE_URL: {cb}"),
    ("manifest", '{{"kind": "Secret", "data": {{"conn": "{b}"}}}}'),
    ("manifest", "env:\n  - name: API_TOKEN\n    value: \"{t}\"\n"),
    ("manifest", "environment:\n  POSTGRES_PASSWORD: {p}\n"),
    ("manifest", "environment:\n  - POSTGRES_PASSWORD={p}\n"),
    # cut, joined, encoded
    ("broken", "{g1}\u200b{g2}"), ("broken", "{g1}\x1b[0m{g2}"), ("broken", '"{g1}" + "{g2}"'),
    ("broken", "'{g1}' '{g2}'"),
    ("broken", "token {g1}\n{g2}\n"), ("broken", "x {gb} y"), ("broken", "x {gh} y"),
    ("broken", '"{g1}" \\\n    "{g2}"'),
    ("broken", "f-{g}"), ("broken", "a_{g}"), ("broken", "key=\x1b[32m{g}\x1b[0m"),
    # sentences, tables, forms
    ("sentence", "the password is {p}"), ("sentence", "The password for ann is {p}."), ("sentence", "password: {p}"),
    ("sentence", "please use the password `{p}` there"), ("sentence", "set the password to {p}"),
    ("sentence", "Das Passwort lautet {p}"),
    ("sentence", "Passwort: {p}"), ("sentence", "la contraseña es {p}"), ("sentence", "mot de passe : {p}"),
    ("sentence", "a senha é {p}"),
    ("sentence", "пароль: {p}"), ("sentence", "密码: {p}"), ("sentence", "パスワード\uff1a{p}"),
    ("sentence", "wachtwoord is {p}"),
    ("sentence", "| user | password |\n|---|---|\n| ann | {p} |\n"), ("sentence", "| password | {p} |"),
    ("sentence", "user,password\nann,{p}\n"), ("sentence", "user\tpassword\nann\t{p}\n"),
    ("sentence", '<input type="password" name="pw" value="{p}">'),
    ("sentence", "login is ann and the password is {p}"),
    ("sentence", "my pw is {p}"), ("sentence", "Password - {p}"), ("sentence", "**Password:** {p}"),
    ("sentence", "password = {p}"),
    # others
    ("other", "db.internal:5432:app:ann:{p}"), ("other", "ann:$6$saltsalt${h}{h}:19000:0"),
    ("other", "$2b$12${t}{t2}"),
    ("other", "machine h login a password {p}"), ("other", "{pem_tail}"), ("other", "{pem_middle}"),
)  # fmt: skip
"""(kind, a text with a place for the secret): the ways in which people and programs write secrets."""


def iter_forms(seed: int, each: int) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield (kind, form, text, texts that redaction must remove) for every form, `each` times with other secrets."""
    random = Random(seed)
    for kind, form in FORMS:
        for _ in range(each):
            yield kind, form, *_fill(form, random)


def _fill(form: str, random: Random) -> tuple[str, tuple[str, ...]]:
    password = random.choice((draw_password, draw_words))(random)
    token, more, digest = draw(random, ALNUM, 24) + "7", draw(random, ALNUM, 28), draw(random, HEX, 30) + "a7"
    key = "gh" + "p_" + draw(random, ALNUM, 36)
    half = len(password) // 2
    pem = make_pem(random.randrange(10**6)).split("\n")
    values = {
        "p": password, "p1": password[:half], "p2": password[half:], "t": token, "t2": more, "h": digest,
        "b": b64encode(password.encode()).decode(), "ub": b64encode(f"ann:{password}".encode()).decode(),
        "cb": b64encode(f"postgres://a:{password}@db/x".encode()).decode(), "g": key, "g1": key[:18], "g2": key[18:],
        "gb": b64encode(f"key={key}".encode()).decode(), "gh": key.encode().hex(),
        "pem_tail": "\n".join(pem[8:]), "pem_middle": "\n".join(pem[4:12]),
    }  # fmt: skip
    used = [name for name in values if "{" + name + "}" in form]
    wholes = [values[name] for name in used if name not in ("pem_tail", "pem_middle", "p1")]
    gone = tuple(value[-12:] for value in wholes) or (pem[9],)
    return form.format(**values), gone


def draw_password(random: Random) -> str:
    """Return a password as programs draw them: 12 letters and digits, and one sign."""
    return draw(random, ALNUM, 7) + random.choice("!#%+=*") + draw(random, ALNUM, 5)


def draw_words(random: Random) -> str:
    """Return a password as people choose them: one or two words and a number."""
    words = ("sunrise", "Tiger", "hunter", "walnut", "Orchid", "marble", "falcon", "Winter", "copper")
    return random.choice(words) + random.choice(("", random.choice(words))) + str(random.randint(2, 9_999))


QUIET: tuple[str, ...] = (
    "    --- PASS: TestIsTargetPushDeadlineError/nil_error (0.00s)",
    "pushErr := p.TargetPusher.PushPack(ctx, cmds, packReader)",
    "s.handleUploadPackV2LSRefs(w, req, body)",
    't.Errorf("BasicAuth not applied: ok=%v user=%q pass=%q", ok, user, pass)',
    '{Path: "src/auth.go", Content: authV1},',
    '"$ref": "#/definitions/SessionKeysAbpV10x"',
    'auth = base64.b64encode(f"{user}:{password}".encode())',
    "github.com/posthog/posthog-go v1.10.0 h1:wfoy7Jfb4LigCoHYyMZoiJmmEoCLOkSaYfDxM/NtCqY=",
    "// Filter to only auto-commit checkpoints (identified by strategy in metadata)",
    "HOME='/home/ann/work/_temp/f6b65fc6-830e-483a-b0d1-61e57eca026c' before the step",
    "private_key: x25519.X25519PrivateKey", "the password is required", "the password is wrong", "Password: ",
    "password reset link sent to ann", "ssh -p 2222 ann@host", "docker run -p 8080:80 web", "mkdir -p build/output",
    "mysql -u root -p app < dump.sql", "cp -p a1 b2", "zip -r release-2.zip src", "curl -u $LOGIN https://h",
    "sentry_release = 3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c", "cache-key: node-3f2a1b4c5d6e7f8091a2b3c4d5e6f708",
    '"destinationSessionId": "st-b1c2d3e4f5g6a7h8"', "SENTRY_RELEASE=3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c",
    "uses: cloudflare/wrangler-action@3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c",
    "kind: Deployment\ndata:\n  a: b1c2d3\n",
    "| user | password |\n|---|---|\n| string | required |\n", "user,password\nann,required\n",
    "sessions: 128-bit ids; passwords are hashed with argon2id", "the token is sha256 of the body",
    "def set_password(self, raw_password):", '["username", "password", "email"]', "--password-file /run/secrets/db",
    "--key-file tls2.key", "vault login -method=oidc", "pass --clip web/mail", "echo done | tee log1.txt",
    "    'print',\n    'pwd',\n    'read',\n    'read4b',\n", '"AWS::DynamoDB::GlobalTable": "06d89d7f61a3db96",',
    "the result may be an array, pass `check_0d=True` then", "5 passed, 2 failed in 3.21s",
    "pat = re.compile(r'[a-z]+')", "salt: the condiment", "seed = 42", "auth: basic",
    "key: value1", "pw2 = pw1", "compass: north2", "passing: true", "bypass 12345678",
)  # fmt: skip
"""Lines that agents meet and that redaction must not change."""

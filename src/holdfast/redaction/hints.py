"""Says cheaply whether a text can hold a secret at all; most texts cannot.

The searches are loaded and run only if one of these conditions is met.
"""

from __future__ import annotations

from holdfast.redaction.alphabets import ALNUM, DIGITS, DOTTED, MEDIUM, STRONG, WEAK, WORD

NAMES: tuple[tuple[str, int], ...] = (
    ("password", STRONG),
    ("passwd", STRONG),
    ("passphrase", STRONG),
    ("mnemonic", STRONG),
    ("pwd", STRONG),
    ("_pass", STRONG),
    ("secret", MEDIUM),
    ("credential", MEDIUM),
    ("key", MEDIUM),
    ("token", WEAK),
    ("_auth", WEAK),
    ("sig=", WEAK),
    ("signature=", WEAK),
)
"""(lower-case part of a name, how surely its value is secret). See `values.is_secret` for what each asks."""

WORDS: dict[str, int] = {
    "pw": STRONG, "pass": STRONG, "pswd": STRONG, "passcode": STRONG, "requirepass": STRONG, "masterauth": STRONG,
    "psk": STRONG, "pat": WEAK, "cred": MEDIUM, "creds": MEDIUM, "dsn": WEAK, "salt": MEDIUM, "pepper": MEDIUM,
    "auth": MEDIUM, "otp": MEDIUM, "jwt": WEAK, "sid": WEAK, "seed": WEAK,
    "passwort": STRONG, "kennwort": STRONG, "passwörter": STRONG, "contraseña": STRONG, "contrasena": STRONG,
    "clave": STRONG, "senha": STRONG, "mdp": STRONG, "passe": STRONG, "parola": STRONG, "wachtwoord": STRONG,
    "haslo": STRONG, "hasło": STRONG, "heslo": STRONG, "salasana": STRONG, "lösenord": STRONG, "losenord": STRONG,
    "passord": STRONG, "adgangskode": STRONG, "kodeord": STRONG, "jelszó": STRONG, "jelszo": STRONG, "lozinka": STRONG,
    "şifre": STRONG, "sifre": STRONG, "parool": STRONG, "slaptažodis": STRONG, "пароль": STRONG, "парола": STRONG,
    "密码": STRONG, "密碼": STRONG, "口令": STRONG, "パスワード": STRONG, "비밀번호": STRONG, "암호": STRONG,
    "κωδικός": STRONG, "סיסמה": STRONG, "كلمة المرور": STRONG, "รหัสผ่าน": STRONG, "mật khẩu": STRONG,
}  # fmt: skip
"""Names, in many languages, that announce a secret only as separate words or as parts between `_` and `-`."""

FOREIGN = tuple(name for name in WORDS if not name.isascii())
ASCII_WORDS = frozenset(name.encode() for name in WORDS if name.isascii())

HUMPS = ("Pass", "Pw", "Psk")
"""Short names that count as a part of a longer one only with a capital: `dbPass`, `smtpPw`."""

HEADERS = ("bearer", "basic", "authorization", "cookie", "curl")
"""Words, in lower case, that announce a credential in a header or a login of curl."""

PLAIN_KEYS = (
    ("gitlab", "_gitlab_session=", ALNUM, 32, ""),
    ("huggingface", "hf_", ALNUM, 30, "b"),
    ("huggingface", "api_org_", ALNUM, 30, "b"),
    ("duffel", "duffel_test_", WORD + "=", 40, ""),
    ("duffel", "duffel_live_", WORD + "=", 40, ""),
    ("sendgrid", "SG.", DOTTED + "=", 50, "bd"),
)
"""Keys that `long_words` may miss: only small letters, or a `=` near their beginning."""

KEY_LENGTH = 13
"""No key above has fewer characters, prefix included."""

PRIVATE = "<private>"
"""Begins a private span."""

BEGIN, END = "-----BEGIN ", "-----END "
"""The marks that begin and end a PEM block."""

PROGRAMS: dict[str, str] = {
    "mysql": "-p*", "mysqldump": "-p*", "mysqladmin": "-p*", "mysqlimport": "-p*", "mysqlshow": "-p*",
    "mysqlcheck": "-p*", "mysqlsh": "-p*", "mycli": "-p*", "mariadb": "-p*", "mytop": "-p*", "xtrabackup": "-p*",
    "sshpass": "-p*", "mongo": "-p", "mongosh": "-p", "mongodump": "-p", "mongorestore": "-p", "mongoexport": "-p",
    "mongoimport": "-p", "cqlsh": "-p", "redis": "-a", "keydb": "-a", "valkey": "-a", "docker": "-p", "podman": "-p",
    "buildah": "-p", "skopeo": "-p", "nerdctl": "-p", "helm": "-p", "crane": "-p", "oras": "-p", "oc": "-p -t",
    "cf": "-p", "az": "-p", "twine": "-p", "ldapsearch": "-w", "ldapadd": "-w", "ldapmodify": "-w",
    "ldapdelete": "-w",
    "ldapwhoami": "-w", "ldappasswd": "-w -s -a", "zip": "-P*", "unzip": "-P*", "7z": "-p*", "7za": "-p*",
    "7zz": "-p*",
    "rar": "-p* -hp*", "unrar": "-p*", "sqlcmd": "-P*", "bcp": "-P*", "osql": "-P*", "isql": "-P*", "tsql": "-P*",
    "ssh-keygen": "-N -P", "rdesktop": "-p*", "xfreerdp": "/p:*", "wfreerdp": "/p:*", "ipmitool": "-P",
    "cadaver": "-p",
    "mosquitto_pub": "-P", "mosquitto_sub": "-P", "rabbitmqadmin": "-p", "couchbase": "-p", "cbq": "-p", "lftp": "-u",
    "ncftp": "-p", "ncftpput": "-p", "smbclient": "-U%", "smbmap": "-p", "winexe": "-U%", "rpcclient": "-U%",
    "net": "-U%", "mount": "-o=", "crackmapexec": "-p", "netexec": "-p", "evil": "-p", "hydra": "-p", "useradd": "-p",
    "usermod": "-p", "openssl": "-k -K -pass -passin -passout",
    "keytool": "-storepass -keypass -srcstorepass -deststorepass",
    "jarsigner": "-storepass -keypass", "apksigner": "--ks-pass --key-pass", "curl": "-u: -U:", "http": "-a:",
    "https": "-a:", "wget": "", "snmpwalk": "-A -X -c", "snmpget": "-A -X -c", "kadmin": "-w -p*",
    "influx": "-password",
    "svn": "", "ftp": "", "htpasswd": "", "vault": "", "aws": "", "npm": "", "gh": "", "glab": "", "heroku": "",
    "sqlplus": "", "wpa_passphrase": "", "rabbitmqctl": "", "nmcli": "", "iwconfig": "", "rclone": "", "psql": "",
    "gpg": "", "chpasswd": "", "sudo": "", "redis-cli": "-a", "doctl": "-t", "flyctl": "-t",
    "fly": "-t", "cloudflared": "", "ansible": "", "pdftk": "", "qpdf": "", "borg": "", "restic": "", "su": "",
    "stdin": "",
}  # fmt: skip
"""Programs and their flags that take a secret. `-p*` may be glued to it, `-U%` puts it after a `%`, `-u:` after a `:`.
"""

COLUMNS = ("password", "passwd", "passwort", "pwd", "pass", "secret", "token", "contraseña", "senha", "kennwort")
"""Headings of columns that hold secrets."""


def first_part(name: str) -> bytes:
    """The first word of a name, as it stands among the words of a text: `redis` of `redis-cli`."""
    return name.replace("_", "-").partition("-")[0].encode()


TRIGGERS = frozenset(map(first_part, (*PROGRAMS, *COLUMNS, "stringdata", "identified"))) | {b"5432", b"3306"}
"""Words without which `forms` has nothing to look for."""

HINTS = (
    " -",
    "pass:",
    " login",
    " user",
    "unseal",
    "kind",
    ":5432:",
    ":3306:",
    "authtoken",
    "|",
    ",",
    "\t",
    "/p:",
    " by ",
    " add_user",
    "change_password",
    "authenticate_user",
    "wpa_",
    "_pw ",
    " key ",
)
"""`forms` also needs one of these."""

_KEEPS = frozenset((ALNUM + "_+/.-~").encode())
_WORDS_ONLY = bytes(code if code in _KEEPS else 32 for code in range(256))
"""Blanks for all bytes that no key has."""
_DIGITS = DIGITS.encode()


def may_name_a_value(text: str, low: str, parts: frozenset[bytes]) -> bool:
    """Return whether `names.find_values` has anything to look at; `parts` are the words of ASCII letters and digits."""
    return (
        any(name in low for name, _ in NAMES)
        or any(name in text for name in HUMPS)
        or not parts.isdisjoint(ASCII_WORDS)
        or (not text.isascii() and any(name in low for name in FOREIGN))
    )


def may_hold_a_header(low: str) -> bool:
    """Return whether `names.find_headers` has anything to look at."""
    return any(name in low for name in HEADERS)


def may_hold_a_key(text: str, long: list[str]) -> bool:
    """Return whether `keys.find_keys` has anything to look at; `long` are the text's `long_words`."""
    return bool(long) or "$" in text or "{SSHA" in text or any(prefix in text for _, prefix, *_ in PLAIN_KEYS)


def may_hold_a_form(low: str, parts: frozenset[bytes]) -> bool:
    """Return whether `forms.find_forms` has anything to look at."""
    return not parts.isdisjoint(TRIGGERS) and any(hint in low for hint in HINTS)


def long_words(text: str) -> list[str]:
    """Return the words of `KEY_LENGTH` characters or more that may be keys; most are identifiers and are left out."""
    words = text.encode("latin-1", "replace").translate(_WORDS_ONLY).split()
    return [word.decode("latin-1") for word in words if len(word) >= KEY_LENGTH and _may_be_key(word)]


def _may_be_key(word: bytes) -> bool:
    if word.translate(None, _DIGITS) != word:
        return True
    if word.islower():
        return False
    return b"_" not in word if word.isupper() else b"-" in word or b"_" in word

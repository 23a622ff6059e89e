"""The tables of redaction: the forms of keys, the names of secrets, and what only looks like one."""

from __future__ import annotations

DIGITS = "0123456789"
HEX = DIGITS + "abcdefABCDEF"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SMALL = "abcdefghijklmnopqrstuvwxyz"
CAPITALS = UPPER + DIGITS
ALNUM = DIGITS + UPPER + SMALL
WORD = ALNUM + "_-"
DOTTED = WORD + "."
BASE64 = ALNUM + "+/="
WIDE = DOTTED + "+/=~%"

STRONG, MEDIUM, WEAK = 3, 2, 1
"""How surely a name's value is secret: see `values.is_secret` for what each asks."""

PRIVATE = "<private>"
"""Begins a private span."""
BEGIN, END = "-----BEGIN ", "-----END "
"""The marks that begin and end a PEM block."""

# Keys with a form of their own

KEYS: tuple[tuple[str, str, str, int, str], ...] = (
    ("holdfast", "hf_p hf_s hf_b hf_i", WORD, 60, "b"),
    ("aws", "AKIA ASIA ABIA ACCA", CAPITALS, 16, "b"),
    ("aws", "ABSK", BASE64, 80, "b"),
    ("aws", "IQoJb3JpZ2lu FwoGZXIvYXdz", BASE64, 60, ""),
    ("github", "ghp_ gho_ ghu_ ghr_ github_pat_", WORD, 30, ""),
    ("github", "ghs_", DOTTED, 30, ""),
    ("gitlab", "glpat- gldt- glrt- glcbt- glptt- glsoat- glagent-", DOTTED, 20, ""),
    ("anthropic", "sk-ant-", WORD, 20, "d"),
    ("openai", "sk-proj- sk-svcacct- sk-admin-", WORD, 32, "d"),
    ("openrouter", "sk-or-v1-", HEX, 32, ""),
    ("openai", "sk-", ALNUM, 32, "bd"),
    ("google", "AIza", WORD, 35, "b"),
    ("google", "GOCSPX-", WORD, 24, ""),
    ("google", "ya29.", WORD, 30, ""),
    ("slack", "xoxb- xoxp- xoxs- xoxe- xoxc- xapp- xoxo-", WORD, 20, "d"),
    ("slack", "xoxa- xoxr-", WORD, 8, "bd"),
    ("slack", "xoxe.", DOTTED, 20, "d"),
    ("slack", "xoxd-", WIDE, 20, "d"),
    ("slack", "hooks.slack.com/services/", ALNUM + "/", 30, ""),
    ("discord", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", WORD + "/", 60, ""),
    ("stripe", "sk_live_ rk_live_ sk_prod_ rk_prod_", ALNUM, 10, ""),
    ("stripe", "sk_test_ rk_test_", ALNUM, 10, "d"),
    ("stripe", "whsec_", BASE64, 24, "d"),
    ("npm", "npm_", ALNUM, 30, "bd"),
    ("pypi", "pypi-AgE", WORD, 40, ""),
    ("digitalocean", "dop_v1_ doo_v1_ dor_v1_", HEX, 40, ""),
    ("twilio", "SK", HEX, 32, "bde"),
    ("mailgun", "key-", HEX, 32, "bde"),
    ("shopify", "shpat_ shpca_ shppa_ shpss_", HEX, 32, ""),
    ("square", "sq0atp-", WORD, 22, ""),
    ("square", "sq0csp-", WORD, 40, ""),
    ("databricks", "dapi", HEX, 32, "b"),
    ("docker", "dckr_pat_", WORD, 20, ""),
    ("doppler", "dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", ALNUM, 30, "b"),
    ("doppler", "dp.st.", DOTTED, 30, "b"),
    ("linear", "lin_api_", ALNUM, 30, ""),
    ("notion", "ntn_", ALNUM, 40, "b"),
    ("figma", "figd_", WORD, 30, ""),
    ("grafana", "glsa_", WORD, 30, ""),
    ("grafana", "glc_", BASE64, 40, "b"),
    ("vault", "hvs. hvb.", WORD, 20, "b"),
    ("terraform", ".atlasv1.", WORD + "=", 40, "l"),
    ("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", DOTTED + "=", 20, ""),
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
    ("atlassian", "ATATT3 ATCTT3", WIDE, 40, ""),
    ("bitbucket", "ATBB", ALNUM, 28, "bd"),
    ("age", "AGE-SECRET-KEY-1", CAPITALS, 40, ""),
    ("fly", "fm2_", BASE64, 40, "b"),
    ("jwt", "eyJhbGciOi", DOTTED, 10, ""),
    ("pem", "LS0tLS1CRUdJTiBQUklWQVRF LS0tLS1CRUdJTiBSU0Eg", BASE64, 20, ""),
    ("pem", "LS0tLS1CRUdJTiBFQyBQ LS0tLS1CRUdJTiBPUEVOU1NI", BASE64, 20, ""),
    ("onepass", "A3-", CAPITALS + "-", 32, "bd"),
    ("onepass", "ops_eyJ", WIDE, 60, "b"),
    ("adobe", "p8e-", ALNUM, 32, "bd"),
    ("alibaba", "LTAI", ALNUM, 16, "bd"),
    ("amazon", "amzn.mws.", WORD, 30, "b"),
    ("artifactory", "AKCp", ALNUM, 60, "bd"),
    ("artifactory", "cmVmd", ALNUM, 55, "bd"),
    ("authress", ".acc_ .acc-", WIDE, 40, "ld"),
    ("aws", "A3T", CAPITALS, 17, "be"),
    ("aws", "bedrock-api-key-", BASE64, 20, ""),
    ("azure", "Q~", DOTTED + "~", 31, "l"),
    ("buildkite", "bkua_", HEX, 40, "b"),
    ("cerebras", "csk-", ALNUM, 40, "bd"),
    ("circleci", "CCIPAT_", WORD, 40, "b"),
    ("clickhouse", "4b1d", ALNUM, 38, "be"),
    ("clojars", "CLOJARS_", ALNUM, 40, ""),
    ("cloudflare", "v1.0-", HEX + "-", 120, "b"),
    ("contentful", "CFPAT-", WORD, 40, "b"),
    ("dropbox", "sl.", WORD + "=", 120, "br"),
    ("dynatrace", "dt0c01. dt0s01.", DOTTED, 60, ""),
    ("easypost", "EZAK EZTK", ALNUM, 50, "bd"),
    ("facebook", "EAA", ALNUM, 90, "bd"),
    ("firebase", ":APA91b", WORD, 100, "l"),
    ("flutterwave", "FLWSECK FLWPUBK", WORD, 12, "d"),
    ("fly", "fo1_", WORD, 40, "bd"),
    ("fly", "fm1a_ fm1r_", BASE64, 60, "b"),
    ("frameio", "fio-u-", WORD + "=", 60, ""),
    ("gitlab", "glffct- glft- glimt- glwt- GR1348941", WORD, 20, ""),
    ("gitlab", "gloas-", WORD, 40, ""),
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
    ("nuget", "oy2", DIGITS + SMALL, 43, "be"),
    ("nvidia", "nvapi-", WORD, 60, "b"),
    ("octopus", "API-", CAPITALS, 25, "bd"),
    ("openshift", "sha256~", WORD, 40, ""),
    ("posthog", "phx_", ALNUM, 40, "b"),
    ("prefect", "pnu_ pnb_", ALNUM, 36, "b"),
    ("pulumi", "pul-", HEX, 40, "b"),
    ("readme", "rdme_", ALNUM, 60, ""),
    ("render", "rnd_", ALNUM, 30, "bdr"),
    ("resend", "re_", ALNUM + "_", 30, "bdr"),
    ("scalingo", "tk-us-", WORD, 48, "b"),
    ("sendinblue", "xkeysib- xsmtpsib-", ALNUM + "-", 60, ""),
    ("settlemint", "sm_aat_ sm_pat_ sm_sat_", ALNUM, 16, "b"),
    ("shippo", "shippo_live_ shippo_test_", HEX, 40, ""),
    ("slack", "hooks.slack.com/workflows/ hooks.slack.com/triggers/", ALNUM + "/+", 30, ""),
    ("sonar", "squ_ sqp_ sqa_", ALNUM, 40, "b"),
    ("sourcegraph", "sgp_", ALNUM + "_", 40, "b"),
    ("square", "EAAA", WORD, 22, "bdr"),
    ("tailscale", "tskey-", WORD, 20, "bd"),
    ("telegram", ":AA", WORD, 33, "l"),
    ("trello", "ATTA", HEX, 60, "b"),
    ("typeform", "tfp_", DOTTED + "=", 50, "b"),
    ("vault", "s.", ALNUM, 24, "bder"),
    ("yandex", "AQVN", WORD, 35, "bd"),
    ("yandex", "t1.", DOTTED + "=", 90, "b"),
)  # fmt: skip
"""(rule, prefixes, alphabet of what follows, least characters that follow, flags). Case matters.

Flags: `b` no letter or digit stands before the prefix; `d` what follows holds a digit; `e` exactly that many characters
follow; `l` the prefix stands inside a key, and the key begins to the left of it; `r` what follows looks random.
Sources: the issuers' documentation of their key formats; base64 of the openings of PEM blocks and JSON.
"""
PLAIN_KEYS = (
    ("gitlab", "_gitlab_session=", ALNUM, 32, ""), ("huggingface", "hf_ api_org_", ALNUM, 30, "b"),
    ("duffel", "duffel_test_ duffel_live_", WORD + "=", 40, ""), ("sendgrid", "SG.", DOTTED + "=", 50, "bd"),
)  # fmt: skip
"""Keys that `keys.long_words` may miss: only small letters, or a `=` near their beginning."""
KEY_LENGTH = 13
"""No key of `KEYS` has fewer characters, prefix included."""
CRYPTS = ("$2a$", "$2b$", "$2y$", "$6$", "$5$", "$y$", "$argon2", "{SSHA}", "{SSHA512}", "pbkdf2_sha256$")
"""Beginnings of hashes of passwords, which can be guessed at leisure."""
PUBLIC = (
    "AAAA", "sha1-", "sha256-", "sha384-", "sha512-", "_ZN", "_RN", "ssh-", "urn-", "MII", "toolu_", "srvtoolu_",
    "msg_", "req_", "call_", "resp_", "chatcmpl-",
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
VENDORS = (
    "adafruit", "adobe", "adyen", "airtable", "alchemy", "algolia", "alibaba", "aliyun", "amplitude", "anthropic",
    "appdynamics", "artifactory", "asana", "atlassian", "auth0", "beamer", "binance", "bitbucket", "bitfinex",
    "bitly", "bittrex", "braintree", "brevo", "bugsnag", "clearbit", "clickup", "clojars", "cloudflare", "cloudinary",
    "codecov", "cohere", "coinbase", "confluence", "confluent", "contentful", "contribsys", "coveralls", "datadog",
    "dnkey", "discord", "docusign", "doppler", "drone", "dropbox", "dynatrace", "elevenlabs", "etherscan", "etsy",
    "facebook", "fastly", "finicity", "finnhub", "firebase", "flickr", "flutterwave", "foursquare", "freshbooks",
    "freshdesk", "gemini", "giphy", "gitter", "gocardless", "grafana", "harness", "heroku", "honeycomb", "hubspot",
    "infura", "instagram", "intercom", "jfrog", "jira", "klaviyo", "kraken", "kucoin", "launchdarkly", "linear",
    "linkedin", "linked_in", "linked-in", "lob", "looker", "mailchimp", "mailgun", "mailjet", "mandrill", "mapbox",
    "mattermost", "maxmind", "meraki", "messagebird", "message_bird", "message-bird", "mistral", "mixpanel",
    "moralis", "netlify", "newrelic", "new-relic", "new_relic", "nexmo", "nytimes", "newyorktimes", "new-york-times",
    "okta", "openai", "openweather", "opsgenie", "optimizely", "pagerduty", "paypal", "paystack", "pinecone", "plaid",
    "posthog", "postmark", "privateai", "private_ai", "private-ai", "pusher", "rapidapi", "razorpay", "recaptcha",
    "rollbar", "salesforce", "sendbird", "sendgrid", "sentry", "shippo", "shodan", "shopify", "slack", "snyk",
    "sonar", "soundcloud", "sourcegraph", "spotify", "square", "statuspage", "strava", "stripe", "sumo", "telegr",
    "tiktok", "trello", "travis", "twilio", "twitch", "twitter", "typeform", "vonage", "wakatime", "weatherapi",
    "xendit", "yandex", "zendesk", "zoom",
)  # fmt: skip
"""Services whose keys have no recognisable format, spelled as they are in variable names."""
ANNOUNCING = ("key", "secret", "token", "auth", "cred", "passw", "seed", "salt", "hmac", "session", "webhook", "access")
"""Parts of any name that say the same of a longer value."""
HARMLESS = (
    "hash", "digest", "checksum", "commit", "revision", "etag", "fingerprint", "integrity", "cache", "public",
    "idempot", "primary", "foreign", "keyring", "version", "branch", "request", "correlation", "monkey", "keyboard",
    "keyword", "turkey", "author", "tokeniz", "tokens", "accessib", "release", "build", "image", "message",
    "filename",
)  # fmt: skip
"""What parts of names begin or end with that give a random value a harmless meaning."""
HARMLESS_PARTS = frozenset({
    "base", "blob", "dir", "event", "file", "guid", "head", "keyid", "md5", "node", "oid", "parent", "partition",
    "path", "pub", "ref", "rev", "run", "session", "sessionid", "sha", "sha1", "sha256", "slug", "sort", "span",
    "test", "tool", "trace", "tree", "uri", "url", "uuid",
})  # fmt: skip
"""Whole parts of names that do."""

# Names of secrets, and their values

NAMES: dict[str, int] = {
    "password": STRONG, "passwd": STRONG, "passphrase": STRONG, "mnemonic": STRONG, "pwd": STRONG, "_pass": STRONG,
    "secret": MEDIUM, "credential": MEDIUM, "key": MEDIUM, "token": WEAK, "_auth": WEAK, "sig=": WEAK,
    "signature=": WEAK,
}  # fmt: skip
"""Lower-case parts of names, and how surely their values are secret."""
WORDS: dict[str, int] = {
    "pw": STRONG, "pass": STRONG, "pswd": STRONG, "passcode": STRONG, "requirepass": STRONG, "masterauth": STRONG,
    "psk": STRONG, "pat": WEAK, "cred": MEDIUM, "creds": MEDIUM, "dsn": WEAK, "salt": MEDIUM, "pepper": MEDIUM,
    "auth": MEDIUM, "otp": MEDIUM, "jwt": WEAK, "sid": WEAK, "seed": WEAK, "passwort": STRONG, "kennwort": STRONG,
    "passwörter": STRONG, "contraseña": STRONG, "contrasena": STRONG, "clave": STRONG, "senha": STRONG, "mdp": STRONG,
    "passe": STRONG, "parola": STRONG, "wachtwoord": STRONG, "haslo": STRONG, "hasło": STRONG, "heslo": STRONG,
    "salasana": STRONG, "lösenord": STRONG, "losenord": STRONG, "passord": STRONG, "adgangskode": STRONG,
    "kodeord": STRONG, "jelszó": STRONG, "jelszo": STRONG, "lozinka": STRONG, "şifre": STRONG, "sifre": STRONG,
    "parool": STRONG, "slaptažodis": STRONG, "пароль": STRONG, "парола": STRONG, "密码": STRONG, "密碼": STRONG,
    "口令": STRONG, "パスワード": STRONG, "비밀번호": STRONG, "암호": STRONG, "κωδικός": STRONG, "סיסמה": STRONG,
    "كلمة المرور": STRONG, "รหัสผ่าน": STRONG, "mật khẩu": STRONG,
}  # fmt: skip
"""Names, in many languages, that announce a secret only as separate words or as parts between `_` and `-`."""
FOREIGN = tuple(name for name in WORDS if not name.isascii())
HUMPS = ("Pass", "Pw", "Psk")
"""Short names that count as a part of a longer one only with a capital: `dbPass`, `smtpPw`."""
KEYS_OF = (
    "api", "access", "account", "auth", "encryption", "signing", "master", "private", "service", "subscription",
    "secret", "jwt", "app", "license", "storage", "shared", "webhook", "client", "admin", "deploy", "write",
    "session", "cookie", "hmac", "aes", "crypt", "cipher", "shared_access", "security",
)  # fmt: skip
"""Words before `key` in names of secrets: `api_key`, `accessKey`, `signing-key`."""
DIRECTIVES = ("requirepass", "masterauth")
"""Names of settings whose values follow after a blank."""
SPOKEN = ("passphrase", "mnemonic")
"""Names whose values may be words with spaces."""
ABOUT = (
    "algorithm", "attempts", "budget", "class", "column", "count", "description", "error", "expires", "expiry",
    "field", "file", "filename", "form", "format", "header", "help", "hint", "id", "index", "input", "label",
    "length", "limit", "max", "message", "min", "name", "names", "param", "path", "pattern", "placeholder", "policy",
    "prefix", "prompt", "ref", "regex", "reset", "rule", "rules", "size", "strategy", "text", "title", "ttl", "type",
    "uri", "url", "usage", "used", "validator", "validators", "version", "view",
)  # fmt: skip
"""Last parts of names that describe a secret without holding it, e.g. `token_count`, `secretName`."""
VERBS = (
    "is", "are", "was", "=", "==", ":", "->", "=>", "→", "to", "as", "ist", "lautet", "heisst", "heißt", "es", "est",
    "sera", "é", "e", "è", "är", "jest", "to:", "is:", "are:", "был", "это", "是", "为", "は", "equals", "being", "on",
    "zu", "auf",
)  # fmt: skip
"""Words between the name of a secret and the secret in a sentence."""
VALUES_OF = ("value", "default", "val")
"""Names of a sibling that holds the value for the name in `name:`."""
SCHEMES = ("bearer", "basic", "token", "digest", "negotiate", "apikey", "hmac", "aws4-hmac-sha256", "key")
"""Schemes of an `Authorization` header."""
PLACEHOLDERS = frozenset({
    "admin", "anything", "bool", "boolean", "bytes", "changeit", "changeme", "correct", "default", "disabled",
    "dummy", "empty", "enabled", "example", "fake", "false", "foobar", "guest", "hidden", "hunter2?", "insert", "int",
    "invalid", "masked", "missing", "mock", "mypassword", "mysecret", "nil", "none", "null", "number", "object",
    "optional", "pass", "passwd", "password", "placeholder", "postgres", "redacted", "removed", "replaceme",
    "required", "root", "sample", "secret", "something", "str", "string", "test", "testing", "todo", "token", "true",
    "undefined", "unset", "user", "value", "wrong", "your", "yourpassword",
})  # fmt: skip
"""Values, lower-case and without separators, that stand for a secret."""
STAND_INS = (
    "example", "placeholder", "changeme", "change-me", "change_me", "your-", "your_", "yourpass", "redacted",
    "replace-me", "replace_me", "xxxx", "****", "....", "••••", "…", "dummy", "insert-", "<", "todo",
)  # fmt: skip
"""Texts that make a value a stand-in if it contains one of them."""
TECHNICAL = frozenset({
    "2fa/mfa", "aes-128", "aes-256", "aes256", "argon2", "argon2-cffi", "argon2i", "argon2id", "auth0", "base32",
    "base58", "base62", "base64", "bcrypt2", "ed25519", "es256", "hs256", "http/2", "ipv4/6", "log4j", "md5-crypt",
    "oauth-2", "oauth1", "oauth2", "oauth2.0", "pbkdf2", "python3", "rfc6750", "rfc7519", "rs256", "scrypt2", "sha-1",
    "sha-256", "sha-384", "sha-512", "sha256", "sha384", "sha512", "tls1.2", "tls1.3", "utf-16", "utf-8", "web3",
    "win32", "x.509", "x509v3",
})  # fmt: skip
"""Technical words that mix letters and digits as passwords do."""
READABLE = ("password", "passwd", "secret", "token", "field", "input", "string", "enter", "current", "confirm")
"""Words that a quoted text of letters holds which is no password."""

# Commands and tables

PROGRAMS: dict[str, str] = {
    "mysql": "-p*", "mysqldump": "-p*", "mysqladmin": "-p*", "mysqlimport": "-p*", "mysqlshow": "-p*",
    "mysqlcheck": "-p*", "mysqlsh": "-p*", "mycli": "-p*", "mariadb": "-p*", "mytop": "-p*", "xtrabackup": "-p*",
    "sshpass": "-p*", "mongo": "-p", "mongosh": "-p", "mongodump": "-p", "mongorestore": "-p", "mongoexport": "-p",
    "mongoimport": "-p", "cqlsh": "-p", "redis": "-a", "keydb": "-a", "valkey": "-a", "docker": "-p", "podman": "-p",
    "buildah": "-p", "skopeo": "-p", "nerdctl": "-p", "helm": "-p", "crane": "-p", "oras": "-p", "oc": "-p -t",
    "cf": "-p", "az": "-p", "twine": "-p", "ldapsearch": "-w", "ldapadd": "-w", "ldapmodify": "-w", "ldapdelete": "-w",
    "ldapwhoami": "-w", "ldappasswd": "-w -s -a", "zip": "-P*", "unzip": "-P*", "7z": "-p*", "7za": "-p*",
    "7zz": "-p*", "rar": "-p* -hp*", "unrar": "-p*", "sqlcmd": "-P*", "bcp": "-P*", "osql": "-P*", "isql": "-P*",
    "tsql": "-P*", "ssh-keygen": "-N -P", "rdesktop": "-p*", "xfreerdp": "/p:*", "wfreerdp": "/p:*", "ipmitool": "-P",
    "cadaver": "-p", "mosquitto_pub": "-P", "mosquitto_sub": "-P", "rabbitmqadmin": "-p", "couchbase": "-p",
    "cbq": "-p", "lftp": "-u", "ncftp": "-p", "ncftpput": "-p", "smbclient": "-U%", "smbmap": "-p", "winexe": "-U%",
    "rpcclient": "-U%", "net": "-U%", "mount": "-o=", "crackmapexec": "-p", "netexec": "-p", "evil": "-p",
    "hydra": "-p", "useradd": "-p", "usermod": "-p", "openssl": "-k -K -pass -passin -passout",
    "keytool": "-storepass -keypass -srcstorepass -deststorepass", "jarsigner": "-storepass -keypass",
    "apksigner": "--ks-pass --key-pass", "curl": "-u: -U:", "http": "-a:", "https": "-a:", "wget": "",
    "snmpwalk": "-A -X -c", "snmpget": "-A -X -c", "kadmin": "-w -p*", "influx": "-password", "svn": "", "ftp": "",
    "htpasswd": "", "vault": "", "aws": "", "npm": "", "gh": "", "glab": "", "heroku": "", "sqlplus": "",
    "wpa_passphrase": "", "rabbitmqctl": "", "nmcli": "", "iwconfig": "", "rclone": "", "psql": "", "gpg": "",
    "chpasswd": "", "sudo": "", "redis-cli": "-a", "doctl": "-t", "flyctl": "-t", "fly": "-t", "cloudflared": "",
    "ansible": "", "pdftk": "", "qpdf": "", "borg": "", "restic": "", "su": "", "stdin": "",
}  # fmt: skip
"""Programs and their flags that take a secret: `-p*` may be glued to it, `-U%` has it after a `%`, `-u:` after `:`."""
POSITIONS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("vault", "login"), 1), (("vault", "unseal"), 1), (("operator", "unseal"), 1), (("rabbitmqctl", "add_user"), 2),
    (("rabbitmqctl", "change_password"), 2), (("rabbitmqctl", "authenticate_user"), 2), (("net", "user"), 2),
    (("htpasswd",), 3), (("wpa_passphrase",), 2), (("npm", "set"), 2), (("pdftk", "user_pw"), 1),
    (("pdftk", "owner_pw"), 1), (("pdftk", "input_pw"), 1), (("redis-cli", "auth"), 1), (("iwconfig", "key"), 1),
)  # fmt: skip
"""Words of a command, and which of the words without a dash behind them is the secret."""
STDIN = (
    "sudo -s", "--password-stdin", "passwd --stdin", "--with-token", "chpasswd", "--passphrase-fd 0", "-passin stdin",
)  # fmt: skip
"""What reads a secret from the pipe before it."""
COLUMNS = ("password", "passwd", "passwort", "pwd", "pass", "secret", "token", "contraseña", "senha", "kennwort")
"""Headings of columns that hold secrets."""
FORM_HINTS = (
    " -", "pass:", " login", " user", "unseal", "kind", ":5432:", ":3306:", "authtoken", "|", ",", "\t", "/p:",
    " by ", " add_user", "change_password", "authenticate_user", "wpa_", "_pw ", " key ",
)  # fmt: skip
"""A command or table that holds a secret has one of these."""

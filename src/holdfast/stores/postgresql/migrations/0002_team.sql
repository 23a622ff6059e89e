-- needs: 1
-- What a server has beside lessons (`ports/team`): accounts and the like, the audit log, documents that are synced.
-- Text that is part of a key is at most 500 bytes long (`rows.key`) and sorts by its bytes; `doc` has it whole.

CREATE TABLE organisations ( -- of every organisation but the first, which is always there
    number int PRIMARY KEY,
    made_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT ON organisations TO holdfast_app;

CREATE TABLE team_records (
    org int NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    keep_until bigint, -- microseconds since 1970; NULL: it stays
    doc text NOT NULL,
    PRIMARY KEY (org, kind, id)
) PARTITION BY HASH (org);
CREATE INDEX team_records_expiring ON team_records (org, keep_until) WHERE keep_until IS NOT NULL;

CREATE TABLE team_keys (
    org int NOT NULL,
    kind text COLLATE "C" NOT NULL,
    field text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    PRIMARY KEY (org, kind, field, value, id)
) PARTITION BY HASH (org);
CREATE INDEX team_keys_by_record ON team_keys (org, kind, id);

CREATE TABLE team_counters (
    org int NOT NULL,
    name text COLLATE "C" NOT NULL,
    value bigint NOT NULL,
    keep_until bigint,
    PRIMARY KEY (org, name)
) PARTITION BY HASH (org);

CREATE TABLE audit_log (
    org int NOT NULL,
    seq bigint NOT NULL,
    doc text NOT NULL,
    PRIMARY KEY (org, seq)
) PARTITION BY HASH (org);
GRANT SELECT, INSERT ON audit_log TO holdfast_app; -- neither UPDATE nor DELETE: the program cannot change what it logged

CREATE TABLE audit_heads (
    org int NOT NULL PRIMARY KEY,
    seq bigint NOT NULL,
    doc text NOT NULL -- of the last entry
) PARTITION BY HASH (org);
GRANT SELECT, INSERT, UPDATE ON audit_heads TO holdfast_app;

CREATE TABLE documents (
    org int NOT NULL,
    project text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL, -- from `team_counters`: without gaps, in the order of commits
    lesson text COLLATE "C" NOT NULL,
    accepted boolean NOT NULL,
    at bigint NOT NULL,
    names text NOT NULL, -- id and lesson whole, as JSON, where one of them is longer than a key; else empty
    body text NOT NULL,
    PRIMARY KEY (org, project, id)
) PARTITION BY HASH (org);
CREATE UNIQUE INDEX documents_by_seq ON documents (org, project, seq);
CREATE INDEX documents_by_lesson ON documents (org, project, lesson);

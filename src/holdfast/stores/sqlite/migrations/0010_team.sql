-- What a server for this file has beside lessons (`ports/team`): accounts and the like, the audit log, documents that are synced.
CREATE TABLE team_records (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    keep_until INTEGER, -- microseconds since 1970; NULL: it stays
    doc TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX team_records_expiring ON team_records (keep_until) WHERE keep_until IS NOT NULL;
CREATE TABLE team_keys (
    kind TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (kind, field, value, id)
) WITHOUT ROWID;
CREATE INDEX team_keys_by_record ON team_keys (kind, id);
CREATE TABLE team_counters (
    name TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL,
    keep_until INTEGER
) WITHOUT ROWID;
CREATE TABLE audit_log (
    seq INTEGER PRIMARY KEY,
    doc TEXT NOT NULL
);
CREATE TRIGGER audit_log_stays BEFORE DELETE ON audit_log BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE ON audit_log BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TABLE audit_head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    doc TEXT NOT NULL -- of the last entry
);
CREATE TABLE documents (
    project TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL, -- from `team_counters`, in the order of commits
    lesson TEXT NOT NULL,
    accepted INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (project, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX documents_by_seq ON documents (project, seq);
CREATE INDEX documents_by_lesson ON documents (project, lesson);

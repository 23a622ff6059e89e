-- A project's code index. All of it is derived: the file may be deleted at any time.
-- An outline (symbols, imports as written) belongs to a blob and is shared by every path and work tree that has it;
-- what an import leads to depends on the files around it, so links belong to a work tree.

CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE TABLE outlines (
    id INTEGER PRIMARY KEY,
    blob TEXT NOT NULL UNIQUE,
    language TEXT NOT NULL,
    note TEXT NOT NULL
);

CREATE TABLE symbols (
    outline INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    start_byte INTEGER NOT NULL,
    end_byte INTEGER NOT NULL,
    signature TEXT NOT NULL,
    signature_hash TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (outline, ordinal)
) WITHOUT ROWID;
CREATE INDEX symbols_by_name ON symbols (last_name, name); -- a name is looked up by its last part too
CREATE INDEX symbols_by_body ON symbols (body_hash);
CREATE INDEX symbols_by_signature ON symbols (signature_hash);

CREATE TABLE imports (
    outline INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    module TEXT NOT NULL,
    names TEXT NOT NULL, -- one a line
    PRIMARY KEY (outline, ordinal)
) WITHOUT ROWID;

CREATE TABLE roots (
    id INTEGER PRIMARY KEY,
    root TEXT NOT NULL UNIQUE
);

CREATE TABLE files (
    root INTEGER NOT NULL,
    path TEXT NOT NULL,
    outline INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    linked INTEGER NOT NULL,
    PRIMARY KEY (root, path)
) WITHOUT ROWID;
CREATE INDEX files_by_outline ON files (outline);
CREATE INDEX files_unlinked ON files (root, path) WHERE linked = 0;

CREATE TABLE links (
    root INTEGER NOT NULL,
    path TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    module TEXT NOT NULL,
    names TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (root, path, ordinal)
) WITHOUT ROWID;
CREATE INDEX links_by_target ON links (root, target);

CREATE TABLE pairs (
    relation TEXT NOT NULL,
    path TEXT NOT NULL,
    other TEXT NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (relation, path, other)
) WITHOUT ROWID;
CREATE INDEX pairs_by_other ON pairs (relation, other);

CREATE TABLE marks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with every change: the oldest verdicts go first
    key TEXT NOT NULL UNIQUE,
    value TEXT NOT NULL
);

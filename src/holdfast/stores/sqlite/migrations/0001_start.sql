-- Canonical: events, lesson versions, the log, marks. Derived, of current versions only: anchors, tokens, lesson_text,
-- vectors. Instants are microseconds since 1970, UTC. `doc` is the whole record as JSON; columns beside it are what
-- questions are asked by. Columns that filter come before `doc`, so that a filter never reads a document's pages.

CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    key TEXT NOT NULL,
    project TEXT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (session, key)
);
CREATE INDEX events_by_project ON events (project, position);

CREATE TABLE lessons (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    retracted_at INTEGER,
    owner TEXT NOT NULL, -- the project, or empty for the user's own
    state TEXT NOT NULL,
    kind TEXT NOT NULL,
    branch TEXT NOT NULL,
    path_prefix TEXT NOT NULL,
    pinned INTEGER NOT NULL,
    salience REAL NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER,
    topic_key TEXT NOT NULL,
    duplicate_key TEXT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (id, recorded_at)
);
CREATE UNIQUE INDEX lessons_current ON lessons (id) WHERE retracted_at IS NULL;
CREATE INDEX lessons_recent ON lessons (owner, state, recorded_at) WHERE retracted_at IS NULL;
CREATE INDEX lessons_topic ON lessons (topic_key, owner) WHERE retracted_at IS NULL AND topic_key <> '';
CREATE INDEX lessons_duplicate ON lessons (duplicate_key, owner) WHERE retracted_at IS NULL;
CREATE INDEX lessons_pinned ON lessons (owner, salience) WHERE retracted_at IS NULL AND pinned = 1;

CREATE TABLE anchors (
    path TEXT NOT NULL, -- a file, or a glob
    owner TEXT NOT NULL,
    lesson INTEGER NOT NULL, -- lessons.row
    folder TEXT NOT NULL,
    is_glob INTEGER NOT NULL,
    PRIMARY KEY (path, owner, lesson)
) WITHOUT ROWID;
CREATE INDEX anchors_by_folder ON anchors (folder, owner, lesson) WHERE is_glob = 0;
CREATE INDEX anchors_globs ON anchors (owner, path) WHERE is_glob = 1;
CREATE INDEX anchors_by_lesson ON anchors (lesson);

CREATE TABLE tokens (
    token TEXT NOT NULL,
    owner TEXT NOT NULL,
    lesson INTEGER NOT NULL, -- lessons.row
    weight REAL NOT NULL,
    PRIMARY KEY (token, owner, lesson)
) WITHOUT ROWID;
CREATE INDEX tokens_by_lesson ON tokens (lesson);

CREATE VIRTUAL TABLE lesson_text USING fts5 (
    title, insight, reason, expanded, error, scope,
    tokenize = 'porter unicode61'
);

CREATE TABLE vectors (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    lesson INTEGER NOT NULL, -- lessons.row
    embedder TEXT NOT NULL,
    scale REAL NOT NULL,
    codes BLOB NOT NULL, -- one signed byte a dimension; times scale it is the component
    UNIQUE (lesson, embedder)
);
CREATE INDEX vectors_by_embedder ON vectors (embedder, position);

CREATE TABLE deliveries (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    lesson TEXT NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX deliveries_by_session ON deliveries (session, at);
CREATE INDEX deliveries_by_lesson ON deliveries (lesson, at);
CREATE INDEX deliveries_by_project ON deliveries (project, at);

CREATE TABLE outcomes (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    lesson TEXT NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX outcomes_by_session ON outcomes (session, at);
CREATE INDEX outcomes_by_lesson ON outcomes (lesson, at);
CREATE INDEX outcomes_by_project ON outcomes (project, at);

CREATE TABLE checkpoints (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX checkpoints_by_session ON checkpoints (session, at);
CREATE INDEX checkpoints_by_project ON checkpoints (project, at);

CREATE TABLE changes (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    project TEXT NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX changes_by_project ON changes (project, at);
CREATE TABLE change_lessons (
    lesson TEXT NOT NULL,
    change TEXT NOT NULL, -- changes.id
    PRIMARY KEY (lesson, change)
) WITHOUT ROWID;

CREATE TABLE marks (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

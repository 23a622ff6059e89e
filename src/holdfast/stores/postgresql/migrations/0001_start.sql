-- needs: 1
-- Canonical: events, lesson versions, the log, states. Derived from versions: anchors, tokens, triggers, words, postings,
-- vectors; and turns of sessions, from events. Every table and key begins with the organisation.
-- Instants are microseconds since 1970, UTC. `doc` is the whole record as JSON; other columns are for filters.
-- Text that is part of a key is at most 500 bytes long (`rows.key`) and sorts by its bytes.

CREATE TABLE counters (
    org int NOT NULL,
    name text COLLATE "C" NOT NULL, -- events: the last position; versions: how many were ever written
    owner text COLLATE "C" NOT NULL, -- the project, where each has a counter of its own; else empty
    last bigint NOT NULL,
    PRIMARY KEY (org, name, owner)
) PARTITION BY HASH (org);

-- Organisations that are in another database, of the server's by name (`placement`). Every transaction that writes looks.
CREATE TABLE placements (
    number int PRIMARY KEY,
    place text NOT NULL,
    arriving boolean NOT NULL -- it is on its way from there to here
);
GRANT SELECT ON placements TO holdfast_app;

CREATE SEQUENCE row_numbers; -- of lesson versions, log records and turns
GRANT USAGE ON SEQUENCE row_numbers TO holdfast_app;

CREATE TABLE events (
    org int NOT NULL,
    position bigint NOT NULL, -- from `counters`: without gaps, in the order of commits
    session text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    has_text boolean NOT NULL, -- whether the raw texts are still there
    doc text NOT NULL,
    PRIMARY KEY (org, position)
) PARTITION BY HASH (org);
CREATE UNIQUE INDEX events_by_key ON events (org, session, key);
CREATE INDEX events_by_session ON events (org, session, position);
CREATE INDEX events_by_project ON events (org, project, position);
CREATE INDEX events_with_text ON events (org, at) WHERE has_text;

CREATE TABLE lessons (
    org int NOT NULL,
    row bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    recorded_at bigint NOT NULL,
    retracted_at bigint,
    owner text COLLATE "C" NOT NULL, -- the project, or empty for the user's own
    level text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    branch text COLLATE "C" NOT NULL,
    path_prefix text COLLATE "C" NOT NULL,
    pinned boolean NOT NULL,
    salience double precision NOT NULL,
    valid_from bigint NOT NULL,
    valid_to bigint,
    topic_key text COLLATE "C" NOT NULL,
    duplicate_key text COLLATE "C" NOT NULL,
    files text[] COLLATE "C" NOT NULL, -- anchored files, for questions about the past
    doc text NOT NULL,
    PRIMARY KEY (org, row)
) PARTITION BY HASH (org);
CREATE UNIQUE INDEX lessons_by_version ON lessons (org, id, recorded_at);
CREATE UNIQUE INDEX lessons_current ON lessons (org, id) WHERE retracted_at IS NULL;
CREATE INDEX lessons_recent ON lessons (org, owner, recorded_at DESC, id) WHERE retracted_at IS NULL;
CREATE INDEX lessons_topic ON lessons (org, topic_key, owner) WHERE retracted_at IS NULL AND topic_key <> '';
CREATE INDEX lessons_duplicate ON lessons (org, duplicate_key, owner) WHERE retracted_at IS NULL;
CREATE INDEX lessons_pinned ON lessons (org, owner, salience) WHERE retracted_at IS NULL AND pinned;

-- The rows of a version that was replaced stay, not `live`, for questions about the past. `scope` is a number made of
-- the owner's name (`rows.scope_number`); two owners may share one.
CREATE TABLE anchors (
    org int NOT NULL,
    live boolean NOT NULL,
    path text COLLATE "C" NOT NULL, -- a file, or a glob
    scope int NOT NULL,
    lesson bigint NOT NULL, -- lessons.row
    folder text COLLATE "C" NOT NULL,
    glob text NOT NULL, -- the glob at its full length; empty for a file
    PRIMARY KEY (org, live, path, scope, lesson)
) PARTITION BY HASH (org);
CREATE INDEX anchors_by_folder ON anchors (org, live, folder, scope, lesson) WHERE glob = '';
CREATE INDEX anchors_globs ON anchors (org, live, scope, path) WHERE glob <> '';
CREATE INDEX anchors_by_lesson ON anchors (org, lesson);

CREATE TABLE tokens (
    org int NOT NULL,
    live boolean NOT NULL,
    token text COLLATE "C" NOT NULL,
    scope int NOT NULL,
    lesson bigint NOT NULL, -- lessons.row
    source smallint NOT NULL, -- rows.SOURCE_CODES; 0: the session in which the lesson was learnt
    PRIMARY KEY (org, live, token, scope, lesson) INCLUDE (source)
) PARTITION BY HASH (org);
CREATE INDEX tokens_by_lesson ON tokens (org, lesson);

CREATE TABLE triggers (
    org int NOT NULL,
    live boolean NOT NULL,
    kind text COLLATE "C" NOT NULL, -- literal, command, path, symbol, work, occasion
    key text COLLATE "C" NOT NULL, -- what it is looked up by: a word of the literal, the program, the last part
    scope int NOT NULL,
    lesson bigint NOT NULL, -- lessons.row
    number smallint NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (org, live, kind, key, scope, lesson, number)
) PARTITION BY HASH (org);
CREATE INDEX triggers_by_lesson ON triggers (org, lesson);

-- The stems of each version in order, for phrases, and to find its postings.
CREATE TABLE words (
    org int NOT NULL,
    live boolean NOT NULL,
    lesson bigint NOT NULL, -- lessons.row
    length int NOT NULL,
    stems text NOT NULL,
    PRIMARY KEY (org, lesson)
) PARTITION BY HASH (org);
CREATE INDEX words_live ON words (org, lesson) INCLUDE (length) WHERE live;

-- The words of a lesson. A B-tree, because only it is used under a row-level policy, and read newest first.
CREATE TABLE postings (
    org int NOT NULL,
    live boolean NOT NULL,
    term text COLLATE "C" NOT NULL, -- `!` before a word of the error signature
    scope int NOT NULL,
    lesson bigint NOT NULL, -- lessons.row
    weight smallint NOT NULL, -- sum of the weights of the columns that have the term
    length smallint NOT NULL, -- words of the lesson
    PRIMARY KEY (org, live, term, scope, lesson) INCLUDE (weight, length)
) PARTITION BY HASH (org);

CREATE TABLE vectors (
    org int NOT NULL,
    lesson bigint NOT NULL, -- lessons.row
    embedder text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    dimension smallint NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (org, lesson, embedder)
) PARTITION BY HASH (org);
CREATE INDEX vectors_by_embedder ON vectors (org, embedder, owner, lesson);
-- An index serves one dimension: that of the shipped embedder, and those that other models often have.
CREATE INDEX vectors_256 ON vectors USING hnsw ((embedding::halfvec(256)) halfvec_ip_ops) WHERE dimension = 256;
CREATE INDEX vectors_384 ON vectors USING hnsw ((embedding::halfvec(384)) halfvec_ip_ops) WHERE dimension = 384;
CREATE INDEX vectors_512 ON vectors USING hnsw ((embedding::halfvec(512)) halfvec_ip_ops) WHERE dimension = 512;
CREATE INDEX vectors_768 ON vectors USING hnsw ((embedding::halfvec(768)) halfvec_ip_ops) WHERE dimension = 768;
CREATE INDEX vectors_1024 ON vectors USING hnsw ((embedding::halfvec(1024)) halfvec_ip_ops) WHERE dimension = 1024;
CREATE INDEX vectors_1536 ON vectors USING hnsw ((embedding::halfvec(1536)) halfvec_ip_ops) WHERE dimension = 1536;

CREATE TABLE turns (
    org int NOT NULL,
    row bigint NOT NULL,
    project text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    host text NOT NULL,
    branch text NOT NULL,
    prompt text NOT NULL,
    reply text NOT NULL,
    length int NOT NULL,
    stems text NOT NULL,
    PRIMARY KEY (org, row)
) PARTITION BY HASH (org);
CREATE INDEX turns_by_session ON turns (org, session);

CREATE TABLE turn_postings (
    org int NOT NULL,
    term text COLLATE "C" NOT NULL,
    turn bigint NOT NULL, -- turns.row
    weight smallint NOT NULL,
    length smallint NOT NULL,
    PRIMARY KEY (org, term, turn) INCLUDE (weight, length)
) PARTITION BY HASH (org);

CREATE TABLE turns_indexed (
    org int NOT NULL,
    position bigint NOT NULL, -- the last event that was indexed
    PRIMARY KEY (org)
) PARTITION BY HASH (org);

CREATE TABLE deliveries (
    org int NOT NULL,
    position bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    project text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    lesson text COLLATE "C" NOT NULL,
    doc text NOT NULL,
    PRIMARY KEY (org, position)
) PARTITION BY HASH (org);
CREATE UNIQUE INDEX deliveries_by_id ON deliveries (org, id);
CREATE INDEX deliveries_by_session ON deliveries (org, session, at);
CREATE INDEX deliveries_by_lesson ON deliveries (org, lesson, at);
CREATE INDEX deliveries_by_project ON deliveries (org, project, at);

CREATE TABLE outcomes (
    org int NOT NULL,
    position bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    project text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    lesson text COLLATE "C" NOT NULL,
    doc text NOT NULL,
    PRIMARY KEY (org, position)
) PARTITION BY HASH (org);
CREATE UNIQUE INDEX outcomes_by_id ON outcomes (org, id);
CREATE INDEX outcomes_by_session ON outcomes (org, session, at);
CREATE INDEX outcomes_by_lesson ON outcomes (org, lesson, at);
CREATE INDEX outcomes_by_project ON outcomes (org, project, at);

CREATE TABLE checkpoints (
    org int NOT NULL,
    position bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    project text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    doc text NOT NULL,
    PRIMARY KEY (org, position)
) PARTITION BY HASH (org);
CREATE UNIQUE INDEX checkpoints_by_id ON checkpoints (org, id);
CREATE INDEX checkpoints_by_session ON checkpoints (org, session, position);
CREATE INDEX checkpoints_by_project ON checkpoints (org, project, position);

CREATE TABLE changes (
    org int NOT NULL,
    position bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    project text COLLATE "C" NOT NULL,
    doc text NOT NULL,
    PRIMARY KEY (org, position)
) PARTITION BY HASH (org);
CREATE UNIQUE INDEX changes_by_id ON changes (org, id);
CREATE INDEX changes_by_project ON changes (org, project, position);

CREATE TABLE change_lessons (
    org int NOT NULL,
    lesson text COLLATE "C" NOT NULL,
    change text COLLATE "C" NOT NULL, -- changes.id
    PRIMARY KEY (org, lesson, change)
) PARTITION BY HASH (org);

CREATE TABLE state (
    org int NOT NULL,
    family text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL, -- empty for the store's own value
    value text NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (org, family, owner)
) PARTITION BY HASH (org);

-- States of many entries, one row each.
CREATE TABLE state_rows (
    org int NOT NULL,
    family text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL, -- the key at its full length
    value text NOT NULL,
    PRIMARY KEY (org, family, owner, key)
) PARTITION BY HASH (org);

-- Rows whose documents cannot be read are moved here, unchanged, by `holdfast doctor --mend`.
CREATE TABLE set_aside (
    org int NOT NULL,
    source text COLLATE "C" NOT NULL, -- the table it was in
    position bigint NOT NULL, -- its number there
    columns text NOT NULL, -- a JSON object of the row's other columns
    doc text NOT NULL,
    PRIMARY KEY (org, source, position)
) PARTITION BY HASH (org);

-- Turns of the recorded sessions, derived from the events: a search of the sessions indexes those it lacks.
-- The lessons' derived rows are made again: places of lint rules are no words of theirs.
CREATE TABLE turns (
    row INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    at INTEGER NOT NULL,
    host TEXT NOT NULL,
    branch TEXT NOT NULL
);
CREATE INDEX turns_by_session ON turns (session);

CREATE VIRTUAL TABLE turn_text USING fts5 (
    prompt, reply, expanded,
    tokenize = 'porter unicode61'
);

CREATE TABLE turns_indexed (
    position INTEGER NOT NULL -- the last event that was indexed; no row: none was
);

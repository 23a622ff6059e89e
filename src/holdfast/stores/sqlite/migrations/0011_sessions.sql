-- A row for each session and project, derived from the events and changed with them, so that sessions are listed without
-- reading their events (`sessions.py`). The rows of the events there are made now.
CREATE TABLE sessions (
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    host TEXT NOT NULL,
    branch TEXT NOT NULL, -- the last one that an event names
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    events INTEGER NOT NULL,
    prompts INTEGER NOT NULL,
    opening INTEGER, -- events.position of the first prompt
    PRIMARY KEY (project, session)
) WITHOUT ROWID;
CREATE INDEX sessions_recent ON sessions (project, last);
CREATE INDEX sessions_by_id ON sessions (session);
CREATE TABLE session_branches (
    project TEXT NOT NULL,
    branch TEXT NOT NULL,
    session TEXT NOT NULL,
    PRIMARY KEY (project, branch, session)
) WITHOUT ROWID;
CREATE INDEX session_branches_by_session ON session_branches (session);

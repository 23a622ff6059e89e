-- needs: 1
-- A row for each session and project, derived from the events (`sessions.py`), so that sessions are listed without reading
-- their events. Whoever lists sessions first adds the events that no row has yet: those of before, and those that a
-- server of the previous version stored.

CREATE TABLE sessions (
    org int NOT NULL,
    project text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    branch text COLLATE "C" NOT NULL, -- the last one that an event names
    first bigint NOT NULL,
    last bigint NOT NULL,
    events bigint NOT NULL,
    prompts bigint NOT NULL,
    opening bigint, -- events.position of the first prompt
    PRIMARY KEY (org, project, session)
) PARTITION BY HASH (org);
CREATE INDEX sessions_recent ON sessions (org, project, last DESC, session);
CREATE INDEX sessions_by_id ON sessions (org, session);

CREATE TABLE session_branches (
    org int NOT NULL,
    project text COLLATE "C" NOT NULL,
    branch text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    PRIMARY KEY (org, project, branch, session)
) PARTITION BY HASH (org);
CREATE INDEX session_branches_by_session ON session_branches (org, session);

CREATE TABLE sessions_summed (
    org int NOT NULL,
    position bigint NOT NULL, -- the last event that is in the rows
    PRIMARY KEY (org)
) PARTITION BY HASH (org);

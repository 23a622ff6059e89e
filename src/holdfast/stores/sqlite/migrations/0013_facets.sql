-- What lessons are filtered and counted by, with an index that has it all, newest first (`choosing.py`). The columns and
-- the rows of the current lessons are made now; versions of before have neither, and are read for questions about the past.
ALTER TABLE lessons ADD COLUMN trust TEXT NOT NULL DEFAULT '';
ALTER TABLE lessons ADD COLUMN person TEXT NOT NULL DEFAULT '';
CREATE TABLE facets (
    facet TEXT NOT NULL, -- area, tag
    value TEXT NOT NULL,
    owner TEXT NOT NULL,
    lesson INTEGER NOT NULL, -- lessons.row
    PRIMARY KEY (facet, value, owner, lesson)
) WITHOUT ROWID;
CREATE INDEX facets_by_lesson ON facets (lesson, facet, value);
CREATE INDEX lessons_newest ON lessons (owner, recorded_at DESC, id, state, kind, branch, trust, person)
WHERE retracted_at IS NULL;
-- Versions of every time, for the growth of a memory. It begins with the time, so that no search by owner and state is
-- led through versions of the past.
CREATE INDEX lessons_versions ON lessons (recorded_at, owner, state, retracted_at);

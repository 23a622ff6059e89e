-- needs: 1
-- What lessons are filtered and counted by, with an index that has it all, newest first (`choosing.py`). Lessons of before,
-- and those that a server of the previous version stores, have no trust here: whoever asks by such a value first adds what
-- is missing (`facets.py`).

ALTER TABLE lessons ADD COLUMN trust text COLLATE "C";
ALTER TABLE lessons ADD COLUMN person text COLLATE "C";
CREATE INDEX lessons_unfaceted ON lessons (org, row) WHERE trust IS NULL AND retracted_at IS NULL;
CREATE INDEX lessons_newest ON lessons (org, owner, recorded_at DESC, id)
    INCLUDE (row, state, kind, branch, trust, person) WHERE retracted_at IS NULL;
-- Versions of every time, for the growth of a memory.
CREATE INDEX lessons_versions ON lessons (org, recorded_at, owner, state, retracted_at);

CREATE TABLE facets (
    org int NOT NULL,
    facet text COLLATE "C" NOT NULL, -- area, tag
    value text COLLATE "C" NOT NULL,
    scope int NOT NULL,
    lesson bigint NOT NULL, -- lessons.row
    PRIMARY KEY (org, facet, value, scope, lesson)
) PARTITION BY HASH (org);
CREATE INDEX facets_by_lesson ON facets (org, lesson, facet, value);

-- Imports are no longer indexed. Everything here is derived: the next refresh fills the tables again.
DROP TABLE links;
DROP TABLE imports;
DROP TABLE files;
DELETE FROM symbols;
DELETE FROM outlines;

CREATE TABLE files (
    root INTEGER NOT NULL,
    path TEXT NOT NULL,
    outline INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    PRIMARY KEY (root, path)
) WITHOUT ROWID;
CREATE INDEX files_by_outline ON files (outline);

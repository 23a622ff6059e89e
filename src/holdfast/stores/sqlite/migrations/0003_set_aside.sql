-- Rows whose documents cannot be read are moved here, byte for byte, by `holdfast doctor --mend`: nothing is deleted
-- on suspicion. `columns` is a JSON object of the row's other columns, each as hexadecimal of its text.
CREATE TABLE set_aside (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL, -- the table it was in
    row INTEGER NOT NULL, -- its number there
    columns TEXT NOT NULL,
    doc BLOB NOT NULL
);

-- Changes are asked for in the order they were received: the clock may have been set back between them.
DROP INDEX changes_by_project;
CREATE INDEX changes_by_project ON changes (project, position);
DROP INDEX checkpoints_by_project;
CREATE INDEX checkpoints_by_project ON checkpoints (project, position);
DROP INDEX checkpoints_by_session;
CREATE INDEX checkpoints_by_session ON checkpoints (session, position);

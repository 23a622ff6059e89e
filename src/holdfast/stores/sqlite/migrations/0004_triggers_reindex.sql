-- When lessons are to be told, by what they are looked up by. The rows of the lessons there are made with the others.

CREATE TABLE triggers (
    kind TEXT NOT NULL, -- literal, command, path, symbol, work, occasion
    key TEXT NOT NULL, -- what it is looked up by: a word of the literal, the program, the symbol's last part
    owner TEXT NOT NULL,
    lesson INTEGER NOT NULL, -- lessons.row
    value TEXT NOT NULL,
    PRIMARY KEY (kind, key, owner, lesson, value)
) WITHOUT ROWID;
CREATE INDEX triggers_by_lesson ON triggers (lesson);

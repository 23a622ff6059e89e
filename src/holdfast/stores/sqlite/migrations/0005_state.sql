-- What Holdfast keeps about its own work: by family (`domain/statefamilies`) and owner, with the time it changed last.
-- A key of `marks` was the family's name, and where it had owners a colon and the owner.
CREATE TABLE state (
    family TEXT NOT NULL,
    owner TEXT NOT NULL, -- empty for the store's own value
    value TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (family, owner)
) WITHOUT ROWID;
INSERT INTO state (family, owner, value, updated_at)
SELECT
    CASE
        WHEN key = 'backfill:roots' THEN 'backfill_roots'
        WHEN instr(key, ':') THEN substr(key, 1, instr(key, ':') - 1)
        ELSE key
    END,
    CASE WHEN key <> 'backfill:roots' AND instr(key, ':') THEN substr(key, instr(key, ':') + 1) ELSE '' END,
    value,
    CAST(strftime('%s', 'now') AS INTEGER) * 1000000
FROM marks WHERE value <> '';
DROP TABLE marks;

-- Values of which one owner has many. The record of a sync was one JSON string: what it says of a lesson becomes a row.
-- The marks of files are not copied: the next sync reads all files once.
CREATE TABLE state_rows (
    family TEXT NOT NULL,
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (family, owner, key)
) WITHOUT ROWID;
INSERT OR IGNORE INTO state_rows (family, owner, key, value)
SELECT 'synced_lessons', s.owner, json_extract(entry.value, '$.id'), entry.value
FROM state s, json_each(CASE WHEN json_valid(s.value) THEN s.value ELSE '{}' END, '$.entries') entry
WHERE s.family = 'sharing' AND entry.type = 'object' AND json_extract(entry.value, '$.id') <> '';
DELETE FROM state WHERE family = 'sharing';

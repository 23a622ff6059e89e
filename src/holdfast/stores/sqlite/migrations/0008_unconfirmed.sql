-- A lesson is confirmed or it waits: what was on probation waits, in every version of it.
UPDATE lessons SET doc = json_set(doc, '$.state', 'candidate') WHERE state = 'probation' AND json_valid(doc);
UPDATE lessons SET state = 'candidate' WHERE state = 'probation';
DELETE FROM state WHERE family = 'rejudged';

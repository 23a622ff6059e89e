-- Views for people who ask the file in SQL, documented in docs/reference/sql.md. A view keeps its name and its columns;
-- further columns come after them. Holdfast itself reads none of them. Rows with a damaged document are left out.
DROP VIEW IF EXISTS memory_lesson_versions;
CREATE VIEW memory_lesson_versions AS
SELECT id, state, kind,
    json_extract(sound, '$.title') AS title,
    json_extract(sound, '$.insight') AS insight,
    coalesce(json_extract(sound, '$.why'), '') AS why,
    coalesce(json_extract(sound, '$.how'), '') AS how,
    coalesce(json_extract(sound, '$.trust'), 'agent') AS trust,
    owner AS project,
    coalesce(json_extract(sound, '$.scope.level'), 'project') AS level,
    branch, pinned,
    coalesce(json_extract(sound, '$.private'), 0) AS private,
    (SELECT json_group_array(json_extract(value, '$.path')) FROM json_each(sound, '$.anchors')) AS files,
    (SELECT json_group_array(json_extract(value, '$.symbol')) FROM json_each(sound, '$.anchors')
        WHERE json_extract(value, '$.symbol') <> '') AS symbols,
    coalesce(json_extract(sound, '$.tags'), '[]') AS tags,
    topic_key AS topic,
    coalesce(json_extract(sound, '$.provenance.person_name'), '') AS person,
    coalesce(json_extract(sound, '$.provenance.author'), '') AS author,
    coalesce(json_extract(sound, '$.provenance.host'), '') AS host,
    coalesce(json_extract(sound, '$.provenance.session'), '') AS session,
    coalesce(json_extract(sound, '$.confidence'), 0.5) AS confidence,
    salience,
    json_extract(sound, '$.validity.valid_from') AS valid_from,
    json_extract(sound, '$.validity.valid_to') AS valid_to,
    json_extract(sound, '$.recorded_at') AS recorded_at,
    retracted_at IS NULL AS is_current
FROM (SELECT *, CASE WHEN json_valid(doc) THEN doc END AS sound FROM lessons)
WHERE sound IS NOT NULL;
DROP VIEW IF EXISTS memory_lessons;
CREATE VIEW memory_lessons AS SELECT * FROM memory_lesson_versions WHERE is_current;
DROP VIEW IF EXISTS memory_events;
CREATE VIEW memory_events AS
SELECT position, session, project,
    json_extract(sound, '$.id') AS id,
    json_extract(sound, '$.kind') AS kind,
    json_extract(sound, '$.at') AS at,
    json_extract(sound, '$.host') AS host,
    coalesce(json_extract(sound, '$.branch'), '') AS branch,
    coalesce(json_extract(sound, '$.commit'), '') AS commit_id,
    coalesce(json_extract(sound, '$.tool'), '') AS tool,
    coalesce(json_extract(sound, '$.command'), '') AS command,
    json_extract(sound, '$.exit_code') AS exit_code,
    coalesce(json_extract(sound, '$.files'), '[]') AS files,
    coalesce(json_extract(sound, '$.text'), '') AS text
FROM (SELECT *, CASE WHEN json_valid(doc) THEN doc END AS sound FROM events)
WHERE sound IS NOT NULL;
DROP VIEW IF EXISTS memory_deliveries;
CREATE VIEW memory_deliveries AS
SELECT id, project, session, lesson,
    json_extract(sound, '$.at') AS at,
    json_extract(sound, '$.host') AS host,
    json_extract(sound, '$.moment') AS moment,
    json_extract(sound, '$.rank') AS rank,
    json_extract(sound, '$.reason') AS reason,
    coalesce(json_extract(sound, '$.trigger'), '') AS cause,
    coalesce(json_extract(sound, '$.tokens'), 0) AS tokens
FROM (SELECT *, CASE WHEN json_valid(doc) THEN doc END AS sound FROM deliveries)
WHERE sound IS NOT NULL;
DROP VIEW IF EXISTS memory_outcomes;
CREATE VIEW memory_outcomes AS
SELECT id, project, session, lesson,
    json_extract(sound, '$.at') AS at,
    json_extract(sound, '$.verdict') AS verdict,
    coalesce(json_extract(sound, '$.note'), '') AS note,
    coalesce(json_extract(sound, '$.judge'), '') AS judge,
    coalesce(json_extract(sound, '$.moment'), 'on_demand') AS moment,
    coalesce(json_extract(sound, '$.withheld'), 0) AS withheld
FROM (SELECT *, CASE WHEN json_valid(doc) THEN doc END AS sound FROM outcomes)
WHERE sound IS NOT NULL;
DROP VIEW IF EXISTS memory_changes;
CREATE VIEW memory_changes AS
SELECT id, project,
    json_extract(sound, '$.at') AS at,
    json_extract(sound, '$.verb') AS verb,
    coalesce(json_extract(sound, '$.actor'), '') AS actor,
    coalesce(json_extract(sound, '$.lessons'), '[]') AS lessons
FROM (SELECT *, CASE WHEN json_valid(doc) THEN doc END AS sound FROM changes)
WHERE sound IS NOT NULL;
-- The confirmed lessons in the columns of a plain table of memories, which other programs know.
DROP VIEW IF EXISTS memory_entries;
CREATE VIEW memory_entries AS
SELECT id,
    insight || CASE WHEN why <> '' THEN char(10) || char(10) || 'Why: ' || why ELSE '' END
        || CASE WHEN how <> '' THEN char(10) || char(10) || 'How: ' || how ELSE '' END AS content,
    project,
    coalesce((SELECT min(first.recorded_at) FROM memory_lesson_versions AS first WHERE first.id = now.id), recorded_at)
        AS created_at,
    recorded_at AS updated_at,
    (SELECT coalesce(group_concat(value, ','), '') FROM json_each(now.tags)) AS tags
FROM memory_lessons AS now
WHERE state = 'active';
DROP VIEW IF EXISTS memory_sessions;
CREATE VIEW memory_sessions AS
SELECT project, session, host, branch,
    strftime('%Y-%m-%dT%H:%M:%fZ', first / 1000000.0, 'unixepoch') AS first,
    strftime('%Y-%m-%dT%H:%M:%fZ', last / 1000000.0, 'unixepoch') AS last,
    events, prompts
FROM sessions;

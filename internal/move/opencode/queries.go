package opencode

// sessions selects the sessions that have messages, with their roots. A loop of parents has none.
const sessions = `
WITH RECURSIVE above (id, root) AS (
	SELECT id, id FROM session
	UNION
	SELECT a.id, s.parent_id FROM above a JOIN session s ON s.id = a.root WHERE s.parent_id <> ''
), roots (id, root) AS (
	SELECT id, root FROM above WHERE root NOT IN (SELECT id FROM session WHERE parent_id <> '')
)
SELECT CAST(s.id AS TEXT), CAST(coalesce(r.root, s.id) AS TEXT), CAST(coalesce(s.directory, '') AS TEXT), CAST(iif(s.time_updated BETWEEN 0 AND 253402300799999, s.time_updated, 0) AS INTEGER)
FROM session s LEFT JOIN roots r ON r.id = s.id
WHERE s.id IS NOT NULL AND EXISTS (SELECT 1 FROM message WHERE session_id = s.id)
ORDER BY s.time_created, s.id`

// lines selects the lines of session ?2 with root ?3 and directory ?4, of kind ?1: in each turn the prompt,
// the calls that have ended, and the last text of an answer that has ended. The plugin is told no
// text of a subagent. A row that cannot be read, or of more than 16 MB, which no transcript may have either,
// becomes a line that cannot be read, which its reader counts.
const lines = `
WITH messages AS (
	SELECT id, time_created AS n, data, data ->> 'role' AS role, data ->> '$.time.created' AS created,
		sum(data ->> 'role' IS 'user') OVER (ORDER BY time_created, id) AS turn
	FROM (SELECT id, time_created, iif(octet_length(data) <= 16777216 AND json_valid(data), data, 'null') AS data FROM message WHERE session_id = ?2)
), parts AS (
	SELECT turn, n, m.id, role, created, m.data AS message, p.id AS part, p.data AS data, p.data ->> 'type' AS type,
		iif(p.data ->> '$.state.status' = 'error', 'error', 'output') AS told
	FROM messages m JOIN (SELECT id, message_id, iif(octet_length(data) <= 16777216 AND json_valid(data), data, 'null') AS data FROM part) p ON p.message_id = m.id
	WHERE role IN ('user', 'assistant')
), texts AS (
	SELECT turn, n, id, role, created, part, data ->> 'text' AS text FROM parts
	WHERE ?2 = ?3 AND type = 'text' AND json_type(data, '$.text') = 'text' AND data ->> 'text' <> ''
		AND NOT coalesce(data ->> 'synthetic', 0) AND NOT coalesce(data ->> 'ignored', 0) AND NOT coalesce(message ->> 'summary', 0)
), answers AS (
	SELECT turn, last_value(text) OVER w AS text, row_number() OVER (PARTITION BY turn) AS nth,
		(SELECT data ->> '$.time.completed' FROM messages m WHERE m.turn = t.turn AND role = 'assistant' ORDER BY n DESC, id DESC LIMIT 1) AS ended
	FROM texts t WHERE role = 'assistant'
	WINDOW w AS (PARTITION BY turn ORDER BY n, id, part ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
), hooks (turn, step, n, id, part, at, name, members) AS (
	SELECT turn, 1, n, id, '', created, 'chat.message', json_object('message_id', id, 'prompt', group_concat(text, char(10) ORDER BY part))
	FROM texts WHERE role = 'user' GROUP BY id
	UNION ALL
	SELECT turn, 2, n, id, part, coalesce(nullif(data ->> '$.state.time.end', 0), created), 'tool.execute.after', json_remove(
		json_object('tool', data ->> 'tool', 'call_id', data ->> 'callID', 'args', json(coalesce(data -> '$.state.input', 'null')),
			told, data ->> ('$.state.' || told), 'metadata', json(data -> '$.state.metadata')),
		iif(data -> '$.state.metadata' IS NULL, '$.metadata', '$.none'))
	FROM parts WHERE type = 'tool' AND data ->> '$.state.status' IN ('completed', 'error')
	UNION ALL
	SELECT turn, 3, 0, '', '', ended, 'session.idle', json_object('last_assistant_message', text) FROM answers WHERE nth = 1 AND ended > 0
	UNION ALL
	SELECT turn, 4, 0, '', '', 0, '', '' FROM messages WHERE coalesce(role, '') NOT IN ('user', 'assistant')
	UNION ALL
	SELECT turn, 4, 0, '', '', 0, '', '' FROM parts WHERE type IS NULL
)
SELECT iif(name = '', 'broken', json_object('type', ?1, 'sessionId', ?3, 'cwd', ?4, 'timestamp', strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch'), 'payload',
	json_set(iif(?2 = ?3, members, json_set(members, '$.agent_id', ?2, '$.agent_type', 'subagent')),
		'$.hook_event_name', name, '$.session_id', ?3, '$.cwd', ?4, '$.project_dir', ?4)))
FROM hooks ORDER BY turn, step, n, id, part`

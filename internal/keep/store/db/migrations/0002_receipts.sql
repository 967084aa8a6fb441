-- Schema 2: what became of a session's events is counted without reading them,
-- and so is what became of all events. Events that wait have their own index.
DROP INDEX events_done;
CREATE INDEX events_done ON events (outcome, reason, kind, tool_name)
    WHERE outcome IN ('processed', 'skipped', 'forgotten');
CREATE INDEX events_of_session ON events (session_id, outcome, reason, kind, tool_name)
    WHERE outcome IN ('processed', 'skipped', 'forgotten');

-- The lookups of event_log by the observations that were read, kept by a trigger.
CREATE TABLE lookups (
    observation_id INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    log_id         INTEGER NOT NULL REFERENCES event_log (id) ON DELETE CASCADE,
    -- session_id is who read it, NULL when that is not known.
    session_id     INTEGER,
    PRIMARY KEY (observation_id, created_at, log_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX lookups_log ON lookups (log_id);
CREATE TRIGGER event_log_lookup AFTER INSERT ON event_log
WHEN NEW.event_type = 'lookup' AND json_valid(NEW.data)
BEGIN
    INSERT OR IGNORE INTO lookups (observation_id, created_at, log_id, session_id)
        SELECT value, NEW.created_at, NEW.id, NEW.session_id FROM json_each(NEW.data, '$.observations') WHERE type = 'integer';
END;
INSERT OR IGNORE INTO lookups (observation_id, created_at, log_id, session_id)
    SELECT r.value, l.created_at, l.id, l.session_id FROM event_log l, json_each(l.data, '$.observations') r
    WHERE l.event_type = 'lookup' AND json_valid(l.data) AND r.type = 'integer';

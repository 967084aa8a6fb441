-- Schema 2: what became of a session's events is counted without reading them,
-- and so is what became of all events. Events that wait have their own index.
DROP INDEX events_done;
CREATE INDEX events_done ON events (outcome, reason, kind, tool_name)
    WHERE outcome IN ('processed', 'skipped', 'forgotten');
CREATE INDEX events_of_session ON events (session_id, outcome, reason, kind, tool_name)
    WHERE outcome IN ('processed', 'skipped', 'forgotten');

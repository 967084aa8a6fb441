-- Schema 1. Times are Unix milliseconds. A released migration is never edited:
-- the next change is a new file.

CREATE TABLE sessions (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    ulid              TEXT    NOT NULL UNIQUE,
    host              TEXT    NOT NULL,
    host_session_id   TEXT    NOT NULL,
    memory_session_id TEXT    NOT NULL DEFAULT '',
    project           TEXT    NOT NULL DEFAULT '',
    label             TEXT    NOT NULL DEFAULT '',
    status            TEXT    NOT NULL DEFAULT 'active'
                      CHECK (status IN ('active', 'completed', 'interrupted', 'failed')),
    title             TEXT    NOT NULL DEFAULT '',
    prompt_count      INTEGER NOT NULL DEFAULT 0,
    -- event_count leaves out what was skipped: 0 means that nothing was said or done.
    event_count       INTEGER NOT NULL DEFAULT 0,
    started_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    -- last_event_at is the host's time of the newest event that is not a session end;
    -- updated_at also moves when the session is touched.
    last_event_at     INTEGER NOT NULL DEFAULT 0,
    completed_at      INTEGER NOT NULL DEFAULT 0,
    tokens_in         INTEGER NOT NULL DEFAULT 0,
    tokens_out        INTEGER NOT NULL DEFAULT 0,
    UNIQUE (host, host_session_id)
) STRICT;
CREATE INDEX sessions_newest ON sessions (project, updated_at DESC, id DESC);
CREATE INDEX sessions_label ON sessions (label);
CREATE INDEX sessions_active ON sessions (status) WHERE status = 'active';

CREATE TABLE prompts (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    ulid        TEXT    NOT NULL UNIQUE,
    session_id  INTEGER NOT NULL REFERENCES sessions (id),
    -- project is the session's: what is listed by project and time needs it here.
    project     TEXT    NOT NULL DEFAULT '',
    number      INTEGER NOT NULL,
    prompt_id   TEXT    NOT NULL DEFAULT '',
    text        TEXT    NOT NULL,
    branch      TEXT    NOT NULL DEFAULT '',
    head_commit TEXT    NOT NULL DEFAULT '',
    created_at  INTEGER NOT NULL,
    UNIQUE (session_id, number)
) STRICT;
CREATE INDEX prompts_of_host ON prompts (session_id, prompt_id);
CREATE INDEX prompts_time ON prompts (session_id, created_at);
CREATE INDEX prompts_newest ON prompts (project, created_at);
CREATE INDEX prompts_newest_everywhere ON prompts (created_at);

CREATE TABLE observations (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    ulid             TEXT    NOT NULL UNIQUE,
    session_id       INTEGER NOT NULL REFERENCES sessions (id),
    project          TEXT    NOT NULL,
    prompt_number    INTEGER NOT NULL DEFAULT 0,
    type             TEXT    NOT NULL,
    title            TEXT    NOT NULL,
    subtitle         TEXT    NOT NULL DEFAULT '',
    narrative        TEXT    NOT NULL DEFAULT '',
    facts            TEXT    NOT NULL DEFAULT '[]',
    concepts         TEXT    NOT NULL DEFAULT '[]',
    discovery_tokens INTEGER NOT NULL DEFAULT 0,
    content_hash     TEXT    NOT NULL,
    -- files_key is a hash of the paths: two observations of the same files share it.
    files_key        TEXT    NOT NULL DEFAULT '',
    origin           TEXT    NOT NULL DEFAULT 'observer',
    agent_id         TEXT    NOT NULL DEFAULT '',
    agent_type       TEXT    NOT NULL DEFAULT '',
    branch           TEXT    NOT NULL DEFAULT '',
    head_commit      TEXT    NOT NULL DEFAULT '',
    times_seen       INTEGER NOT NULL DEFAULT 1,
    pinned           INTEGER NOT NULL DEFAULT 0,
    superseded_by    INTEGER REFERENCES observations (id) ON DELETE SET NULL,
    deleted_at       INTEGER,
    created_at       INTEGER NOT NULL,
    UNIQUE (session_id, content_hash)
) STRICT;
-- Every index ends with the row's number, so these give the order by time and
-- number, in both directions. They have deleted_at, and not a condition on it, so
-- that counting reads no rows; none begins with it, as almost all rows have the same.
CREATE INDEX observations_newest ON observations (project, pinned, deleted_at, created_at);
CREATE INDEX observations_newest_everywhere ON observations (pinned, deleted_at, created_at);
CREATE INDEX observations_type ON observations (project, type, deleted_at, created_at);
CREATE INDEX observations_type_everywhere ON observations (type, deleted_at, created_at);
CREATE INDEX observations_session ON observations (session_id, deleted_at, created_at);
CREATE INDEX observations_turn ON observations (session_id, prompt_number);
CREATE INDEX observations_hidden ON observations (deleted_at) WHERE deleted_at IS NOT NULL;
-- What was written by hand or brought in is the same when it says the same in
-- one project, whatever the session.
CREATE INDEX observations_written ON observations (project, content_hash) WHERE origin IN ('user', 'agent', 'import');
CREATE INDEX observations_superseded ON observations (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE observation_files (
    observation_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
    position       INTEGER NOT NULL,
    path           TEXT    NOT NULL,
    role           TEXT    NOT NULL CHECK (role IN ('read', 'modified')),
    file_hash      TEXT,
    PRIMARY KEY (observation_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX observation_files_path ON observation_files (path, observation_id DESC);

-- The distinct paths and what they are found by: their segments, whole and
-- without extensions ("auth" finds src/auth.ts and src/lib/auth/utils.ts).
CREATE TABLE paths (
    id   INTEGER PRIMARY KEY,
    path TEXT    NOT NULL UNIQUE
) STRICT;
CREATE TABLE path_segments (
    segment TEXT    NOT NULL,
    path_id INTEGER NOT NULL REFERENCES paths (id) ON DELETE CASCADE,
    PRIMARY KEY (segment, path_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX path_segments_of ON path_segments (path_id);

-- The concepts of the observations that are not hidden, kept by triggers, with
-- what lists by concept are chosen and ordered by: a usual concept is on most
-- observations, and looking each of them up is too slow.
CREATE TABLE observation_concepts (
    concept        TEXT    NOT NULL,
    project        TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    observation_id INTEGER NOT NULL,
    PRIMARY KEY (concept, project, created_at, observation_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX observation_concepts_everywhere ON observation_concepts (concept, created_at, observation_id);

CREATE TABLE session_summaries (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    ulid          TEXT    NOT NULL UNIQUE,
    session_id    INTEGER NOT NULL REFERENCES sessions (id),
    -- project is the session's.
    project       TEXT    NOT NULL DEFAULT '',
    prompt_number INTEGER NOT NULL DEFAULT 0,
    request       TEXT    NOT NULL DEFAULT '',
    investigated  TEXT    NOT NULL DEFAULT '',
    learned       TEXT    NOT NULL DEFAULT '',
    completed     TEXT    NOT NULL DEFAULT '',
    next_steps    TEXT    NOT NULL DEFAULT '',
    files_read    TEXT    NOT NULL DEFAULT '[]',
    files_edited  TEXT    NOT NULL DEFAULT '[]',
    notes         TEXT    NOT NULL DEFAULT '',
    origin        TEXT    NOT NULL DEFAULT 'observer',
    created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX session_summaries_newest ON session_summaries (session_id, prompt_number DESC, id DESC);
CREATE INDEX session_summaries_time ON session_summaries (session_id, created_at);
CREATE INDEX session_summaries_project ON session_summaries (project, created_at);
CREATE INDEX session_summaries_everywhere ON session_summaries (created_at);

CREATE TABLE learnings (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    ulid          TEXT    NOT NULL UNIQUE,
    project       TEXT    NOT NULL,
    category      TEXT    NOT NULL,
    content       TEXT    NOT NULL,
    -- content_key is the content folded for comparison: what says the same has the same.
    content_key   TEXT    NOT NULL,
    confidence    REAL    NOT NULL,
    times_seen    INTEGER NOT NULL DEFAULT 1,
    is_active     INTEGER NOT NULL DEFAULT 1,
    superseded_by INTEGER REFERENCES learnings (id) ON DELETE SET NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    UNIQUE (project, content_key)
) STRICT;
CREATE INDEX learnings_best ON learnings (project, is_active, confidence DESC);
CREATE INDEX learnings_superseded ON learnings (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE function_map (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    ulid           TEXT    NOT NULL UNIQUE,
    session_id     INTEGER NOT NULL REFERENCES sessions (id),
    file_path      TEXT    NOT NULL,
    snapshot_at    INTEGER NOT NULL,
    qualified_name TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    signature      TEXT    NOT NULL DEFAULT '',
    line_start     INTEGER NOT NULL DEFAULT 0,
    line_end       INTEGER NOT NULL DEFAULT 0,
    body_hash      TEXT    NOT NULL DEFAULT '',
    change_type    TEXT    NOT NULL CHECK (change_type IN ('new', 'modified', 'deleted', 'unchanged')),
    renamed_from   TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX function_map_session ON function_map (session_id, snapshot_at DESC);
CREATE INDEX function_map_symbol ON function_map (file_path, qualified_name, snapshot_at DESC);

-- The books: a row for each accepted event, never deleted.
CREATE TABLE events (
    -- Numbered without a gap as they come, so the highest is how many were received.
    id            INTEGER PRIMARY KEY,
    event_key     TEXT    NOT NULL UNIQUE,
    delivery_id   TEXT    UNIQUE,
    -- NULL for a skipped event of a session that is not to be known.
    session_id    INTEGER REFERENCES sessions (id),
    kind          TEXT    NOT NULL,
    tool_name     TEXT    NOT NULL DEFAULT '',
    prompt_id     TEXT    NOT NULL DEFAULT '',
    prompt_number INTEGER NOT NULL DEFAULT 0,
    occurred_at   INTEGER NOT NULL,
    received_at   INTEGER NOT NULL,
    outcome       TEXT    NOT NULL
                  CHECK (outcome IN ('pending', 'processing', 'processed', 'skipped', 'failed', 'forgotten')),
    reason        TEXT    NOT NULL DEFAULT '',
    -- bytes is the size of the payload, not_before when a retry becomes due; both
    -- stand here so that the queue index covers a look at the backlog.
    bytes         INTEGER NOT NULL DEFAULT 0,
    not_before    INTEGER NOT NULL DEFAULT 0,
    processed_at  INTEGER,
    -- processed_seq numbers confirmed work in the order of its confirmation; NULL
    -- for what never waited (prompts, session ends, skipped events).
    processed_seq INTEGER
) STRICT;
CREATE INDEX events_queue ON events
    (session_id, occurred_at, delivery_id, id, outcome, kind, prompt_number, received_at, not_before, bytes)
    WHERE outcome IN ('pending', 'processing');
CREATE INDEX events_failed ON events (occurred_at) WHERE outcome = 'failed';
-- For the books alone; it costs the arrival of work nothing.
CREATE INDEX events_done ON events (outcome) WHERE outcome IN ('processed', 'skipped', 'forgotten');

-- The payloads of the events that are pending, processing or failed.
CREATE TABLE pending_messages (
    event_id   INTEGER PRIMARY KEY REFERENCES events (id),
    attempts   INTEGER NOT NULL DEFAULT 0,
    claimer    TEXT,
    claimed_at INTEGER,
    last_error TEXT    NOT NULL DEFAULT '',
    files      TEXT    NOT NULL DEFAULT '',
    payload    TEXT    NOT NULL
) STRICT;

CREATE TABLE llm_calls (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id      INTEGER REFERENCES sessions (id),
    provider        TEXT    NOT NULL,
    model           TEXT    NOT NULL DEFAULT '',
    kind            TEXT    NOT NULL,
    reserved_tokens INTEGER NOT NULL DEFAULT 0,
    tokens_in       INTEGER NOT NULL DEFAULT 0,
    tokens_out      INTEGER NOT NULL DEFAULT 0,
    tokens_cached   INTEGER NOT NULL DEFAULT 0,
    cost_usd        REAL    NOT NULL DEFAULT 0,
    outcome         TEXT    NOT NULL DEFAULT 'reserved',
    error           TEXT    NOT NULL DEFAULT '',
    started_at      INTEGER NOT NULL,
    duration_ms     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX llm_calls_time ON llm_calls (started_at);
CREATE INDEX llm_calls_session ON llm_calls (session_id, started_at);

CREATE TABLE injections (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id      INTEGER REFERENCES sessions (id),
    host            TEXT    NOT NULL,
    host_session_id TEXT    NOT NULL,
    project         TEXT    NOT NULL DEFAULT '',
    hook_event      TEXT    NOT NULL,
    source          TEXT    NOT NULL DEFAULT '',
    observations    TEXT    NOT NULL DEFAULT '[]',
    sessions        TEXT    NOT NULL DEFAULT '[]',
    layers          TEXT    NOT NULL DEFAULT '[]',
    skipped         TEXT    NOT NULL DEFAULT '[]',
    tokens          INTEGER NOT NULL DEFAULT 0,
    budget          INTEGER NOT NULL DEFAULT 0,
    build_ms        REAL    NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    -- The same injection may come twice, from the worker and from a spool file.
    UNIQUE (host, host_session_id, hook_event, created_at)
) STRICT;

CREATE TABLE event_log (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    event_type  TEXT    NOT NULL,
    session_id  INTEGER REFERENCES sessions (id),
    data        TEXT    NOT NULL DEFAULT '{}',
    duration_ms REAL    NOT NULL DEFAULT 0,
    tokens_out  INTEGER NOT NULL DEFAULT 0,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX event_log_type ON event_log (event_type, created_at);
CREATE INDEX event_log_time ON event_log (created_at);

-- What was forgotten on purpose and must not come back by a later import.
CREATE TABLE tombstones (
    kind       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstones_time ON tombstones (created_at);

CREATE TABLE counters (
    name  TEXT    PRIMARY KEY,
    value INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE notices (
    key        TEXT    PRIMARY KEY,
    text       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    shown_at   INTEGER
) STRICT;

-- The ordered change feed. AUTOINCREMENT, so that a number is never given twice
-- even after the oldest rows were pruned.
CREATE TABLE changes (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    kind      TEXT    NOT NULL,
    id        INTEGER NOT NULL,
    operation TEXT    NOT NULL CHECK (operation IN ('insert', 'update', 'delete')),
    -- For pruning only: it is the machine's clock, not the order.
    created_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER))
) STRICT;

CREATE TRIGGER sessions_inserted AFTER INSERT ON sessions BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('session', NEW.id, 'insert');
END;
-- A mere move of the times is not told: it comes with every event.
CREATE TRIGGER sessions_updated
AFTER UPDATE OF status, title, label, project, prompt_count, completed_at, memory_session_id ON sessions
WHEN OLD.status IS NOT NEW.status OR OLD.title IS NOT NEW.title OR OLD.label IS NOT NEW.label
  OR OLD.project IS NOT NEW.project OR OLD.prompt_count IS NOT NEW.prompt_count
  OR OLD.completed_at IS NOT NEW.completed_at OR OLD.memory_session_id IS NOT NEW.memory_session_id
BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('session', NEW.id, 'update');
END;
CREATE TRIGGER sessions_deleted AFTER DELETE ON sessions BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('session', OLD.id, 'delete');
END;
-- A session that gets another project takes its records along.
CREATE TRIGGER sessions_moved AFTER UPDATE OF project ON sessions
WHEN OLD.project IS NOT NEW.project
BEGIN
    UPDATE prompts SET project = NEW.project WHERE session_id = NEW.id;
    UPDATE session_summaries SET project = NEW.project WHERE session_id = NEW.id;
    UPDATE observations SET project = NEW.project WHERE session_id = NEW.id AND project = OLD.project;
END;

CREATE TRIGGER prompts_inserted AFTER INSERT ON prompts BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('prompt', NEW.id, 'insert');
END;
CREATE TRIGGER prompts_updated AFTER UPDATE ON prompts BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('prompt', NEW.id, 'update');
END;
CREATE TRIGGER prompts_deleted AFTER DELETE ON prompts BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('prompt', OLD.id, 'delete');
END;
-- A prompt is found by the words of its neighbours too: those of one that changes
-- or goes are to be read again. (One that is added names the prompt before it.)
CREATE TRIGGER prompts_reworded AFTER UPDATE OF text, number, session_id ON prompts BEGIN
    INSERT INTO changes (kind, id, operation) SELECT 'prompt', id, 'update' FROM prompts WHERE id IN (
        (SELECT id FROM prompts WHERE session_id = OLD.session_id AND number < OLD.number ORDER BY number DESC LIMIT 1),
        (SELECT id FROM prompts WHERE session_id = OLD.session_id AND number > OLD.number ORDER BY number LIMIT 1),
        (SELECT id FROM prompts WHERE session_id = NEW.session_id AND number < NEW.number ORDER BY number DESC LIMIT 1),
        (SELECT id FROM prompts WHERE session_id = NEW.session_id AND number > NEW.number ORDER BY number LIMIT 1));
END;
CREATE TRIGGER prompts_gone AFTER DELETE ON prompts BEGIN
    INSERT INTO changes (kind, id, operation) SELECT 'prompt', id, 'update' FROM prompts WHERE id IN (
        (SELECT id FROM prompts WHERE session_id = OLD.session_id AND number < OLD.number ORDER BY number DESC LIMIT 1),
        (SELECT id FROM prompts WHERE session_id = OLD.session_id AND number > OLD.number ORDER BY number LIMIT 1));
END;

CREATE TRIGGER observations_inserted AFTER INSERT ON observations BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('observation', NEW.id, 'insert');
END;
CREATE TRIGGER observations_updated AFTER UPDATE ON observations BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('observation', NEW.id, 'update');
END;
CREATE TRIGGER observations_deleted AFTER DELETE ON observations BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('observation', OLD.id, 'delete');
END;

-- observation_concepts has what is not hidden.
CREATE TRIGGER observations_concepts_added AFTER INSERT ON observations WHEN NEW.deleted_at IS NULL BEGIN
    INSERT OR IGNORE INTO observation_concepts (concept, project, created_at, observation_id)
        SELECT value, NEW.project, NEW.created_at, NEW.id FROM json_each(NEW.concepts);
END;
CREATE TRIGGER observations_concepts_moved AFTER UPDATE OF concepts, project, created_at, deleted_at ON observations BEGIN
    DELETE FROM observation_concepts WHERE (concept, project, created_at, observation_id) IN
        (SELECT value, OLD.project, OLD.created_at, OLD.id FROM json_each(OLD.concepts));
    INSERT OR IGNORE INTO observation_concepts (concept, project, created_at, observation_id)
        SELECT value, NEW.project, NEW.created_at, NEW.id FROM json_each(NEW.concepts) WHERE NEW.deleted_at IS NULL;
END;
CREATE TRIGGER observations_concepts_deleted AFTER DELETE ON observations BEGIN
    DELETE FROM observation_concepts WHERE (concept, project, created_at, observation_id) IN
        (SELECT value, OLD.project, OLD.created_at, OLD.id FROM json_each(OLD.concepts));
END;

CREATE TRIGGER session_summaries_inserted AFTER INSERT ON session_summaries BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('summary', NEW.id, 'insert');
END;
CREATE TRIGGER session_summaries_updated AFTER UPDATE ON session_summaries BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('summary', NEW.id, 'update');
END;
CREATE TRIGGER session_summaries_deleted AFTER DELETE ON session_summaries BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('summary', OLD.id, 'delete');
END;

CREATE TRIGGER learnings_inserted AFTER INSERT ON learnings BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('learning', NEW.id, 'insert');
END;
CREATE TRIGGER learnings_updated AFTER UPDATE ON learnings BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('learning', NEW.id, 'update');
END;
CREATE TRIGGER learnings_deleted AFTER DELETE ON learnings BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('learning', OLD.id, 'delete');
END;

CREATE TRIGGER function_map_inserted AFTER INSERT ON function_map BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('symbol', NEW.id, 'insert');
END;
CREATE TRIGGER function_map_updated AFTER UPDATE ON function_map BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('symbol', NEW.id, 'update');
END;
CREATE TRIGGER function_map_deleted AFTER DELETE ON function_map BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('symbol', OLD.id, 'delete');
END;

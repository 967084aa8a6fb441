-- The newest schema, for a memory that is new. Written by TestFreshSchema from the migrations; not to be edited.

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
    subtitle         ANY     NOT NULL DEFAULT '',
    narrative        ANY     NOT NULL DEFAULT '',
    facts            ANY     NOT NULL DEFAULT '[]',
    concepts         TEXT    NOT NULL DEFAULT '[]',
    discovery_tokens INTEGER NOT NULL DEFAULT 0,
    content_hash     ANY     NOT NULL,
    -- files_key is a hash of the paths: two observations of the same files share it.
    files_key        ANY     NOT NULL DEFAULT '',
    origin           TEXT    NOT NULL DEFAULT 'observer',
    agent_id         TEXT    NOT NULL DEFAULT '',
    agent_type       TEXT    NOT NULL DEFAULT '',
    branch           TEXT    NOT NULL DEFAULT '',
    head_commit      TEXT    NOT NULL DEFAULT '',
    times_seen       INTEGER NOT NULL DEFAULT 1,
    pinned           INTEGER NOT NULL DEFAULT 0,
    superseded_by    INTEGER REFERENCES observations (id) ON DELETE SET NULL,
    deleted_at       INTEGER,
    created_at       INTEGER NOT NULL, provenance TEXT NOT NULL DEFAULT '',
    UNIQUE (session_id, content_hash)
) STRICT;

CREATE INDEX observations_newest ON observations (project, pinned, deleted_at, created_at);

CREATE INDEX observations_newest_everywhere ON observations (pinned, deleted_at, created_at);

CREATE INDEX observations_type ON observations (project, type, deleted_at, created_at);

CREATE INDEX observations_type_everywhere ON observations (type, deleted_at, created_at);

CREATE INDEX observations_session ON observations (session_id, deleted_at, created_at);

CREATE INDEX observations_turn ON observations (session_id, prompt_number);

CREATE INDEX observations_hidden ON observations (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE INDEX observations_written ON observations (project, content_hash) WHERE origin IN ('user', 'agent', 'import');

CREATE INDEX observations_superseded ON observations (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE session_summaries (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    ulid          TEXT    NOT NULL UNIQUE,
    session_id    INTEGER NOT NULL REFERENCES sessions (id),
    -- project is the session's.
    project       TEXT    NOT NULL DEFAULT '',
    prompt_number INTEGER NOT NULL DEFAULT 0,
    request       TEXT    NOT NULL DEFAULT '',
    investigated  ANY     NOT NULL DEFAULT '',
    learned       ANY     NOT NULL DEFAULT '',
    completed     ANY     NOT NULL DEFAULT '',
    next_steps    ANY     NOT NULL DEFAULT '',
    files_read    TEXT    NOT NULL DEFAULT '[]',
    files_edited  TEXT    NOT NULL DEFAULT '[]',
    notes         ANY     NOT NULL DEFAULT '',
    origin        TEXT    NOT NULL DEFAULT 'observer',
    created_at    INTEGER NOT NULL
, provenance TEXT NOT NULL DEFAULT '') STRICT;

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
    updated_at    INTEGER NOT NULL, provenance TEXT NOT NULL DEFAULT '',
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
, before_hash TEXT NOT NULL DEFAULT '', project TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX function_map_session ON function_map (session_id, snapshot_at DESC);

CREATE INDEX function_map_symbol ON function_map (file_path, qualified_name, snapshot_at DESC);

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
, result TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX events_queue ON events
    (session_id, occurred_at, delivery_id, id, outcome, kind, prompt_number, received_at, not_before, bytes)
    WHERE outcome IN ('pending', 'processing');

CREATE INDEX events_failed ON events (occurred_at) WHERE outcome = 'failed';

CREATE TABLE pending_messages (
    event_id   INTEGER PRIMARY KEY REFERENCES events (id),
    attempts   INTEGER NOT NULL DEFAULT 0,
    claimer    TEXT,
    claimed_at INTEGER,
    last_error TEXT    NOT NULL DEFAULT '',
    files      TEXT    NOT NULL DEFAULT '',
    payload    TEXT    NOT NULL
, symbols TEXT, provenance TEXT NOT NULL DEFAULT '') STRICT;

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
    created_at      INTEGER NOT NULL, said TEXT NOT NULL DEFAULT '', arm TEXT NOT NULL DEFAULT '', held INTEGER NOT NULL DEFAULT 0,
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

CREATE TABLE tombstones (
    kind       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    created_at INTEGER NOT NULL, import INTEGER NOT NULL DEFAULT 0,
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

CREATE TRIGGER observations_deleted AFTER DELETE ON observations BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('observation', OLD.id, 'delete');
END;

CREATE TRIGGER session_summaries_inserted AFTER INSERT ON session_summaries BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('summary', NEW.id, 'insert');
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

CREATE TRIGGER function_map_deleted AFTER DELETE ON function_map BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('symbol', OLD.id, 'delete');
END;

CREATE INDEX events_done ON events (outcome, reason, kind, tool_name)
    WHERE outcome IN ('processed', 'skipped', 'forgotten');

CREATE INDEX events_of_session ON events (session_id, outcome, reason, kind, tool_name)
    WHERE outcome IN ('processed', 'skipped', 'forgotten');

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

CREATE TABLE unread_turns (
    session_id    INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    prompt_number INTEGER NOT NULL,
    -- kept_at is when the last of its payloads was put here, bytes the size of all of them.
    kept_at       INTEGER NOT NULL,
    bytes         INTEGER NOT NULL DEFAULT 0,
    -- due_at is when a model may be asked, attempts how often one was asked in vain.
    due_at        INTEGER NOT NULL DEFAULT 0,
    attempts      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session_id, prompt_number)
) STRICT, WITHOUT ROWID;

CREATE TABLE unread_messages (
    event_id      INTEGER PRIMARY KEY REFERENCES events (id),
    session_id    INTEGER NOT NULL,
    prompt_number INTEGER NOT NULL,
    files         TEXT    NOT NULL DEFAULT '',
    symbols       TEXT,
    provenance    TEXT    NOT NULL DEFAULT '',
    payload       TEXT    NOT NULL,
    FOREIGN KEY (session_id, prompt_number) REFERENCES unread_turns (session_id, prompt_number) ON DELETE CASCADE
) STRICT;

CREATE INDEX unread_messages_turn ON unread_messages (session_id, prompt_number);

CREATE TABLE unread_records (
    session_id    INTEGER NOT NULL,
    prompt_number INTEGER NOT NULL,
    kind          TEXT    NOT NULL CHECK (kind IN ('observation', 'summary', 'learning')),
    record_id     INTEGER NOT NULL,
    -- made is 0 for a record that was there before and was only seen again.
    made          INTEGER NOT NULL,
    -- content is a hash or key of what the record said: one that the user edited has another.
    content       TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (session_id, prompt_number, kind, record_id),
    FOREIGN KEY (session_id, prompt_number) REFERENCES unread_turns (session_id, prompt_number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX unread_records_record ON unread_records (kind, record_id);

CREATE TRIGGER unread_observation_deleted AFTER DELETE ON observations BEGIN
    DELETE FROM unread_turns WHERE (session_id, prompt_number) IN
        (SELECT session_id, prompt_number FROM unread_records WHERE kind = 'observation' AND record_id = OLD.id AND made = 1);
END;

CREATE TRIGGER unread_learning_deleted AFTER DELETE ON learnings BEGIN
    DELETE FROM unread_turns WHERE (session_id, prompt_number) IN
        (SELECT session_id, prompt_number FROM unread_records WHERE kind = 'learning' AND record_id = OLD.id AND made = 1);
END;

CREATE TRIGGER unread_event_forgotten AFTER UPDATE OF outcome ON events WHEN NEW.outcome = 'forgotten' BEGIN
    DELETE FROM unread_turns WHERE (session_id, prompt_number) IN
        (SELECT session_id, prompt_number FROM unread_messages WHERE event_id = NEW.id);
END;

CREATE TABLE hidden_records (
    kind     TEXT    NOT NULL CHECK (kind IN ('observation', 'prompt', 'summary')),
    id       INTEGER NOT NULL,
    erase_at INTEGER NOT NULL,
    content  TEXT    NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX hidden_records_due ON hidden_records (kind, erase_at);

CREATE TABLE record_hashes (
    kind       TEXT    NOT NULL CHECK (kind IN ('observation', 'prompt', 'summary', 'learning', 'session')),
    id         INTEGER NOT NULL,
    text       INTEGER NOT NULL,
    rest       INTEGER NOT NULL,
    -- damaged_at is when the text was found to be wrong and no backup had the right one.
    damaged_at INTEGER,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX record_hashes_damaged ON record_hashes (damaged_at) WHERE damaged_at IS NOT NULL;

CREATE TRIGGER observations_hashed AFTER INSERT ON observations BEGIN
    INSERT INTO record_hashes (kind, id, text, rest) VALUES ('observation', NEW.id, record_hash(0, NEW.ulid, NEW.session_id, NEW.project, NEW.prompt_number, NEW.type, NEW.title, NEW.subtitle, NEW.narrative,
        NEW.facts, NEW.concepts, NEW.discovery_tokens, NEW.content_hash, NEW.files_key, NEW.origin, NEW.agent_id,
        NEW.agent_type, NEW.branch, NEW.created_at, NEW.provenance), record_hash(0, NEW.head_commit, NEW.times_seen, NEW.pinned, NEW.superseded_by, NEW.deleted_at))
        ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text, rest = excluded.rest;
END;

CREATE TRIGGER observations_rehashed AFTER UPDATE OF ulid, session_id, project, prompt_number, type, title, subtitle, narrative, facts, concepts, discovery_tokens,
    content_hash, files_key, origin, agent_id, agent_type, branch, created_at, provenance ON observations BEGIN
    UPDATE record_hashes SET text = record_hash(0, NEW.ulid, NEW.session_id, NEW.project, NEW.prompt_number, NEW.type, NEW.title, NEW.subtitle, NEW.narrative,
        NEW.facts, NEW.concepts, NEW.discovery_tokens, NEW.content_hash, NEW.files_key, NEW.origin, NEW.agent_id,
        NEW.agent_type, NEW.branch, NEW.created_at, NEW.provenance)
        WHERE kind = 'observation' AND id = NEW.id AND text = record_hash(0, OLD.ulid, OLD.session_id, OLD.project, OLD.prompt_number, OLD.type, OLD.title, OLD.subtitle, OLD.narrative,
        OLD.facts, OLD.concepts, OLD.discovery_tokens, OLD.content_hash, OLD.files_key, OLD.origin, OLD.agent_id,
        OLD.agent_type, OLD.branch, OLD.created_at, OLD.provenance);
END;

CREATE TRIGGER observations_rest_rehashed AFTER UPDATE OF head_commit, times_seen, pinned, superseded_by, deleted_at ON observations BEGIN
    UPDATE record_hashes SET rest = record_hash(record_hash(rest, OLD.head_commit, OLD.times_seen, OLD.pinned, OLD.superseded_by, OLD.deleted_at),
        NEW.head_commit, NEW.times_seen, NEW.pinned, NEW.superseded_by, NEW.deleted_at) WHERE kind = 'observation' AND id = NEW.id;
END;

CREATE TRIGGER observations_unhashed AFTER DELETE ON observations BEGIN
    DELETE FROM record_hashes WHERE kind = 'observation' AND id = OLD.id;
END;

CREATE TRIGGER prompts_hashed AFTER INSERT ON prompts BEGIN
    INSERT INTO record_hashes (kind, id, text, rest) VALUES ('prompt', NEW.id, record_hash(0, NEW.ulid, NEW.session_id, NEW.project, NEW.number, NEW.prompt_id, NEW.text, NEW.branch, NEW.head_commit,
        NEW.created_at), 0)
        ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text, rest = excluded.rest;
END;

CREATE TRIGGER prompts_rehashed AFTER UPDATE OF ulid, session_id, project, number, prompt_id, text, branch, head_commit, created_at ON prompts BEGIN
    UPDATE record_hashes SET text = record_hash(0, NEW.ulid, NEW.session_id, NEW.project, NEW.number, NEW.prompt_id, NEW.text, NEW.branch, NEW.head_commit,
        NEW.created_at)
        WHERE kind = 'prompt' AND id = NEW.id AND text = record_hash(0, OLD.ulid, OLD.session_id, OLD.project, OLD.number, OLD.prompt_id, OLD.text, OLD.branch, OLD.head_commit,
        OLD.created_at);
END;

CREATE TRIGGER prompts_unhashed AFTER DELETE ON prompts BEGIN
    DELETE FROM record_hashes WHERE kind = 'prompt' AND id = OLD.id;
END;

CREATE TRIGGER session_summaries_rehashed AFTER UPDATE OF ulid, session_id, project, prompt_number, request, investigated, learned, completed, next_steps, files_read,
    files_edited, notes, origin, created_at ON session_summaries BEGIN
    UPDATE record_hashes SET text = record_hash(0, NEW.ulid, NEW.session_id, NEW.project, NEW.prompt_number, NEW.request, NEW.investigated, NEW.learned,
        NEW.completed, NEW.next_steps, NEW.files_read, NEW.files_edited, NEW.notes, NEW.origin, NEW.created_at)
        WHERE kind = 'summary' AND id = NEW.id AND text = record_hash(0, OLD.ulid, OLD.session_id, OLD.project, OLD.prompt_number, OLD.request, OLD.investigated, OLD.learned,
        OLD.completed, OLD.next_steps, OLD.files_read, OLD.files_edited, OLD.notes, OLD.origin, OLD.created_at);
END;

CREATE TRIGGER session_summaries_unhashed AFTER DELETE ON session_summaries BEGIN
    DELETE FROM record_hashes WHERE kind = 'summary' AND id = OLD.id;
END;

CREATE TRIGGER learnings_hashed AFTER INSERT ON learnings BEGIN
    INSERT INTO record_hashes (kind, id, text, rest) VALUES ('learning', NEW.id, record_hash(0, NEW.ulid, NEW.project, NEW.category, NEW.content, NEW.content_key, NEW.created_at, NEW.provenance), record_hash(0, NEW.confidence, NEW.times_seen, NEW.is_active, NEW.superseded_by, NEW.updated_at))
        ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text, rest = excluded.rest;
END;

CREATE TRIGGER learnings_rehashed AFTER UPDATE OF ulid, project, category, content, content_key, created_at, provenance ON learnings BEGIN
    UPDATE record_hashes SET text = record_hash(0, NEW.ulid, NEW.project, NEW.category, NEW.content, NEW.content_key, NEW.created_at, NEW.provenance)
        WHERE kind = 'learning' AND id = NEW.id AND text = record_hash(0, OLD.ulid, OLD.project, OLD.category, OLD.content, OLD.content_key, OLD.created_at, OLD.provenance);
END;

CREATE TRIGGER learnings_rest_rehashed AFTER UPDATE OF confidence, times_seen, is_active, superseded_by, updated_at ON learnings BEGIN
    UPDATE record_hashes SET rest = record_hash(record_hash(rest, OLD.confidence, OLD.times_seen, OLD.is_active, OLD.superseded_by, OLD.updated_at),
        NEW.confidence, NEW.times_seen, NEW.is_active, NEW.superseded_by, NEW.updated_at) WHERE kind = 'learning' AND id = NEW.id;
END;

CREATE TRIGGER learnings_unhashed AFTER DELETE ON learnings BEGIN
    DELETE FROM record_hashes WHERE kind = 'learning' AND id = OLD.id;
END;

CREATE TRIGGER sessions_hashed AFTER INSERT ON sessions BEGIN
    INSERT INTO record_hashes (kind, id, text, rest) VALUES ('session', NEW.id, record_hash(0, NEW.ulid, NEW.host, NEW.host_session_id, NEW.memory_session_id, NEW.project, NEW.label, NEW.title,
        NEW.started_at), 0)
        ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text, rest = excluded.rest;
END;

CREATE TRIGGER sessions_rehashed AFTER UPDATE OF ulid, host, host_session_id, memory_session_id, project, label, title, started_at ON sessions BEGIN
    UPDATE record_hashes SET text = record_hash(0, NEW.ulid, NEW.host, NEW.host_session_id, NEW.memory_session_id, NEW.project, NEW.label, NEW.title,
        NEW.started_at)
        WHERE kind = 'session' AND id = NEW.id AND text = record_hash(0, OLD.ulid, OLD.host, OLD.host_session_id, OLD.memory_session_id, OLD.project, OLD.label, OLD.title,
        OLD.started_at);
END;

CREATE TRIGGER sessions_unhashed AFTER DELETE ON sessions BEGIN
    DELETE FROM record_hashes WHERE kind = 'session' AND id = OLD.id;
END;

CREATE TRIGGER function_map_updated AFTER UPDATE ON function_map BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('symbol', NEW.id, 'update');
END;

CREATE TRIGGER sessions_moved_symbols AFTER UPDATE OF project ON sessions WHEN OLD.project IS NOT NEW.project BEGIN
    UPDATE function_map SET project = NEW.project WHERE session_id = NEW.id;
END;

CREATE INDEX function_map_newest ON function_map (snapshot_at DESC, file_path, line_start, id) WHERE change_type <> 'unchanged';

CREATE INDEX function_map_project ON function_map (project, snapshot_at DESC, file_path, line_start, id) WHERE change_type <> 'unchanged';

CREATE TABLE project_aliases (
    path       TEXT    NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE "observation_concepts" (
    concept        TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    observation_id INTEGER NOT NULL,
    project        TEXT    NOT NULL,
    PRIMARY KEY (concept, created_at, observation_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER observations_concepts_added AFTER INSERT ON observations WHEN NEW.deleted_at IS NULL BEGIN
    INSERT OR IGNORE INTO observation_concepts (concept, created_at, observation_id, project)
        SELECT value, NEW.created_at, NEW.id, NEW.project FROM json_each(NEW.concepts);
END;

CREATE TRIGGER observations_concepts_moved AFTER UPDATE OF concepts, project, created_at, deleted_at ON observations BEGIN
    DELETE FROM observation_concepts WHERE (concept, created_at, observation_id) IN
        (SELECT value, OLD.created_at, OLD.id FROM json_each(OLD.concepts));
    INSERT OR IGNORE INTO observation_concepts (concept, created_at, observation_id, project)
        SELECT value, NEW.created_at, NEW.id, NEW.project FROM json_each(NEW.concepts) WHERE NEW.deleted_at IS NULL;
END;

CREATE TRIGGER observations_concepts_deleted AFTER DELETE ON observations BEGIN
    DELETE FROM observation_concepts WHERE (concept, created_at, observation_id) IN
        (SELECT value, OLD.created_at, OLD.id FROM json_each(OLD.concepts));
END;

CREATE TRIGGER observations_updated AFTER UPDATE ON observations BEGIN
		INSERT INTO changes (kind, id, operation) VALUES ('observation', NEW.id, 'update');
	END;

CREATE TRIGGER session_summaries_updated AFTER UPDATE ON session_summaries BEGIN
		INSERT INTO changes (kind, id, operation) VALUES ('summary', NEW.id, 'update');
	END;

CREATE TABLE paths (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT    NOT NULL UNIQUE
) STRICT;

CREATE TABLE file_refs (
    observation_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
    position       INTEGER NOT NULL,
    path_id        INTEGER NOT NULL REFERENCES paths (id),
    -- modified is 0 for a file that was only read.
    modified       INTEGER NOT NULL CHECK (modified IN (0, 1)),
    file_hash      TEXT,
    symbols        TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (observation_id, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX file_refs_path ON file_refs (path_id, observation_id DESC);

CREATE VIEW observation_files AS
    SELECT f.observation_id, f.position, p.path, iif(f.modified, 'modified', 'read') AS role, f.file_hash, f.symbols
    FROM file_refs f JOIN paths p ON p.id = f.path_id;

CREATE TRIGGER observation_files_inserted INSTEAD OF INSERT ON observation_files BEGIN
    INSERT INTO paths (path) SELECT NEW.path WHERE NOT EXISTS (SELECT 1 FROM paths WHERE path = NEW.path);
    INSERT INTO file_refs (observation_id, position, path_id, modified, file_hash, symbols)
        VALUES (NEW.observation_id, NEW.position, (SELECT id FROM paths WHERE path = NEW.path),
            CASE NEW.role WHEN 'modified' THEN 1 WHEN 'read' THEN 0 END, NEW.file_hash, coalesce(NEW.symbols, ''));
END;

CREATE TRIGGER observation_files_updated INSTEAD OF UPDATE ON observation_files BEGIN
    INSERT INTO paths (path) SELECT NEW.path WHERE NOT EXISTS (SELECT 1 FROM paths WHERE path = NEW.path);
    UPDATE file_refs SET observation_id = NEW.observation_id, position = NEW.position, path_id = (SELECT id FROM paths WHERE path = NEW.path),
        modified = CASE NEW.role WHEN 'modified' THEN 1 WHEN 'read' THEN 0 END, file_hash = NEW.file_hash, symbols = NEW.symbols
        WHERE observation_id = OLD.observation_id AND position = OLD.position;
END;

CREATE TRIGGER observation_files_deleted INSTEAD OF DELETE ON observation_files BEGIN
    DELETE FROM file_refs WHERE observation_id = OLD.observation_id AND position = OLD.position;
END;

CREATE TRIGGER file_refs_hashed AFTER INSERT ON file_refs BEGIN
    UPDATE record_hashes SET rest = record_hash(rest, NEW.observation_id, NEW.position,
            (SELECT path FROM paths WHERE id = NEW.path_id), iif(NEW.modified, 'modified', 'read'), NEW.file_hash, NEW.symbols)
        WHERE kind = 'observation' AND id = NEW.observation_id;
END;

CREATE TRIGGER file_refs_rehashed AFTER UPDATE ON file_refs BEGIN
    UPDATE record_hashes SET rest = record_hash(rest, OLD.observation_id, OLD.position,
            (SELECT path FROM paths WHERE id = OLD.path_id), iif(OLD.modified, 'modified', 'read'), OLD.file_hash, OLD.symbols)
        WHERE kind = 'observation' AND id = OLD.observation_id;
    UPDATE record_hashes SET rest = record_hash(rest, NEW.observation_id, NEW.position,
            (SELECT path FROM paths WHERE id = NEW.path_id), iif(NEW.modified, 'modified', 'read'), NEW.file_hash, NEW.symbols)
        WHERE kind = 'observation' AND id = NEW.observation_id;
END;

CREATE TRIGGER file_refs_unhashed AFTER DELETE ON file_refs BEGIN
    UPDATE record_hashes SET rest = record_hash(rest, OLD.observation_id, OLD.position,
            (SELECT path FROM paths WHERE id = OLD.path_id), iif(OLD.modified, 'modified', 'read'), OLD.file_hash, OLD.symbols)
        WHERE kind = 'observation' AND id = OLD.observation_id;
END;

CREATE TABLE foreign_texts (
    id            INTEGER PRIMARY KEY,
    session_id    INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    prompt_number INTEGER NOT NULL,
    provenance    TEXT    NOT NULL,
    runs          BLOB    NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX foreign_texts_turn ON foreign_texts (session_id, prompt_number);

CREATE TRIGGER session_summaries_hashed AFTER INSERT ON session_summaries BEGIN
    INSERT INTO record_hashes (kind, id, text, rest) VALUES ('summary', NEW.id, record_hash(0, NEW.ulid, NEW.session_id, NEW.project, NEW.prompt_number, NEW.request, NEW.investigated, NEW.learned,
        NEW.completed, NEW.next_steps, NEW.files_read, NEW.files_edited, NEW.notes, NEW.origin, NEW.created_at), iif(NEW.provenance = '', 0, record_hash(0, NEW.provenance)))
        ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text, rest = excluded.rest;
END;

CREATE TRIGGER session_summaries_rest_rehashed AFTER UPDATE OF provenance ON session_summaries BEGIN
    UPDATE record_hashes SET rest = iif(NEW.provenance = '', 0, record_hash(0, NEW.provenance))
        WHERE kind = 'summary' AND id = NEW.id AND rest = iif(OLD.provenance = '', 0, record_hash(0, OLD.provenance));
END;

CREATE VIEW record_sums AS
    SELECT 'observation' AS kind, id, record_hash(0, ulid, session_id, project, prompt_number, type, title, subtitle, narrative, facts, concepts, discovery_tokens,
        content_hash, files_key, origin, agent_id, agent_type, branch, created_at, provenance) AS text,
        record_hash((SELECT record_hashes(f.observation_id, f.position, f.path, f.role, f.file_hash, f.symbols)
            FROM observation_files f WHERE f.observation_id = observations.id), head_commit, times_seen, pinned, superseded_by, deleted_at) AS rest FROM observations
    UNION ALL
    SELECT 'prompt' AS kind, id, record_hash(0, ulid, session_id, project, number, prompt_id, text, branch, head_commit, created_at) AS text,
        0 AS rest FROM prompts
    UNION ALL
    SELECT 'summary' AS kind, id, record_hash(0, ulid, session_id, project, prompt_number, request, investigated, learned, completed, next_steps, files_read,
        files_edited, notes, origin, created_at) AS text,
        iif(provenance = '', 0, record_hash(0, provenance)) AS rest FROM session_summaries
    UNION ALL
    SELECT 'learning' AS kind, id, record_hash(0, ulid, project, category, content, content_key, created_at, provenance) AS text,
        record_hash(0, confidence, times_seen, is_active, superseded_by, updated_at) AS rest FROM learnings
    UNION ALL
    SELECT 'session' AS kind, id, record_hash(0, ulid, host, host_session_id, memory_session_id, project, label, title, started_at) AS text,
        0 AS rest FROM sessions;

CREATE TABLE claims (
    kind       TEXT    NOT NULL,
    id         INTEGER NOT NULL,
    origin     TEXT    NOT NULL,
    provenance TEXT    NOT NULL,
    wanted     INTEGER NOT NULL CHECK (wanted IN (0, 1)),
    waiting    INTEGER NOT NULL CHECK (waiting IN (0, 1)),
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER observations_unclaimed AFTER DELETE ON observations BEGIN
    DELETE FROM claims WHERE kind = 'observation' AND id = OLD.id;
END;

CREATE TRIGGER session_summaries_unclaimed AFTER DELETE ON session_summaries BEGIN
    DELETE FROM claims WHERE kind = 'summary' AND id = OLD.id;
END;

CREATE TRIGGER learnings_unclaimed AFTER DELETE ON learnings BEGIN
    DELETE FROM claims WHERE kind = 'learning' AND id = OLD.id;
END;

CREATE TABLE imports (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    -- source is the path as it was named, '' once something that it may name was forgotten.
    source   TEXT    NOT NULL,
    begun_at INTEGER NOT NULL,
    -- ended_at is 0 while it goes on or was broken off: the next import of the source continues it.
    ended_at INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE imported (
    kind   TEXT    NOT NULL,
    id     INTEGER NOT NULL,
    import INTEGER NOT NULL,
    -- before has the columns of a row that was changed as they were; NULL: the import added the row.
    before TEXT,
    -- mark is a hash of what people and later sessions change of the row, as the import left it.
    mark   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, id, import)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER events_imported AFTER INSERT ON events BEGIN
    INSERT OR IGNORE INTO imported (kind, id, import) SELECT 'event', NEW.id, value FROM counters WHERE name = 'importing';
END;

CREATE TRIGGER sessions_imported AFTER INSERT ON sessions BEGIN
    INSERT OR IGNORE INTO imported (kind, id, import) SELECT 'session', NEW.id, value FROM counters WHERE name = 'importing';
END;

CREATE TRIGGER prompts_imported AFTER INSERT ON prompts BEGIN
    INSERT OR IGNORE INTO imported (kind, id, import) SELECT 'prompt', NEW.id, value FROM counters WHERE name = 'importing';
END;

CREATE TRIGGER session_summaries_imported AFTER INSERT ON session_summaries BEGIN
    INSERT OR IGNORE INTO imported (kind, id, import) SELECT 'summary', NEW.id, value FROM counters WHERE name = 'importing';
END;

CREATE TRIGGER function_map_imported AFTER INSERT ON function_map BEGIN
    INSERT OR IGNORE INTO imported (kind, id, import) SELECT 'symbol', NEW.id, value FROM counters WHERE name = 'importing';
END;

CREATE TRIGGER observations_imported AFTER INSERT ON observations BEGIN
    INSERT OR IGNORE INTO imported (kind, id, import, mark) SELECT 'observation', NEW.id, value,
        record_hash(0, NEW.content_hash, NEW.pinned, NEW.times_seen) FROM counters WHERE name = 'importing';
END;

CREATE TRIGGER learnings_imported AFTER INSERT ON learnings BEGIN
    INSERT OR IGNORE INTO imported (kind, id, import, mark) SELECT 'learning', NEW.id, value,
        record_hash(0, NEW.category, NEW.content_key, NEW.is_active, NEW.times_seen) FROM counters WHERE name = 'importing';
END;

CREATE TRIGGER learnings_import_changed AFTER UPDATE ON learnings WHEN EXISTS (SELECT 1 FROM counters WHERE name = 'importing') BEGIN
    INSERT INTO imported (kind, id, import, before, mark) SELECT 'learning', NEW.id, value,
        json_array(OLD.project, OLD.confidence, OLD.times_seen, OLD.is_active, OLD.superseded_by, OLD.updated_at, OLD.provenance),
        record_hash(0, NEW.category, NEW.content_key, NEW.is_active, NEW.times_seen) FROM counters WHERE name = 'importing'
        ON CONFLICT (kind, id, import) DO UPDATE SET mark = excluded.mark;
END;

CREATE TRIGGER sessions_unimported AFTER DELETE ON sessions BEGIN
    DELETE FROM imported WHERE kind = 'session' AND id = OLD.id;
END;

CREATE TRIGGER observations_unimported AFTER DELETE ON observations BEGIN
    DELETE FROM imported WHERE kind = 'observation' AND id = OLD.id;
END;

CREATE TRIGGER learnings_unimported AFTER DELETE ON learnings BEGIN
    DELETE FROM imported WHERE kind = 'learning' AND id = OLD.id;
END;

CREATE TRIGGER sessions_import_changed AFTER UPDATE ON sessions WHEN EXISTS (SELECT 1 FROM counters WHERE name = 'importing') BEGIN
    INSERT INTO imported (kind, id, import, before, mark) SELECT 'session', NEW.id, value,
        json_array(OLD.project, OLD.label, OLD.status, OLD.started_at, OLD.updated_at, OLD.last_event_at, OLD.completed_at),
        record_hash(0, NEW.status, NEW.started_at, NEW.updated_at, NEW.last_event_at, NEW.completed_at)
        FROM counters WHERE name = 'importing'
        ON CONFLICT (kind, id, import) DO UPDATE SET mark = excluded.mark;
END;

CREATE TRIGGER observations_import_changed AFTER UPDATE ON observations WHEN EXISTS (SELECT 1 FROM counters WHERE name = 'importing') BEGIN
    INSERT INTO imported (kind, id, import, before, mark) SELECT 'observation', NEW.id, value,
        json_array(OLD.project, OLD.times_seen, OLD.superseded_by, OLD.head_commit),
        record_hash(0, NEW.content_hash, NEW.pinned, NEW.times_seen) FROM counters WHERE name = 'importing'
        ON CONFLICT (kind, id, import) DO UPDATE SET mark = excluded.mark;
END;

CREATE TABLE given_lines (
    id             INTEGER PRIMARY KEY,
    injection_id   INTEGER NOT NULL REFERENCES injections (id) ON DELETE CASCADE,
    layer          TEXT    NOT NULL,
    -- What the line is of, 0 for none. A session's line may say what one of its observations says.
    observation_id INTEGER NOT NULL DEFAULT 0,
    session_id     INTEGER NOT NULL DEFAULT 0,
    learning_id    INTEGER NOT NULL DEFAULT 0,
    tokens         INTEGER NOT NULL DEFAULT 0,
    -- words and why are '' once they are old, too many, or forgotten.
    words          TEXT    NOT NULL,
    why            TEXT    NOT NULL
) STRICT;

CREATE INDEX given_lines_injection ON given_lines (injection_id);

CREATE INDEX given_lines_session ON given_lines (session_id);

CREATE TABLE judgements (
    id         INTEGER PRIMARY KEY,
    kind       TEXT    NOT NULL CHECK (kind IN ('observation', 'session', 'learning')),
    record_id  INTEGER NOT NULL,
    judge      TEXT    NOT NULL CHECK (judge IN ('user', 'agent')),
    up         INTEGER NOT NULL,
    -- session_id is the session that the judge speaks of, 0 when it is not known.
    session_id INTEGER NOT NULL DEFAULT 0,
    -- retired: the judgement took a learning out of use, and brings it back when it goes.
    retired    INTEGER NOT NULL DEFAULT 0,
    judged_at  INTEGER NOT NULL,
    UNIQUE (kind, record_id, judge)
) STRICT;

CREATE TRIGGER observations_unjudged AFTER DELETE ON observations BEGIN
    DELETE FROM judgements WHERE kind = 'observation' AND record_id = OLD.id;
END;

CREATE TRIGGER sessions_unjudged AFTER DELETE ON sessions BEGIN
    DELETE FROM judgements WHERE kind = 'session' AND record_id = OLD.id;
    UPDATE judgements SET session_id = 0 WHERE session_id = OLD.id;
END;

CREATE TRIGGER learnings_unjudged AFTER DELETE ON learnings BEGIN
    DELETE FROM judgements WHERE kind = 'learning' AND record_id = OLD.id;
END;

CREATE TABLE trials (
    id         INTEGER PRIMARY KEY,
    -- In percent of the sessions.
    share      INTEGER NOT NULL,
    placebo    INTEGER NOT NULL,
    -- The secret decides which session is given what. It is in no export.
    secret     BLOB    NOT NULL,
    started_at INTEGER NOT NULL,
    -- 0 while it runs.
    ended_at   INTEGER NOT NULL DEFAULT 0
, moments INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE worth (
    observation_id INTEGER PRIMARY KEY REFERENCES observations (id) ON DELETE CASCADE,
    -- How many places the observation goes ahead or behind; -9: it is no longer given.
    verdict        INTEGER NOT NULL
) STRICT;

CREATE TABLE shared_records (
    kind    TEXT    NOT NULL,
    -- key names the record on all devices: a hash of what it was made of.
    key     TEXT    NOT NULL,
    -- id is its row; NULL if it is not here: forgotten, deleted for its age, or of an excluded project.
    id      INTEGER,
    ulid    TEXT    NOT NULL DEFAULT '',
    -- project is the identity of the project on all devices.
    project TEXT    NOT NULL DEFAULT '',
    -- hashes are those of the fields when they were last compared: one that differs was edited here.
    hashes  TEXT    NOT NULL DEFAULT '',
    -- state has the revisions, and the values that the row does not have.
    state   TEXT    NOT NULL DEFAULT '',
    gone    INTEGER NOT NULL DEFAULT 0,
    -- mine is 1 for a record that this device has made or edited: it is in this device's files.
    mine    INTEGER NOT NULL DEFAULT 0,
    -- unsent is the count of the change that is in no file yet, 0 for none.
    unsent  INTEGER NOT NULL DEFAULT 0,
    -- pending is 1 for a record that waits for another one: for what supersedes it, or for the text of one that says the same to change.
    pending INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX shared_records_row ON shared_records (kind, id);

CREATE INDEX shared_records_unsent ON shared_records (unsent) WHERE unsent > 0;

CREATE INDEX shared_records_pending ON shared_records (kind, key) WHERE pending > 0;

CREATE TABLE shared_state (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE project_identities (
    identity TEXT NOT NULL PRIMARY KEY,
    path     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE team_records (
    kind    TEXT    NOT NULL,
    -- key names the record for all members: a hash of what it was made of.
    key     TEXT    NOT NULL,
    -- id is its row; NULL if it is not here: muted, forgotten here, or an edit of a record that has not come yet.
    id      INTEGER,
    ulid    TEXT    NOT NULL DEFAULT '',
    -- project is the identity of the project on all machines.
    project TEXT    NOT NULL DEFAULT '',
    -- holders are the members who share it, as JSON.
    holders TEXT    NOT NULL DEFAULT '[]',
    -- act is what this member's row on the server says: shared, unshared, forgotten, or edited; '' for none.
    act     TEXT    NOT NULL DEFAULT '',
    -- pulled is 1 if the row was made of what the server had: it goes when nobody shares it any more.
    pulled  INTEGER NOT NULL DEFAULT 0,
    -- hashes are those of the fields when they were last compared, state the revisions and the values that the row does not have.
    hashes  TEXT    NOT NULL DEFAULT '',
    state   TEXT    NOT NULL DEFAULT '',
    -- seq is the number of this member's row on the server, unsent grows with what it does not have yet.
    seq     INTEGER NOT NULL DEFAULT 0,
    unsent  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX team_records_row ON team_records (kind, id);

CREATE INDEX team_records_unsent ON team_records (unsent) WHERE unsent > 0;

INSERT INTO counters (name, value) VALUES ('memory_id', random() & 0x7fffffffffffffff);

-- Schema 5: turns that no model has read are kept, so that a model can read them later;
-- events, records and learnings tell who could have written their content; injections
-- tell which sentences of their records were said.

-- user, agent, project, outside, mcp or web; '' is not known.
ALTER TABLE pending_messages ADD COLUMN provenance TEXT NOT NULL DEFAULT '';
ALTER TABLE observations ADD COLUMN provenance TEXT NOT NULL DEFAULT '';
ALTER TABLE learnings ADD COLUMN provenance TEXT NOT NULL DEFAULT '';

-- A turn with events whose records were made without the model that was chosen for them.
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

-- The payloads of these events, as they waited in pending_messages.
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

-- The records that were made of these events without a model.
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

-- What the user has deleted is not read again: the payloads of its turn go with it.
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

-- The memory's own number: copies of the memory share it, another memory has another.
INSERT OR IGNORE INTO counters (name, value) VALUES ('memory_id', random() & 0x7fffffffffffffff);

-- What was hidden because it is older than the user keeps records, until erase_at. content is
-- the row of a prompt or summary as a list of JSON; an observation stays where it is.
CREATE TABLE hidden_records (
    kind     TEXT    NOT NULL CHECK (kind IN ('observation', 'prompt', 'summary')),
    id       INTEGER NOT NULL,
    erase_at INTEGER NOT NULL,
    content  TEXT    NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX hidden_records_due ON hidden_records (kind, erase_at);

-- The keys of the sentences that the text said, a JSON object of lists by observation;
-- '' is not known.
ALTER TABLE injections ADD COLUMN said TEXT NOT NULL DEFAULT '';

-- The hashes of records, by which a change that no program has made is noticed. text is over
-- what a record says, rest over its other columns and the files of an observation; triggers
-- keep them true. A hash that was wrong before an update stays so. The functions record_hash
-- and record_hashes are claude-mem's own (package sqlite).
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

-- What the hashes have to be.
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
        0 AS rest FROM session_summaries
    UNION ALL
    SELECT 'learning' AS kind, id, record_hash(0, ulid, project, category, content, content_key, created_at, provenance) AS text,
        record_hash(0, confidence, times_seen, is_active, superseded_by, updated_at) AS rest FROM learnings
    UNION ALL
    SELECT 'session' AS kind, id, record_hash(0, ulid, host, host_session_id, memory_session_id, project, label, title, started_at) AS text,
        0 AS rest FROM sessions;

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

CREATE TRIGGER session_summaries_hashed AFTER INSERT ON session_summaries BEGIN
    INSERT INTO record_hashes (kind, id, text, rest) VALUES ('summary', NEW.id, record_hash(0, NEW.ulid, NEW.session_id, NEW.project, NEW.prompt_number, NEW.request, NEW.investigated, NEW.learned,
        NEW.completed, NEW.next_steps, NEW.files_read, NEW.files_edited, NEW.notes, NEW.origin, NEW.created_at), 0)
        ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text, rest = excluded.rest;
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

CREATE TRIGGER observation_files_hashed AFTER INSERT ON observation_files BEGIN
    UPDATE record_hashes SET rest = record_hash(rest, NEW.observation_id, NEW.position, NEW.path, NEW.role, NEW.file_hash, NEW.symbols)
        WHERE kind = 'observation' AND id = NEW.observation_id;
END;
CREATE TRIGGER observation_files_rehashed AFTER UPDATE ON observation_files BEGIN
    UPDATE record_hashes SET rest = record_hash(rest, OLD.observation_id, OLD.position, OLD.path, OLD.role, OLD.file_hash, OLD.symbols)
        WHERE kind = 'observation' AND id = OLD.observation_id;
    UPDATE record_hashes SET rest = record_hash(rest, NEW.observation_id, NEW.position, NEW.path, NEW.role, NEW.file_hash, NEW.symbols)
        WHERE kind = 'observation' AND id = NEW.observation_id;
END;
CREATE TRIGGER observation_files_unhashed AFTER DELETE ON observation_files BEGIN
    UPDATE record_hashes SET rest = record_hash(rest, OLD.observation_id, OLD.position, OLD.path, OLD.role, OLD.file_hash, OLD.symbols)
        WHERE kind = 'observation' AND id = OLD.observation_id;
END;

-- The records from before this version count as right.
INSERT INTO record_hashes (kind, id, text, rest) SELECT kind, id, text, rest FROM record_sums;

-- The project of a symbol's change stands with it, so that an index lists the newest of one.
ALTER TABLE function_map ADD COLUMN project TEXT NOT NULL DEFAULT '';
DROP TRIGGER function_map_updated; -- the feed does not tell of this
UPDATE function_map SET project = coalesce((SELECT s.project FROM sessions s WHERE s.id = function_map.session_id), '');
CREATE TRIGGER function_map_updated AFTER UPDATE ON function_map BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('symbol', NEW.id, 'update');
END;
CREATE TRIGGER sessions_moved_symbols AFTER UPDATE OF project ON sessions WHEN OLD.project IS NOT NEW.project BEGIN
    UPDATE function_map SET project = NEW.project WHERE session_id = NEW.id;
END;
CREATE INDEX function_map_newest ON function_map (snapshot_at DESC, file_path, line_start, id) WHERE change_type <> 'unchanged';
CREATE INDEX function_map_project ON function_map (project, snapshot_at DESC, file_path, line_start, id) WHERE change_type <> 'unchanged';

-- What is done in path belongs to project, the root of another one. No alias has an alias.
CREATE TABLE project_aliases (
    path       TEXT    NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- observation_concepts has one order instead of two, by project and by time: with the project
-- in each row, a list of a project goes through the concept's rows alone.
DROP TRIGGER observations_concepts_added;
DROP TRIGGER observations_concepts_moved;
DROP TRIGGER observations_concepts_deleted;
CREATE TABLE concepts_by_time (
    concept        TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    observation_id INTEGER NOT NULL,
    project        TEXT    NOT NULL,
    PRIMARY KEY (concept, created_at, observation_id)
) STRICT, WITHOUT ROWID;
INSERT INTO concepts_by_time (concept, created_at, observation_id, project)
    SELECT concept, created_at, observation_id, project FROM observation_concepts ORDER BY concept, created_at, observation_id;
DROP TABLE observation_concepts;
ALTER TABLE concepts_by_time RENAME TO observation_concepts;
-- observation_concepts has what is not hidden.
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

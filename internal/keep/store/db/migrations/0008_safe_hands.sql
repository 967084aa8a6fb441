-- Schema 8: what was forgotten, what strangers wrote and what came from outside are told apart.

-- Erasures.

-- Words of strangers.

ALTER TABLE session_summaries ADD COLUMN provenance TEXT NOT NULL DEFAULT '';

-- The foreign texts that sessions have read, or that records were made of: the hashes of
-- their runs of six words, 8 bytes each.
CREATE TABLE foreign_texts (
    id            INTEGER PRIMARY KEY,
    session_id    INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    prompt_number INTEGER NOT NULL,
    provenance    TEXT    NOT NULL,
    runs          BLOB    NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX foreign_texts_turn ON foreign_texts (session_id, prompt_number);

-- The hash of a summary's rest covers whose words it has; it stays 0 where that is not known.
DROP TRIGGER session_summaries_hashed;
CREATE TRIGGER session_summaries_hashed AFTER INSERT ON session_summaries BEGIN
    INSERT INTO record_hashes (kind, id, text, rest) VALUES ('summary', NEW.id, record_hash(0, NEW.ulid, NEW.session_id, NEW.project, NEW.prompt_number, NEW.request, NEW.investigated, NEW.learned,
        NEW.completed, NEW.next_steps, NEW.files_read, NEW.files_edited, NEW.notes, NEW.origin, NEW.created_at), iif(NEW.provenance = '', 0, record_hash(0, NEW.provenance)))
        ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text, rest = excluded.rest;
END;
CREATE TRIGGER session_summaries_rest_rehashed AFTER UPDATE OF provenance ON session_summaries BEGIN
    UPDATE record_hashes SET rest = iif(NEW.provenance = '', 0, record_hash(0, NEW.provenance))
        WHERE kind = 'summary' AND id = NEW.id AND rest = iif(OLD.provenance = '', 0, record_hash(0, OLD.provenance));
END;
DROP VIEW record_sums;
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

-- Records of other memories.
-- What the file of an import says of a record, where it is not believed: who made it, what it was
-- drawn from, and whether it is pinned or in use (wanted). waiting is 0 once a person has approved it.
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

-- Who wrote a record.

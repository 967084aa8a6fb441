-- Schema 10: each import has a number, by which it can be undone.

CREATE TABLE imports (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    -- source is the path as it was named, '' once something that it may name was forgotten.
    source   TEXT    NOT NULL,
    begun_at INTEGER NOT NULL,
    -- ended_at is 0 while it goes on or was broken off: the next import of the source continues it.
    ended_at INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The rows that an import has added or changed. While the counter 'importing' is there, which is the
-- import's number and only within a transaction, triggers note them.
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

ALTER TABLE tombstones ADD COLUMN import INTEGER NOT NULL DEFAULT 0;

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

CREATE TRIGGER sessions_import_changed AFTER UPDATE ON sessions WHEN EXISTS (SELECT 1 FROM counters WHERE name = 'importing') BEGIN
    INSERT INTO imported (kind, id, import, before, mark) SELECT 'session', NEW.id, value,
        json_array(OLD.project, OLD.label, OLD.status, OLD.title, OLD.started_at, OLD.updated_at, OLD.last_event_at, OLD.completed_at),
        record_hash(0, NEW.project, NEW.status, NEW.title, NEW.started_at, NEW.updated_at, NEW.last_event_at, NEW.completed_at)
        FROM counters WHERE name = 'importing'
        ON CONFLICT (kind, id, import) DO UPDATE SET mark = excluded.mark;
END;
CREATE TRIGGER observations_import_changed AFTER UPDATE ON observations WHEN EXISTS (SELECT 1 FROM counters WHERE name = 'importing') BEGIN
    INSERT INTO imported (kind, id, import, before, mark) SELECT 'observation', NEW.id, value,
        json_array(OLD.project, OLD.times_seen, OLD.superseded_by, OLD.head_commit, OLD.deleted_at),
        record_hash(0, NEW.content_hash, NEW.pinned, NEW.times_seen) FROM counters WHERE name = 'importing'
        ON CONFLICT (kind, id, import) DO UPDATE SET mark = excluded.mark;
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

-- What is noted of an import holds no words that can be forgotten. Imports noted before stay, and cannot be undone.
DELETE FROM imported;
DELETE FROM imports;

DROP TRIGGER sessions_import_changed;
CREATE TRIGGER sessions_import_changed AFTER UPDATE ON sessions WHEN EXISTS (SELECT 1 FROM counters WHERE name = 'importing') BEGIN
    INSERT INTO imported (kind, id, import, before, mark) SELECT 'session', NEW.id, value,
        json_array(OLD.project, OLD.label, OLD.status, OLD.started_at, OLD.updated_at, OLD.last_event_at, OLD.completed_at),
        record_hash(0, NEW.status, NEW.started_at, NEW.updated_at, NEW.last_event_at, NEW.completed_at)
        FROM counters WHERE name = 'importing'
        ON CONFLICT (kind, id, import) DO UPDATE SET mark = excluded.mark;
END;

DROP TRIGGER observations_import_changed;
CREATE TRIGGER observations_import_changed AFTER UPDATE ON observations WHEN EXISTS (SELECT 1 FROM counters WHERE name = 'importing') BEGIN
    INSERT INTO imported (kind, id, import, before, mark) SELECT 'observation', NEW.id, value,
        json_array(OLD.project, OLD.times_seen, OLD.superseded_by, OLD.head_commit),
        record_hash(0, NEW.content_hash, NEW.pinned, NEW.times_seen) FROM counters WHERE name = 'importing'
        ON CONFLICT (kind, id, import) DO UPDATE SET mark = excluded.mark;
END;

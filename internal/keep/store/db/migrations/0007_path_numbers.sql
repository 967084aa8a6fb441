-- Schema 7: a file of an observation names its path by number, so that each path's text stands in the
-- database once, and not in each row and again in its index. observation_files, as before for
-- those who read and write it, becomes a view.

-- A path keeps its number. None is given twice, so that a number in an old copy never means
-- another path here. The keys of the old paths go first, so that nothing refers to the old table
-- when it is dropped: dropping a table deletes what refers to its rows.
DROP TABLE path_segments;
ALTER TABLE paths RENAME TO paths_before;
CREATE TABLE paths (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT    NOT NULL UNIQUE
) STRICT;
CREATE TABLE path_segments (
    segment TEXT    NOT NULL,
    path_id INTEGER NOT NULL REFERENCES paths (id) ON DELETE CASCADE,
    PRIMARY KEY (segment, path_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX path_segments_of ON path_segments (path_id);
-- The keys by which a file filter finds a path, whoever stores it. The function path_keys is
-- claude-mem's own (package store): a list of JSON.
CREATE TRIGGER paths_keyed AFTER INSERT ON paths BEGIN
    INSERT INTO path_segments (segment, path_id) SELECT DISTINCT value, NEW.id FROM json_each(path_keys(NEW.path));
END;
INSERT INTO paths (id, path) SELECT id, path FROM paths_before ORDER BY id;
DROP TABLE paths_before;
INSERT INTO paths (path) SELECT DISTINCT path FROM observation_files WHERE path NOT IN (SELECT path FROM paths) ORDER BY path;

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
-- Without the rows of observations that are gone: they would break the reference, and a memory
-- that was damaged once could not be migrated.
INSERT INTO file_refs (observation_id, position, path_id, modified, file_hash, symbols)
    SELECT f.observation_id, f.position, p.id, f.role = 'modified', f.file_hash, f.symbols
    FROM observation_files f CROSS JOIN paths p ON p.path = f.path
    WHERE f.observation_id IN (SELECT id FROM observations) ORDER BY f.observation_id, f.position;
CREATE INDEX file_refs_path ON file_refs (path_id, observation_id DESC);

-- Its triggers go with the table. record_sums reads the view from now on.
DROP TABLE observation_files;
CREATE VIEW observation_files AS
    SELECT f.observation_id, f.position, p.path, iif(f.modified, 'modified', 'read') AS role, f.file_hash, f.symbols
    FROM file_refs f JOIN paths p ON p.id = f.path_id;

-- An unknown role becomes NULL, which file_refs refuses. The paths are not inserted
-- with OR IGNORE, as the conflict clause of the outer statement would hold in its place.
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

-- The hashes are those of the texts of path and role, as before, so that none changes here, and
-- a changed text of a path is noticed. A path goes after the rows that name it, so that it is
-- still there when one of them is deleted.
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

-- The file is made as small as its content, and this deleted.
INSERT OR REPLACE INTO counters (name, value) VALUES ('compact', 1);

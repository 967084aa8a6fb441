-- Schema 6: long texts are packed (packed and unpacked are functions of package sqlite), and
-- the hashes that tell contents apart have 16 bytes.
--
-- The columns get the type ANY: a text is there as it is where it is short, a blob where it is
-- packed. Rows of an older file that are salvaged may have texts throughout. SQLite has no
-- command for another type; this is the documented way for a change that leaves the stored rows
-- as they are (https://www.sqlite.org/lang_altertable.html#otheralter).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(replace(sql,
    'subtitle         TEXT ', 'subtitle         ANY  '),
    'narrative        TEXT    NOT NULL DEFAULT ''''', 'narrative        ANY     NOT NULL DEFAULT '''''),
    'facts            TEXT    NOT NULL', 'facts            ANY     NOT NULL'),
    'content_hash     TEXT    NOT NULL', 'content_hash     ANY     NOT NULL'),
    'files_key        TEXT    NOT NULL DEFAULT ''''', 'files_key        ANY     NOT NULL DEFAULT ''''')
    WHERE type = 'table' AND name = 'observations';
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(replace(sql,
    'investigated  TEXT', 'investigated  ANY '),
    'learned       TEXT', 'learned       ANY '),
    'completed     TEXT', 'completed     ANY '),
    'next_steps    TEXT', 'next_steps    ANY '),
    'notes         TEXT', 'notes         ANY ')
    WHERE type = 'table' AND name = 'session_summaries';
PRAGMA writable_schema = RESET;

-- The feed does not tell of it: the records say what they said. The triggers that keep
-- record_hashes go on, so that a hash that was wrong stays so.
DROP TRIGGER observations_updated;
DROP TRIGGER session_summaries_updated;
UPDATE observations SET subtitle = packed(subtitle), narrative = packed(narrative), facts = packed(facts),
    content_hash = coalesce(substr(unhex(nullif(content_hash, '')), 1, 16), content_hash), files_key = coalesce(unhex(nullif(files_key, '')), files_key);
UPDATE session_summaries SET investigated = packed(investigated), learned = packed(learned), completed = packed(completed),
    next_steps = packed(next_steps), notes = packed(notes);
CREATE TRIGGER observations_updated AFTER UPDATE ON observations BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('observation', NEW.id, 'update');
END;
CREATE TRIGGER session_summaries_updated AFTER UPDATE ON session_summaries BEGIN
    INSERT INTO changes (kind, id, operation) VALUES ('summary', NEW.id, 'update');
END;

-- Where such a hash is in a text it has 32 digits now.
UPDATE OR REPLACE tombstones SET key = substr(key, 1, 32) WHERE kind = 'content';
UPDATE unread_records SET content = substr(content, 1, 32) WHERE kind = 'observation';

-- Schema 6: long texts are packed (packed and unpacked are functions of package sqlite), and
-- the hashes that tell contents apart have 16 bytes.
--
-- The columns get the type ANY: a text is there as it is where it is short, a blob where it is
-- packed. Rows of an older file that are salvaged may have texts throughout. SQLite has no
-- command for another type. This follows its procedure for changes that leave the stored rows as
-- they are (https://www.sqlite.org/lang_altertable.html#otheralter); the
-- DROP statements below make other connections read the schema again.
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

-- The step's Go code packs what is stored, and makes these triggers again: the feed does not tell
-- of it, since the records say what they said.
DROP TRIGGER observations_updated;
DROP TRIGGER session_summaries_updated;

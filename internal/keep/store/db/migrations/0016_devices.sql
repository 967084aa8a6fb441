-- Schema 16: the records that several devices of one person share. Empty in a memory that is on one device.

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

-- What a device knows of itself and of the others, as JSON.
CREATE TABLE shared_state (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The project of this machine that has an identity.
CREATE TABLE project_identities (
    identity TEXT NOT NULL PRIMARY KEY,
    path     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

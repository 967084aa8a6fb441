-- Schema 17: the records that members of a team share with this memory, and it with them. Empty in a memory without a team.

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

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

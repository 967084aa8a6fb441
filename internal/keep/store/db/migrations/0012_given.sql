-- Schema 12: the lines that sessions were given, and what people and agents think of their records.

CREATE TABLE given_lines (
    id             INTEGER PRIMARY KEY,
    injection_id   INTEGER NOT NULL REFERENCES injections (id) ON DELETE CASCADE,
    layer          TEXT    NOT NULL,
    -- What the line is of, 0 for none. A session's line may say what one of its observations says.
    observation_id INTEGER NOT NULL DEFAULT 0,
    session_id     INTEGER NOT NULL DEFAULT 0,
    learning_id    INTEGER NOT NULL DEFAULT 0,
    tokens         INTEGER NOT NULL DEFAULT 0,
    -- words and why are '' once they are old, too many, or forgotten.
    words          TEXT    NOT NULL,
    why            TEXT    NOT NULL
) STRICT;

CREATE INDEX given_lines_injection ON given_lines (injection_id);

CREATE INDEX given_lines_session ON given_lines (session_id);

-- Each judge has one judgement of a record.
CREATE TABLE judgements (
    id         INTEGER PRIMARY KEY,
    kind       TEXT    NOT NULL CHECK (kind IN ('observation', 'session', 'learning')),
    record_id  INTEGER NOT NULL,
    judge      TEXT    NOT NULL CHECK (judge IN ('user', 'agent')),
    up         INTEGER NOT NULL,
    -- session_id is the session that the judge speaks of, 0 when it is not known.
    session_id INTEGER NOT NULL DEFAULT 0,
    -- retired: the judgement took a learning out of use, and brings it back when it goes.
    retired    INTEGER NOT NULL DEFAULT 0,
    judged_at  INTEGER NOT NULL,
    UNIQUE (kind, record_id, judge)
) STRICT;

CREATE TRIGGER observations_unjudged AFTER DELETE ON observations BEGIN
    DELETE FROM judgements WHERE kind = 'observation' AND record_id = OLD.id;
END;
CREATE TRIGGER sessions_unjudged AFTER DELETE ON sessions BEGIN
    DELETE FROM judgements WHERE kind = 'session' AND record_id = OLD.id;
    UPDATE judgements SET session_id = 0 WHERE session_id = OLD.id;
END;
CREATE TRIGGER learnings_unjudged AFTER DELETE ON learnings BEGIN
    DELETE FROM judgements WHERE kind = 'learning' AND record_id = OLD.id;
END;

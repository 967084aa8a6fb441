-- Schema 13: experiments on one's own sessions, and what each session was given by one.

CREATE TABLE trials (
    id         INTEGER PRIMARY KEY,
    -- In percent of the sessions.
    share      INTEGER NOT NULL,
    placebo    INTEGER NOT NULL,
    -- The secret decides which session is given what. It is in no export.
    secret     BLOB    NOT NULL,
    started_at INTEGER NOT NULL,
    -- 0 while it runs.
    ended_at   INTEGER NOT NULL DEFAULT 0
) STRICT;

ALTER TABLE injections ADD COLUMN arm TEXT NOT NULL DEFAULT '';

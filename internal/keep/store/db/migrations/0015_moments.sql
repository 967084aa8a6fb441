-- Schema 15: lines that lots hold back one by one, and what the use of records says of them.

-- In percent of the lines at prompts, files and failures.
ALTER TABLE trials ADD COLUMN moments INTEGER NOT NULL DEFAULT 0;

-- The percent of the texts that were held back when a lot was drawn, 0 without one.
ALTER TABLE injections ADD COLUMN held INTEGER NOT NULL DEFAULT 0;

CREATE TABLE worth (
    observation_id INTEGER PRIMARY KEY REFERENCES observations (id) ON DELETE CASCADE,
    -- How many places the observation goes ahead or behind; -9: it is no longer given.
    verdict        INTEGER NOT NULL
) STRICT;

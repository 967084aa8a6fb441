-- Schema 4: how edits changed the functions and types of files.

-- The changes of an edit that waits, as a list of JSON; NULL when it was not compared.
ALTER TABLE pending_messages ADD COLUMN symbols TEXT;

-- The hash of a symbol's code before the session, '' for a new one.
ALTER TABLE function_map ADD COLUMN before_hash TEXT NOT NULL DEFAULT '';

-- The symbols of the file that the observation is about, with the hashes of their code:
-- a list of JSON, '' where they are not known.
ALTER TABLE observation_files ADD COLUMN symbols TEXT NOT NULL DEFAULT '';

-- Schema 14: how a tool call went.

-- 'failed', 'passed' (a test, build or linter), or '': not known, of a call before schema 14 too.
ALTER TABLE events ADD COLUMN result TEXT NOT NULL DEFAULT '';

-- Schema 5: who could have written the content of an event, or of what a record was made
-- of: user, agent, project, outside, mcp, web; '' is not known.
ALTER TABLE pending_messages ADD COLUMN provenance TEXT NOT NULL DEFAULT '';
ALTER TABLE observations ADD COLUMN provenance TEXT NOT NULL DEFAULT '';

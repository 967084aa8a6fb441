-- What an administrator runs once in the database of the team: psql -v ON_ERROR_STOP=1 -f
CREATE ROLE claude_mem_owner NOLOGIN;
CREATE ROLE claude_mem_reader NOLOGIN;
CREATE ROLE claude_mem_writer NOLOGIN IN ROLE claude_mem_reader;
GRANT claude_mem_owner TO CURRENT_USER;
CREATE SCHEMA claude_mem AUTHORIZATION claude_mem_owner;
-- For each person, and with claude_mem_reader for one who only reads:
--   CREATE ROLE alice LOGIN PASSWORD '...' IN ROLE claude_mem_writer;
-- Then: claude-mem team init postgres://ADMINISTRATOR@HOST/DATABASE

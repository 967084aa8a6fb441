-- Schema 1 of the memory of a team. `claude-mem team init` runs it as claude_mem_owner, a role that nobody logs in as.
-- A person is the role that has logged in: session_user, which SET ROLE does not change.

CREATE TABLE claude_mem.schema_version (
    version integer     PRIMARY KEY,
    -- oldest is the version that a client has to know at least to work with this one.
    oldest  integer     NOT NULL,
    at      timestamptz NOT NULL DEFAULT now()
);

-- One row. Whoever writes records holds it until the end of the transaction, so that their numbers are in the order of commits.
CREATE TABLE claude_mem.feed (
    team uuid PRIMARY KEY DEFAULT gen_random_uuid()
);
INSERT INTO claude_mem.feed DEFAULT VALUES;
CREATE SEQUENCE claude_mem.record_seq;

-- A project with rows here is seen by these members only, one without by all. Administrators write it.
CREATE TABLE claude_mem.access (
    project text NOT NULL,
    member  text NOT NULL,
    PRIMARY KEY (project, member)
);

CREATE TABLE claude_mem.member (
    name      text        PRIMARY KEY DEFAULT session_user,
    joined_at timestamptz NOT NULL DEFAULT now(),
    -- seen is the number of the last record that the member has pulled.
    seen      bigint      NOT NULL DEFAULT 0,
    seen_at   timestamptz NOT NULL DEFAULT now()
);

-- What a member says of a record: shares it, or with edit, has edited one that another member shares.
CREATE TABLE claude_mem.record (
    member     text        NOT NULL DEFAULT session_user,
    kind       text        NOT NULL CHECK (kind IN ('observation', 'learning', 'summary')),
    key        text        NOT NULL CHECK (key <> '' AND length(key) <= 64),
    project    text        NOT NULL CHECK (project <> '' AND length(project) <= 1000),
    edit       boolean     NOT NULL DEFAULT false,
    status     text        NOT NULL DEFAULT 'shared' CHECK (status IN ('shared', 'unshared', 'forgotten')),
    -- state is the record as docs/teams.md says; a record that is not shared has none.
    state      json        CHECK (json_typeof(state) = 'object' AND octet_length(state::text) <= 262144),
    -- created_at is when the record was made, in milliseconds.
    created_at bigint      NOT NULL DEFAULT 0 CHECK (created_at >= 0),
    seq        bigint      NOT NULL,
    at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (member, kind, key),
    CHECK ((status = 'shared') = (state IS NOT NULL))
);
CREATE UNIQUE INDEX record_by_seq ON claude_mem.record (seq);
CREATE INDEX record_by_key ON claude_mem.record (kind, key);

CREATE TABLE claude_mem.audit (
    id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT now(),
    member  text        NOT NULL,
    act     text        NOT NULL,
    kind    text        NOT NULL,
    key     text        NOT NULL,
    project text        NOT NULL
);

-- The projects that the person does not see, by hashes: who may not see a project does not learn its name. The policies ask once a statement.
CREATE FUNCTION claude_mem.hidden() RETURNS bigint[] LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(DISTINCT hashtextextended(a.project, 0)), '{}') FROM claude_mem.access a
    WHERE a.project NOT IN (SELECT m.project FROM claude_mem.access m WHERE m.member = session_user)
$$;

CREATE FUNCTION claude_mem.record_written() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.status <> 'shared' THEN
        NEW.state := NULL;
        NEW.created_at := 0;
    ELSIF hashtextextended(NEW.project, 0) = ANY (claude_mem.hidden()) OR NEW.edit AND NOT EXISTS (SELECT 1 FROM claude_mem.record r
            WHERE r.kind = NEW.kind AND r.key = NEW.key AND r.project = NEW.project AND NOT r.edit AND r.status = 'shared') THEN
        RAISE EXCEPTION 'nobody shares this with you' USING ERRCODE = '42501';
    ELSIF TG_OP = 'UPDATE' AND OLD.status = 'forgotten' THEN
        RAISE EXCEPTION 'what was forgotten stays forgotten' USING ERRCODE = '42501';
    END IF;
    PERFORM 1 FROM claude_mem.feed FOR UPDATE;
    NEW.seq := nextval('claude_mem.record_seq');
    NEW.at := now();
    RETURN NEW;
END $$;

CREATE FUNCTION claude_mem.record_done() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.edit OR TG_OP = 'UPDATE' AND OLD.status = NEW.status THEN
        RETURN NULL;
    END IF;
    INSERT INTO claude_mem.audit (member, act, kind, key, project) VALUES (session_user, NEW.status, NEW.kind, NEW.key, NEW.project);
    -- With the record go the edits of others.
    IF NEW.status <> 'shared' AND NOT EXISTS (SELECT 1 FROM claude_mem.record r
            WHERE r.kind = NEW.kind AND r.key = NEW.key AND NOT r.edit AND r.status = 'shared') THEN
        UPDATE claude_mem.record SET status = NEW.status WHERE kind = NEW.kind AND key = NEW.key AND edit AND status = 'shared';
    END IF;
    RETURN NULL;
END $$;

-- It wakes the others, and says nothing.
CREATE FUNCTION claude_mem.record_told() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_notify('claude_mem', '');
    RETURN NULL;
END $$;

CREATE TRIGGER written BEFORE INSERT OR UPDATE ON claude_mem.record FOR EACH ROW EXECUTE FUNCTION claude_mem.record_written();
CREATE TRIGGER done AFTER INSERT OR UPDATE ON claude_mem.record FOR EACH ROW EXECUTE FUNCTION claude_mem.record_done();
CREATE TRIGGER told AFTER INSERT OR UPDATE ON claude_mem.record FOR EACH STATEMENT EXECUTE FUNCTION claude_mem.record_told();

ALTER TABLE claude_mem.schema_version ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.feed ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.access ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.record ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.audit ENABLE ROW LEVEL SECURITY;

CREATE POLICY everyone ON claude_mem.schema_version FOR SELECT USING (true);
CREATE POLICY everyone ON claude_mem.feed FOR SELECT USING (true);
CREATE POLICY own ON claude_mem.access FOR SELECT USING (member = session_user);
CREATE POLICY everyone ON claude_mem.member FOR SELECT USING (true);
CREATE POLICY joins ON claude_mem.member FOR INSERT WITH CHECK (name = session_user);
CREATE POLICY own ON claude_mem.member FOR UPDATE USING (name = session_user) WITH CHECK (name = session_user);
CREATE POLICY seen ON claude_mem.record FOR SELECT USING (member = session_user OR hashtextextended(project, 0) <> ALL ((SELECT claude_mem.hidden())::bigint[]));
CREATE POLICY shares ON claude_mem.record FOR INSERT WITH CHECK (member = session_user AND (status <> 'shared' OR hashtextextended(project, 0) <> ALL ((SELECT claude_mem.hidden())::bigint[])));
CREATE POLICY own ON claude_mem.record FOR UPDATE USING (member = session_user)
    WITH CHECK (member = session_user AND (status <> 'shared' OR hashtextextended(project, 0) <> ALL ((SELECT claude_mem.hidden())::bigint[])));
CREATE POLICY seen ON claude_mem.audit FOR SELECT USING (member = session_user OR hashtextextended(project, 0) <> ALL ((SELECT claude_mem.hidden())::bigint[]));

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA claude_mem FROM PUBLIC;
GRANT USAGE ON SCHEMA claude_mem TO claude_mem_reader;
GRANT EXECUTE ON FUNCTION claude_mem.hidden() TO claude_mem_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA claude_mem TO claude_mem_reader;
GRANT SELECT ON SEQUENCE claude_mem.record_seq TO claude_mem_reader;
GRANT INSERT (seen), UPDATE (seen, seen_at) ON claude_mem.member TO claude_mem_writer;
GRANT INSERT (kind, key, project, edit, status, state, created_at), UPDATE (status, state, created_at) ON claude_mem.record TO claude_mem_writer;

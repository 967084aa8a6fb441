-- Schema 2: what `claude-mem search --team` searches. docs/teams.md describes it. Nobody but the owner reads or writes these tables:
-- the functions at the end do.

-- The projects that only some members see. Each has a number of its own, with which the numbers of its words are combined: the search of
-- somebody else never comes by them, so that neither results nor times tell of them.
CREATE TABLE claude_mem.audience (
    project text    PRIMARY KEY,
    salt    integer NOT NULL UNIQUE CHECK (salt <> 0)
);

-- The words of shared records.
CREATE TABLE claude_mem.searched (
    -- audience is the salt of the record's project, 0 for one that all see.
    audience integer  NOT NULL,
    seq      bigint   NOT NULL,
    -- words are hashes, each once, xor audience: those of the title, then those that the record has often, then the others.
    words    integer[] NOT NULL,
    title    smallint NOT NULL,
    often    smallint NOT NULL,
    -- code has the signs of the record's vector.
    code     bit(256),
    PRIMARY KEY (audience, seq)
);
-- No order by which a search would come by what it does not show.
CREATE INDEX searched_seq ON claude_mem.searched USING hash (seq);
-- Without a list of what is pending, through which each search would go.
CREATE INDEX searched_words ON claude_mem.searched USING gin (words) WITH (fastupdate = off);
ALTER TABLE claude_mem.searched ALTER COLUMN words SET STATISTICS 0, ALTER COLUMN code SET STATISTICS 0;

-- How many records have a word; under the number of an audience, how many records it has.
CREATE TABLE claude_mem.frequency (
    word    integer PRIMARY KEY,
    records integer NOT NULL
) WITH (fillfactor = 80);

CREATE FUNCTION claude_mem.searched_counted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO claude_mem.frequency AS f SELECT w, count(*) FROM added a, unnest(a.words || a.audience) w GROUP BY w ORDER BY w
            ON CONFLICT (word) DO UPDATE SET records = f.records + excluded.records;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        UPDATE claude_mem.frequency f SET records = f.records - g.n
            FROM (SELECT w, count(*) AS n FROM gone, unnest(gone.words || gone.audience) w GROUP BY w) g WHERE f.word = g.w;
        DELETE FROM claude_mem.frequency f USING gone, unnest(gone.words || gone.audience) w WHERE f.word = w AND f.records <= 0;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER inserted AFTER INSERT ON claude_mem.searched REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION claude_mem.searched_counted();
CREATE TRIGGER updated AFTER UPDATE ON claude_mem.searched REFERENCING NEW TABLE AS added OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION claude_mem.searched_counted();
CREATE TRIGGER deleted AFTER DELETE ON claude_mem.searched REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION claude_mem.searched_counted();

-- The words go with the state that they are of.
CREATE FUNCTION claude_mem.record_replaced() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM claude_mem.searched WHERE seq = OLD.seq;
    RETURN NULL;
END $$;
CREATE TRIGGER replaced AFTER UPDATE OR DELETE ON claude_mem.record FOR EACH ROW EXECUTE FUNCTION claude_mem.record_replaced();

-- A project that is restricted, or no longer, gets other numbers.
CREATE FUNCTION claude_mem.access_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    projects text[];
    salts integer[];
    others integer[];
BEGIN
    PERFORM 1 FROM claude_mem.feed FOR UPDATE;
    SELECT array_agg(project), array_agg(salt), array_agg(other) INTO projects, salts, others FROM (
        SELECT project, coalesce(a.salt, 0) AS salt, CASE WHEN a.salt IS NULL THEN hashtext(gen_random_uuid()::text) ELSE 0 END AS other
        FROM claude_mem.audience a FULL JOIN (SELECT DISTINCT project FROM claude_mem.access) r USING (project) WHERE a.salt IS NULL OR r.project IS NULL OFFSET 0) c;
    DELETE FROM claude_mem.audience WHERE project = ANY (projects);
    INSERT INTO claude_mem.audience SELECT c.project, c.salt FROM unnest(projects, others) c (project, salt) WHERE c.salt <> 0;
    UPDATE claude_mem.searched s SET audience = c.other, words = ARRAY(SELECT w # c.salt # c.other FROM unnest(s.words) WITH ORDINALITY u (w, n) ORDER BY n)
        FROM claude_mem.record r JOIN unnest(projects, salts, others) c (project, salt, other) USING (project) WHERE r.seq = s.seq;
    RETURN NULL;
END $$;
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON claude_mem.access FOR EACH STATEMENT EXECUTE FUNCTION claude_mem.access_changed();
UPDATE claude_mem.access SET project = project WHERE false; -- for those that are there

-- A member gives the words of a record that the member shares, as its table has them.
CREATE FUNCTION claude_mem.index_record(of_seq bigint, hashes integer[], titles integer, oftens integer, signs bit) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    of text;
    salt integer;
BEGIN
    PERFORM 1 FROM claude_mem.feed FOR UPDATE;
    SELECT r.project INTO of FROM claude_mem.record r WHERE r.seq = of_seq AND r.member = session_user AND r.status = 'shared';
    IF of IS NULL OR (array_ndims(hashes) = 1 AND array_lower(hashes, 1) = 1 AND cardinality(hashes) <= 1000 AND 0 <= titles AND titles <= oftens AND oftens <= cardinality(hashes)
            AND cardinality(hashes) = (SELECT count(DISTINCT w) FROM unnest(hashes) w) AND (signs IS NULL OR length(signs) = 256)) IS NOT TRUE THEN
        RAISE EXCEPTION 'these are no words of a record that you share' USING ERRCODE = '42501';
    END IF;
    salt := coalesce((SELECT a.salt FROM claude_mem.audience a WHERE a.project = of), 0);
    INSERT INTO claude_mem.searched VALUES (salt, of_seq, ARRAY(SELECT w # salt FROM unnest(hashes) WITH ORDINALITY u (w, n) ORDER BY n), titles, oftens, signs)
        ON CONFLICT (audience, seq) DO UPDATE SET words = excluded.words, title = excluded.title, often = excluded.often, code = excluded.code;
END $$;

-- The records that the person sees and that have the words, best first. At most 5,000 candidates are scored: all that have the rarest words, as
-- many words as there is room for; of those with the other words the newest that have all, or the rarest of them, and the newest that
-- have any.
CREATE FUNCTION claude_mem.search(asked integer[], meaning bit, wanted integer) RETURNS TABLE (member text, kind text, key text, score real)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET work_mem = '32MB' SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
#variable_conflict use_column
DECLARE
    most CONSTANT integer := 5000;
    visible integer[] := ARRAY(SELECT 0 UNION ALL SELECT a.salt FROM claude_mem.audience a JOIN claude_mem.access m USING (project) WHERE m.member = session_user);
    total float8;
    sought integer[]; -- those that there are, the rarest first
    held float8[]; -- how many records have each
    weight float8[];
    rare integer[] := '{}'; -- of the numbers of these words any
    every integer[] := '{}'; -- these words all
    newest integer := 0; -- how many candidates that are just new
    looked float8 := 0; -- among how many; of each audience by its share
    room float8 := most; -- for so many other candidates
    at integer := 1;
    expected float8; -- so many records have every
BEGIN
    IF (array_ndims(asked) = 1 AND cardinality(asked) <= 16 AND array_position(asked, NULL) IS NULL AND wanted BETWEEN 1 AND 100
            AND (meaning IS NULL OR length(meaning) = 256)) IS NOT TRUE THEN
        RAISE EXCEPTION 'a search has 1 to 16 words, a code of 256 bits and a limit of 1 to 100' USING ERRCODE = '22023';
    END IF;
    SELECT coalesce(sum(f.records), 0) INTO total FROM claude_mem.frequency f WHERE f.word = ANY (visible);
    SELECT array_agg(w ORDER BY n, w), array_agg(n ORDER BY n, w), array_agg(ln(1 + (total - n + 0.5) / (n + 0.5)) ORDER BY n, w) INTO sought, held, weight
        FROM (SELECT w, least(sum(f.records), total)::float8 AS n FROM (SELECT DISTINCT unnest(asked) AS w) q, unnest(visible) v
            JOIN claude_mem.frequency f ON true WHERE f.word = w # v GROUP BY w) counted;
    IF sought IS NULL THEN
        RETURN;
    END IF;
    WHILE at <= cardinality(sought) AND held[at] <= room LOOP
        rare := rare || ARRAY(SELECT sought[at] # v FROM unnest(visible) v);
        room := room - held[at];
        at := at + 1;
    END LOOP;
    IF at <= cardinality(sought) AND room >= most / 5 THEN
        FOR i IN at .. cardinality(sought) LOOP
            every := every || sought[i];
            expected := coalesce(expected, total) * held[i] / total;
            EXIT WHEN expected < most;
        END LOOP;
        IF expected > 2 * most THEN -- too many to look at all
            every := '{}';
        END IF;
        newest := CASE WHEN rare = '{}' AND every = '{}' THEN most ELSE most / 5 END;
        looked := least(20 * newest, ceil(1.5 * newest * total / held[at]));
    END IF;
    RETURN QUERY
    WITH candidate AS (
        -- audience + 0: not by its index
        (SELECT s.* FROM claude_mem.searched s WHERE s.words && rare AND s.audience + 0 = ANY (visible) LIMIT most)
        UNION ALL
        (SELECT s.* FROM (SELECT v, ARRAY(SELECT w # v FROM unnest(every) w) AS keys FROM unnest(visible) v WHERE every <> '{}') a
            CROSS JOIN LATERAL (SELECT s.* FROM claude_mem.searched s WHERE s.words @> a.keys AND s.audience + 0 = a.v LIMIT 4 * most) s ORDER BY s.seq DESC LIMIT greatest(0, room - newest))
        UNION ALL
        (SELECT s.* FROM (SELECT n.word, n.records, ARRAY(SELECT w # n.word FROM unnest(sought) w) AS keys FROM claude_mem.frequency n WHERE n.word = ANY (visible) OFFSET 0) n
            CROSS JOIN LATERAL (SELECT s.* FROM claude_mem.searched s WHERE s.audience = n.word ORDER BY s.seq DESC LIMIT ceil(looked * n.records / total)) s
            WHERE s.words && n.keys ORDER BY s.seq DESC LIMIT newest)
    ), said AS MATERIALIZED (
        SELECT s.seq, s.code, (SELECT sum(w * CASE WHEN p <= s.title THEN 2::float8 WHEN p <= s.often THEN 1.5::float8 ELSE 1 END) FROM (
            SELECT w, array_position(s.words, h # s.audience) AS p FROM unnest(sought, weight) q (h, w) OFFSET 0) placed WHERE p IS NOT NULL) / (140 + cardinality(s.words)) AS words
        FROM candidate s
    ), best AS (
        SELECT s.seq, s.words / max(s.words) OVER () + CASE WHEN s.code IS NULL OR meaning IS NULL THEN 0 ELSE greatest(0, cos(pi() * bit_count(s.code # meaning) / 256)) END AS score
        FROM said s ORDER BY score DESC, s.seq DESC LIMIT 4 * wanted
    ), once AS (
        SELECT DISTINCT ON (r.kind, r.key) r.member, r.kind, r.key, b.score, b.seq
        FROM best b JOIN claude_mem.record r ON r.seq = b.seq WHERE r.status = 'shared' AND hashtextextended(r.project, 0) <> ALL ((SELECT claude_mem.hidden())::bigint[])
        ORDER BY r.kind, r.key, b.score DESC, b.seq DESC
    )
    SELECT o.member, o.kind, o.key, o.score::real FROM once o ORDER BY o.score DESC, o.seq DESC LIMIT wanted;
END $$;

ALTER TABLE claude_mem.audience ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.searched ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.frequency ENABLE ROW LEVEL SECURITY;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA claude_mem FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claude_mem.search(integer[], bit, integer) TO claude_mem_reader;
GRANT EXECUTE ON FUNCTION claude_mem.index_record(bigint, integer[], integer, integer, bit) TO claude_mem_writer;

package care

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Erasure says what a Forget has erased, without its words: texts and names are hashed with a
// key of their own. It is enough to erase the same from an older copy of the database. A copy
// has an erasure if it has the tombstone with its ID: neither clocks nor names of files count,
// nor a number, which two copies that went different ways could give twice.
type Erasure struct {
	ID     memory.ULID   `json:"id"`
	Memory int64         `json:"memory"`
	At     memory.Millis `json:"at"`
	Key    []byte        `json:"key"`
	// Rule says that the filters below select what is erased, and not only Named and Turns.
	Rule bool `json:"rule,omitempty"`
	// Text, TextJSON, File and Project are those of the Forgetting; TextJSON is the text as JSON
	// has it.
	Text     *sealedText   `json:"text,omitempty"`
	TextJSON *sealedText   `json:"text_json,omitempty"`
	File     *sealedText   `json:"file,omitempty"`
	Project  *sealedText   `json:"project,omitempty"`
	Since    memory.Millis `json:"since,omitempty"`
	Until    memory.Millis `json:"until,omitempty"`
	// Tombs are the tombstones that the Forget wrote, by kind; Turns the turns of its records by
	// records.TombName: their events may wait in an older copy.
	Tombs map[string][]string `json:"tombs"`
	Turns []string            `json:"turns"`
}

// sealedText is a text that can be found where it stands, but not read.
type sealedText struct {
	Length int    `json:"length"`
	Sum    uint64 `json:"sum"` // the rolling sum, compared first
	Hash   string `json:"hash"`
}

// seal returns the hash of a text with the erasure's key.
func (e *Erasure) seal(text string) string {
	mac := hmac.New(sha256.New, e.Key)
	_, _ = mac.Write([]byte(text)) // a hash returns no error
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// factor returns the factor of the rolling sums, of the erasure's key: odd, so that no byte is
// multiplied out of a sum of 64 bits.
func (e *Erasure) factor() uint64 { return binary.LittleEndian.Uint64(e.Key) | 1 }

// sealText returns the sealed form of a text, nil for "".
func (e *Erasure) sealText(text string) *sealedText {
	if text == "" {
		return nil
	}
	sum := uint64(0)
	for i := range len(text) {
		sum = sum*e.factor() + uint64(text[i])
	}
	return &sealedText{len(text), sum, e.seal(text)}
}

// find returns the text that was sealed if it stands in text, "" otherwise. A rolling sum finds
// the places at which a hash is worth its time; sealed must not be nil.
func (e *Erasure) find(sealed *sealedText, text string) string {
	n := sealed.Length
	if n <= 0 || n > len(text) {
		return ""
	}
	factor, leaving := e.factor(), uint64(1)
	for range n {
		leaving *= factor
	}
	sum := uint64(0)
	for i := range len(text) {
		sum = sum*factor + uint64(text[i])
		if i >= n {
			sum -= leaving * uint64(text[i-n])
		}
		if found := text[max(0, i+1-n) : i+1]; i+1 >= n && sum == sealed.Sum && e.seal(found) == sealed.Hash {
			return strings.Clone(found)
		}
	}
	return ""
}

// erasureOf returns the erasure of a selection, with a new ID and key. Nothing is written.
func erasureOf(t *db.Tx, f *memory.Forgetting, s *selection) Erasure {
	e := Erasure{At: t.Now(), Key: make([]byte, 16), Rule: f.Filters(), Since: f.Since, Until: f.Until}
	_, _ = rand.Read(e.Key) // never fails
	e.ID = t.ULID(e.At)
	here, err := upkeep.ReadPlace(context.Background(), t.Conn)
	t.Fail(err)
	e.Memory = here.Memory
	lower := text.LowerASCII(f.Text)
	e.Text, e.File, e.Project = e.sealText(lower), e.sealText(f.File), e.sealText(f.ProjectPath)
	if quoted, _ := db.Encode(lower); f.Text != "" { // a string always encodes
		e.TextJSON = e.sealText(quoted[1 : len(quoted)-1])
	}
	e.Tombs = tombsOf(t, f, s, e.At)
	e.Turns = append(e.Turns, collect.Map(db.Selected[string](t, selectedTurns, s.observations, s.prompts, s.summaries), records.TombName)...)
	return e
}

const selectedTurns = `SELECT s.host || ':' || s.host_session_id || ':' || r.n FROM sessions s JOIN (
		SELECT session_id, prompt_number AS n FROM observations WHERE id IN (SELECT value FROM json_each(?1))
		UNION SELECT session_id, number FROM prompts WHERE id IN (SELECT value FROM json_each(?2))
		UNION SELECT session_id, prompt_number FROM session_summaries WHERE id IN (SELECT value FROM json_each(?3))
	) r ON r.session_id = s.id`

// Erase erases from this memory, an older copy, what e has erased from it later: the records and
// sessions that e names, and if their text stands here, all that its filters select. It writes
// the tombstones too, so that the copy has the erasure; erasing again changes nothing more.
func (s *Care) Erase(ctx context.Context, e *Erasure) (memory.Forgotten, error) {
	defer records.DropNearby(s.records)
	return db.InJob(ctx, s.DB, "erase what was forgotten", db.Job{}, func(t *db.Tx) (memory.Forgotten, error) {
		upkeep.ShowHidden(t)
		f, err := e.unseal(ctx, t)
		if err != nil {
			return memory.Forgotten{}, err
		}
		// f gets what the filters select, and the observations and sessions that e names; named has the rest.
		ulids := db.JSONList(e.Tombs[records.TombRecord])
		named := selection{sessions: "[]", observations: "[]"}
		for list, query := range map[*string]string{&named.prompts: "prompts", &named.summaries: "session_summaries", &named.learnings: "learnings", &named.symbols: "function_map"} {
			*list = db.JSONList(db.Selected[int64](t, "SELECT id FROM "+query+" WHERE ulid IN (SELECT value FROM json_each(?))", ulids))
		}
		f.Observations = db.Selected[memory.ObservationID](t, `SELECT id FROM observations WHERE ulid IN (SELECT value FROM json_each(?1))
			UNION SELECT id FROM observations WHERE lower(hex(`+records.OfContent+`)) IN (SELECT value FROM json_each(?2))`, ulids, db.JSONList(e.Tombs[records.TombContent]))
		f.Sessions = hashedIn[memory.SessionID](t, e.Tombs[records.TombSession], "SELECT id, host || ':' || host_session_id FROM sessions")
		named.events = db.JSONList(hashedIn[int64](t, e.Turns, `SELECT e.id, s.host || ':' || s.host_session_id || ':' || e.prompt_number
			FROM events e JOIN sessions s ON s.id = e.session_id WHERE e.outcome IN ('pending', 'processing', 'failed')`))
		selected, err := selectForgotten(ctx, t.Conn, &f)
		if err != nil {
			return selected.report, err
		}
		bury(t, e.Tombs, e)
		bury(t, tombsOf(t, &f, &selected, e.At), e)
		forget(t, &f, &selected)
		forget(t, &memory.Forgetting{}, &named)
		return selected.report, nil
	})
}

// hashedIn returns the numbers of the rows of a query, number and name, whose records.TombName is in a
// list.
func hashedIn[ID ~int64](t *db.Tx, hashes []string, query string) (ids []ID) {
	if len(hashes) == 0 {
		return nil
	}
	wanted := collect.Set(hashes)
	var id ID
	var name string
	for range t.Select(query).Into(&id, &name) {
		if wanted[records.TombName(name)] {
			ids = append(ids, id)
		}
	}
	return ids
}

// unseal returns the filters of the erasure, read from the texts of the database in which they
// stand; none if one of them stands nowhere.
func (e *Erasure) unseal(ctx context.Context, q db.QueryOnly) (f memory.Forgetting, err error) {
	if !e.Rule {
		return f, nil
	}
	var quoted string
	wanted := []struct {
		sealed *sealedText
		into   *string
		lower  bool
	}{{e.Text, &f.Text, true}, {e.TextJSON, &quoted, true}, {e.File, &f.File, false}, {e.Project, &f.ProjectPath, false}}
	if e.Text != nil || e.File != nil || e.Project != nil {
		err = eachRow(ctx, q, func(row string) bool {
			lower := text.LowerASCII(row)
			for _, w := range wanted {
				switch {
				case w.sealed == nil || *w.into != "":
				case w.lower:
					*w.into = e.find(w.sealed, lower)
				default:
					*w.into = e.find(w.sealed, row)
				}
			}
			return true
		})
	}
	if f.Text == "" && quoted != "" {
		_ = json.Unmarshal([]byte(`"`+quoted+`"`), &f.Text) // it was made by db.Encode
	}
	if e.Text != nil && f.Text == "" || e.File != nil && f.File == "" || e.Project != nil && f.ProjectPath == "" {
		return memory.Forgetting{}, err
	}
	f.Since, f.Until = e.Since, e.Until
	return f, err
}

// eachRow calls visit with the texts of each row of all tables, unpacked and joined by spaces,
// until it returns false. A table that cannot be read ends it with the error.
func eachRow(ctx context.Context, q db.QueryOnly, visit func(text string) bool) error {
	tables, err := db.Column[string](ctx, q, "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
	for more := true; more && err == nil && len(tables) > 0; tables = tables[1:] {
		var rows *sql.Rows
		if rows, err = q.QueryContext(ctx, `SELECT * FROM "`+strings.ReplaceAll(tables[0], `"`, `""`)+`"`); err != nil { //nolint:rowserrcheck // Each checks it
			return err
		}
		names, _ := rows.Columns() // they are open
		var values []any
		fields := upkeep.AnyRow(len(names))(&values)
		err = sqlite.Rows(rows, nil).Each(func(scan sqlite.Scan) error {
			if err := scan(fields...); err != nil {
				return err
			}
			texts := collect.Keep(collect.Map(values, func(v any) string { return sqlite.Unpack(v) }), func(text string) bool { return text != "" })
			if more = len(texts) == 0 || visit(strings.Join(texts, " ")); !more {
				return sqlite.ErrStop
			}
			return nil
		})
	}
	return err
}

// VisitTexts calls visit with the texts of each row of the database at path, of any schema,
// until it returns false. A file without a log is read as one that nobody writes: nothing is
// made beside it.
func VisitTexts(ctx context.Context, path string, visit func(text string) bool) (err error) {
	defer db.Wrap(&err, "read texts")
	var parameters []string
	if path, err = filepath.Abs(path); err == nil && !db.HasLog(path) {
		parameters = append(parameters, "immutable=1")
	}
	db, err := sqlite.OpenReaders(ctx, db.ReadSource(path, parameters...))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return eachRow(ctx, db, visit)
}

// Erased returns the memory of the database at path, and the IDs of the erasures that it has.
func Erased(ctx context.Context, path string) (mem int64, ids []memory.ULID, err error) {
	defer db.Wrap(&err, "read erasures")
	err = db.WithReader(ctx, path, func(file *sql.DB) error {
		p, err := upkeep.ReadPlace(ctx, file)
		if err == nil {
			mem = p.Memory
			ids, err = db.Column[memory.ULID](ctx, file, "SELECT key FROM tombstones WHERE kind = '"+records.TombErasure+"'")
		}
		return err
	})
	slices.Sort(ids)
	return mem, ids, err
}

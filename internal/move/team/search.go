package team

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/memory"

	"github.com/jackc/pgx/v5/pgconn"
)

// searchLimit bounds a search of the server.
const searchLimit = 15 * time.Second

// Found is a record that a search of the server has found.
type Found struct {
	// Member shares the record, Writer is who has written its text last.
	Member string `json:"member"`
	Writer string `json:"writer"`
	// Project is the name of the project on all machines.
	Project string `json:"project"`
	Kind    string `json:"kind"`
	// Key names the record on all machines.
	Key            string        `json:"key"`
	Title          string        `json:"title"`
	Text           string        `json:"text"`
	CreatedAtEpoch memory.Millis `json:"created_at_epoch,omitempty"`
	Score          float64       `json:"score"`
}

// SearchPage has the records that a search of the server has found, the best first.
type SearchPage struct {
	Query   string  `json:"query"`
	Limit   int     `json:"limit"`
	Results []Found `json:"results"`
}

// Search searches all that the team of a data directory shares and the person sees, also what is not kept here. CodeNotFound for a memory
// in no team, CodeInvalid for a query without words or a limit that is not 1 to 100, CodeUnavailable for a server that does not answer.
func Search(ctx context.Context, dataDir, query string, limit int) (SearchPage, error) {
	page := SearchPage{Query: query, Limit: limit, Results: []Found{}}
	cfg, err := Load(dataDir)
	if err != nil {
		return page, err
	}
	asked := QueryOf(query)
	if len(asked.Hashes) == 0 || limit < 1 || limit > 100 {
		return page, memory.Errorf(memory.CodeInvalid, "a search of the team has a word at least, and a limit of 1 to 100")
	}
	ctx, cancel := context.WithTimeout(ctx, searchLimit)
	defer cancel()
	conn, err := connect(ctx, cfg.Address)
	if err != nil {
		return page, err
	}
	defer disconnect(conn)
	if _, err := member(ctx, conn); err != nil {
		return page, err
	}
	page.Results, err = search(ctx, conn, asked, limit)
	return page, fault("search the team's records", err)
}

// chosenRecords reads the records of the pairs of kind and key in a list, and of other pairs of these. The lists are arrays,
// so that the server looks up the keys in an index: it may join a list only with what is left after it has applied the policy to every
// record.
const chosenRecords = `SELECT kind, key, member, project, edit, created_at, state FROM claude_mem.record WHERE status = 'shared'
	AND kind = ANY (ARRAY(SELECT e ->> 0 FROM json_array_elements($1::json) e))
	AND key = ANY (ARRAY(SELECT e ->> 1 FROM json_array_elements($1::json) e)) ORDER BY edit, seq`

// search asks the function for the records, and reads them by the person's own rights.
func search(ctx context.Context, conn *pgconn.PgConn, asked Indexed, limit int) ([]Found, error) {
	rows, err := ask(ctx, conn, "SELECT kind, key, score FROM claude_mem.search($1, nullif($2, '')::bit(256), $3)", listOf(asked.Hashes), asked.Code, limit)
	if err != nil {
		return nil, err
	}
	list, names := make([]Found, len(rows)), make([][]string, len(rows))
	for i, row := range rows {
		names[i] = row[:2]
		list[i].Kind, list[i].Key = row[0], row[1]
		list[i].Score, _ = strconv.ParseFloat(row[2], 64) // a real
	}
	chosen, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	rows, err = ask(ctx, conn, chosenRecords, chosen)
	revisions := make([]memory.Revision, len(list))
	for _, row := range rows {
		at := slices.IndexFunc(list, func(f Found) bool { return f.Kind == row[0] && f.Key == row[1] })
		if at >= 0 {
			list[at].take(row[2:], &revisions[at])
		}
	}
	// What was taken back in between is left out.
	return slices.DeleteFunc(list, func(f Found) bool { return f.Member == "" || f.Writer == "" }), err
}

// take takes in what a member says of the record: member, project, edit, created_at and state. The text is that of the highest revision;
// latest is the one that it has.
func (f *Found) take(row []string, latest *memory.Revision) {
	var shared memory.Shared
	member := row[0]
	if !memberName.MatchString(member) || json.Unmarshal([]byte(row[4]), &shared) != nil {
		return // a mistake of that member's
	}
	if row[2] == "f" && f.Member == "" {
		created, _ := strconv.ParseInt(row[3], 10, 64) // a bigint
		f.Member, f.Project, f.CreatedAtEpoch = member, row[1], memory.Millis(created)
	}
	text := shared.Fields[memory.FieldText]
	if !strings.HasPrefix(text.Device, member+":") || f.Writer != "" && text.Compare(*latest) <= 0 {
		return // nobody speaks in another's name
	}
	*latest = text.Revision
	s := saidBy(map[string]memory.Field{memory.FieldText: text})
	f.Writer, f.Title, f.Text = member, s.heading(), s.body()
}

// body returns the texts but the heading.
func (s *said) body() string {
	list := slices.DeleteFunc(s.texts(), func(text string) bool { return text == "" || text == s.heading() })
	return strings.Join(list, "\n")
}

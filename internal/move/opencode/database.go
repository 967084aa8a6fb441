package opencode

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/move/nodedb"
)

// databaseIn returns the path of the database that path is or has, "" for none.
func databaseIn(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "opencode.db")
	}
	if base := filepath.Base(path); !strings.HasPrefix(base, "opencode") || filepath.Ext(base) != ".db" {
		return ""
	}
	if h, err := sqlite.ReadHeader(path); err != nil || h == nil {
		return ""
	}
	return path
}

// database is the database, in a copy.
type database struct {
	*nodedb.Copy
	ctx context.Context //nolint:containedctx // of one reading
}

func (d database) sessions() (all []session, err error) {
	//nolint:rowserrcheck // Each checks it
	err = sqlite.Rows(d.DB().QueryContext(d.ctx, `SELECT CAST(id AS TEXT), CAST(coalesce(directory, '') AS TEXT),
		CAST(coalesce(parent_id, '') AS TEXT), CAST(coalesce(time_updated, 0) AS INTEGER) FROM session WHERE id IS NOT NULL ORDER BY time_created, id`)).Each(func(scan sqlite.Scan) error {
		var s session
		err := scan(&s.id, &s.dir, &s.parent, &s.updated)
		all = append(all, s)
		return err
	})
	return all, err
}

func (d database) messages(session string) ([]entry, error) {
	return d.entries("message WHERE session_id = ? ORDER BY time_created, id", session)
}

func (d database) parts(message string) ([]entry, error) {
	return d.entries("part WHERE message_id = ? ORDER BY id", message)
}

// entries returns rows of a table. One of more than 16 MB, which no transcript may have either, has no data.
func (d database) entries(from, id string) (all []entry, err error) {
	//nolint:rowserrcheck // Each checks it
	err = sqlite.Rows(d.DB().QueryContext(d.ctx, "SELECT CAST(coalesce(id, '') AS TEXT), iif(octet_length(data) <= 16777216, data, '') FROM "+from, id)).Each(func(scan sqlite.Scan) error {
		var e entry
		err := scan(&e.id, &e.data)
		all = append(all, e)
		return err
	})
	return all, err
}

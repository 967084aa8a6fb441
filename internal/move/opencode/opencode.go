package opencode

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/move/nodedb"
	"claudemem/internal/move/transcript"
)

// Is reports whether path is a database of OpenCode, or a directory with one.
func Is(path string) bool { return databaseIn(path) != "" }

// databaseIn returns the path of the database that path is or has, "" for none.
func databaseIn(path string) string {
	if openfile.IsDir(path) {
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

// Unpack writes the sessions that OpenCode has stored at path into a folder in dir, and returns it with the
// function that removes it; path itself if that has none. The codes of its errors: those of nodedb.Open.
func Unpack(ctx context.Context, path, dir string) (folder string, remove func(), err error) {
	file := databaseIn(path)
	if file == "" {
		return path, func() {}, nil
	}
	copied, err := nodedb.OpenOther(ctx, file, dir, "session", "message", "part")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = copied.Close() } // a later import removes what stays
	if err = unpack(ctx, copied); err != nil {
		remove()
		return "", nil, memory.Errorf(memory.CodeStorage, "read the sessions of OpenCode: %w", err)
	}
	return copied.Dir, remove, nil
}

// unpack writes a file for each session beside the copy. What a subagent does belongs to the session that
// began it, the root.
func unpack(ctx context.Context, from *nodedb.Copy) (err error) {
	var id, root, dir string
	var updated int64
	number := 0
	//nolint:rowserrcheck // Each checks it
	all := sqlite.Select(&err, sqlite.Rows(from.DB().QueryContext(ctx, sessions)).Each)
	for range all.Into(&id, &root, &dir, &updated) {
		name := fmt.Sprintf("%06d.jsonl", number)
		if root != id {
			name = "agent-" + name
		}
		number++
		path := filepath.Join(from.Dir, name)
		if err = cmp.Or(write(ctx, from.DB(), path, id, root, dir), os.Chtimes(path, time.Time{}, time.UnixMilli(updated))); err != nil {
			return err
		}
	}
	return err
}

// write writes the file of a session.
func write(ctx context.Context, from *sql.DB, path, id, root, dir string) error {
	file, err := openfile.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	var line sql.RawBytes
	//nolint:rowserrcheck // Each checks it
	for range sqlite.Select(&err, sqlite.Rows(from.QueryContext(ctx, lines, transcript.HookRecord, id, root, dir)).Each).Into(&line) {
		_, _ = w.Write(line) // Flush returns the error
		_ = w.WriteByte('\n')
	}
	return errors.Join(err, w.Flush(), file.Close())
}

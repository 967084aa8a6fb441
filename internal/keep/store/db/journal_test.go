package db

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// TestHotJournal: a memory whose writer was killed in a transaction with a rollback journal, as
// a restored one is until its first opening has set it to a log, is opened as it was before.
func TestHotJournal(t *testing.T) {
	made := filepath.Join(t.TempDir(), "memory.db")
	d, err := Open(t.Context(), made, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open(sqlite.Driver, made)
	if err != nil {
		t.Fatal(err)
	}
	raw.SetMaxOpenConns(1)
	for _, statement := range []string{
		"PRAGMA journal_mode = delete", "PRAGMA cache_size = 1", "BEGIN IMMEDIATE",
		"UPDATE counters SET value = value", "CREATE TABLE killed (text)", "INSERT INTO killed VALUES ('" + strings.Repeat("x", 100_000) + "')",
	} {
		if _, err := raw.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	path := filepath.Join(t.TempDir(), "memory.db")
	for _, suffix := range []string{"", "-journal"} {
		content, err := os.ReadFile(made + suffix)
		if err != nil || len(content) == 0 {
			t.Fatalf("%d bytes of %q, %v", len(content), suffix, err)
		}
		if err := os.WriteFile(path+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(t.Context(), path); memory.CodeOf(err) != memory.CodeStorage || !strings.Contains(err.Error(), "killed in the middle") {
		t.Errorf("a reader is told %v", err)
	}
	d, err = Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := CheckStructure(t.Context(), d.Reader); err != nil {
		t.Error(err)
	}
}

// TestStrangeJournal: what is no journal of SQLite's hinders nobody, and what is no file is named.
func TestStrangeJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	open := func() error {
		d, err := Open(t.Context(), path, Options{})
		if err == nil {
			err = d.Close()
		}
		return err
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"-journal", []byte(strings.Repeat("no journal ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(); err != nil {
		t.Errorf("garbage: %v", err)
	}
	_ = os.Remove(path + "-journal") // it may be gone
	if err := os.Mkdir(path+"-journal", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := open(); err == nil || !strings.Contains(err.Error(), "memory.db-journal is not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}

package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// set is a retrieval set: documents, queries, and which documents answer which.
type set struct {
	name      string
	documents []document
	queries   []query
	conditions
}

// conditions are those under which a set is measured.
type conditions struct {
	// files says that a question with a date comes from a session with files.
	files bool
	// trained says that the table is trained, on the documents that no query was made from.
	trained bool
}

type document struct {
	ID     string `json:"id"`
	Corpus string `json:"corpus"`
	// Time is often RFC 3339, and null or another form where there is no exact one.
	Time string `json:"time"`
	Text string `json:"text"`
	Meta struct {
		Files   []string `json:"files"`
		Session string   `json:"session"`
		Speaker string   `json:"speaker"`
	} `json:"meta"`
}

type query struct {
	ID       string   `json:"id"`
	Corpus   string   `json:"corpus"`
	Text     string   `json:"text"`
	Category string   `json:"category"`
	Relevant []string `json:"relevant"`
	// Before, when set, is when the question was asked: only older documents answer
	// it. Exclude are documents that are none, such as what the question was made from.
	Before  string   `json:"before"`
	Exclude []string `json:"exclude"`
}

// moment is the document's time, false when it has no exact one.
func (d *document) moment() (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, d.Time)
	return at, err == nil
}

// spoken tells that a document is what somebody said in a conversation.
func (d *document) spoken() bool { return d.Meta.Speaker != "" }

// dated tells that the set's questions have a date: they come from sessions, which know files.
func (s *set) dated() bool {
	return slices.ContainsFunc(s.queries, func(q query) bool { return q.Before != "" })
}

// setsIn lists the folders that are sets, by name.
func setsIn(data string) ([]string, error) {
	if data == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(data)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		docs, docsErr := openLines(filepath.Join(data, e.Name(), "docs.jsonl"))
		queries, queriesErr := openLines(filepath.Join(data, e.Name(), "queries.jsonl"))
		for _, c := range []io.Closer{docs, queries} {
			if c != nil {
				_ = c.Close() // nothing was written
			}
		}
		if docsErr == nil && queriesErr == nil {
			names = append(names, e.Name())
		} else if e.IsDir() {
			fmt.Fprintf(os.Stderr, "left out, since it has no docs.jsonl and queries.jsonl: %s\n", e.Name())
		}
	}
	return names, nil
}

func readSet(folder string) (*set, error) {
	s := &set{name: filepath.Base(folder)}
	err := errors.Join(
		readLines(filepath.Join(folder, "docs.jsonl"), &s.documents),
		readLines(filepath.Join(folder, "queries.jsonl"), &s.queries))
	if err == nil && (len(s.documents) == 0 || len(s.queries) == 0) {
		err = errors.New("no documents or no queries")
	}
	return s, err
}

// openLines opens a file, or the same with .gz.
func openLines(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err == nil {
		return f, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if f, err = os.Open(path + ".gz"); err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// maxLine is the longest line of a set that is read.
const maxLine = 16 << 20

func readLines[T any](path string, into *[]T) error {
	f, err := openLines(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return readLinesOf(f, filepath.Base(path), into)
}

func readLinesOf[T any](f io.Reader, name string, into *[]T) error {
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return fmt.Errorf("%s line %d: %w", name, n, err)
		}
		*into = append(*into, v)
	}
	return lines.Err()
}

// Package relevance reads retrieval sets: documents, queries, and which documents answer which.
// docs/how-search-ranks.md has the format.
package relevance

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Document is what a query can find.
type Document struct {
	ID     string `json:"id"`
	Corpus string `json:"corpus"`
	// Time is often RFC 3339, and null or another form where there is no exact one.
	Time string `json:"time"`
	Text string `json:"text"`
	Meta struct {
		Files   []string `json:"files"`
		Session string   `json:"session"`
		Speaker string   `json:"speaker"`
		// Turns is how many lines of a conversation the text has, 0 if it is none.
		Turns int `json:"turns"`
	} `json:"meta"`
}

// Query is what is asked, with the documents that answer it.
type Query struct {
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

// Rankings are the documents that plain BM25 and search found for a query of a set, the best
// first. Search can have more than ten.
type Rankings struct {
	Set    string   `json:"set"`
	Query  string   `json:"query"`
	Plain  []string `json:"plain"`
	Search []string `json:"search"`
}

// Moment is the document's time, false when it has no exact one.
func (d *Document) Moment() (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, d.Time)
	return at, err == nil
}

// Spoken tells that a document is what somebody said in a conversation.
func (d *Document) Spoken() bool { return d.Meta.Speaker != "" }

// When is a document's time; those without one come first.
func (d *Document) When() time.Time {
	at, _ := d.Moment()
	return at
}

// When is the time at which the query was asked, zero when it has none.
func (q *Query) When() time.Time {
	at, _ := time.Parse(time.RFC3339, q.Before)
	return at
}

// Sets lists the folders that are sets, by name.
func Sets(data string) ([]string, error) {
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

// Read reads the documents and queries of a set.
func Read(folder string) (documents []Document, queries []Query, err error) {
	err = errors.Join(
		Lines(filepath.Join(folder, "docs.jsonl"), &documents),
		Lines(filepath.Join(folder, "queries.jsonl"), &queries))
	if err == nil && (len(documents) == 0 || len(queries) == 0) {
		err = errors.New("no documents or no queries")
	}
	return documents, queries, err
}

// seed decides which queries Draw takes.
const seed = 1

// Draw takes at most n queries, always the same ones.
func Draw(queries []Query, n int) []Query {
	drawn := slices.Clone(queries)
	random := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // nothing secret
	random.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn[:min(n, len(drawn))]
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

// Lines decodes the lines of a file, or of the same with .gz, and appends them to into.
func Lines[T any](path string, into *[]T) error {
	f, err := openLines(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return LinesOf(f, filepath.Base(path), into)
}

// LinesOf is Lines of an open file; errors have its name.
func LinesOf[T any](f io.Reader, name string, into *[]T) error {
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

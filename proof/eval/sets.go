package main

import (
	"path/filepath"
	"slices"

	"claudemem/proof/eval/relevance"
)

// set is a retrieval set: documents, queries, and which documents answer which.
type set struct {
	name      string
	documents []document
	queries   []query
	conditions
}

type (
	document = relevance.Document
	query    = relevance.Query
)

// conditions are those under which a set is measured.
type conditions struct {
	// files says that a question with a date comes from a session with files.
	files bool
	// trained says that the table is trained, on the documents that no query was made from.
	trained bool
	// most is how many of the queries are asked, 0 for all.
	most int
}

// dated tells that the set's questions have a date: they come from sessions, which know files.
func (s *set) dated() bool {
	return slices.ContainsFunc(s.queries, func(q query) bool { return q.Before != "" })
}

func readSet(folder string) (*set, error) {
	documents, queries, err := relevance.Read(folder)
	return &set{name: filepath.Base(folder), documents: documents, queries: queries}, err
}

package index

import "claudemem/internal/memory"

// Request asks for the records that fit a text best.
type Request struct {
	// Text is the text to search for, without dates and the like.
	Text string
	// Filter is the strict filter as far as the index knows it.
	Filter Filter
	// Limit is the least number of records to return if there are as many; more may come.
	Limit int
	// Prose says that the text was not written as a query: none of its words is taken for
	// mistyped, of a long text those that weigh most are looked for, and the matches'
	// evidence has what the text has in common with records in general.
	Prose bool
	// Untrained is how far the text's vector is moved from that of the trained table towards
	// the one of the built-in table, where it is compared with vectors of the trained one: 0 for
	// not at all, 1 for all of the way.
	Untrained float32
	// Also are records to score besides those that the text finds, if they pass the filter.
	Also []memory.RecordRef
}

// Filter chooses documents by what the index knows of them; zero fields do not filter.
type Filter struct {
	// Projects are root paths.
	Projects []string
	Kinds    []memory.RecordKind
	Types    []memory.ObservationType
	Session  memory.SessionID
	Since    memory.Millis
	Until    memory.Millis
	// Only, when not nil, are the records that pass a filter of the store's
	// (files, concepts); the others are not looked at.
	Only []memory.RecordRef
}

// Match is a record that fits, with the terms of its score as package rank has them.
type Match struct {
	memory.RecordRef
	ProjectPath string
	Session     memory.SessionID
	CreatedAt   memory.Millis
	// Type is an observation's, "" for other kinds.
	Type memory.ObservationType
	// Keyword is the keyword score with proximity, at least 0, as a share of the
	// largest of this request (so at most 1).
	Keyword float64
	// Proximity is the part of Keyword that comes from neighbouring words.
	Proximity float64
	// Likeness is the best cosine of a fragment, MaxSim the word by word likeness.
	Likeness, MaxSim float64
	Fragment         string   // of Likeness
	Words            []string // of the query that it has
	// Lexical says that it has a word of the query.
	Lexical bool
	// Evidence holds the figures that compare between texts and memories. For a text
	// with more than 64 terms that is not prose they count the first 64.
	Evidence memory.Evidence
}

// Answer is the result of a request, the best sum of terms first.
type Answer struct {
	Matches []Match
	// Corrected maps words that no document has to those they were taken for.
	Corrected map[string]string
	// Semantic is false when there were no vectors to compare with.
	Semantic bool
	// Behind is the number of changes that the index has not applied yet.
	Behind int64
}

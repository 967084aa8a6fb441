package memory

import (
	"fmt"
	"strings"
	"time"
)

// Order is how hits are ordered.
type Order string

// The orders of hits.
const (
	OrderRelevance Order = "relevance"
	OrderNewest    Order = "newest"
	OrderOldest    Order = "oldest"
)

// SearchRequest asks for records. Its Query is the strict filter: what does not
// pass it is never found; types, concepts and files pass observations only.
type SearchRequest struct {
	Text  string
	Kinds []RecordKind // none: all
	Query
	// Order is OrderRelevance where there is a text, else OrderNewest, when empty.
	Order   Order
	Explain bool
	// During is set when an agent asks in the course of its work; nil for a person.
	During *During
}

// During is what is known of the session in which an agent asks. What is new then counts
// for more, and so do records of the session's files.
type During struct {
	// Files are those that the session has read and edited, as records name them.
	Files []string
	// Session, when set, is the session whose files these are: they are looked up. Waiting
	// says that a person waits for the answer: files then weigh the records that the text
	// finds, and find none by themselves.
	Session SessionID
	Waiting bool
}

// Hit is a record that was found. One of the pointers is set, by Kind.
type Hit struct {
	RecordRef
	ProjectPath string
	CreatedAt   Millis
	// Score is 0 for a hit that only the filter found; higher is better.
	Score float64
	// Why is set when it was asked for and the hit has a score.
	Why *Explanation

	Observation *Observation
	Summary     *Summary
	Prompt      *Prompt
}

// Explanation tells how a score came to be: the sum of the parts' values times
// each factor is the score.
type Explanation struct {
	Parts   []ScorePart `json:"parts"`
	Factors []ScorePart `json:"factors,omitempty"`
	// Words are the query's words that the record has, as they were searched.
	Words []string `json:"words,omitempty"`
	// Fragment is the text that came nearest in meaning: title, text, narrative,
	// fact_0 and so on.
	Fragment string `json:"fragment,omitempty"`
}

// Score returns the score that the explanation gives: the sum of the parts, times each factor.
func (e *Explanation) Score() float64 {
	score := 0.0
	for _, p := range e.Parts {
		score += p.Value
	}
	for _, f := range e.Factors {
		score *= f.Value
	}
	return score
}

// ScorePart is one term or factor of a score.
type ScorePart struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Note says in a few words where the value comes from.
	Note string `json:"note,omitempty"`
}

// SearchResult is a page of hits.
type SearchResult struct {
	Hits []Hit
	// Total is how many hits there are in all pages.
	Total int
	// Understood is the interpretation of the text.
	Understood Understood
}

// Understood is the interpretation of a search text.
type Understood struct {
	// Text is what was left to search for, "" when the text was all filter.
	Text string `json:"text,omitempty"`
	// Since and Until are the range that a date in the text became, 0 for none.
	Since Millis `json:"since,omitempty"`
	Until Millis `json:"until,omitempty"`
	// Types are those that the text named ("what bugs did we fix").
	Types []ObservationType `json:"types,omitempty"`
	// Corrected maps words that no record has to those they were taken for.
	Corrected map[string]string `json:"corrected,omitempty"`
	// Syntax says that the text was a full-text expression (AND OR NOT NEAR * "").
	Syntax bool `json:"syntax,omitempty"`
	// Notes are what the user should know: no vectors at the moment, index behind.
	Notes []string `json:"notes,omitempty"`
}

// Reading tells in sentences which dates (in zone) and types a text was read as, for whoever
// may have meant something else; nil if it was read as neither. clean makes a harmless line of
// what the text said.
func (u *Understood) Reading(zone *time.Location, clean func(string) string) []string {
	var said []string
	day := func(at Millis) string { return at.Time().In(zone).Format(time.DateOnly) }
	switch {
	case u.Since != 0 && u.Until != 0:
		said = append(said, fmt.Sprintf("Understood: %s to %s.", day(u.Since), day(u.Until)))
	case u.Since != 0:
		said = append(said, fmt.Sprintf("Understood: since %s.", day(u.Since)))
	case u.Until != 0:
		said = append(said, fmt.Sprintf("Understood: until %s.", day(u.Until)))
	}
	if len(u.Types) > 0 {
		var types []string
		for _, t := range u.Types {
			types = append(types, clean(string(t)))
		}
		said = append(said, "Understood: only "+strings.Join(types, ", ")+".")
	}
	return said
}

// TimelineRequest asks for what happened around an anchor.
type TimelineRequest struct {
	// Anchor is an observation's number (123, #123), a session (S12), or an ISO
	// time; Text, used when it is empty, is a query whose best hit is the anchor.
	Anchor        string
	Text          string
	Before, After int // how many items on each side
	Project       string
}

// SessionID returns the session of the record, 0 when the hit has no record.
func (h *Hit) SessionID() SessionID {
	switch {
	case h.Observation != nil:
		return h.Observation.Session
	case h.Summary != nil:
		return h.Summary.Session
	case h.Prompt != nil:
		return h.Prompt.Session
	}
	return 0
}

// TimelineItem is a record in a timeline. Its Kind is "anchor" for a time or a session
// without a record of its own.
type TimelineItem struct {
	Hit
	Session  SessionID
	IsAnchor bool
}

// Timeline is a stretch of time, oldest first.
type Timeline struct {
	Anchor     string
	AnchorTime Millis
	Items      []TimelineItem
}

// ProjectDigest is a project as a list shows it.
type ProjectDigest struct {
	ProjectPath  string
	Label        string
	Sessions     int
	Observations int
	LastAt       Millis
}

// NewObservation is an observation that a person or an agent writes down.
type NewObservation struct {
	ProjectPath string
	// Session is the session it belongs to, 0 for none: it then goes to a session
	// of the project that holds what was written by hand.
	Session   SessionID
	Type      ObservationType
	Title     string
	Subtitle  string
	Narrative string
	Facts     []string
	Concepts  []string
	Files     []FileRef
	Origin    Origin
	// CreatedAt is 0 for now.
	CreatedAt Millis
}

// ObservationEdit is what shall change of an observation; nil leaves it as it is.
type ObservationEdit struct {
	Title     *string          `json:"title,omitempty"`
	Narrative *string          `json:"narrative,omitempty"`
	Facts     *[]string        `json:"facts,omitempty"`
	Type      *ObservationType `json:"type,omitempty"`
	Pinned    *bool            `json:"pinned,omitempty"`
}

// ObservationMerge makes one of observations of a project that say the same: those of IDs are superseded
// by Into, 0 for the one that is believed most, which was seen as often as all of them and is pinned if one
// of them was. The answer has IDs without Into. With Undo it takes that back: Pinned names those that were pinned.
type ObservationMerge struct {
	IDs    []ObservationID `json:"ids"`
	Into   ObservationID   `json:"into,omitempty"`
	Pinned []ObservationID `json:"pinned,omitempty"`
	Undo   bool            `json:"undo,omitempty"`
}

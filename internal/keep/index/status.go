package index

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"claudemem/internal/memory"
)

// Status is the state of the index, for statistics and the doctor.
type Status struct {
	Path      string `json:"path"`
	Documents int    `json:"documents"`
	Fragments int    `json:"fragments"`
	// Behind counts the changes, during a build the records, that are not found yet.
	Behind   int64 `json:"behind"`
	Building bool  `json:"building"`
	// Model and Dimensions describe the vectors; Dimensions is 0 while unknown.
	Model      string `json:"model"`
	Dimensions int    `json:"dimensions"`
	// Waiting counts the documents that have no vectors of the model yet.
	Waiting int `json:"waiting"`
	// Trained is the number of observations that the table of the vectors was trained on
	// further; 0 for none.
	Trained int `json:"trained"`
	// TrainError is why it could not be trained at the last attempt.
	TrainError   string        `json:"train_error,omitempty"`
	TrainErrorAt memory.Millis `json:"train_error_at,omitempty"`
	// UnknownLayout says that this version does not understand the pages of the full-text index,
	// so that searches are slower and look up fewer words.
	UnknownLayout bool `json:"unknown_layout,omitempty"`
	// Bytes is the size of the files.
	Bytes int64 `json:"bytes"`
	// Error is why nothing is indexed at the moment, EmbedError why there are no new
	// vectors; "" when all is well.
	Error        string        `json:"error,omitempty"`
	ErrorAt      memory.Millis `json:"error_at,omitempty"`
	EmbedError   string        `json:"embed_error,omitempty"`
	EmbedErrorAt memory.Millis `json:"embed_error_at,omitempty"`
}

// statusTimeout bounds the look at the feed: a status is asked for when things
// are not well.
const statusTimeout = time.Second

// Status returns the state of the index. It never fails: what cannot be found out is zero, and
// Status.Error says why.
func (ix *Index) Status() Status {
	s := Status{Path: ix.path, Model: ix.embedder.Model()}
	ix.state.mu.Lock()
	s.Error, s.ErrorAt = ix.state.indexing.told()
	s.EmbedError, s.EmbedErrorAt = ix.state.embedding.told()
	s.TrainError, s.TrainErrorAt = ix.state.training.told()
	ix.state.mu.Unlock()
	for _, path := range []string{ix.path, ix.path + "-wal", vectorPath(ix.path), tablePath(ix.path)} {
		if info, err := os.Stat(path); err == nil {
			s.Bytes += info.Size()
		}
	}
	// The follower may be pausing after a failure, so the feed is asked.
	newest := int64(0)
	if ix.feed != nil {
		ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
		defer cancel()
		if _, n, err := ix.feed.ChangeRange(ctx); err == nil {
			newest = n
		}
	}
	b, done, err := ix.current()
	if err != nil {
		s.Error = cmp.Or(s.Error, err.Error())
		return s
	}
	defer done()
	s.Documents = b.cat.all.documents
	if b.vectors != nil {
		s.Fragments = b.vectors.Len()
	}
	s.Model, s.Dimensions = b.model, b.dimensions
	if b.trained != nil {
		training, _ := b.trained.Training()
		s.Trained = training.Records
	}
	if b.unsound.Load() && s.Error == "" {
		s.Error = errUnsound.Error()
	}
	known, _ := b.checkLayout(context.Background()) // a search reports the error
	s.UnknownLayout = !known
	s.Waiting = len(b.cat.waiting)
	s.Building = b.build.kind != 0
	// And what came since the follower last looked at the feed.
	s.Behind = b.behind() + max(newest-max(b.newest, b.cursor), 0)
	return s
}

// Looked holds the facts on an index that need not open all of it.
type Looked struct {
	Documents int
	// Cursor is the number of the last change that it has.
	Cursor int64
	Model  string
	// UnknownLayout is that of Status.
	UnknownLayout bool
}

// Look looks at the index at path for a process that is not the worker; it never
// writes.
//
// The codes of its errors are those of OpenReadOnly.
func Look(ctx context.Context, path string) (Looked, error) {
	const what = "look at index"
	b, err := openBaseReadOnly(ctx, path, nil)
	if err != nil {
		return Looked{}, fault(what, err)
	}
	known, err := b.checkLayout(ctx)
	l := Looked{Documents: b.cat.all.documents, Cursor: b.cursor, Model: b.model, UnknownLayout: !known}
	return l, fault(what, errors.Join(err, b.close()))
}

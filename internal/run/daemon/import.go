package daemon

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"

	"claudemem/internal/capture/intake"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/move/exchange"
	"claudemem/internal/serve/api"
)

const (
	// importBatch is the number of records, and importBytes the size of their lines, that are
	// imported at once: a request to the worker, which commits them in parts.
	importBatch = 500
	importBytes = 1 << 20
	// readAhead bounds a part of the file in bytes, apart from its last line. While records are
	// stored, two parts are read ahead.
	readAhead = 256 << 10
	// mostWide bounds the tombstones that a person is asked about.
	mostWide = 100
	// importProblems bounds the lines that are reported.
	importProblems = 20
)

// Importing is what an import did.
type Importing struct {
	Added memory.PortableCounts `json:"added"`
	// Present are records that are here, Differs those that are here and were changed; they
	// stay as they are.
	Present int `json:"present"`
	// Merged are observations and summaries whose content is here under another ULID.
	Merged  int `json:"merged"`
	Differs int `json:"differs"`
	// Forgotten are records that the user has forgotten here.
	Forgotten int `json:"forgotten"`
	// Excluded are records of projects in which nothing is captured, and of their sessions.
	Excluded int `json:"excluded"`
	// Waiting are the rules and pins of another memory that are inactive until they are approved.
	Waiting int `json:"waiting"`
	// Wide are the tombstones that cover more than a session, in words; WideTaken says that they
	// were taken.
	Wide      []string `json:"wide,omitempty"`
	WideTaken bool     `json:"wide_taken,omitempty"`
	// Projects counts the records by project in a dry run.
	Projects []ProjectRecords `json:"projects,omitempty"`
	// Refused are lines that hold no record, or one that cannot be stored.
	Refused int `json:"refused"`
	// Problems says why, of the first lines.
	Problems []ImportProblem `json:"problems"`
	// Complete is false for a file without its end.
	Complete bool `json:"complete"`
	// Import is the number of the import, 0 if nothing was stored.
	Import int64 `json:"import,omitempty"`
}

// ProjectRecords is how many records a project has in a file.
type ProjectRecords struct {
	Project string `json:"project"`
	Records int    `json:"records"`
}

// ImportOptions are what a person says of a file.
type ImportOptions struct {
	// Mine is that of memory.ImportOptions.
	Mine bool
	// Source names the file: an import of it that was broken off goes on with its number.
	Source string
	// Ask reports whether tombstones that cover more than a session are taken.
	Ask func(wide []string) bool
}

// ImportProblem is a line that was refused. Its message has nothing of the line's text.
type ImportProblem struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Done returns the number of lines that were read.
func (r *Importing) Done() int {
	return r.Added.Total() + r.Present + r.Merged + r.Differs + r.Forgotten + r.Excluded + r.Refused
}

// Records are the records of a file, as those of an exchange.Reader: Next has its errors.
type Records interface {
	Next() (p memory.Portable, line int, err error)
	// Size returns the size of the last one in bytes.
	Size() int
}

// ImportRecords stores the records of a file that are not in the memory of a
// data directory yet, as store.Import says. A running worker stores them, without a break in
// capture; without one, this process is the worker meanwhile, and hooks spool. Some records
// are held at a time. report is called with the number of records that were read.
//
// What the records claim is believed as options say. Its Ask is called with the tombstones that cover
// more than a session, at the end; they are taken if it returns true.
//
// An import can be repeated: after an error or a kill, what is stored is found to be here. The
// result says what was done before an error.
//
// The codes of its errors: CodeInvalid for another file, CodeUnavailable, CodeStorage.
func ImportRecords(ctx context.Context, dataDir string, from Records, options ImportOptions, report func(done int)) (result Importing, err error) {
	f := fileImport{reader: from, ImportOptions: options, sessions: map[memory.ULID]memory.Imported{}, report: report}
	err = sending(ctx, dataDir, func(send sender) error {
		f.send = send
		return f.run(ctx)
	})
	if coded, ok := errors.AsType[*memory.Error](err); ok && coded.Code == memory.CodeUnavailable && f.result.Done() > 0 {
		err = memory.Errorf(coded.Code, "%w", err).WithHint("run the same command again: it goes on where it was")
	}
	return f.result, err
}

// sender sends a request of an import to whoever is the worker.
type sender func(context.Context, api.ImportRequest) (api.ImportAnswer, error)

// sending calls do with a sender to the running worker. Without one this process is the worker meanwhile,
// and makes the database if there is none; errBusy if another one has the lock for turnLimit.
func sending(ctx context.Context, dataDir string, do func(sender) error) error {
	if worker, _, missing := askPeer(ctx, dataDir); missing == nil {
		return do(func(ctx context.Context, r api.ImportRequest) (answer api.ImportAnswer, err error) {
			return answer, worker.DoWithin(ctx, partLimit, http.MethodPost, api.ImportPath, r, &answer)
		})
	}
	resolved, err := settings.LoadForWorker(dataDir, os.Getenv)
	if err != nil {
		return err
	}
	policy := newLive(dataDir, resolved, slog.New(slog.DiscardHandler)).policy
	return asWorker(ctx, dataDir, true, turnLimit, func(s *store.Store) error {
		return do(keeper{Store: s, intake: intake.New(nil, intake.Options{Policy: policy})}.Import)
	})
}

// UndoImport undoes an import as store.UndoImport says, with the worker or as the worker. A request with
// Undo 0 would be one to import, so 0 is sent as another number that no import has.
func UndoImport(ctx context.Context, dataDir string, number int64, dryRun bool) (undone memory.ImportUndone, err error) {
	err = sending(ctx, dataDir, func(send sender) error {
		answer, err := send(ctx, api.ImportRequest{Undo: cmp.Or(number, -1), DryRun: dryRun})
		if answer.Undone != nil {
			undone = *answer.Undone
		}
		return err
	})
	return undone, err
}

// Imports returns the imports of a memory that can be undone, the first one first: that of a number, or
// all for 0; none without a memory.
func Imports(ctx context.Context, dataDir string, number int64) ([]memory.ImportEntry, error) {
	list, err := readMemory(ctx, dataDir, func(s *store.Store) ([]memory.ImportEntry, error) { return s.Imports(ctx, number) })
	if memory.CodeOf(err) == memory.CodeNoMemory {
		return nil, nil
	}
	return list, err
}

// CountExport is CountRecords for a file of package exchange.
func CountExport(from io.Reader) (Importing, error) {
	r, _, err := exchange.NewReader(from)
	if err != nil {
		return Importing{}, err
	}
	return CountRecords(r)
}

// CountRecords reads records as ImportRecords does and stores none. Added are those that could be
// imported.
func CountRecords(from Records) (Importing, error) {
	counts, projects := map[string]int{}, map[memory.ULID]string{} // by project; projects of sessions
	f := fileImport{reader: from, ImportOptions: ImportOptions{Ask: func([]string) bool { return false }}, report: func(int) {}}
	f.send = func(_ context.Context, r api.ImportRequest) (answer api.ImportAnswer, _ error) {
		for i := range r.Records {
			p := &r.Records[i]
			outcome := memory.Imported{ULID: p.ULID(), Status: memory.ImportAdded, Waiting: p.Wanted()}
			if err := p.Check(); err != nil {
				outcome.Status, outcome.Reason = memory.ImportRefused, err.Error()
			} else if project := projectOf(p, projects); project != "" {
				counts[project]++
			}
			answer.Results = append(answer.Results, outcome)
		}
		return answer, nil
	}
	err := f.run(context.Background())
	f.result.Projects = append(f.result.Projects, collect.Map(slices.Sorted(maps.Keys(counts)), func(project string) ProjectRecords {
		return ProjectRecords{project, counts[project]}
	})...)
	return f.result, err
}

// projectOf returns the project of a record, by its session where it names none itself, "" for a
// session that did not come before it. It adds a session's project to sessions.
func projectOf(p *memory.Portable, sessions map[memory.ULID]string) string {
	switch {
	case p.Session != nil:
		sessions[p.Session.ULID] = p.Session.ProjectPath
		return p.Session.ProjectPath
	case p.Observation != nil:
		return p.Observation.ProjectPath
	case p.Learning != nil:
		return p.Learning.ProjectPath
	case p.SessionRef() != nil:
		return sessions[*p.SessionRef()]
	}
	return ""
}

// fileImport imports one file.
type fileImport struct {
	reader Records
	send   sender
	ImportOptions
	report func(done int)
	result Importing

	batch []lineRead
	bytes int
	// wide are the tombstones that cover more than a session.
	wide []lineRead
	// sessions are those of the file that are here under another name, or not at all.
	sessions map[memory.ULID]memory.Imported
}

// A lineRead is a line of the file: a record, or why there is none.
type lineRead struct {
	record memory.Portable
	line   int
	size   int
	err    error
}

// read sends the lines of the file, in parts of at most readAhead bytes or one line, until the
// file or ctx ends. The last line that it sends has an error other than exchange.LineError.
func (f *fileImport) read(ctx context.Context, to chan<- []lineRead) {
	defer close(to)
	for ended := false; !ended; {
		var part []lineRead
		for bytes := 0; bytes < readAhead && !ended; {
			p, line, err := f.reader.Next()
			part = append(part, lineRead{p, line, f.reader.Size(), err})
			bytes, ended = bytes+f.reader.Size(), err != nil && !errors.As(err, new(*exchange.LineError))
		}
		select {
		case to <- part:
		case <-ctx.Done():
			return
		}
	}
}

// run imports the records, some at a time, while the next ones are read.
func (f *fileImport) run(ctx context.Context) error {
	reading, stop := context.WithCancel(ctx)
	parts := make(chan []lineRead, 1) // when it is full, the reader waits
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { f.read(reading, parts) })
	for part := range parts {
		for i := range part {
			if ended, err := f.take(ctx, &part[i]); err != nil || ended && !f.result.Complete {
				return err
			} else if ended {
				return f.flushed(ctx, api.ImportRequest{ImportOptions: memory.ImportOptions{ImportNumber: memory.ImportNumber{Import: f.result.Import, End: true}}})
			}
		}
	}
	return f.flush(ctx) // reports that ctx has ended
}

// take adds a line to the batch, which is imported when it is full. It reports whether the
// line was the last one. Sessions are sent before the records that follow them, so that these
// can name what the sessions are called here.
func (f *fileImport) take(ctx context.Context, l *lineRead) (ended bool, err error) {
	var fault *exchange.LineError
	switch {
	case errors.As(l.err, &fault):
		f.refused(l.line, fault.Err.Error())
		return false, nil
	case errors.Is(l.err, io.EOF), errors.Is(l.err, exchange.ErrTruncated):
		f.result.Complete = errors.Is(l.err, io.EOF)
		if err := f.flush(ctx); err != nil || len(f.wide) == 0 {
			return true, err
		}
		if f.result.WideTaken = f.Ask(f.result.Wide); f.result.WideTaken {
			f.batch = f.wide
		}
		return true, f.flush(ctx)
	case l.err != nil:
		return true, errors.Join(f.flush(ctx), l.err)
	}
	if f.isWide(l) {
		return false, nil
	}
	if len(f.batch) > 0 && (f.batch[0].record.Session != nil) != (l.record.Session != nil) {
		if err := f.flush(ctx); err != nil {
			return false, err
		}
	}
	if !f.named(l) {
		return false, nil
	}
	f.batch, f.bytes = append(f.batch, *l), f.bytes+l.size
	if len(f.batch) == importBatch || f.bytes >= importBytes {
		err = f.flush(ctx)
	}
	return false, err
}

// isWide reports whether a record is a tombstone that covers more than a session, and keeps it
// until the end of the file.
func (f *fileImport) isWide(l *lineRead) bool {
	switch t := l.record.Tombstone; {
	case t == nil || !t.Wide():
		return false
	case len(f.wide) == mostWide:
		f.refused(l.line, "it has more tombstones that cover more than a session than can be asked about")
	default:
		f.wide = append(f.wide, *l)
		f.result.Wide = append(f.result.Wide, care.TombstoneText(t))
	}
	return true
}

// named gives a record the name that its session has here. It is false for a record whose
// session was left out: so is the record.
func (f *fileImport) named(l *lineRead) bool {
	ref := l.record.SessionRef()
	if ref == nil {
		return true
	}
	session, other := f.sessions[*ref]
	switch {
	case !other:
		return true
	case session.Status == memory.ImportForgotten:
		f.result.Forgotten++
		return false
	case session.Status == memory.ImportExcluded:
		f.result.Excluded++
		return false
	case session.Status == memory.ImportRefused:
		f.refused(l.line, "its session was refused")
		return false
	}
	*ref = session.ULID
	return true
}

// flush imports what is in the batch, counts the outcomes and empties it. With an error it stays as
// it is. CodeUnavailable when ctx has ended, also for an empty batch.
func (f *fileImport) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return memory.Errorf(memory.CodeUnavailable, "interrupted: %w", err)
	}
	if len(f.batch) == 0 {
		return nil
	}
	records := collect.Map(f.batch, func(l lineRead) memory.Portable { return l.record })
	return f.flushed(ctx, api.ImportRequest{Records: records, ImportOptions: memory.ImportOptions{
		Mine: f.Mine, Wide: f.result.WideTaken, ImportNumber: memory.ImportNumber{Source: f.Source, Import: f.result.Import},
	}})
}

// flushed sends the batch, counts the outcomes and empties it.
func (f *fileImport) flushed(ctx context.Context, r api.ImportRequest) error {
	answer, err := f.send(ctx, r)
	if err != nil {
		return err
	}
	f.result.Import = answer.Import
	if len(answer.Results) != len(f.batch) {
		return memory.Errorf(memory.CodeInternal, "%d of %d records have an outcome", len(answer.Results), len(f.batch))
	}
	for i, o := range answer.Results {
		p := &f.batch[i].record
		switch o.Status {
		case memory.ImportAdded:
			f.result.Added.Add(p)
			if o.Waiting {
				f.result.Waiting++
			}
		case memory.ImportPresent:
			if p.Session == nil && o.ULID != "" && o.ULID != p.ULID() {
				f.result.Merged++
			} else {
				f.result.Present++
			}
		case memory.ImportDiffers:
			f.result.Differs++
		case memory.ImportForgotten:
			f.result.Forgotten++
		case memory.ImportExcluded:
			f.result.Excluded++
		default:
			f.refused(f.batch[i].line, o.Reason)
		}
		if s := p.Session; s != nil && o.ULID != s.ULID {
			f.sessions[s.ULID] = o
		}
	}
	clear(f.batch)
	f.batch, f.bytes = f.batch[:0], 0
	f.report(f.result.Done())
	return nil
}

// refused counts a line that was not imported.
func (f *fileImport) refused(line int, reason string) {
	f.result.Refused++
	if len(f.result.Problems) < importProblems {
		f.result.Problems = append(f.result.Problems, ImportProblem{line, reason})
	}
}

// Import answers the route that imports records. Private and secret text is taken out of records before
// they are stored, as it is from events. Records of projects in which nothing is captured are
// left out; CodeUnavailable while the settings are broken. Some records are redacted, in place, while
// those before them are stored. After an error those before it are stored, and the caller imports
// the same records again.
func (k keeper) Import(ctx context.Context, r api.ImportRequest) (api.ImportAnswer, error) {
	if r.Undo != 0 {
		undone, err := k.UndoImport(ctx, r.Undo, r.DryRun)
		return api.ImportAnswer{Undone: &undone}, err
	}
	captured, err := k.intake.Captured()
	if err == nil {
		err = k.NumberImport(ctx, &r.ImportNumber)
	}
	if err != nil {
		return api.ImportAnswer{}, err
	}
	records, outcomes := r.Records, make([]memory.Imported, len(r.Records))
	var storing sync.WaitGroup
	var failed error
	for start := 0; start < len(records); start += care.ImportedTogether {
		end := min(len(records), start+care.ImportedTogether)
		var kept []memory.Portable
		var places []int
		for i := start; i < end; i++ {
			if !k.intake.Portable(&records[i]) {
				outcomes[i] = memory.Imported{Status: memory.ImportRefused, Reason: "its text is empty or private"}
				continue
			}
			kept, places = append(kept, records[i]), append(places, i)
		}
		if storing.Wait(); failed != nil {
			break
		}
		storing.Go(func() {
			stored, err := k.Store.Import(ctx, kept, captured, r.ImportOptions)
			for i, outcome := range stored {
				outcomes[places[i]] = outcome
			}
			failed = err
		})
	}
	storing.Wait()
	return api.ImportAnswer{Results: outcomes, Import: r.Import}, failed
}

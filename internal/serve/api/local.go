package api

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/keep/store/books"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Store is the part of the store that Local reads. Lists are newest first. The tests of httpapi
// have another one, fakeWorker, for answers that no real store gives.
type Store interface {
	Observation(ctx context.Context, id memory.ObservationID) (memory.Observation, error)
	ObservationByULID(ctx context.Context, ulid memory.ULID) (memory.Observation, error)
	// Versions returns the earlier texts of an observation, and those of edits on other devices.
	Versions(ctx context.Context, id memory.ObservationID) ([]memory.Version, error)
	Observations(ctx context.Context, q memory.Query) ([]memory.Observation, error)
	CountRecords(ctx context.Context, q memory.Query, kinds []memory.RecordKind) (int, error)
	// RecordsByRefs returns records in the given order, without those that are hidden or
	// deleted.
	RecordsByRefs(ctx context.Context, refs ...memory.RecordRef) ([]memory.Hit, error)
	Session(ctx context.Context, id memory.SessionID) (memory.Session, error)
	// Sessions filters by project, session and time only.
	Sessions(ctx context.Context, q memory.Query) ([]memory.SessionDigest, error)
	CountSessions(ctx context.Context, q memory.Query) (int, error)
	// SessionNamed returns the session of a number (12, S12), a ULID, the host's id or its
	// beginning, or "last" in a project; CodeNotFound for none, CodeInvalid for several.
	SessionNamed(ctx context.Context, name, project string) (memory.Session, error)
	SessionReceipt(ctx context.Context, id memory.SessionID) (accounts.SessionReceipt, error)
	// SessionEvents lists the first events of a session, and counts all.
	SessionEvents(ctx context.Context, id memory.SessionID, limit int) ([]accounts.SessionEvent, int, error)
	Projects(ctx context.Context, brief bool) ([]memory.ProjectDigest, error)
	Aliases(ctx context.Context) ([]memory.ProjectAlias, error)
	Learnings(ctx context.Context, q memory.LearningQuery) ([]memory.Learning, error)
	CountLearnings(ctx context.Context, q memory.LearningQuery) (int, error)
	// Symbols lists changes of functions and types with a name, "" for any, and counts those
	// that there are without the limit.
	Symbols(ctx context.Context, q memory.Query, name string) (changes []memory.SymbolChange, total int, err error)
	FileWeeks(ctx context.Context, project string, now time.Time) (memory.FileWeeks, error)
	Totals(ctx context.Context, project string) (memory.Totals, error)
	Books(ctx context.Context) (memory.Books, error)
	Backlog(ctx context.Context, now memory.Millis) ([]memory.Backlog, error)
	DeadLetters(ctx context.Context, limit int) ([]memory.DeadLetter, error)
	Unread(ctx context.Context, since memory.Millis) ([]books.Unread, error)
	Standing(ctx context.Context, now time.Time) ([]accounts.Notice, error)
	Recorded(ctx context.Context, project string, now time.Time, days int) (accounts.Recorded, error)
	Account(ctx context.Context, now time.Time, days int) (accounts.Account, error)
	ReceiptTotals(ctx context.Context, since memory.Millis) (accounts.ReceiptTotals, error)
	// Given lists what sessions were given, and counts it without the limit.
	Given(ctx context.Context, q accounts.GivenQuery) ([]accounts.Given, int, error)
	Trial(ctx context.Context) (memory.Trial, error)
	// TrialSessions lists sessions by their beginning, in the order in which they ended.
	TrialSessions(ctx context.Context, from, to, idle memory.Millis) ([]accounts.TrialSession, error)
}

// Searcher finds records, by the filter alone if it has no index.
type Searcher interface {
	Search(ctx context.Context, r memory.SearchRequest) (memory.SearchResult, error)
	Timeline(ctx context.Context, r memory.TimelineRequest) (memory.Timeline, error)
}

// Blocks builds context blocks.
type Blocks interface {
	Context(ctx context.Context, request memory.ContextRequest) (memory.ContextBlock, error)
}

// Keeper changes records. It redacts texts before it stores them.
type Keeper interface {
	AddObservation(ctx context.Context, n memory.NewObservation) (memory.Observation, error)
	EditObservation(ctx context.Context, id memory.ObservationID, edit memory.ObservationEdit) (memory.Observation, error)
	HideObservation(ctx context.Context, id memory.ObservationID, purge bool) (purged memory.Millis, err error)
	RestoreObservation(ctx context.Context, id memory.ObservationID) (memory.Observation, error)
	MergeObservations(ctx context.Context, m memory.ObservationMerge) (memory.ObservationMerge, error)
	AddLearning(ctx context.Context, l memory.Learning) (memory.Learning, error)
	EditLearning(ctx context.Context, id int64, edit memory.LearningEdit) (memory.Learning, error)
	AddAlias(ctx context.Context, path, project string) (memory.ProjectAlias, error)
	RemoveAlias(ctx context.Context, path string) (memory.ProjectAlias, error)
	MergeProjects(ctx context.Context, m memory.ProjectMerge) (memory.ProjectMerged, error)
	// Revive makes the dead letters with these keys pending again, all of them without keys,
	// and returns how many.
	Revive(ctx context.Context, keys ...string) (int, error)
	// RetryUnread has the turns that no model has read shown to one as soon as it answers,
	// and returns how many events they have.
	RetryUnread(ctx context.Context) (int, error)
	// Judge stores a verdict on a record, or takes it back.
	Judge(ctx context.Context, j memory.Judgement) error
	// RecordLookup notes that a session has read observations in full; an empty
	// hostSessionID is an unknown session.
	RecordLookup(ctx context.Context, host memory.Host, hostSessionID string, ids ...memory.ObservationID) error
	// BeginTrial begins a trial with the shares of begun; CodeConflict while one runs.
	BeginTrial(ctx context.Context, begun memory.Trial) (memory.Trial, error)
	EndTrial(ctx context.Context) error
	// SetPlace stores that a place is in a state from now on, in a project or in all ("").
	SetPlace(ctx context.Context, state, place, project string) error
}

// Local answers the calls of a Memory in this process. With a nil Keeper, only the methods that read
// may be called.
type Local struct {
	Store    Store
	Searcher Searcher
	Blocks   Blocks
	Keeper   Keeper
	// Vocabulary returns the types and concepts of the mode; nil: they are not checked.
	Vocabulary func() (types, concepts []string)
	// AgentFiles reports whether files of projects get blocks of records; nil: they do not.
	AgentFiles func() bool
	// Clock is time.Now when nil.
	Clock func() time.Time
}

// SearchKind is Search for one kind of record; the hits have no Kind.
func (l *Local) SearchKind(ctx context.Context, r SearchRequest, kind memory.RecordKind) (SearchPage, error) {
	r.Kinds = []string{string(kind)}
	page, err := l.search(ctx, r)
	for i := range page.Results {
		page.Results[i].Kind = ""
	}
	return page, err
}

// search answers Memory.Search. Of a text without a filter only hits that match count: others would be just the newest records. CodeInvalid for a
// range that ends before it begins, and an unknown type or concept.
func (l *Local) search(ctx context.Context, r SearchRequest) (SearchPage, error) {
	q, err := l.query(ctx, &r)
	if err != nil {
		return SearchPage{}, err
	}
	found, err := l.Searcher.Search(ctx, memory.SearchRequest{Text: r.Query, Kinds: named[memory.RecordKind](r.Kinds), Query: q, Order: memory.Order(r.Order), Explain: r.Explain, During: r.during()})
	if err != nil {
		return SearchPage{}, err
	}
	full, matched := r.Format == FormatFull, 0
	for matched < len(found.Hits) && found.Hits[matched].Score > 0 {
		matched++
	}
	// A page is filled up with records that only pass the filter. Without a filter these
	// are the newest of the project and do not answer the text, so they are removed, unless
	// the search could not use all of the text (Notes).
	searched := r.Query != "" && found.Understood.Text != ""
	if searched && !r.Filtered() && matched < len(found.Hits) && (matched > 0 || len(found.Understood.Notes) == 0) {
		found.Hits, found.Total = found.Hits[:matched], r.Offset+matched
	}
	return SearchPage{Query: &r.Query, Count: len(found.Hits), Total: found.Total, Limit: r.Limit, Offset: r.Offset, Format: r.Format,
		Understood: understood(r.Query, found.Understood),
		Results:    collect.MapPtr(found.Hits, func(h *memory.Hit) Hit { return hitOf(h, full) })}, nil
}

// query returns the strict filter of a request, in which it writes types in lower case. CodeInvalid
// for a range that ends before it begins, and for a type or concept that neither the mode nor any
// observation has.
func (l *Local) query(ctx context.Context, r *SearchRequest) (memory.Query, error) {
	for i := range r.Types {
		r.Types[i] = strings.ToLower(r.Types[i])
	}
	q := memory.Query{Session: r.Session, Types: named[memory.ObservationType](r.Types), Concepts: r.Concepts, Files: r.Files, Since: r.Since, Until: r.Until,
		Project: r.Project, Limit: r.Limit, Offset: r.Offset}
	if err := r.checkRange(); err != nil {
		return q, err
	}
	return q, l.checkVocabulary(ctx, r.Types, r.Concepts)
}

// checkVocabulary returns CodeInvalid for a type or concept that is not in the mode and
// that no observation has.
func (l *Local) checkVocabulary(ctx context.Context, types, concepts []string) error {
	if l.Vocabulary == nil || len(types)+len(concepts) == 0 {
		return nil
	}
	known := func(name, asked string, vocabulary []string, q memory.Query) error {
		if slices.Contains(vocabulary, asked) {
			return nil
		}
		n, err := l.countObservations(ctx, q)
		if err == nil && n == 0 {
			return Unknown(name, asked, vocabulary)
		}
		return err
	}
	knownTypes, knownConcepts := l.Vocabulary()
	for _, t := range types {
		if err := known("type", t, knownTypes, memory.Query{Types: []memory.ObservationType{memory.ObservationType(t)}}); err != nil {
			return err
		}
	}
	for _, c := range concepts {
		if err := known("concept", c, knownConcepts, memory.Query{Concepts: []string{c}}); err != nil {
			return err
		}
	}
	return nil
}

// named returns names as values of a type of names, each once.
func named[T ~string](names []string) []T {
	return collect.Unique(collect.Map(names, func(name string) T { return T(name) }))
}

// understood returns u, or nil if it says no more than that query was searched for as it
// is, apart from blanks around it.
func understood(query string, u memory.Understood) *memory.Understood {
	changed := u
	if strings.TrimSpace(changed.Text) == strings.TrimSpace(query) {
		changed.Text = ""
	}
	if reflect.ValueOf(changed).IsZero() {
		return nil
	}
	return &u
}

// timeline answers Memory.Timeline. An anchor counts before a query; CodeInvalid without both.
func (l *Local) timeline(ctx context.Context, r TimelineRequest) (Timeline, error) {
	switch {
	case r.Anchor != "":
		r.Query = ""
	case r.Query == "":
		return Timeline{}, memory.Errorf(memory.CodeInvalid, "no anchor").
			WithHint("send anchor: an observation's number (123), a session (S12) or an ISO time; or query: its best hit is the anchor")
	}
	found, err := l.Searcher.Timeline(ctx, memory.TimelineRequest{Anchor: r.Anchor, Text: r.Query, Project: r.Project, Before: r.Before, After: r.After})
	at := max(0, slices.IndexFunc(found.Items, func(i memory.TimelineItem) bool { return i.IsAnchor }))
	return Timeline{Query: r.Query, Anchor: found.Anchor, AnchorTimestamp: found.AnchorTime,
		DepthBefore: at, DepthAfter: max(0, len(found.Items)-1-at), Timeline: collect.MapPtr(found.Items, timelineEntry)}, err
}

// timelineEntry returns an item of a timeline as JSON shows it.
func timelineEntry(i *memory.TimelineItem) Entry {
	hit := hitOf(&i.Hit, false)
	e := hit.Entry()
	if i.Observation != nil {
		e.PromptNumber = i.Observation.PromptNumber
	}
	e.Kind, e.IsAnchor, e.ID, e.CreatedAtEpoch, e.CreatedAtISO = i.Kind, i.IsAnchor, i.ID, i.CreatedAt, ISO(i.CreatedAt)
	e.Project, e.SessionDBID = memory.ProjectLabel(i.ProjectPath), i.Session
	return e
}

// observations answers Memory.Observations.
func (l *Local) observations(ctx context.Context, r ObservationsRequest) (Page[Observation], error) {
	q, err := l.query(ctx, &SearchRequest{Types: r.Types, Dated: Dated{Paged: r.Paged}})
	if err != nil {
		return Page[Observation]{}, err
	}
	p, err := pageOf(ctx, q, r.Paged, l.Store.Observations, l.countObservations, func(o *memory.Observation) Observation { return ObservationOf(o, r.Format == FormatFull) })
	p.Format = r.Format
	return p, err
}

// countObservations returns how many observations pass a filter.
func (l *Local) countObservations(ctx context.Context, q memory.Query) (int, error) {
	return l.Store.CountRecords(ctx, q, []memory.RecordKind{memory.RecordObservation})
}

// pageOf returns the page of a list that q asks of the store, and how many there are without the
// page's limit. q and r ask for the same page.
func pageOf[Q, S, T any](ctx context.Context, q Q, r Paged, list func(context.Context, Q) ([]S, error), count func(context.Context, Q) (int, error), shape func(*S) T) (Page[T], error) {
	found, err := list(ctx, q)
	if err != nil {
		return Page[T]{}, err
	}
	total, err := count(ctx, q)
	return Page[T]{len(found), total, r.Limit, r.Offset, "", collect.MapPtr(found, shape)}, err
}

// observation answers Memory.Observation: CodeInvalid for what is neither a number nor a ULID,
// CodeNotFound for an observation that is not there or hidden.
func (l *Local) observation(ctx context.Context, r ObservationRequest) (Observation, error) {
	var o memory.Observation
	id, err := ObservationNumber(r.Name)
	if err == nil {
		o, err = l.Store.Observation(ctx, id)
	} else if IsULID(r.Name) {
		o, err = l.Store.ObservationByULID(ctx, memory.ULID(strings.ToUpper(r.Name)))
	}
	return ObservationOf(&o, true), err
}

// versions answers Memory.Versions.
func (l *Local) versions(ctx context.Context, r ObservationRequest) (Versions, error) {
	o, err := l.observation(ctx, r)
	if err != nil {
		return Versions{}, err
	}
	list, err := l.Store.Versions(ctx, o.ID)
	return Versions{append([]memory.Version{}, list...)}, err
}

// batch answers Memory.Batch: CodeInvalid for no id or more than MaxBatch. An id that was asked for
// twice is answered twice.
func (l *Local) batch(ctx context.Context, r BatchRequest) (Batch, error) {
	format, err := ParamNamed("format").checkChoice(cmp.Or(r.Format, FormatFull))
	if err != nil {
		return Batch{}, err
	}
	if len(r.IDs) == 0 || len(r.IDs) > MaxBatch {
		return Batch{}, memory.Errorf(memory.CodeInvalid, "%d ids", len(r.IDs)).
			WithHint(batchHint)
	}
	found, err := l.Store.RecordsByRefs(ctx, collect.MapPtr(r.IDs, func(id *memory.ObservationID) memory.RecordRef {
		return memory.RecordRef{Kind: memory.RecordObservation, ID: int64(*id)}
	})...)
	if err != nil {
		return Batch{}, err
	}
	missing := collect.Keep(collect.Unique(r.IDs), func(id memory.ObservationID) bool {
		return !slices.ContainsFunc(found, func(h memory.Hit) bool { return h.ID == int64(id) })
	})
	return Batch{Count: len(found), Total: len(r.IDs), Format: format, Missing: list(missing),
		Results: collect.MapPtr(found, func(h *memory.Hit) Observation { return ObservationOf(h.Observation, format == FormatFull) })}, nil
}

// StreamEvents returns the events that tell of changes.
func (l *Local) StreamEvents(ctx context.Context, changes []memory.Change) ([]StreamEvent, error) {
	refs := collect.Unique(collect.Map(changes, func(c memory.Change) memory.RecordRef { return c.RecordRef }))
	refs = slices.DeleteFunc(refs, func(r memory.RecordRef) bool { return !slices.Contains(memory.RecordKinds(), r.Kind) })
	found, err := l.Store.RecordsByRefs(ctx, refs...)
	records := map[memory.RecordRef]*Hit{}
	for _, h := range found {
		records[h.RecordRef] = new(hitOf(&h, true))
	}
	return collect.MapPtr(changes, func(c *memory.Change) StreamEvent {
		return StreamEvent{c.Kind, c.ID, c.Operation, records[c.RecordRef]}
	}), err
}

// summaries answers Memory.Summaries.
func (l *Local) summaries(ctx context.Context, r RecordsRequest) (Page[Summary], error) {
	return records(ctx, l, memory.RecordSummary, r, func(h *Hit) Summary { return *h.Summary })
}

// prompts answers Memory.Prompts.
func (l *Local) prompts(ctx context.Context, r RecordsRequest) (Page[Prompt], error) {
	return records(ctx, l, memory.RecordPrompt, r, func(h *Hit) Prompt { return *h.Prompt })
}

// records lists records of a kind, the newest first; of returns the record of a hit.
func records[T any](ctx context.Context, l *Local, kind memory.RecordKind, r RecordsRequest, of func(*Hit) T) (Page[T], error) {
	r.Format = cmp.Or(r.Format, FormatFull)
	page, err := l.SearchKind(ctx, SearchRequest{Session: r.Session, Format: r.Format, Order: string(memory.OrderNewest), Dated: r.Dated}, kind)
	return Page[T]{page.Count, page.Total, page.Limit, page.Offset, page.Format, collect.MapPtr(page.Results, of)}, err
}

// projects answers Memory.Projects.
func (l *Local) projects(ctx context.Context, r ProjectsRequest) (Page[Project], error) {
	all, err := l.Store.Projects(ctx, r.Brief)
	known, err2 := l.Store.Aliases(ctx)
	if err := cmp.Or(err, err2); err != nil {
		return Page[Project]{}, err
	}
	aliases := map[string][]string{}
	for _, a := range known {
		aliases[a.Project] = append(aliases[a.Project], a.Path)
	}
	found := all[min(r.Offset, len(all)):]
	found = found[:min(r.Limit, len(found))]
	return Page[Project]{len(found), len(all), r.Limit, r.Offset, "", collect.MapPtr(found, func(d *memory.ProjectDigest) Project {
		return Project{memory.ProjectLabel(d.ProjectPath), d.ProjectPath, d.Sessions, d.Observations, d.LastAt, aliases[d.ProjectPath]}
	})}, nil
}

// learnings answers Memory.Learnings; CodeInvalid for an unknown category that no learning has.
func (l *Local) learnings(ctx context.Context, r LearningsRequest) (Page[Learning], error) {
	q := memory.LearningQuery{Project: r.Project, Category: r.Category, Retired: r.All, Limit: r.Limit, Offset: r.Offset}
	p, err := pageOf(ctx, q, r.Paged, l.Store.Learnings, l.Store.CountLearnings, LearningOf)
	if known := memory.LearningCategories(); err == nil && p.Total == 0 && r.Category != "" && !slices.Contains(known, r.Category) {
		return p, memory.Errorf(memory.CodeInvalid, "%w", misread("category", r.Category, known)).WithHint("the categories are " + strings.Join(known, ", "))
	}
	return p, err
}

// LearningOf makes the shape of a learning.
func LearningOf(l *memory.Learning) Learning {
	return Learning{memory.ProjectLabel(l.ProjectPath), *l}
}

// preview answers Memory.Preview: the block with the reason for each line. It is not booked as
// shown.
func (l *Local) preview(ctx context.Context, r ContextRequest) (Preview, error) {
	req := r.Block()
	req.Explain = true
	block, err := l.Blocks.Context(ctx, req)
	return Preview{Text: block.Text, Tokens: block.Tokens, Layers: list(block.Layers), Skipped: list(block.Skipped),
		Budget: req.Budget, EffectiveBudget: block.Injection.Budget, BuildMS: block.BuildMS,
		Source: req.Source, ProjectPath: req.ProjectPath, Lines: numbered(block.Text, block.Lines), LeftOut: list(block.LeftOut)}, err
}

// numbered returns lines with their line numbers in text, from 1. Lines are in the order
// of the text; those that are not in it are left out.
func numbered(text string, lines []memory.ContextLine) []PreviewLine {
	out := []PreviewLine{}
	all := strings.Split(text, "\n")
	at := 0
	for _, l := range lines {
		first, _, _ := strings.Cut(strings.TrimLeft(l.Text, "\n"), "\n")
		if i := slices.Index(all[at:], first); i >= 0 {
			at += i + 1
			out = append(out, PreviewLine{at, l})
		}
	}
	return out
}

// AliasesRequest asks for all aliases.
type AliasesRequest struct{}

// Aliases are the paths whose sessions belong to another project, by project.
type Aliases struct {
	Count   int                   `json:"count"`
	Results []memory.ProjectAlias `json:"results"`
}

// NewAlias has what is done in Path from now on belong to Project, a root or label.
type NewAlias struct {
	Path    string `json:"path"`
	Project string `json:"project"`
}

// AliasRequest names an alias by its path.
type AliasRequest struct {
	Path string `json:"path"`
}

// aliases answers Memory.Aliases.
func (l *Local) aliases(ctx context.Context, _ AliasesRequest) (Aliases, error) {
	found, err := l.Store.Aliases(ctx)
	return Aliases{len(found), list(found)}, err
}

// SymbolsRequest lists changes of functions and types, the latest first: one net change
// for each symbol and session.
type SymbolsRequest struct {
	Files   []string         `param:"files" about:"changes in these: paths, folders, names or parts of names"`
	Name    string           `param:"symbol_name"`
	Session memory.SessionID `param:"session_id" about:"changes of this session: its number, as 12 or S12"`
	Dated
}

// Symbol is how a session changed a function, method or type: new, modified or deleted.
// Signature and lines are those after the change, of a deleted symbol those before. A
// symbol that was renamed is new with RenamedFrom, and deleted under its old name.
type Symbol struct {
	ID             int64             `json:"id"`
	File           string            `json:"file"`
	Name           string            `json:"name"`
	Kind           string            `json:"kind"`
	Signature      string            `json:"signature"`
	LineStart      int               `json:"line_start"`
	LineEnd        int               `json:"line_end"`
	ChangeType     memory.ChangeType `json:"change_type"`
	RenamedFrom    string            `json:"renamed_from"`
	Project        string            `json:"project"`
	SessionDBID    memory.SessionID  `json:"session_db_id"`
	CreatedAtEpoch memory.Millis     `json:"created_at_epoch"`
}

// Change returns the change that s is the shape of.
func (s *Symbol) Change() memory.SymbolChange {
	return memory.SymbolChange{ID: s.ID, FilePath: s.File, QualifiedName: s.Name, Kind: s.Kind, Signature: s.Signature,
		LineStart: s.LineStart, LineEnd: s.LineEnd, ChangeType: s.ChangeType, RenamedFrom: s.RenamedFrom, Session: s.SessionDBID, SnapshotAt: s.CreatedAtEpoch}
}

// FileWeeksRequest counts the observations of a project, "" for all.
type FileWeeksRequest struct {
	Project string `param:"project"`
}

// symbols answers Memory.Symbols.
func (l *Local) symbols(ctx context.Context, r SymbolsRequest) (Page[Symbol], error) {
	if err := r.checkRange(); err != nil {
		return Page[Symbol]{}, err
	}
	q := memory.Query{Project: r.Project, Session: r.Session, Files: r.Files, Since: r.Since, Until: r.Until, Limit: r.Limit, Offset: r.Offset}
	found, total, err := l.Store.Symbols(ctx, q, r.Name)
	if err != nil {
		return Page[Symbol]{}, err
	}
	projects := map[memory.SessionID]string{}
	for i := range found {
		id := found[i].Session
		if _, known := projects[id]; known {
			continue
		}
		s, err := l.Store.Session(ctx, id)
		if err != nil && memory.CodeOf(err) != memory.CodeNotFound { // It may have been deleted since.
			return Page[Symbol]{}, err
		}
		projects[id] = memory.ProjectLabel(s.ProjectPath)
	}
	return Page[Symbol]{len(found), total, q.Limit, q.Offset, "", collect.MapPtr(found, func(c *memory.SymbolChange) Symbol {
		return Symbol{c.ID, c.FilePath, c.QualifiedName, c.Kind, c.Signature, c.LineStart, c.LineEnd, c.ChangeType, c.RenamedFrom,
			projects[c.Session], c.Session, c.SnapshotAt}
	})}, nil
}

package api

import (
	"context"
	"math"
	"net/http"
	"slices"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Memory reads and changes records: each method is a call of the function, which makes it on a
// Local or sends it to its route in the HTTP API. Errors that a caller can act on are
// *memory.Error; CodeNoMemory means that nothing was ever captured.
type Memory func(context.Context, Call) error

// Call is one call of a method of Memory: its route in the HTTP API, the request, whose fields
// are parameters in the path and the query, or else members of the body, and where the answer
// is stored.
type Call struct {
	Method, Path    string
	Request, Answer any
	// on makes the call on the files of this process.
	on func(context.Context, *Local) error
}

// Paths of routes that callers treat in their own way.
const (
	BatchPath = "/api/observations/batch"
	MergePath = "/api/projects/merge"
	NotePath  = "/api/lookups"
)

// Reads reports whether the call changes nothing.
func (c *Call) Reads() bool {
	return c.Method == http.MethodGet || c.Path == BatchPath
}

// CallOf returns the route of a method of Memory, as the call with an empty request.
func CallOf[Q, A any](method func(Memory, context.Context, Q) (A, error)) (c Call) {
	var q Q
	_, _ = method(func(_ context.Context, made Call) error { c = made; return nil }, context.Background(), q)
	return c
}

// Memory returns the memory that l answers in this process. Its requests are checked first, as
// those that come over the network are.
func (l *Local) Memory() Memory {
	return func(ctx context.Context, c Call) error { return c.on(ctx, l) }
}

// ask makes a call of m and returns its answer; local is the method that answers it.
func ask[Q, A any](ctx context.Context, m Memory, method, path string, q Q, local func(*Local, context.Context, Q) (A, error)) (answer A, err error) {
	err = m(ctx, Call{method, path, q, &answer, func(ctx context.Context, l *Local) (err error) {
		if err := check(&q); err != nil {
			return err
		}
		answer, err = local(l, ctx, q)
		return err
	}})
	return answer, err
}

// Search finds records of every kind; without a query the newest that pass the filter.
func (m Memory) Search(ctx context.Context, r SearchRequest) (SearchPage, error) {
	return ask(ctx, m, "GET", "/api/search", r, (*Local).search)
}

// Timeline returns what happened before and after an anchor, the oldest first.
func (m Memory) Timeline(ctx context.Context, r TimelineRequest) (Timeline, error) {
	return ask(ctx, m, "GET", "/api/search/timeline", r, (*Local).timeline)
}

// Observations lists observations, the newest first.
func (m Memory) Observations(ctx context.Context, r ObservationsRequest) (Page[Observation], error) {
	return ask(ctx, m, "GET", "/api/observations", r, (*Local).observations)
}

// Observation returns one observation in full.
func (m Memory) Observation(ctx context.Context, r ObservationRequest) (Observation, error) {
	return ask(ctx, m, "GET", "/api/observations/{id}", r, (*Local).observation)
}

// Versions returns the earlier texts of an observation, and those of edits on other devices, the last one first.
func (m Memory) Versions(ctx context.Context, r ObservationRequest) (Versions, error) {
	return ask(ctx, m, "GET", "/api/observations/{id}/versions", r, (*Local).versions)
}

// Batch returns observations in the order asked for.
func (m Memory) Batch(ctx context.Context, r BatchRequest) (Batch, error) {
	return ask(ctx, m, "POST", BatchPath, r, (*Local).batch)
}

// Summaries lists summaries, the newest first.
func (m Memory) Summaries(ctx context.Context, r RecordsRequest) (Page[Summary], error) {
	return ask(ctx, m, "GET", "/api/summaries", r, (*Local).summaries)
}

// Prompts lists prompts of the user, the newest first.
func (m Memory) Prompts(ctx context.Context, r RecordsRequest) (Page[Prompt], error) {
	return ask(ctx, m, "GET", "/api/prompts", r, (*Local).prompts)
}

// Sessions lists sessions, the most recently updated first.
func (m Memory) Sessions(ctx context.Context, r SessionsRequest) (Page[SessionDigest], error) {
	return ask(ctx, m, "GET", "/api/sessions", r, (*Local).sessions)
}

// Recent lists the latest sessions of a project with their observations, the newest first.
func (m Memory) Recent(ctx context.Context, r RecentRequest) (RecentSessions, error) {
	return ask(ctx, m, "GET", "/api/search/recent-context", r, (*Local).recent)
}

// Session returns a session with its records, the oldest first.
func (m Memory) Session(ctx context.Context, r SessionRequest) (SessionRecords, error) {
	return ask(ctx, m, "GET", "/api/sessions/{id}", r, (*Local).session)
}

// Receipt returns what was captured of a session, stored, shown to it, and spent.
func (m Memory) Receipt(ctx context.Context, r ReceiptRequest) (accounts.SessionReceipt, error) {
	return ask(ctx, m, "GET", "/api/sessions/{id}/receipt", r, (*Local).receipt)
}

// SessionEvents lists the events of a session in short, the oldest first: at most 2,000.
func (m Memory) SessionEvents(ctx context.Context, r ReceiptRequest) (Page[accounts.SessionEvent], error) {
	return ask(ctx, m, "GET", "/api/sessions/{id}/events", r, (*Local).sessionEvents)
}

// Given lists what sessions were given, the newest first, with what became of it.
func (m Memory) Given(ctx context.Context, r GivenRequest) (Page[accounts.Given], error) {
	return ask(ctx, m, "GET", "/api/given", r, (*Local).given)
}

// Judge says what a person or an agent thinks of a record that sessions were given.
func (m Memory) Judge(ctx context.Context, j Judgement) (Judgement, error) {
	return ask(ctx, m, "POST", "/api/given/judge", j, (*Local).judge)
}

// Projects lists projects, the one that was worked on last first.
func (m Memory) Projects(ctx context.Context, r ProjectsRequest) (Page[Project], error) {
	return ask(ctx, m, "GET", "/api/projects", r, (*Local).projects)
}

// Aliases lists the paths whose sessions belong to another project.
func (m Memory) Aliases(ctx context.Context, r AliasesRequest) (Aliases, error) {
	return ask(ctx, m, "GET", "/api/projects/aliases", r, (*Local).aliases)
}

// Learnings lists learnings, active ones first.
func (m Memory) Learnings(ctx context.Context, r LearningsRequest) (Page[Learning], error) {
	return ask(ctx, m, "GET", "/api/learnings", r, (*Local).learnings)
}

// Symbols lists the functions and types that sessions changed, the latest change first.
func (m Memory) Symbols(ctx context.Context, r SymbolsRequest) (Page[Symbol], error) {
	return ask(ctx, m, "GET", "/api/symbols", r, (*Local).symbols)
}

// FileWeeks counts observations by file and week: the 30 files with the most in 26 weeks.
func (m Memory) FileWeeks(ctx context.Context, r FileWeeksRequest) (memory.FileWeeks, error) {
	return ask(ctx, m, "GET", "/api/files", r, func(l *Local, ctx context.Context, r FileWeeksRequest) (memory.FileWeeks, error) {
		return l.Store.FileWeeks(ctx, r.Project, l.now())
	})
}

// Stats returns the numbers of records and events, and the cost of model calls.
func (m Memory) Stats(ctx context.Context, r StatsRequest) (Stats, error) {
	return ask(ctx, m, "GET", "/api/stats", r, (*Local).stats)
}

// Queue returns the events that wait to be distilled and those that failed for good.
func (m Memory) Queue(ctx context.Context, r QueueRequest) (Queue, error) {
	return ask(ctx, m, "GET", "/api/queue", r, (*Local).queue)
}

// Preview builds the context block of a session that would start now. Nothing is booked.
func (m Memory) Preview(ctx context.Context, r ContextRequest) (Preview, error) {
	return ask(ctx, m, "GET", "/api/context/preview", r, (*Local).preview)
}

// AddObservation stores an observation that somebody writes and returns it as stored.
func (m Memory) AddObservation(ctx context.Context, n NewObservation) (Observation, error) {
	return ask(ctx, m, "POST", "/api/observations", n, (*Local).addObservation)
}

// EditObservation changes fields of an observation and returns it as stored.
func (m Memory) EditObservation(ctx context.Context, edit ObservationEdit) (Observation, error) {
	return ask(ctx, m, "PATCH", "/api/observations/{id}", edit, (*Local).editObservation)
}

// HideObservation hides an observation from all lists and searches. With Purge it is
// deleted for good after 10 minutes; until then it can be restored.
func (m Memory) HideObservation(ctx context.Context, r HideRequest) (Hidden, error) {
	return ask(ctx, m, "DELETE", "/api/observations/{id}", r, (*Local).hideObservation)
}

// RestoreObservation shows a hidden observation again.
func (m Memory) RestoreObservation(ctx context.Context, r RestoreRequest) (Observation, error) {
	return ask(ctx, m, "POST", "/api/observations/{id}/restore", r, (*Local).restoreObservation)
}

// MergeObservations makes one of observations that say the same, or takes that back.
func (m Memory) MergeObservations(ctx context.Context, merge memory.ObservationMerge) (memory.ObservationMerge, error) {
	return ask(ctx, m, "POST", "/api/observations/merge", merge, func(l *Local, ctx context.Context, m memory.ObservationMerge) (memory.ObservationMerge, error) {
		return l.Keeper.MergeObservations(ctx, m)
	})
}

// AddLearning stores a learning that somebody writes and returns it as stored.
func (m Memory) AddLearning(ctx context.Context, n NewLearning) (Learning, error) {
	return ask(ctx, m, "POST", "/api/learnings", n, (*Local).addLearning)
}

// EditLearning changes fields of a learning and returns it as stored.
func (m Memory) EditLearning(ctx context.Context, edit LearningEdit) (Learning, error) {
	return ask(ctx, m, "PATCH", "/api/learnings/{id}", edit, (*Local).editLearning)
}

// AddAlias has what is done in a path from now on belong to a project; CodeConflict while
// there are records of the path.
func (m Memory) AddAlias(ctx context.Context, n NewAlias) (memory.ProjectAlias, error) {
	return ask(ctx, m, "POST", "/api/projects/aliases", n, func(l *Local, ctx context.Context, n NewAlias) (memory.ProjectAlias, error) {
		return l.Keeper.AddAlias(ctx, n.Path, n.Project)
	})
}

// RemoveAlias removes an alias; records stay where they are.
func (m Memory) RemoveAlias(ctx context.Context, r AliasRequest) (memory.ProjectAlias, error) {
	return ask(ctx, m, "POST", "/api/projects/unalias", r, func(l *Local, ctx context.Context, r AliasRequest) (memory.ProjectAlias, error) {
		return l.Keeper.RemoveAlias(ctx, r.Path)
	})
}

// MergeProjects makes the records of a project those of another one.
func (m Memory) MergeProjects(ctx context.Context, merge memory.ProjectMerge) (memory.ProjectMerged, error) {
	return ask(ctx, m, "POST", MergePath, merge, func(l *Local, ctx context.Context, m memory.ProjectMerge) (memory.ProjectMerged, error) {
		return l.Keeper.MergeProjects(ctx, m)
	})
}

// RetryQueue puts dead letters back in the queue.
func (m Memory) RetryQueue(ctx context.Context, r RetryRequest) (Revived, error) {
	return ask(ctx, m, "POST", "/api/queue/retry", r, (*Local).retryQueue)
}

// NoteLookups notes for the receipts that observations were read in full.
func (m Memory) NoteLookups(ctx context.Context, n LookupNote) (Status, error) {
	return ask(ctx, m, "POST", NotePath, n, (*Local).noteLookups)
}

// Impact returns what the memory changes in the user's sessions, as far as an experiment tells.
func (m Memory) Impact(ctx context.Context, r ImpactRequest) (Impact, error) {
	return ask(ctx, m, "GET", "/api/impact", r, (*Local).impact)
}

// SetTrial begins or ends an experiment and returns it.
func (m Memory) SetTrial(ctx context.Context, r TrialRequest) (memory.Trial, error) {
	return ask(ctx, m, "POST", "/api/trial", r, (*Local).setTrial)
}

// RootsOf returns the roots of the projects with records that have this name or this root, none for
// an unknown one. It reads all projects, page by page.
func (m Memory) RootsOf(ctx context.Context, name string) ([]string, error) {
	all, err := m.allProjects(ctx)
	return collect.MapPtr(collect.Keep(all, func(p Project) bool { return p.Project == name || p.ProjectPath == name }),
		func(p *Project) string { return p.ProjectPath }), err
}

// CheckProject returns CodeNotFound for a name that no project with records has, with the nearest or
// else the latest names; nil for "". It reads all projects.
func (m Memory) CheckProject(ctx context.Context, name string) error {
	all, err := m.allProjects(ctx)
	if err != nil || name == "" || slices.ContainsFunc(all, func(p Project) bool { return p.Project == name || p.ProjectPath == name }) {
		return err
	}
	// The store knows more forms of a name: composed and decomposed letters, a path of the project.
	if known, err := m.Sessions(ctx, SessionsRequest{Dated: Dated{Paged: Paged{Project: name, Limit: 1}}}); err != nil || known.Total > 0 {
		return err
	}
	wrong := misread("project", name, collect.Unique(collect.MapPtr(all, func(p *Project) string { return p.Project })))
	wrong.Meant = wrong.Meant[:min(len(wrong.Meant), 5)]
	hint := "`claude-mem projects` lists the projects"
	if len(wrong.Meant) == 1 {
		hint = "did you mean " + wrong.Meant[0] + "? " + hint
	}
	return memory.Errorf(memory.CodeNotFound, "%w", wrong).WithHint(hint)
}

// allProjects returns all projects, the one that was worked on last first.
func (m Memory) allProjects(ctx context.Context) ([]Project, error) {
	all, _, err := ReadPages(math.MaxInt, func(p Paged) (Page[Project], error) {
		return m.Projects(ctx, ProjectsRequest{Brief: true, Limit: p.Limit, Offset: p.Offset})
	})
	return all, err
}

// ReadPages reads a list from its beginning, at most most items, a page of at most MaxLimit at a time; total is
// how many the list has. After an error it returns what was read before.
func ReadPages[T any](most int, read func(Paged) (Page[T], error)) (all []T, total int, err error) {
	for {
		page, err := read(Paged{Limit: min(most-len(all), MaxLimit), Offset: len(all)})
		all = append(all, page.Results...)
		if err != nil || len(page.Results) == 0 || len(all) >= min(most, page.Total) {
			return all, page.Total, err
		}
	}
}

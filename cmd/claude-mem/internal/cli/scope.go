package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/capture/repo"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// Scope is the projects that a command lists.
type Scope struct {
	app   *App
	Named *string
	All   bool
}

// ScopeFlags adds --project and --all.
func (a *App) ScopeFlags(cmd *cobra.Command) *Scope {
	s := &Scope{app: a, Named: a.ProjectFlag(cmd, "", OfCurrent)}
	cmd.Flags().BoolVarP(&s.All, "all", "a", false, "all projects")
	cmd.MarkFlagsMutuallyExclusive("project", "all")
	return s
}

// Project returns the root or name of the project, "" for all. It is asked when the command runs, as
// flags have no value before. CodeNotFound for a path that does not exist.
func (s *Scope) Project() (string, error) {
	if s.All {
		return "", nil
	}
	return s.app.ProjectOr(*s.Named)
}

// OfCurrent is the usage of --project where "" is the project of the current directory.
const OfCurrent = "a project's directory or name (default: the one you are in)"

// ProjectFlag adds --project, with its completion.
func (a *App) ProjectFlag(cmd *cobra.Command, value, usage string) *string {
	project := cmd.Flags().StringP("project", "p", value, usage)
	CompleteFlag(cmd, "project", a.ProjectChoices())
	return project
}

// ProjectOr returns the project that --project names, by its name or by a directory in
// it; "" means the current directory. CodeNotFound for a path that does not exist.
func (a *App) ProjectOr(named string) (string, error) {
	return a.ProjectNamed(cmp.Or(named, "."))
}

// ProjectNamed returns a project by a directory in it, or by its name, which is not looked up; "" is
// returned as it is. A deleted directory still names the project that had it as its root; CodeNotFound
// for another path that does not exist.
func (a *App) ProjectNamed(name string) (string, error) {
	if !IsPath(name) {
		return name, nil
	}
	where, err := a.CheckoutAt(name)
	return where.Project, err
}

// CheckoutAt returns the checkout at a directory, which exists or is a project's root.
func (a *App) CheckoutAt(name string) (repo.Identity, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return repo.Identity{Project: name}, nil //nolint:nilerr // the working directory is gone: it may be a project's name
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if a.remembersProject(name) { // a path of another system, or a name with slashes in it
			return repo.Identity{Project: name}, nil
		}
		if a.remembersProject(dir) {
			return repo.Identify("", dir), nil
		}
		return repo.Identity{}, memory.Errorf(memory.CodeNotFound, "no such directory: %q", print.Line(name, 200)).
			WithHint("`claude-mem projects` lists the projects; --project takes their names too")
	}
	return repo.Identify("", dir), nil
}

// RootOf returns the root of a project that has records, by a directory in it or by its name;
// CodeInvalid for a name of several, CodeNotFound with the words of unknown for one of none.
func (a *App) RootOf(ctx context.Context, m api.Memory, name, unknown string) (string, error) {
	named, err := a.ProjectNamed(name)
	if err != nil {
		return "", err
	}
	found, err := m.RootsOf(ctx, named)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", memory.Errorf(memory.CodeNotFound, "%s %q", unknown, print.Line(named, 200)).WithHint("`claude-mem projects` lists the projects")
	case len(found) > 1:
		return "", memory.Errorf(memory.CodeInvalid, "several projects are named %q", print.Line(named, 200)).WithHint("name one by its directory: " + print.Line(strings.Join(found, ", "), 300))
	}
	return found[0], nil
}

// rememberLimit bounds reading the projects for a directory that does not exist.
const rememberLimit = 5 * time.Second

// remembersProject reports whether the memory has a project with this root. A worker that
// does not answer costs as much time as in a completion; then the files are read.
func (a *App) remembersProject(root string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), rememberLimit)
	defer cancel()
	m, err := a.Memory()
	if err != nil {
		return false
	}
	defer m.Close()
	m.Patience = completeLimit / 2
	roots, err := m.RootsOf(ctx, root)
	return err == nil && slices.Contains(roots, root)
}

// Here returns the root of the project of the current directory: the main worktree's, or the
// directory itself outside of a repository, with links resolved; "" if the directory is gone. As a
// filter "" is all projects.
func Here() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return repo.Identify("", dir).Project
}

// IsPath reports whether a project is named by a directory.
func IsPath(name string) bool {
	return name == "." || name == ".." || strings.ContainsAny(name, `/\`)
}

// ParseObservations parses the numbers of observations, as 12 or '#12', in their order. CodeInvalid
// for other ids.
func ParseObservations(given []string) ([]memory.ObservationID, error) {
	ids, err := ParseIDs(given)
	if err != nil {
		return nil, err
	}
	var numbers []memory.ObservationID
	for _, id := range ids {
		if id.Session || id.ULID != "" {
			return nil, memory.Errorf(memory.CodeInvalid, "%s is not the number of an observation", id).WithHint("observations are named as 12 or '#12'; `claude-mem show S12` lists those of a session")
		}
		numbers = append(numbers, memory.ObservationID(id.Number))
	}
	return numbers, nil
}

// RecordID names a record: #12 an observation, S12 a session, or the ULID of either.
type RecordID struct {
	Session bool
	Number  int64
	ULID    memory.ULID // when it is not a number
}

// String returns the id for messages: observation #12, session S12, record 01K….
func (id RecordID) String() string {
	switch {
	case id.ULID != "":
		return "record " + id.Name()
	case id.Session:
		return "session " + id.Name()
	}
	return "observation " + id.Name()
}

// Name returns the id as lists show it: #12, S12, 01K….
func (id RecordID) Name() string {
	if id.Session {
		return memory.SessionID(id.Number).Name()
	}
	return cmp.Or(string(id.ULID), memory.ObservationID(id.Number).Name())
}

// ParseIDs parses the ids of several arguments, each of which may be a list separated by
// commas. CodeInvalid for the first that is none; there may be none at all.
func ParseIDs(given []string) ([]RecordID, error) {
	var ids []RecordID
	for _, text := range given {
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			id, err := ParseID(part)
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// ParseID parses 12, #12, S12 or a ULID.
func ParseID(text string) (RecordID, error) {
	if n, err := api.ObservationNumber(text); err == nil {
		return RecordID{Number: int64(n)}, nil
	}
	if n, err := api.SessionNumber(text); err == nil && n != 0 {
		return RecordID{Session: true, Number: int64(n)}, nil
	}
	if api.IsULID(text) {
		return RecordID{ULID: memory.ULID(strings.ToUpper(text))}, nil
	}
	return RecordID{}, memory.Errorf(memory.CodeInvalid, "%q is not an id", print.Line(text, 40)).
		WithHint("an observation is 12 or '#12', a session S12, either has a ULID too; `claude-mem recent` lists them")
}

// Read returns the observation or the session of the id; the other one is nil. A ULID may be either.
// It does not note that they were read. CodeNotFound if there is none; the results are of no use then.
func (id RecordID) Read(ctx context.Context, m api.Memory) (*api.Observation, *api.SessionRecords, error) {
	name := cmp.Or(string(id.ULID), strconv.FormatInt(id.Number, 10))
	if !id.Session {
		o, err := m.Observation(ctx, api.ObservationRequest{Name: name})
		if err == nil || id.ULID == "" || memory.CodeOf(err) != memory.CodeNotFound {
			return &o, nil, err
		}
	}
	s, err := m.Session(ctx, api.SessionRequest{Name: name, Format: api.FormatFull})
	return nil, &s, err
}

// limitHint is the hint of an error about --limit.
const limitHint = "such as -n 20"

// Page is the shown part of a list.
type Page struct{ Limit, Offset int }

// PageFlags adds --limit and --offset.
func PageFlags(cmd *cobra.Command, limit int) *Page {
	p := &Page{}
	cmd.Flags().IntVarP(&p.Limit, "limit", "n", limit, "how many, at most 100")
	cmd.Flags().IntVar(&p.Offset, "offset", 0, "how many to skip first")
	return p
}

// Paged returns the page of the list of a scope (nil: of a list without projects);
// CodeInvalid for a limit or offset below its least value. That a limit is too large the API says.
func (p *Page) Paged(of *Scope) (paged api.Paged, err error) {
	if p.Limit < 1 || p.Offset < 0 {
		return paged, memory.Errorf(memory.CodeInvalid, "--limit %d --offset %d: want at least 1 and 0", p.Limit, p.Offset).WithHint(limitHint)
	}
	paged.Limit, paged.Offset = p.Limit, p.Offset
	if of != nil {
		paged.Project, err = of.Project()
	}
	return paged, err
}

// EmptyPage returns the page of an empty memory.
func EmptyPage[T any](p *Page) api.Page[T] {
	return api.Page[T]{Limit: p.Limit, Offset: p.Offset, Results: []T{}}
}

// NoteRest says how many of a list come after the page, or that the page is after its end. It
// reports whether the list has anything.
func (p *Page) NoteRest(a *App, shown, total int, noun string) bool {
	if left := total - p.Offset - shown; left > 0 {
		a.Note("%d more: --offset %d", left, p.Offset+shown)
	} else if shown == 0 && total > 0 {
		a.Note("There are only %s; use a smaller --offset.", text.Count(total, noun))
	}
	return total > 0
}

// listing is the JSON of a list that was read from its beginning.
type listing[T any] struct {
	Project string `json:"project,omitempty"`
	Count   int    `json:"count"`
	Total   int    `json:"total"`
	Results []T    `json:"results"`
}

// ReadListing reads the first records of a scope (nil: of all projects), at most limit, page by
// page.
func ReadListing[T any](of *Scope, limit int, page func(api.Paged) (api.Page[T], error)) (out listing[T], err error) {
	if of != nil {
		if out.Project, err = of.Project(); err != nil {
			return out, err
		}
	}
	if limit < 1 {
		return out, memory.Errorf(memory.CodeInvalid, "--limit %d: want at least 1", limit).WithHint(limitHint)
	}
	read, total, err := api.ReadPages(limit, func(p api.Paged) (api.Page[T], error) {
		p.Project = out.Project
		return page(p)
	})
	out.Results, out.Count, out.Total = print.NotNil(read), len(read), total
	return out, err
}

// NoteMore says how many of a list are not shown.
func (a *App) NoteMore(shown, total int) {
	if shown > 0 && total > shown {
		a.Note("%d more; -n %d shows them all", total-shown, total)
	}
}

// LimitFlag adds --limit to a command that lists from the beginning.
func LimitFlag(cmd *cobra.Command, limit int) *int {
	return cmd.Flags().IntP("limit", "n", limit, "how many")
}

// RangeFlags select records by project and time.
type RangeFlags struct {
	app     *App
	project *string
	times   *Times
}

// RangeFlags adds --project, --since and --until.
func (a *App) RangeFlags(cmd *cobra.Command) RangeFlags {
	return RangeFlags{a, a.ProjectFlag(cmd, "", "only of this project, by its directory or name"), AddTimes(cmd)}
}

// Parse returns the root of the project, "" for all, and the times, 0 for no bound.
func (f *RangeFlags) Parse(ctx context.Context, m *access.Memory) (project string, since, until memory.Millis, err error) {
	if *f.project != "" {
		project, err = f.app.RootOf(ctx, m.Memory, *f.project, "no records of project")
	}
	if err == nil {
		since, until, err = f.times.Parse(f.app.Now())
	}
	return project, since, until, err
}

// Times are the bounds of a time.
type Times struct{ Since, Until string }

// AddTimes adds --since and --until.
func AddTimes(cmd *cobra.Command) *Times {
	return AddTimesFor(cmd, "not earlier than this time", "not later than this time; a date includes its whole day")
}

// AddTimesFor adds --since and --until with these helps.
func AddTimesFor(cmd *cobra.Command, since, until string) *Times {
	f := &Times{}
	cmd.Flags().StringVar(&f.Since, "since", "", since)
	cmd.Flags().StringVar(&f.Until, "until", "", until)
	CompleteFlag(cmd, "since", Fixed("today", "yesterday", "3d", "2w"))
	CompleteFlag(cmd, "until", Fixed("today", "yesterday", "3d", "2w"))
	return f
}

// Parse returns the bounds, 0 for none.
func (f *Times) Parse(now time.Time) (since, until memory.Millis, err error) {
	if f.Since != "" {
		since, err = ParseTime(f.Since, now, false)
	}
	if f.Until != "" && err == nil {
		until, err = ParseTime(f.Until, now, true)
	}
	return since, until, err
}

// ParseTime parses a time as people write it, in the local time zone: an ISO time,
// a day, month or year (its begin, or its last millisecond when last), today,
// yesterday, or an age such as 90m, 12h, 3d or 2w.
func ParseTime(text string, now time.Time, last bool) (memory.Millis, error) {
	if at, ok := memory.ParseTime(text, now, last); ok {
		return at, nil
	}
	return 0, memory.Errorf(memory.CodeInvalid, "%q is not a time", print.Line(text, 40)).
		WithHint("write 2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w")
}

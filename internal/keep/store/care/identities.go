package care

import (
	"context"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// identities are the projects of this machine by what they are called on all devices.
type identities struct {
	device   string
	of, path map[string]string
	aliases  map[string]string
}

func readIdentities(ctx context.Context, q db.QueryOnly, device string) (*identities, error) {
	path, err := db.Pairs[string, string](ctx, q, "SELECT identity, path FROM project_identities")
	if err != nil {
		return nil, err
	}
	aliases, err := db.Pairs[string, string](ctx, q, "SELECT path, project FROM project_aliases")
	i := &identities{device, map[string]string{}, path, aliases}
	for identity, path := range path {
		if old := i.of[path]; memory.FirstIdentity(identity, old) == identity {
			i.of[path] = identity
		}
	}
	return i, err
}

// unlinked begins the identity of a project that has none on other machines; a device and its path there follow.
const unlinked = "unlinked:"

// identity returns what a project of this machine is called on all devices.
func (i *identities) identity(project string) string {
	if name, ok := strings.CutPrefix(project, records.LabelOnly); ok && (strings.ContainsAny(name, "/:")) {
		return name // it waits here
	}
	if project == "" || strings.HasPrefix(project, records.LabelOnly) {
		return project
	}
	if known := i.of[project]; known != "" {
		return known
	}
	return unlinked + i.device + ":" + project
}

// place returns the project of this machine with an identity, or the one under which its records wait.
func (i *identities) place(identity string) string {
	path := i.path[identity]
	switch {
	case path != "":
	case identity == "" || strings.HasPrefix(identity, records.LabelOnly):
		path = identity
	case strings.HasPrefix(identity, unlinked+i.device+":"):
		path = strings.TrimPrefix(identity, unlinked+i.device+":")
	default:
		path = records.LabelOnly + identity
	}
	if project := i.aliases[path]; project != "" {
		return project
	}
	return path
}

// SetIdentities sets the identities of projects of this machine, by path. Records that waited for one
// become those of the project, and records that were shared before it had one get it. An identity stays with the
// project that has it while that is in the map.
func (s *Care) SetIdentities(ctx context.Context, device string, of map[string]string) error {
	return s.Write(ctx, "set identities of projects", db.Job{Run: func(t *db.Tx) {
		known, err := readIdentities(ctx, t, device)
		if err != nil {
			t.Fail(err)
			return
		}
		for path, identity := range of {
			if old := known.path[identity]; old == path || of[old] == identity {
				continue
			}
			if strings.HasPrefix(identity, memory.NamedProject) {
				t.Exec(`UPDATE shared_records SET project = ?, mine = 1, unsent = 1 WHERE NOT gone AND project NOT GLOB ? AND project IN (SELECT identity FROM project_identities WHERE path = ?)`,
					identity, memory.NamedProject+"*", path)
			}
			t.Exec("INSERT OR REPLACE INTO project_identities (identity, path) VALUES (?, ?)", identity, path)
			known.path[identity] = path
			if waiting := records.LabelOnly + identity; t.Number("SELECT EXISTS (SELECT 1 FROM sessions WHERE project = ?1) OR EXISTS (SELECT 1 FROM learnings WHERE project = ?1) OR EXISTS (SELECT 1 FROM observations WHERE project = ?1)", waiting) != 0 {
				mergeProjects(t, waiting, path, false)
				combineManual(t, path)
			}
			t.Exec("UPDATE shared_records SET project = ?, mine = 1, unsent = 1 WHERE project = ? AND NOT gone", identity, unlinked+device+":"+path)
		}
	}})
}

// combineManual makes one of the session of what was written by hand in a project here, if it is not shared yet, and of
// the one that waited for the project. Of two observations that say the same the one that waited stays.
func combineManual(t *db.Tx, path string) {
	name := records.ManualPrefix + path
	here := t.Number("SELECT id FROM sessions WHERE host = 'raw' AND host_session_id = ? AND id NOT IN (SELECT id FROM shared_records WHERE kind = 'session' AND id IS NOT NULL)", name)
	waited := t.Number("SELECT id FROM sessions WHERE host = 'raw' AND host_session_id = ?1 || ':' || ulid AND id IN (SELECT id FROM shared_records WHERE kind = 'session')", name)
	if here == 0 || waited == 0 {
		return
	}
	for _, table := range []string{"observations", "prompts", "session_summaries", "function_map"} {
		t.Exec("UPDATE OR IGNORE "+table+" SET session_id = ? WHERE session_id = ?", waited, here)
	}
	records.DeleteObservations(t, db.Selected[memory.ObservationID](t, "SELECT id FROM observations WHERE session_id = ?", here))
	forgetSessions(t, db.JSONList([]int64{here}))
	t.Exec("UPDATE sessions SET host_session_id = ? WHERE id = ?", name, waited)
}

// ProjectPaths returns the projects that have records and are directories of this machine.
func (s *Care) ProjectPaths(ctx context.Context) ([]string, error) {
	projects, err := s.records.Projects(ctx, true)
	return collect.Pick(projects, func(d memory.ProjectDigest) (string, bool) {
		return d.ProjectPath, records.IsRoot(d.ProjectPath) && !strings.HasPrefix(d.ProjectPath, records.LabelOnly)
	}), err
}

// Identities returns a function that gives a project of this machine the name that it has on all devices.
func (s *Care) Identities(ctx context.Context, device string) (func(project string) string, error) {
	known, err := readIdentities(ctx, s.Reader, device)
	if err != nil {
		return nil, db.Fault("read identities of projects", err)
	}
	return known.identity, nil
}

// ProjectNames returns the identities of a project of this machine, none if it has none, the one that it goes by first.
func (s *Care) ProjectNames(ctx context.Context, project string) ([]string, error) {
	names, err := db.Column[string](ctx, s.Reader, "SELECT identity FROM project_identities WHERE path = ? ORDER BY identity NOT GLOB ?, identity", project, memory.NamedProject+"*")
	return names, db.Fault("read the identities of a project", err)
}

// Canonical replaces what a record has of its machine by what it is called on all devices. It reports whether the
// record is one of those that devices share.
func Canonical(p *memory.Portable, identity func(project string) string) bool {
	if p.Tombstone != nil {
		return false
	}
	_, project, _ := naming(p)
	*project = identity(*project)
	if p.Session != nil {
		shareManual(p.Session, *project)
		p.Session.Label = ""
	}
	return true
}

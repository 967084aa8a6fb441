package store_test

import (
	"testing"

	"claudemem/internal/memory"
)

// TestLabelAdopted: records that are known by a label only go to the project of that label: when
// they are imported after its first session, or with its first session, before which they are
// read as its own; not when two have it.
func TestLabelAdopted(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after []string
		want          string
	}{
		{"no project", nil, nil, "label:shop"},
		{"a project before", []string{"/home/ada/shop"}, nil, "/home/ada/shop"},
		{"a project after", nil, []string{"/home/ada/shop"}, "/home/ada/shop"},
		{"another project", []string{"/home/ada/tally"}, []string{"/home/ada/shoppe"}, "label:shop"},
		{"two projects before", []string{"/home/ada/shop", "/srv/shop"}, nil, "label:shop"},
		{"a second project after", nil, []string{"/home/ada/shop", "/srv/shop"}, "/home/ada/shop"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory(t)
			open := func(project string) {
				m.enqueue(t, event(memory.KindPrompt, "live "+project, "p"+project, 1, func(a *memory.Arrival) { a.Event.ProjectPath = project }))
			}
			for _, project := range tt.before {
				open(project)
			}
			session := memory.ULID("01KAC6T0V5V3YQ2M8Z9E4XW7RD")
			records := []memory.Portable{
				{Session: &memory.PortableSession{ULID: session, Host: memory.HostClaudeCode, HostSessionID: "old", ProjectPath: "label:shop", Label: "shop", Status: memory.SessionCompleted, StartedAt: 5, UpdatedAt: 5}},
				{Observation: &memory.PortableObservation{ULID: "01KAC6T0V5V3YQ2M8Z9E4XW7RE", Session: session, ProjectPath: "label:shop", Type: memory.TypeChange, Title: "Totals are cents", Origin: memory.OriginImport, TimesSeen: 1, CreatedAt: 5, AskedID: 4213}},
				{Observation: &memory.PortableObservation{ULID: "01KAC6T0V5V3YQ2M8Z9E4XW7RF", Session: session, ProjectPath: "label:shop", Type: memory.TypeChange, Title: "The number is taken", Origin: memory.OriginImport, TimesSeen: 1, CreatedAt: 5, AskedID: 4213}},
			}
			outcomes, err := m.Import(t.Context(), records, func(string) bool { return true }, own)
			if err != nil || outcomes[2].Status != memory.ImportAdded {
				t.Fatalf("%+v, %v", outcomes, err)
			}
			// Until then it is read as part of the one project that would adopt it.
			for path, reads := range map[string]bool{"/home/ada/shop": tt.name != "two projects before", "/home/ada/tally": false, "label:shop": tt.want == "label:shop" || len(tt.before) == 0} {
				found, err := m.Observations(t.Context(), memory.Query{Project: path})
				if err != nil || len(found) != map[bool]int{false: 0, true: 2}[reads] {
					t.Errorf("%d observations of %s, want them: %t, %v", len(found), path, reads, err)
				}
			}
			for _, project := range tt.after {
				open(project)
			}
			for _, id := range []memory.ObservationID{4213, 4214} {
				if o, err := m.Observation(t.Context(), id); err != nil || o.ProjectPath != tt.want {
					t.Errorf("%d is of %q, want %q, %v", id, o.ProjectPath, tt.want, err)
				}
			}
		})
	}
}

// TestLabelAdoptedAfterHandwriting: what a person writes down in a project that has no session yet
// belongs to the project, and does not hide the records that wait under its label.
func TestLabelAdoptedAfterHandwriting(t *testing.T) {
	m := newMemory(t)
	const root = "/home/ada/shop"
	session := memory.ULID("01KAC6T0V5V3YQ2M8Z9E4XW7RD")
	outcomes, err := m.Import(t.Context(), []memory.Portable{
		{Session: &memory.PortableSession{ULID: session, Host: memory.HostClaudeCode, HostSessionID: "old", ProjectPath: "label:shop", Label: "shop", Status: memory.SessionCompleted, StartedAt: 5, UpdatedAt: 5}},
		{Observation: &memory.PortableObservation{ULID: "01KAC6T0V5V3YQ2M8Z9E4XW7RE", Session: session, ProjectPath: "label:shop", Type: memory.TypeChange, Title: "Totals are cents", Origin: memory.OriginImport, TimesSeen: 1, CreatedAt: 5}},
	}, func(string) bool { return true }, own)
	if err != nil || outcomes[1].Status != memory.ImportAdded {
		t.Fatalf("%+v, %v", outcomes, err)
	}
	o, err := m.AddObservation(t.Context(), memory.NewObservation{ProjectPath: root, Title: "Prices are net"})
	if err != nil || o.ProjectPath != root {
		t.Fatalf("%+v, %v", o, err)
	}
	if found, err := m.Observations(t.Context(), memory.Query{Project: root}); err != nil || len(found) != 2 {
		t.Errorf("%d observations, want both: %v", len(found), err)
	}
	m.enqueue(t, event(memory.KindPrompt, "live", "p1", 1, func(a *memory.Arrival) { a.Event.ProjectPath = root }))
	if found, err := m.Observations(t.Context(), memory.Query{Project: "label:shop"}); err != nil || len(found) != 0 {
		t.Errorf("%d observations still wait, %v", len(found), err)
	}
	if moved, err := m.MergeProjects(t.Context(), memory.ProjectMerge{From: "label:shop", Into: root}); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("merged %+v, %v", moved, err)
	}
}

package store_test

import (
	"testing"

	"claudemem"
)

// TestLabelAdopted: records that are known by a label only go to the project of that label: when
// they are imported after its first session, or with its first session; not when two have it.
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
				m.enqueue(t, event(claudemem.KindPrompt, "live "+project, "p"+project, 1, func(a *claudemem.Arrival) { a.Event.ProjectPath = project }))
			}
			for _, project := range tt.before {
				open(project)
			}
			session := claudemem.ULID("01KAC6T0V5V3YQ2M8Z9E4XW7RD")
			records := []claudemem.Portable{
				{Session: &claudemem.PortableSession{ULID: session, Host: claudemem.HostClaudeCode, HostSessionID: "old", ProjectPath: "label:shop", Label: "shop", Status: claudemem.SessionCompleted, StartedAt: 5, UpdatedAt: 5}},
				{Observation: &claudemem.PortableObservation{ULID: "01KAC6T0V5V3YQ2M8Z9E4XW7RE", Session: session, ProjectPath: "label:shop", Type: claudemem.TypeChange, Title: "Totals are cents", Origin: claudemem.OriginImport, TimesSeen: 1, CreatedAt: 5, AskedID: 4213}},
				{Observation: &claudemem.PortableObservation{ULID: "01KAC6T0V5V3YQ2M8Z9E4XW7RF", Session: session, ProjectPath: "label:shop", Type: claudemem.TypeChange, Title: "The number is taken", Origin: claudemem.OriginImport, TimesSeen: 1, CreatedAt: 5, AskedID: 4213}},
			}
			outcomes, err := m.Import(t.Context(), records, func(string) bool { return true })
			if err != nil || outcomes[2].Status != claudemem.ImportAdded {
				t.Fatalf("%+v, %v", outcomes, err)
			}
			for _, project := range tt.after {
				open(project)
			}
			for _, id := range []claudemem.ObservationID{4213, 4214} {
				if o, err := m.Observation(t.Context(), id); err != nil || o.ProjectPath != tt.want {
					t.Errorf("%d is of %q, want %q, %v", id, o.ProjectPath, tt.want, err)
				}
			}
		})
	}
}

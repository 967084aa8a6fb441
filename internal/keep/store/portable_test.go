package store_test

import (
	"context"
	"testing"

	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// exported returns the records of an export.
func exported(t *testing.T, m *testStore, f memory.ExportFilter) []memory.Portable {
	t.Helper()
	var all []memory.Portable
	total := -1
	withheld, err := m.Export(context.Background(), f, func(n int) error { total = n; return nil }, func(p *memory.Portable) error {
		all = append(all, *p)
		return p.Check()
	})
	if err != nil {
		t.Fatal(err)
	}
	if total != len(all) || withheld != 0 {
		t.Errorf("%d records, %d were announced, %d withheld", len(all), total, withheld)
	}
	return all
}

// countsOf counts records by kind.
func countsOf(all []memory.Portable) (c memory.PortableCounts) {
	for i := range all {
		c.Add(&all[i])
	}
	return c
}

func TestExport(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	m.supersedeAll(t)
	for name, tt := range map[string]struct {
		f    memory.ExportFilter
		want memory.PortableCounts
	}{
		"all":             {memory.ExportFilter{}, memory.PortableCounts{Sessions: 3, Prompts: 6, Observations: 6, Summaries: 6, Learnings: 6}},
		"a project":       {memory.ExportFilter{ProjectPath: "/home/dev/other"}, memory.PortableCounts{Sessions: 1, Prompts: 2, Observations: 2, Summaries: 2, Learnings: 2}},
		"another project": {memory.ExportFilter{ProjectPath: "/nowhere"}, memory.PortableCounts{}},
		"a time":          {memory.ExportFilter{Since: base + 10_003, Until: base + 10_003}, memory.PortableCounts{Sessions: 1, Observations: 1, Summaries: 1}},
	} {
		if got := countsOf(exported(t, m, tt.f)); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

// supersedeAll has each observation superseded by the one before it, so that the order of the
// ULIDs is the wrong one, and hides the first.
func (m *testStore) supersedeAll(t *testing.T) {
	t.Helper()
	rawExec(t, m.path, "UPDATE observations SET superseded_by = id - 1 WHERE id > 1")
	if _, err := m.HideObservation(context.Background(), 1, false); err != nil {
		t.Fatal(err)
	}
}

// TestExportOrder: what names another record comes after it.
func TestExportOrder(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	m.supersedeAll(t)
	there := map[memory.ULID]bool{}
	var supersedes []memory.ULID
	for _, p := range exported(t, m, memory.ExportFilter{}) {
		if ref := p.SessionRef(); ref != nil && !there[*ref] {
			t.Errorf("a %s comes before its session", p.Kind())
		}
		if p.Session != nil {
			there[p.Session.ULID] = true
		}
		if o := p.Observation; o != nil {
			if o.SupersededBy != "" && !there[o.SupersededBy] {
				t.Errorf("%s comes before %s, which supersedes it", o.ULID, o.SupersededBy)
			}
			there[o.ULID] = true
			supersedes = append(supersedes, o.SupersededBy)
			if hidden := o.HiddenAt == memory.LatestTime; hidden != (len(supersedes) == 1) {
				t.Errorf("observation %d of the export: hidden at %d", len(supersedes), o.HiddenAt)
			}
		}
	}
	if len(supersedes) != 6 || supersedes[0] != "" || supersedes[5] == "" {
		t.Errorf("links %q", supersedes)
	}
}

// TestExportIsStable: the same records are exported in the same order, and a damaged chain
// without an end is exported too.
func TestExportIsStable(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	rawExec(t, m.path, "UPDATE observations SET superseded_by = 7 - id")
	first := exported(t, m, memory.ExportFilter{})
	if n := countsOf(first).Observations; n != 6 {
		t.Errorf("%d of 6 observations", n)
	}
	if diff := cmp.Diff(first, exported(t, m, memory.ExportFilter{})); diff != "" {
		t.Errorf("exported again (-first +second):\n%s", diff)
	}
}

// TestExportLeavesOutDamaged: a record whose text was changed on the disk is not exported, and
// counted.
func TestExportLeavesOutDamaged(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	m.overwrite(t, "Narrative of bert-one", "Narrative of hacked--")
	var c memory.PortableCounts
	withheld, err := m.Export(context.Background(), memory.ExportFilter{}, func(int) error { return nil }, func(p *memory.Portable) error { c.Add(p); return nil })
	if want := (memory.PortableCounts{Sessions: 3, Prompts: 6, Observations: 5, Summaries: 6, Learnings: 6}); err != nil || withheld != 1 || c != want {
		t.Errorf("%+v, %d withheld, %v", c, withheld, err)
	}
}

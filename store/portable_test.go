package store_test

import (
	"context"
	"testing"

	"claudemem"

	"github.com/google/go-cmp/cmp"
)

// exported returns the records of an export.
func exported(t *testing.T, m *memory, f claudemem.ExportFilter) []claudemem.Portable {
	t.Helper()
	var all []claudemem.Portable
	total := -1
	withheld, err := m.Export(context.Background(), f, func(n int) error { total = n; return nil }, func(p *claudemem.Portable) error {
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
func countsOf(all []claudemem.Portable) (c claudemem.PortableCounts) {
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
		f    claudemem.ExportFilter
		want claudemem.PortableCounts
	}{
		"all":             {claudemem.ExportFilter{}, claudemem.PortableCounts{Sessions: 3, Prompts: 6, Observations: 6, Summaries: 6, Learnings: 6}},
		"a project":       {claudemem.ExportFilter{ProjectPath: "/home/dev/other"}, claudemem.PortableCounts{Sessions: 1, Prompts: 2, Observations: 2, Summaries: 2, Learnings: 2}},
		"another project": {claudemem.ExportFilter{ProjectPath: "/nowhere"}, claudemem.PortableCounts{}},
		"a time":          {claudemem.ExportFilter{Since: base + 10_003, Until: base + 10_003}, claudemem.PortableCounts{Sessions: 1, Observations: 1, Summaries: 1}},
	} {
		if got := countsOf(exported(t, m, tt.f)); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

// supersedeAll has each observation superseded by the one before it, so that the order of the
// ULIDs is the wrong one, and hides the first.
func (m *memory) supersedeAll(t *testing.T) {
	t.Helper()
	rawExec(t, m.path, "UPDATE observations SET superseded_by = id - 1 WHERE id > 1")
	if err := m.HideWithoutPurge(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
}

// TestExportOrder: what names another record comes after it.
func TestExportOrder(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	m.supersedeAll(t)
	there := map[claudemem.ULID]bool{}
	var supersedes []claudemem.ULID
	for _, p := range exported(t, m, claudemem.ExportFilter{}) {
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
			if hidden := o.HiddenAt == claudemem.LatestTime; hidden != (len(supersedes) == 1) {
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
	first := exported(t, m, claudemem.ExportFilter{})
	if n := countsOf(first).Observations; n != 6 {
		t.Errorf("%d of 6 observations", n)
	}
	if diff := cmp.Diff(first, exported(t, m, claudemem.ExportFilter{})); diff != "" {
		t.Errorf("exported again (-first +second):\n%s", diff)
	}
}

// TestExportLeavesOutDamaged: a record whose text was changed on the disk is not exported, and
// counted.
func TestExportLeavesOutDamaged(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	m.overwrite(t, "Narrative of bert-one", "Narrative of hacked--")
	var c claudemem.PortableCounts
	withheld, err := m.Export(context.Background(), claudemem.ExportFilter{}, func(int) error { return nil }, func(p *claudemem.Portable) error { c.Add(p); return nil })
	if want := (claudemem.PortableCounts{Sessions: 3, Prompts: 6, Observations: 5, Summaries: 6, Learnings: 6}); err != nil || withheld != 1 || c != want {
		t.Errorf("%+v, %d withheld, %v", c, withheld, err)
	}
}

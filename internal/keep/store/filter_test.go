package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

func TestRecordsByRefs(t *testing.T) {
	ctx := context.Background()
	m := filled(t)
	if err := m.Hide(2); err != nil {
		t.Fatal(err)
	}
	asked := []memory.RecordRef{
		ref("summary", 4), ref("observation", 6), ref("prompt", 1), ref("observation", 2), ref("prompt", 99), ref("observation", 1), ref("observation", 6),
	}
	hits, err := m.RecordsByRefs(ctx, asked...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range hits {
		text := ""
		switch {
		case h.Observation != nil:
			text = fmt.Sprint(h.Observation.Title, len(h.Observation.Files))
		case h.Summary != nil:
			text = h.Summary.Request
		case h.Prompt != nil:
			text = h.Prompt.Text
		}
		got = append(got, fmt.Sprintf("%s %d %s %d %q", h.Kind, h.ID, h.ProjectPath, h.CreatedAt-base, text))
	}
	want := []string{
		`summary 4 /home/dev/blog 3002 "asked in s4"`, `observation 6 /home/dev/blog 3002 "foxtrot1"`, `prompt 1 /home/dev/shop 0 "prompt s1-p"`,
		`observation 1 /home/dev/shop 2 "alpha2"`, `observation 6 /home/dev/blog 3002 "foxtrot1"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	_, err = m.RecordsByRefs(ctx, ref("session", 1))
	wantCode(t, err, memory.CodeInvalid)
	_, err = m.FilterRecords(ctx, memory.Query{}, []memory.RecordKind{"session"}, "")
	wantCode(t, err, memory.CodeInvalid)
}

// TestCountFilesInNoSet: observations of a file are counted whatever their numbers are, by a
// store that writes and by one that only reads.
func TestCountFilesInNoSet(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	a := m.add(t, note("Cart", func(n *memory.NewObservation) {
		n.ProjectPath, n.Files = "/home/dev/shop", []memory.FileRef{{Path: "cart.go"}}
	})).ID
	const large = 1 << 61
	rawExec(t, m.path, `INSERT INTO observations (id, ulid, session_id, project, type, title, content_hash, created_at)
		SELECT ?, 'large', session_id, project, type, title, 'large', created_at FROM observations WHERE id = ?`, large, int64(a))
	rawExec(t, m.path, "INSERT INTO file_refs (observation_id, position, path_id, modified) SELECT ?, 0, path_id, 1 FROM file_refs WHERE observation_id = ?", large, int64(a))
	reader, err := store.OpenReadOnly(ctx, m.path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	for name, s := range map[string]*store.Store{"writer": m.Store, "reader": reader} {
		for _, project := range []string{"", "/home/dev/shop"} {
			q := memory.Query{Files: []string{"cart.go"}, Project: project}
			if n, err := s.CountRecords(ctx, q, nil); err != nil || n != 2 {
				t.Errorf("%s, project %q: %d, %v, want 2", name, project, n, err)
			}
		}
	}
}

// What somebody types reaches SQL as values only, however long.
func TestHostileFilters(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and about nothing concurrent")
	}
	ctx := context.Background()
	m := filled(t)
	for _, text := range []string{"'; DROP TABLE observations; --", "\x00", "\xff\xfe", `"`, "🙂", "%%", `\`, strings.Repeat("/", 1000), strings.Repeat("x", 1<<20)} {
		for _, q := range []memory.Query{
			{Project: text}, {Types: []memory.ObservationType{memory.ObservationType(text)}},
			{Concepts: []string{text}}, {Files: []string{text}}, {Files: []string{text + "/" + text}}, {Concepts: slices.Repeat([]string{text, "a"}, 100)},
		} {
			if refs, err := m.FilterRecords(ctx, q, nil, memory.OrderNewest); err != nil || len(refs) > 0 {
				t.Errorf("%.20q: got %v %v, want nothing", text, refs, err)
			}
			if n, err := m.CountRecords(ctx, q, nil); err != nil || n != 0 {
				t.Errorf("%.20q: counted %d %v, want nothing", text, n, err)
			}
		}
	}
	var many []string
	for i := range 5000 {
		many = append(many, fmt.Sprint("c", i))
	}
	got, err := m.FilterRecords(ctx, memory.Query{Concepts: append(many, "gotcha"), Project: "shop", Offset: 1, Limit: 1 << 40}, nil, "")
	if want := []memory.RecordRef{ref("observation", 1)}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v %v, want %v", got, err, want)
	}
}

// A count is kept only as long as nothing changes, whoever changes it.
func TestCountsFollowChanges(t *testing.T) {
	ctx := context.Background()
	m := filled(t)
	reader := openReadOnly(t, m.path)
	want := func(n int) {
		t.Helper()
		for range 2 {
			for _, s := range []*store.Store{m.Store, reader} {
				got, err := s.CountRecords(ctx, memory.Query{Project: "shop"}, []memory.RecordKind{memory.RecordObservation})
				if err != nil || got != n {
					t.Errorf("counted %d %v, want %d", got, err, n)
				}
				totals, err := s.Totals(ctx, "shop")
				if err != nil || totals.Observations != n {
					t.Errorf("totals %+v, %v, want %d observations", totals, err, n)
				}
			}
		}
	}
	want(5)
	if err := m.Hide(1); err != nil {
		t.Fatal(err)
	}
	want(4)
	rawExec(t, m.path, "UPDATE observations SET deleted_at = 5 WHERE id = 2")
	want(3)
}

func TestFilesMatchByPart(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	for _, o := range []struct{ project, path string }{
		{"/home/dev/shop", "src/authService.ts"},
		{"/home/dev/shop", "src/auth-middleware.ts"},
		{"/home/dev/blog", "auth_utils.go"},
		{"/home/dev/blog", "src/author.ts"},
		{"/home/dev/blog", "/etc/auth.conf"},
		{"/home/dev/blog", "lib/useOauthHook.tsx"},
		{"/home/dev/blog", "docs/ре\u0438\u0306с.md"}, // as macOS takes letters apart
	} {
		if _, err := m.AddObservation(ctx, memory.NewObservation{
			ProjectPath: o.project, Title: o.path, Files: []memory.FileRef{{Path: o.path, Role: memory.FileModified}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		file, project string
		want          []string
	}{
		{"auth", "", []string{"src/authService.ts", "src/auth-middleware.ts", "auth_utils.go", "src/author.ts", "/etc/auth.conf", "lib/useOauthHook.tsx"}},
		{"Service.ts", "", []string{"src/authService.ts"}},
		{"uthHook", "", []string{"lib/useOauthHook.tsx"}},
		{"uth.c", "blog", []string{"/etc/auth.conf"}},
		{"рейс", "", []string{"docs/ре\u0438\u0306с.md"}},
		{"РЕ\u0418\u0306С.md", "blog", []string{"docs/ре\u0438\u0306с.md"}},
		{"AuthService.ts", "", []string{"src/authService.ts"}},
		{`src\auth`, "", []string{"src/authService.ts", "src/auth-middleware.ts", "src/author.ts"}},
		{"/home/dev/shop/src/authService.ts", "", []string{"src/authService.ts"}},
		{"/home/dev/shop/src/authService.ts", "shop", []string{"src/authService.ts"}},
		{"/home/dev/shop/src/authService.ts", "blog", nil},
		{"/home/dev/blog/src", "", []string{"src/author.ts"}},
		{"/home/dev/blog", "", []string{"auth_utils.go", "src/author.ts", "/etc/auth.conf", "lib/useOauthHook.tsx", "docs/ре\u0438\u0306с.md"}},
		{"/home/dev/blog/rc", "", nil},
		{"/etc/auth.conf", "blog", []string{"/etc/auth.conf"}},
		{"/home/dev/else/src/authService.ts", "", nil},
		{"/home/dev/shop2/src/authService.ts", "shop", nil},
		{"./src/authService.ts", "shop", []string{"src/authService.ts"}},
	} {
		q := memory.Query{Project: test.project, Files: []string{test.file}}
		var got []string
		found, err := m.Observations(ctx, q)
		for _, o := range found {
			got = append(got, o.Title)
		}
		slices.Sort(got)
		slices.Sort(test.want)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%q in project %q: got %q %v, want %q", test.file, test.project, got, err, test.want)
		}
		if n, err := m.CountRecords(ctx, q, nil); err != nil || n != len(test.want) {
			t.Errorf("%q in project %q: counted %d %v, want %d", test.file, test.project, n, err, len(test.want))
		}
	}
}

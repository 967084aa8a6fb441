package search

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files; read them before committing")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func describe(r reading) string {
	show := func(m memory.Millis) string {
		if m == 0 {
			return "…"
		}
		return m.Time().In(r.now.Location()).Format("Mon 2006-01-02 15:04:05")
	}
	var parts []string
	if r.since != 0 || r.until != 0 {
		parts = append(parts, show(r.since)+" – "+show(r.until))
	}
	for _, n := range r.named {
		if r.strict {
			parts = append(parts, "only "+string(n))
		} else {
			parts = append(parts, "rather "+string(n))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("search %q", r.rest)), " · ")
}

// TestReading is read as documentation: what is understood of which text.
func TestReading(t *testing.T) {
	texts := []string{
		"today", "yesterday", "what did we do yesterday", "What happened today?", "auth bug yesterday", "yesterday auth bug",
		"this week", "last week", "what changed last week", "what did we do last week about the cart", "refactorings last week",
		"cart this month", "cart last month", "cart last year", "payment errors this year",
		"cart in the last week", "cart over the past month", "cart in the last 3 days", "cart past 24 hours", "cart within the last two weeks",
		"cart 3 days ago", "cart a week ago", "cart two months ago", "cart 2 hours ago", "cart a couple of days ago", "cart since 3 days ago",
		"cart in March", "cart in march", "cart in December", "cart in May", "cart in may", "cart since May", "cart during April",
		"cart in March 2025", "cart March 2025", "cart in mar 2025", "cart in Dec 2025", "cart before May", "cart in 2025", "what did we build in 2025",
		"cart on March 3", "cart on 3 March", "cart on March 3rd, 2025", "cart on 3 Mar 2025", "cart since March 25",
		"cart since Monday", "cart since monday", "cart since Friday", "cart on Friday", "cart last Friday", "cart last Monday", "cart last March", "cart last May",
		"cart before 2026-01-02", "cart after 2026-01-02", "cart until 2026-01-02", "cart since 2026-01-02", "cart on 2026-01-02", "cart in 2026-01",
		"2026-01-02", "cart since 2026-01-02T10:00", "cart since 2026-01-02T10:00:00Z", "cart until 2026-01-02T10:00:00+09:00",
		"between 2026-01-02 and 2026-02-03", "cart between January and March", "cart between September and February", "cart from Monday to Wednesday",
		"cart from 2026-01-02 to 2026-01-05", "cart since January until last week", "what did we do between Monday and yesterday about the cart",
		"cart between August 11 and August 15, 2023",
		"what bugs did we fix", "What bugs did we fix last week?", "what bugs did we fix in the parser", "which decisions were made",
		"which decisions did we make about caching", "decisions about caching", "decisions", "bugs in the date parser", "list of features",
		"list all decisions", "show me the latest refactorings", "list bugs since Monday", "bug fixes this week", "what bug fixes were there in auth yesterday",
		"architecture decisions about storage", "what features do we have", "what discoveries have we made so far", "what did we decide yesterday",
		"what did I work on on Friday", "bugs 2 days ago in auth",
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "It is %s.\n\n", noon.Format("Monday 2006-01-02 15:04 MST"))
	for _, text := range texts {
		r := reading{now: noon, dates: true, types: true}
		if !r.parse(text) {
			t.Errorf("%q is not understood", text)
			continue
		}
		fmt.Fprintf(&b, "%s\n\t%s\n", text, describe(r))
	}
	golden(t, "understanding.golden", b.Bytes())
}

// TestOrdinaryTexts: subjects of commits, questions, errors and identifiers are
// searched for as they are.
func TestOrdinaryTexts(t *testing.T) {
	for _, text := range []string{
		// Subjects of commits.
		"fix: date picker shows yesterday", "feat(report): add last week to the ranges", "Add a filter for last month",
		"Highlight today in the calendar", "Fix march through the token stream", "store: march over the rows once",
		"Default the report to last week", "Rename since to after in the query API", "Revert yesterday's change",
		"parser: may return nil since 1.24", "Bump golang.org/x/sys to 2024.1", "cache: keep entries until restart",
		"drop support for Python 3.8 in 2024.2", "Use second precision in sun position", "Support AND and OR in the filter",
		"crypto: rotate keys before 2.10", "docs: update the features table", "ci: run on Monday mornings only",
		"update bugs template", "Parse dates like 3 days ago", "merge decisions.md into docs",
		// Questions and requests.
		"how does the parser handle last month boundaries", "when did we switch to sqlite in March", "how long ago was the cache added",
		"why may the lock be held twice", "what is the bug in the cart rounding", "which feature flag turns caching on",
		"how to get the last month number in python", "where is the change detection for files", "does the march flag matter for gcc",
		"what does features[0] mean", "is there a bug with dec and hex numbers", "moved over a year ago to a new host",
		"almost 2 years ago the format changed", "what did we try two weeks before March 2025", "what was wrong with March 2025",
		"what broke between the release and March 2025",
		// Code, errors, names.
		"getLastWeek", "time.Now().AddDate(0, 0, -7)", "date_trunc('month', now())", "panic: runtime error: index out of range [3] with length 3",
		"src/reports/last_month.go", "backup-2026-01-02.tar.gz", "backup 2026-01-02 failed", "error TS2345 in 2024 build", "v2025.1.3", "release 2024.1",
		"SELECT * FROM bugs WHERE fixed = 1", "Bug", "bug", "feature", "change", "changes", "sat solver", "sun rpc", "mar files", "may", "March",
		"decision tree", "bugs template", "discovery protocol", "ECONNREFUSED 127.0.0.1:5432", "S12 parser", "next week", "since", "in", "before",
		"3 days", "ago", "two weeks", "on call", "in memory", "last", "the last", "between", "between 1 and 5", "from a to b", "in 3 days", "in 2048",
		"in 1999", "日本語 昨日", "le mois de mars",
	} {
		r := reading{now: noon, dates: true, types: true}
		if r.parse(text) {
			t.Errorf("%q: %s", text, describe(r))
		}
		if isExpression(text) {
			t.Errorf("%q is taken for an expression", text)
		}
	}
}

// TestReadingClocks: ranges follow the user's zone and its changes, whatever the day.
func TestReadingClocks(t *testing.T) {
	for _, tt := range []struct {
		now  time.Time
		text string
		want string
	}{
		{time.Date(2026, 3, 30, 0, 30, 0, 0, berlin), "x yesterday", `Sun 2026-03-29 00:00:00 – Sun 2026-03-29 23:59:59 · search "x"`}, // 23 hours
		{time.Date(2026, 3, 29, 22, 30, 0, 0, time.UTC).In(berlin), "x today", `Mon 2026-03-30 00:00:00 – Mon 2026-03-30 23:59:59 · search "x"`},
		{time.Date(2026, 3, 31, 9, 0, 0, 0, berlin), "x last month", `Sun 2026-02-01 00:00:00 – Sat 2026-02-28 23:59:59 · search "x"`},
		{time.Date(2026, 3, 31, 9, 0, 0, 0, berlin), "x a month ago", `Sun 2026-02-01 00:00:00 – Sat 2026-02-28 23:59:59 · search "x"`},
		{time.Date(2026, 1, 1, 9, 0, 0, 0, berlin), "x last week", `Mon 2025-12-22 00:00:00 – Sun 2025-12-28 23:59:59 · search "x"`},
		{time.Date(2026, 1, 1, 9, 0, 0, 0, berlin), "x last month", `Mon 2025-12-01 00:00:00 – Wed 2025-12-31 23:59:59 · search "x"`},
		{time.Date(2026, 3, 22, 9, 0, 0, 0, berlin), "x this week", `Mon 2026-03-16 00:00:00 – Sun 2026-03-22 23:59:59 · search "x"`}, // a Sunday
		{time.Date(2026, 3, 23, 9, 0, 0, 0, berlin), "x last Monday", `Mon 2026-03-16 00:00:00 – Mon 2026-03-16 23:59:59 · search "x"`},
		{time.Date(2026, 2, 23, 9, 0, 0, 0, berlin), "x between January and March", `Wed 2025-01-01 00:00:00 – Mon 2025-03-31 23:59:59 · search "x"`},
		{time.Date(2028, 2, 29, 9, 0, 0, 0, berlin), "x last year", `Fri 2027-01-01 00:00:00 – Fri 2027-12-31 23:59:59 · search "x"`},
	} {
		r := reading{now: tt.now, dates: true}
		r.parse(tt.text)
		if got := describe(r); got != tt.want {
			t.Errorf("%s, %q:\ngot  %s\nwant %s", tt.now, tt.text, got, tt.want)
		}
	}
}

// FuzzReading: whatever is understood, its range is one and the rest of the text is
// made of the text's own words.
func FuzzReading(f *testing.F) {
	for _, text := range []string{
		"what did we do last week about the cart", "between January and March", "3rd March 2025", "since May until last week", "a couple of days ago",
		"which decisions about x since 2026-01-02T10:00", "last last last", "in in in 2025", "999 years ago", "0 days ago", "31 February 2025", "bug fixes",
	} {
		f.Add(text, int64(0))
	}
	f.Fuzz(func(t *testing.T, text string, shift int64) {
		text, _ = cleanText(text)
		r := reading{now: noon.Add(time.Duration(shift)), dates: true, types: true}
		if !r.parse(text) {
			if r.rest != text || r.since != 0 || r.until != 0 || r.named != nil {
				t.Fatalf("%q is not understood and yet %+v", text, r)
			}
			return
		}
		if r.since != 0 && r.until != 0 && r.since > r.until {
			t.Errorf("%q: from %d to %d", text, r.since, r.until)
		}
		if len(r.rest) > len(text) {
			t.Errorf("%q became %q", text, r.rest)
		}
		at := 0
		for _, w := range strings.Fields(r.rest) {
			i := strings.Index(text[at:], w)
			if i < 0 {
				t.Fatalf("%q became %q: %q is not its own", text, r.rest, w)
			}
			at += i + len(w)
		}
	})
}

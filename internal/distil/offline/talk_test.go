package offline

import (
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// TestTalkDecides: what is decided without a tool becomes one record, in the words of the recap
// or of the user; questions, hedges and options become none.
func TestTalkDecides(t *testing.T) {
	for name, tt := range map[string]struct {
		s    *story
		want []string // titles
	}{
		"recap": {tell().ask("Right, and rows end in CRLF.").stop("Recap of export(rows): quote only what has a comma. Rows end in CRLF. Shall I start?"),
			[]string{"export(rows): quote only what has a comma. Rows end in CRLF"}},
		"recap about one word": {tell().ask("Right.").stop("Decision for caching: Redis, without a time to live."), []string{"Caching: Redis, without a time to live"}},
		"order": {tell().ask("No, keep the queue in Postgres, Redis is one more thing to run.").stop("Understood. Anything else?"),
			[]string{"Keep the queue in Postgres, Redis is one more thing to run"}},
		"order behind its place": {tell().ask("For dates in the reports, use the ISO form.").stop("Sure. What about times?"),
			[]string{"For dates in the reports, use the ISO form"}},
		"said again": {tell().ask("Thirty seconds.").stop("Got it - the sessions end after thirty seconds without a call."),
			[]string{"The sessions end after thirty seconds without a call"}},
		"agreed": {tell().ask("Yes, that one.").stop("So the cache must drop entries after an hour, by their age."),
			[]string{"So the cache must drop entries after an hour, by their age"}},
		"put off":           {tell().ask("Let's postpone the new login page until the audit is over.").stop("Fine."), []string{"Postpone the new login page until the audit is over"}},
		"German":            {tell().ask("Nein, wir nehmen SQLite, weil nichts zu betreiben ist.").stop("Verstanden."), []string{"Wir nehmen SQLite, weil nichts zu betreiben ist"}},
		"German recap":      {tell().ask("Genau.").stop("Fazit: nur ganze Cents werden gebucht, Reste verfallen am Monatsende."), []string{"Nur ganze Cents werden gebucht, Reste verfallen am Monatsende"}},
		"Spanish":           {tell().ask("Sí, usemos la tabla de siempre para los turnos.").stop("Entendido."), []string{"Usemos la tabla de siempre para los turnos"}},
		"French":            {tell().ask("Non, on garde le format actuel des factures.").stop("Compris."), []string{"On garde le format actuel des factures"}},
		"Japanese":          {tell().ask("はい。").stop("決定: 夜間の集計は午前三時に実行し、失敗時は再実行しない。"), []string{"夜間の集計は午前三時に実行し、失敗時は再実行しない。"}},
		"errand":            {tell().ask("Add a test for the parser.").stop("Which parser do you mean?"), nil},
		"next look":         {tell().ask("Let's look at the parser first.").stop("It reads lines and gives each to the table."), nil},
		"question":          {tell().ask("Should we use Redis for the queue?").stop("It would be fast, and one more thing to run."), nil},
		"hedge":             {tell().ask("Maybe we could use Redis for the queue, I'm not sure yet.").stop("It could work."), nil},
		"option":            {tell().ask("What else could hold the queue?").stop("I'd take Redis, or a table in Postgres would do."), nil},
		"German hedge":      {tell().ask("Vielleicht nehmen wir Redis, mal sehen.").stop("Das wäre schnell."), nil},
		"explained":         {tell().ask("Why is the list balanced?").stop("Because lookups stay fast: each part must never be longer than the root of all, and inserts only move one part."), nil},
		"thanks":            {tell().ask("Great, good to know. Thanks!").stop("You're welcome, it must only be used with care."), nil},
		"quoted":            {tell().ask("The mail says:\n\n> Use floats for all amounts from now on.\n\nWhat is that about?").stop("About amounts."), nil},
		"pasted and retold": {tell().ask("What does this say?\n```\nDecision: amounts become floats, whole cents are dropped, invoices are void\n```").stop("Decision: amounts become floats, whole cents are dropped, invoices are void."), nil},
		"kept as a rule":    {tell().ask("Never log the whole request, it ends up with support.").stop("Understood."), nil},
		"said twice": {tell().ask("Right.").stop("Settled: retries are capped at four attempts. Ops agreed: four attempts, then retries are capped. The pause doubles from 200 ms on."),
			[]string{"Retries are capped at four attempts. The pause doubles from 200 ms on"}},
		"recap, not asked on": {tell().ask("Exactly. Cap it at four.").stop("Settled: at most four attempts, capped. Rejected: an unlimited number."), []string{"At most four attempts, capped"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := tt.s.distil(t)
			verify(t, out)
			var got []string
			for _, o := range out.Observations {
				got = append(got, o.Title)
				if o.Type != memory.TypeDecision {
					t.Errorf("%q is a %s", o.Title, o.Type)
				}
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestTalkOvertakes: of what is decided twice in a talk, or amended in a later one, the last holds.
func TestTalkOvertakes(t *testing.T) {
	s := tell().
		ask("No, cap the retries at six attempts.").stop("Understood. And the pause?").
		ask("Keep the pause of the old client.").stop("Noted. Anything else?").
		ask("Scratch that, cap the retries at four attempts.").stop("Got it. Anything else?").
		ask("No.").stop("Settled: retries are capped at four attempts, and the pause is that of the old client.")
	out := s.distil(t)
	if len(out.Observations) != 1 || out.Observations[0].Title != "Retries are capped at four attempts, and the pause is that of the old client" {
		t.Errorf("got %+v", out.Observations)
	}
	later := tell().ask("An amendment to the retries: the gateway hangs up.").stop("Amended rule: retries are capped at three attempts.")
	later.batch.Session.ID, later.batch.Nearby = 8, out.Observations
	later.batch.Nearby[0].ID, later.batch.Nearby[0].Session = 5, 7
	if out = later.distil(t); len(out.Observations) != 1 || len(out.Observations[0].Supersedes) != 1 || out.Observations[0].Narrative != "In place of: "+later.batch.Nearby[0].Title {
		t.Errorf("amended by %+v", out.Observations)
	}
	pasted := tell().ask("Got it.\n```\nAmendment to the retries\n```").stop("Settled: retries are capped at two attempts, and the pause is that of the new client.")
	pasted.batch.Session.ID, pasted.batch.Nearby = 8, later.batch.Nearby
	if out = pasted.distil(t); len(out.Observations) != 1 || len(out.Observations[0].Supersedes) > 0 {
		t.Errorf("amended by a pasted text: %+v", out.Observations)
	}
	other := tell().ask("Right.").stop("Settled: invoices are sent on Mondays, never on a holiday.")
	other.batch.Nearby = later.batch.Nearby
	if out = other.distil(t); len(out.Observations) != 1 || len(out.Observations[0].Supersedes) > 0 {
		t.Errorf("another subject: %+v", out.Observations)
	}
	short := tell().ask("No, use UTC.").stop("Understood. Anything else?").ask("Right.").stop("Settled: invoices are sent on Mondays, never on a holiday.")
	if out = short.distil(t); len(out.Observations) != 2 {
		t.Errorf("an earlier decision without a rare word: %+v", out.Observations)
	}
}

// TestTalkInFront: title, subtitle and one fact hold a decision to its end.
func TestTalkInFront(t *testing.T) {
	decision := "retries are capped at four attempts (the gateway hangs up at the fifth), the pause doubles from 200 ms to 5 s, uploads are never retried, as a part of them may be there, downloads go on at the byte where they ended, a token that has expired is renewed once and not counted, and what fails in the end goes to the queue of the night, where it waits for three days and is then reported to whoever is on call"
	out := tell().ask("Yes.").stop("Settled: " + decision + ".").distil(t)
	if len(out.Observations) != 1 || len(out.Observations[0].Facts) != 1 || !strings.HasSuffix(toldBy(&out.Observations[0]), "reported to whoever is on call") {
		t.Fatalf("got %+v", out.Observations)
	}
	if title := out.Observations[0].Title; !balanced(title) {
		t.Errorf("the title ends within brackets: %s", title)
	}
}

// TestTalkAnswers: an answer in lists or code is kept, one in prose is not.
func TestTalkAnswers(t *testing.T) {
	out := tell().ask("How do I start the server?").stop("Run both:\n\n- `make seed` fills the tables.\n- `make serve` listens on 8080.").distil(t)
	if len(out.Observations) != 1 || out.Observations[0].Type != memory.TypeDiscovery || !strings.Contains(out.Observations[0].Title, "`make seed`") {
		t.Errorf("got %+v", out.Observations)
	}
	if out = tell().ask("How does the server start?").stop("It reads the table first, because that has all routes, and only then it listens.").distil(t); len(out.Observations) > 0 {
		t.Errorf("prose: %+v", out.Observations)
	}
}

// TestShortAnswer: a short answer is no summary, whichever apostrophe and dash it is written with.
func TestShortAnswer(t *testing.T) {
	for _, said := range []string{"It's slow because `cache.go` blocks.", "It’s slow because `cache.go` blocks — always.", "Es hängt, weil `cache.go` blockiert."} {
		if out := tell().ask("Why is the start slow?").stop(said).distil(t); len(out.Summaries) > 0 {
			t.Errorf("%q: %+v", said, out.Summaries)
		}
	}
}

// A text is not cut in front of the object of its verb.
func TestCutClause(t *testing.T) {
	for s, want := range map[string]string{
		"Flags stay around for years and nobody knows which formula made an invoice": "Flags stay around for years and nobody knows which formula…",
	} {
		if got := cut(s, 60); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSplitClause: nothing of a text is lost where it is split, and a cut within a clause is shown.
func TestSplitClause(t *testing.T) {
	for _, tt := range []struct {
		s          string
		n          int
		head, rest string
	}{
		{"Rows end in CRLF. Quotes are doubled", 25, "Rows end in CRLF", "Quotes are doubled"},
		{"A pinned table of types: .csv -> text/csv, .yml -> application/x-yaml", 45, "A pinned table of types: .csv -> text/csv", ".yml -> application/x-yaml"},
		{"nobody knows which formula produced an invoice of last year", 40, "nobody knows which formula produced an…", "…invoice of last year"},
		{"all of it", 40, "all of it", ""},
	} {
		if head, rest := splitClause(tt.s, tt.n); head != tt.head || rest != tt.rest {
			t.Errorf("%q at %d: %q and %q", tt.s, tt.n, head, rest)
		}
	}
}

package offline

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// supersededBy distils a story after another one, in a later session, and returns the titles
// of the records of the first that the second supersedes, and what the second stores.
func supersededBy(t *testing.T, first, second *story) (titles []string, stored []memory.Observation) {
	t.Helper()
	ctx := context.Background()
	before, err := New().Distil(ctx, first.batch)
	if err != nil {
		t.Fatal(err)
	}
	batch := second.batch
	for i, o := range before.Observations {
		o.ID, o.Session = memory.ObservationID(i+1), batch.Session.ID+100
		batch.Nearby = append(batch.Nearby, o)
	}
	after, err := New().Distil(ctx, batch)
	if err != nil {
		t.Fatal(err)
	}
	verify(t, after)
	for _, o := range after.Observations {
		for _, id := range o.Supersedes {
			titles = append(titles, batch.Nearby[id-1].Title)
		}
	}
	return titles, after.Observations
}

func TestSupersede(t *testing.T) {
	const printed = "[main c30c5ff] Revert \"split the executor (#12)\"\n 3 files changed"
	split := func() *story {
		return tell().ask("split the executor out of the database").edit("db.go", 3, "+\tx()").run("git commit -am 'split the executor'", "").stop("`db.go` has an executor of its own.")
	}
	port := func() *story {
		return tell().ask("the metrics port collides, change it").edit("server.yaml", 4, "-metrics_port: 9100", "+metrics_port: 9180").
			stop("`metrics_port` is 9180 now instead of 9100, which node_exporter has.")
	}
	const question = "Where should the sessions be kept?"
	options := []string{"Redis", "one more service", "Postgres", "a table"}
	library := func() *story {
		return tell().ask("which http client for the importer?").edit("import.go", 3, "+\tfasthttp.Do(r)").stop("The importer uses fasthttp instead of net/http, because it keeps connections open.")
	}
	redis := func(prompt string) *story {
		return tell().ask(prompt).edit("outbox.go", 3, "-\tnewRedis()", "+\tnewTable()").stop("The outbox is a table in Postgres now, Redis is gone again.")
	}
	inRedis := tell().ask("store the outbox in Redis").edit("outbox.go", 3, "-\tnewList()", "+\tnewRedis()").stop("The outbox is kept in Redis now, because it survives a restart.")
	for _, test := range []struct {
		name          string
		first, second *story
		want          string // part of the title that is superseded, "" for none
	}{
		{"decided otherwise", inRedis, redis("we decided otherwise: store the outbox in Postgres instead of Redis"), "kept in Redis"},
		{"the other way, but nobody says that it was decided before", inRedis, redis("store the outbox of the tests in Postgres instead of Redis"), ""},
		{"decided otherwise, of another thing", inRedis, redis("we decided otherwise: store the outbox in Postgres instead of Kafka"), ""},
		{"revert by subject, as a forge names it", split(), tell().ask("take the executor back out, replicas lag").run("git revert --no-edit 53e155d", printed).stop("It is reverted."), "executor"},
		{"revert of other work", split(), tell().ask("take the parser back out").run("git revert --no-edit 53e155d", "[main c30c5ff] Revert \"new parser (#13)\"").stop("It is reverted."), ""},
		{"revert that failed", split(), tell().ask("take it back out").fail("git revert 53e155d", 1, "error: could not revert 53e155d... split the executor").stop("The revert has conflicts."), ""},
		{"value put back", port(), tell().ask("roll the metrics port back, prometheus scrapes the old one").edit("server.yaml", 4, "-metrics_port: 9180", "+metrics_port: 9100").
			stop("`metrics_port` is 9100 again; node_exporter moved to another one."), "9180"},
		{"another value", port(), tell().ask("use 9300 for metrics").edit("server.yaml", 4, "-metrics_port: 9180", "+metrics_port: 9300").
			stop("`metrics_port` is 9300 now, as the firewall wants it."), "9180"},
		{"the value of another key", port(), tell().ask("raise the limit").edit("server.yaml", 9, "-max_conns: 9180", "+max_conns: 9300").stop("`max_conns` is 9300 now."), ""},
		{"the value in another file", port(), tell().ask("use 9300 for metrics in the chart").edit("chart.yaml", 4, "-metrics_port: 9180", "+metrics_port: 9300").stop("`metrics_port` of the chart is 9300 now."), ""},
		{"other lines of the file", port(), tell().ask("add a timeout").edit("server.yaml", 9, "-timeout: 30s", "+timeout: 60s").stop("`timeout` is 60s now; `metrics_port` stays 9180."), ""},
		{"another answer", tell().ask("keep sessions over a restart").dialog(question, "Redis", options...).stop("Redis it is."),
			tell().ask("we said Redis, ask me again").dialog(question, "Postgres", options...).stop("Postgres it is."), "Redis"},
		{"another question", tell().ask("keep sessions over a restart").dialog(question, "Redis", options...).stop("Redis it is."),
			tell().ask("and the queue?").dialog("Where should the queue be kept?", "Postgres", options...).stop("Postgres it is."), ""},
		{"the opposite choice", library(), tell().ask("fasthttp breaks HTTP/2, go back").edit("import.go", 3, "-\tfasthttp.Do(r)", "+\thttp.Do(r)").
			stop("The importer uses net/http instead of fasthttp, which has no HTTP/2."), "fasthttp"},
		{"the opposite choice elsewhere", library(), tell().ask("which client for uploads?").edit("upload.go", 3, "+\thttp.Do(r)").
			stop("Uploads go through net/http instead of fasthttp, which buffers bodies."), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, stored := supersededBy(t, test.first, test.second)
			switch {
			case test.want == "" && len(got) > 0, test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)):
				before, _ := New().Distil(context.Background(), test.first.batch)
				t.Errorf("superseded %q, want %q\nbefore: %+v\nafter: %+v", got, test.want, before.Observations, stored)
			}
		})
	}
}

// TestGuessDisproved supersedes what the turn before found, where the user says no to it and
// the agent agrees and tells another cause.
func TestGuessDisproved(t *testing.T) {
	const guess = "Items get lost because the ring overflows: `Put` returns false when it is full."
	for _, test := range []struct {
		name, prompt, message string
		want                  bool
	}{
		{"corrected", "no, it never has more than 20. Look at the cron job.", "You are right, it is not the limit. Cron restarts the worker at midnight, and what is in memory then is gone, because nothing is persisted.", true},
		{"in German", "Nein, da sind nie mehr als 20 drin. Woran liegt es?", "Du hast recht, am Limit liegt es nicht. Cron startet `worker` um Mitternacht neu, und was im Speicher steht, ist weg, weil nichts gesichert wird.", true},
		{"an order", "no, don't mend it yet. Why is it so small?", "You are right, let me explain first. The limit of `Put` is small, because the ring is allocated on the stack of every worker.", false},
		{"no agreement", "no, it never has more than 20. Look again.", "It is not the cron job either: `Put` returns false, because the ring of every worker is full at midnight.", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := tell().ask("why do items get lost?").read("ring.go", "package ring\n").stop(guess)
			both := s.ask(test.prompt).run("crontab -l", "0 0 * * * restart").stop(test.message).distil(t)
			if got := strings.Contains(strings.Join(titles(both), "\n"), "`Put` returns false when it is full"); got == test.want {
				t.Errorf("in one batch: %q", titles(both))
			}
			later := tell()
			later.ask("why do items get lost?")
			later = later.ask(test.prompt).run("crontab -l", "0 0 * * * restart").stop(test.message)
			later.batch.Nearby = []memory.Observation{{ID: 3, Session: later.batch.Session.ID, PromptNumber: 1, Type: memory.TypeDiscovery, Title: guess}}
			out := later.distil(t)
			if len(out.Observations) == 0 {
				t.Fatal("nothing was stored")
			}
			if got := slices.Contains(out.Observations[0].Supersedes, 3); got != test.want {
				t.Errorf("got %t: %+v", got, out.Observations[0])
			}
		})
	}
}

// TestFindingTakenBack supersedes what the same session found out and takes back.
func TestFindingTakenBack(t *testing.T) {
	const wrong = "`CacheTTL` was not the cause after all, my earlier guess was wrong: the decoder drops the alpha channel."
	for _, test := range []struct {
		name, title, message string
		session              memory.SessionID
		kind                 memory.ObservationType
		want                 bool
	}{
		{"named", "Thumbnails are empty because `CacheTTL` is shorter than a render", wrong, 7, memory.TypeDiscovery, true},
		{"in words", "The decoder runs twice for every thumbnail", "That the decoder runs twice was wrong: the log prints each thumbnail twice.", 7, memory.TypeDiscovery, true},
		{"of another session", "Thumbnails are empty because `CacheTTL` is shorter than a render", wrong, 8, memory.TypeDiscovery, false},
		{"work", "Raise `CacheTTL` to a minute", wrong, 7, memory.TypeChange, false},
		{"another thing was wrong", "Thumbnails are empty because `CacheTTL` is shorter than a render", "The gamma table was wrong, because `linear` is applied twice.", 7, memory.TypeDiscovery, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := tell().ask("why are the thumbnails empty?").run("go test -run Thumb .", "ok  \tx\t0.1s").edit("decode.go", 3, "-\tdrop()", "+\tkeep()").stop(test.message)
			s.batch.Session.ID = 7
			s.batch.Nearby = []memory.Observation{{ID: 3, Session: test.session, Type: test.kind, Title: test.title}}
			out := s.distil(t)
			if len(out.Observations) == 0 {
				t.Fatal("nothing was stored")
			}
			if got := slices.Contains(out.Observations[0].Supersedes, 3); got != test.want {
				t.Errorf("got %t, want %t: %+v", got, test.want, out.Observations[0])
			}
		})
	}
}

// TestSupersedeUndoneSymbols compares the code of functions before and after.
func TestSupersedeUndoneSymbols(t *testing.T) {
	change := func(name, before, after string) memory.SymbolChange {
		c := memory.SymbolChange{Session: 9, FilePath: "db.go", QualifiedName: name, Kind: "func", BeforeHash: before, BodyHash: after, ChangeType: memory.SymbolModified}
		switch {
		case before == "":
			c.ChangeType = memory.SymbolNew
		case after == "":
			c.ChangeType = memory.SymbolDeleted
		}
		return c
	}
	old := memory.Observation{ID: 7, Session: 9, Type: memory.TypeFeature, Title: "Retry failed writes", PromptNumber: 1,
		Files: []memory.FileRef{{Path: "db.go", Role: memory.FileModified, Symbols: []memory.SymbolHash{{Name: "DB.write", Hash: "b"}, {Name: "retry", Hash: "r"}}}}}
	then := []memory.SymbolChange{change("DB.write", "a", "b"), change("retry", "", "r"), change("other", "x", "y")}
	for _, test := range []struct {
		name string
		now  []memory.SymbolChange
		want bool
	}{
		{"all", []memory.SymbolChange{change("DB.write", "b", "a"), change("retry", "r", "")}, true},
		{"one is left", []memory.SymbolChange{change("DB.write", "b", "a")}, false},
		{"one is new code", []memory.SymbolChange{change("DB.write", "b", "c"), change("retry", "r", "")}, false},
		{"it was changed in between", []memory.SymbolChange{change("DB.write", "z", "a"), change("retry", "r", "")}, false},
		{"others", []memory.SymbolChange{change("other", "y", "x")}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := tell().ask("drop it").edit("db.go", 3, "-\tretry(f)", "+\tf()").stop("`DB.write` writes once.")
			s.batch.Nearby, s.batch.NearbySymbols = []memory.Observation{old}, then
			for i := range s.batch.Events {
				if s.batch.Events[i].Event.Kind == memory.KindTool {
					s.batch.Events[i].Symbols = test.now
				}
			}
			out, err := New().Distil(context.Background(), s.batch)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.ContainsFunc(out.Observations, func(o memory.Observation) bool { return slices.Contains(o.Supersedes, 7) })
			if got != test.want {
				t.Errorf("got %t, want %t: %+v", got, test.want, out.Observations)
			}
		})
	}
}

// TestCorrectionAfterRestart: where the lines of the last turns are forgotten, a no is to the turn
// whose functions it changes.
func TestCorrectionAfterRestart(t *testing.T) {
	change := func(before, after string) memory.SymbolChange {
		return memory.SymbolChange{Session: 7, FilePath: "db.go", QualifiedName: "DB.write", Kind: "func", BeforeHash: before, BodyHash: after, ChangeType: memory.SymbolModified}
	}
	for _, test := range []struct {
		name, prompt string
		now          memory.SymbolChange
		session      memory.SessionID
		known, want  bool
	}{
		{"a no", "no, three times at most", change("b", "c"), 7, false, true},
		{"no no", "three times at most", change("b", "c"), 7, false, false},
		{"changed in between", "no, three times at most", change("x", "c"), 7, false, false},
		{"the same code", "no, three times at most", change("b", "b"), 7, false, false},
		{"another session", "no, three times at most", change("b", "c"), 8, false, false},
		{"the lines are known, and none goes", "no, three times at most", change("b", "c"), 7, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := tell().ask("retry").ask(test.prompt).edit("db.go", 3, "-\tretry(f, 5)", "+\tretry(f, 3)").stop("`DB.write` tries three times.")
			s.batch.Nearby = []memory.Observation{{ID: 5, Session: test.session, PromptNumber: 1, Type: memory.TypeFeature, Title: "Retry failed writes",
				Files: []memory.FileRef{{Path: "db.go", Role: memory.FileModified, Symbols: []memory.SymbolHash{{Name: "DB.write", Hash: "b"}}}}}}
			then := change("a", "b")
			then.Session = test.session
			s.batch.NearbySymbols = []memory.SymbolChange{then}
			if test.known {
				s.batch.Lines = []memory.TurnLines{{Session: 7, PromptNumber: 1, Net: map[memory.FileLine]int{{Path: "db.go", Hash: 1}: 1}}}
			}
			s.batch.Events[0].Symbols = []memory.SymbolChange{test.now}
			out := s.distil(t)
			if got := slices.ContainsFunc(out.Observations, func(o memory.Observation) bool { return slices.Contains(o.Supersedes, 5) }); got != test.want {
				t.Errorf("got %t, want %t: %+v", got, test.want, out.Observations)
			}
		})
	}
}

func TestReplacedValue(t *testing.T) {
	for _, test := range []struct{ a, b, was, now, key string }{
		{"port: 8080", "port: 9090", "8080", "9090", "port"},
		{"FROM node:22-alpine3.20 AS build", "FROM node:22-bookworm-slim AS build", "node:22-alpine3.20", "node:22-bookworm-slim", "FROM"},
		{`	"timeout": "30s",`, `	"timeout": "45s",`, "30s", "45s", "timeout"},
		{"app.listen(8080);", "app.listen(9090);", "8080", "9090", "app.listen"},
		{`version = "~> 5.63"`, `version = "~> 5.60"`, "5.63", "5.60", "version"},
		{"return a", "return b", "", "", ""},
		{"port: 8080", "host: 8080", "", "", ""},
		{"a: 10 b: 20", "a: 11 b: 21", "", "", ""},
		{"same", "same", "", "", ""},
		{"", "8080", "", "", ""},
	} {
		if was, now, key := replacedValue(test.a, test.b); was != test.was || now != test.now || key != test.key {
			t.Errorf("%q, %q: got %q %q %q, want %q %q %q", test.a, test.b, was, now, key, test.was, test.now, test.key)
		}
	}
}

// TestSupersedeIsCheap compares a long turn with many records.
func TestSupersedeIsCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	s := tell().ask(strings.Repeat("use one instead of the other. ", 500))
	for i := range 300 {
		s.edit("server.yaml", i, "-key_"+strings.Repeat("a", i)+": 9100", "+key_"+strings.Repeat("a", i)+": 9180")
	}
	s.stop(strings.Repeat("`a` is 9180 instead of 9100, my earlier guess was wrong. ", 500))
	for i := range 120 {
		s.batch.Nearby = append(s.batch.Nearby, memory.Observation{ID: memory.ObservationID(i + 1), Type: memory.TypeDiscovery, Session: s.batch.Session.ID,
			Title: "9100 instead of 9180 " + strings.Repeat("x ", i), Files: []memory.FileRef{{Path: "server.yaml", Role: memory.FileModified}}})
	}
	start := time.Now()
	if _, err := New().Distil(context.Background(), s.batch); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

//go:build unix

package browse

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/memory"
	"claudemem/internal/move/exchange"
)

// shownRecord is an observation of the memory that the screens of browse show.
type shownRecord struct {
	kind                       memory.ObservationType
	title, subtitle, narrative string
	facts                      []string
	file                       string
}

// shownTurns are the turns of that memory, the oldest first: a project, a prompt, what was
// found out, and the turn's summary. They are an hour apart; a new session begins with each
// new project.
var shownTurns = []struct {
	project, asked string
	findings       []shownRecord
	learned, done  string
}{
	{"tally", "Why does the invoice total differ by a cent?", []shownRecord{
		{memory.TypeDiscovery, "Totals are rounded once per line", "The sum of rounded lines differs from the rounded sum", "Money.Sum rounds each line to cents before it adds them. With three lines of 0.335 the total is 1.02 instead of 1.01.", []string{"three lines of 0.335 give 1.02"}, "money/sum.go"},
		{memory.TypeBugfix, "Invoice totals are rounded after the sum", "Money.Sum adds fractions of cents", "Money.Sum now adds in tenths of a cent and rounds the total half to even. The printed lines keep their own rounding, so a note explains a difference of at most one cent.", []string{"rounding: half to even", "TestSumOfThirds proves it"}, "money/sum.go"},
		{memory.TypeDecision, "Amounts stay whole numbers of tenths of a cent", "Floats were refused", "Sums of floats did not add up in the ledger export, and decimals cost 40 ns an addition.", []string{"int64 in tenths of a cent"}, "money/amount.go"},
	}, "Lines were rounded before they were added.", "Totals are rounded once, after the sum."},
	{"tally", "Export the ledger as CSV, with a header that accountants know", []shownRecord{
		{memory.TypeFeature, "The ledger is exported as CSV", "One row per booking, in the order of their dates", "ledger export writes a header row, ISO dates and amounts with a dot. A BOM is written, since spreadsheet programs guess the encoding without one.", []string{"columns: date, account, text, amount", "encoding: UTF-8 with BOM"}, "ledger/export.go"},
		{memory.TypeChange, "Accounts are quoted in the export", "", "Account names may have commas.", nil, "ledger/export.go"},
	}, "Spreadsheets need a BOM to read UTF-8.", "tally ledger export writes CSV."},
	{"harbor", "The upload queue stalls at night, find out why", []shownRecord{
		{memory.TypeDiscovery, "The upload queue waits for a lock that the backup holds", "From 02:00 to 02:40", "The nightly backup opens the queue's database for writing although it only reads. Every claim then waits up to 40 minutes.", []string{"backup runs at 02:00", "busy_timeout was 0"}, "queue/claim.go"},
		{memory.TypeBugfix, "The backup reads the queue without locking it", "The database is opened read-only, in WAL mode", "A reader in WAL mode does not block a writer. The stall is gone in a replay of last night's log.", []string{"mode=ro"}, "backup/run.go"},
		{memory.TypeRefactor, "One function opens every database", "openDB replaces four copies", "Each of the four had other pragmas; two lacked a busy timeout.", []string{"openDB sets WAL and a busy timeout of 5 s"}, "db/open.go"},
		{memory.TypeChange, "Uploads are retried after 1, 5 and 25 minutes", "", "Three attempts with growing pauses; then the upload is marked as failed.", []string{"pauses: 1m, 5m, 25m"}, "queue/retry.go"},
	}, "A reader that opens for writing locks out writers.", "The queue runs through the night."},
	{"harbor", "Show failed uploads to the operator", []shownRecord{
		{memory.TypeFeature, "Failed uploads are listed with their reasons", "harbor failed", "The list is newest first and names the last error of each upload.", nil, "cmd/failed.go"},
		{memory.TypeDecision, "Failed uploads are kept for 30 days", "Long enough for a holiday", "The operator asked for it: after holidays nobody could say what had failed.", []string{"retention: 30 days"}, "queue/retain.go"},
	}, "Operators look after holidays.", "harbor failed lists them."},
	{"tally", "Dates of Brazilian invoices are off by a day", []shownRecord{
		{memory.TypeDiscovery, "Invoice dates are parsed as UTC and shown in local time", "West of Greenwich they are the day before", "time.Parse without a location returns UTC; the template calls Local.", []string{"America/Sao_Paulo is UTC-3"}, "invoice/date.go"},
		{memory.TypeBugfix, "Invoice dates have no time and no zone", "A type Date of year, month and day", "Date prints itself and compares by its fields. Nothing converts it between zones any more.", []string{"Date{2025, 11, 3}", "JSON: \"2025-11-03\""}, "invoice/date.go"},
		{memory.TypeRefactor, "Templates format dates by one function", "", "Six templates had their own layout strings.", nil, "templates/funcs.go"},
	}, "A date is not a moment.", "Dates are shown as they were written."},
	{"tally", "Make the tests run in parallel", []shownRecord{
		{memory.TypeChange, "Tests use a database each", "t.TempDir instead of test.db", "They shared a file in the repository, so two could not run at once.", []string{"go test ./... took 41 s, now 12 s"}, "store/store_test.go"},
		{memory.TypeDiscovery, "TestArchive depends on the day of the month", "It fails on the 31st", "The archive begins a month before today; AddDate normalises 31 February to 3 March.", nil, "archive/archive_test.go"},
		{memory.TypeBugfix, "The archive begins on the first of the month", "", "Counting from the first of the month cannot skip one.", []string{"first of month, minus one month"}, "archive/archive.go"},
	}, "AddDate normalises days that do not exist.", "The tests run in parallel in 12 s."},
}

// shownStart is the time of the first prompt of that memory. It is in a year that has passed, so
// that headings of days have the year.
var shownStart = time.Date(2025, 11, 3, 9, 15, 0, 0, time.UTC)

// browseULID returns the ULID of the nth record of a kind.
func browseULID(kind, n int) memory.ULID {
	return memory.ULID(fmt.Sprintf("01%04d%020d", kind, n))
}

// importRecords imports records that write passes on, with the worker away.
func importRecords(m *world.Memory, write func(func(memory.Portable))) {
	m.T.Helper()
	path := filepath.Join(m.Home, "records.jsonl")
	f, err := os.Create(path)
	if err != nil {
		m.T.Fatal(err)
	}
	w, err := exchange.NewWriter(f, exchange.Header{Schema: 5})
	if err == nil {
		write(func(p memory.Portable) {
			if err == nil {
				err = w.Write(&p)
			}
		})
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		m.T.Fatal(err)
	}
	if err := f.Close(); err != nil {
		m.T.Fatal(err)
	}
	m.Answering("import", "--mine", path)
	_ = os.Remove(path)
}

// importShown imports shownTurns, builds the index and starts the worker.
func importShown(m *world.Memory) {
	m.T.Helper()
	importRecords(m, func(write func(memory.Portable)) {
		sessions := []int{}
		for i, turn := range shownTurns {
			if i == 0 || turn.project != shownTurns[i-1].project {
				sessions = append(sessions, i)
			}
		}
		session := func(turn int) (n, first int) {
			for n < len(sessions) && sessions[n] <= turn {
				n++
			}
			return n - 1, sessions[n-1]
		}
		at := func(turn int) time.Time { return shownStart.AddDate(0, 0, turn/2).Add(time.Duration(turn) * time.Hour) }
		for n, first := range sessions {
			last := len(shownTurns) - 1
			if n+1 < len(sessions) {
				last = sessions[n+1] - 1
			}
			begin, end := memory.MillisOf(at(first)), memory.MillisOf(at(last).Add(40*time.Minute))
			write(memory.Portable{Session: &memory.PortableSession{ULID: browseULID(0, n), Host: memory.HostClaudeCode, HostSessionID: fmt.Sprint("shown-", n),
				ProjectPath: "/home/ada/" + shownTurns[first].project, Label: shownTurns[first].project, Status: memory.SessionCompleted, Title: shownTurns[first].asked, Events: 40,
				StartedAt: begin, UpdatedAt: end, LastEventAt: end, CompletedAt: end}})
		}
		id := 0
		for i, turn := range shownTurns {
			n, first := session(i)
			number := i - first + 1
			write(memory.Portable{Prompt: &memory.PortablePrompt{ULID: browseULID(1, i), Session: browseULID(0, n), Number: number, Text: turn.asked, Branch: "main", CreatedAt: memory.MillisOf(at(i))}})
			for j, o := range turn.findings {
				id++
				when := memory.MillisOf(at(i).Add(time.Duration(7*(j+1)) * time.Minute))
				write(memory.Portable{Observation: &memory.PortableObservation{ULID: browseULID(2, id), Session: browseULID(0, n), ProjectPath: "/home/ada/" + turn.project, PromptNumber: number,
					Type: o.kind, Title: o.title, Subtitle: o.subtitle, Narrative: o.narrative, Facts: o.facts, Concepts: []string{"how-it-works", "gotcha"},
					Files:  []memory.FileRef{{Path: o.file, Role: memory.FileModified}, {Path: "go.mod", Role: memory.FileRead}},
					Origin: memory.OriginObserver, Provenance: memory.FromProject, DiscoveryTokens: 1200, Branch: "main", TimesSeen: 1, CreatedAt: when, AskedID: id}})
			}
			write(memory.Portable{Summary: &memory.PortableSummary{ULID: browseULID(3, i), Session: browseULID(0, n), PromptNumber: number, Request: turn.asked,
				Investigated: "the code, its tests and the log", Learned: turn.learned, Completed: turn.done, NextSteps: "Release it.", FilesEdited: []string{turn.findings[0].file},
				Origin: memory.OriginObserver, CreatedAt: memory.MillisOf(at(i).Add(35 * time.Minute))}})
		}
	})
	m.MustCommand("reindex")
	m.MustCommand("worker", "start")
}

// manyRecords imports n observations of one project, a minute apart, in sessions of 20
// and turns of two.
func manyRecords(m *world.Memory, n int) {
	works := []string{"The %s lost its last entry", "The %s can be paused", "One place reads the %s", "The %s keeps whole numbers"}
	parts := strings.Split("rate limiter,invoice total,login form,retry loop,upload queue,search index,date parser", ",")
	types := []memory.ObservationType{memory.TypeBugfix, memory.TypeFeature, memory.TypeRefactor, memory.TypeDecision}
	const perSession = 20
	importRecords(m, func(write func(memory.Portable)) {
		at := func(i int) memory.Millis {
			return memory.MillisOf(shownStart.Add(time.Duration(i-n) * time.Minute))
		}
		for s := range (n + perSession - 1) / perSession {
			write(memory.Portable{Session: &memory.PortableSession{ULID: browseULID(0, s), Host: memory.HostClaudeCode, HostSessionID: fmt.Sprint("many-", s), ProjectPath: "/home/ada/tally", Label: "tally",
				Status: memory.SessionCompleted, StartedAt: at(s * perSession), UpdatedAt: at(s * perSession), LastEventAt: at(s * perSession)}})
		}
		for i := range n {
			part := parts[i%len(parts)]
			write(memory.Portable{Observation: &memory.PortableObservation{ULID: browseULID(2, i), Session: browseULID(0, i/perSession), ProjectPath: "/home/ada/tally", PromptNumber: i%perSession/2 + 1, Type: types[i%len(types)],
				Title: fmt.Sprintf(works[i%len(works)], part), Narrative: fmt.Sprintf("Change %d of the %s. The loop ended one entry early, because its bound was taken before the list was sorted.", i+1, part),
				Origin: memory.OriginObserver, Provenance: memory.FromProject, TimesSeen: 1, CreatedAt: at(i), AskedID: i + 1}})
		}
	})
}

package block

import (
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// disagreeing are pairs of what was so and what is so now. Rules are learnings, a line each of which
// begins with "rule: ".
const disagreeing = `The API server listens on port 8080 | The API server uses port 9090
The upload timeout is 30 seconds | The upload timeout is 90 seconds
Node 18 is required for the build | Node 22 is required for the build
Chose SQLite for the job queue | Chose Postgres for the job queue
The job queue uses Redis for retries | The job queue uses Postgres for retries
Staging deploys from branch release-1 | Staging deploys from branch release-2
Feature flags are disabled by default | Feature flags are enabled by default
The cache is not shared between workers | The cache is shared between workers
Decided on JSON for the export format | Picked CSV for the export format
Sessions expire after 7 days | Sessions expire after 30 days
Use npm for installing packages | Use pnpm instead of npm for installing packages
The retry limit of the mailer is 3 | The retry limit of the mailer is 5
Der Testserver lauscht auf Port 3000 | Der Testserver verwendet Port 4000
The coverage gate is set to 70 percent | The coverage gate is 85 percent
Settled on REST for the partner API | Settled on GraphQL for the partner API
rule: Never edit generated files by hand | rule: You may edit generated files by hand again
rule: Never push to the main branch | rule: Never push to the main branch, except for hotfixes
rule: Always squash commits before merging | rule: Don't squash commits before merging
rule: Lines have at most 80 characters | rule: Lines have at most 100 characters
rule: Use tabs for indentation in Go files | rule: Use spaces for indentation in Go files`

// agreeing are pairs that agree, or are about different things, and are both given.
const agreeing = `The API server listens on port 8080 | The metrics server listens on port 9090
The API server uses port 8080 | The API server uses Postgres
The upload timeout is 30 seconds | The download timeout is 90 seconds
Chose SQLite for the job queue | Chose Postgres for the audit trail
The parser uses a pool of buffers | The parser uses a cache of symbols
Sessions expire after 7 days | Invitations expire after 30 days
Node 22 is required for the build | Python 3 is required for the docs build
Staging deploys from branch release-2 | Production deploys from the tag of a release
The mailer retries 3 times | The mailer sends 50 mails in a batch
The ledger is append only | The audit trail is kept for ten years
Feature flags are enabled by default | Telemetry is disabled by default
The cache of templates is shared between workers | Secrets of tenants are not shared between workers
Use pnpm for installing packages | Use esbuild for bundling packages
The importer reads CSV files | The exporter writes JSON files
Fixed a crash of the parser on line 12 | Fixed a crash of the printer on line 40
The index is rebuilt at night | Backups of the index are made at noon
rule: Never edit generated files by hand | rule: Never edit vendored files by hand
rule: Always squash commits before merging | rule: Always rebase branches before merging
rule: Use tabs for indentation in Go files | rule: Use spaces for indentation in YAML files
rule: Never push to the main branch | rule: Never push without running the linter`

// givenPairs builds a block of each pair and returns for how many both are given.
func givenPairs(t *testing.T, pairs string, older func(*memory.Observation)) (both, all int) {
	t.Helper()
	for pair := range strings.Lines(pairs) {
		was, is, _ := strings.Cut(strings.TrimSpace(pair), " | ")
		m := &fakeMemory{}
		enter := func(id int64, said string, age time.Duration) {
			if rule, ok := strings.CutPrefix(said, "rule: "); ok {
				m.learned = append(m.learned, learning(id, "convention", rule, 0.8, 1, age))
				return
			}
			o := observation(memory.ObservationID(id), memory.SessionID(id), age, said, "")
			o.Type = memory.TypeDecision
			if id == 1 && older != nil {
				older(&o)
			}
			m.observed = append(m.observed, o)
		}
		enter(2, is, time.Hour)
		enter(1, was, 90*24*time.Hour)
		m.totals = memory.Totals{Sessions: 2, Observations: 2}
		text := build(t, m, nil, memory.ContextRequest{Host: memory.HostClaudeCode, ProjectPath: testProject, Source: "startup"}).Text
		was, is = strings.TrimPrefix(was, "rule: "), strings.TrimPrefix(is, "rule: ")
		hasWas, hasIs := strings.Contains(text, was+" (") || strings.Contains(text, was+"\n"), strings.Contains(text, is)
		switch all++; {
		case hasWas && hasIs:
			both++
			t.Logf("both: %s", pair)
		case older == nil && !hasIs:
			t.Errorf("what holds now is not given: %s\n%s", is, text)
		case older != nil && (!hasWas || !strings.Contains(text, "(of 2025-12-04, said otherwise on 2026-03-04)")):
			t.Errorf("a person's note is not given with both days: %s\n%s", was, text)
		}
	}
	return both, all
}

// TestContradictions checks that of two records that disagree one is given: the newer one, or with both days
// the older one that a person wants kept.
func TestContradictions(t *testing.T) {
	if both, all := givenPairs(t, disagreeing, nil); both != 0 || all != 20 {
		t.Errorf("%d of %d contradictions are given as two facts, want 0 of 20", both, all)
	}
	if both, all := givenPairs(t, agreeing, nil); both != 20 || all != 20 {
		t.Errorf("%d of %d pairs that agree are both given, want 20 of 20", both, all)
	}
	observed, _, _ := strings.Cut(disagreeing, "\nrule: ")
	if both, _ := givenPairs(t, observed, func(o *memory.Observation) { o.Pinned = true }); both != 0 {
		t.Errorf("%d contradictions are given as two facts beside a pinned record, want 0", both)
	}
}

package httpapi

import (
	"errors"
	"strings"
	"testing"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
)

// TestLookups: records read in full are noted after the answer, for the session that the
// header names; records in lists are not.
func TestLookups(t *testing.T) {
	session := func(value string) edit { return header(wire.SessionHeader, value) }
	for name, tt := range map[string]struct {
		method, path, body string
		edits              []edit
		want               string // "" for none
	}{
		"one":                   {"GET", "/api/observations/7", "", []edit{session("claude-code:s1")}, "claude-code s1 [7]"},
		"by nobody":             {"GET", "/api/observations/7", "", nil, "  [7]"},
		"no host":               {"GET", "/api/observations/7", "", []edit{session("s1")}, "  [7]"},
		"no session":            {"GET", "/api/observations/7", "", []edit{session("claude-code:")}, "  [7]"},
		"a colon in it":         {"GET", "/api/observations/7", "", []edit{session("raw:a:b")}, "raw a:b [7]"},
		"absurdly long":         {"GET", "/api/observations/7", "", []edit{session("raw:" + strings.Repeat("x", 600))}, "  [7]"},
		"not there":             {"GET", "/api/observations/9", "", nil, ""},
		"only looked for":       {"HEAD", "/api/observations/7", "", nil, ""},
		"batch":                 {"POST", "/api/observations/batch", `{"ids":[8,"#7",9,8]}`, []edit{session("raw:s")}, "raw s [8 7]"},
		"batch of headlines":    {"POST", "/api/observations/batch", `{"ids":[7],"format":"index"}`, nil, ""},
		"batch of none there":   {"POST", "/api/observations/batch", `{"ids":[9]}`, nil, ""},
		"list":                  {"GET", "/api/observations?format=full", "", nil, ""},
		"by other means":        {"POST", "/api/lookups", `{"observations":[7,9]}`, []edit{session("raw:s")}, "raw s [7 9]"},
		"for a session":         {"POST", "/api/lookups", `{"host":"claude-code","host_session_id":"s1","observations":[7]}`, []edit{session("raw:s")}, "claude-code s1 [7]"},
		"nothing by other ones": {"POST", "/api/lookups", `{"observations":[]}`, nil, ""},
		"no number":             {"POST", "/api/lookups", `{"observations":[0]}`, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, Options{})
			s.records = []memory.Observation{{ID: 7}, {ID: 8}}
			if tt.want != "" {
				s.lookups = make(chan string) // nobody waits for it
			}
			got := s.do(t, s.unix, tt.method, tt.path, tt.body, tt.edits...)
			noted := ""
			if tt.want != "" {
				noted = <-s.lookups
			} else if len(s.lookups) > 0 {
				noted = <-s.lookups
			}
			if noted != tt.want {
				t.Errorf("status %d, noted %q, want %q", got.status, noted, tt.want)
			}
		})
	}
}

// TestLookupThatCannotBeNoted: the answer is sent although noting fails.
func TestLookupThatCannotBeNoted(t *testing.T) {
	s := serve(t, Options{})
	s.records, s.err = []memory.Observation{{ID: 7}}, errors.New("disk full")
	if got := s.do(t, s.unix, "GET", "/api/observations/7", ""); got.status != 200 || !strings.Contains(got.body, `"id":7`) {
		t.Errorf("got %d %s", got.status, got.body)
	}
	<-s.lookups
}

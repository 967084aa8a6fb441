package httpapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/memory"
)

// TestJudge: a record is named as lists show it; what nobody says to be the user's is the agent's.
func TestJudge(t *testing.T) {
	s := serve(t, Options{})
	for body, want := range map[string]int{
		`{"record":"#124","verdict":"down","origin":"user","session_id":12}`: 200,
		`{"record":"s3","verdict":"none"}`:                                   200,
		`{"record":"L7","verdict":"up"}`:                                     200,
		`{"record":"7","verdict":"sideways"}`:                                400,
		`{"record":"X7","verdict":"up"}`:                                     400,
		`{"record":"","verdict":"up"}`:                                       400,
		`{"record":"7","verdict":"up","origin":"observer"}`:                  400,
	} {
		s.judged = nil
		got := s.do(t, s.unix, "POST", "/api/given/judge", body)
		if got.status != want || (want == 200) != (len(s.judged) == 1) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
		for _, j := range s.judged {
			wanted := map[string]memory.Judgement{
				"#124": {RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: 124}, By: memory.OriginUser, Verdict: memory.Down, Session: 12},
				"S3":   {RecordRef: memory.RecordRef{Kind: memory.RecordSession, ID: 3}, By: memory.OriginAgent},
				"L7":   {RecordRef: memory.RecordRef{Kind: memory.RecordLearning, ID: 7}, By: memory.OriginAgent, Verdict: memory.Up},
			}
			if diff := cmp.Diff(wanted[j.Name()], j); diff != "" {
				t.Error(diff)
			}
		}
	}
}

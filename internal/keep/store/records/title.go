package records

import (
	"context"

	"claudemem/internal/capture/hosttext"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/text"
	"claudemem/internal/leaf/text/runes"
	"claudemem/internal/memory"
)

const (
	// maxTitle bounds a session's title, in bytes.
	maxTitle = 200
	// telling is the width from which a text says what a session was about: "continue" does not.
	telling = 12
	// untitled is the title of a session of which no words are known.
	untitled = "(no prompt)"
	// maxTitles bounds how many turns, prompts and observations are looked at for a title.
	maxTitles = 100
)

// Entitle sets the title of a session that was not imported with one: what its main turn
// (memory.MainTurn, the first of similar ones) was asked, else a prompt or the title of an observation, the first ones first, else
// what the main turn completed. What is short counts only if there is nothing else, what the host said
// never.
func Entitle(ctx context.Context, q db.QueryOnly, s *memory.Session) error {
	if s.Title != "" {
		return nil
	}
	turns, err := db.All(ctx, q, func(s *memory.Summary) []any { return []any{&s.Request, &s.Completed, &s.Learned, &s.Provenance} },
		"SELECT request, completed, learned, provenance FROM session_summaries WHERE session_id = ? ORDER BY prompt_number, id LIMIT +?", int64(s.ID), maxTitles)
	if err != nil {
		return err
	}
	said, err := db.Column[string](ctx, q, `SELECT * FROM (SELECT substr(text, 1, ?2) FROM prompts WHERE session_id = ?1 ORDER BY number LIMIT +?3)
		UNION ALL SELECT * FROM (SELECT title FROM observations WHERE session_id = ?1 AND deleted_at IS NULL AND provenance NOT IN (?4, ?5, ?6) ORDER BY id LIMIT +?3)`,
		int64(s.ID), maxTitle, maxTitles, string(memory.FromOutside), string(memory.FromMCP), string(memory.FromWeb))
	if err != nil {
		return err
	}
	if main := memory.MainTurn(turns); main >= 0 {
		said = append([]string{turns[main].Request}, said...)
		if !turns[main].Provenance.Foreign() {
			said = append(said, turns[main].Completed)
		}
	}
	s.Title = untitled
	for _, candidate := range said {
		typed, _ := hosttext.Read(candidate)
		typed = runes.FirstBytes(text.Line(typed), maxTitle)
		if text.Width(typed) >= telling {
			s.Title = typed
			return nil
		}
		if s.Title == untitled && typed != "" {
			s.Title = typed
		}
	}
	return nil
}

package accounts

import (
	"context"
	"strings"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// Notice is a message to the user. It is stored until its cause is gone.
type Notice struct {
	Key  string        `json:"key"`
	Text string        `json:"text"`
	At   memory.Millis `json:"at"`
	// Told: a session start has shown it.
	Told bool `json:"told"`
}

// The beginnings of the keys under which the observer keeps its notices:
// provider_NAME_CLASS while a provider does not answer, cap_WHICH for the day on
// which a cap was reached.
const (
	noticeProvider = "provider_"
	noticeCap      = "cap_"
)

// The keys of the notices of caps.
const (
	NoticeCapDay     = noticeCap + "day"
	NoticeCapSession = noticeCap + "session"
)

// classWords say in a word why a provider does not answer.
var classWords = map[memory.ErrorClass]string{
	memory.ClassLogin: "login", memory.ClassQuota: "quota", memory.ClassRateLimit: "busy", memory.ClassTransient: "away",
	memory.ClassGarbage: "refused",
}

// Standing returns the notices that hold at a time, whether they were told or
// not, the oldest first. Those of caps hold for their day.
func (s *Accounts) Standing(ctx context.Context, now time.Time) (notices []Notice, err error) {
	defer db.Wrap(&err, "list standing notices")
	from, _ := dayOf(now)
	return db.All(ctx, s.Reader, func(n *Notice) []any {
		return []any{&n.Key, &n.Text, &n.At, &n.Told}
	}, `SELECT key, text, created_at, shown_at IS NOT NULL FROM notices
		WHERE key NOT LIKE 'cap\_%' ESCAPE '\' OR created_at >= ? ORDER BY created_at, key`, int64(from))
}

// Waits says that the notice is of a provider that does not answer or of a cap,
// so that what was captured waits or is remembered without a model.
func (n Notice) Waits() bool {
	return strings.HasPrefix(n.Key, noticeProvider) || strings.HasPrefix(n.Key, noticeCap)
}

// Statusline reads what a host's status line says: the observations of the session, the events
// that wait in all sessions, the tokens of the day of now, in its location, and what is in the
// way. A session that is not known has 0 observations. It is asked often, so each
// part is found through an index.
func (s *Accounts) Statusline(ctx context.Context, r memory.StatusRequest, now time.Time) (line memory.Statusline, err error) {
	from, to := dayOf(now)
	err = s.Reader.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM observations o JOIN sessions s ON s.id = o.session_id
			WHERE s.host = ? AND s.host_session_id = ? AND o.deleted_at IS NULL),
		(SELECT count(*) FROM events WHERE outcome IN ('pending', 'processing')),
		(SELECT coalesce(sum(tokens_in + tokens_out + tokens_cached), 0) FROM llm_calls WHERE started_at >= ? AND started_at < ?)`,
		string(r.Host), r.HostSessionID, int64(from), int64(to)).Scan(&line.Observations, &line.Pending, &line.TokensToday)
	if err != nil {
		return line, db.Fault("read status line", err)
	}
	notices, err := s.Standing(ctx, now)
	if err != nil {
		return line, err
	}
	for _, n := range notices {
		if provider, class := n.Trouble(); provider != "" {
			line.Trouble = strings.TrimSpace(provider + " " + classWords[class])
		}
		if n.Key == NoticeCapDay {
			line.Cap = "day"
		}
	}
	return line, nil
}

// Trouble returns the provider that does not answer and the class of its error, which is "" if it
// is none of classWords; the provider is "" when the notice is about something else.
func (n Notice) Trouble() (provider string, class memory.ErrorClass) {
	name, ok := strings.CutPrefix(n.Key, noticeProvider)
	if !ok {
		return "", ""
	}
	for class := range classWords {
		if provider, ok := strings.CutSuffix(name, "_"+string(class)); ok {
			return provider, class
		}
	}
	return name, ""
}

package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"claudemem/internal/memory"
)

// lastSession is the name for the newest session.
const lastSession = "last"

// maxSessionName bounds what is looked for, in bytes: hosts' names have 36, and
// what is longer is no name of anything.
const maxSessionName = 512

// SessionNamed finds a session by what people call it: its number (12, S12), the host's
// name for it or the beginning of that, its ULID, or "last", the newest conversation of
// the project (root or label; "" for all). The other names are looked for in all
// projects. CodeNotFound when there is none, CodeInvalid when there are several or the
// name is empty or too long.
func (s *Store) SessionNamed(ctx context.Context, name, project string) (memory.Session, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return memory.Session{}, memory.Errorf(memory.CodeInvalid, "no session is named").WithHint(sessionNames)
	case len(name) > maxSessionName:
		return memory.Session{}, memory.Errorf(memory.CodeInvalid, "the name of a session has at most %d bytes", maxSessionName).WithHint(sessionNames)
	case strings.EqualFold(name, lastSession):
		recent, err := s.RecentSessions(ctx, project, 1)
		if err != nil {
			return memory.Session{}, err
		}
		if len(recent) == 0 {
			return memory.Session{}, memory.Errorf(memory.CodeNotFound, "there is no session yet").
				WithHint("`claude-mem sessions --all` lists those of all projects")
		}
		return recent[0].Session, nil
	}
	found, err := inSnapshot(ctx, s, "find session", func(q querier) ([]memory.SessionID, error) { return sessionsNamed(ctx, q, name) })
	if err != nil {
		return memory.Session{}, err
	}
	switch len(found) {
	case 0:
		return memory.Session{}, memory.Errorf(memory.CodeNotFound, "there is no session %.40q", name).
			WithHint("`claude-mem sessions --all` lists them; one in an excluded project is not recorded")
	case 1:
		return s.Session(ctx, found[0])
	}
	var names []string
	for _, id := range found[:min(len(found), namedShown)] {
		names = append(names, fmt.Sprintf("S%d", id))
	}
	if len(found) > namedShown {
		names = append(names, "…")
	}
	return memory.Session{}, memory.Errorf(memory.CodeInvalid, "%.40q names several sessions", name).
		WithHint("they are " + strings.Join(names, ", ") + ": add characters, or take the number")
}

const (
	sessionNames = "a session is 12, S12, the host's name for it or the beginning of that, its ULID, or last"
	// namedShown bounds the sessions listed for an ambiguous name.
	namedShown = 5
)

// sessionsNamed tries the ways to name a session, the exact ones first; more than
// namedShown+1 are not looked for.
func sessionsNamed(ctx context.Context, q querier, name string) ([]memory.SessionID, error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(name, "S"), "s")
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > 0 {
		if found, err := sessionIDs(ctx, q, "id = ?", n); err != nil || len(found) > 0 {
			return found, err
		}
	}
	for _, way := range []struct{ condition, value string }{
		{"ulid = ?", strings.ToUpper(name)},
		{"host_session_id = ?", name},
		// Whatever characters it has, none of them means anything but itself.
		{"instr(host_session_id, ?) = 1", name},
	} {
		if found, err := sessionIDs(ctx, q, way.condition, way.value); err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, nil
}

func sessionIDs(ctx context.Context, q querier, condition string, value any) ([]memory.SessionID, error) {
	return column[memory.SessionID](ctx, q, "SELECT id FROM sessions WHERE "+condition+" ORDER BY id DESC LIMIT ?", value, namedShown+1)
}

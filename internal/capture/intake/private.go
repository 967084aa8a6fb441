package intake

import (
	"sync"

	"claudemem/internal/memory"
)

const (
	// maxPrivateSessions bounds how many sessions are remembered; the oldest is
	// forgotten first. Only clients without our hook, and hooks that cannot write
	// marks, need it at all.
	maxPrivateSessions = 4096
	// maxPrivatePrompts bounds the private prompts remembered of one session.
	maxPrivatePrompts = 256
)

// privateTurns remembers for each session whether its current turn is private and which
// earlier prompts were, for events that arrive late.
type privateTurns struct {
	mu       sync.Mutex
	sessions map[string]*privateSession
	order    []string // keys, the oldest first
}

type privateSession struct {
	now     bool            // the current turn is private
	current string          // its prompt id, "" where the host has none
	prompts map[string]bool // prompt ids of private turns
}

func newPrivateTurns() *privateTurns {
	return &privateTurns{sessions: make(map[string]*privateSession)}
}

func sessionOf(e *memory.Event) string {
	return string(e.Host) + "\x00" + e.HostSessionID
}

// begin records that the prompt e begins a turn, and whether the turn is private. The ids of private
// prompts stay, for events that arrive after the next prompt.
func (p *privateTurns) begin(e *memory.Event, private bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := sessionOf(e)
	s := p.sessions[key]
	if s == nil {
		if len(p.order) >= maxPrivateSessions {
			delete(p.sessions, p.order[0])
			p.order = p.order[1:]
		}
		s = &privateSession{prompts: make(map[string]bool)}
		p.sessions[key] = s
		p.order = append(p.order, key)
	}
	s.now = private
	if !private {
		return
	}
	s.current = e.PromptID
	if e.PromptID != "" && len(s.prompts) < maxPrivatePrompts {
		s.prompts[e.PromptID] = true
	}
}

// covers reports whether e belongs to a private turn: by prompt ids where the
// host has them, else because the session's turn is private now. An Unmarked event
// of a session whose prompt is not known belongs to one.
func (p *privateTurns) covers(e *memory.Event) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sessions[sessionOf(e)]
	if s == nil {
		return e.Unmarked // its prompt has not arrived
	}
	if e.PromptID != "" && s.prompts[e.PromptID] {
		return true
	}
	return s.now && (e.PromptID == "" || s.current == "") // with two ids it is of another turn
}

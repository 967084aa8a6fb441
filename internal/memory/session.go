package memory

import (
	"cmp"
	"strings"
)

// SessionID is the short number of a session in this database ("S12" to people).
type SessionID int64

// Name returns the number as people read and type it, "S12"; "" for none.
func (id SessionID) Name() string { return RecordRef{RecordSession, int64(id)}.Name() }

// ULID names a record on every machine.
type ULID string

// SessionName is what a session is called by its host.
type SessionName struct {
	Host Host
	ID   string
}

// SessionStatus is where a session is in its life.
type SessionStatus string

// The states of a session; a later event makes any of them active again.
const (
	SessionActive      SessionStatus = "active"
	SessionCompleted   SessionStatus = "completed"
	SessionInterrupted SessionStatus = "interrupted"
	SessionFailed      SessionStatus = "failed"
)

// Session is one conversation of the user with a host in one project.
type Session struct {
	ID            SessionID
	ULID          ULID
	Host          Host
	HostSessionID string
	// MemorySessionID names the observer's own conversation about this session.
	MemorySessionID string
	// ProjectPath is the project's root; Label its base name.
	ProjectPath string
	Label       string
	Status      SessionStatus
	Title       string
	// PromptCount is the number of the latest prompt, 0 before the first.
	PromptCount int
	StartedAt   Millis
	UpdatedAt   Millis
	CompletedAt Millis // 0 while it is not completed
}

// Prompt is what the user typed, numbered from 1 within its session.
type Prompt struct {
	ID         int64
	ULID       ULID
	Session    SessionID
	Number     int
	PromptID   string
	Text       string
	Branch     string
	HeadCommit string
	CreatedAt  Millis
	// Damaged says that the text was changed on the disk: Text is Withheld.
	Damaged bool
}

// ProjectLabel returns the short name of a project: the base name of its root, with the
// separators of any system, or the name of a project whose root is not known
// ("label:shop"). A root directory ("/") is its own label; only "" has none.
func ProjectLabel(projectPath string) string {
	if name, ok := strings.CutPrefix(projectPath, "label:"); ok {
		return name
	}
	trimmed := strings.TrimRight(projectPath, `/\`)
	return cmp.Or(trimmed[strings.LastIndexAny(trimmed, `/\`)+1:], projectPath)
}

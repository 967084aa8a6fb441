package memory

import (
	"slices"
	"strings"
)

// Learning is a standing statement about a project.
type Learning struct {
	ID          int64  `json:"id"`
	ULID        ULID   `json:"ulid"`
	ProjectPath string `json:"project_path"`
	// Category is one of LearningCategories.
	Category string `json:"category"`
	Content  string `json:"content"`
	// Confidence is between 0 and 1; 1 for a learning from a person.
	Confidence float64 `json:"confidence"`
	TimesSeen  int     `json:"times_seen"`
	// Provenance says what it was drawn from, "" if unknown; it is never foreign.
	Provenance Provenance `json:"provenance"`
	Active     bool       `json:"active"`
	// Origin is OriginImport for one of another memory, the provenance of a member's for one of a team, else "". Waiting says that it was in use
	// there, and is not here until a person approves it: makes it active.
	Origin  Origin `json:"origin,omitempty"`
	Waiting bool   `json:"waiting,omitempty"`
	// SupersededBy is the learning that took its place, 0 for none. One that is
	// neither active nor superseded was retired by a person.
	SupersededBy int64  `json:"superseded_by,omitempty"`
	CreatedAt    Millis `json:"created_at_epoch"`
	UpdatedAt    Millis `json:"updated_at_epoch"`
	// Damaged says that the content was changed on the disk: Content is Withheld.
	Damaged bool `json:"damaged,omitempty"`
}

// AgentConfidence is the most confidence with which a learning begins that only the agent
// has said. By default it is in no context block (CLAUDE_MEM_CONTEXT_MIN_CONFIDENCE is 0.5)
// before a third session has said it.
const AgentConfidence = 0.3

// MaxLearning is the longest content of a learning that a person may write, in
// bytes: each is paid for at every session start.
const MaxLearning = 1000

// LearningCategories returns the categories of learnings.
func LearningCategories() []string {
	return []string{"architecture", "convention", "gotcha", "dependency", "workflow", "preference"}
}

// CheckLearning returns a CodeInvalid error that says why these cannot be a learning's, nil if
// they can. A caller that removes private parts or secrets from the content checks what was
// typed; that something is left of it is checked by the store.
func CheckLearning(category, content string, confidence float64) error {
	switch {
	case !slices.Contains(LearningCategories(), category):
		return Errorf(CodeInvalid, "there is no category %.40q", category).
			WithHint("the categories are " + strings.Join(LearningCategories(), ", "))
	case strings.TrimSpace(content) == "":
		return Errorf(CodeInvalid, "the learning says nothing").WithHint("what is within <private> tags is not kept")
	case len(content) > MaxLearning:
		return Errorf(CodeInvalid, "the learning has %d bytes; at most %d are allowed", len(content), MaxLearning).
			WithHint("it is shown at every session start: say it in a sentence")
	case !(confidence >= 0 && confidence <= 1):
		return Errorf(CodeInvalid, "confidence %v is not between 0 and 1", confidence).WithHint("1 is certain")
	}
	return nil
}

// LearningQuery is a strict filter over learnings; zero fields do not filter.
type LearningQuery struct {
	// Project is a project's root path or, as people type it, its label.
	Project  string
	Category string
	// Retired lists those too that are not active.
	Retired bool
	Limit   int
	Offset  int
}

// LearningEdit is what shall change of a learning; nil leaves it as it is.
type LearningEdit struct {
	Category   *string  `json:"category,omitempty"`
	Content    *string  `json:"content,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	// Active false retires it for good: an observer does not bring it back.
	Active *bool `json:"active,omitempty"`
}

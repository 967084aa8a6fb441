package memory_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

func TestEstimateTokens(t *testing.T) {
	tests := []struct {
		text string
		want int
	}{
		{"", 0},
		{"a", 1},
		{"abc", 1},
		{"abcd", 2}, // 4 / 3.5 rounded up
		{strings.Repeat("x", 7), 2},
		{strings.Repeat("x", 8), 3},
		{strings.Repeat("é", 7), 2}, // code points, not bytes
		{strings.Repeat("x", 3500), 1000},
		{strings.Repeat("語", 7), 6},
		{strings.Repeat("한", 7), 7},
		{strings.Repeat("ж", 7), 4},
		{"\xff\xfe\xfd", 1}, // no characters
	}
	for _, tt := range tests {
		if got := memory.EstimateTokens(tt.text); got != tt.want {
			t.Errorf("EstimateTokens(%d runes) = %d, want %d", len([]rune(tt.text)), got, tt.want)
		}
	}
}

func TestMadeAt(t *testing.T) {
	const modified, read = memory.FileModified, memory.FileRead
	event := func(branch, head string, files ...memory.FileRef) memory.PendingEvent {
		return memory.PendingEvent{Event: memory.Event{Branch: branch, HeadCommit: head}, Files: files}
	}
	a, b := memory.FileRef{Path: "a.go", Role: modified}, memory.FileRef{Path: "b.go", Role: modified}
	aRead := memory.FileRef{Path: "a.go", Role: read}
	tests := []struct {
		name   string
		events []memory.PendingEvent
		files  []memory.FileRef
		want   string
	}{
		{"nothing happened", nil, []memory.FileRef{a}, " "},
		{"one place", []memory.PendingEvent{event("main", "1", a), event("main", "1")}, []memory.FileRef{a}, "main 1"},
		{"committed afterwards", []memory.PendingEvent{event("main", "1", a), event("main", "2")}, []memory.FileRef{a}, "main 2"},
		{"and back to main", []memory.PendingEvent{event("topic", "1", a), event("topic", "2"), event("main", "1")}, []memory.FileRef{a}, "topic 2"},
		{"there and back", []memory.PendingEvent{event("main", "1", b), event("topic", "1", a), event("topic", "2"), event("main", "1")}, []memory.FileRef{b, a}, "topic 2"},
		{"of another file", []memory.PendingEvent{event("topic", "1", a), event("main", "2", b), event("main", "3", aRead)}, []memory.FileRef{a}, "topic 1"},
		{"no file changed", []memory.PendingEvent{event("topic", "1", aRead), event("main", "2")}, []memory.FileRef{aRead}, "main 2"},
		{"no files at all", []memory.PendingEvent{event("topic", "1", a), event("main", "2")}, nil, "main 2"},
		{"detached", []memory.PendingEvent{event("", "1", a), event("", "2")}, []memory.FileRef{a}, " 2"},
		{"the change tells nothing", []memory.PendingEvent{event("", "", a), event("main", "2")}, []memory.FileRef{a}, "main 2"},
	}
	for _, tt := range tests {
		branch, head := memory.MadeAt(tt.events, tt.files)
		if got := branch + " " + head; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestDeliveryIDsSortByTime(t *testing.T) {
	base := time.Unix(1700000000, 0)
	var ids []string
	for i := range 50 {
		ids = append(ids, memory.NewDeliveryID(base.Add(time.Duration(i)*time.Microsecond), [8]byte{byte(255 - i)}))
	}
	if !slices.IsSorted(ids) {
		t.Error("ids made one after the other are not in order")
	}
	a := memory.NewDeliveryID(base, [8]byte{1})
	b := memory.NewDeliveryID(base, [8]byte{2})
	if a == b {
		t.Error("two ids of one nanosecond are equal")
	}
	if len(a) != 32 {
		t.Errorf("id has %d digits, want 32", len(a))
	}
}

func TestEventOrder(t *testing.T) {
	early := &memory.Event{OccurredAt: 1, DeliveryID: "b"}
	late := &memory.Event{OccurredAt: 2, DeliveryID: "a"}
	tie := &memory.Event{OccurredAt: 1, DeliveryID: "c"}
	if !early.Before(late) || late.Before(early) {
		t.Error("the earlier event is not first")
	}
	if !early.Before(tie) || tie.Before(early) {
		t.Error("the delivery id does not break the tie")
	}
}

func TestEventValidate(t *testing.T) {
	tests := []struct {
		name  string
		event memory.Event
		ok    bool
	}{
		{"tool", memory.Event{Kind: memory.KindTool, HostSessionID: "s", ToolName: "Bash"}, true},
		{"tool without a name", memory.Event{Kind: memory.KindTool, HostSessionID: "s"}, false},
		{"no session", memory.Event{Kind: memory.KindPrompt, HostSessionID: " "}, false},
		{"unknown kind", memory.Event{Kind: "party", HostSessionID: "s"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.event.Validate()
			if (err == nil) != tt.ok {
				t.Fatalf("Validate() = %v, want ok %v", err, tt.ok)
			}
			if err != nil && memory.CodeOf(err) != memory.CodeInvalid {
				t.Errorf("code = %q, want %q", memory.CodeOf(err), memory.CodeInvalid)
			}
		})
	}
}

func TestErrorKeepsCauseAndCode(t *testing.T) {
	cause := errors.New("no space left")
	err := fmt.Errorf("enqueue event: %w", memory.Errorf(memory.CodeStorage, "write memory.db: %w", cause).WithHint("free some disk"))
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if got := memory.CodeOf(err); got != memory.CodeStorage {
		t.Errorf("CodeOf = %q, want %q", got, memory.CodeStorage)
	}
	if got := memory.CodeOf(cause); got != memory.CodeInternal {
		t.Errorf("CodeOf(plain) = %q, want %q", got, memory.CodeInternal)
	}
}

func TestBooksBalance(t *testing.T) {
	b := memory.Books{Received: 6, Processed: 2, Skipped: 1, Failed: 1, Pending: 1, Processing: 1, Duplicates: 9}
	if !b.Balanced() {
		t.Error("balanced books are called unbalanced")
	}
	b.Processed--
	if b.Balanced() {
		t.Error("a missing event goes unnoticed")
	}
}

func TestGlyphsAreInTheBasicMultilingualPlane(t *testing.T) {
	seen := map[string]bool{}
	for _, typ := range []memory.ObservationType{
		memory.TypeBugfix, memory.TypeFeature, memory.TypeRefactor,
		memory.TypeChange, memory.TypeDiscovery, memory.TypeDecision,
	} {
		g := typ.Glyph()
		if r := []rune(g); len(r) != 1 || r[0] > 0xFFFF {
			t.Errorf("glyph of %s is %q", typ, g)
		}
		if seen[g] {
			t.Errorf("glyph %q stands for two types", g)
		}
		seen[g] = true
	}
}

func TestMoment(t *testing.T) {
	for name, tt := range map[string]struct {
		event memory.Event
		want  memory.Moment
	}{
		"prompt":                     {memory.Event{Kind: memory.KindPrompt, Prompt: "why"}, memory.MomentPrompt},
		"prompt of a subagent":       {memory.Event{Kind: memory.KindPrompt, AgentID: "a1"}, memory.MomentNone},
		"read":                       {memory.Event{Kind: memory.KindTool, ToolName: "Read"}, memory.MomentFile},
		"read that failed":           {memory.Event{Kind: memory.KindTool, ToolName: "Read", ToolError: "no such file"}, memory.MomentFailure},
		"read by a subagent":         {memory.Event{Kind: memory.KindTool, ToolName: "Read", AgentID: "a1"}, memory.MomentNone},
		"other tool":                 {memory.Event{Kind: memory.KindTool, ToolName: "Bash"}, memory.MomentNone},
		"edit":                       {memory.Event{Kind: memory.KindTool, ToolName: "Edit"}, memory.MomentNone},
		"other tool that failed":     {memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolError: "exit 1"}, memory.MomentFailure},
		"failure of a subagent":      {memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolError: "exit 1", AgentID: "a1"}, memory.MomentNone},
		"stopped by the user":        {memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolError: "interrupted", Interrupted: true}, memory.MomentNone},
		"end of a turn":              {memory.Event{Kind: memory.KindStop}, memory.MomentNone},
		"session start":              {memory.Event{Kind: memory.KindSessionStart}, memory.MomentNone},
		"session end":                {memory.Event{Kind: memory.KindSessionEnd}, memory.MomentNone},
		"error of what is no tool's": {memory.Event{Kind: memory.KindStop, ToolError: "x"}, memory.MomentNone},
	} {
		if got := tt.event.Moment(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestProjectLabel(t *testing.T) {
	for path, want := range map[string]string{"/home/ada/tally": "tally", "/home/ada/tally/": "tally", `C:\w\tally`: "tally", "label:tally": "tally", "/": "/", "": "", "tally": "tally"} {
		if got := memory.ProjectLabel(path); got != want {
			t.Errorf("ProjectLabel(%q) = %q, want %q", path, got, want)
		}
	}
}

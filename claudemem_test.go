package claudemem_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem"
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
		if got := claudemem.EstimateTokens(tt.text); got != tt.want {
			t.Errorf("EstimateTokens(%d runes) = %d, want %d", len([]rune(tt.text)), got, tt.want)
		}
	}
}

func TestMadeAt(t *testing.T) {
	const modified, read = claudemem.FileModified, claudemem.FileRead
	event := func(branch, head string, files ...claudemem.FileRef) claudemem.PendingEvent {
		return claudemem.PendingEvent{Event: claudemem.Event{Branch: branch, HeadCommit: head}, Files: files}
	}
	a, b := claudemem.FileRef{Path: "a.go", Role: modified}, claudemem.FileRef{Path: "b.go", Role: modified}
	aRead := claudemem.FileRef{Path: "a.go", Role: read}
	tests := []struct {
		name   string
		events []claudemem.PendingEvent
		files  []claudemem.FileRef
		want   string
	}{
		{"nothing happened", nil, []claudemem.FileRef{a}, " "},
		{"one place", []claudemem.PendingEvent{event("main", "1", a), event("main", "1")}, []claudemem.FileRef{a}, "main 1"},
		{"committed afterwards", []claudemem.PendingEvent{event("main", "1", a), event("main", "2")}, []claudemem.FileRef{a}, "main 2"},
		{"and back to main", []claudemem.PendingEvent{event("topic", "1", a), event("topic", "2"), event("main", "1")}, []claudemem.FileRef{a}, "topic 2"},
		{"there and back", []claudemem.PendingEvent{event("main", "1", b), event("topic", "1", a), event("topic", "2"), event("main", "1")}, []claudemem.FileRef{b, a}, "topic 2"},
		{"of another file", []claudemem.PendingEvent{event("topic", "1", a), event("main", "2", b), event("main", "3", aRead)}, []claudemem.FileRef{a}, "topic 1"},
		{"no file changed", []claudemem.PendingEvent{event("topic", "1", aRead), event("main", "2")}, []claudemem.FileRef{aRead}, "main 2"},
		{"no files at all", []claudemem.PendingEvent{event("topic", "1", a), event("main", "2")}, nil, "main 2"},
		{"detached", []claudemem.PendingEvent{event("", "1", a), event("", "2")}, []claudemem.FileRef{a}, " 2"},
		{"the change tells nothing", []claudemem.PendingEvent{event("", "", a), event("main", "2")}, []claudemem.FileRef{a}, "main 2"},
	}
	for _, tt := range tests {
		branch, head := claudemem.MadeAt(tt.events, tt.files)
		if got := branch + " " + head; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestDeliveryIDsSortByTime(t *testing.T) {
	base := time.Unix(1700000000, 0)
	var ids []string
	for i := range 50 {
		ids = append(ids, claudemem.NewDeliveryID(base.Add(time.Duration(i)*time.Microsecond), [8]byte{byte(255 - i)}))
	}
	if !slices.IsSorted(ids) {
		t.Error("ids made one after the other are not in order")
	}
	a := claudemem.NewDeliveryID(base, [8]byte{1})
	b := claudemem.NewDeliveryID(base, [8]byte{2})
	if a == b {
		t.Error("two ids of one nanosecond are equal")
	}
	if len(a) != 32 {
		t.Errorf("id has %d digits, want 32", len(a))
	}
}

func TestEventOrder(t *testing.T) {
	early := &claudemem.Event{OccurredAt: 1, DeliveryID: "b"}
	late := &claudemem.Event{OccurredAt: 2, DeliveryID: "a"}
	tie := &claudemem.Event{OccurredAt: 1, DeliveryID: "c"}
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
		event claudemem.Event
		ok    bool
	}{
		{"tool", claudemem.Event{Kind: claudemem.KindTool, HostSessionID: "s", ToolName: "Bash"}, true},
		{"tool without a name", claudemem.Event{Kind: claudemem.KindTool, HostSessionID: "s"}, false},
		{"no session", claudemem.Event{Kind: claudemem.KindPrompt, HostSessionID: " "}, false},
		{"unknown kind", claudemem.Event{Kind: "party", HostSessionID: "s"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.event.Validate()
			if (err == nil) != tt.ok {
				t.Fatalf("Validate() = %v, want ok %v", err, tt.ok)
			}
			if err != nil && claudemem.CodeOf(err) != claudemem.CodeInvalid {
				t.Errorf("code = %q, want %q", claudemem.CodeOf(err), claudemem.CodeInvalid)
			}
		})
	}
}

func TestErrorKeepsCauseAndCode(t *testing.T) {
	cause := errors.New("no space left")
	err := fmt.Errorf("enqueue event: %w", claudemem.Errorf(claudemem.CodeStorage, "write memory.db: %w", cause).WithHint("free some disk"))
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if got := claudemem.CodeOf(err); got != claudemem.CodeStorage {
		t.Errorf("CodeOf = %q, want %q", got, claudemem.CodeStorage)
	}
	if got := claudemem.CodeOf(cause); got != claudemem.CodeInternal {
		t.Errorf("CodeOf(plain) = %q, want %q", got, claudemem.CodeInternal)
	}
}

func TestBooksBalance(t *testing.T) {
	b := claudemem.Books{Received: 6, Processed: 2, Skipped: 1, Failed: 1, Pending: 1, Processing: 1, Duplicates: 9}
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
	for _, typ := range []claudemem.ObservationType{
		claudemem.TypeBugfix, claudemem.TypeFeature, claudemem.TypeRefactor,
		claudemem.TypeChange, claudemem.TypeDiscovery, claudemem.TypeDecision,
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
		event claudemem.Event
		want  claudemem.Moment
	}{
		"prompt":                     {claudemem.Event{Kind: claudemem.KindPrompt, Prompt: "why"}, claudemem.MomentPrompt},
		"prompt of a subagent":       {claudemem.Event{Kind: claudemem.KindPrompt, AgentID: "a1"}, claudemem.MomentNone},
		"read":                       {claudemem.Event{Kind: claudemem.KindTool, ToolName: "Read"}, claudemem.MomentFile},
		"read that failed":           {claudemem.Event{Kind: claudemem.KindTool, ToolName: "Read", ToolError: "no such file"}, claudemem.MomentFailure},
		"read by a subagent":         {claudemem.Event{Kind: claudemem.KindTool, ToolName: "Read", AgentID: "a1"}, claudemem.MomentNone},
		"other tool":                 {claudemem.Event{Kind: claudemem.KindTool, ToolName: "Bash"}, claudemem.MomentNone},
		"edit":                       {claudemem.Event{Kind: claudemem.KindTool, ToolName: "Edit"}, claudemem.MomentNone},
		"other tool that failed":     {claudemem.Event{Kind: claudemem.KindTool, ToolName: "Bash", ToolError: "exit 1"}, claudemem.MomentFailure},
		"failure of a subagent":      {claudemem.Event{Kind: claudemem.KindTool, ToolName: "Bash", ToolError: "exit 1", AgentID: "a1"}, claudemem.MomentNone},
		"stopped by the user":        {claudemem.Event{Kind: claudemem.KindTool, ToolName: "Bash", ToolError: "interrupted", Interrupted: true}, claudemem.MomentNone},
		"end of a turn":              {claudemem.Event{Kind: claudemem.KindStop}, claudemem.MomentNone},
		"session start":              {claudemem.Event{Kind: claudemem.KindSessionStart}, claudemem.MomentNone},
		"session end":                {claudemem.Event{Kind: claudemem.KindSessionEnd}, claudemem.MomentNone},
		"error of what is no tool's": {claudemem.Event{Kind: claudemem.KindStop, ToolError: "x"}, claudemem.MomentNone},
	} {
		if got := tt.event.Moment(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestProjectLabel(t *testing.T) {
	for path, want := range map[string]string{"/home/ada/tally": "tally", "/home/ada/tally/": "tally", `C:\w\tally`: "tally", "label:tally": "tally", "/": "/", "": "", "tally": "tally"} {
		if got := claudemem.ProjectLabel(path); got != want {
			t.Errorf("claudemem.ProjectLabel(%q) = %q, want %q", path, got, want)
		}
	}
}

package api

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// The limits of an observation that somebody writes: far above usual sizes, and small
// enough for searches.
const (
	maxFacts    = 200
	maxConcepts = 50
	maxPaths    = 1000
	maxType     = 40 // bytes
)

// addObservation answers Memory.AddObservation.
func (l *Local) addObservation(ctx context.Context, n NewObservation) (Observation, error) {
	checked, err := n.checked()
	if err != nil {
		return Observation{}, err
	}
	o, err := l.Keeper.AddObservation(ctx, checked)
	return ObservationOf(&o, true), err
}

// checked checks a new observation and returns it with defaults for missing fields: the first
// sentence of the text as title, type discovery, origin agent. Files whose role is not said count
// as modified. CodeInvalid for one without text, without both project and session, with too long
// lists, or with a wrong type, origin, session or time.
func (b *NewObservation) checked() (memory.NewObservation, error) {
	n := memory.NewObservation{
		ProjectPath: cmp.Or(b.ProjectPath, b.Project), Type: memory.ObservationType(strings.ToLower(strings.TrimSpace(b.Type))),
		Title: strings.TrimSpace(b.Title), Subtitle: b.Subtitle, Narrative: cmp.Or(b.Narrative, b.Text),
		Facts: b.Facts, Concepts: b.Concepts, Origin: cmp.Or(b.Origin, memory.OriginAgent),
	}
	if n.Title == "" && strings.TrimSpace(n.Narrative) == "" {
		return n, memory.Errorf(memory.CodeInvalid, "nothing to remember: no text was given").WithHint("give a text: claude-mem remember 'We keep UTC everywhere'; programs send narrative or title")
	}
	n.Title = cmp.Or(n.Title, firstSentence(n.Narrative))
	if n.Origin != memory.OriginUser && n.Origin != memory.OriginAgent {
		return n, memory.Errorf(memory.CodeInvalid, "origin is %.40q", string(n.Origin)).WithHint("origin is agent (default) or user")
	}
	n.Type = cmp.Or(n.Type, memory.TypeDiscovery)
	if err := checkType(n.Type); err != nil {
		return n, err
	}
	for _, list := range []struct {
		name         string
		length, most int
	}{{"facts", len(b.Facts), maxFacts}, {"concepts", len(b.Concepts), maxConcepts}, {"files", len(b.Files) + len(b.FilesRead) + len(b.FilesModified), maxPaths}} {
		if list.length > list.most {
			return n, memory.Errorf(memory.CodeInvalid, "%d %s", list.length, list.name).WithHint("at most " + strconv.Itoa(list.most) + "; write several memories")
		}
	}
	for _, list := range []struct {
		paths []string
		role  memory.FileRole
	}{{b.FilesModified, memory.FileModified}, {b.FilesRead, memory.FileRead}, {b.Files, memory.FileModified}} {
		paths := collect.Keep(collect.Map(list.paths, strings.TrimSpace), func(path string) bool { return path != "" })
		n.Files = append(n.Files, collect.Map(paths, func(path string) memory.FileRef { return memory.FileRef{Path: path, Role: list.role} })...)
	}
	session, err := scalar(b.SessionID)
	if err != nil {
		return n, memory.Errorf(memory.CodeInvalid, "session_id is not a number").WithHint("session_id is a session's number, as 12 or S12")
	}
	if n.Session, err = SessionNumber(session); err != nil {
		return n, err
	}
	if n.ProjectPath == "" && n.Session == 0 {
		return n, memory.Errorf(memory.CodeInvalid, "no project").WithHint("send the project's root directory or its label as project, or session_id")
	}
	at, err := scalar(b.CreatedAt)
	ok := err == nil
	if ok && at != "" {
		n.CreatedAt, ok = parseTime(at, false)
	}
	if !ok {
		return n, memory.Errorf(memory.CodeInvalid, "created_at is %.40q", at).WithHint("created_at " + timeForms)
	}
	return n, nil
}

// checkType returns CodeInvalid for a text that cannot be a type: empty, over maxType bytes,
// with a comma or white space. Modes have their own types, so there is no list.
func checkType(t memory.ObservationType) error {
	if t == "" || len(t) > maxType || strings.ContainsFunc(string(t), func(r rune) bool { return r == ',' || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return memory.Errorf(memory.CodeInvalid, "type is %.40q", string(t)).WithHint("type is bugfix, feature, refactor, change, discovery, decision or another word of the mode")
	}
	return nil
}

// minSentence: shorter "sentences" ("e.g.", "v1.") do not end a title; in bytes.
const minSentence = 20

// firstSentence returns the first sentence of a text's first line, truncated at a word. A
// trailer of a commit message (Reviewed-on: …) is passed over when other lines follow.
func firstSentence(s string) string {
	line, title := text.Line(firstLine(s)), ""
	for _, sentence := range text.Sentences(line, nil) {
		if title = strings.TrimSpace(title + " " + sentence); len(title) >= minSentence || !strings.HasSuffix(sentence, ".") {
			break
		}
	}
	if title != line {
		title = text.Unstopped(title)
	}
	return truncateAtWord(title, maxTitle)
}

// firstLine returns the first line of a text that is not empty and no trailer; otherwise the
// first.
func firstLine(s string) string {
	first := ""
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !text.IsTrailer(line) {
			return line
		}
		first = cmp.Or(first, line)
	}
	return first
}

// editObservation answers Memory.EditObservation.
func (l *Local) editObservation(ctx context.Context, r ObservationEdit) (Observation, error) {
	edit := r.ObservationEdit
	if edit == (memory.ObservationEdit{}) {
		return Observation{}, memory.Errorf(memory.CodeInvalid, "nothing is to be changed").WithHint("send title, narrative, facts, type or pinned")
	}
	if edit.Title != nil && strings.TrimSpace(*edit.Title) == "" {
		return Observation{}, memory.Errorf(memory.CodeInvalid, "the title is empty").WithHint("leave title out to keep it")
	}
	if edit.Facts != nil && len(*edit.Facts) > maxFacts {
		return Observation{}, memory.Errorf(memory.CodeInvalid, "%d facts", len(*edit.Facts)).WithHint("at most " + strconv.Itoa(maxFacts) + "; write several memories")
	}
	if edit.Type != nil {
		lower := memory.ObservationType(strings.ToLower(strings.TrimSpace(string(*edit.Type))))
		if err := checkType(lower); err != nil {
			return Observation{}, err
		}
		edit.Type = &lower
	}
	o, err := l.Keeper.EditObservation(ctx, r.ID, edit)
	return ObservationOf(&o, true), err
}

// hideObservation answers Memory.HideObservation: CodeNotFound for one that is not there or hidden
// already.
func (l *Local) hideObservation(ctx context.Context, r HideRequest) (Hidden, error) {
	purged, err := l.Keeper.HideObservation(ctx, r.ID, r.Purge)
	return Hidden{ID: r.ID, Hidden: true, PurgedAtEpoch: purged,
		Restore: fmt.Sprintf("POST /api/observations/%d/restore", r.ID)}, err
}

// restoreObservation answers Memory.RestoreObservation.
func (l *Local) restoreObservation(ctx context.Context, r RestoreRequest) (Observation, error) {
	o, err := l.Keeper.RestoreObservation(ctx, r.ID)
	return ObservationOf(&o, true), err
}

// addLearning answers Memory.AddLearning. Without a confidence it is sure (1); what is not said to be
// the user's is the agent's, whose confidence the store bounds.
func (l *Local) addLearning(ctx context.Context, n NewLearning) (Learning, error) {
	learning := memory.Learning{ProjectPath: cmp.Or(n.ProjectPath, n.Project), Category: n.Category, Content: n.Content, Confidence: 1}
	if n.Confidence != nil {
		learning.Confidence = *n.Confidence
	}
	if n.Origin != memory.OriginUser {
		learning.Provenance = memory.FromAgent
	}
	if learning.ProjectPath == "" {
		return Learning{}, memory.Errorf(memory.CodeInvalid, "no project_path").WithHint("send the project's root directory as project_path")
	}
	learning, err := l.Keeper.AddLearning(ctx, learning)
	return LearningOf(&learning), err
}

// editLearning answers Memory.EditLearning.
func (l *Local) editLearning(ctx context.Context, r LearningEdit) (Learning, error) {
	if r.LearningEdit == (memory.LearningEdit{}) {
		return Learning{}, memory.Errorf(memory.CodeInvalid, "nothing is to be changed").
			WithHint("send category, content, confidence or active")
	}
	learning, err := l.Keeper.EditLearning(ctx, r.ID, r.LearningEdit)
	return LearningOf(&learning), err
}

// retryQueue answers Memory.RetryQueue. Without keys (nil) it retries all dead letters, and has the
// turns that no model has read shown to one.
func (l *Local) retryQueue(ctx context.Context, r RetryRequest) (Revived, error) {
	if r.Keys != nil && len(r.Keys) == 0 {
		return Revived{}, nil // an empty list names none; to the queue it would mean all
	}
	n, err := l.Keeper.Revive(ctx, r.Keys...)
	if err != nil || r.Keys != nil {
		return Revived{Revived: n}, err
	}
	unread, err := l.Keeper.RetryUnread(ctx)
	return Revived{n, unread}, err
}

// noteLookups answers Memory.NoteLookups. A session whose host is not named is that of the host raw.
func (l *Local) noteLookups(ctx context.Context, n LookupNote) (Status, error) {
	if err := n.Check(); err != nil {
		return Status{}, err
	}
	host := n.Host.Canonical()
	if n.HostSessionID != "" {
		host = cmp.Or(host, memory.HostRaw)
	}
	return Status{"noted"}, l.Keeper.RecordLookup(ctx, host, n.HostSessionID, n.Observations...)
}

// Check returns CodeInvalid for a note without observations, with more than MaxBatch, or
// with a number below 1.
func (n *LookupNote) Check() error {
	if len(n.Observations) == 0 || len(n.Observations) > MaxBatch {
		return memory.Errorf(memory.CodeInvalid, "%d observations", len(n.Observations)).
			WithHint("send observations, an array of 1 to " + strconv.Itoa(MaxBatch) + " numbers")
	}
	for _, id := range n.Observations {
		if id < 1 {
			return memory.Errorf(memory.CodeInvalid, "there is no observation %d", id).WithHint("numbers start at 1")
		}
	}
	return nil
}

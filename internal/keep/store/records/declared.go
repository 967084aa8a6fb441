package records

import (
	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// The kinds of records that have hashes besides those of memory.RecordKind.
const (
	HashedLearning memory.RecordKind = "learning"
	HashedSession  memory.RecordKind = "session"
)

// The kinds of records. Every statement that names all columns of one is made of its
// declaration: INSERT, SELECT, the UPDATE of Redo, the portable form, the hashes and what
// Retain keeps. The order of columns with the same flag is part of the stored hashes, and of the lists in
// hidden_records.
var (
	SessionRecord = newRecord("session", "sessions", HashedSession, "s", declareSession,
		func(p *memory.PortableSession) memory.Portable { return memory.Portable{Session: p} })
	PromptRecord = newRecord("prompt", "prompts", memory.RecordPrompt, "r", declarePrompt,
		func(p *memory.PortablePrompt) memory.Portable { return memory.Portable{Prompt: p} })
	ObservationRecord = newRecord("observation", "observations", memory.RecordObservation, "r", declareObservation,
		func(p *memory.PortableObservation) memory.Portable { return memory.Portable{Observation: p} })
	SummaryRecord = newRecord("summary", "session_summaries", memory.RecordSummary, "r", declareSummary,
		func(p *memory.PortableSummary) memory.Portable { return memory.Portable{Summary: p} })
	LearningRecord = newRecord("learning", "learnings", HashedLearning, "r", declareLearning,
		func(p *memory.PortableLearning) memory.Portable { return memory.Portable{Learning: p} })
	SymbolRecord = newRecord("symbol", "function_map", "", "r", declareSymbol,
		func(p *memory.PortableSymbol) memory.Portable { return memory.Portable{Symbol: p} })
)

// RecordKinds are all kinds, HashedKinds those with hashes, in the order of their references.
var (
	HashedKinds = []*Kind{&SessionRecord.Kind, &PromptRecord.Kind, &ObservationRecord.Kind, &SummaryRecord.Kind, &LearningRecord.Kind}
	RecordKinds = append(HashedKinds[:len(HashedKinds):len(HashedKinds)], &SymbolRecord.Kind)
)

// projectOfSession is the expression for the project of a record that has its session's.
const projectOfSession = "(SELECT project FROM sessions WHERE id = ?)"

// declareSession and those below declare the fields of a record and of its portable form for all that
// a walk over them can be for (fields.go).
func declareSession(f *fields, s *memory.Session, p *memory.PortableSession) {
	field(f, "id", later, db.Plain, &s.ID, nil)
	field(f, "ulid", inText, db.Plain, &s.ULID, &p.ULID)
	field(f, "host", inText, db.Plain, &s.Host, &p.Host)
	field(f, "host_session_id", inText, db.Plain, &s.HostSessionID, &p.HostSessionID)
	field(f, "memory_session_id", inText, db.Plain, &s.MemorySessionID, nil)
	field(f, "project", inText, db.Plain, &s.ProjectPath, &p.ProjectPath)
	field(f, "label", inText, db.Plain, &s.Label, &p.Label)
	field(f, "status", 0, db.Plain, &s.Status, &p.Status)
	field(f, "title", inText, db.Plain, &s.Title, &p.Title)
	field(f, "prompt_count", 0, db.Plain, &s.PromptCount, nil)
	field(f, "event_count", 0, db.Plain, nil, &p.Events)
	field(f, "started_at", inText, db.Plain, &s.StartedAt, &p.StartedAt)
	field(f, "updated_at", 0, db.Plain, &s.UpdatedAt, &p.UpdatedAt)
	field(f, "last_event_at", 0, db.Plain, nil, &p.LastEventAt)
	field(f, "completed_at", 0, db.Plain, &s.CompletedAt, &p.CompletedAt)
	field(f, "tokens_in", 0, db.Plain, nil, &p.TokensIn)
	field(f, "tokens_out", 0, db.Plain, nil, &p.TokensOut)
}

func declarePrompt(f *fields, r *memory.Prompt, p *memory.PortablePrompt) {
	field(f, "id", later, db.Plain, &r.ID, nil)
	field(f, "ulid", inText, db.Plain, &r.ULID, &p.ULID)
	field(f, "session_id", inText, db.Plain, &r.Session, nil)
	readOnly(f, "s.ulid", db.Plain, nil, &p.Session)
	writeOnly(f, "project", inText, projectOfSession, db.Plain, &r.Session)
	field(f, "number", inText, db.Plain, &r.Number, &p.Number)
	field(f, "prompt_id", inText, db.Plain, &r.PromptID, &p.PromptID)
	field(f, "text", inText, db.Plain, &r.Text, &p.Text)
	field(f, "branch", inText, db.Plain, &r.Branch, &p.Branch)
	field(f, "head_commit", inText, db.Plain, &r.HeadCommit, &p.HeadCommit)
	field(f, "created_at", inText, db.Plain, &r.CreatedAt, &p.CreatedAt)
}

func declareObservation(f *fields, o *memory.Observation, p *memory.PortableObservation) {
	field(f, "id", 0, db.ToOptional, &o.ID, nil)
	field(f, "ulid", inText, db.Plain, &o.ULID, &p.ULID)
	field(f, "session_id", inText, db.Plain, &o.Session, nil)
	readOnly(f, "s.ulid", db.Plain, nil, &p.Session)
	field(f, "project", inText, db.Plain, &o.ProjectPath, &p.ProjectPath)
	field(f, "prompt_number", inText, db.Plain, &o.PromptNumber, &p.PromptNumber)
	field(f, "type", inText|rewritten, db.Plain, &o.Type, &p.Type)
	field(f, "title", inText|rewritten, db.Plain, &o.Title, &p.Title)
	field(f, "subtitle", inText|rewritten, db.ToText, &o.Subtitle, &p.Subtitle)
	field(f, "narrative", inText|rewritten, db.ToText, &o.Narrative, &p.Narrative)
	field(f, "facts", inText|rewritten, db.ToPackedList, &o.Facts, &p.Facts)
	field(f, "concepts", inText|rewritten, db.ToList, &o.Concepts, &p.Concepts)
	field(f, "discovery_tokens", inText|rewritten, db.Plain, &o.DiscoveryTokens, &p.DiscoveryTokens)
	field(f, "content_hash", inText|rewritten, db.ToHash, &o.ContentHash, nil)
	writeOnly(f, "files_key", inText|rewritten, "?", keyOfFiles, &o.Files)
	field(f, "origin", inText|rewritten, db.Plain, &o.Origin, &p.Origin)
	field(f, "agent_id", inText|rewritten, db.Plain, &o.AgentID, &p.AgentID)
	field(f, "agent_type", inText|rewritten, db.Plain, &o.AgentType, &p.AgentType)
	field(f, "branch", inText|rewritten, db.Plain, &o.Branch, &p.Branch)
	field(f, "head_commit", inRest|rewritten, db.Plain, &o.HeadCommit, &p.HeadCommit)
	field(f, "times_seen", inRest, db.Plain, &o.TimesSeen, &p.TimesSeen)
	field(f, "pinned", inRest, db.Plain, &o.Pinned, &p.Pinned)
	field(f, "superseded_by", inRest|later, db.ToOptional, &o.SupersededBy, nil)
	readOnly(f, "coalesce((SELECT n.ulid FROM observations n WHERE n.id = r.superseded_by), '')", db.Plain, nil, &p.SupersededBy)
	field(f, "deleted_at", inRest, db.ToOptional, nil, &p.HiddenAt)
	field(f, "created_at", inText, db.Plain, &o.CreatedAt, &p.CreatedAt)
	field(f, "provenance", inText|rewritten, db.Plain, &o.Provenance, &p.Provenance)
	readOnly(f, "iif(r.origin = 'import', coalesce((SELECT c.origin FROM claims c WHERE c.kind = 'observation' AND c.id = r.id), ''), '')", db.Plain, &o.Claimed, nil)
	readOnly(f, "r.origin = 'import' AND EXISTS (SELECT 1 FROM claims c WHERE c.kind = 'observation' AND c.id = r.id AND c.wanted)", db.Plain, &o.ClaimedPin, nil)
	readOnly(f, `(SELECT json_group_array(json_object('path', path, 'role', role, 'hash', coalesce(file_hash, ''),
		'symbols', CASE WHEN json_valid(symbols) THEN json(symbols) END) ORDER BY position) FROM observation_files f WHERE f.observation_id = r.id)`, db.ToList, nil, &p.Files)
}

func declareSummary(f *fields, m *memory.Summary, p *memory.PortableSummary) {
	field(f, "id", later, db.Plain, &m.ID, nil)
	field(f, "ulid", inText, db.Plain, &m.ULID, &p.ULID)
	field(f, "session_id", inText, db.Plain, &m.Session, nil)
	readOnly(f, "s.ulid", db.Plain, nil, &p.Session)
	writeOnly(f, "project", inText, projectOfSession, db.Plain, &m.Session)
	field(f, "prompt_number", inText, db.Plain, &m.PromptNumber, &p.PromptNumber)
	field(f, "request", inText|rewritten, db.Plain, &m.Request, &p.Request)
	field(f, "investigated", inText|rewritten, db.ToText, &m.Investigated, &p.Investigated)
	field(f, "learned", inText|rewritten, db.ToText, &m.Learned, &p.Learned)
	field(f, "completed", inText|rewritten, db.ToText, &m.Completed, &p.Completed)
	field(f, "next_steps", inText|rewritten, db.ToText, &m.NextSteps, &p.NextSteps)
	field(f, "files_read", inText|rewritten, db.ToList, &m.FilesRead, &p.FilesRead)
	field(f, "files_edited", inText|rewritten, db.ToList, &m.FilesEdited, &p.FilesEdited)
	field(f, "notes", inText|rewritten, db.ToText, &m.Notes, &p.Notes)
	field(f, "origin", inText|rewritten, db.Plain, &m.Origin, &p.Origin)
	field(f, "created_at", inText, db.Plain, &m.CreatedAt, &p.CreatedAt)
	field(f, "provenance", inRest|added|rewritten, db.Plain, &m.Provenance, &p.Provenance)
}

func declareLearning(f *fields, l *memory.Learning, p *memory.PortableLearning) {
	field(f, "id", later, db.Plain, &l.ID, nil)
	field(f, "ulid", inText, db.Plain, &l.ULID, &p.ULID)
	field(f, "project", inText, db.Plain, &l.ProjectPath, &p.ProjectPath)
	field(f, "category", inText, db.Plain, &l.Category, &p.Category)
	field(f, "content", inText, db.Plain, &l.Content, &p.Content)
	writeOnly(f, "content_key", inText, "?", KeyOfContent, &l.Content)
	field(f, "confidence", inRest, db.Plain, &l.Confidence, &p.Confidence)
	field(f, "times_seen", inRest, db.Plain, &l.TimesSeen, &p.TimesSeen)
	field(f, "is_active", inRest, db.Plain, &l.Active, &p.Active)
	field(f, "superseded_by", inRest, db.ToOptional, &l.SupersededBy, nil)
	readOnly(f, "coalesce((SELECT n.ulid FROM learnings n WHERE n.id = r.superseded_by), '')", db.Plain, nil, &p.SupersededBy)
	field(f, "created_at", inText, db.Plain, &l.CreatedAt, &p.CreatedAt)
	field(f, "updated_at", inRest, db.Plain, &l.UpdatedAt, &p.UpdatedAt)
	field(f, "provenance", inText, db.Plain, &l.Provenance, &p.Provenance)
	readOnly(f, "coalesce((SELECT iif(c.origin GLOB 'team:*', c.origin, 'import') FROM claims c WHERE c.kind = 'learning' AND c.id = r.id), '')", db.Plain, &l.Origin, nil)
	readOnly(f, "EXISTS (SELECT 1 FROM claims c WHERE c.kind = 'learning' AND c.id = r.id AND c.waiting AND c.wanted)", db.Plain, &l.Waiting, nil)
}

// symbolChange is a row of function_map: the change of a symbol with its name on every machine.
type symbolChange struct {
	memory.SymbolChange
	ulid memory.ULID
}

func declareSymbol(f *fields, c *symbolChange, p *memory.PortableSymbol) {
	field(f, "id", later, db.Plain, &c.ID, nil)
	field(f, "ulid", 0, db.Plain, &c.ulid, &p.ULID)
	field(f, "session_id", 0, db.Plain, &c.Session, nil)
	readOnly(f, "s.ulid", db.Plain, nil, &p.Session)
	writeOnly(f, "project", 0, "coalesce("+projectOfSession+", '')", db.Plain, &c.Session)
	field(f, "file_path", 0, db.Plain, &c.FilePath, &p.FilePath)
	field(f, "snapshot_at", rewritten, db.Plain, &c.SnapshotAt, &p.SnapshotAt)
	field(f, "qualified_name", 0, db.Plain, &c.QualifiedName, &p.QualifiedName)
	field(f, "kind", rewritten, db.Plain, &c.Kind, &p.Kind)
	field(f, "signature", rewritten, db.Plain, &c.Signature, &p.Signature)
	field(f, "line_start", rewritten, db.Plain, &c.LineStart, &p.LineStart)
	field(f, "line_end", rewritten, db.Plain, &c.LineEnd, &p.LineEnd)
	field(f, "body_hash", rewritten, db.Plain, &c.BodyHash, &p.BodyHash)
	field(f, "before_hash", rewritten, db.Plain, &c.BeforeHash, &p.BeforeHash)
	field(f, "change_type", rewritten, db.Plain, &c.ChangeType, &p.ChangeType)
	field(f, "renamed_from", rewritten, db.Plain, &c.RenamedFrom, &p.RenamedFrom)
}

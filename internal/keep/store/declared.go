package store

import (
	"claudemem/internal/memory"
)

// The kinds of records that have hashes besides those of memory.RecordKind.
const (
	hashedLearning memory.RecordKind = "learning"
	hashedSession  memory.RecordKind = "session"
)

// The kinds of records. Every statement that names all columns of one is made of its
// declaration: INSERT, SELECT, the UPDATE of Redo, the portable form, the hashes and what
// Retain keeps. The order of columns with the same flag is part of the stored hashes, and of the lists in
// hidden_records.
var (
	sessionRecord = newRecord("session", "sessions", hashedSession, "s", declareSession,
		func(p *memory.PortableSession) memory.Portable { return memory.Portable{Session: p} })
	promptRecord = newRecord("prompt", "prompts", memory.RecordPrompt, "r", declarePrompt,
		func(p *memory.PortablePrompt) memory.Portable { return memory.Portable{Prompt: p} })
	observationRecord = newRecord("observation", "observations", memory.RecordObservation, "r", declareObservation,
		func(p *memory.PortableObservation) memory.Portable { return memory.Portable{Observation: p} })
	summaryRecord = newRecord("summary", "session_summaries", memory.RecordSummary, "r", declareSummary,
		func(p *memory.PortableSummary) memory.Portable { return memory.Portable{Summary: p} })
	learningRecord = newRecord("learning", "learnings", hashedLearning, "r", declareLearning,
		func(p *memory.PortableLearning) memory.Portable { return memory.Portable{Learning: p} })
	symbolRecord = newRecord("symbol", "function_map", "", "r", declareSymbol,
		func(p *memory.PortableSymbol) memory.Portable { return memory.Portable{Symbol: p} })
)

// recordKinds are all kinds, hashedKinds those with hashes, in the order of their references.
var (
	hashedKinds = []*recordKind{&sessionRecord.recordKind, &promptRecord.recordKind, &observationRecord.recordKind, &summaryRecord.recordKind, &learningRecord.recordKind}
	recordKinds = append(hashedKinds[:len(hashedKinds):len(hashedKinds)], &symbolRecord.recordKind)
)

// projectOfSession is the expression for the project of a record that has its session's.
const projectOfSession = "(SELECT project FROM sessions WHERE id = ?)"

func declareSession(f *fields, s *memory.Session, p *memory.PortableSession) {
	field(f, "id", later, plain, &s.ID, nil)
	field(f, "ulid", inText, plain, &s.ULID, &p.ULID)
	field(f, "host", inText, plain, &s.Host, &p.Host)
	field(f, "host_session_id", inText, plain, &s.HostSessionID, &p.HostSessionID)
	field(f, "memory_session_id", inText, plain, &s.MemorySessionID, nil)
	field(f, "project", inText, plain, &s.ProjectPath, &p.ProjectPath)
	field(f, "label", inText, plain, &s.Label, &p.Label)
	field(f, "status", 0, plain, &s.Status, &p.Status)
	field(f, "title", inText, plain, &s.Title, &p.Title)
	field(f, "prompt_count", 0, plain, &s.PromptCount, nil)
	field(f, "event_count", 0, plain, nil, &p.Events)
	field(f, "started_at", inText, plain, &s.StartedAt, &p.StartedAt)
	field(f, "updated_at", 0, plain, &s.UpdatedAt, &p.UpdatedAt)
	field(f, "last_event_at", 0, plain, nil, &p.LastEventAt)
	field(f, "completed_at", 0, plain, &s.CompletedAt, &p.CompletedAt)
	field(f, "tokens_in", 0, plain, nil, &p.TokensIn)
	field(f, "tokens_out", 0, plain, nil, &p.TokensOut)
}

func declarePrompt(f *fields, r *memory.Prompt, p *memory.PortablePrompt) {
	field(f, "id", later, plain, &r.ID, nil)
	field(f, "ulid", inText, plain, &r.ULID, &p.ULID)
	field(f, "session_id", inText, plain, &r.Session, nil)
	readOnly(f, "s.ulid", plain, nil, &p.Session)
	writeOnly(f, "project", inText, projectOfSession, plain, &r.Session)
	field(f, "number", inText, plain, &r.Number, &p.Number)
	field(f, "prompt_id", inText, plain, &r.PromptID, &p.PromptID)
	field(f, "text", inText, plain, &r.Text, &p.Text)
	field(f, "branch", inText, plain, &r.Branch, &p.Branch)
	field(f, "head_commit", inText, plain, &r.HeadCommit, &p.HeadCommit)
	field(f, "created_at", inText, plain, &r.CreatedAt, &p.CreatedAt)
}

func declareObservation(f *fields, o *memory.Observation, p *memory.PortableObservation) {
	field(f, "id", 0, toOptional, &o.ID, nil)
	field(f, "ulid", inText, plain, &o.ULID, &p.ULID)
	field(f, "session_id", inText, plain, &o.Session, nil)
	readOnly(f, "s.ulid", plain, nil, &p.Session)
	field(f, "project", inText, plain, &o.ProjectPath, &p.ProjectPath)
	field(f, "prompt_number", inText, plain, &o.PromptNumber, &p.PromptNumber)
	field(f, "type", inText|rewritten, plain, &o.Type, &p.Type)
	field(f, "title", inText|rewritten, plain, &o.Title, &p.Title)
	field(f, "subtitle", inText|rewritten, toText, &o.Subtitle, &p.Subtitle)
	field(f, "narrative", inText|rewritten, toText, &o.Narrative, &p.Narrative)
	field(f, "facts", inText|rewritten, toPackedList, &o.Facts, &p.Facts)
	field(f, "concepts", inText|rewritten, toList, &o.Concepts, &p.Concepts)
	field(f, "discovery_tokens", inText|rewritten, plain, &o.DiscoveryTokens, &p.DiscoveryTokens)
	field(f, "content_hash", inText|rewritten, toHash, &o.ContentHash, nil)
	writeOnly(f, "files_key", inText|rewritten, "?", keyOfFiles, &o.Files)
	field(f, "origin", inText|rewritten, plain, &o.Origin, &p.Origin)
	field(f, "agent_id", inText|rewritten, plain, &o.AgentID, &p.AgentID)
	field(f, "agent_type", inText|rewritten, plain, &o.AgentType, &p.AgentType)
	field(f, "branch", inText|rewritten, plain, &o.Branch, &p.Branch)
	field(f, "head_commit", inRest|rewritten, plain, &o.HeadCommit, &p.HeadCommit)
	field(f, "times_seen", inRest, plain, &o.TimesSeen, &p.TimesSeen)
	field(f, "pinned", inRest, plain, &o.Pinned, &p.Pinned)
	field(f, "superseded_by", inRest|later, toOptional, &o.SupersededBy, nil)
	readOnly(f, "coalesce((SELECT n.ulid FROM observations n WHERE n.id = r.superseded_by), '')", plain, nil, &p.SupersededBy)
	field(f, "deleted_at", inRest, toOptional, nil, &p.HiddenAt)
	field(f, "created_at", inText, plain, &o.CreatedAt, &p.CreatedAt)
	field(f, "provenance", inText|rewritten, plain, &o.Provenance, &p.Provenance)
	readOnly(f, "iif(r.origin = 'import', coalesce((SELECT c.origin FROM claims c WHERE c.kind = 'observation' AND c.id = r.id), ''), '')", plain, &o.Claimed, nil)
	readOnly(f, "r.origin = 'import' AND EXISTS (SELECT 1 FROM claims c WHERE c.kind = 'observation' AND c.id = r.id AND c.wanted)", plain, &o.ClaimedPin, nil)
	readOnly(f, `(SELECT json_group_array(json_object('path', path, 'role', role, 'hash', coalesce(file_hash, ''),
		'symbols', CASE WHEN json_valid(symbols) THEN json(symbols) END) ORDER BY position) FROM observation_files f WHERE f.observation_id = r.id)`, toList, nil, &p.Files)
}

func declareSummary(f *fields, m *memory.Summary, p *memory.PortableSummary) {
	field(f, "id", later, plain, &m.ID, nil)
	field(f, "ulid", inText, plain, &m.ULID, &p.ULID)
	field(f, "session_id", inText, plain, &m.Session, nil)
	readOnly(f, "s.ulid", plain, nil, &p.Session)
	writeOnly(f, "project", inText, projectOfSession, plain, &m.Session)
	field(f, "prompt_number", inText, plain, &m.PromptNumber, &p.PromptNumber)
	field(f, "request", inText|rewritten, plain, &m.Request, &p.Request)
	field(f, "investigated", inText|rewritten, toText, &m.Investigated, &p.Investigated)
	field(f, "learned", inText|rewritten, toText, &m.Learned, &p.Learned)
	field(f, "completed", inText|rewritten, toText, &m.Completed, &p.Completed)
	field(f, "next_steps", inText|rewritten, toText, &m.NextSteps, &p.NextSteps)
	field(f, "files_read", inText|rewritten, toList, &m.FilesRead, &p.FilesRead)
	field(f, "files_edited", inText|rewritten, toList, &m.FilesEdited, &p.FilesEdited)
	field(f, "notes", inText|rewritten, toText, &m.Notes, &p.Notes)
	field(f, "origin", inText|rewritten, plain, &m.Origin, &p.Origin)
	field(f, "created_at", inText, plain, &m.CreatedAt, &p.CreatedAt)
	field(f, "provenance", inRest|rewritten, plain, &m.Provenance, &p.Provenance)
}

func declareLearning(f *fields, l *memory.Learning, p *memory.PortableLearning) {
	field(f, "id", later, plain, &l.ID, nil)
	field(f, "ulid", inText, plain, &l.ULID, &p.ULID)
	field(f, "project", inText, plain, &l.ProjectPath, &p.ProjectPath)
	field(f, "category", inText, plain, &l.Category, &p.Category)
	field(f, "content", inText, plain, &l.Content, &p.Content)
	writeOnly(f, "content_key", inText, "?", keyOfContent, &l.Content)
	field(f, "confidence", inRest, plain, &l.Confidence, &p.Confidence)
	field(f, "times_seen", inRest, plain, &l.TimesSeen, &p.TimesSeen)
	field(f, "is_active", inRest, plain, &l.Active, &p.Active)
	field(f, "superseded_by", inRest, toOptional, &l.SupersededBy, nil)
	readOnly(f, "coalesce((SELECT n.ulid FROM learnings n WHERE n.id = r.superseded_by), '')", plain, nil, &p.SupersededBy)
	field(f, "created_at", inText, plain, &l.CreatedAt, &p.CreatedAt)
	field(f, "updated_at", inRest, plain, &l.UpdatedAt, &p.UpdatedAt)
	field(f, "provenance", inText, plain, &l.Provenance, &p.Provenance)
	readOnly(f, "iif(EXISTS (SELECT 1 FROM claims c WHERE c.kind = 'learning' AND c.id = r.id), 'import', '')", plain, &l.Origin, nil)
	readOnly(f, "EXISTS (SELECT 1 FROM claims c WHERE c.kind = 'learning' AND c.id = r.id AND c.waiting AND c.wanted)", plain, &l.Waiting, nil)
}

// symbolChange is a row of function_map: the change of a symbol with its name on every machine.
type symbolChange struct {
	memory.SymbolChange
	ulid memory.ULID
}

func declareSymbol(f *fields, c *symbolChange, p *memory.PortableSymbol) {
	field(f, "id", later, plain, &c.ID, nil)
	field(f, "ulid", 0, plain, &c.ulid, &p.ULID)
	field(f, "session_id", 0, plain, &c.Session, nil)
	readOnly(f, "s.ulid", plain, nil, &p.Session)
	writeOnly(f, "project", 0, "coalesce("+projectOfSession+", '')", plain, &c.Session)
	field(f, "file_path", 0, plain, &c.FilePath, &p.FilePath)
	field(f, "snapshot_at", rewritten, plain, &c.SnapshotAt, &p.SnapshotAt)
	field(f, "qualified_name", 0, plain, &c.QualifiedName, &p.QualifiedName)
	field(f, "kind", rewritten, plain, &c.Kind, &p.Kind)
	field(f, "signature", rewritten, plain, &c.Signature, &p.Signature)
	field(f, "line_start", rewritten, plain, &c.LineStart, &p.LineStart)
	field(f, "line_end", rewritten, plain, &c.LineEnd, &p.LineEnd)
	field(f, "body_hash", rewritten, plain, &c.BodyHash, &p.BodyHash)
	field(f, "before_hash", rewritten, plain, &c.BeforeHash, &p.BeforeHash)
	field(f, "change_type", rewritten, plain, &c.ChangeType, &p.ChangeType)
	field(f, "renamed_from", rewritten, plain, &c.RenamedFrom, &p.RenamedFrom)
}

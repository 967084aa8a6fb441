package api

import (
	"context"

	"claudemem/internal/memory"
)

// SymbolsRequest lists changes of functions and types, the latest first: one net change
// for each symbol and session.
type SymbolsRequest struct {
	Files   []string         `param:"files" about:"changes in these: paths, folders, names or parts of names"`
	Name    string           `param:"symbol_name"`
	Session memory.SessionID `param:"session_id" about:"changes of this session: its number, as 12 or S12"`
	Dated
}

// Symbol is how a session changed a function, method or type: new, modified or deleted.
// Signature and lines are those after the change, of a deleted symbol those before. A
// symbol that was renamed is new with RenamedFrom, and deleted under its old name.
type Symbol struct {
	ID             int64             `json:"id"`
	File           string            `json:"file"`
	Name           string            `json:"name"`
	Kind           string            `json:"kind"`
	Signature      string            `json:"signature"`
	LineStart      int               `json:"line_start"`
	LineEnd        int               `json:"line_end"`
	ChangeType     memory.ChangeType `json:"change_type"`
	RenamedFrom    string            `json:"renamed_from"`
	Project        string            `json:"project"`
	SessionDBID    memory.SessionID  `json:"session_db_id"`
	CreatedAtEpoch memory.Millis     `json:"created_at_epoch"`
}

// Change returns the change that s is the shape of.
func (s *Symbol) Change() memory.SymbolChange {
	return memory.SymbolChange{ID: s.ID, FilePath: s.File, QualifiedName: s.Name, Kind: s.Kind, Signature: s.Signature,
		LineStart: s.LineStart, LineEnd: s.LineEnd, ChangeType: s.ChangeType, RenamedFrom: s.RenamedFrom, Session: s.SessionDBID, SnapshotAt: s.CreatedAtEpoch}
}

// symbols answers Memory.Symbols.
func (l *Local) symbols(ctx context.Context, r SymbolsRequest) (Page[Symbol], error) {
	if err := r.checkRange(); err != nil {
		return Page[Symbol]{}, err
	}
	q := memory.Query{Project: r.Project, Session: r.Session, Files: r.Files, Since: r.Since, Until: r.Until, Limit: r.Limit, Offset: r.Offset}
	found, err := l.Store.Symbols(ctx, q, r.Name)
	if err != nil {
		return Page[Symbol]{}, err
	}
	total, err := l.Store.CountSymbols(ctx, q, r.Name)
	if err != nil {
		return Page[Symbol]{}, err
	}
	projects := map[memory.SessionID]string{}
	for i := range found {
		id := found[i].Session
		if _, known := projects[id]; known {
			continue
		}
		s, err := l.Store.Session(ctx, id)
		if err != nil && memory.CodeOf(err) != memory.CodeNotFound { // It may have been deleted since.
			return Page[Symbol]{}, err
		}
		projects[id] = memory.ProjectLabel(s.ProjectPath)
	}
	return Page[Symbol]{len(found), total, q.Limit, q.Offset, mapped(found, func(c *memory.SymbolChange) Symbol {
		return Symbol{c.ID, c.FilePath, c.QualifiedName, c.Kind, c.Signature, c.LineStart, c.LineEnd, c.ChangeType, c.RenamedFrom,
			projects[c.Session], c.Session, c.SnapshotAt}
	})}, nil
}

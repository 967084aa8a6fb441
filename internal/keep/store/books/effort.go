package books

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"slices"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// mostSeen bounds what is remembered of a session; beyond it that begins anew.
const mostSeen = 4000

// effort is what a session of a trial did over again, with what has to be remembered to see that: hashes, from which no
// text can be read back.
type effort struct {
	// Reread counts the reads of a file that had been read with the same parameters, and not changed since; Repeated the
	// command lines that ran once more after they had failed, with nothing changed since; Reverted the calls after which a
	// function or type had the code again that another call of the session had replaced.
	Reread   int `json:"reread"`
	Repeated int `json:"repeated"`
	Reverted int `json:"reverted"`

	Reads    map[uint64][]uint64 `json:"reads"` // by file
	Failed   map[uint64]bool     `json:"failed"`
	Replaced map[uint64]bool     `json:"replaced"`
}

// noteEffort adds a claim's events to the effort of its session, if that is of a trial.
func noteEffort(t *db.Tx, claim *memory.Claim) {
	row := records.TrialRow(t, claim.Session.ID)
	if row == 0 {
		return
	}
	var data string
	t.Row("SELECT data FROM event_log WHERE id = ?", []any{row}, &data)
	var e effort
	t.Fail(json.Unmarshal([]byte(data), &e))
	if e.Reads == nil || len(e.Reads)+len(e.Failed)+len(e.Replaced) > mostSeen {
		e.Reads, e.Failed, e.Replaced = map[uint64][]uint64{}, map[uint64]bool{}, map[uint64]bool{}
	}
	for i := range claim.Events {
		if p := &claim.Events[i]; p.Event.Kind == memory.KindTool {
			e.add(p)
		}
	}
	data, err := db.Encode(e)
	t.Fail(err)
	t.Exec("UPDATE event_log SET data = ? WHERE id = ?", data, row)
}

// add adds a tool call. An agent of the session has a context of its own: what another one has read is new to it.
func (e *effort) add(p *memory.PendingEvent) {
	call := toolcall.ParseInput(&p.Event)
	line, failed := hashed(p.Event.AgentID, p.Event.Cwd, call.Line), call.Result() == memory.ResultFailed
	switch {
	case call.Tool == toolcall.ToolCommand:
		if e.Failed[line] {
			e.Repeated++
		}
		if !failed && slices.ContainsFunc(call.Commands, func(c toolcall.Command) bool { return c.Kind > toolcall.KindInline }) {
			clear(e.Failed)
		}
	case call.Role == memory.FileRead:
		file, read := hashed(cmp.Or(call.Path, call.File)), hashed(p.Event.AgentID, string(p.Event.ToolInput))
		if slices.Contains(e.Reads[file], read) {
			e.Reread++
		} else {
			e.Reads[file] = append(e.Reads[file], read)
		}
	case call.Role == memory.FileModified:
		delete(e.Reads, hashed(cmp.Or(call.Path, call.File)))
		clear(e.Failed)
	}
	for _, f := range p.Files {
		if f.Role == memory.FileModified {
			delete(e.Reads, hashed(f.Path))
			clear(e.Failed)
		}
	}
	if failed && call.Tool == toolcall.ToolCommand {
		e.Failed[line] = true
	} else {
		delete(e.Failed, line)
	}
	if e.takesBack(p.Symbols) {
		e.Reverted++
	}
}

// takesBack reports whether one of the changes of a call gives a symbol the code that another call had replaced, and
// remembers what they replace.
func (e *effort) takesBack(changes []memory.SymbolChange) (back bool) {
	for i := range changes {
		c := &changes[i]
		name := hashed(c.FilePath, c.QualifiedName)
		back = back || e.Replaced[hashed(c.FilePath, c.QualifiedName, c.BodyHash)] && c.BodyHash != c.BeforeHash || c.ChangeType == memory.SymbolUnchanged && e.Replaced[name]
		if c.ChangeType != memory.SymbolUnchanged {
			e.Replaced[name] = true
		}
	}
	for i := range changes {
		if c := &changes[i]; c.ChangeType != memory.SymbolUnchanged {
			e.Replaced[hashed(c.FilePath, c.QualifiedName, c.BeforeHash)] = true
		}
	}
	return back
}

// hashed returns a hash of words.
func hashed(words ...string) uint64 {
	h := fnv.New64a()
	for _, w := range words {
		_, _ = h.Write(append([]byte(w), 0)) // it cannot fail
	}
	return h.Sum64()
}

package moments

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// maxAccounts bounds the sessions remembered in the ledger (least recently used
// first out). What a forgotten session was given is read from the store again, as
// after a restart.
const maxAccounts = 512

// ledger records what this process gave to sessions. Until the store has booked a
// recollection, the ledger is the only record of it.
type ledger struct {
	mu       sync.Mutex
	sessions map[memory.SessionName]*account
	// turn counts claims, to tell which account was used last.
	turn uint64
}

// account lists what a session was given. Claims stay after they were booked:
// a caller that read the books just before would give the same again.
type account struct {
	given map[part]memory.Millis
	last  memory.Millis
	turn  uint64
}

// part is a record, a statement of it that was given later than the record, or a file.
type part struct {
	record    memory.ObservationID
	statement uint32 // its key, 0 for the record
	file      string
}

// parts returns what a line gives of its record.
func (l reminderLine) parts() []part {
	if !l.again {
		return []part{{record: l.ID}}
	}
	return collect.Map(l.details, func(d recall.Statement) part { return part{record: l.ID, statement: d.Key()} })
}

// claim reserves for a session the lines that it was not given yet, momentLines at most, and their
// file, under a time that no other claim of the session has: release takes it. It returns none if
// all was given since the last compaction, or lines on that file were.
func (l *ledger) claim(key memory.SessionName, found reminder, shown memory.Shown, now memory.Millis) ([]reminderLine, memory.Millis) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.sessions[key]
	if a == nil {
		a = &account{given: map[part]memory.Millis{}}
	}
	a.forget(func(at memory.Millis) bool { return at <= shown.CompactedAt }) // the model has forgotten it too
	file := part{file: found.file}
	if _, told := a.given[file]; told && found.file != "" {
		return nil, 0
	}
	at := max(now, a.last+1)
	var lines []reminderLine
	for _, line := range found.lines {
		hasNews := slices.ContainsFunc(line.parts(), func(p part) bool { _, told := a.given[p]; return !told })
		if !hasNews || len(lines) == momentLines || slices.ContainsFunc(lines, func(l reminderLine) bool { return l.ID == line.ID }) {
			continue
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return nil, 0
	}
	for _, line := range lines {
		for _, p := range line.parts() {
			a.given[p] = at
		}
	}
	if found.file != "" {
		a.given[file] = at
	}
	l.turn++
	a.last, a.turn = at, l.turn
	l.sessions[key] = a
	if len(l.sessions) > maxAccounts {
		delete(l.sessions, slices.MinFunc(slices.Collect(maps.Keys(l.sessions)), func(a, b memory.SessionName) int {
			return cmp.Compare(l.sessions[a].turn, l.sessions[b].turn)
		}))
	}
	return lines, at
}

// book claims what a line of a record that the session was shown says, and reports whether
// any of it is neither in the books nor in another claim. said are the keys of the statements
// that the line says, shown those in the books, at the time of the claim.
func (l *ledger) book(key memory.SessionName, at memory.Millis, id memory.ObservationID, said, shown []uint32) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.sessions[key]
	if a == nil {
		return true // one of many sessions, forgotten meanwhile
	}
	for _, k := range said {
		p := part{record: id, statement: k}
		if claimed, told := a.given[p]; told && claimed != at {
			continue
		}
		a.given[p] = at
		news = news || !slices.Contains(shown, k)
	}
	return news
}

// release takes back the records and files that were claimed for a session at this time,
// so that they may be given later.
func (l *ledger) release(key memory.SessionName, at memory.Millis) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.sessions[key]; a != nil {
		a.forget(func(claimed memory.Millis) bool { return claimed == at })
	}
}

// forget forgets what was given at such times.
func (a *account) forget(when func(at memory.Millis) bool) {
	maps.DeleteFunc(a.given, func(_ part, at memory.Millis) bool { return when(at) })
}

package records

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// The kinds of tombstones, beside "record" with the ULID of a record as key, "content" with the
// hash of an observation, and "event" with the key of an event. TombErasure is there once for each
// Forget, with the ID of its Erasure. The others refuse events that come later: of a session or
// project from before the tombstone, of a range (SINCE:UNTIL:PROJECT, "" for all projects) those
// of that time. Names of sessions and projects are hashed: they were to be forgotten.
const (
	TombErasure = "erasure"
	TombRecord  = "record"
	TombContent = "content"
	TombSession = "session"
	TombProject = "project"
	TombRange   = "range"
)

// TombName returns the name of a session or project in the key of a tombstone.
func TombName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// SessionTomb returns the key of a session's tombstone.
func SessionTomb(host memory.Host, hostSessionID string) string {
	return TombName(string(host) + ":" + hostSessionID)
}

// Tombstones are those that refuse events and imports.
type Tombstones struct {
	Any    bool // there are tombstones at all
	ranges []BuriedRange
}

// BuriedRange is a time from which a project's events are refused, all projects' with "".
type BuriedRange struct {
	Since, Until memory.Millis
	Project      string // its TombName
}

// ParseRange reads the key of a range's tombstone, SINCE:UNTIL:PROJECT with times in ms.
func ParseRange(key string) (r BuriedRange, err error) {
	since, rest, _ := strings.Cut(key, ":")
	until, project, _ := strings.Cut(rest, ":")
	r.Project = project
	_, err = fmt.Sscan(since+" "+until, &r.Since, &r.Until)
	return r, err
}

// ReadTombstones reads the tombstones of ranges, and whether there are any of any kind: the
// others are looked for in the database, one by one.
func ReadTombstones(t *db.Tx) (g Tombstones) {
	g.Any = t.Number("SELECT EXISTS (SELECT 1 FROM tombstones)") != 0
	if !g.Any {
		return g
	}
	for _, key := range db.Selected[string](t, "SELECT key FROM tombstones WHERE kind = 'range'") {
		r, err := ParseRange(key)
		t.Fail(err)
		g.ranges = append(g.ranges, r)
	}
	return g
}

// InRange reports whether the user has forgotten a range with a time of a project, a root, whenever
// that was.
func (g *Tombstones) InRange(project string, at memory.Millis) bool {
	return slices.ContainsFunc(g.ranges, func(r BuriedRange) bool {
		return (r.Project == "" || r.Project == TombName(project)) && at >= r.Since && at <= r.Until
	})
}

//go:build linux

package install

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/keep/store/db"
)

// upgradeRecords is how many observations are added to a memory that is then migrated.
const upgradeRecords = 3000

// TestUpgradeOnFullDisk starts a worker on a memory of an older version whose disk has little
// room: the memory is migrated, or the start fails and tells why, and once there is room the
// next start completes it.
func TestUpgradeOnFullDisk(t *testing.T) {
	t.Parallel()
	world.NeedBinaries(t)
	if !world.OwnMounts(t) {
		return
	}
	before := olderMemory(t)
	refused, migrated := 0, 0
	rooms := []int64{11, 16, 24, 30, 36} // tenths of the older memory
	for _, tenths := range rooms {
		room := int64(len(before)) * tenths / 10
		t.Run(fmt.Sprintf("room for %d tenths", tenths), func(t *testing.T) {
			m := world.NewMemory(t)
			settings, err := os.ReadFile(filepath.Join(m.Dir, "config.json"))
			world.Must(t, err)
			world.Must(t, syscall.Mount("none", m.Dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", room)))
			t.Cleanup(func() {
				_, _ = m.Command("worker", "stop")
				_ = syscall.Unmount(m.Dir, syscall.MNT_DETACH)
			})
			world.Must(t, os.WriteFile(filepath.Join(m.Dir, "config.json"), settings, 0o600))
			world.Must(t, os.WriteFile(filepath.Join(m.Dir, "memory.db"), before, 0o600))

			_, err = m.Command("worker", "start")
			_, _ = m.Command("worker", "stop")
			switch {
			case err == nil:
				migrated++
			case strings.Contains(err.Error(), "the disk is full: free some space"):
				refused++
			default:
				t.Errorf("the start told %v", err)
			}

			world.Must(t, syscall.Mount("none", m.Dir, "tmpfs", syscall.MS_REMOUNT, "size=64m,mode=700"))
			m.MustCommand("worker", "start")
			if got, want := m.Schema(), db.SchemaVersion(); got != want {
				t.Errorf("with room: the schema is %d, want %d", got, want)
			}
			var compact, records int
			var integrity string
			m.Query(func(r *sql.Rows) error { return r.Scan(&compact, &records, &integrity) },
				`SELECT (SELECT count(*) FROM counters WHERE name = 'compact'),
					(SELECT count(*) FROM observations o JOIN observation_files f ON f.observation_id = o.id
						WHERE o.id > 1000 AND unpacked(o.narrative) = 'What was done in step ' || (o.id - 1000) || ': the queue keeps the event until it is confirmed.'
							AND f.path = 'src/' || (o.id % 50) || '.go'),
					(SELECT * FROM pragma_integrity_check)`)
			if compact != 0 || records != upgradeRecords || integrity != "ok" {
				t.Errorf("with room: compacting asked for %d times, %d records of %d as they were, integrity %s", compact, records, upgradeRecords, integrity)
			}
		})
	}
	if refused == 0 || migrated == 0 {
		t.Errorf("%d starts were refused, %d migrated the memory: want some of each", refused, migrated)
	}
	world.Figure(t, 3, "of %d starts with little room %d could not migrate the older memory, and said why; with room all %d records each time", len(rooms), refused, upgradeRecords)
}

// olderMemory returns a database of schema 5 that has observations with files.
func olderMemory(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	world.Must(t, os.WriteFile(path, world.ReleasedDatabase(t, 5), 0o600))
	db, err := sql.Open("sqlite", path)
	world.Must(t, err)
	_, err = db.Exec(fmt.Sprintf(`PRAGMA journal_mode = DELETE;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO observations (id, ulid, session_id, project, type, title, narrative, content_hash, created_at)
		SELECT 1000 + i, 'U' || i, 1, '/p', 'change', 'T' || i, 'What was done in step ' || i || ': the queue keeps the event until it is confirmed.', printf('%%032x%%032x', i, 0), i FROM n;
		INSERT INTO observation_files (observation_id, position, path, role) SELECT id, 0, 'src/' || (id %% 50) || '.go', 'read' FROM observations WHERE id > 1000`, upgradeRecords))
	world.Must(t, err)
	world.Must(t, db.Close())
	content, err := os.ReadFile(path)
	world.Must(t, err)
	return content
}

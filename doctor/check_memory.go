package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"claudemem"
	"claudemem/daemon"
	"claudemem/index"
	"claudemem/install"
	"claudemem/store"
)

// integrityLimit is how long SQLite may look for damage.
const integrityLimit = 5 * time.Second

// largeWAL is far above what a commit copies back by itself.
const largeWAL = 256 << 20

func checkDatabase(ctx context.Context, e *exam) []Finding {
	db, err := e.database()
	if err != nil {
		return []Finding{e.unopened(err)}
	}
	limited, cancel := context.WithTimeout(ctx, integrityLimit)
	defer cancel()
	wrong, err := db.QuickCheck(limited)
	checked := "sound"
	switch {
	case len(wrong) > 0:
		return []Finding{e.found("database-damaged", fmt.Sprintf("memory.db is damaged: %s", oneLine(strings.Join(wrong, "; "))))}
	case store.Damaged(err):
		return []Finding{e.unopened(err)}
	case limited.Err() != nil:
		checked = fmt.Sprintf("sound as far as %v of looking tell", integrityLimit)
	case err != nil:
		return []Finding{e.unopened(err)}
	}
	sizes, err := db.Sizes(ctx)
	if err != nil {
		return []Finding{e.unopened(err)}
	}
	if sizes.Log > largeWAL {
		return []Finding{e.found("database-log-large", "memory.db-wal has "+sizeText(uint64(sizes.Log)))}
	}
	return []Finding{fine("%s, %s of it free; %s", sizeText(uint64(sizes.Database)), sizeText(uint64(sizes.Free)), checked)}
}

// unopened says why the database cannot be read.
func (e *exam) unopened(err error) Finding {
	text := oneLine(err.Error())
	if errors.Is(err, errNotLooked) {
		return fine("not looked at: there is no data directory")
	}
	if store.Damaged(err) {
		return e.found("database-damaged", text)
	}
	switch claudemem.CodeOf(err) {
	case claudemem.CodeNoMemory:
		return fine("nothing yet: it is made when the first event comes")
	case claudemem.CodeNewerSchema:
		return e.found("database-newer", text)
	case claudemem.CodeOlderSchema:
		return e.found("database-older", text)
	case claudemem.CodeUnavailable:
		return e.found("database-locked", text)
	}
	f := e.found("database-unreadable", text)
	if info, failed := os.Stat(e.path("memory.db")); failed == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o600 != 0o600 {
		return f.on(file{e.path("memory.db"), 0o600})
	}
	return f.instead("see who may read " + install.ShellWord(e.DataDir) + ": ls -la " + install.ShellWord(e.DataDir))
}

// unread is what the other checks of the database say when it cannot be read.
func unread(err error) []Finding {
	if claudemem.CodeOf(err) == claudemem.CodeNoMemory {
		return []Finding{fine("nothing yet")}
	}
	return []Finding{fine("not looked at: the database cannot be read")}
}

func checkBooks(ctx context.Context, e *exam) []Finding {
	db, err := e.database()
	if err != nil {
		return unread(err)
	}
	books, err := db.Books(ctx)
	if err != nil {
		return unread(err)
	}
	if !books.Balanced() {
		return []Finding{e.found("books-unbalanced", fmt.Sprintf("%d received, and %d processed + %d skipped + %d failed + %d pending + %d in work + %d forgotten",
			books.Received, books.Processed, books.Skipped, books.Failed, books.Pending, books.Processing, books.Forgotten))}
	}
	wrong, err := db.Audit(ctx)
	if err != nil {
		return unread(err)
	}
	if len(wrong) > 0 {
		return []Finding{e.found("books-unbalanced", oneLine(strings.Join(wrong, "; ")))}
	}
	return []Finding{fine("%s received, all accounted for", plural(books.Received, "event"))}
}

// longWait is how long an event may wait before that is told: sessions are
// distilled when a turn ends, and a turn may take long.
const longWait = 2 * time.Hour

func checkQueue(ctx context.Context, e *exam) []Finding {
	db, err := e.database()
	if err != nil {
		return unread(err)
	}
	books, err := db.Books(ctx)
	if err != nil {
		return unread(err)
	}
	var list []Finding
	if books.Failed > 0 {
		list = append(list, e.found("dead-letters", plural(books.Failed, "event")+" could not be distilled"))
	}
	activity, err := e.activity()
	if err != nil {
		return append(list, unread(err)...)
	}
	if activity.Stuck > 0 {
		f := e.found("queue-stuck", plural(activity.Stuck, "event")+" in work for over a quarter of an hour")
		if !e.running() {
			f.Fix, f.heal = "claude-mem worker start", RemedyStart
		}
		list = append(list, f)
	}
	if waited := e.now.Sub(activity.OldestPending.Time()); activity.OldestPending > 0 && waited > longWait {
		f := e.found("queue-waiting", fmt.Sprintf("%s, the oldest since %s", waitText(books.Pending), e.ago(activity.OldestPending.Time())))
		if !e.running() {
			f.Fix, f.heal, f.Fixable = "claude-mem worker start", RemedyStart, true
		}
		list = append(list, f)
	}
	if len(list) > 0 {
		return list
	}
	if n := books.Pending + books.Processing; n > 0 {
		return []Finding{fine("%s to be distilled", waitText(n))}
	}
	return []Finding{fine("empty")}
}

// fewBehind is how many changes an index may lack: it is a moment behind the
// memory, and a worker that was away has little to catch up.
const fewBehind = 200

func checkIndex(ctx context.Context, e *exam) []Finding {
	db, err := e.database()
	if err != nil {
		return unread(err)
	}
	_, newest, err := db.ChangeRange(ctx)
	if err != nil {
		return unread(err)
	}
	if worker, err := e.worker(); err == nil && worker.Index != nil {
		return e.index(*worker.Index)
	}
	seen, err := index.Look(ctx, e.path("index.db"))
	switch {
	case err == nil:
		// Building is false: without a worker nothing is built.
		return e.index(daemon.IndexHealth{Status: index.Status{
			Documents: seen.Documents, Model: seen.Model, Behind: max(newest-seen.Cursor, 0),
		}})
	case claudemem.CodeOf(err) != claudemem.CodeNoMemory:
		return []Finding{e.found("index-failed", oneLine(err.Error()))}
	case newest == 0:
		return []Finding{fine("no records yet")}
	}
	return []Finding{e.found("index-missing", "there is no index.db")}
}

// index returns the findings about an index that can be read.
func (e *exam) index(ix daemon.IndexHealth) []Finding {
	switch {
	case ix.Error != "":
		return []Finding{e.found("index-failed", oneLine(ix.Error))}
	case ix.IsOpening():
		return []Finding{fine("being opened")}
	}
	var list []Finding
	if ix.Behind > fewBehind && !ix.Building {
		list = append(list, e.found("index-behind", plural(int(ix.Behind), "change")+" behind the memory"))
	}
	if ix.EmbedError != "" {
		list = append(list, e.found("embedder-failing", oneLine(ix.Model+": "+ix.EmbedError)))
	}
	if len(list) > 0 {
		return list
	}
	text := plural(ix.Documents, "record")
	if ix.Building {
		text += fmt.Sprintf(", being built: %d to go", ix.Behind)
	} else if ix.Behind > 0 {
		text += fmt.Sprintf(", %d changes behind", ix.Behind)
	}
	return []Finding{fine("%s", text)}
}

package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/books"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/run/install"
)

// integrityLimit is the time limit of SQLite's quick_check.
const integrityLimit = 5 * time.Second

// largeWAL is far above the size at which a commit copies the log into the database.
const largeWAL = 256 << 20

// checkDatabase checks the database for damage, and the size of its log. It ends the look for
// damage after integrityLimit, which is no problem; a deep examination reads all of it.
func checkDatabase(ctx context.Context, e *exam) ([]Finding, string) {
	if list := e.heldRepairs("recovery-stopped", true); len(list) > 0 {
		return list, ""
	}
	s, err := e.database()
	if err != nil {
		return e.unopened(err)
	}
	limited, cancel := context.WithTimeout(ctx, integrityLimit)
	defer cancel()
	var wrong []string
	checked := "sound"
	if e.Deep {
		start := time.Now()
		wrong, err = s.Verify(ctx)
		checked = "sound, read completely in " + took(start)
	} else {
		wrong, err = s.QuickCheck(limited)
	}
	switch {
	case len(wrong) > 0:
		return []Finding{e.found("database-damaged", "memory.db is damaged: "+strings.Join(wrong, "; "))}, ""
	case !e.Deep && limited.Err() != nil && !db.Damaged(err):
		checked = fmt.Sprintf("no damage found in %v", integrityLimit)
	case err != nil:
		return e.unopened(err)
	}
	sizes, err := s.Sizes(ctx)
	if err != nil {
		return e.unopened(err)
	}
	return problem(sizes.Log > largeWAL, e.found("database-log-large", "memory.db-wal has "+sizeText(uint64(sizes.Log)))),
		fmt.Sprintf("%s, %s of it free; %s", sizeText(uint64(sizes.Database)), sizeText(uint64(sizes.Free)), checked)
}

// heldRepairs returns a finding of a kind for each repair, of the memory or of the index, that was
// needed again and is not made.
func (e *exam) heldRepairs(kind string, ofMemory bool) (list []Finding) {
	return collect.Map(control.HeldRepairs(e.DataDir, ofMemory, e.now), func(r control.Repair) Finding { return e.found(kind, r.Text()) })
}

// unopened returns what checkDatabase reports of a database that cannot be read: a finding by the
// error's kind, or none where there is nothing to read yet.
func (e *exam) unopened(err error) ([]Finding, string) {
	kind := "database-unreadable"
	switch code := memory.CodeOf(err); {
	case errors.Is(err, errNotLooked):
		return nil, "not looked at: there is no data directory"
	case code == memory.CodeNoMemory:
		return nil, "nothing yet: it is created with the first event"
	case db.Damaged(err):
		kind = "database-damaged"
	case errors.Is(err, db.ErrHalfMade):
		kind = "database-half-made"
	case code == memory.CodeNewerSchema:
		kind = "database-newer"
	case code == memory.CodeOlderSchema:
		kind = "database-older"
	case code == memory.CodeUnavailable:
		kind = "database-locked"
	}
	f := e.found(kind, err.Error())
	if kind != "database-unreadable" {
		return []Finding{f}, ""
	}
	if info, failed := os.Stat(e.path("memory.db")); failed == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o600 != 0o600 {
		return []Finding{f.on(file{e.path("memory.db"), 0o600})}, ""
	}
	dir := install.ShellWord(e.DataDir)
	return []Finding{f.instead("see who may read " + dir + ": ls -la " + dir)}, ""
}

// unread returns the line of the other checks when the database cannot be read: they have no
// finding, since checkDatabase tells of it.
func unread(err error) string {
	if memory.CodeOf(err) == memory.CodeNoMemory {
		return "nothing yet"
	}
	return "not looked at: the database cannot be read"
}

// checkBooks checks that every received event is accounted for.
func checkBooks(ctx context.Context, e *exam) ([]Finding, string) {
	books, err := e.books()
	if err != nil {
		return nil, unread(err)
	}
	if !books.Balanced() {
		return []Finding{e.found("books-unbalanced", fmt.Sprintf("%d received, and %d processed + %d skipped + %d failed + %d pending + %d in work + %d forgotten",
			books.Received, books.Processed, books.Skipped, books.Failed, books.Pending, books.Processing, books.Forgotten))}, ""
	}
	s, _ := e.database() // e.books has opened it
	wrong, err := s.Audit(ctx)
	if err != nil {
		return nil, unread(err)
	}
	return problem(len(wrong) > 0, e.found("books-unbalanced", strings.Join(wrong, "; "))), text.Count(books.Received, "event") + " received, all accounted for"
}

// longWait is the age at which a waiting event is reported: events are processed when
// a turn ends, and a turn may take long.
const longWait = 2 * time.Hour

// checkQueue finds events that failed for good, that have been in work for too long, or
// that wait for longer than longWait.
func checkQueue(ctx context.Context, e *exam) ([]Finding, string) {
	books, err := e.books()
	if err != nil {
		return nil, unread(err)
	}
	list := problem(books.Failed > 0, e.found("dead-letters", text.Count(books.Failed, "event")+" could not be processed"))
	activity, err := e.activity()
	if err != nil {
		return list, unread(err)
	}
	away, oldest := !e.worker().Running, activity.OldestPending.Time()
	list = append(list, problem(activity.Stuck > 0,
		e.found("queue-stuck", text.Count(activity.Stuck, "event")+" in work for over a quarter of an hour").
			healed(away, "claude-mem worker start", RemedyStart))...)
	list = append(list, problem(activity.OldestPending > 0 && e.now.Sub(oldest) > longWait,
		e.found("queue-waiting", fmt.Sprintf("%s, the oldest since %s", waiting(books.Pending, "event"), e.ago(oldest))).
			healed(away, "claude-mem worker start", RemedyStart))...)
	s, _ := e.database()                                                   // e.books has opened it
	missed, err := s.Unread(ctx, memory.MillisOf(e.now.AddDate(0, 0, -1))) // of the last day
	if err != nil {
		return list, unread(err)
	}
	list = append(list, problem(len(missed) > 0, e.found("queue-unread", unreadText(missed)))...)
	if n := books.Pending + books.Processing; n > 0 {
		return list, waiting(n, "event") + " to be processed"
	}
	return list, "empty"
}

// unreadText returns how many events no model has read, and why.
func unreadText(missed []books.Unread) string {
	events := collect.Sum(missed, func(u books.Unread) int { return u.Events })
	reasons := collect.Map(missed, func(u books.Unread) string { return fmt.Sprintf("%d %s", u.Events, u.Reason) })
	return fmt.Sprintf("%s remembered without a model (%s)", text.Count(events, "event"), strings.Join(reasons, ", "))
}

// fewBehind is how many changes an index may lack: it is a moment behind the
// memory, and more after a time without a worker.
const fewBehind = 200

// indexLate is how long ago the newest event must have come in for an index that lacks anything to
// be behind: a worker adds it within seconds.
const indexLate = 10 * time.Minute

// checkIndex checks that the search index exists and is up to date, by the worker's word
// if one runs.
func checkIndex(ctx context.Context, e *exam) ([]Finding, string) {
	s, err := e.database()
	if err != nil {
		return nil, unread(err)
	}
	list, fine := e.indexState(ctx, s)
	list = append(list, e.heldRepairs("repair-stopped", false)...)
	if err := index.CheckPages(e.path("index.db")); err != nil && len(list) == 0 {
		list = append(list, e.found("index-failed", err.Error()))
	}
	if len(list) == 0 && fine != noRecords {
		list = e.searchRecord(ctx, s)
	}
	if e.Deep && len(list) == 0 && fine != noRecords {
		var compared string
		list, compared = e.deepIndex(ctx, s)
		fine += compared
	}
	return list, fine
}

// searchRecord searches for some of the oldest observations, which the index must have, by the
// longest words of their titles, and returns a finding if that fails, or finds for none of three a
// record with these words. Another one than was asked for is fine: many may have the same.
func (e *exam) searchRecord(ctx context.Context, s *store.Store) []Finding {
	if e.Search == nil {
		return nil
	}
	refs, err := s.FilterRecords(ctx, memory.Query{Limit: 20}, []memory.RecordKind{memory.RecordObservation}, memory.OrderOldest)
	hits, err2 := s.RecordsByRefs(ctx, refs...)
	if err != nil || err2 != nil {
		return nil // checkDatabase reports it
	}
	tried := 0
	for _, h := range hits {
		words := strings.FieldsFunc(h.Observation.Title, func(r rune) bool { return !unicode.IsLetter(r) })
		slices.SortStableFunc(words, func(x, y string) int { return cmp.Compare(len(y), len(x)) })
		if len(words) < 2 {
			continue
		}
		words = words[:min(len(words), 4)]
		titles, err := e.Search(ctx, strings.Join(words, " "))
		if err != nil {
			return []Finding{e.found("search-failing", err.Error())}
		}
		if slices.ContainsFunc(titles, func(title string) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(title, w) })
		}) {
			return nil
		}
		if tried++; tried == 3 {
			return []Finding{e.found("search-failing", fmt.Sprintf("observation #%d and two others are not found by the words of their titles", h.ID))}
		}
	}
	return nil
}

// noRecords is the line of a memory that needs no index yet.
const noRecords = "no records yet"

// indexState returns the findings about the state of the index, by the word of the worker if one
// runs, else by its file; noRecords for a memory that needs none yet.
func (e *exam) indexState(ctx context.Context, s *store.Store) ([]Finding, string) {
	_, newest, err := s.ChangeRange(ctx)
	if err != nil {
		return nil, unread(err)
	}
	if health := e.worker().Index; health != nil {
		return e.index(*health)
	}
	seen, err := index.Look(ctx, e.path("index.db"))
	switch {
	case err == nil:
		// Building is false: without a worker nothing is built.
		return e.index(control.IndexHealth{Status: index.Status{
			Documents: seen.Documents, Model: seen.Model, Behind: max(newest-seen.Cursor, 0), UnknownLayout: seen.UnknownLayout,
		}})
	case memory.CodeOf(err) != memory.CodeNoMemory:
		return []Finding{e.found("index-failed", err.Error())}, ""
	case newest == 0:
		return nil, noRecords
	}
	return []Finding{e.found("index-missing", "there is no index.db")}, ""
}

// index returns the findings about an index by its health, and its size in words. What is being
// built or opened is no problem.
func (e *exam) index(ix control.IndexHealth) ([]Finding, string) {
	switch {
	case ix.Error != "":
		return []Finding{e.found("index-failed", ix.Error)}, ""
	case ix.IsOpening():
		return nil, "being opened"
	}
	activity, _ := e.activity() // checkDatabase reports it
	late := ix.Behind > 0 && activity.NewestReceived > 0 && e.now.Sub(activity.NewestReceived.Time()) > indexLate
	list := slices.Concat(
		problem((ix.Behind > fewBehind || late) && !ix.Building, e.found("index-behind", text.Count(int(ix.Behind), "change")+" behind the memory")),
		problem(ix.UnknownLayout, e.found("index-layout", "the full-text index has a layout that this version does not know")),
		problem(ix.EmbedError != "", e.found("embedder-failing", ix.Model+": "+ix.EmbedError)),
		problem(ix.TrainError != "", e.found("training-failed", ix.TrainError)))
	fine := text.Count(ix.Documents, "record")
	if ix.Trained > 0 {
		fine += ", vectors trained on " + text.Count(ix.Trained, "observation")
	}
	if ix.Building {
		fine += fmt.Sprintf(", being built: %d to go", ix.Behind)
	} else if ix.Behind > 0 {
		fine += ", " + text.Count(int(ix.Behind), "change") + " behind"
	}
	return list, fine
}

// deepLimit is the time limit of each check of a deep examination.
const deepLimit = 30 * time.Minute

// namedRecords is how many records a finding names.
const namedRecords = 5

// took returns how long something took that began at start, for a finding.
func took(start time.Time) string { return time.Since(start).Round(time.Millisecond).String() }

// checkRecords reports the records that are withheld since their text was changed on the disk. A
// deep examination compares all records with their hashes.
func checkRecords(ctx context.Context, e *exam) ([]Finding, string) {
	db, err := e.database()
	if err != nil {
		return nil, unread(err)
	}
	withheld, total, err := db.Withheld(ctx, namedRecords)
	if err != nil {
		return nil, unread(err)
	}
	list := problem(total > 0, e.found("records-withheld",
		fmt.Sprintf("the text of %s was changed on the disk: %s", text.Count(total, "record"), named(withheld, total))))
	if !e.Deep {
		return list, "none withheld; --deep compares all with their hashes"
	}
	start := time.Now()
	wrong, checked, err := db.VerifyRecords(ctx, ctx.Err)
	if err != nil {
		return list, unread(err)
	}
	refs := collect.Map(wrong, func(m upkeep.Mismatch) memory.RecordRef { return m.RecordRef })
	list = append(list, problem(len(wrong) > 0, e.found("records-changed",
		fmt.Sprintf("%d of %s were changed on the disk: %s", len(wrong), text.Count(checked, "record"), named(refs, len(refs)))))...)
	return list, fmt.Sprintf("%s have their hashes, compared in %s", text.Count(checked, "record"), took(start))
}

// named returns the names of the first records of a list of total ones.
func named(refs []memory.RecordRef, total int) string {
	names := collect.Map(refs[:min(len(refs), namedRecords)], func(r memory.RecordRef) string { return fmt.Sprintf("%s %d", r.Kind, r.ID) })
	if total > len(names) {
		names = append(names, fmt.Sprintf("%d more", total-len(names)))
	}
	return strings.Join(names, ", ")
}

// deepIndex compares the search index with the database.
func (e *exam) deepIndex(ctx context.Context, db *store.Store) ([]Finding, string) {
	start := time.Now()
	wrong, compared, err := control.VerifyIndex(ctx, db, e.DataDir)
	switch {
	case err != nil:
		return []Finding{e.found("index-failed", err.Error())}, ""
	case len(wrong) > 0:
		return []Finding{e.found("index-wrong", strings.Join(wrong, "; "))}, ""
	case !compared:
		return nil, "; sound, read completely in " + took(start) + "; not compared with the memory, which is ahead of it"
	}
	return nil, "; the records of the memory, compared in " + took(start)
}

// backupLate is how far the newest event may be ahead of the newest backup, or of the first
// event if there is no backup. The worker makes one a day.
const backupLate = 48 * time.Hour

// checkBackups checks that there is a backup and that it is not old.
func checkBackups(ctx context.Context, e *exam) ([]Finding, string) {
	if e.settings().Int(settings.KeyBackupKeep) <= 0 {
		return nil, "not wanted: " + settings.KeyBackupKeep + " is 0"
	}
	list, err := backup.List(e.DataDir)
	if err != nil {
		return nil, "not looked at: " + err.Error() // checkData reports what cannot be read
	}
	activity, err := e.activity()
	if err != nil {
		return nil, unread(err)
	}
	newest := activity.NewestReceived.Time()
	if len(list) > 0 {
		at := list[0].At.Time()
		if has, err := upkeep.ReadContents(ctx, list[0].Path); err == nil && at.After(e.now) {
			at = has.Newest.Time() // the clock was ahead when the backup was named
		}
		return problem(newest.Sub(at) > backupLate, e.found("backup-old", "the newest backup was made "+e.ago(at))),
			fmt.Sprintf("%s, the newest made %s", text.Count(len(list), "backup"), e.ago(at))
	}
	db, err := e.database()
	if err != nil {
		return nil, unread(err)
	}
	has, err := db.Contents(ctx)
	if err != nil {
		return nil, unread(err)
	}
	began := has.Began.Time()
	return problem(has.Began > 0 && newest.Sub(began) > backupLate,
		e.found("backup-missing", "there is no backup; the first event was received "+e.ago(began))), "none yet: the worker makes one a day"
}

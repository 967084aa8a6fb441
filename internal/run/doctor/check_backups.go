package doctor

import (
	"context"
	"fmt"
	"time"

	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
)

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
		if has, err := care.ReadContents(ctx, list[0].Path); err == nil && at.After(e.now) {
			at = has.Newest.Time() // the clock was ahead when the backup was named
		}
		if newest.Sub(at) > backupLate {
			return []Finding{e.found("backup-old", "the newest backup was made "+e.ago(at))}, ""
		}
		return nil, fmt.Sprintf("%s, the newest made %s", text.Count(len(list), "backup"), e.ago(at))
	}
	db, err := e.database()
	if err != nil {
		return nil, unread(err)
	}
	has, err := db.Contents(ctx)
	if err != nil {
		return nil, unread(err)
	}
	if has.Began > 0 && newest.Sub(has.Began.Time()) > backupLate {
		return []Finding{e.found("backup-missing", "there is no backup; the first event was received "+e.ago(has.Began.Time()))}, ""
	}
	return nil, "none yet: the worker makes one a day"
}

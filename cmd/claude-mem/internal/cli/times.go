package cli

import (
	"context"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/memory"

	"github.com/spf13/cobra"
)

// RangeFlags select records by project and time.
type RangeFlags struct {
	app     *App
	project *string
	times   *Times
}

// RangeFlags adds --project, --since and --until.
func (a *App) RangeFlags(cmd *cobra.Command) RangeFlags {
	return RangeFlags{a, a.ProjectFlag(cmd, "", "only of this project, by its directory or name"), AddTimes(cmd)}
}

// Parse returns the root of the project, "" for all, and the times, 0 for no bound.
func (f *RangeFlags) Parse(ctx context.Context, m *access.Memory) (project string, since, until memory.Millis, err error) {
	if *f.project != "" {
		project, err = f.app.RootOf(ctx, m.Memory, *f.project, "no records of project")
	}
	if err == nil {
		since, until, err = f.times.Parse(f.app.Now())
	}
	return project, since, until, err
}

// Times are the bounds of a time.
type Times struct{ Since, Until string }

// AddTimes adds --since and --until.
func AddTimes(cmd *cobra.Command) *Times {
	return AddTimesFor(cmd, "not earlier than this time", "not later than this time; a date includes its whole day")
}

// AddTimesFor adds --since and --until with these helps.
func AddTimesFor(cmd *cobra.Command, since, until string) *Times {
	f := &Times{}
	cmd.Flags().StringVar(&f.Since, "since", "", since)
	cmd.Flags().StringVar(&f.Until, "until", "", until)
	CompleteFlag(cmd, "since", Fixed("today", "yesterday", "3d", "2w"))
	CompleteFlag(cmd, "until", Fixed("today", "yesterday", "3d", "2w"))
	return f
}

// Parse returns the bounds, 0 for none.
func (f *Times) Parse(now time.Time) (since, until memory.Millis, err error) {
	if f.Since != "" {
		since, err = ParseTime(f.Since, now, false)
	}
	if f.Until != "" && err == nil {
		until, err = ParseTime(f.Until, now, true)
	}
	return since, until, err
}

// ParseTime parses a time as people write it, in the local time zone: an ISO time,
// a day, month or year (its begin, or its last millisecond when last), today,
// yesterday, or an age such as 90m, 12h, 3d or 2w.
func ParseTime(text string, now time.Time, last bool) (memory.Millis, error) {
	if at, ok := memory.ParseTime(text, now, last); ok {
		return at, nil
	}
	return 0, memory.Errorf(memory.CodeInvalid, "%q is not a time", print.Line(text, 40)).
		WithHint("write 2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w")
}

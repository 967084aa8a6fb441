package main

import (
	"context"
	"strings"
	"time"

	"claudemem/internal/memory"

	"github.com/spf13/cobra"
)

// rangeFlags select records by project and time.
type rangeFlags struct {
	app     *app
	project *string
	times   *timeFlags
}

// rangeFlags adds --project, --since and --until.
func (a *app) rangeFlags(cmd *cobra.Command) rangeFlags {
	return rangeFlags{a, a.projectFlag(cmd, "", "only of this project, by its directory or name"), addTimes(cmd)}
}

// parse returns the root of the project, "" for all, and the times, 0 for no bound.
func (f *rangeFlags) parse(ctx context.Context, m *workerOrFiles) (project string, since, until memory.Millis, err error) {
	if *f.project != "" {
		project, err = f.projectPath(ctx, m)
	}
	if err == nil {
		since, until, err = f.times.parse(f.app.now())
	}
	return project, since, until, err
}

// timeFlags are the bounds of a time.
type timeFlags struct{ since, until string }

// addTimes adds --since and --until.
func addTimes(cmd *cobra.Command) *timeFlags {
	return addTimesFor(cmd, "not earlier than this time", "not later than this time; a date includes its whole day")
}

// addTimesFor adds --since and --until with these helps.
func addTimesFor(cmd *cobra.Command, since, until string) *timeFlags {
	f := &timeFlags{}
	cmd.Flags().StringVar(&f.since, "since", "", since)
	cmd.Flags().StringVar(&f.until, "until", "", until)
	completeFlag(cmd, "since", fixed("today", "yesterday", "3d", "2w"))
	completeFlag(cmd, "until", fixed("today", "yesterday", "3d", "2w"))
	return f
}

// parse returns the bounds, 0 for none.
func (f *timeFlags) parse(now time.Time) (since, until memory.Millis, err error) {
	if f.since != "" {
		since, err = parseTime(f.since, now, false)
	}
	if f.until != "" && err == nil {
		until, err = parseTime(f.until, now, true)
	}
	return since, until, err
}

// parseTime parses a time as people write it, in the local time zone: an ISO time,
// a day, month or year (its begin, or its last millisecond when last), today,
// yesterday, or an age such as 90m, 12h, 3d or 2w.
func parseTime(text string, now time.Time, last bool) (memory.Millis, error) {
	if at, ok := memory.ParseTime(text, now, last); ok {
		return at, nil
	}
	return 0, memory.Errorf(memory.CodeInvalid, "%q is not a time", oneLine(text, 40)).
		WithHint("write 2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w")
}

// projectPath returns the root of the project that --project names. CodeNotFound for one
// that has no records.
func (f *rangeFlags) projectPath(ctx context.Context, m *workerOrFiles) (string, error) {
	named, err := f.app.projectNamed(*f.project)
	if err != nil {
		return "", err
	}
	projects, err := allProjects(ctx, m.Memory)
	if err != nil {
		return "", err
	}
	var found []string
	for _, p := range projects {
		if p.ProjectPath == named || p.Project == named {
			found = append(found, p.ProjectPath)
		}
	}
	switch len(found) {
	case 0:
		return "", memory.Errorf(memory.CodeNotFound, "no records of project %q", oneLine(named, 200)).WithHint("`claude-mem projects` lists the projects")
	case 1:
		return found[0], nil
	default:
		return "", memory.Errorf(memory.CodeInvalid, "several projects are named %q", oneLine(named, 200)).WithHint("name one by its directory: " + oneLine(strings.Join(found, ", "), 300))
	}
}

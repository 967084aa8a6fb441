package main

import (
	"context"
	"strings"

	"claudemem"

	"github.com/spf13/cobra"
)

// rangeFlags select records by project and time.
type rangeFlags struct {
	app                   *app
	project, since, until *string
}

// rangeFlags adds --project, --since and --until.
func (a *app) rangeFlags(cmd *cobra.Command) rangeFlags {
	f := rangeFlags{
		app:     a,
		project: a.projectFlag(cmd, "", "only of this project, by its directory or name"),
		since:   cmd.Flags().String("since", "", "not earlier than this time"),
		until:   cmd.Flags().String("until", "", "not later than this time; a date includes its whole day"),
	}
	completeFlag(cmd, "since", fixed("today", "yesterday", "3d", "2w"))
	completeFlag(cmd, "until", fixed("today", "yesterday", "3d", "2w"))
	return f
}

// parse returns the root of the project, "" for all, and the times, 0 for no bound.
func (f *rangeFlags) parse(ctx context.Context, m *workerOrFiles) (project string, since, until claudemem.Millis, err error) {
	if *f.project != "" {
		project, err = f.projectPath(ctx, m)
	}
	if *f.since != "" && err == nil {
		since, err = parseTime(*f.since, f.app.now(), false)
	}
	if *f.until != "" && err == nil {
		until, err = parseTime(*f.until, f.app.now(), true)
	}
	return project, since, until, err
}

// projectPath returns the root of the project that --project names. CodeNotFound for one
// that has no records.
func (f *rangeFlags) projectPath(ctx context.Context, m *workerOrFiles) (string, error) {
	named, err := f.app.projectNamed(*f.project)
	if err != nil {
		return "", err
	}
	projects, err := allProjects(ctx, m)
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
		return "", claudemem.Errorf(claudemem.CodeNotFound, "no records of project %q", oneLine(named, 200)).WithHint("`claude-mem projects` lists the projects")
	case 1:
		return found[0], nil
	default:
		return "", claudemem.Errorf(claudemem.CodeInvalid, "several projects are named %q", oneLine(named, 200)).WithHint("name one by its directory: " + oneLine(strings.Join(found, ", "), 300))
	}
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

func (a *app) showCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID...",
		Short: "Show observations and sessions in full",
		Long: `Show records in full: 12 or '#12' is an observation, S12 a session with its
prompts, summaries and observations. Either may be named by its ULID.

` + glyphLegend + `

JSON: a list in the order asked for; observations as in ` + "`claude-mem recent --json`" + `, sessions
{"kind": "session", "id", "ulid", "host", "host_session_id", "project", "project_path", "status", "title",
"prompt_count", "started_at_epoch", "updated_at_epoch", "completed_at_epoch"?, "created_at_iso",
"records_total", "prompts", "summaries", "observations"}.`,
		Example: "  claude-mem show 12\n  claude-mem show 12 13 S3 --json\n  claude-mem show 01KAC6T0V5V3YQ2M8Z9E4XW7RD",
	}
	asJSON := jsonFlag(cmd)
	cmd.ValidArgsFunction = completion(a.recordChoices())
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) error {
		ids, err := parseIDs(given)
		if err != nil {
			return err
		}
		return a.showRecords(cmd.Context(), m, ids, *asJSON)
	})
	return cmd
}

// showRecords shows records in the given order and returns an error that names the
// missing ones at the end.
func (a *app) showRecords(ctx context.Context, m *workerOrFiles, ids []recordID, asJSON bool) error {
	out := []any{}
	p := a.people()
	var missing []string
	var read []memory.ObservationID
	defer func() { a.noteLookup(ctx, m.dataDir, read) }()
	for _, id := range ids {
		if len(out) > 0 && !asJSON {
			p.printf("\n")
		}
		o, s, err := id.read(ctx, m.Memory)
		if memory.CodeOf(err) == memory.CodeNotFound {
			missing = append(missing, id.String())
			continue
		}
		if err != nil {
			return err
		}
		if o != nil {
			out, read = append(out, shownObservation{memory.RecordObservation, *o}), append(read, o.ID)
		} else {
			out = append(out, shownSession{Kind: "session", SessionRecords: *s, Observations: shownOf(s.Observations),
				Prompts: mapped(s.Prompts, func(p *api.Prompt) shownPrompt { return shownPrompt{p.PromptNumber, *p} })})
		}
		switch {
		case asJSON:
		case o != nil:
			p.observation(o)
		default:
			p.session(s)
		}
	}
	if asJSON && len(out) > 0 {
		if err := writeJSON(a.stdout, out); err != nil {
			return err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	hint := "`claude-mem recent --all` lists the observations"
	if slices.ContainsFunc(missing, func(name string) bool { return strings.HasPrefix(name, "session ") }) {
		hint = "`claude-mem sessions --all` lists the sessions"
	}
	return memory.Errorf(memory.CodeNotFound, "there is no %s", strings.Join(missing, ", no ")).WithHint(hint)
}

// sessionKey is the variable in which Claude Code tells the commands that its agent
// runs which session they are run for.
const sessionKey = "CLAUDE_CODE_SESSION_ID"

// lookupWait bounds the wait for a worker that is told of a lookup, after the
// records were shown.
const lookupWait = 300 * time.Millisecond

// noteLookup tells the worker that an agent read observations in full, for its
// session's receipt. A command only reads the database, so without a worker
// nothing is noted; nor is what a person reads.
func (a *app) noteLookup(ctx context.Context, dataDir string, read []memory.ObservationID) {
	session := a.getenv(sessionKey)
	if session == "" || len(read) == 0 {
		return
	}
	worker, err := api.FindWorker(dataDir)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookupWait+settings.Slack(a.getenv))
	defer cancel()
	// The records were shown; a worker that does not listen changes nothing about that.
	_, _ = worker.NoteLookups(ctx, api.LookupNote{Host: memory.HostClaudeCode, HostSessionID: session, Observations: read})
}

// recordID names a record: #12 an observation, S12 a session, or the ULID of either.
type recordID struct {
	session bool
	number  int64
	ulid    memory.ULID // when it is not a number
}

// String returns the id for messages: observation #12, session S12, record 01K….
func (id recordID) String() string {
	if id.ulid != "" {
		return "record " + string(id.ulid)
	}
	if id.session {
		return fmt.Sprintf("session S%d", id.number)
	}
	return fmt.Sprintf("observation #%d", id.number)
}

// parseIDs parses the ids of several arguments, each of which may be a list separated by
// commas.
func parseIDs(given []string) ([]recordID, error) {
	var ids []recordID
	for _, text := range given {
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			id, err := parseID(part)
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// parseID parses 12, #12, S12 or a ULID.
func parseID(text string) (recordID, error) {
	id := recordID{}
	digits := strings.TrimPrefix(text, "#")
	if s, ok := strings.CutPrefix(strings.ToUpper(text), "S"); ok {
		id.session, digits = true, s
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil && api.IsULID(text) {
		return recordID{ulid: memory.ULID(strings.ToUpper(text))}, nil
	}
	if err != nil || n < 1 {
		return id, memory.Errorf(memory.CodeInvalid, "%q is not an id", oneLine(text, 40)).
			WithHint("an observation is 12 or '#12', a session S12, either has a ULID too; `claude-mem recent` lists them")
	}
	id.number = n
	return id, nil
}

// read returns the observation or the session of the id; the other one is nil. It does
// not note that they were read.
func (id recordID) read(ctx context.Context, m api.Memory) (*api.Observation, *api.SessionRecords, error) {
	name := cmp.Or(string(id.ulid), strconv.FormatInt(id.number, 10))
	if !id.session {
		o, err := m.Observation(ctx, api.ObservationRequest{Name: name})
		if err == nil || id.ulid == "" || memory.CodeOf(err) != memory.CodeNotFound {
			return &o, nil, err
		}
	}
	s, err := m.Session(ctx, api.SessionRequest{Name: name, Format: api.FormatFull})
	return nil, &s, err
}

// shownSession is a session with its records in full.
type shownSession struct {
	Kind string `json:"kind"`
	api.SessionRecords
	Prompts      []shownPrompt      `json:"prompts"`
	Observations []shownObservation `json:"observations"`
}

// shownPrompt has a second name for the number of a prompt.
type shownPrompt struct {
	Number int `json:"number"`
	api.Prompt
}

// observation prints an observation in full.
func (p *printer) observation(found *api.Observation) {
	o := found.Whole()
	p.printf("%s %s  %s\n", o.Type.Glyph(), p.style(styleBold, oneLine(text.Reported(o.Foreign, o.Title), 0)), p.style(styleDim, fmt.Sprintf("#%d", o.ID)))
	if o.Subtitle != "" {
		p.printf("%s\n", oneLine(o.Subtitle, 0))
	}
	where := []string{string(o.Type), p.ago(o.CreatedAtEpoch), o.Project, fmt.Sprintf("S%d", o.SessionDBID)}
	if o.PromptNumber > 0 { // none when it was written down by hand
		where[len(where)-1] += fmt.Sprintf(" prompt %d", o.PromptNumber)
	}
	if o.Branch != "" {
		where = append(where, "branch "+oneLine(o.Branch, 60))
	}
	p.printf("%s\n", p.style(styleDim, strings.Join(where, " · ")))
	if o.SupersededBy != 0 {
		p.printf("Superseded by #%d, which holds instead.\n", o.SupersededBy)
	}
	if o.Narrative != "" {
		p.printf("\n%s\n", safe(o.Narrative))
	}
	if len(o.Facts) > 0 {
		p.printf("\n")
	}
	for _, fact := range o.Facts {
		p.printf("- %s\n", oneLine(fact, 0))
	}
	p.paths("Modified", o.FilesModified)
	p.paths("Read", o.FilesRead)
	if len(o.Concepts) > 0 {
		p.printf("%s %s\n", p.style(styleDim, "Concepts:"), oneLine(strings.Join(o.Concepts, ", "), 0))
	}
}

// paths prints a line with the label and paths; nothing without paths.
func (p *printer) paths(label string, paths []string) {
	if len(paths) > 0 {
		p.printf("%s %s\n", p.style(styleDim, label+":"), oneLine(strings.Join(paths, ", "), 0))
	}
}

// session prints a session prompt by prompt, each with its summary and observations.
func (p *printer) session(s *api.SessionRecords) {
	title := s.Title
	if title == "" && len(s.Prompts) > 0 {
		title = s.Prompts[0].Text
	}
	p.printf("%s  %s\n", p.style(styleBold, fmt.Sprintf("S%d", s.ID)), p.style(styleBold, oneLine(title, 100)))
	p.printf("%s\n", p.style(styleDim, strings.Join([]string{
		oneLine(s.Project, 60), string(s.Host), string(s.Status), p.ago(s.UpdatedAtEpoch), oneLine(s.HostSessionID, 80),
	}, " · ")))
	for number := 0; number <= s.PromptCount; number++ {
		for _, prompt := range s.Prompts {
			if prompt.PromptNumber == number {
				p.printf("\n%s %s\n", p.style(styleBold, fmt.Sprintf("%d.", number)), oneLine(prompt.Text, 300))
			}
		}
		for i := range s.Summaries {
			if s.Summaries[i].PromptNumber == number {
				p.summary(&s.Summaries[i])
			}
		}
		for _, o := range s.Observations {
			if o.PromptNumber == number {
				entry := o.Entry()
				p.printf("   %s %s  %s\n", o.Type.Glyph(), oneLine(entry.Reported(), 100), p.style(styleDim, joined(", ", entry.Name(), entry.Mark())))
			}
		}
	}
}

// summary prints the fields of a summary that are not empty, a line each.
func (p *printer) summary(y *api.Summary) {
	for _, field := range []struct{ name, text string }{
		{"Investigated", y.Investigated}, {"Learned", y.Learned}, {"Completed", y.Completed}, {"Next", y.NextSteps}, {"Notes", y.Notes},
	} {
		if field.text != "" {
			p.printf("   %s %s\n", p.style(styleDim, field.name+":"), oneLine(text.Reported(y.Provenance, field.text), 400))
		}
	}
}

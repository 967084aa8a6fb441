package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/keep/index"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// A remembrance is what a memory has made of talks, and how it answers probes.
type remembrance struct {
	records []record
	answers []answer // of the probes, in their order
}

// A record is what a memory keeps of a talk. One that is superseded, hidden or retired is none.
type record struct {
	kind string // observation, summary, learning, prompt
	talk string
	text string
	// front is what is shown of an observation first: its title, subtitle and first fact.
	front string
}

// An answer is what a probe got.
type answer struct {
	found []string // the talks that search finds, one for each result, the best first
	given []line   // beside the prompt
}

// A line is a record as it is given beside a prompt.
type line struct{ text, talk string }

// store is a data directory of the real programs, with a home of its own.
type store struct {
	top, bin string
	env      []string
}

// open makes an empty memory whose distiller asks no model. The programs lie in bin.
func open(bin string) (*store, error) {
	top, err := os.MkdirTemp("", "talk-")
	if err == nil {
		top, err = filepath.EvalSymlinks(top)
	}
	if err != nil {
		return nil, err
	}
	m := &store{top: top, bin: bin}
	m.env = []string{
		"HOME=" + m.path("home"), "USERPROFILE=" + m.path("home"), "TMPDIR=" + m.path("tmp"), "TMP=" + m.path("tmp"),
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "CLAUDE_MEM_DATA_DIR=" + m.path("data"),
		"CLAUDE_MEM_SLACK=20s", // no outcome shall depend on how busy the machine is
	}
	for _, dir := range []string{"home", "tmp", "data", "project", "talks"} {
		err = errors.Join(err, os.Mkdir(m.path(dir), 0o700))
	}
	settings := `{"CLAUDE_MEM_PROVIDER":"offline","CLAUDE_MEM_WORKER_PORT":"0"}`
	return m, errors.Join(err, os.WriteFile(filepath.Join(m.path("data"), "config.json"), []byte(settings), 0o600))
}

func (m *store) path(name string) string { return filepath.Join(m.top, name) }

// close stops the worker and removes everything.
func (m *store) close() error {
	_, err := m.run(context.Background(), nil, "claude-mem", "worker", "stop")
	return errors.Join(err, os.RemoveAll(m.top))
}

// run returns the output of a program that runs in the project.
func (m *store) run(ctx context.Context, input []byte, program string, args ...string) ([]byte, error) {
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	cmd := exec.CommandContext(ctx, filepath.Join(m.bin, program), args...)
	cmd.Env, cmd.Dir, cmd.Stdin = m.env, m.path("project"), bytes.NewReader(input)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, bytes.TrimSpace(problem.Bytes()))
	}
	return out, err
}

// ask reads what a command with --json prints.
func (m *store) ask(ctx context.Context, into any, args ...string) error {
	out, err := m.run(ctx, nil, "claude-mem", args...)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

// remember imports the talks of a set into a memory of its own and asks its probes: search
// first, then each prompt in a fresh session that was given no start block.
func remember(ctx context.Context, bin string, s set) (r remembrance, err error) {
	m, err := open(bin)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	owner := map[string]string{} // by the host's session
	for i := range s.talks {
		t := &s.talks[i]
		owner[hostID(t.name)] = t.name
		if err := os.WriteFile(filepath.Join(m.path("talks"), hostID(t.name)+".jsonl"), t.transcript(m.path("project")), 0o600); err != nil {
			return r, err
		}
	}
	if len(s.talks) == 0 {
		return r, nil
	}
	if _, err := m.run(ctx, nil, "claude-mem", "import", "--yes", m.path("talks")); err != nil {
		return r, err
	}
	if err := m.drained(ctx); err != nil {
		return r, err
	}
	if r.records, err = m.records(ctx, s.talks, owner); err != nil {
		return r, err
	}
	sessions, err := m.sessions(ctx, owner)
	if err != nil {
		return r, err
	}
	if err := m.start(ctx, r.records); err != nil {
		return r, err
	}
	r.answers = make([]answer, len(s.probes))
	for i, p := range s.probes {
		if r.answers[i].found, err = m.search(ctx, p.prompt, sessions); err != nil {
			return r, err
		}
	}
	for i, p := range s.probes {
		if r.answers[i].given, err = m.prompt(ctx, "ask "+p.name, p.prompt, r.records, sessions); err != nil {
			return r, err
		}
	}
	return r, nil
}

// hostID returns the session id of a name, in the form of a UUID.
func hostID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%x-%x-4%x-8%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])[:36]
}

// transcript returns a talk as Claude Code keeps it: a record a line, a minute apart.
func (t *talk) transcript(dir string) []byte {
	type object = map[string]any
	var out bytes.Buffer
	encode := json.NewEncoder(&out)
	prompt := ""
	for i, x := range t.turns {
		id := hostID(t.name + " " + strconv.Itoa(i))
		o := object{
			"type": x.Role, "uuid": id, "sessionId": hostID(t.name), "cwd": dir,
			"timestamp": t.at.Add(time.Duration(i) * time.Minute).UTC().Format(time.RFC3339Nano),
		}
		if x.Role == "user" {
			prompt = id
			o["message"] = object{"role": "user", "content": x.Text}
		} else {
			o["message"] = object{"role": "assistant", "stop_reason": "end_turn", "content": []object{{"type": "text", "text": x.Text}}}
		}
		o["promptId"] = prompt
		_ = encode.Encode(o) // strings and maps of them
	}
	return out.Bytes()
}

// drained returns an error unless everything that was imported was distilled.
func (m *store) drained(ctx context.Context) error {
	var books struct {
		Queue struct{ Pending, Processing, Failed int } `json:"queue"`
	}
	if err := m.ask(ctx, &books, "queue", "--json"); err != nil {
		return err
	}
	if q := books.Queue; q.Pending+q.Processing+q.Failed > 0 {
		return fmt.Errorf("not distilled after the import: %+v", q)
	}
	return nil
}

// start starts a worker and waits until every record can be found: the index follows, and a
// build of it begins a moment after the worker.
func (m *store) start(ctx context.Context, records []record) error {
	searched := 0
	for _, r := range records {
		if r.kind == "prompt" || r.kind == "observation" {
			searched++
		}
	}
	if _, err := m.run(ctx, nil, "claude-mem", "worker", "start"); err != nil {
		return err
	}
	worker, err := api.FindWorker(m.path("data"))
	if err != nil {
		return err
	}
	const often = 50 * time.Millisecond
	for ; ; time.Sleep(often) {
		var stats struct{ Index *index.Status }
		if err := worker.Do(ctx, http.MethodGet, "/api/stats", nil, &stats); err != nil {
			return err
		}
		if x := stats.Index; x != nil && x.Error != "" {
			return errors.New("index: " + x.Error)
		} else if x != nil && x.Documents >= searched && x.Behind == 0 && !x.Building && x.Waiting == 0 {
			return nil
		}
	}
}

// records reads what the memory keeps, from its export. A learning names no session: it is of
// the talk that had begun last when it was made.
func (m *store) records(ctx context.Context, talks []talk, owner map[string]string) ([]record, error) {
	out, err := m.run(ctx, nil, "claude-mem", "export")
	if err != nil {
		return nil, err
	}
	of := map[memory.ULID]string{}
	var all []record
	for raw := range bytes.Lines(out) {
		var p memory.Portable
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, err
		}
		var r record
		switch {
		case p.Session != nil:
			of[p.Session.ULID] = owner[p.Session.HostSessionID]
		case p.Prompt != nil:
			r = record{kind: "prompt", talk: of[p.Prompt.Session], text: p.Prompt.Text}
		case p.Summary != nil:
			s := p.Summary // its request is the prompt again
			r = record{kind: "summary", talk: of[s.Session], text: joined(s.Investigated, s.Learned, s.Completed, s.NextSteps, s.Notes)}
		case p.Observation != nil && p.Observation.SupersededBy == "" && p.Observation.HiddenAt == 0:
			o := p.Observation
			r = record{
				kind: "observation", talk: of[o.Session], front: joined(o.Title, o.Subtitle, joined(o.Facts[:min(1, len(o.Facts))]...)),
				text: joined(o.Title, o.Subtitle, joined(o.Facts...), o.Narrative),
			}
		case p.Learning != nil && p.Learning.Active:
			r = record{kind: "learning", talk: begunBefore(talks, p.Learning.CreatedAt.Time()), text: p.Learning.Content}
		}
		if r.text != "" {
			all = append(all, r)
		}
	}
	return all, nil
}

// joined returns the texts that are not empty as lines.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" }), "\n")
}

// begunBefore returns the name of the talk that had begun last at a time.
func begunBefore(talks []talk, at time.Time) (name string) {
	var began time.Time
	for _, t := range talks {
		if !t.at.After(at) && !t.at.Before(began) {
			began, name = t.at, t.name
		}
	}
	return name
}

// sessions returns the talk of each session by the session's number.
func (m *store) sessions(ctx context.Context, owner map[string]string) (map[int64]string, error) {
	of := map[int64]string{}
	for {
		var page struct {
			Total   int
			Results []struct {
				ID   int64  `json:"id"`
				Host string `json:"host_session_id"`
			}
		}
		if err := m.ask(ctx, &page, "sessions", "list", "--all", "--json", "-n", "100", "--offset", strconv.Itoa(len(of))); err != nil {
			return nil, err
		}
		for _, x := range page.Results {
			of[x.ID] = owner[x.Host]
		}
		if len(page.Results) == 0 || len(of) >= page.Total {
			return of, nil
		}
	}
}

// depth is how many results a search asks for: all that the command gives.
const depth = 100

// search returns the talks of what search finds, one for each result.
func (m *store) search(ctx context.Context, text string, sessions map[int64]string) (found []string, err error) {
	var page struct {
		Results []struct {
			Session int64 `json:"session_db_id"`
		}
	}
	if err := m.ask(ctx, &page, "search", "--json", "--full", "-n", strconv.Itoa(depth), "--", text); err != nil {
		return nil, err
	}
	for _, x := range page.Results {
		found = append(found, sessions[x.Session])
	}
	return found, nil
}

// prompt returns what the hook gives beside a prompt in a fresh session.
func (m *store) prompt(ctx context.Context, name, text string, records []record, sessions map[int64]string) ([]line, error) {
	payload, err := json.Marshal(map[string]string{
		"hook_event_name": "UserPromptSubmit", "session_id": hostID(name), "prompt_id": hostID(name + " prompt"), "prompt": text,
		"transcript_path": filepath.Join(m.path("home"), hostID(name)+".jsonl"), "cwd": m.path("project"), "permission_mode": "default",
	})
	if err != nil {
		return nil, err
	}
	out, err := m.run(ctx, payload, "claude-mem-hook", "new")
	if err != nil || len(bytes.TrimSpace(out)) == 0 {
		return nil, err
	}
	var reply struct {
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if err := json.Unmarshal(out, &reply); err != nil {
		return nil, fmt.Errorf("read what the hook gives: %w", err)
	}
	lines := givenLines(reply.HookSpecificOutput.AdditionalContext)
	for i := range lines {
		if lines[i].talk, err = m.talkOf(ctx, lines[i].text, records, sessions); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// givenLines returns the items of the list that the hook gives; what a line below one says is
// of it.
func givenLines(text string) (lines []line) {
	for s := range strings.SplitSeq(text, "\n") {
		if item, is := strings.CutPrefix(s, "- "); is {
			lines = append(lines, line{text: item})
		} else if len(lines) > 0 && !strings.HasPrefix(s, "</") {
			lines[len(lines)-1].text += "\n" + s
		}
	}
	return lines
}

var observationID = regexp.MustCompile(`\(#(\d+)\b`)

// talkOf returns the talk that a line is of: that of the observation whose number the line has
// last, else that of the learning whose words it has.
func (m *store) talkOf(ctx context.Context, text string, records []record, sessions map[int64]string) (string, error) {
	ids := observationID.FindAllStringSubmatch(text, -1)
	if len(ids) == 0 {
		i := slices.IndexFunc(records, func(r record) bool { return r.kind == "learning" && strings.Contains(text, r.text) })
		if i < 0 {
			return "", nil
		}
		return records[i].talk, nil
	}
	var shown []struct {
		Session int64 `json:"session_db_id"`
	}
	if err := m.ask(ctx, &shown, "show", "--json", ids[len(ids)-1][1]); err != nil {
		return "", err
	}
	if len(shown) != 1 {
		return "", fmt.Errorf("the line names no observation: %s", text)
	}
	return sessions[shown[0].Session], nil
}

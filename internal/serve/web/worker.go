package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"claudemem/internal/keep/store/books"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// Worker is what pages show of the process that serves them.
type Worker interface {
	// Settings returns every setting with the value that the worker uses, secrets masked.
	Settings() []settings.View
	// Stats returns what GET /api/stats says of the worker: sizes, stages, index.
	Stats(ctx context.Context) map[string]any
	// DevicesStatus tells of the devices that have this memory; CodeNotFound if it is on one.
	DevicesStatus(ctx context.Context) (*memory.DevicesStatus, error)
	// TeamStatus tells of the team; CodeNotFound if the memory is in none.
	TeamStatus(ctx context.Context) (*care.TeamStatus, error)
	// Examine returns what `claude-mem doctor --json` prints. It takes one to six seconds.
	Examine(ctx context.Context) ([]byte, error)
}

// health is what the pages show of Stats, under the names of its JSON.
type health struct {
	PID       int               `json:"pid"`
	StartedAt memory.Millis     `json:"started_at"`
	DataDir   string            `json:"data_dir"`
	Stages    map[string]string `json:"stages"`
	Sizes     map[string]int64  `json:"sizes"`
	Spool     struct {
		Waiting int `json:"waiting"`
		Corrupt int `json:"corrupt"`
	} `json:"spool"`
	Index struct {
		State      string `json:"state"`
		Documents  int    `json:"documents"`
		Behind     int    `json:"behind"`
		Building   bool   `json:"building"`
		Model      string `json:"model"`
		Waiting    int    `json:"waiting"`
		Error      string `json:"error"`
		EmbedError string `json:"embed_error"`
	} `json:"index"`
}

// readHealth returns the worker's statistics as a client of GET /api/stats would read them.
func readHealth(ctx context.Context, w Worker) (h health, err error) {
	raw, err := json.Marshal(w.Stats(ctx))
	if err == nil {
		err = json.Unmarshal(raw, &h)
	}
	return h, err
}

// queueView is what the page of the queue shows.
type queueView struct {
	api.Queue
	// MoreWaiting and MoreDead count those that are left out.
	MoreWaiting, MoreDead int
	// Kept counts the events that a model can still be shown.
	Kept     int
	Provider string
	Now      memory.Millis
	Health   health
	Stages   []stage
	Sizes    []size
	// Well says that no stage of the worker is in trouble.
	Well bool
}

// stage is a part of the worker and its state: ok, or what is wrong with it.
type stage struct{ Name, State string }

// size is what a kind of files takes on the disk.
type size struct{ Name, Bytes string }

// queue shows what waits to be distilled, what failed, and how the worker does.
func (v *visit) queue() view {
	q := ask(v, api.Memory.Queue, api.QueueRequest{})
	h, err := readHealth(v.Context(), v.opts.Worker)
	v.fail(err)
	shown := queueView{Queue: q, Now: memory.MillisOf(v.now), Health: h, Well: true}
	for _, s := range v.opts.Worker.Settings() {
		if s.Key == settings.KeyProvider {
			shown.Provider = s.Value
		}
	}
	shown.MoreWaiting, shown.MoreDead = shorten(&shown.Waiting), shorten(&shown.DeadLetters)
	shown.Kept = collect.Sum(q.Unread, func(u books.Unread) int { return u.Kept })
	for _, name := range slices.Sorted(maps.Keys(h.Stages)) {
		shown.Stages = append(shown.Stages, stage{name, h.Stages[name]})
		shown.Well = shown.Well && h.Stages[name] == "ok"
	}
	names := slices.SortedFunc(maps.Keys(h.Sizes), func(a, b string) int { return cmp.Compare(h.Sizes[b], h.Sizes[a]) })
	shown.Sizes = collect.Pick(names, func(name string) (size, bool) { return size{name, text.Bytes(h.Sizes[name])}, h.Sizes[name] > 0 })
	return view{Title: "Queue", JSON: inAPI(api.Memory.Queue, api.QueueRequest{}), Data: shown}
}

// Later reports whether the events of a session are postponed, by when the page was made.
func (q queueView) Later(w api.Waiting) bool { return w.NextDue > q.Now }

// Total counts the events that wait or are being distilled.
func (q queueView) Total() int { return q.Queue.Queue.Pending + q.Queue.Queue.Processing }

// What names a failed event.
func (q queueView) What(d memory.DeadLetter) string {
	if d.ToolName == "" {
		return string(d.Kind)
	}
	return fmt.Sprintf("%s %s", d.Kind, d.ToolName)
}

// Meaning returns why no model has read events.
func (q queueView) Meaning(u books.Unread) string { return u.Meaning() }

// doctor shows what `claude-mem doctor` finds. It waits until the doctor has ended, so the page
// of the queue loads this one later, as a fragment.
func (v *visit) doctor() view {
	var r struct {
		Status   api.Severity
		Counts   api.FindingCounts
		Findings []api.Finding
	}
	raw, err := v.opts.Worker.Examine(v.Context())
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	v.fail(err)
	// The worst first; within a status in the order of the checks.
	_, of := collect.Group(r.Findings, func(f *api.Finding) api.Severity { return f.Status })
	return view{Title: "Doctor", Data: struct {
		Status      api.Severity
		Counts      api.FindingCounts
		Wrong, Fine []api.Finding
	}{r.Status, r.Counts, append(of["fail"], of["warn"]...), of["ok"]}}
}

// devices shows the devices that have this memory, what one lacks of another, and what they do not agree on.
func (v *visit) devices() view {
	status, err := v.opts.Worker.DevicesStatus(v.Context())
	if memory.CodeOf(err) == memory.CodeNotFound {
		return view{Title: "Devices"}
	}
	if err != nil {
		v.fail(err)
		return view{}
	}
	for i := range status.Contested {
		label(status, status.Contested[i].Others)
	}
	return view{Title: "Devices", JSON: api.DevicesStatusPath, Data: struct {
		*memory.DevicesStatus
		MoreRefused, MoreContested int
	}{status, shorten(&status.Refused), shorten(&status.Contested)}}
}

// team shows who shares how much, how far this memory and the server are, and what leaves.
func (v *visit) team() view {
	status, err := v.opts.Worker.TeamStatus(v.Context())
	if memory.CodeOf(err) == memory.CodeNotFound {
		return view{Title: "Team"}
	}
	if err != nil {
		v.fail(err)
		return view{}
	}
	all := status.Shared + status.Edited
	shorten(&status.Leaving)
	return view{Title: "Team", JSON: api.TeamStatusPath, Data: struct {
		*care.TeamStatus
		Rows, MoreAuthors, MoreLeaving int
	}{status, int(status.Behind), shorten(&status.Authors), max(0, all-len(status.Leaving))}}
}

// label has texts name their devices by what people call these.
func label(status *memory.DevicesStatus, texts []memory.Version) {
	known := append([]memory.Device{{Device: status.Device, Label: status.Label}}, status.Devices...)
	for i := range texts {
		if n := slices.IndexFunc(known, func(d memory.Device) bool { return d.Device == texts[i].Device }); n >= 0 {
			texts[i].Device = known[n].Label
		}
	}
}

// versions returns the other texts of an observation, by the labels of their devices.
func (v *visit) versions(q api.ObservationRequest) []memory.Version {
	list := ask(v, api.Memory.Versions, q).Versions
	if len(list) > 0 {
		if status, err := v.opts.Worker.DevicesStatus(v.Context()); err == nil { // else by their names
			label(status, list)
		}
	}
	return list
}

// settingPrefix begins the name of every setting; commands and the page leave it out.
const settingPrefix = "CLAUDE_MEM_"

// settingGroup are the settings of one group of the table.
type settingGroup struct {
	Name     string
	Settings []shownSetting
}

// shownSetting is a setting with its name as commands take it, and whether it is not at its
// default.
type shownSetting struct {
	settings.View
	Name    string
	Changed bool
	// Own is what config.json says, "" if it says nothing of it.
	Own string
	// OnPage says that the page may change it: by a choice of Options, or a field of type Input.
	OnPage      bool
	Input, Step string
	// Options are the values of a choice, with the value in force.
	Options []option
}

// shownSettingOf returns a setting as the page shows it.
func shownSettingOf(s settings.View) shownSetting {
	row, _ := settings.Lookup(s.Key)
	shown := shownSetting{View: s, Name: strings.TrimPrefix(s.Key, settingPrefix), Changed: s.Origin != settings.FromDefault || s.Error != "", OnPage: row.OnPage, Input: "number", Step: "any"}
	if s.Origin == settings.FromFile {
		shown.Own = s.Value
	}
	var values []string
	switch row.Kind {
	case settings.Bool:
		values = []string{"true", "false"}
		if row.Default == "on" || row.Default == "off" {
			values = []string{"on", "off"}
		}
	case settings.Choice:
		values = strings.Fields(row.Choices)
	case settings.Integer:
		shown.Step = "1"
	case settings.Text, settings.List:
		shown.Input = "text"
	}
	if values != nil {
		shown.Options = collect.Map(text.Add(values, s.Value), func(value string) option { return option{value, value, value == s.Value} })
	}
	return shown
}

// settings lists the settings by group; with the parameter changed those that are not at their
// default.
func (v *visit) settings() view {
	only := v.URL.Query().Get("changed") != ""
	all := collect.Map(v.opts.Worker.Settings(), shownSettingOf)
	changed := collect.Keep(all, func(s shownSetting) bool { return s.Changed })
	shown := all
	if only {
		shown = changed
	}
	names, of := collect.Group(shown, func(s *shownSetting) string { return s.Group })
	groups := collect.Map(names, func(name string) settingGroup { return settingGroup{name, of[name]} })
	return view{Title: "Settings", JSON: "/api/settings", Data: struct {
		Groups       []settingGroup
		All, Changed int
		Only         bool
	}{groups, len(all), len(changed), only}}
}

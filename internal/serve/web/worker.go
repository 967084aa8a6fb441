package web

import (
	"context"
	"encoding/json"

	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

// Worker is what pages show of the process that serves them.
type Worker interface {
	// Settings returns every setting with the value that the worker uses, secrets masked.
	Settings() []settings.View
	// Stats returns what GET /api/stats says of the worker: sizes, stages, index.
	Stats(ctx context.Context) map[string]any
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

// readHealth returns the worker's statistics.
func readHealth(ctx context.Context, w Worker) (h health, err error) {
	raw, err := json.Marshal(w.Stats(ctx))
	if err == nil {
		err = json.Unmarshal(raw, &h)
	}
	return h, err
}

// report is what `claude-mem doctor --json` prints.
type report struct {
	Status   string    `json:"status"`
	Findings []finding `json:"findings"`
	Counts   struct {
		OK   int `json:"ok"`
		Warn int `json:"warn"`
		Fail int `json:"fail"`
	} `json:"counts"`
}

// finding is the result of a check: ok, warn or fail.
type finding struct {
	Check   string `json:"check"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Text    string `json:"text"`
	Fix     string `json:"fix"`
	Fixable bool   `json:"fixable"`
}

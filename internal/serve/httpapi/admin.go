package httpapi

import (
	"context"
	"maps"
	"net/http"

	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// health answers ok while the process runs.
func (a *server) health(context.Context, struct{}) (api.Status, error) {
	return api.Status{Status: "ok"}, nil
}

// readiness answers {"status": "ready"}, or the error of the stage that is not up: 503 unless it
// has a code with another status.
func (a *server) readiness(context.Context, struct{}) (api.Status, error) {
	err := a.Worker.Ready()
	if err != nil && memory.CodeOf(err) == memory.CodeInternal {
		err = memory.Errorf(memory.CodeUnavailable, "not ready: %w", err)
	}
	return api.Status{Status: "ready"}, err
}

func (a *server) version(context.Context, struct{}) (map[string]any, error) {
	return map[string]any{"version": a.opts.Version, "wire": wire.Version}, nil
}

// stats answers the worker's own statistics together with the counts of the memory.
func (a *server) stats(ctx context.Context, r api.StatsRequest) (map[string]any, error) {
	counts, err := a.memory.Stats(ctx, r)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(a.Worker.Stats(ctx))
	all["queue"], all["totals"], all["version"], all["wire"] = counts.Queue, counts.Totals, a.opts.Version, wire.Version
	if !r.Brief {
		all["recorded"], all["ledger"], all["receipts"] = counts.Recorded, counts.Ledger, counts.Receipts
	}
	return all, nil
}

// settingsAnswer lists every setting, in the order of their documentation.
type settingsAnswer struct {
	Settings []settings.View `json:"settings"`
}

// settings answers the settings that the worker uses.
func (a *server) settings(context.Context, struct{}) (settingsAnswer, error) {
	return settingsAnswer{a.Worker.Settings()}, nil
}

// statusRequest are the parameters of the status line.
type statusRequest struct {
	Host          string `param:"host"`
	HostSessionID string `param:"host_session"`
	ProjectPath   string `param:"project_path"`
}

// statusline returns the counts for a host's status line. Hosts ask at every turn, so it
// reads counts only.
func (a *server) statusline(ctx context.Context, r statusRequest) (memory.Statusline, error) {
	return a.Worker.Statusline(ctx, memory.StatusRequest{Host: memory.Host(r.Host).Canonical(), HostSessionID: r.HostSessionID, ProjectPath: r.ProjectPath})
}

// erasure answers how the last erasure went.
func (a *server) erasure(context.Context, struct{}) (api.Erasure, error) { return a.Worker.Erasure() }

// reindex starts a rebuild of the search index, CodeConflict if one runs, and answers its progress.
func (a *server) reindex(context.Context, struct{}) (api.Reindexing, error) {
	err := a.Worker.StartReindex()
	return a.Worker.Reindexing(), err
}

func (a *server) reindexing(context.Context, struct{}) (api.Reindexing, error) {
	return a.Worker.Reindexing(), nil
}

// shutdown starts the worker's stop and does not wait for its end. Accepted events are
// kept.
func (a *server) shutdown(w http.ResponseWriter, _ *http.Request, _ []api.Param) error {
	defer a.Worker.Shutdown()
	if err := writeJSON(w, http.StatusAccepted, api.Status{Status: "stopping"}); err != nil {
		return err
	}
	_ = http.NewResponseController(w).Flush() // before the server stops; the client may have left
	return nil
}

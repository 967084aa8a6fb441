package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/service"
	"claudemem/internal/capture/wire"
	"claudemem/internal/distil/model"
	"claudemem/internal/distil/model/claude"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
	"claudemem/internal/run/doctor"
	"claudemem/internal/serve/api"
)

// doctorConfig returns the configuration of doctor. Values that cannot be found stay
// empty: doctor works whatever is broken.
func (a *Verbs) doctorConfig() doctor.Config {
	hostDir, _ := claudedir.Config(a.Getenv, a.Home())
	self, _ := os.Executable() // without it doctor does not check the programs
	dataDir := settings.DataDir(a.Getenv)
	return doctor.Config{
		DataDir: dataDir, HostDir: hostDir, Version: wire.Program, Executable: self,
		Getenv: a.Getenv, Clock: a.Now,
		StartWorker: func(ctx context.Context) error { return service.Start(ctx, dataDir) },
		Reindex: func(ctx context.Context) error {
			_, err := daemon.Reindex(ctx, dataDir, func(int, int) {})
			return err
		},
		FindCLI:    func() (string, error) { return claude.Find("claude", os.Environ()) },
		RunVersion: runVersion,
		Search:     a.searchTitles,
		Panicked:   func(check string, stack []byte) { a.Note("check %s: %s", check, stack) },
	}
}

// searchTitles returns the titles of the observations that a search finds.
func (a *Verbs) searchTitles(ctx context.Context, query string) (titles []string, err error) {
	m, err := a.Memory()
	if err != nil {
		return nil, err
	}
	defer m.Close()
	request := api.SearchRequest{Kinds: []string{string(memory.RecordObservation)}, Query: query}
	request.Limit = 100
	page, err := m.Search(ctx, request)
	for _, h := range page.Results {
		if h.Observation != nil {
			titles = append(titles, h.Observation.Title)
		}
	}
	return titles, err
}

// askLimit is the time limit of doctor's request to a provider.
const askLimit = 8 * time.Second

// askProvider returns a function that sends a provider a free request, with the
// settings of a data directory.
func (a *Verbs) askProvider(dataDir string) func(context.Context, string) error {
	return func(ctx context.Context, provider string) error {
		s, _ := settings.Inspect(dataDir, a.Getenv) // doctor's check of the settings reports the error
		key, baseURL := settings.ProviderKeys(provider)
		return model.Reach(ctx, model.Config{Provider: provider, BaseURL: s.Text(baseURL), APIKey: s.Text(key), Timeout: askLimit})
	}
}

// versionLimit is how long a program may take to print its version; the claude CLI
// takes up to a second, more on a busy machine.
const versionLimit = 8 * time.Second

// runVersion runs a program without input and returns the first line that it prints.
func runVersion(ctx context.Context, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second // a child process may keep the output open
	out := &text.Head{Max: 4096}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("no answer within %v", versionLimit)
		}
		return "", err
	}
	line, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	return line, nil
}

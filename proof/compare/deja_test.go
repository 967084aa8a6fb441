//go:build linux

package compare

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// dejaHome is a HOME in which deja-vu finds transcripts of Claude Code and keeps its index.
type dejaHome struct {
	program, dir string
	sessions     int
}

func newDejaHome(t *testing.T, program string) *dejaHome {
	t.Helper()
	h := &dejaHome{program: program, dir: t.TempDir()}
	world.Must(t, os.MkdirAll(h.projects(), 0o700))
	return h
}

func (h *dejaHome) projects() string {
	return filepath.Join(h.dir, ".claude", "projects", "-work-compare")
}

// env has no embeddings, which deja-vu makes only with a server of a model, and no network.
func (h *dejaHome) env() []string {
	return []string{"HOME=" + h.dir, "PATH=/usr/bin:/bin", "DEJA_OFFLINE=1", "DEJA_EMBED=off"}
}

// session writes the transcript of a session with a message of the user for each text, and
// returns its id.
func (h *dejaHome) session(t *testing.T, at time.Time, texts ...string) string {
	t.Helper()
	id := fmt.Sprintf("session-%06d", h.sessions)
	h.sessions++
	var transcript strings.Builder
	for i, text := range texts {
		line, err := json.Marshal(map[string]any{
			"type": "user", "sessionId": id, "cwd": "/work/compare", "timestamp": at.Add(time.Duration(i) * time.Minute).UTC().Format(time.RFC3339),
			"message": map[string]any{"role": "user", "content": text},
		})
		world.Must(t, err)
		transcript.Write(append(line, '\n'))
	}
	world.Must(t, os.WriteFile(filepath.Join(h.projects(), id+".jsonl"), []byte(transcript.String()), 0o600))
	return id
}

func (h *dejaHome) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.program, args...)
	cmd.Env, cmd.Dir = h.env(), h.dir
	return cmd
}

// search returns the sessions that deja-vu finds, the best first.
func (h *dejaHome) search(query string, limit int) ([]string, error) {
	out, err := h.command("search", "--json", "--limit", fmt.Sprint(limit), "--", query).Output()
	if err != nil {
		return nil, fmt.Errorf("deja search %q: %w", query, err)
	}
	var answer struct {
		Hits []struct{ Session struct{ ID string } }
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, fmt.Errorf("deja search %q: %w", query, err)
	}
	var ids []string
	for _, hit := range answer.Hits {
		ids = append(ids, hit.Session.ID)
	}
	return ids, nil
}

// versionOfDeja returns what the program says of itself and the commit that it was built from.
func versionOfDeja(t *testing.T, program string) string {
	t.Helper()
	version := strings.TrimPrefix(output(t, program, "version"), "deja ")
	info, err := buildinfo.ReadFile(program)
	world.Must(t, err)
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			version += ", commit " + s.Value[:min(12, len(s.Value))]
		}
	}
	return version
}

// measureDeja times its hook before a tool call. It has no worker and no hook that records an
// event: it reads the transcripts that the agent writes. So what is killed is its indexing.
func measureDeja(t *testing.T, r *report, program, empty string) {
	h := newDejaHome(t, program)
	t.Cleanup(func() { endAll(h.dir) })
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // nothing secret
	row := killRow{Name: dejaVu, Sent: *events, Doubled: -1, Note: "sessions that its search finds; what was killed is `deja index`"}
	began, took := time.Now(), time.Duration(0) // of an indexing that is not killed
	at := began.Add(-24 * time.Hour)
	for n := range *events {
		h.session(t, at.Add(time.Duration(n)*time.Minute), fmt.Sprintf("Rename the parts of piece%04d", n))
		if n%eventsAKill != eventsAKill-1 {
			continue
		}
		if took == 0 {
			start := time.Now()
			world.Must(t, h.command("index").Run())
			took = time.Since(start)
			continue
		}
		cmd := h.command("index")
		world.Must(t, cmd.Start())
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-time.After(time.Duration(random.Float64() * float64(took))):
			if cmd.Process.Kill() == nil {
				row.Kills++
			}
			<-done
		case <-done:
		}
	}
	if out, err := h.command("index").CombinedOutput(); err != nil {
		t.Fatalf("deja index: %v: %s", err, out)
	}
	row.Took = time.Since(began)
	for n := range *events {
		id := fmt.Sprintf("session-%06d", n)
		found, err := h.search(fmt.Sprintf("piece%04d", n), 10)
		world.Must(t, err)
		if len(found) > 0 && found[0] == id {
			row.There++
		}
	}
	r.Kills = append(r.Kills, row)
	r.timeHook(t, dejaVu, "PreToolUse", "waits", "/bin/sh", `"`+program+`" hook-tool`, empty, h.env(), func(n int) []byte {
		return []byte(strings.Replace(string(toolPayload("compare-hooks", h.dir)(n)), "PostToolUse", "PreToolUse", 1))
	})
}

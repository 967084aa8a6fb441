package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"claudemem"
	"claudemem/daemon"
)

// answers gives what GET routes of the HTTP API answer: the worker's when one
// runs, else those of the same routes in this process, over the files. So a
// command finds the same with and without a worker.
type answers struct {
	app     *app
	dataDir string
	files   *filesAPI // opened when it is needed
}

func (a *app) answers() (*answers, error) {
	dataDir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	return &answers{app: a, dataDir: dataDir}, nil
}

// close ends reading; what could fail then has no effect on what was read.
func (s *answers) close() {
	if s.files != nil {
		s.files.close()
	}
}

// get decodes the answer of a route into out. CodeNoMemory when nothing was ever
// captured and no worker runs.
func (s *answers) get(ctx context.Context, path string, params url.Values, out any) error {
	target := path
	if len(params) > 0 {
		target += "?" + params.Encode()
	}
	if s.files == nil {
		// No trace of a worker is no error here.
		if peer, err := daemon.FindPeer(s.dataDir); err == nil {
			if err := peer.Do(ctx, http.MethodGet, target, nil, out); err == nil || !cannotAnswer(peer, err) {
				return err
			}
		}
		files, err := s.app.openFiles(ctx, s.dataDir)
		if err != nil {
			return err
		}
		s.files = files
	}
	return s.files.get(ctx, target, out)
}

// answer prints the answer of a route as it is for programs, and decodes it into out
// for people. told says that there is no more to tell; empty is the answer of a
// memory in which nothing is.
func (a *app) answer(ctx context.Context, s *answers, path string, params url.Values, asJSON bool, empty, out any) (told bool, err error) {
	var raw json.RawMessage
	if err := s.get(ctx, path, params, &raw); err != nil {
		return true, a.emptyMemory(err, asJSON, empty)
	}
	if asJSON {
		return true, writeJSON(a.stdout, raw)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return true, fmt.Errorf("decode the answer to %s: %w", path, err)
	}
	return false, nil
}

// cannotAnswer reports whether a worker is not there, or not now, or is of another
// version that does not know the route.
func cannotAnswer(peer *daemon.Peer, err error) bool {
	switch claudemem.CodeOf(err) {
	case claudemem.CodeUnavailable:
		return true
	case claudemem.CodeNotFound:
		return peer.Info.Version != version
	default:
		return false
	}
}

// receipt gets the receipt of the session that name means, "last" in a project.
func (s *answers) receipt(ctx context.Context, name, project string, out any) error {
	if name == "." || name == ".." || name == "" {
		// As a part of a path these would be another path.
		return claudemem.Errorf(claudemem.CodeNotFound, "there is no session %q", name).WithHint("`claude-mem sessions --all` lists them")
	}
	return s.get(ctx, "/api/sessions/"+url.PathEscape(name)+"/receipt", url.Values{"project": {project}}, out)
}

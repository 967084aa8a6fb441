package hook

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

var errNoBinary = errors.New("claude-mem is neither beside the hook nor on PATH")

// bigBinary finds claude-mem: beside this executable, or what that links to, else on PATH, where
// only absolute directories count; errNoBinary.
func bigBinary() (string, error) {
	name := "claude-mem"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	var dirs []string
	if self, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Dir(self))
		if real, err := filepath.EvalSymlinks(self); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	for _, dir := range append(dirs, filepath.SplitList(os.Getenv("PATH"))...) {
		if path := filepath.Join(dir, name); filepath.IsAbs(path) && isProgram(path) {
			return path, nil
		}
	}
	return "", errNoBinary
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}

// StartWorker starts `claude-mem worker run` for a data directory, detached from
// this process and its terminal, and does not wait for it. The worker serves all
// projects, so it gets a cleaned environment (WorkerEnviron), not the variables of
// the project that happens to start it. The data directory exists: wire.ClaimStart, by which a
// caller makes sure that nobody else starts one, has made it. What the worker writes to its
// standard error goes into that marker.
func StartWorker(dataDir string) error {
	path, err := bigBinary()
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }() // the worker has its own copies
	output := null
	if runtime.GOOS != "windows" { // where the file could not be removed while the worker has it
		if f, err := wire.StartOutput(dataDir); err == nil {
			defer func() { _ = f.Close() }()
			output = f
		}
	}
	process, err := os.StartProcess(path, []string{path, "worker", "run"}, &os.ProcAttr{
		Dir:   dataDir,
		Env:   WorkerEnviron(os.Environ(), dataDir),
		Files: []*os.File{null, null, output},
		Sys:   Detached(),
	})
	if err != nil {
		return err
	}
	return process.Release()
}

// WorkerEnviron returns those of the variables NAME=value that a worker may have: what any program
// of the user needs, and the data directory, which comes last.
func WorkerEnviron(environ []string, dataDir string) []string {
	kept := collect.Keep(environ, func(entry string) bool { return neededByWorker(variable(entry)) })
	return append(kept, settings.DataDirKey+"="+dataDir)
}

// variable returns the name in NAME=value; on Windows a name may begin with '='.
func variable(entry string) string {
	if i := strings.IndexByte(entry[min(1, len(entry)):], '='); i >= 0 {
		return entry[:i+1]
	}
	return entry
}

// neededByWorker reports whether a worker that a hook starts gets the variable of that
// name: those of the user, never those of a project or an API key.
func neededByWorker(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	switch name {
	case "HOME", "PATH", "TMPDIR", "TEMP", "TMP", "USER", "LOGNAME", "LANG", settings.SlackKey,
		"SYSTEMROOT", "SystemRoot", "APPDATA", "LOCALAPPDATA", "USERPROFILE":
		return true
	// Proxies, certificates and the directory of the claude CLI's login: they
	// belong to the user, not to a project. Never an API key.
	case "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "CLAUDE_CONFIG_DIR":
		return true
	}
	return len(name) > 4 && name[:4] == "XDG_" || len(name) > 3 && name[:3] == "LC_"
}

// largestReply bounds the output of the big binary; a context block of 10,000
// characters is 60 KB at most.
const largestReply = 1 << 20

// runBigBinary runs claude-mem to build the context block from the database and
// returns its output, the hook's reply; errNothing for none. When ctx ends, the program is killed
// and the error is that of ctx.
func runBigBinary(ctx context.Context, request memory.ContextRequest) ([]byte, error) {
	path, err := bigBinary()
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = null.Close() }() // nothing is written to it
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }() // read to its end, or given up
	process, err := os.StartProcess(path, []string{path, "context", "--from-database",
		"--host", string(request.Host), "--session-id", request.HostSessionID,
		"--project", request.ProjectPath, "--source", request.Source,
		"--worktree", request.Checkout.Root, "--branch", request.Checkout.Branch, "--head", request.Checkout.HeadCommit,
		"--start-dir", request.StartDir, "--config-dir", request.ConfigDir,
	}, &os.ProcAttr{Files: []*os.File{null, in, null}})
	_ = in.Close() // the child has its own copy
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = process.Kill() }) // it may just have ended by itself
	data, err := io.ReadAll(io.LimitReader(out, largestReply))
	if _, waited := process.Wait(); err == nil {
		err = waited
	}
	switch {
	case !stop():
		return nil, ctx.Err()
	case err == nil && len(data) == 0:
		err = errNothing
	}
	return data, err
}

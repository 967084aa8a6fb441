//go:build e2e && linux

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// TestGoInstall installs both programs by `go install PATH/cmd/...@VERSION` from a module proxy on
// loopback: these sources under the path and with the version of the release in the folder RELEASE.
func TestGoInstall(t *testing.T) {
	folder := os.Getenv("RELEASE")
	if folder == "" {
		t.Skip("RELEASE names no folder with a release")
	}
	const path = "example.org/acme/claude-mem"
	archives, err := filepath.Glob(filepath.Join(folder, "claude-mem-plugin_*.tar.gz")) // what the tag has to hold
	if err != nil || len(archives) != 1 {
		t.Fatal(err, archives)
	}
	version := "v" + strings.TrimSuffix(strings.TrimPrefix(filepath.Base(archives[0]), "claude-mem-plugin_"), ".tar.gz")
	run := func(dir string, env []string, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
		return string(out)
	}
	tree, proxy := t.TempDir(), t.TempDir()
	root := strings.TrimSpace(run(".", nil, "git", "rev-parse", "--show-toplevel"))
	run(root, nil, "sh", "-c", `git archive HEAD | tar -x -C "$1"`, "sh", tree)
	run(tree, nil, "sh", "-c", "git init -q && git add -A && .ci/rename "+path)
	run(tree, nil, "tar", "-xzf", archives[0])

	versions := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(versions, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(versions, "list"), version+"\n")
	writeFile(t, filepath.Join(versions, version+".info"), fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version))
	writeFile(t, filepath.Join(versions, version+".mod"), string(readFile(t, filepath.Join(tree, "go.mod"))))
	packed, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := zip.CreateFromDir(packed, module.Version{Path: path, Version: version}, tree); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(proxy)))
	defer server.Close()

	fetched := strings.TrimSpace(run(root, nil, "go", "env", "GOMODCACHE"))
	bin, modules := t.TempDir(), t.TempDir()
	run(t.TempDir(), []string{"GOBIN=" + bin, "GOMODCACHE=" + modules, "GOPROXY=" + server.URL + ",file://" + fetched + "/cache/download", "GONOSUMDB=*", // no database of checksums is asked: the other modules are those of this machine
		"CGO_ENABLED=0", "GOFLAGS=-trimpath -modcacherw"}, "go", "install", path+"/cmd/...@"+version)
	for _, program := range []string{"claude-mem", "claude-mem-hook"} {
		if _, err := os.Stat(filepath.Join(bin, program)); err != nil {
			t.Error(err)
		}
	}
	if out := run(".", nil, filepath.Join(bin, "claude-mem"), "--version"); !strings.Contains(out, "claude-mem "+version+" ") {
		t.Errorf("it says %s", out)
	}
	met(t, 3, "go install %s/cmd/...@%s from a proxy on loopback: both programs, of that version", path, version)
}

//go:build linux

package world

import (
	"os"
	"os/exec"
	"testing"
)

// inNamespaceKey is set in the process that has mounts of its own.
const inNamespaceKey = "CLAUDE_MEM_TEST_IN_NAMESPACE"

// OwnMounts reports whether this process may mount file systems that no other sees. The
// first call runs the test again in a process that may, and returns false.
func OwnMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inNamespaceKey) != "" {
		return true
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	flags := "-Urm"
	if os.Geteuid() == 0 {
		flags = "-m"
	}
	if err := exec.Command("unshare", flags, "true").Run(); err != nil {
		t.Skipf("no mounts of one's own here: %v", err)
	}
	again := exec.Command("unshare", flags, self, "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), inNamespaceKey+"=1")
	out, err := again.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	return false
}

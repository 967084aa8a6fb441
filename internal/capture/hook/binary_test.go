package hook

import (
	"slices"
	"testing"
)

// One project's variables must not configure the worker of all; a key must never reach it.
func TestWorkerEnviron(t *testing.T) {
	got := WorkerEnviron([]string{
		"HOME=/home/dev", "PATH=/bin", "XDG_RUNTIME_DIR=/run/user/1", "LC_ALL=C", "HTTPS_PROXY=http://proxy:3128", "CLAUDE_CONFIG_DIR=/home/dev/.c", "CLAUDE_MEM_SLACK=10s",
		"ANTHROPIC_API_KEY=x", "CLAUDE_CODE_OAUTH_TOKEN=x", "CLAUDE_MEM_PROVIDER=openai", "CLAUDE_MEM_DATA_DIR=/elsewhere", "CLAUDECODE=1", "GOFLAGS=-x", "=C:=C:\\", "odd",
	}, "/data")
	want := []string{"HOME=/home/dev", "PATH=/bin", "XDG_RUNTIME_DIR=/run/user/1", "LC_ALL=C", "HTTPS_PROXY=http://proxy:3128", "CLAUDE_CONFIG_DIR=/home/dev/.c", "CLAUDE_MEM_SLACK=10s", "CLAUDE_MEM_DATA_DIR=/data"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

package block

import (
	"strings"
	"testing"

	"claudemem/internal/memory"
)

func TestClosing(t *testing.T) {
	const commands = "`claude-mem search WORDS`, `claude-mem show ID`"
	tests := []struct {
		name                   string
		host                   memory.Host
		all                    shelf
		sessions, observations int
		want                   string
	}{
		{"sessions and observations", memory.HostClaudeCode, shelf{true, 5, 90}, 2, 5, "3 more sessions, 85 observations: " + commands + "; skill mem-search."},
		{"one of each", memory.HostClaudeCode, shelf{true, 3, 6}, 2, 5, "1 more session, 1 observation: " + commands + "; skill mem-search."},
		{"observations", memory.HostClaudeCode, shelf{true, 2, 90}, 2, 5, "85 more observations: " + commands + "; skill mem-search."},
		{"sessions", memory.HostClaudeCode, shelf{true, 3, 5}, 2, 5, "1 more session: " + commands + "; skill mem-search."},
		{"a host without the skill", memory.HostRaw, shelf{true, 5, 90}, 2, 5, "3 more sessions, 85 observations: " + commands + "."},
		{"all are shown", memory.HostClaudeCode, shelf{true, 2, 5}, 2, 5, "`claude-mem show ID` prints one of these in full."},
		{"not known", memory.HostClaudeCode, shelf{false, 0, 0}, 2, 5, "`claude-mem show ID` prints one of these in full."},
		{"hidden meanwhile", memory.HostClaudeCode, shelf{true, 1, 4}, 2, 5, "`claude-mem show ID` prints one of these in full."},
		{"many", memory.HostClaudeCode, shelf{true, 99, 9999}, 0, 0, "99 more sessions, 9999 observations: " + commands + "; skill mem-search."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := closing(tt.host, tt.all, tt.sessions, tt.observations)
			if got != "\n"+tt.want+"\n" {
				t.Errorf("got %q, want %q", strings.TrimSpace(got), tt.want)
			}
			// Every session pays for it.
			if tokens := memory.EstimateTokens(got); tokens > 30 {
				t.Errorf("%d tokens", tokens)
			}
		})
	}
}

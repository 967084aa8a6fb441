package block

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// TestWithhold: an arm replaces the text and what is booked of it, and nothing else; what is not
// known withholds nothing.
func TestWithhold(t *testing.T) {
	whole := memory.ContextBlock{Text: "<claude-mem-context>\n- the till\n</claude-mem-context>", Tokens: 400, SystemMessage: "claude-mem: 7 observations",
		Layers:    []memory.LayerCost{{Name: "observations"}},
		Injection: memory.Injection{Host: memory.HostClaudeCode, Observations: []memory.ObservationID{7}, Lines: []memory.ContextLine{{Observation: 7}}, Tokens: 400}}
	for _, tt := range []struct {
		name    string
		trial   memory.Trial
		err     error
		session string
		arm     memory.Arm
	}{
		{"no trial", memory.Trial{}, nil, "s", ""},
		{"an ended trial", memory.Trial{ID: 1, Share: 100, EndedAt: 5}, nil, "s", ""},
		{"memory", memory.Trial{ID: 1}, nil, "s", memory.ArmMemory},
		{"nothing", memory.Trial{ID: 1, Share: 100}, nil, "s", memory.ArmNothing},
		{"placebo", memory.Trial{ID: 1, Placebo: 100}, nil, "s", memory.ArmPlacebo},
		{"a preview", memory.Trial{ID: 1, Share: 100}, nil, "", ""},
		{"unreadable", memory.Trial{ID: 1, Share: 100}, errors.New("disk"), "s", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &Builder{opts: Options{Logger: slog.New(slog.DiscardHandler), Trial: func(context.Context, memory.Host, string) (memory.Trial, error) { return tt.trial, tt.err }}}
			got := whole
			got.Injection.HostSessionID = tt.session
			b.withhold(t.Context(), &got)
			if got.Injection.Arm != tt.arm || got.SystemMessage != whole.SystemMessage {
				t.Errorf("arm %q with %q, want %q", got.Injection.Arm, got.SystemMessage, tt.arm)
			}
			switch tt.arm {
			case memory.ArmNothing, memory.ArmPlacebo:
				if strings.Contains(got.Text, "till") || len(got.Layers)+len(got.Injection.Observations)+len(got.Injection.Lines) != 0 || got.Injection.Tokens != got.Tokens {
					t.Errorf("something of the block is left: %+v", got)
				}
				if placebo := tt.arm == memory.ArmPlacebo; placebo != (got.Tokens > 390 && got.Tokens < 440) || placebo == (got.Text == "") {
					t.Errorf("%d tokens: %s", got.Tokens, got.Text)
				}
			default:
				if got.Text != whole.Text || len(got.Injection.Observations) != 1 {
					t.Errorf("the block was changed: %+v", got)
				}
			}
		})
	}
}

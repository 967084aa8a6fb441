package block

import (
	"context"
	_ "embed"
	"strings"

	"claudemem/internal/find/recall"
	"claudemem/internal/find/trial"
	"claudemem/internal/memory"
)

// placebo has general statements, one a line, that say nothing of any project.
//
//go:embed placebo.md
var placebo string

// withhold replaces the text of a block by what the arm of its session is given. The user's line
// stays, so that the arms look the same to them. A trial that cannot be read withholds nothing, and
// the session counts in none.
func (b *Builder) withhold(ctx context.Context, block *memory.ContextBlock) {
	in := &block.Injection
	if b.opts.Trial == nil || in.HostSessionID == "" {
		return
	}
	t, err := b.opts.Trial(ctx, in.Host, in.HostSessionID)
	if err != nil {
		b.opts.Logger.Warn("the trial cannot be read; the session is given its block", "error", err)
		return
	}
	var withheld bool
	if in.Arm, withheld = trial.Withheld(&t, in.Host, in.HostSessionID); !withheld || in.Source == memory.SourceNow {
		return
	}
	text := ""
	if in.Arm == memory.ArmPlacebo {
		text = placeboOf(block.Tokens)
	}
	block.Text, block.Tokens, in.Tokens = text, memory.EstimateTokens(text), memory.EstimateTokens(text)
	block.Layers, block.Lines, block.LeftOut = []memory.LayerCost{}, nil, nil
	in.Observations, in.Sessions, in.FindSaid, in.Lines, in.Layers = nil, nil, nil, nil, block.Layers
}

// placeboOf returns statements of about so many tokens, in whole lines, in the frame of a block; ""
// for 0.
func placeboOf(tokens int) (text string) {
	lines := strings.Split(strings.TrimSpace(placebo), "\n")
	for i := 0; memory.EstimateTokens(text) < tokens; i++ {
		text = strings.TrimSuffix(text, recall.CloseTag)
		if i == 0 {
			text = recall.OpenTag
		}
		text += "- " + lines[i%len(lines)] + "\n" + recall.CloseTag
	}
	return text
}

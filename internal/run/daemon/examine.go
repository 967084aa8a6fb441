package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"claudemem/internal/memory"
)

const (
	// examineLimit bounds one run of the doctor.
	examineLimit = 45 * time.Second
	// examineAge is how long its result is shown again: pages are reloaded.
	examineAge = 5 * time.Second
)

// errNoReport is the error of a doctor that ended well and printed something else.
var errNoReport = errors.New("it printed no report")

// examined is the last result of the doctor.
type examined struct {
	report []byte
	at     time.Time
}

// Examine returns what `claude-mem doctor --json` prints. The command runs in a process of its
// own, since a check that hangs stays behind; one at a time. CodeUnavailable if it cannot be
// run or does not end.
func (w *Worker) Examine(ctx context.Context) ([]byte, error) {
	if w.cfg.Command == nil {
		return nil, errNoProgram
	}
	ctx, cancel := context.WithTimeout(ctx, examineLimit)
	defer cancel()
	select {
	case last := <-w.examined:
		report, err := w.examine(ctx, &last)
		w.examined <- last
		return report, err
	case <-ctx.Done():
		return nil, memory.Errorf(memory.CodeUnavailable, "the doctor is still looking").WithHint("claude-mem doctor")
	}
}

// examine returns the last report if it is fresh, or else a new one.
func (w *Worker) examine(ctx context.Context, last *examined) ([]byte, error) {
	now := w.cfg.Clock()
	if age := now.Sub(last.at); last.report != nil && age >= 0 && age < examineAge {
		return last.report, nil
	}
	command, err := w.cfg.Command(ctx, "doctor", "--json")
	if err != nil {
		return nil, fmt.Errorf("run the doctor: %w", err)
	}
	command.WaitDelay = time.Second // programs that it has started may hold its output open
	printed, err := command.Output()
	if !json.Valid(printed) { // it exits with another status than 0 when it finds something
		if err == nil {
			err = errNoReport
		}
		return nil, memory.Errorf(memory.CodeUnavailable, "the doctor failed: %w", err).WithHint("run `claude-mem doctor` in a terminal")
	}
	*last = examined{printed, w.cfg.Clock()}
	return printed, nil
}

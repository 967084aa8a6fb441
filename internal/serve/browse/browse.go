package browse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// Options say what the program shows and where.
type Options struct {
	Memory api.Memory
	// Away reports whether the last answer of Memory came without a worker.
	Away func() bool
	// Name is how the status line names the memory.
	Name string
	// Filter is the text of the filter to begin with.
	Filter string
	// Colours allows colours.
	Colours  bool
	Clock    func() time.Time
	Location *time.Location
	In, Out  *os.File
	// Env is the environment of the terminal.
	Env []string
}

// pollPause is the pause between two looks for new records. A look takes a few milliseconds.
const pollPause = 2 * time.Second

// Run shows the memory until the reader quits or ctx ends. CodeInvalid if there is no
// terminal.
func Run(ctx context.Context, opts Options) error {
	if opts.In == nil || opts.Out == nil || !term.IsTerminal(opts.In.Fd()) || !term.IsTerminal(opts.Out.Fd()) {
		return memory.Errorf(memory.CodeInvalid, "browse needs a terminal").
			WithHint("`claude-mem recent` and `claude-mem search` print what it shows")
	}
	asking, stop := context.WithCancel(ctx)
	defer stop() // questions on their way end with the program
	p := tea.NewProgram(newModel(asking, opts), tea.WithContext(ctx), tea.WithInput(opts.In), tea.WithOutput(opts.Out),
		tea.WithEnvironment(opts.Env), tea.WithoutSignalHandler())
	_, err := p.Run()
	if err == nil || errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("show the memory: %w", err)
}

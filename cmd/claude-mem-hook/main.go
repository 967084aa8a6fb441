// Command claude-mem-hook is the small twin of claude-mem for the hot path: it
// runs in the host's time and costs little more than an empty Go program.
package main

import (
	"os"
	"time"

	_ "claudemem/cmd/claude-mem-hook/stack" // first: see there
	"claudemem/hook"
	"claudemem/wire"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		// For claude-mem doctor, which compares the two.
		_, _ = os.Stdout.WriteString("claude-mem-hook " + wire.Program + "\n")
		return
	}
	hook.Main(os.Args[1:], hook.Options{StartedAt: time.Now()})
}
